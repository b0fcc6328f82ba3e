"""Figures 3 to 5 of the paper, as measured here."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from models import GRID_COUNTS, GRID_HIGHS, GRID_LOWS, PAIRS, PUBLISHED, RADIUS, SETTINGS, TITLES

if TYPE_CHECKING:
    from study import Study

# Okabe and Ito's colours, which colour-blind readers can tell apart: one a class, one a model.
CLASSES = ("#0072B2", "#E69F00", "#009E73")
MODELS = {"gbdt-1": "#56B4E9", "gbdt-2": "#D55E00", "mlp-1": "#009E73", "mlp-2": "#CC79A7"}
MARKERS = ("o", "s", "^")
WINES = 178


def wines(path: Path) -> np.ndarray:
    """Rows of the two features and the class."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = np.array([[float(value) for value in row.values()] for row in csv.DictReader(file)])
    assert rows.shape == (WINES, 3), rows.shape
    return rows


def regions(study: Study, data: np.ndarray, path: Path) -> None:
    """Figures 3 and 5: decision regions above, gamma below, of the first split."""
    split = study.size.splits[0]
    found = study.maps[split]
    box = [GRID_LOWS[0], GRID_HIGHS[0], GRID_LOWS[1], GRID_HIGHS[1]]
    axes_x, axes_y = (np.linspace(low, high, n) for low, high, n in zip(GRID_LOWS, GRID_HIGHS, GRID_COUNTS))
    figure, panels = plt.subplots(2, len(SETTINGS), figsize=(14, 4.9), sharex=True, sharey=True, layout="constrained")
    image = None
    for column, name in enumerate(SETTINGS):
        classes, gammas = (np.array(values, float).reshape(GRID_COUNTS).T for values in (found.classes[name], found.gammas[name]))
        top, bottom = panels[0, column], panels[1, column]
        top.pcolormesh(axes_x, axes_y, classes, cmap=ListedColormap(CLASSES), vmin=-0.5, vmax=2.5, alpha=0.3, shading="nearest", rasterized=True)
        for label, (colour, marker) in enumerate(zip(CLASSES, MARKERS)):
            chosen = data[data[:, 2] == label]
            top.scatter(chosen[:, 0], chosen[:, 1], s=11, c=colour, marker=marker, edgecolors="white", linewidths=0.4, label=f"wine {label}")
        image = bottom.pcolormesh(axes_x, axes_y, gammas, cmap="Reds", vmin=0, vmax=1, shading="nearest", rasterized=True)
        accuracy = study.training[split][name]
        top.set_title(f"{TITLES[name]}: train {100 * accuracy['train_accuracy']:.0f} %, test {100 * accuracy['test_accuracy']:.0f} %", fontsize=11)
        mean = found.gamma[name]
        bottom.set_title(f"mean γ = {mean.mean:.4f} [{mean.low:.4f}, {mean.high:.4f}]", fontsize=10)
        for axes in (top, bottom):
            axes.set(xlim=box[:2], ylim=box[2:], aspect="equal")
        bottom.set_xlabel("flavanoids")
    for axes in panels[:, 0]:
        axes.set_ylabel("OD280/OD315")
    panels[0, 0].legend(fontsize=7, loc="lower right", framealpha=0.8)
    figure.colorbar(image, ax=panels[1, :], label=f"γ, r = {RADIUS}")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def dress(axes: Axes, title: str, xlabel: str) -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(xlabel)
    axes.set_ylabel("mean γ of the class as a number")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylim(0, None)
    axes.legend(frameon=False, fontsize=9)


def band(axes: Axes, xs: list[float], series: list[list[float]], name: str, label: str, line: str = "-") -> None:
    """Mean over splits, and the deviation as a bar."""
    means = [statistics.fmean(values) for values in series]
    bars = [statistics.stdev(values) if len(values) > 1 else 0.0 for values in series]
    axes.errorbar(xs, means, bars, color=MODELS[name], marker="o", markersize=4, capsize=2.5, linewidth=1.3, linestyle=line, label=label)


def radii(study: Study, path: Path) -> None:
    """Figure 4."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    xs = list(study.size.radii)
    for axes, pair, title in zip(panels, PAIRS, ("Boosted trees", "Networks")):
        for name in pair:
            band(axes, xs, [study.records.of("radius", name, r) for r in xs], name, TITLES[name])
            axes.plot([RADIUS], [PUBLISHED[name].gamma], marker="*", markersize=11, linestyle="", color=MODELS[name],
                      markeredgecolor="black", label=f"{TITLES[name]}, published at r = {RADIUS}")  # fmt: skip
        dress(axes, title, "radius r")
    figure.suptitle(f"γ against the radius; mean and standard deviation over {len(study.size.splits)} splits", fontsize=11)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def grids(study: Study, path: Path) -> None:
    """What the spacing of the grid does at r = 0.05, with and without jitter."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), sharey=True, layout="constrained")
    xs = [(GRID_HIGHS[0] - GRID_LOWS[0]) / (counts[0] - 1) for counts in study.size.grids]
    for axes, jitter, title in zip(panels, ("", " jitter"), ("Regular grid", "With jitter")):
        for name in SETTINGS:
            settings = [f"{a}x{b}{jitter}" for a, b in study.size.grids]
            band(axes, xs, [study.records.of("grid", name, setting) for setting in settings], name, TITLES[name])
        axes.set_xscale("log")
        axes.set_xticks(xs, [f"{x:g}\n{a}×{b}" for x, (a, b) in zip(xs, study.size.grids)])
        axes.minorticks_off()
        axes.axvline(RADIUS / 2, color="black", linestyle=":", linewidth=1)
        dress(axes, title, "spacing of the grid (dotted: r/2)")
    figure.suptitle(f"γ against the grid, r = {RADIUS}; mean and standard deviation over {len(study.size.splits)} splits", fontsize=11)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw(study: Study, out: Path) -> None:
    """Writes the three plots."""
    regions(study, wines(study.models / "wines.csv"), out / "regions.png")
    radii(study, out / "radius.png")
    grids(study, out / "grid.png")
