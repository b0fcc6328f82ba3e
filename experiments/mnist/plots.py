"""Figures 3, 4 and 11 to 13 of the paper, as measured here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from findings import FIRST, ONE, interval, values
from measure import Frequency
from models import CLASSES, GAMMA, MAIN, NETWORKS, SEED

if TYPE_CHECKING:
    from study import Attacks, Measured, Study

# The paper's colours: natural blue, adversarial red, the original's class black. One for each other class.
NATURAL, ADVERSARIAL, ORIGINAL = "#0072B2", "#CC2222", "black"
OTHERS = ("#56B4E9", "#000000", "#E69F00", "#009E73", "#CC79A7", "#999999", "#6A3D9A", "#7FBC41", "#A6611A", "#0B3D91")
SHOWN = (0.016, 0.2, 0.4, 0.8, 1.6)  # deviations of the samples below a curve
SIDE = 28


def dress(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    axes.set_title(title, fontsize=8.5, loc="left")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def bins(natural: list[float], adversarial: list[float]) -> np.ndarray:
    """The rarest values at the top are left to the last bin."""
    top = np.percentile([v for v in (*natural, *adversarial) if np.isfinite(v)], 99.5)
    return np.linspace(0, top, 41)


def histogram(axes: Axes, found: Measured, attacks: Attacks, title: str) -> None:
    natural, adversarial = values(found.natural), values(attacks.rows)
    edges = bins(natural, adversarial)
    for chosen, colour, label in ((natural, NATURAL, "natural"), (adversarial, ADVERSARIAL, "adversarial")):
        weights = np.full(len(chosen), 100 / len(chosen))
        axes.hist(np.clip(chosen, 0, edges[-1]), edges, weights=weights, color=colour, alpha=0.55, label=f"{label}, {len(chosen)}")
        axes.axvline(float(np.median(chosen)), color=colour, linestyle="--", linewidth=1)
    dress(axes, f"{title}\nAUROC {interval(found.auroc(attacks))}", f"{GAMMA:g}-persistence σ*", "% of images")
    axes.legend(frameon=False, fontsize=9)


def until(stop: str) -> str:
    return "until the class is reached" if stop == FIRST else f"until its probability is {stop}"


def deepest(found: Measured) -> str:
    """The last stop that at least half of the attacks got to."""
    return [stop for stop, attacks in found.deeper.items() if 2 * len(attacks.rows) >= len(attacks.lines)][-1]


def histograms(study: Study, path: Path) -> None:
    """Figures 4, 12 and 13: attacks that stop at once above, those that go furthest below. Dashed: medians."""
    count = len(study.networks)
    figure, panels = plt.subplots(2, count, figsize=(3.7 * count + 0.4, 7.2), squeeze=False, layout="constrained")
    for (top, bottom), (name, found) in zip(panels.T, study.networks.items()):
        title = NETWORKS[name].title
        histogram(top, found, found.reached, f"{title}, {100 * found.training['test_accuracy']:.1f} %; {until(FIRST)}")
        stop = deepest(found)
        histogram(bottom, found, found.deeper[stop], f"{title}; {until(stop)}")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def depths(study: Study, path: Path) -> None:
    """The same attacks, gone on past the boundary."""
    found = study.networks[MAIN]
    shown = {stop: attacks for stop, attacks in found.deeper.items() if attacks.rows}
    figure, panels = plt.subplots(1, len(shown), figsize=(3.7 * len(shown) + 0.4, 3.7), squeeze=False, layout="constrained")
    for axes, (stop, attacks) in zip(panels.flat, shown.items()):
        histogram(axes, found, attacks, until(stop))
    figure.suptitle(f"{NETWORKS[MAIN].title}: the same attacks, gone on past the boundary; dashed: medians", fontsize=11)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def curve(axes: Axes, series: list[Frequency], label: int, target: int | None) -> None:
    """The original's class is black, the target red, as in the paper."""
    xs = [point.sigma for point in series]
    for digit in range(CLASSES):
        shares = np.array([point.share(digit) for point in series])
        strong = digit in (label, target)
        colour = ORIGINAL if digit == label else ADVERSARIAL if digit == target else OTHERS[digit]
        axes.plot(xs, shares, color=colour, linewidth=1.8 if strong else 1.0, zorder=3 if strong else 2)
    axes.axhline(GAMMA, color="black", linestyle=":", linewidth=0.8)
    axes.set(xlim=(0, xs[-1]), ylim=(0, 1.06))


def samples(axes: Axes, pixels: np.ndarray) -> None:
    """One sample at each of a few deviations, side by side."""
    noise = np.random.default_rng(SEED).standard_normal((len(SHOWN), SIDE * SIDE))
    drawn = [(pixels + sigma * z).clip(0, 1).reshape(SIDE, SIDE) for sigma, z in zip(SHOWN, noise)]
    gap = np.ones((SIDE, 2))
    axes.imshow(np.hstack([part for image in drawn for part in (image, gap)][:-1]), cmap="gray", vmin=0, vmax=1)
    axes.set_xticks([SIDE / 2 + k * (SIDE + 2) for k in range(len(SHOWN))], [f"{sigma:g}" for sigma in SHOWN], fontsize=8)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def curves(found: Measured, pixels: np.ndarray, chosen: list[dict[str, str]], columns: int, path: Path) -> None:
    """Frequencies above, samples below."""
    rows = -(-len(chosen) // columns)
    figure, panels = plt.subplots(2 * rows, columns, figsize=(4.3 * columns + 0.8, 4.0 * rows + 0.3), squeeze=False, layout="constrained",
                                  height_ratios=[3.2, 1] * rows)  # fmt: skip
    for axes in panels.flat:
        axes.set_visible(False)
    for k, line in enumerate(chosen):
        top, bottom = panels[2 * (k // columns), k % columns], panels[2 * (k // columns) + 1, k % columns]
        top.set_visible(True)
        bottom.set_visible(True)
        row, target = int(line["row"]), int(line["target"]) if line["target"] else None
        curve(top, found.curves[row], int(line["label"]), target)
        title = f"adversarial, towards {target}; distortion {float(line['distortion']):.3f}" if line["target"] else f"natural, a {line['label']}"
        dress(top, title, "σ", "share of the samples")
        samples(bottom, pixels[row])
    figure.suptitle(f"{NETWORKS[MAIN].title}: classes met around images, and samples below; dotted: {GAMMA:g}", fontsize=10)
    lines = [Line2D([], [], color=ORIGINAL, linewidth=1.8, label="1"), Line2D([], [], color=ADVERSARIAL, linewidth=1.8, label="target")]
    lines += [Line2D([], [], color=OTHERS[digit], linewidth=1.0, label=str(digit)) for digit in range(CLASSES) if digit != ONE]
    figure.legend(handles=lines, loc="outside right upper", frameon=False, fontsize=9)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw(study: Study, out: Path) -> None:
    """Writes the plots."""
    found = study.networks[MAIN]
    pixels = np.load(out / "models" / MAIN / "one.npy")
    shown = [line for line in found.one if line["success"] == "1"]
    curves(found, pixels, [line for line in shown if line["target"] in ("", "0")], 2, out / "one.png")
    curves(found, pixels, [line for line in shown if line["target"] not in ("", "0")], 4, out / "targets.png")
    histograms(study, out / "histograms.png")
    depths(study, out / "depths.png")
