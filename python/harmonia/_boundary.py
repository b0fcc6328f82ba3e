"""harmonia.boundary."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._compare import _OPTIONS, _number, _Written
from ._data import DataLike, Table, read_table
from ._errors import UsageError
from ._measure import (
    ImageChoice,
    ModelLike,
    _count,
    _in_fitted_order,
    _positive,
    call_text,
    native_arguments,
    open_subject,
    warn,
)
from ._models import Choice
from ._modules import is_module
from ._progress import Progress, shown

if TYPE_CHECKING:
    import pandas as pd


class BoundaryResult(_Written):
    """Crossings of segments with decision boundaries, as NumPy arrays with one entry a crossing.

    A pair without a crossing has one entry, whose t is NaN and whose outcome says why.

    >>> import harmonia
    >>> result = harmonia.boundary("fn:half-space?d=1", [[0.0, 0.0]], [[2.0, 2.0], [4.0, 0.0], [0.0, 1.0]])
    >>> result.t.round(6), result.angle.round(2)
    (array([0.5 , 0.25,  nan]), array([45., 90., nan]))
    >>> result.outcome
    array(['crossing', 'crossing', 'none'], dtype=object)
    """

    def __init__(self, native: _native.Boundary) -> None:
        self._native = native
        self._told = json.loads(native.to_json())
        rows = self._told["rows"]

        def field(name: str) -> NDArray[np.float64]:
            return np.array([_number(row[name]) for row in rows])

        def side(k: int) -> NDArray[np.float64]:
            return np.array([_number(row["classes"][k] if row["classes"] is not None else None) for row in rows])

        self.row: NDArray[np.int64] = np.array([row["row"] for row in rows], dtype=np.int64)
        """Number of the pair."""
        self.a: NDArray[np.int64] = np.array([row["a"] for row in rows], dtype=np.int64)
        """Number of its row in A …"""
        self.b: NDArray[np.int64] = np.array([row["b"] for row in rows], dtype=np.int64)
        """… and in B."""
        self.t: NDArray[np.float64] = field("t")
        """Where the crossing lies: A + t (B − A)."""
        self.t_low: NDArray[np.float64] = field("t_low")
        """The last t that has the class of A's side …"""
        self.t_high: NDArray[np.float64] = field("t_high")
        """… and the first that has the other."""
        self.class_from: NDArray[np.float64] = side(0)
        """Class on A's side; of a pair without crossing, at A."""
        self.class_to: NDArray[np.float64] = side(1)
        """Class on B's side."""
        self.angle: NDArray[np.float64] = field("angle")
        """Of the segment with the boundary, in degrees; 90 is orthogonal."""
        self.angle_low: NDArray[np.float64] = field("angle_low")
        """What is known of it numerically: not below this …"""
        self.angle_high: NDArray[np.float64] = field("angle_high")
        """… and not above this."""
        self.method: NDArray[np.object_] = np.array([row["method"] for row in rows], dtype=object)
        """How the normal was found: margin, label or none."""
        self.outcome: NDArray[np.object_] = np.array([row["outcome"] for row in rows], dtype=object)
        """crossing, partial, flat, none, equal or budget."""
        self.evaluations: NDArray[np.int64] = np.array([row["evaluations"] for row in rows], dtype=np.int64)
        self.points: NDArray[np.float64] = native.points()
        """The crossings, entries × features."""
        self.normals: NDArray[np.float64] = native.normals()
        """The boundary's normals there, of length 1 in units of the scale, towards B's side."""
        self.summary: dict[str, Any] = self._told["summary"]
        """How many pairs cross how often, and the angle's mean with its interval, among others."""

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"BoundaryResult({self.summary['text']})"

    def to_frame(self) -> "pd.DataFrame":
        """A row a crossing, or a pair that has none; points and normals are left out.

        >>> import harmonia
        >>> harmonia.boundary("fn:ball-class", [[0.0, 0.0]], [[0.0, 2.0]]).to_frame()[["t", "outcome"]].values.tolist()
        [[0.5, 'crossing']]
        """
        import pandas as pd

        names = ("row", "a", "b", "t", "t_low", "t_high", "class_from", "class_to", "angle", "angle_low", "angle_high")
        more = ("method", "evaluations", "outcome")
        return pd.DataFrame({name: getattr(self, name) for name in (*names, *more)})

    def plot(self, ax: Any = None) -> Any:
        """The angles as a histogram on a quarter circle; returns the axes, which must be polar.

        >>> import harmonia, matplotlib; matplotlib.use("agg")
        >>> harmonia.boundary("fn:ball-class", [[0.1, 0.0]], [[0.0, 2.0]]).plot().get_title()
        'angle with the boundary: mean 84.3°'
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(subplot_kw={"projection": "polar"}, layout="constrained")
        elif getattr(ax, "name", "") != "polar":
            raise UsageError("the angles are drawn on polar axes: plt.subplots(subplot_kw={'projection': 'polar'})")
        counts = np.array(self.summary["angle"]["histogram"])
        edges = np.radians(np.linspace(0, 90, len(counts) + 1))
        ax.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color="#3b6fb6", edgecolor="white")
        ax.set_thetamin(0)
        ax.set_thetamax(90)
        mean = self.summary["angle"]["mean"]
        if mean is not None:
            ax.plot([np.radians(mean)] * 2, [0, max(1, counts.max())], color="#c2452d")
        ax.set_title(f"angle with the boundary: mean {'–' if mean is None else f'{mean:.1f}°'}")
        return ax


def boundary(
    f: ModelLike,
    A: DataLike,
    B: DataLike,
    *,
    steps: int = 100,
    normal: str = "auto",
    step: Optional[float] = None,
    confidence: float = 0.95,
    scale: str = "none",
    schema: Union[None, str, "os.PathLike[str]", Mapping[str, Any]] = None,
    method: Optional[str] = None,
    margin: bool = False,
    binary: bool = False,
    missing: Optional[bool] = None,
    as_frame: Optional[bool] = None,
    dtype: Any = None,
    columns: Optional[Sequence[Any]] = None,
    drop: Optional[Sequence[Any]] = None,
    id: Optional[Any] = None,
    label: Optional[Any] = None,
    feature_names: Optional[Sequence[str]] = None,
    batch: Optional[int] = None,
    seed: int = 1,
    threads: Optional[int] = None,
    max_evaluations: Optional[int] = None,
    progress: Union[bool, None, Progress] = None,
) -> BoundaryResult:
    """Where the segments from rows of A to rows of B cross decision boundaries, and at which angle.

    >>> import harmonia, numpy as np
    >>> def model(X):  # three classes by the angle around 0
    ...     return np.stack([X @ v for v in ([1, 0], [-0.5, 0.75 ** 0.5], [-0.5, -(0.75 ** 0.5)])], axis=1)
    >>> result = harmonia.boundary(model, [[1.0, 0.0]], [[-1.0, 0.5]])
    >>> result.class_from, result.class_to, result.angle.round(4)
    (array([0.]), array([1.]), array([74.0362]))

    Row i of A is paired with row i of B; a side of one row goes with every row of the other. Every class change on the
    points that are looked at is bisected until no point of the model's type lies between.

    Parameters
    ----------
    steps: every segment is looked at on steps + 1 points; a class that begins and ends between two is not seen.
    normal: how the boundary's normal is found: "margin" (differences of the two classes' outputs, 2 evaluations a
        feature), "label" (by classes alone, some 36 a feature), "none", or "auto": margin, but label where the outputs
        jump at the boundary or are the class.
    step: of the normal's differences, in units of `scale`; None: 0.001 of the features' root mean square deviation in A
        and B, 0.01 for a model that takes float32.
    confidence: of the mean angle's interval.
    scale: unit of lengths and angles per feature: "none", "std" or "range", of A.
    schema: features that may not be moved, and scales, as in gamma().

    The other options are those of gamma(). A and B are arrays, data frames or files, of the same columns.
    """
    options = {k: v for k, v in locals().items() if k not in ("f", "A", "B", "progress", "steps", "normal", "step")}
    if isinstance(A, np.ndarray) and A.ndim == 1:
        A = A[None]
    if isinstance(B, np.ndarray) and B.ndim == 1:
        B = B[None]
    choice = Choice(method, margin, binary, missing, as_frame, dtype, threads or 0)
    (model,), a, table = open_subject([f], A, choice, columns, drop, id, label, feature_names, seed)
    b, other = _rows(f, B, model.inputs, options)
    for side in (table, other):
        if side is not None and side.categories:
            name = side.names[min(side.categories)]
            raise UsageError(f"column {name!r} holds categories or texts, which have no way between; drop it")
    asked = {"radius": 1.0, "explain": 0, **_OPTIONS, **options}
    arguments = native_arguments(asked, table)
    ImageChoice().tell(arguments, f, model, A)
    own = {"steps": None if steps == 100 else steps, "normal": None if normal == "auto" else normal, "step": step}
    call = call_text("boundary", [model], a, {**own, **options})
    arguments.call = call.replace(repr(a.source), f"{a.source!r}, {b.source!r}", 1)
    with shown(progress, f"boundary of {model.name}") as tell:
        native = _native.boundary(model, a, b, arguments, _count("steps", steps), normal, _positive("step", step), tell)
    warn(native.warnings, model)
    return BoundaryResult(native)


def _rows(
    f: ModelLike, X: DataLike, inputs: int, options: Mapping[str, Any], image_choice: ImageChoice = ImageChoice()
) -> tuple[_native.Data, Optional[Table]]:
    """The rows of B, taken as those of A are."""
    columns, drop, id, label = (options[name] for name in ("columns", "drop", "id", "label"))
    if not isinstance(X, (str, os.PathLike)):
        ordered = _in_fitted_order(f, X, columns, drop, id, label)
        names = options["feature_names"]
        table = read_table(X, ordered, drop, id, label, names, is_module(f))
        return table.data(), table
    chosen = [[str(c) for c in part or []] for part in (columns, drop)]
    carried = ["" if name is None else str(name) for name in (id, label)]
    images = image_choice.ask(f, X)
    return _native.open_data(os.fspath(X), *chosen, *carried, inputs, options["seed"], images, image_choice.labels), None
