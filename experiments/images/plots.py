"""Figure 8 and what else is worth a picture, as measured here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from findings import columns_of, drawings, excess, maps, searches
from models import DIGITS, LITES, PUBLISHED

if TYPE_CHECKING:
    from study import Digits, Study

STABLE, UNSTABLE, GREY = "#0072B2", "#CC2222", "#666666"
FAINTEST, SUREST = -2.0, 12.0  # log-odds of P that are drawn


def dress(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def log_odds(probability: np.ndarray) -> np.ndarray:
    clipped = np.clip(probability, 1e-12, 1 - 1e-12)
    return np.log(clipped / (1 - clipped))


def answers(fitted: dict, log_odds_p: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """The probability of being stable that the map answers."""
    inputs = (log_odds_p, np.log(np.maximum(gamma, fitted["floor"])))
    found = fitted["coefficients"][0] + sum(
        c * (x - told["mean"]) / told["scale"] for c, x, told in zip(fitted["coefficients"][1:], inputs, fitted["inputs"]))  # fmt: skip
    return 1 / (1 + np.exp(-(fitted["intercept"] + fitted["slope"] * found)))


def gamma_map(axes: Axes, title: str, found: Digits) -> None:
    """Figure 8: every image, and where the map says 10, 50 and 90 % are stable."""
    rows = found.map.rows
    x = np.clip(log_odds(np.array([row.probability for row in rows])), FAINTEST, SUREST)
    y = np.array([row.gamma for row in rows])
    stable = np.array([row.stable for row in rows])
    low = np.percentile(y[y > 0], 0.5)
    for chosen, colour, name in ((stable, STABLE, "stable"), (~stable, UNSTABLE, "not stable")):
        axes.scatter(x[chosen], np.maximum(y[chosen], low), s=9, color=colour, alpha=0.55, linewidths=0, label=f"{name}, {chosen.sum()}")
    axes.set(yscale="log", xlim=(FAINTEST - 0.2, SUREST + 0.2), ylim=(low / 1.2, y.max() * 1.3))
    if found.map.fitted:
        grid_x, grid_y = np.meshgrid(np.linspace(FAINTEST, SUREST, 200), np.geomspace(low / 1.2, y.max() * 1.3, 200))
        lines = axes.contour(grid_x, grid_y, answers(found.map.fitted, grid_x, grid_y), levels=[0.1, 0.5, 0.9], colors=GREY, linewidths=1)
        axes.clabel(lines, fmt=lambda v: f"{100 * v:.0f} %", fontsize=8)
    v = found.map.validation
    told = f"; AUROC held out {v['auroc']['value']:.3f}, of P alone {v['auroc_probability']['value']:.3f}" if v else ""
    dress(axes, f"{title}{told}", "log P/(1 − P)", "γ")
    axes.legend(frameon=False, fontsize=9, loc="lower left")


def draw_maps(study: Study, path: Path) -> None:
    count = len(study.digits)
    figure, panels = plt.subplots(1, count, figsize=(6.2 * count, 4.6), squeeze=False, layout="constrained")
    for axes, (name, found) in zip(panels.flat, study.digits.items()):
        gamma_map(axes, DIGITS[name], found)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw_networks(study: Study, path: Path) -> None:
    """Table 3's columns with their intervals; grey: the paper's range."""
    kinds = (("probability", "P"), ("gamma", "γ"), ("score", "P·e^(−Nγ)"), ("stability", "stable"))
    figure, panels = plt.subplots(1, len(kinds), figsize=(3.3 * len(kinds), 3.2), layout="constrained")
    names = list(study.networks)
    for axes, (key, title) in zip(panels, kinds):
        for name, how, found in maps(study):
            e = columns_of(found)[key]
            shift = 0.12 if study.networks[name].paper else 0.0
            axes.errorbar([names.index(name) + (shift if how == "paper" else -shift)], [e.value], [[e.value - e.low], [e.high - e.value]], fmt="o", markersize=4, capsize=3,
                          color=STABLE if how == "pairs" else UNSTABLE, label=("γ in pairs" if how == "pairs" else "the paper's procedure")
                          if name == names[0] else None)  # fmt: skip
        scale = 100 if key == "stability" else 1
        for k, (network, told) in enumerate(PUBLISHED.items()):
            axes.plot([len(names) + k] * 2, [v / scale for v in told[key]], color=GREY, linewidth=5, alpha=0.5, solid_capstyle="butt")
        axes.set_xticks(range(len(names) + len(PUBLISHED)), [LITES[name].title.removeprefix("EfficientNet-") for name in names] + list(PUBLISHED), fontsize=8)
        dress(axes, title, "", "")
        axes.set_xlim(-0.5, len(names) + len(PUBLISHED) - 0.5)
        axes.set_ylim(bottom=0)
    panels[0].legend(frameon=False, fontsize=8, loc="lower left")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw_searches(study: Study, path: Path) -> None:
    shown = searches(study)
    columns = 2 if len(shown) == 4 else min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.2 * rows), squeeze=False, layout="constrained")
    for axes in panels.flat[len(shown) :]:
        axes.set_visible(False)
    for axes, (title, how, found) in zip(panels.flat, shown):
        for method, colour in (("gamma", STABLE), ("random", UNSTABLE)):
            curve = found.methods[method]["curve"]
            steps = [point["step"] for point in curve]
            axes.plot(steps, [100 * point["share"] for point in curve], color=colour, drawstyle="steps-post", label=f"{'γ' if method == 'gamma' else method}")
            axes.fill_between(steps, *([100 * point[end] for point in curve] for end in ("low", "high")), step="post", color=colour, alpha=0.18, linewidth=0)
        dress(axes, f"{title}, the {how} search", "pixels changed", "% of another class")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=9, loc="upper left")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw_pairs(study: Study, path: Path) -> None:
    titles = list(dict.fromkeys(title for title, _ in drawings(study)))
    figure, panels = plt.subplots(1, len(titles), figsize=(4.2 * len(titles), 3.4), squeeze=False, sharey=True, layout="constrained")
    for axes, title in zip(panels.flat, titles):
        for radius, style in zip(study.size.radii, ("o-", "s--")):
            chosen = [drawn for name, drawn in drawings(study) if name == title and drawn.radius == radius]
            if not chosen:
                continue
            for kind, colour, name in (("points", UNSTABLE, "single points"), ("pairs", STABLE, "pairs")):
                found = [excess(drawn, kind) for drawn in chosen]
                errors = [[e.value - e.low for e in found], [e.high - e.value for e in found]]
                axes.errorbar([drawn.calls for drawn in chosen], [e.value for e in found], errors, fmt=style, markersize=4, capsize=3, color=colour,
                              label=f"{name}, r = {radius:g}")  # fmt: skip
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xticks(study.size.calls, [str(calls) for calls in study.size.calls])
        axes.minorticks_off()
        dress(axes, title, "calls an image", "mean estimate over the whole ball's γ" if axes is panels.flat[0] else "")
        axes.legend(frameon=False, fontsize=9, loc="lower right" if title in DIGITS.values() else "upper right")
    panels.flat[0].set_ylim(bottom=0)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw(study: Study, out: Path) -> None:
    """Writes the plots."""
    if study.digits:
        draw_maps(study, out / "map.png")
    if study.networks:
        draw_networks(study, out / "networks.png")
    if searches(study):
        draw_searches(study, out / "search.png")
    draw_pairs(study, out / "pairs.png")
