"""harmonia.compare and harmonia.sweep."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._data import DataLike
from ._errors import UsageError
from ._measure import ImageChoice, ModelLike, call_text, native_arguments, open_subject, warn
from ._models import Choice
from ._progress import Progress, shown
from ._result import page_of, save_text

if TYPE_CHECKING:
    import pandas as pd

#: Options that harmonia.gamma has and these have too, with their defaults.
_OPTIONS: dict[str, Any] = {
    "ball": "simplex+anti",
    "average": "surface",
    "output": "predicted",
    "sample": None,
    "precision": None,
    "floor": None,
    "confidence": 0.95,
    "scale": "none",
    "schema": None,
    "paper": False,
    "description": None,
    "size": None,
    "grey": False,
    "labels": None,
    "pixel_range": "free",
    "method": None,
    "margin": False,
    "binary": False,
    "missing": None,
    "as_frame": None,
    "dtype": None,
    "columns": None,
    "drop": None,
    "id": None,
    "label": None,
    "feature_names": None,
    "batch": None,
    "seed": 1,
    "threads": None,
    "max_evaluations": None,
}


@dataclass(frozen=True)
class Pair:
    """Two models' mean difference of gamma over the rows; all pairs' intervals hold together."""

    a: str
    b: str
    difference: float  #: gamma of a minus gamma of b
    low: float  #: NaN: too few rows carry it
    high: float
    verdict: str  #: a_lower, b_lower or indistinguishable


@dataclass(frozen=True)
class _Kept:
    """What a pickled or copied result holds in place of the library's own."""

    json: str
    text: str

    def to_json(self) -> str:
        return self.json

    def table(self) -> str:
        return self.text


class _Written:
    """What has a JSON form as the program writes it."""

    _native: Any

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_native": _Kept(self.to_json(), str(self))}

    def to_json(self) -> str:
        """The result as the program `harmonia` writes it with --json."""
        return str(self._native.to_json())

    def to_dict(self) -> dict[str, Any]:
        """What to_json() says, as dictionaries and lists."""
        return dict(json.loads(self.to_json()))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes to_json() to a file, which appears when it is whole."""
        save_text(path, self.to_json())

    def to_html(self, path: Union[None, str, "os.PathLike[str]"] = None) -> str:
        """The report, one page that needs no network; with a path it is written there too."""
        return page_of(self.to_json(), path)

    def __str__(self) -> str:
        return str(self._native.table())


class CompareResult(_Written):
    """Several models on the same rows.

    >>> import harmonia
    >>> result = harmonia.compare(["fn:f2", "fn:f4"], "uniform:50", radius=0.1)
    >>> result.ranking
    [['fn:f2?n=2'], ['fn:f4?n=2']]
    >>> result.pairs[0].verdict
    'a_lower'
    """

    def __init__(self, native: _native.Comparison, index: Any = None) -> None:
        self._native = native
        self._index = index
        told = json.loads(native.to_json())
        self.models: list[str] = [model["name"] for model in told["models"]]
        """Names of the models."""
        self.mean: dict[str, float] = {model["name"]: _number(model["gamma"]["mean"]) for model in told["models"]}
        """Mean gamma by model."""
        self.outcomes: dict[str, dict[str, int]] = {model["name"]: model["outcomes"] for model in told["models"]}
        """Rows by how their numbers came about, by model."""
        self.ranking: list[list[str]] = told["summary"]["ranking"]
        """Lowest first; models that cannot be ordered are together."""
        self.text: str = told["summary"]["text"]
        """One sentence: which model is lower."""
        self.pairs: list[Pair] = [
            Pair(r["a"], r["b"], _number(r["difference"]), _number(r["low"]), _number(r["high"]), r["verdict"])
            for r in told["rows"]
        ]
        """Every pair of models."""
        self.gamma: NDArray[np.float64] = np.array([native.gamma(i) for i in range(len(self.models))])
        """models × rows."""

    def __repr__(self) -> str:
        return f"CompareResult({self.text})"

    def to_frame(self) -> "pd.DataFrame":
        """gamma of every row, a column a model.

        >>> import harmonia
        >>> harmonia.compare(["fn:f2", "fn:f4"], "uniform:50", radius=0.1).to_frame().shape
        (50, 2)
        """
        import pandas as pd

        return pd.DataFrame(self.gamma.T, columns=self.models, index=self._index)


class SweepResult(_Written):
    """gamma against the radius, as NumPy arrays with one entry a radius.

    >>> import harmonia
    >>> result = harmonia.sweep("fn:f2", "uniform:50", [0.1, 0.2])
    >>> result.radius, result.mean.round(6)
    (array([0.1, 0.2]), array([0.01, 0.04]))
    """

    def __init__(self, native: _native.Sweep) -> None:
        self._native = native
        self._told = json.loads(native.to_json())

        def field(name: str) -> NDArray[np.float64]:
            return np.array([_number(row[name]) for row in self._told["rows"]])

        self.radius: NDArray[np.float64] = field("radius")
        self.mean: NDArray[np.float64] = field("mean")
        """Mean gamma at each radius …"""
        self.low: NDArray[np.float64] = field("low")
        """… and its interval."""
        self.high: NDArray[np.float64] = field("high")
        self.rms: NDArray[np.float64] = field("rms")
        self.outcomes: list[dict[str, int]] = [row["outcomes"] for row in self._told["rows"]]
        """Rows by how their numbers came about, at each radius."""
        self.summary: dict[str, Any] = self._told["summary"]
        """How the mean grows with the radius, among others."""

    def __repr__(self) -> str:
        return f"SweepResult({len(self.radius)} radii, mean gamma {self.mean[0]:.4g} … {self.mean[-1]:.4g})"

    def to_frame(self) -> "pd.DataFrame":
        """A row a radius.

        >>> import harmonia
        >>> len(harmonia.sweep("fn:f2", "uniform:50", "0.1..0.5x5").to_frame())
        5
        """
        import pandas as pd

        return pd.DataFrame(self._told["rows"]).drop(columns="outcomes")

    def plot(self, ax: Any = None) -> Any:
        """Mean gamma with its interval against the radius; returns the axes.

        >>> import harmonia, matplotlib; matplotlib.use("agg")
        >>> harmonia.sweep("fn:f2", "uniform:50", "0.1..0.5x5").plot().get_xlabel()
        'radius'
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        ax.plot(self.radius, self.mean, marker="o", color="#3b6fb6")
        ax.fill_between(self.radius, self.low, self.high, color="#3b6fb6", alpha=0.2, linewidth=0)
        ax.set_xlabel("radius")
        ax.set_ylabel("mean gamma")
        return ax


