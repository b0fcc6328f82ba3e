"""Table 1 of the paper as a picture, and histograms of the networks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from findings import interval, mean, values
from models import GAMMA
from table1 import PUBLISHED
from trained import NETWORKS

if TYPE_CHECKING:
    from study import Measured, Study

NATURAL, ADVERSARIAL = "#0072B2", "#CC2222"  # the paper's colours
COLUMNS = 5


def dress(axes: Axes, title: str, ylabel: str) -> None:
    axes.set_title(title, fontsize=8.5, loc="left")
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def table_picture(study: Study, path: Path) -> None:
    """Means with intervals; the paper's beside them."""
    names = list(study.networks)
    places = np.arange(len(names))
    figure, axes = plt.subplots(figsize=(3.4 + 0.9 * len(names), 4.4), layout="constrained")
    for shift, colour, label in ((-0.14, NATURAL, "natural"), (0.14, ADVERSARIAL, "adversarial")):
        chosen = [values(getattr(study.networks[name], label)) for name in names]
        marks = np.array([mean(v) for v in chosen])
        errors = np.abs(marks[:, 1:] - marks[:, :1]).T
        axes.errorbar(places + shift, marks[:, 0], errors, fmt="o", color=colour, capsize=3, label=f"{label}, measured")
        said = [getattr(PUBLISHED[name], label) for name in names]
        axes.plot(places + shift, said, "D", color=colour, markerfacecolor="none", label=f"{label}, paper")
    axes.set_yscale("log")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_xticks(places, [NETWORKS[name].title for name in names], rotation=20, ha="right", fontsize=8.5)
    dress(axes, f"Table 1: mean {GAMMA:g}-persistence", "σ*")
    axes.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=90)
    plt.close(figure)


def histogram(axes: Axes, name: str, found: Measured) -> None:
    chosen = values(found.natural), values(found.adversarial)
    endless = sum(row.endless for row in found.natural)
    finite = np.array([v for part in chosen for v in part if np.isfinite(v) and v > 0])
    edges = np.geomspace(max(finite.min(), 1e-6), finite.max(), 41)
    for part, colour, label in zip(chosen, (NATURAL, ADVERSARIAL), ("natural", "adversarial"), strict=True):
        weights = np.full(len(part), 100 / len(part))
        axes.hist(np.clip(part, edges[0], edges[-1]), edges, weights=weights, color=colour, alpha=0.55, label=label)
    axes.set_xscale("log")
    axes.set_xlabel("σ*")
    left_out = f"; {endless} natural endless" if endless else ""
    dress(axes, f"{NETWORKS[name].title}{left_out}\nadversarial {interval(mean(chosen[1]))}", "% of images")


def histograms(study: Study, path: Path) -> None:
    """Figures 12 to 14 of the paper, with these attacks."""
    count = len(study.networks)
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(3.0 * columns + 0.4, 2.9 * rows), squeeze=False, layout="constrained")
    for axes in panels.flat[count:]:
        axes.set_visible(False)
    for axes, (name, found) in zip(panels.flat, study.networks.items()):
        histogram(axes, name, found)
    panels[0, 0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw(study: Study, out: Path) -> None:
    """Writes the plots."""
    table_picture(study, out / "table.png")
    histograms(study, out / "histograms.png")
