"""harmonia.alignment."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._boundary import _rows
from ._compare import _number, _Written
from ._data import DataLike, Table
from ._errors import UsageError
from ._measure import ImageChoice, ModelLike, _count, call_text, native_arguments, open_subject, warn
from ._models import Choice
from ._modules import array_of, is_tensor
from ._progress import Progress, shown
from ._stability import _UNUSED

if TYPE_CHECKING:
    import pandas as pd


class AlignmentResult(_Written):
    """How far a model's gradients lie along the plane of its data, as NumPy arrays with one entry a row.

    >>> import harmonia, torch
    >>> net = torch.nn.Linear(3, 2)
    >>> _ = net.weight.data.copy_(torch.tensor([[1, 2, 2], [-1, -2, -2]]))
    >>> result = harmonia.alignment(net, [[1.0, 0, 0], [0, 2, 0], [0, 0, 0]], components=2)
    >>> result.cosine.round(4), result.ratio.round(4)
    (array([0.7454, 0.7454, 0.7454]), array([1.3416, 1.3416, 1.3416]))
    """

    def __init__(self, native: _native.Alignment, index: Any = None) -> None:
        self._native = native
        self._index = index
        told = json.loads(native.to_json())
        self._told = told
        rows = told["rows"]

        def field(name: str) -> NDArray[np.float64]:
            return np.array([_number(row[name]) for row in rows], dtype=float)

        self.row: NDArray[np.int64] = np.array([row["row"] for row in rows], dtype=np.int64)
        """Numbers of the rows in the data."""
        self.decided_class: NDArray[np.float64] = field("class")
        """The model's class at each row; NaN where the evaluations ran out."""
        self.cosine: NDArray[np.float64] = field("cosine")
        """‖part of the gradient along the plane‖ / ‖gradient‖: 1 is along it, 0 across. NaN: the gradient is zero."""
        self.ratio: NDArray[np.float64] = field("ratio")
        """1 / cosine, the paper's measure; NaN where nothing is along the plane."""
        self.rejection: NDArray[np.float64] = field("rejection")
        """Length of the part across the plane, of a gradient of length 1."""
        self.outcome: NDArray[np.str_] = np.array([row["outcome"] for row in rows])
        """measured, flat (the gradient is zero), across or budget."""
        self.summary: dict[str, Any] = told["summary"]
        """Means with intervals, what chance would give, the plane and a sentence, among others."""
        self.dimensions: int = told["summary"]["plane"]["dimensions"]
        """Of the plane."""
        self.by_chance: float = told["summary"]["by_chance"]
        """The mean squared cosine of directions drawn at random."""

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"AlignmentResult({self.summary['text']})"

    def to_frame(self) -> "pd.DataFrame":
        """A row of the frame a row.

        >>> import harmonia, torch
        >>> harmonia.alignment(torch.nn.Linear(3, 2), torch.randn(20, 3), components=1).to_frame().shape
        (20, 6)
        """
        import pandas as pd

        return pd.DataFrame(self._told["rows"], index=self._index)

    def plot(self, ax: Any = None) -> Any:
        """Rows by their cosine, with the mean, its interval and what chance would give; returns the axes.

        >>> import harmonia, torch, matplotlib; matplotlib.use("agg")
        >>> harmonia.alignment(torch.nn.Linear(3, 2), torch.randn(20, 3), components=1).plot().get_xlabel()
        'cosine with the plane of the data'
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        counts = self.summary["histogram"]
        edges = np.linspace(0, 1, len(counts) + 1)
        ax.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color="#3b6fb6", edgecolor="white")
        mean = self.summary["cosine"]
        if mean["low"] is not None:
            ax.axvspan(mean["low"], mean["high"], color="#c2452d", alpha=0.2, linewidth=0)
        if mean["mean"] is not None:
            ax.axvline(mean["mean"], color="#c2452d", label=f"mean {mean['mean']:.3g}")
        chance = np.sqrt(self.by_chance)
        ax.axvline(chance, color="black", linestyle=":", label=f"by chance {chance:.3g} (root mean square)")
        ax.set_xlim(0, 1)
        ax.set_xlabel("cosine with the plane of the data")
        ax.set_ylabel("rows")
        ax.legend()
        return ax


def _labelled(data: _native.Data, table: Optional[Table], y: Optional[ArrayLike], name: str) -> _native.Data:
    """The rows with labels that come as an array beside them."""
    if y is None:
        return data
    if table is None:
        raise UsageError(f"{name} is for arrays and data frames; label names the column of a file")
    if table.labels:
        raise UsageError(f"the data has labels from the column label; leave {name} out")
    labels = array_of(y) if is_tensor(y) else np.asarray(y)
    if labels.shape != (len(table.values),):
        raise UsageError(f"{name} has shape {labels.shape}; expected a label a row, ({len(table.values)},)")
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    table.labels = [str(label) for label in labels.tolist()]
    return table.data()


def alignment(
    f: ModelLike,
    X: DataLike,
    y: Optional[ArrayLike] = None,
    *,
    manifold: Optional[DataLike] = None,
    manifold_y: Optional[ArrayLike] = None,
    components: int = 28,
    by_label: bool = False,
    gradient: str = "loss",
    outputs: str = "logits",
    paper: bool = False,
    confidence: float = 0.95,
    binary: bool = False,
    dtype: Any = None,
    columns: Optional[Sequence[Any]] = None,
    drop: Optional[Sequence[Any]] = None,
    id: Optional[Any] = None,
    label: Optional[Any] = None,
    feature_names: Optional[Sequence[str]] = None,
    description: Union[None, str, "os.PathLike[str]"] = None,
    size: Optional[str] = None,
    grey: bool = False,
    labels: Union[None, str, "os.PathLike[str]"] = None,
    manifold_labels: Union[None, str, "os.PathLike[str]"] = None,
    batch: Optional[int] = None,
    seed: int = 1,
    threads: Optional[int] = None,
    max_evaluations: Optional[int] = None,
    progress: Union[bool, None, Progress] = None,
) -> AlignmentResult:
    """Whether a model is sensitive along the plane that its data lies in, or across it: one gradient a row.

    >>> import harmonia, torch
    >>> net, X, y = torch.nn.Linear(5, 3), torch.randn(40, 5), torch.randint(3, (40,))
    >>> result = harmonia.alignment(net, X, y, components=2)
    >>> result.dimensions, result.by_chance, bool((result.cosine <= 1).all())
    (2, 0.4, True)

    Parameters
    ----------
    f: a model with gradients and an output a class: a torch.nn.Module, or a TorchScript file "net.pt".
    X: the rows, as for gamma(); y their labels, where they are no column `label` of a data frame or a file.
    manifold: rows that the plane is fitted to, such as the training data; None: those of X. manifold_y: their labels.
    components: principal directions of those rows that make the plane.
    by_label: so many components for the rows of every label, taken together.
    gradient: of what: "loss" (cross-entropy of the row's label, or of its class without labels) or "output" (the output of
        its class).
    outputs: "logits", or "probabilities", of which the logarithm is taken.
    paper: the paper's equations as printed, which take components of several labels for orthonormal.
    confidence: of the means' intervals.
    labels, manifold_labels: files of the labels of images.

    The others are those of gamma().
    """
    asked = {k: v for k, v in locals().items() if k not in ("f", "X", "y", "manifold", "manifold_y", "progress")}
    if outputs not in ("logits", "probabilities"):
        raise UsageError(f"outputs is {outputs!r}; expected logits or probabilities")
    if manifold is None and (manifold_y is not None or manifold_labels is not None):
        raise UsageError("manifold_y and manifold_labels are the labels of the rows in manifold; none are given")
    choice = Choice(None, False, binary, None, None, dtype, threads or 0)
    images = ImageChoice(os.fspath(description or ""), size or "", grey, os.fspath(labels or ""))
    (model,), data, table = open_subject([f], X, choice, columns, drop, id, label, feature_names, seed, images)
    data = _labelled(data, table, y, "y")
    plane = None
    if manifold is not None:
        plane, rows = _rows(f, manifold, model.inputs, asked, replace(images, labels=os.fspath(manifold_labels or "")))
        plane = _labelled(plane, rows, manifold_y, "manifold_y")
    arguments = native_arguments({**asked, **_UNUSED, "margin": False, "scale": "none", "schema": None}, table)
    images.tell(arguments, f, model, X)
    own = {"components": None if components == 28 else components, "gradient": None if gradient == "loss" else gradient,
           "outputs": None if outputs == "logits" else outputs, "by_label": by_label or None}  # fmt: skip
    call = call_text("alignment", [model], data, {**asked, **own})
    arguments.call = call if plane is None else f"{call[:-1]}, manifold={plane.source!r})"
    with shown(progress, f"alignment of {model.name}") as tell:
        native = _native.alignment(
            model, data, plane, _count("components", components), bool(by_label), gradient, outputs == "probabilities",
            bool(paper), arguments, tell,
        )
    warn(native.warnings, model)
    return AlignmentResult(native, table.index if table is not None else None)