def _number(value: Optional[float]) -> float:
    return float("nan") if value is None else float(value)


def _asked(function: str, radius: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            raise UsageError(f"{function} has no option {name}; it has {', '.join(_OPTIONS)}")
    return {"radius": radius, "explain": 0, **_OPTIONS, **options}


def _open(models: Sequence[ModelLike], X: DataLike, asked: Mapping[str, Any]) -> Any:
    choice = Choice(*(asked[k] for k in ("method", "margin", "binary", "missing", "as_frame", "dtype")), asked["threads"] or 0)
    chosen = {name: asked[name] for name in ("columns", "drop", "id", "label", "feature_names", "seed")}
    images = ImageChoice.of(asked, X)
    opened, data, table = open_subject(models, X, choice, **chosen, image_choice=images)
    arguments = native_arguments(asked, table)
    images.tell(arguments, models[0], opened[0], X, asked["pixel_range"])
    return opened, data, table, arguments


def compare(
    models: Union[Sequence[ModelLike], Mapping[str, ModelLike]],
    X: DataLike,
    radius: Union[float, str] = 0.05,
    *,
    progress: Union[bool, None, Progress] = None,
    **options: Any,
) -> CompareResult:
    """Which of several models has the lower gamma: paired differences on the same rows and points.

    models is a list, or a dictionary by name; options are those of gamma() but explain.

    >>> import harmonia
    >>> harmonia.compare({"bowl": "fn:f2", "steep": lambda X: 5 * (X ** 2).sum(axis=1)}, "uniform:50", 0.1).ranking
    [['bowl'], ['steep']]
    """
    asked = _asked("compare", radius, options)
    named = isinstance(models, Mapping)
    each = list(models.values()) if named else list(models)  # type: ignore[union-attr]
    opened, data, table, arguments = _open(each, X, asked)
    names = [str(name) for name in models] if named else _apart([model.name for model in opened])
    arguments.call = call_text("compare", opened, data, asked)
    with shown(progress, "comparing models") as tell:
        native = _native.compare(opened, names, data, arguments, tell)
    warn(native.warnings, *opened)
    return CompareResult(native, table.index if table is not None else None)


def _apart(names: Sequence[str]) -> list[str]:
    """Names that occur several times get a number."""
    return [name if names.count(name) == 1 else f"{name} {names[: i + 1].count(name)}" for i, name in enumerate(names)]


def sweep(
    f: ModelLike,
    X: DataLike,
    radii: Union[str, Sequence[float]],
    *,
    progress: Union[bool, None, Progress] = None,
    **options: Any,
) -> SweepResult:
    """How gamma grows with the radius; radii is a list, or "0.01..0.5x20", "log:0.001..1x20".

    Options are those of gamma() but explain. The same directions serve every radius.

    >>> import harmonia
    >>> harmonia.sweep("fn:f2", "uniform:50", "log:0.1..0.4x3").mean.round(6)
    array([0.01, 0.04, 0.16])
    """
    each = _native.parse_radii(radii if isinstance(radii, str) else ",".join(repr(float(r)) for r in radii))
    asked = _asked("sweep", each[0], options)
    (model,), data, _, arguments = _open([f], X, asked)
    del asked["radius"]
    arguments.call = call_text("sweep", [model], data, {"radii": radii, **asked})
    with shown(progress, f"sweep of {model.name}") as tell:
        native = _native.sweep(model, data, each, arguments, tell)
    warn(native.warnings, model)
    return SweepResult(native)
