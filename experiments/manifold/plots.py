"""Figures 8 to 10 of the paper, as measured here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from findings import Shares, along, unreached
from measure import DataFolder
from models import BASELINE, BOTH, FROM, MANIFOLD, MODELS, ROBUST, SIDE, TO, TURNING

if TYPE_CHECKING:
    from study import Study

COLOURS = {BASELINE: "#000000", ROBUST: "#CC2222", MANIFOLD: "#0072B2", BOTH: "#8B3FA0"}
NORMS = {"linf": "L∞", "l2": "ℓ2"}
FARTHEST = 0.18  # distance of PGD that is shown
DASHES = {BASELINE: "-", ROBUST: "--", MANIFOLD: "-", BOTH: "--"}


def dress(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def histograms(study: Study, path: Path) -> None:
    """Figure 9: all seeds of a model together."""
    figure, panels = plt.subplots(1, len(study.models), figsize=(3.3 * len(study.models) + 0.4, 3.3), layout="constrained", sharex=True)
    for axes, (name, runs) in zip(panels, study.models.items()):
        values = np.concatenate([found.alignment.cosines for found in runs.values()])
        axes.hist(values, np.linspace(0, 1, 51), weights=np.full(len(values), 100 / len(values)), color=COLOURS[name], alpha=0.8)
        axes.axvline(float(values.mean()), color="#E69F00", linestyle="--", linewidth=1.2)
        axes.set_xlim(0, 1)
        dress(axes, f"{MODELS[name].title}: mean {values.mean():.3f}", "cosine of gradient and its part in the plane", "% of test rows")
    chance = next(iter(study.models[BASELINE].values())).alignment.by_chance ** 0.5
    figure.suptitle(f"Alignment of the gradients with the plane, all seeds; dashed: mean; a random direction has about {chance:.2f}", fontsize=10)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def curve(axes: Axes, found: list[Shares], xs: np.ndarray, name: str, label: str, every: int, offset: int) -> None:
    """The mean over the seeds, with its interval as a bar at some points, and the seeds' spread as a band."""
    colour = COLOURS[name]
    values, low, high = (100 * np.array(part) for part in zip(*(shares.mean for shares in found)))
    spans = [100 * shares.by_seed for shares in found]
    axes.fill_between(xs, [s.min() for s in spans], [s.max() for s in spans], color=colour, alpha=0.18, linewidth=0)
    axes.errorbar(xs, values, np.maximum(0, [values - low, high - values]), color=colour, linestyle=DASHES[name], linewidth=1.6, elinewidth=0.8,
                  capsize=2, label=label, errorevery=(offset, every))  # fmt: skip


def accuracies(study: Study, path: Path) -> None:
    """Figure 10."""
    figure, (left, right, third) = plt.subplots(1, 3, figsize=(15.5, 4.4), layout="constrained", sharey=True)
    epsilons, radii = (np.array([0, *sizes]) for sizes in (study.size.epsilons, study.size.balls))
    distances = np.linspace(0, FARTHEST, 46)
    for k, (name, runs) in enumerate(study.models.items()):
        title = MODELS[name].title
        curve(left, [Shares(runs, "fgsm", x) for x in epsilons], epsilons, name, title, 1, 0)
        label = f"{title}; {100 * unreached(runs):.1f} % never changed"
        curve(right, [Shares(runs, "pgd", x) for x in distances], distances, name, label, 8, 2 * k)
        curve(third, [Shares(runs, "ball", x) for x in radii], radii, name, title, 1, 0)
    dress(left, f"FGSM, {study.size.tested} test rows", "ε, every pixel", "test rows that are right and stay so, in %")
    dress(right, f"PGD with weights on the distance, {study.size.attacked} test rows", "distance, root mean square of a pixel", "")
    dress(third, f"PGD within a ball, {study.size.attacked} test rows", "radius, root mean square of a pixel", "")
    left.set_ylim(0, 100)
    left.legend(frameon=False, fontsize=9)
    right.legend(frameon=False, fontsize=9)
    figure.suptitle("Accuracy under attack: mean of the seeds, 95 % interval of one share (bars), least and most of the seeds (bands)", fontsize=10)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def turned(study: Study, data: DataFolder, path: Path) -> bool:
    """Figure 8: the first image that every model took for a 2 and came to take for a 3. False if there is none."""
    first = {name: runs[1].turned for name, runs in study.models.items()}
    common = set.intersection(*(set(turned.numbers) for found in first.values() for turned in found.values()))
    if not common:
        return False
    number = min(common)
    figure, panels = plt.subplots(len(first), 7, figsize=(12.4, 2.0 * len(first) + 0.6), layout="constrained")
    for k, (name, found) in enumerate(first.items()):
        line = panels[k]
        shown: list[tuple[str, np.ndarray, float]] = []
        for norm, turned in found.items():
            j = turned.numbers.index(number)
            before, after = turned.before[j], turned.after[j]
            words, share = NORMS[norm], along(study.basis, turned)[j]
            shown += [] if shown else [("before", before, 0)]
            shown += [(f"halfway, {words}", (before + after) / 2, 0), ("after", after, 0),
                      (f"change: {100 * share:.0f} % in the plane", after - before, 2 * TURNING[norm])]  # fmt: skip
        for axes, (title, row, most) in zip(line, shown):
            image = data.picture(row).reshape(SIDE, SIDE)
            axes.imshow(image, cmap="RdBu_r" if most else "gray", vmin=-most, vmax=most or 1)
            axes.set_title(title if k == 0 or most else "", fontsize=9)
            axes.set_xticks([])
            axes.set_yticks([])
        line[0].set_ylabel(MODELS[name].title, fontsize=9)
    figure.suptitle(f"A {FROM} into a {TO}: PGD, at most {TURNING['linf']:g} in every pixel, and at most {TURNING['l2']:g} in root mean square", fontsize=10)
    figure.savefig(path, dpi=90)
    plt.close(figure)
    return True


def draw(study: Study, data: DataFolder, out: Path) -> None:
    """Writes the plots."""
    histograms(study, out / "alignment.png")
    accuracies(study, out / "accuracy.png")
    if not turned(study, data, out / "turned.png"):
        (out / "turned.png").unlink(missing_ok=True)
        print("no image of a 2 was turned into a 3 by all attacks: no turned.png")
