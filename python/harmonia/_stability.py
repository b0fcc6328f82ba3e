"""harmonia.stability."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._compare import _Written
from ._data import DataLike
from ._errors import UsageError
from ._measure import ImageChoice, ModelLike, _count, _positive, call_text, native_arguments, open_subject, warn
from ._models import Choice
from ._progress import Progress, shown

if TYPE_CHECKING:
    import pandas as pd

#: Options of native_arguments that say nothing about noise.
_UNUSED: dict[str, Any] = {
    "radius": 1.0,
    "ball": "simplex+anti",
    "average": "surface",
    "output": "predicted",
    "sample": None,
    "precision": None,
    "floor": None,
    "explain": 0,
    "paper": False,
}


class StabilityResult(_Written):
    """The classes around rows under noise, as NumPy arrays of rows × sigmas.

    >>> import harmonia
    >>> result = harmonia.stability("fn:half-space?d=1", [[0.0, 0.0]], sigma=[0.1, 1.0], samples=10000)
    >>> result.probability.round(1)
    array([[1. , 0.8]])
    """

    def __init__(self, native: _native.Stability, index: Any = None) -> None:
        self._native = native
        self._index = index
        told = json.loads(native.to_json())
        self._told = told
        self.sigma: NDArray[np.float64] = np.array(told["options"]["sigmas"], dtype=float)
        """Sizes of the noise."""
        sigmas = len(self.sigma)
        rows = told["rows"]

        def field(name: str) -> NDArray[np.float64]:
            return np.array([_number(row[name]) for row in rows], dtype=float).reshape(-1, sigmas)

        takeovers = told["summary"]["takeovers"]
        self.row: NDArray[np.int64] = np.array([t["row"] for t in takeovers], dtype=np.int64)
        """Numbers of the rows in the data."""
        self.decided_class: NDArray[np.float64] = np.array([_number(t["class"]) for t in takeovers])
        """The model's class at each row; NaN where the evaluations ran out."""
        self.background: NDArray[np.float64] = np.array([_number(t["background"]) for t in takeovers])
        """The most frequent class at the largest sigma."""
        self.takeover: NDArray[np.float64] = np.array([_number(t["sigma"]) for t in takeovers])
        """The least sigma from which on another class is the most frequent; NaN: its own still is."""
        self.probability: NDArray[np.float64] = field("probability")
        """Share of the samples that have the row's class …"""
        self.low: NDArray[np.float64] = field("low")
        """… its interval by Wilson …"""
        self.high: NDArray[np.float64] = field("high")
        self.exact_low: NDArray[np.float64] = field("exact_low")
        """… and by Clopper and Pearson."""
        self.exact_high: NDArray[np.float64] = field("exact_high")
        self.samples: NDArray[np.int64] = field("samples").astype(np.int64)
        self.certified_radius: NDArray[np.float64] = field("certified_radius")
        """Within it, in units of the scales, the most probable class under the noise cannot change. NaN: none is certified, as
        always with ball noise, directions, or features that are fixed, bounded or whole."""
        self.outcome: NDArray[np.str_] = np.array([row["outcome"] for row in rows]).reshape(-1, sigmas)
        """sampled, stable, unstable, borderline or budget."""
        self.classes: list[int] = sorted({int(c) for row in rows for c in row["frequencies"]})
        """The classes that were met."""
        place = {c: k for k, c in enumerate(self.classes)}
        counts = np.zeros((len(rows), len(self.classes)), dtype=np.int64)
        for i, row in enumerate(rows):
            for c, count in row["frequencies"].items():
                counts[i, place[int(c)]] = count
        self.frequencies: NDArray[np.int64] = counts.reshape(-1, sigmas, len(self.classes))
        """Samples of every class: rows × sigmas × classes."""
        self.summary: dict[str, Any] = told["summary"]
        """The mean curve, the takeovers and a sentence, among others."""

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"StabilityResult({self.summary['text']})"

    def to_frame(self) -> "pd.DataFrame":
        """A row of the frame a row and sigma.

        >>> import harmonia
        >>> harmonia.stability("fn:half-space", "uniform:5", sigma="0.1..1x4", samples=50).to_frame().shape[0]
        20
        """
        import pandas as pd

        frame = pd.DataFrame(self._told["rows"]).drop(columns="frequencies")
        for k, c in enumerate(self.classes):
            frame[f"class {c}"] = self.frequencies[:, :, k].ravel()
        if self._index is not None:
            frame.index = self._index.repeat(len(self.sigma))
        return frame

    def plot(self, row: int = 0, ax: Any = None) -> Any:
        """The share of every class around a row (by its place) against sigma; returns the axes.

        >>> import harmonia, matplotlib; matplotlib.use("agg")
        >>> harmonia.stability("fn:ball-class", [[0.0, 0.0]], sigma="0.1..2x9", samples=200).plot().get_xlabel()
        'sigma'
        """
        import matplotlib.pyplot as plt

        if not -len(self) <= row < len(self):
            raise UsageError(f"row {row}; expected one of {len(self)}")
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        own = self.decided_class[row]
        shares = self.frequencies[row] / np.maximum(1, self.samples[row])[:, None]
        for k, c in enumerate(self.classes):
            mine = c == own
            if mine or shares[:, k].max() > 0:
                ax.plot(self.sigma, shares[:, k], label=f"class {c}", color="black" if mine else None, linewidth=2.2 if mine else 1.4, zorder=3 if mine else 2)
        ax.fill_between(self.sigma, self.low[row], self.high[row], color="black", alpha=0.15, linewidth=0)
        if np.isfinite(self.takeover[row]):
            ax.axvline(self.takeover[row], color="grey", linestyle=":", linewidth=1)
        ax.set_xlabel("sigma")
        ax.set_ylabel("share of the noise samples")
        ax.set_ylim(0, 1.02)
        ax.legend()
        return ax


