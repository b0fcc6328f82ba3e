"""harmonia.persistence."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._boundary import _rows
from ._compare import _number, _Written
from ._data import DataLike
from ._errors import InputError, UsageError
from ._measure import ImageChoice, ModelLike, _count, call_text, native_arguments, open_subject, warn
from ._models import Choice
from ._modules import array_of, is_tensor
from ._progress import Progress, shown
from ._stability import _UNUSED

if TYPE_CHECKING:
    import pandas as pd


class PersistenceResult(_Written):
    """The largest noise under which rows keep their class, as NumPy arrays, an entry a row and gamma.

    >>> import harmonia
    >>> result = harmonia.persistence("fn:half-space?d=1", [[0.0, 0.0], [1.0, 0.0]], gamma=0.7)
    >>> result.outcome.tolist()
    ['crossing', 'censored_low']
    """

    def __init__(self, native: _native.Persistence, index: Any = None) -> None:
        self._native = native
        self._index = index
        told = json.loads(native.to_json())
        self._told = told
        rows = told["rows"]

        def field(name: str) -> NDArray[np.float64]:
            return np.array([_number(row[name]) for row in rows], dtype=float)

        self.row: NDArray[np.int64] = np.array([row["row"] for row in rows], dtype=np.int64)
        """Numbers of the rows in the data, or of the steps of the path."""
        self.group: NDArray[np.str_] = np.array([row.get("group", "natural") for row in rows])
        """natural, or against: one of the rows to be told from."""
        self.t: Optional[NDArray[np.float64]] = field("t") if "steps" in told["options"] else None
        """Places on the path, 0 to 1; None if the rows are no path."""
        self.decided_class: NDArray[np.float64] = field("class")
        """The model's class at each row; NaN where the evaluations ran out."""
        self.gamma: NDArray[np.float64] = field("gamma")
        """The share of noise samples that had to keep the class."""
        self.sigma: NDArray[np.float64] = field("sigma")
        """The largest noise such that all smaller noise keeps the class; NaN where it is censored …"""
        self.low: NDArray[np.float64] = field("low")
        """… and its interval, open (NaN) at one end where it is censored."""
        self.high: NDArray[np.float64] = field("high")
        self.samples: NDArray[np.int64] = field("samples").astype(np.int64)
        self.certified_radius: NDArray[np.float64] = field("certified_radius")
        """Within it the most probable class under noise of certified_sigma cannot change; NaN: none is certified."""
        self.certified_sigma: NDArray[np.float64] = field("certified_sigma")
        self.outcome: NDArray[np.str_] = np.array([row["outcome"] for row in rows])
        """crossing, censored_low (lost at the least sigma), censored_high (never lost) or budget."""
        self.ranked: NDArray[np.float64] = np.select(
            [self.outcome == "censored_low", self.outcome == "censored_high"], [0.0, np.inf], self.sigma
        )
        """sigma with 0 and infinity where it is censored."""
        self.summary: dict[str, Any] = told["summary"]
        """Medians, what the scan can miss, the path's class changes and the detector, among others."""

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"PersistenceResult({self.summary['text']})"

    def to_frame(self) -> "pd.DataFrame":
        """A row of the frame an entry.

        >>> import harmonia
        >>> harmonia.persistence("fn:half-space", "uniform:5", gamma=[0.6, 0.7]).to_frame().shape[0]
        10
        """
        import pandas as pd

        frame = pd.DataFrame(self._told["rows"])
        gammas = len(self._told["options"]["gammas"])
        if self._index is not None and len(self._index) * gammas == len(frame):
            frame.index = self._index.repeat(gammas)
        return frame

    def plot(self, ax: Any = None) -> Any:
        """A histogram of sigma, of both groups if there are two; of a path, sigma against t. Returns the axes.

        >>> import harmonia, matplotlib; matplotlib.use("agg")
        >>> harmonia.persistence("fn:half-space?d=1", "uniform:30").plot().get_xlabel()
        'sigma*, gamma 0.7'
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        return self._plot_path(ax) if self.t is not None else self._plot_groups(ax)

    def _plot_path(self, ax: Any) -> Any:
        assert self.t is not None
        for gamma in np.unique(self.gamma):
            of = self.gamma == gamma
            (line,) = ax.plot(self.t[of], self.sigma[of], marker=".", label=f"gamma {gamma:g}")
            crossing = self.outcome[of] == "crossing"
            low, high = (np.where(crossing, end[of], np.nan) for end in (self.low, self.high))
            ax.fill_between(self.t[of], low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        for change in self.summary["path"]["changes"]:
            ax.axvline((change["after"] + change["before"]) / 2, color="grey", linestyle=":", linewidth=1)
        ax.set_xlabel("t")
        ax.set_ylabel("sigma*")
        ax.set_ylim(bottom=0)
        ax.legend()
        return ax

    def _plot_groups(self, ax: Any) -> Any:
        gamma = self.gamma[0]
        found = [(name, self.ranked[(self.gamma == gamma) & (self.group == name)]) for name in ("natural", "against")]
        inside = np.concatenate([values[(values > 0) & np.isfinite(values)] for _, values in found])
        ends = (inside.min() / 1.1, inside.max() * 1.1) if len(inside) else (0.5, 2.0)
        edges = np.geomspace(*ends, 31)
        for name, values in found:
            if not len(values):
                continue
            kept = values[(values > 0) & np.isfinite(values)]
            # Shares of the group, so that groups of unlike sizes can be compared.
            ax.hist(kept, bins=edges, weights=np.full(len(kept), 1 / len(values)), alpha=0.6,
                    label=f"{name}: {len(kept)} of {len(values)}")
        ax.set_xscale("log")
        ax.set_xlabel(f"sigma*, gamma {gamma:g}")
        ax.set_ylabel("share of the rows")
        ax.legend()
        return ax


def persistence(
    f: ModelLike,
    X: Optional[DataLike] = None,
    gamma: Union[float, Sequence[float]] = 0.7,
    *,
    against: Optional[DataLike] = None,
    between: Optional[tuple[Any, Any]] = None,
    steps: int = 50,
    sigma: Optional[tuple[float, float]] = None,
    precision: float = 0.05,
    samples: Optional[int] = None,
    paper: bool = False,
    paper_precision: float = 0.01,
    radius: Optional[float] = None,
    noise: str = "gaussian",
    directions: Any = None,
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
) -> PersistenceResult:
    """How large the noise around every row may grow before its class is lost: the largest sigma* such that at every
    smaller sigma at least the share gamma of the noise samples have the row's class.

    >>> import harmonia
    >>> result = harmonia.persistence("fn:half-space?d=1", [[0.0, 0.0]], gamma=0.7)
    >>> bool(result.low[0] < 1.9069 < result.high[0])
    True

    Against other rows, such as adversarial ones, it says how well persistence tells them apart:

    >>> import numpy as np
    >>> near, far = np.linspace(0.9, 0.99, 20)[:, None], np.linspace(0, 0.8, 20)[:, None]
    >>> harmonia.persistence("fn:half-space?d=1", far, against=near).summary["detector"]["persistence"][0]["auroc"]
    1.0

    Between two rows it goes along the straight path:

    >>> result = harmonia.persistence("fn:half-space?d=1", between=([0.0], [2.5]), steps=10)
    >>> result.summary["path"]["text"]
    'class 1 becomes 0 between t = 0.3 and 0.4'

    Parameters
    ----------
    f, X: the model and the rows, as for gamma(). A model that returns only labels will do.
    gamma: a share, or several.
    against: other rows, of the same columns.
    between: two single rows, instead of X; files as "rows.csv#3".
    steps: of the path between them.
    sigma: least and largest noise to look at; None: 2**-20 to 2**20 times the data's scale, which is the root mean
        square of its columns' deviations, or 1 with `scale`.
    precision: stop when the interval is this share of sigma* to both sides.
    samples: at one sigma, at most [16384]; with paper, at every sigma [1000].
    paper: the paper's bracketing, which gives no intervals, to reproduce published numbers.
    paper_precision: with paper, how close the share of samples must come to gamma.
    radius: with against, gamma of balls of this radius is compared as a detector as well.
    noise: "gaussian" (deviation sigma in every feature) or "ball" (uniform, of radius sigma).
    directions: an array whose rows are the directions to move along instead of the features.
    confidence: of every interval.

    The others are those of gamma().
    """
    asked = {k: v for k, v in locals().items() if k not in ("f", "X", "progress", "gamma", "directions", "against", "between")}
    gammas = sorted({float(g) for g in np.atleast_1d(np.asarray(gamma, dtype=float)).ravel()})
    if (X is None) == (between is None):
        raise UsageError("persistence takes rows, or between=(a, b), and not both")
    if between is not None and (against is not None or isinstance(between, str) or len(between) != 2):
        raise UsageError("between is two single rows, and goes without against")
    if radius is not None and (against is None or not radius > 0):
        raise UsageError(f"radius is {radius}; expected a number above 0, and other rows in against")
    if paper and (sigma is not None or precision != 0.05):
        raise UsageError("sigma and precision are of the scan; the paper's bracketing has none")
    first = X if between is None else _single(between[0])
    choice = Choice(method, margin, binary, missing, as_frame, dtype, threads or 0)
    (model,), data, table = open_subject([f], first, choice, columns, drop, id, label, feature_names, seed)
    other = against if between is None else _single(between[1])
    more = None
    if other is not None:
        more, second = _rows(f, other, model.inputs, asked)
        for side in (table, second) if between is not None else ():
            if side is not None and side.categories:
                name = side.names[min(side.categories)]
                raise UsageError(f"column {name!r} holds categories or texts, which have no way between; drop it")
        if second is not None and table is not None:
            for column in {*second.categories, *table.categories}:
                kinds = [side.categories.get(column) for side in (table, second)]
                if any(k is None for k in kinds) or list(kinds[0].values) != list(kinds[1].values):  # type: ignore[union-attr]
                    raise InputError(f"column {table.names[column]!r} has other categories in against; give both the same type")
    along = None if directions is None else np.ascontiguousarray(np.atleast_2d(np.asarray(directions, dtype=np.float64)))
    arguments = native_arguments({**asked, **_UNUSED}, table)
    ImageChoice().tell(arguments, f, model, X)
    own = {"steps": steps if between is not None and steps != 50 else None, "precision": None if precision == 0.05 else precision,
           "paper_precision": paper_precision if paper else None, "noise": None if noise == "gaussian" else noise}
    call = call_text("persistence", [model], data, {"gamma": gammas[0] if len(gammas) == 1 else gammas, **asked, **own})
    if more is not None and between is not None:
        call = call.replace(repr(data.source), f"between=({data.source!r}, {more.source!r})", 1)
    elif more is not None:
        call = f"{call[:-1]}, against={more.source!r})"
    arguments.call = call
    with shown(progress, f"persistence of {model.name}") as tell:
        native = _native.persistence(
            model, data, more if between is None else None, more if between is not None else None, _count("steps", steps),
            gammas, None if sigma is None else (float(sigma[0]), float(sigma[1])), float(precision), _count("samples", samples),
            bool(paper), float(paper_precision), None if radius is None else float(radius), noise, along, arguments, tell,
        )
    warn(native.warnings, model)
    return PersistenceResult(native, table.index if table is not None and between is None else None)


def _single(row: Any) -> Any:
    """One row as rows are given."""
    if isinstance(row, (str, os.PathLike)) or hasattr(row, "columns"):
        return row
    if hasattr(row, "to_frame"):  # a row of a data frame
        return row.to_frame().T.infer_objects()
    return np.atleast_2d(array_of(row) if is_tensor(row) else np.asarray(row))
