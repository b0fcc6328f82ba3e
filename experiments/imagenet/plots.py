"""Persistence of every photograph before and after the attacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from models import ATTACKS

if TYPE_CHECKING:
    from study import Study


def draw(study: Study, out: Path) -> None:
    figure, axes = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
    ends = []
    for number, method in enumerate(study.size.methods):
        pairs = [(study.natural[k], p) for a in study.attacked if a.method == method for k, p in zip(a.sources, a.persistences)]
        if pairs:
            before, after = zip(*pairs)
            axes.scatter(before, after, s=22, alpha=0.75, color=f"C{number}", label=f"{ATTACKS[method].title} ({len(pairs)})")
            ends += [*before, *after]
    if not ends:
        plt.close(figure)
        return
    low, high = min(ends) / 1.5, max(ends) * 1.5
    axes.plot([low, high], [low, high], color="0.6", linewidth=1)
    axes.annotate("as persistent as before", (high / 1.3, high / 1.3), xytext=(-6, 6), textcoords="offset points", ha="right", va="bottom", color="0.4", rotation=45, rotation_mode="anchor")
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), xlabel="persistence of the photograph",
             ylabel="persistence of the adversarial image")  # fmt: skip
    axes.legend(title="attack (images)", loc="upper left", frameon=False)
    figure.savefig(out / "persistence.png", dpi=130)
    plt.close(figure)