def _number(value: Optional[float]) -> float:
    return float("nan") if value is None else float(value)


def stability(
    f: ModelLike,
    X: DataLike,
    sigma: Union[float, str, Sequence[float]],
    *,
    samples: int = 1000,
    half_width: Optional[float] = None,
    gamma: Optional[float] = None,
    within: float = 0.01,
    noise: str = "gaussian",
    directions: Any = None,
    image: Optional[tuple[int, int]] = None,
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
) -> StabilityResult:
    """Which classes lie around every row of X, and how far its own reaches, under noise of growing size.

    >>> import harmonia
    >>> result = harmonia.stability("fn:ball-class?r=1", [[0.0, 0.0]], sigma="0.1..2x20")
    >>> result.decided_class[0], result.background[0], result.takeover[0].round(1)
    (1.0, 0.0, 0.9)

    With gamma it asks of one sigma whether each row is (gamma, sigma)-stable, with as many samples as that takes:

    >>> harmonia.stability("fn:half-space?d=1", [[0.0, 0.0], [0.9, 0.0]], sigma=1.0, gamma=0.7).outcome.ravel().tolist()
    ['stable', 'unstable']

    Parameters
    ----------
    f, X: the model and the rows, as for gamma(). A model that returns only labels will do.
    sigma: sizes of the noise in units of `scale`: a number, a list, or "0.01..2x100", "log:0.001..1x20".
    samples: around every row at every sigma; the same displacements serve all rows and sigmas.
    half_width: as many samples as make every interval this narrow to both sides, instead of `samples`.
    gamma: the share of samples to ask about.
    within: with gamma, how narrow to either side of its middle the interval gets of a row whose interval has gamma in it
        (outcome borderline).
    noise: "gaussian" (deviation sigma in every feature) or "ball" (uniform, of radius sigma).
    directions: an array whose rows are the directions to move along instead of the features, such as principal
        directions times their deviations.
    image: height and width of rows that are grey pictures: noise samples of up to 10 rows are kept for the page.
    confidence: of every interval.

    The others are those of gamma().
    """
    asked = {k: v for k, v in locals().items() if k not in ("f", "X", "progress", "sigma", "directions")}
    text = sigma if isinstance(sigma, str) else ",".join(repr(float(s)) for s in np.atleast_1d(np.asarray(sigma, dtype=float)).ravel())
    each = _native.parse_sigmas(text)
    if gamma is not None and (samples != 1000 or half_width is not None):
        raise UsageError("gamma draws as many samples as it needs; samples and half_width are for curves")
    if image is not None and (len(image) != 2 or min(image) < 1):
        raise UsageError(f"image is {image!r}; expected height and width")
    choice = Choice(method, margin, binary, missing, as_frame, dtype, threads or 0)
    (model,), data, table = open_subject([f], X, choice, columns, drop, id, label, feature_names, seed)
    along = None if directions is None else np.ascontiguousarray(np.atleast_2d(np.asarray(directions, dtype=np.float64)))
    arguments = native_arguments({**_UNUSED, **asked}, table)
    ImageChoice().tell(arguments, f, model, X)
    told = {k: v for k, v in asked.items() if not (k == "within" and gamma is None) and not (k == "samples" and gamma is not None)}
    arguments.call = call_text("stability", [model], data, {"sigma": sigma if isinstance(sigma, str) else each, **told})
    with shown(progress, f"stability of {model.name}") as tell:
        native = _native.stability(
            model, data, each, _count("samples", samples), _positive("half_width", half_width),
            None if gamma is None else float(gamma), float(within), noise, along, list(image or ()), arguments, tell,
        )
    warn(native.warnings, model)
    return StabilityResult(native, table.index if table is not None else None)
