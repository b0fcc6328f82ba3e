"""Delays of every stream, by method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from findings import methods  # noqa: E402
from plan import AFTER, BEFORE  # noqa: E402
from tasks import CHANGES  # noqa: E402

if TYPE_CHECKING:
    from study import Study


def draw(study: Study, out: Path) -> None:
    random = np.random.default_rng(1)
    changes = [change for change in CHANGES if change != "none"]
    figure, axes = plt.subplots(len(study.watched), len(changes), figsize=(3 * len(changes), 2.6 * len(study.watched)), sharex=True,
                                sharey=True, squeeze=False, layout="constrained")  # fmt: skip
    for row, (task, watched) in zip(axes, study.watched.items()):
        for axis, change in zip(row, changes):
            for place, method in enumerate(methods(study)):
                late = [AFTER * 1.3 if a is None else a - BEFORE for a in study.alarms[task, change, method] if a is None or a > BEFORE]
                axis.plot(late, place + random.uniform(-0.25, 0.25, len(late)), ".", alpha=0.6)
            axis.set_xscale("log")
            axis.set_xticks([10, 100, 1000, AFTER * 1.3], ["10", "100", "1000", "never"])
            axis.set_yticks(range(len(methods(study))), methods(study).values())
            axis.set_title(f"{watched.task.title.split(',')[0]}: {change}", fontsize=9)
    axes[0][0].invert_yaxis()  # shared by all
    figure.supxlabel("rows until the alarm")
    figure.savefig(out / "delays.png", dpi=110)
    plt.close(figure)
