"""Plots of gamma of prompts with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._text_result import TextCompareResult, TextResult

#: The authors' bands in the convention "paper", √(1 − cos θ); the last has no end.
BANDS = (
    ("probably trustworthy", 0.0, 0.1, "#4c9a62"),
    ("possible hallucination", 0.1, 0.2, "#e0a13a"),
    ("likely hallucination", 0.2, np.sqrt(2.0), "#c2452d"),
)


def _in_convention(paper: float, convention: str) -> float:
    """A value of the convention "paper" in another one; "sin" is taken up to a right angle, where it turns."""
    angle = 2 * np.arcsin(min(1.0, paper / np.sqrt(2.0)))
    return float(
        {"angle": angle, "chord": paper * np.sqrt(2.0), "sin": np.sin(min(angle, np.pi / 2)), "paper": paper}[
            convention
        ]
    )


def _short(text: str, limit: int = 34) -> str:
    line = "".join(c if c.isprintable() and c != "$" else "·" for c in " ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def plot(result: "TextResult", ax: Any, worst: int) -> Any:
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    known = np.flatnonzero(np.isfinite(result.gamma))
    values = result.gamma[known]
    top = max(float(values.max(initial=0.0)) * 1.05, _in_convention(0.25, result.convention))
    for name, low, high, colour in BANDS:
        left, right = _in_convention(low, result.convention), min(top, _in_convention(high, result.convention))
        if left < right:
            ax.axvspan(left, right, color=colour, alpha=0.13, linewidth=0, label=name)
    bins = np.linspace(0, top, min(60, max(16, int(np.sqrt(len(values))))) + 1)
    families = list(result.families)
    counts, _, _ = ax.hist(
        [values[result.family[known] == family] for family in families],
        bins=bins,
        stacked=True,
        label=families if len(families) > 1 else None,
        color=None if len(families) > 1 else "#3b6fb6",
    )
    heights = np.atleast_2d(counts)[-1]
    s = result.summary
    ax.axvline(s.mean, color="#222222", linewidth=1, label=f"mean {s.mean:.3g}  [{s.low:.3g}, {s.high:.3g}]")
    ax.set_xlim(0, top)
    ax.set_ylim(0, max(1.0, heights.max(initial=0.0)) * 1.7)
    # Names of the worst prompts, one under the other, each tied to its place on the axis.
    order = known[np.argsort(-values, kind="stable")][: max(0, worst)]
    for place, i in enumerate(order):
        bar = heights[min(len(heights) - 1, int(np.searchsorted(bins, result.gamma[i], side="right")) - 1)]
        text = _short(result.prompt[i]) + (f" ({result.family[i]})" if len(families) > 1 else "")
        ax.annotate(
            text,
            (result.gamma[i], bar),
            xytext=(0.985, 0.97 - 0.06 * place),
            textcoords="axes fraction",
            ha="right",
            va="top",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "color": "#777777", "linewidth": 0.6, "shrinkA": 1, "shrinkB": 1},
        )
    ax.set_xlabel(f"gamma ({result.convention})")
    ax.set_ylabel("prompts")
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set_title(f"gamma of {result.model}")
    ax.legend(loc="upper left", fontsize=8)
    return ax


def plot_comparison(result: "TextCompareResult", ax: Any) -> Any:
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 1.2 + 0.5 * len(result.models)), layout="constrained")
    names = [name for group in result.ranking for name in group]
    summaries = [result.results[name].summary for name in names]
    mean = np.array([s.mean for s in summaries])
    ends = np.array([[s.mean - s.low, s.high - s.mean] for s in summaries]).T
    ax.errorbar(mean, range(len(names)), xerr=np.nan_to_num(ends), fmt="o", color="#3b6fb6", capsize=3)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel(f"mean gamma ({result.results[names[0]].convention})")
    ax.set_title("steadiest first")
    return ax
