"""Figures 11, 12 and 13 of the paper, as measured here."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from measure import Record, Records

TICKS = (2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Look:
    """How a ball is drawn, in every plot alike."""

    label: str
    colour: str
    marker: str
    line: str = "-"


# Okabe and Ito's colours, which colour-blind readers can tell apart.
LOOKS = {
    "random": Look("n random vectors", "#D55E00", "o"),
    "simplex": Look("simplex, n + 1 vertices", "#0072B2", "s"),
    "simplex-less-one": Look("simplex without its last vertex", "#CC79A7", "v"),
    "anti": Look("mirrored simplex", "#56B4E9", "^"),
    "simplex+anti": Look("simplex + mirrored", "#009E73", "D"),
    "cross": Look("cross-polytope", "#E69F00", "P"),
    "rotated": Look("simplex + mirrored, randomly rotated", "#666666", "X"),
    "rotated-simplex": Look("simplex, randomly rotated", "#666666", "X"),
    "sphere": Look("sphere (exact)", "#000000", "", "--"),
}

Choice = Callable[[int], bool]


def even(n: int) -> bool:
    return n % 2 == 0


def odd(n: int) -> bool:
    return n % 2 == 1


def every(_: int) -> bool:
    return True


def curve(axes: Axes, found: list[Record], ball: str, choice: Choice = every, label: str | None = None) -> None:
    """Values with their intervals over n."""
    look = LOOKS[ball]
    chosen = [r for r in found if choice(r.n)]
    # Rounding may leave a value a hair outside an interval of width 0.
    bars = [[max(0.0, r.value - r.low) for r in chosen], [max(0.0, r.high - r.value) for r in chosen]]
    axes.errorbar([r.n for r in chosen], [r.value for r in chosen], bars, color=look.colour, marker=look.marker,
                  markersize=5, linestyle=look.line, linewidth=1.3, capsize=2.5, label=label or look.label)  # fmt: skip


def dress(axes: Axes, title: str, ylabel: str) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(n) for n in TICKS])
    axes.set_xlim(1.8, 112)
    axes.set_xlabel("dimensions n")
    axes.set_ylabel(ylabel)
    axes.set_title(title, fontsize=10, loc="left")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def finish(figure: plt.Figure, caption: str, path: Path, columns: int) -> None:
    """One legend for all panels under them, the caption below it."""
    handles: dict[str, object] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    inch = 1 / figure.get_figheight()
    captioned = (0.1 + 0.18 * (caption.count("\n") + 1)) * inch
    rows = -(-len(handles) // columns)
    figure.legend(handles.values(), handles.keys(), ncol=columns, loc="lower center", frameon=False, fontsize=9,
                  bbox_to_anchor=(0.5, captioned))  # fmt: skip
    figure.text(0.01, 0.06 * inch, caption, fontsize=8.5, va="bottom", linespacing=1.4)
    figure.tight_layout(rect=(0, captioned + (0.2 + 0.2 * rows) * inch, 1, 1))
    figure.savefig(path, dpi=130)
    plt.close(figure)


def coverage(records: Records, path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.6))
    curve(left, records.of("sum", "random"), "random")
    ns = [r.n for r in records.of("sum", "random")]
    left.plot(ns, [n**0.5 for n in ns], color="black", linestyle=":", linewidth=1, label="√n")
    curve(left, records.of("sum", "simplex-less-one"), "simplex-less-one")
    curve(left, records.of("sum", "simplex"), "simplex")
    left.annotate("the n vertices of the paper: 1", (9, 1), (0, 5), textcoords="offset points", color="#A0527F")
    left.annotate("simplex, simplex + mirrored, cross: 0", (9, 0), (0, -12), textcoords="offset points", color="#0072B2")
    left.set_ylim(-0.7, None)
    dress(left, "Centrality", "length of the vectors' sum")
    for ball in ("random", "rotated-simplex"):
        curve(right, records.of("angles_to_axis", ball), ball)
    curve(right, records.of("angles_to_axis", "simplex"), "simplex")
    curve(right, records.of("angles_to_diagonal", "simplex-less-one"), "simplex-less-one")
    right.annotate("seen from the vertex left out: 0", (5, 0), (0, 5), textcoords="offset points", color="#A0527F")
    right.set_ylim(-0.06, None)
    dress(right, "Isotropy", "standard deviation of the angles\nto a fixed vector (an axis), radians")
    finish(figure, "The paper (figure 11): random vectors walk away from the centre as √n; the simplex is 0 in both.\n"
           "Measured: centred only with all n + 1 vertices; its angles spread as those of random vectors do. "
           "Mean and 95 % interval over repeats.", path, columns=3)  # fmt: skip


def squares(records: Records, path: Path) -> None:
    figure, panels = plt.subplots(1, 3, figsize=(13, 5.4))
    for axes, choice, title in ((panels[0], even, "f1, even n: harmonic"), (panels[1], odd, "f1, odd n: not harmonic")):
        curve(axes, records.of("gamma_f1", "random"), "random", choice)
        curve(axes, records.of("gamma_f1", "simplex-less-one"), "simplex-less-one", choice)
        curve(axes, records.of("gamma_f1", "simplex"), "simplex", choice)
        curve(axes, records.of("gamma_f1", "sphere"), "sphere", choice)
        axes.set_ylim(-0.05, 0.85)
        dress(axes, title, "mean γ")
    panels[0].annotate("simplex, mirrored, cross, rotated: 0", (2.2, 0), (0, -11), textcoords="offset points", color="#0072B2", fontsize=9)
    panels[1].annotate("simplex, mirrored,\ncross, rotated: 1/n", (2, 0.01), (0, 0), textcoords="offset points", color="#0072B2", fontsize=9)
    f2 = panels[2]
    random = records.of("gamma_f2", "random")
    f2.fill_between([r.n for r in random], [r.value - r.deviation for r in random], [r.value + r.deviation for r in random],
                    color=LOOKS["random"].colour, alpha=0.13, linewidth=0)  # fmt: skip
    for ball in ("random", "simplex-less-one", "simplex", "sphere"):
        curve(f2, records.of("gamma_f2", ball), ball)
    f2.annotate("1 + 1/√n", (5, 1.45), (4, 4), textcoords="offset points", color="#A0527F")
    f2.annotate("band: deviation over points", (9, 0.56), color="#D55E00", fontsize=9)
    f2.set_ylim(0, None)
    dress(f2, "f2: not harmonic, γ = 1", "mean γ")
    finish(figure, "The paper (figure 12): on the simplex γ is 0 for f1 and 1 for f2 for all n; random vectors tell them apart less well.\n"
           "Measured: so with all n + 1 vertices and even n. r = 1, mean and 95 % interval over 1000 points of the unit cube.",
           path, columns=4)  # fmt: skip


def products(records: Records, path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 6.2))
    for axes, function, choice in ((left, "f3", even), (right, "f4", every)):
        for ball in ("random", "simplex", "anti", "simplex+anti", "cross", "rotated"):
            curve(axes, records.of(f"relative_{function}", ball), ball, choice)
        axes.set_yscale("log")
    curve(right, records.of("relative_f4", "sphere"), "sphere")
    dress(left, "f3, even n: harmonic (sphere: 0, off this scale)", "median γ / |f3|")
    dress(right, "f4: not harmonic", "median γ / f4")
    finish(figure, "The paper (figure 13): the simplex is better than random vectors, and γ is much lower for f3 than for f4.\n"
           "Measured: relative to the functions' values the fixed simplex is biased, and its mirror image the other way. A rotation "
           "takes the bias away on f4;\non f3 in many dimensions it has too few points. The cross fits f3, a product along the axes. r = 1; median and 95 % interval over 1000 points of the unit cube (rotated: mean over rotations).",
           path, columns=4)  # fmt: skip


def draw(records: Records, out: Path) -> None:
    """Writes the three plots."""
    coverage(records, out / "coverage.png")
    squares(records, out / "f1_f2.png")
    products(records, out / "f3_f4.png")
