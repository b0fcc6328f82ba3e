"""Figure 7 of the paper, as measured here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from findings import KINDS, TITLES, degrees, mean
from measure import ROWS, Crossings
from trained import NETWORKS

if TYPE_CHECKING:
    from study import Study

COLOURS = {"training": "#0072B2", "interpolant": "#555555", "adversarial": "#CC2222"}


def circle(axes: Axes, found: Crossings, title: str) -> None:
    """A line of unit length for every crossing; the boundary is the x axis."""
    for shift, row in enumerate(ROWS):
        angles = found.angles[row]
        segments = np.stack([np.zeros((len(angles), 2)), np.column_stack([np.cos(angles), np.sin(angles)])], axis=1)
        segments[:, :, 0] += 1.25 * shift
        axes.plot(segments[:, :, 0].T, segments[:, :, 1].T, color=COLOURS[row], linewidth=0.5, alpha=0.35)
        axes.text(1.25 * shift, -0.14, TITLES[row], fontsize=7.5, color=COLOURS[row])
    axes.set(xlim=(-0.03, 3.55), ylim=(-0.2, 1.05), aspect="equal")
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_axis_off()


def histogram(axes: Axes, angles: np.ndarray, row: str) -> None:
    axes.hist(angles, np.linspace(0, np.pi / 2, 46), color=COLOURS[row], alpha=0.75)
    axes.axvline(float(angles.mean()), color="black", linestyle="--", linewidth=1)
    axes.set_title(f"{TITLES[row]}: mean {degrees(mean(angles))}°", fontsize=8.5, loc="left")
    axes.set_xticks(np.linspace(0, np.pi / 2, 4), ["0", "π/6", "π/3", "π/2"])
    axes.set_xlim(0, np.pi / 2)
    axes.set_ylabel("crossings")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def figure_7(kinds: dict[str, Crossings], title: str, path: Path) -> None:
    """Lines above, histograms of the three rows below; pairs of test images to the left. Dashed: means."""
    figure, panels = plt.subplots(4, len(kinds), figsize=(4.6 * len(kinds), 9.5), layout="constrained", height_ratios=[1.2, 1, 1, 1])
    for column, (kind, found) in zip(panels.T, kinds.items(), strict=True):
        circle(column[0], found, f"{KINDS[kind]}, {found.crossed} crossings")
        for axes, row in zip(column[1:], ROWS, strict=True):
            histogram(axes, found.angles[row], row)
        column[-1].set_xlabel("angle to the boundary; π/2 is orthogonal")
    figure.suptitle(f"Figure 7 for {title}", fontsize=11)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw(study: Study, out: Path) -> None:
    """Writes a plot for every network."""
    for name, kinds in study.networks.items():
        figure_7(kinds, NETWORKS[name].title, out / f"angles-{name}.png")
