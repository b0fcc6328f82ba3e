"""Plots of results with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._errors import UsageError

if TYPE_CHECKING:
    from ._result import GammaResult


def plot(result: "GammaResult", kind: str, ax: Any) -> Any:
    if kind not in ("auto", "histogram", "map"):
        raise UsageError(f"kind is '{kind}'; expected auto, histogram or map")
    flat = len(result.feature_names) == 2 and result.column is None
    if kind == "map" and not flat:
        raise UsageError(f"a map needs rows of 2 features and one output; the data has {len(result.feature_names)} features")
    if kind == "map" or (kind == "auto" and flat and len(result) >= 16):
        return _map(result, ax)
    return _histogram(result, ax)


def _title(result: "GammaResult") -> str:
    s = result.summary
    return f"mean {s.mean:.3g}  [{s.low:.3g}, {s.high:.3g}]"


def _histogram(result: "GammaResult", ax: Any) -> Any:
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    values = result.gamma[np.isfinite(result.gamma)]
    ax.hist(values, bins=min(60, max(8, int(np.sqrt(len(values))))), color="#3b6fb6")
    ax.axvline(result.summary.mean, color="#c2452d", label=_title(result))
    ax.axvspan(result.summary.low, result.summary.high, color="#c2452d", alpha=0.15, linewidth=0)
    ax.set_xlabel(f"gamma, radius {result.radius:.3g}")
    ax.set_ylabel("rows")
    ax.set_title(f"gamma of {result.model}")
    ax.legend()
    return ax


def _grid(x: NDArray[np.float64]) -> Optional[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]]:
    """Both axes and the place of every cell, if the rows are a whole grid."""
    first, i = np.unique(x[:, 0], return_inverse=True)
    second, j = np.unique(x[:, 1], return_inverse=True)
    if len(first) < 2 or len(second) < 2 or len(first) * len(second) != len(x):
        return None
    cells = np.full(len(x), -1)
    cells[np.ravel(j) * len(first) + np.ravel(i)] = np.arange(len(x))
    return None if (cells < 0).any() else (first, second, cells.reshape(len(second), len(first)))


def _panel(ax: Any, x: NDArray[np.float64], values: NDArray[Any], **colours: Any) -> Any:
    grid = _grid(x)
    if grid is None:
        return ax.scatter(x[:, 0], x[:, 1], c=values, s=14, **colours)
    first, second, cells = grid
    return ax.pcolormesh(first, second, values[cells], shading="nearest", rasterized=True, **colours)


def _map(result: "GammaResult", ax: Any) -> Any:
    import matplotlib.pyplot as plt
    from matplotlib.colors import BoundaryNorm

    if ax is None:
        _, ax = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharex=True, sharey=True)
    axes = np.ravel(ax)
    if len(axes) != 2:
        raise UsageError(f"a map needs 2 axes; {len(axes)} given")
    left, right = axes
    classes = result.decided_class
    if classes.dtype.kind == "i" and len(np.unique(classes)) <= 20:
        least, most = int(classes.min()), int(classes.max())
        norm = BoundaryNorm(np.arange(least - 0.5, most + 1.5), max(2, most - least + 1))
        shown = _panel(left, result.X, classes, cmap=plt.get_cmap("tab20", max(2, most - least + 1)), norm=norm)
        bar = left.figure.colorbar(shown, ax=left, ticks=np.arange(least, most + 1), label="class")
        if result.classes and 0 <= least and most < len(result.classes):
            bar.ax.set_yticklabels(result.classes[least : most + 1])
        left.set_title(f"regions of {result.model}")
    else:
        shown = _panel(left, result.X, result.value, cmap="viridis")
        left.figure.colorbar(shown, ax=left, label="value")
        left.set_title(f"values of {result.model}")
    shown = _panel(right, result.X, result.gamma, cmap="magma_r", vmin=0)
    right.figure.colorbar(shown, ax=right, label="gamma")
    right.set_title(f"gamma, radius {result.radius:.3g}: {_title(result)}")
    for panel in axes:
        panel.set_xlabel(result.feature_names[0])
    left.set_ylabel(result.feature_names[1])
    return axes
