"""harmonia.map and harmonia.GammaMap."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._compare import _asked, _open, _Written
from ._data import DataLike
from ._errors import UsageError
from ._measure import ModelLike, _count, call_text, warn
from ._progress import Progress, shown

if TYPE_CHECKING:
    import pandas as pd

#: Further variables by name, a value a row.
Extra = Optional[Mapping[str, ArrayLike]]


@dataclass(frozen=True)
class MapAnswer:
    """What a map answers about rows, as arrays with one entry a row; NaN where a row has no gamma.

    >>> import harmonia, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> f = lambda X: np.stack([X[:, 0] ** 2 + X[:, 1], X[:, 2], 0 * X[:, 3]], axis=1)
    >>> answer = harmonia.map(f, X, radius=0.5, steps=2).map.predict(f, X[:3])
    >>> bool((answer.low <= answer.probability).all() and (answer.probability <= answer.high).all())
    True
    """

    probability: NDArray[np.float64]  #: that the row's class outlasts the search
    low: NDArray[np.float64]  #: interval, from the errors of coefficients and recalibration, and gamma's interval
    high: NDArray[np.float64]
    outside: NDArray[np.bool_]  #: an input is outside of what the map was fitted on
    p: NDArray[np.float64]  #: softmax probability of the row's class
    gamma: NDArray[np.float64]


class GammaMap:
    """The probability that a row's class outlasts N steps of a search, from P and gamma, without the search.

    >>> import harmonia, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> f = lambda X: np.stack([X[:, 0] ** 2 + X[:, 1], X[:, 2], 0 * X[:, 3]], axis=1)
    >>> map = harmonia.map(f, X, radius=0.5, steps=2).map
    >>> map.inputs
    ['logit_p', 'log_gamma']
    >>> bool(map.predict_from(0.99, 0.01).probability[0] > map.predict_from(0.5, 0.01).probability[0])
    True
    """

    def __init__(self, native: _native.SavedMap, text: str, path: str = "") -> None:
        self._native = native
        self._text = text
        self._path = path
        self.steps: int = native.steps
        """N, steps of the search that it stands for."""
        self.radius: float = native.radius
        """Of the ball that gamma is measured with …"""
        self.ball: str = native.ball
        """… and its kind."""
        self.inputs: list[str] = native.inputs
        """logit_p, log_gamma, then further variables."""
        self.coefficients: NDArray[np.float64] = np.array(native.coefficients)
        """The intercept, then one an input of mean 0 and deviation 1 (see means and scales)."""
        self.means: NDArray[np.float64] = np.array(native.means)
        self.scales: NDArray[np.float64] = np.array(native.scales)
        self.floor: float = native.floor
        """A smaller gamma counts as this much."""
        self.model: str = native.model
        """What it was fitted on."""
        self.sha256: str = native.sha256

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "GammaMap":
        """The map in a result of harmonia.map or `harmonia map --json`."""
        name = os.fspath(path)
        native = _native.read_map(name)
        with open(name, encoding="utf-8", errors="replace") as file:
            return cls(native, file.read(), name)

    @classmethod
    def from_json(cls, text: str) -> "GammaMap":
        """The map in the text of a result."""
        return cls(_native.parse_map(text), text)

    def __repr__(self) -> str:
        return f"GammaMap({', '.join(self.inputs)}; {self.steps} steps, radius {self.radius:g}, fitted on {self.model})"

    def __reduce__(self) -> Any:
        return (GammaMap.from_json, (self._text,))

    def predict_from(
        self,
        p: Optional[ArrayLike],
        gamma: ArrayLike,
        *,
        low: Optional[ArrayLike] = None,
        high: Optional[ArrayLike] = None,
        logit_p: Optional[ArrayLike] = None,
        extra: Extra = None,
    ) -> MapAnswer:
        """The probability of being stable for P and gamma that are at hand.

        low, high: gamma's interval, where it is not exact. logit_p: log P/(1 − P), instead of a P that rounds to 1.
        """
        gammas = _column("gamma", gamma)
        if (p is None) == (logit_p is None):
            raise UsageError("expected P or logit_p, and not both")
        odds = _column("logit_p", logit_p) if p is None else _native.log_odds(_column("P", p).tolist())
        odds = np.asarray(odds, dtype=float)
        lows = gammas if low is None else _column("low", low)
        highs = gammas if high is None else _column("high", high)
        values = _variables(extra, self.inputs[2:], len(gammas))
        for name, column in (("P", odds), ("low", lows), ("high", highs)):
            if len(column) != len(gammas):
                raise UsageError(f"{name} has {len(column)} values; gamma has {len(gammas)}")
        probability, lower, upper, outside = self._native.answers(odds.tolist(), gammas.tolist(), lows.tolist(), highs.tolist(), values)
        shares = np.full(len(gammas), np.nan) if p is None else _column("P", p)
        return MapAnswer(probability, lower, upper, outside.astype(bool), shares, gammas)

    def predict(
        self,
        f: ModelLike,
        X: DataLike,
        *,
        extra: Extra = None,
        progress: Union[bool, None, Progress] = None,
        **options: Any,
    ) -> MapAnswer:
        """Measures P and gamma of every row of X as they were when the map was fitted, and asks it. No search.

        Options are those of gamma() that are about the model, the columns and the run.
        """
        for name in ("ball", "average", "output", "sample", "precision", "floor", "confidence", "scale", "schema", "paper", "pixel_range", "margin"):
            if name in options:
                raise UsageError(f"{name} is the map's own; leave it out")
        asked = {**_asked("GammaMap.predict", self.radius, options), "margin": self._native.margin}
        (model,), data, _, arguments = _open([f], X, asked)
        arguments.call = f"GammaMap.load({self._path!r}).predict({model.name}, {data.source!r})"
        values = _variables(extra, self.inputs[2:], None)
        with shown(progress, f"gamma of {model.name}") as tell:
            native = _native.use_map(self._native, self._path, model, data, self.inputs[2:], values, arguments, tell)
        warn(native.warnings, model)
        rows = json.loads(native.to_json())["rows"]
        return MapAnswer(*(_field(rows, name) for name in ("stable_probability", "stable_low", "stable_high")), _field(rows, "outside") == 1, _field(rows, "probability"), _field(rows, "gamma"))


class MapResult(_Written):
    """Rows with P, gamma and stability, their table, and the map.

    >>> import harmonia, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> f = lambda X: np.stack([X[:, 0] ** 2 + X[:, 1], X[:, 2], 0 * X[:, 3]], axis=1)
    >>> result = harmonia.map(f, X, radius=0.5, steps=2)
    >>> result.stable.shape, list(result.classes["class"])
    ((200,), ['0', '1', '2', 'all'])
    """

    def __init__(self, native: _native.Map, index: Any = None) -> None:
        self._native = native
        self._index = index
        self._told = json.loads(native.to_json())
        rows = self._told["rows"]
        self.row: NDArray[np.int64] = _field(rows, "row").astype(np.int64)
        """Numbers of the rows in the data."""
        self.decided_class: NDArray[np.float64] = _field(rows, "class")
        self.logit: NDArray[np.float64] = _field(rows, "logit")
        """Of the row's class …"""
        self.mean_logit: NDArray[np.float64] = _field(rows, "mean_logit")
        """… and the mean of all classes'."""
        self.p: NDArray[np.float64] = _field(rows, "probability")
        """Softmax probability of the row's class."""
        self.logit_p: NDArray[np.float64] = _field(rows, "logit_p")
        """log P/(1 − P), which is exact where P rounds to 1."""
        self.gamma: NDArray[np.float64] = _field(rows, "gamma")
        """In the logit of the row's class …"""
        self.low: NDArray[np.float64] = _field(rows, "low")
        """… with its interval."""
        self.high: NDArray[np.float64] = _field(rows, "high")
        self.score: NDArray[np.float64] = _field(rows, "score")
        """P·e^(−N·gamma)."""
        self.two_exponential: NDArray[np.float64] = _field(rows, "two_exponential")
        self.softmax: NDArray[np.float64] = _field(rows, "softmax")
        """The softmax of a logit that fell by N·gamma."""
        self.correct: NDArray[np.float64] = _field(rows, "correct")
        """1 where the class is the label, 0 where not, NaN where it is not known."""
        self.stable: NDArray[np.float64] = _field(rows, "stable")
        """1 where the class outlasted the search, 0 where not, NaN where none was made."""
        self.drift: NDArray[np.float64] = _field(rows, "drift")
        """Of the logit over the whole search, beside N·gamma."""
        self.summary: dict[str, Any] = self._told["summary"]
        """The table, the correlations, the fit and its validation."""
        self.map: Optional[GammaMap] = GammaMap.from_json(self.to_json()) if self.summary["map"] else None
        """None if all rows are stable, or none is, or the ridge is too small; summary["fit"]["reason"] says so."""

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"MapResult({self.summary['text']})"

    @property
    def classes(self) -> "pd.DataFrame":
        """Table 3: a row a class and one of all; of every number mean (or share), low and high."""
        import pandas as pd

        table = self.summary["table"]
        return pd.DataFrame([_flat(group) for group in [*table["classes"], table["all"]]])

    def to_frame(self) -> "pd.DataFrame":
        """A row of the frame a row of the data."""
        import pandas as pd

        frame = pd.DataFrame(self._told["rows"])
        if self._index is not None:
            frame.index = self._index
        return frame

    def plot(self, ax: Any = None) -> Any:
        """P against gamma with stable and unstable rows, and where the map says a half; returns the axes.

        >>> import harmonia, numpy as np, matplotlib; matplotlib.use("agg")
        >>> f = lambda X: np.stack([X[:, 0] ** 2, X[:, 1]], axis=1)
        >>> harmonia.map(f, np.random.default_rng(0).normal(size=(50, 2)), radius=0.5, steps=2).plot().get_xlabel()
        'gamma'
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        least = self.map.floor if self.map is not None else np.nanmin(self.gamma[self.gamma > 0], initial=1.0)
        gamma = np.maximum(self.gamma, least)
        for value, name, colour, mark in ((1, "stable", "#0072b2", "o"), (0, "unstable", "#d55e00", "x")):
            group = self.stable == value
            ax.scatter(gamma[group], self.p[group], s=14, color=colour, marker=mark, label=name, alpha=0.7)
        if self.map is not None and len(self.map.inputs) == 2:
            across = np.geomspace(gamma.min(), gamma.max(), 60)
            up = np.linspace(np.nanmin(self.logit_p), np.nanmax(self.logit_p), 60)
            grid = np.meshgrid(across, up)
            asked = self.map.predict_from(None, grid[0].ravel(), logit_p=grid[1].ravel()).probability.reshape(60, 60)
            ax.contour(across, 1 / (1 + np.exp(-up)), asked, levels=[0.1, 0.5, 0.9], colors="grey", linewidths=1)
        ax.set_xscale("log")
        ax.set_xlabel("gamma")
        ax.set_ylabel("P")
        ax.legend()
        return ax


def _flat(group: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in group.items():
        if not isinstance(value, dict):
            flat[name] = value
            continue
        flat[name] = value.get("mean", value.get("share"))
        flat[f"{name}_low"] = value["low"]
        flat[f"{name}_high"] = value["high"]
    return flat


def _field(rows: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    return np.array([float("nan") if row[name] is None else float(row[name]) for row in rows], dtype=float)


def _column(name: str, values: Optional[ArrayLike]) -> NDArray[np.float64]:
    column = np.atleast_1d(np.asarray(values, dtype=float))
    if column.ndim != 1:
        raise UsageError(f"{name} has {column.ndim} dimensions; expected one")
    return column


def _variables(extra: Extra, names: Optional[Sequence[str]], rows: Optional[int]) -> Optional[NDArray[np.float64]]:
    """rows × variables, in the order of `names`."""
    given = {} if extra is None else {str(name): _column(str(name), values) for name, values in extra.items()}
    wanted = list(given) if names is None else list(names)
    if sorted(wanted) != sorted(given):
        raise UsageError(f"extra has {', '.join(given) or 'nothing'}; the map has {', '.join(wanted) or 'no further variables'}")
    if not wanted:
        return None
    lengths = {len(values) for values in given.values()}
    if len(lengths) > 1 or (rows is not None and lengths != {rows}):
        raise UsageError(f"variables of extra have {' and '.join(str(n) for n in sorted(lengths))} values; expected one a row")
    return np.ascontiguousarray(np.stack([given[name] for name in wanted], axis=1))


def map(  # noqa: A001
    f: ModelLike,
    X: DataLike,
    radius: Union[float, str],
    *,
    steps: int = 25,
    outputs: Optional[str] = None,
    candidates: int = 20,
    lower: Optional[float] = None,
    upper: Optional[float] = None,
    extra: Extra = None,
    ridge: float = 0.1,
    folds: int = 10,
    progress: Union[bool, None, Progress] = None,
    **options: Any,
) -> MapResult:
    """Which rows outlast a search for another class, how P and gamma go with it, and a map that tells without a search.

    >>> import harmonia, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> f = lambda X: np.stack([X[:, 0] ** 2 + X[:, 1], X[:, 2], 0 * X[:, 3]], axis=1)
    >>> result = harmonia.map(f, X, radius=0.5, steps=2)
    >>> result.map.predict(f, X[:3]).probability.shape
    (3,)

    Parameters
    ----------
    f, X, radius: as for gamma(); the radius is also a search's step.
    steps: N, features that a search changes one after another. A row is stable if its class is the same after each.
    outputs: "logits", or "probabilities", of which the logarithm is taken; the default is what the estimator's method
        returns, and logits for functions and files.
    candidates: features that a search tries a step.
    lower, upper: features stay between these.
    extra: further variables of the map by name, a value a row.
    ridge: of the logistic regression, on inputs of mean 0 and deviation 1; scikit-learn's C is 1/ridge.
    folds: of the cross-validation.

    The others are those of gamma() but output and explain.
    """
    if "output" in options:
        raise UsageError("map measures the logit of the predicted class; leave output out")
    asked = _asked("map", radius, options)
    if outputs is None:
        chosen = hasattr(f, "predict_proba") and not asked["margin"] and asked["method"] in (None, "predict_proba")
        outputs = "probabilities" if chosen else "logits"
    if not ridge > 0:
        raise UsageError(f"ridge is {ridge}; expected a number above 0")
    if folds < 2:
        raise UsageError(f"folds is {folds}; expected at least 2")
    values = _variables(extra, None, None)
    (model,), data, table, arguments = _open([f], X, asked)
    told = {"radius": radius, "steps": steps, "outputs": outputs, "candidates": candidates, "lower": lower, "upper": upper, **asked}
    arguments.call = call_text("map", [model], data, told)
    with shown(progress, f"map of {model.name}") as tell:
        native = _native.map(
            model, data, outputs, _count("steps", steps), _count("candidates", candidates), lower, upper, float(ridge), int(folds),
            [] if extra is None else [str(name) for name in extra], values, arguments, tell,
        )
    warn(native.warnings, model)
    return MapResult(native, table.index if table is not None else None)
