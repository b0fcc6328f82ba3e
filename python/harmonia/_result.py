"""What a measurement came to."""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _native

if TYPE_CHECKING:
    import pandas as pd

_OUTCOMES = np.array(_native.OUTCOMES)

#: Fields of a row, in the order of to_frame().
FIELDS = (
    "decided_class",
    "value",
    "gamma",
    "low",
    "high",
    "delta",
    "laplacian",
    "split",
    "standard_error",
    "points",
    "moved",
    "shortened",
    "outcome",
)


@dataclass(frozen=True)
class GammaStatistics:
    """gamma over many rows; NaN is a number that cannot be said.

    >>> import harmonia
    >>> s = harmonia.gamma("fn:f2", [[1.0, 2.0], [0.0, 3.0]], radius=0.1).summary
    >>> print(s.rows, round(s.mean, 6))
    2 0.01
    """

    mean: float  #: of the rows' gamma
    low: float  #: with the run's confidence the mean gamma of the population lies between low …
    high: float  #: … and high
    standard_error: float  #: of the mean, rows taken as a random sample
    rms: float  #: root of the mean square of gamma
    relative: float  #: mean over the spread of the output
    rows: int  #: rows that have a value


@dataclass(frozen=True)
class GammaSummary(GammaStatistics):
    """What a run over a data set comes to.

    >>> import harmonia
    >>> s = harmonia.gamma("fn:f2", "uniform:20", radius=0.1).summary
    >>> s.outcomes, s.evaluations, s.warnings
    ({'exact': 20}, 140, ())
    """

    columns: tuple[GammaStatistics, ...]  #: with output="all", one an output
    outcomes: dict[str, int]  #: rows by how their number came about
    explain: dict[str, float]  #: with explain, features by their total part in gamma, largest first
    rows_shortened: int  #: rows with a step that bounds cut short
    rows_partly_moved: int  #: rows with a feature that was not moved
    evaluations: int  #: rows given to the model
    warnings: tuple[str, ...]  #: one sentence each

    @staticmethod
    def of(numbers: dict[str, Any]) -> "GammaSummary":
        columns = tuple(GammaStatistics(**column) for column in numbers.pop("columns"))
        explain = dict(numbers.pop("explain"))
        sentences = tuple(numbers["warnings"])
        if set(numbers["outcomes"]) == {"unmoved"}:
            sentences += ("no row has a value, because none of its features may be moved",)
        return GammaSummary(columns=columns, explain=explain, **{**numbers, "warnings": sentences})


def save_text(path: Union[str, "os.PathLike[str]"], text: str) -> None:
    """Writes a file that appears under its name only when it is whole."""
    target = os.fspath(path)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def page_of(result: str, path: Union[None, str, "os.PathLike[str]"]) -> str:
    """The report on a result."""
    page = _native.report_page([result])
    if path is not None:
        save_text(path, page)
    return page


@dataclass(frozen=True)
class KeptResult:
    """What a result of the library says, in Python's own objects: what a pickled or copied result holds in its place."""

    json: str
    rows: NDArray[np.float64]
    model: str
    features: list[str]
    classes: list[str]
    radius: float
    ball: str
    output: str
    confidence: float
    seed: int

    def to_json(self) -> str:
        return self.json

    def values(self) -> NDArray[np.float64]:
        return self.rows


_KEPT = ("model", "features", "classes", "radius", "ball", "output", "confidence", "seed")


class GammaResult:
    """gamma of every row, as NumPy arrays with one entry a row (with output="all", one a row and output).

    A result can be copied and pickled; a pickled one holds the rows X as well.

    >>> import harmonia, numpy as np
    >>> result = harmonia.gamma(lambda X: (X ** 2).sum(axis=1), np.eye(3), radius=0.1)
    >>> result
    GammaResult(3 rows, mean gamma 0.01 [0.01, 0.01], radius 0.1, ball simplex+anti)
    >>> result.gamma.round(6), result.outcome
    (array([0.01, 0.01, 0.01]), array(['exact', 'exact', 'exact'], dtype='<U9'))
    """

    def __init__(self, native: _native.Result, index: Any = None) -> None:
        self._native: Union[_native.Result, KeptResult] = native
        self._index = index
        fields = native.columns()
        self.row: NDArray[np.int64] = fields["row"]
        """Number of the row in the data, from 0."""
        self.gamma: NDArray[np.float64] = fields["gamma"]
        """|average over the ball − value|; NaN where there is none, and outcome says why."""
        self.low: NDArray[np.float64] = fields["low"]
        """With the run's confidence the whole ball's gamma lies between low …"""
        self.high: NDArray[np.float64] = fields["high"]
        """… and high; NaN: no upper end."""
        self.delta: NDArray[np.float64] = fields["delta"]
        """Ball average minus value, signed."""
        self.value: NDArray[np.float64] = fields["value"]
        """The measured output at the row."""
        decided = fields["decided_class"]
        self.decided_class: NDArray[Any] = decided if np.isnan(decided).any() else decided.astype(np.int64)
        """The model's class at the row, whole numbers; NaN where it decides none."""
        self.outcome: NDArray[np.str_] = _OUTCOMES[fields["outcome"]]
        """How the number came about: exact, sampled, floor, sparse, budget, unmoved or undefined."""
        self.points: NDArray[np.int64] = fields["points"]
        """Points of the ball that were evaluated."""
        self.standard_error: NDArray[np.float64] = fields["standard_error"]
        """Of delta, where it was sampled."""
        self.laplacian: NDArray[np.float64] = fields["laplacian"]
        """That delta implies."""
        self.split: NDArray[np.float64] = fields["split"]
        """Sign from one half of the sample, size from the other: biased downwards where gamma is biased upwards."""
        self.moved: NDArray[np.int64] = fields["moved"]
        """Features that were moved."""
        self.shortened: NDArray[np.int64] = fields["shortened"]
        """Features whose step the bounds cut short."""
        self.column: Optional[NDArray[np.int64]] = fields["column"] if native.output == "all" else None
        """With output="all", which output an entry is of; else None."""
        self.id: Optional[list[str]] = fields["id"]
        """The rows' ids, if the data has them."""
        self.label: Optional[list[str]] = fields["label"]
        """The rows' labels, if the data has them."""
        self.explain: Optional[list[dict[str, float]]] = (
            [dict(parts) for parts in fields["explain"]] if "explain" in fields else None
        )
        """With explain, the features that weigh most in each row, and how much."""
        self.summary: GammaSummary = GammaSummary.of(native.summary())
        """Mean, interval and the like over all rows."""

    def __getstate__(self) -> dict[str, Any]:
        kept = KeptResult(self.to_json(), self.X, **{name: getattr(self._native, name) for name in _KEPT})
        return {**self.__dict__, "_native": kept}

    def __len__(self) -> int:
        return len(self.gamma)

    @property
    def radius(self) -> float:
        """Of the ball, in units of the scales; with radius="auto" the one that was found."""
        return self._native.radius

    @property
    def model(self) -> str:
        """What was measured."""
        return self._native.model

    @property
    def feature_names(self) -> list[str]:
        """Of the data's columns."""
        return self._native.features

    @property
    def classes(self) -> list[str]:
        """Names of the model's classes, if it has them."""
        return self._native.classes

    @cached_property
    def X(self) -> NDArray[np.float64]:
        """The rows that were measured, rows × features.

        A copy, made when it is first asked for: a C-ordered array of float64 is used as it is, and if it was changed
        between the measurement and then, the changed rows are what is found here.

        >>> import harmonia
        >>> harmonia.gamma("fn:f2", "grid:0..1x2,5..6x2", radius=0.1).X
        array([[0., 5.], [0., 6.], [1., 5.], [1., 6.]])
        """
        return self._native.values()

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas data frame, with the index of the data frame that was measured.

        >>> import harmonia
        >>> frame = harmonia.gamma("fn:f2", [[1.0, 2.0], [0.0, 3.0]], radius=0.1).to_frame()
        >>> print(frame[["value", "gamma", "outcome"]].round(6))
             value  gamma outcome
        row
        0      5.0   0.01   exact
        1      9.0   0.01   exact
        """
        import pandas as pd

        fields: dict[str, Any] = {name: getattr(self, name) for name in FIELDS}
        first = {name: getattr(self, name) for name in ("id", "label", "column") if getattr(self, name) is not None}
        if self.explain is not None:
            fields["explain"] = self.explain
        index = pd.Index(self.row, name="row") if self._index is None else self._index.take(self.row)
        return pd.DataFrame({**first, **fields}, index=index)

    def to_json(self) -> str:
        """The result as the program `harmonia` writes it with --json (docs/result.schema.json).

        >>> import harmonia, json
        >>> text = harmonia.gamma("fn:f2", [[1.0, 2.0]], radius=0.1).to_json()
        >>> json.loads(text)["summary"]["gamma"]["rows"]
        1
        """
        return self._native.to_json()

    def to_dict(self) -> dict[str, Any]:
        """What to_json() says, as dictionaries and lists.

        >>> import harmonia
        >>> harmonia.gamma("fn:f2", [[1.0, 2.0]], radius=0.1).to_dict()["options"]["ball"]
        'simplex+anti'
        """
        return dict(json.loads(self.to_json()))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes to_json() to a file, which appears when it is whole.

        >>> import harmonia, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "result.json")
        >>> harmonia.gamma("fn:f2", [[1.0, 2.0]], radius=0.1).save(path)
        >>> os.path.exists(path)
        True
        """
        save_text(path, self.to_json())

    def to_html(self, path: Union[None, str, "os.PathLike[str]"] = None) -> str:
        """The report, one page that needs no network; with a path it is written there too.

        >>> import harmonia
        >>> page = harmonia.gamma("fn:f2", [[1.0, 2.0]], radius=0.1).to_html()
        >>> page[:15]
        '<!doctype html>'
        """
        return page_of(self.to_json(), path)

    def plot(self, kind: str = "auto", ax: Any = None) -> Any:
        """Plots gamma with matplotlib and returns the axes.

        kind "histogram" shows how gamma is spread over the rows; "map", for rows of two features, the model's regions
        and gamma side by side; "auto" is a map where it can be.

        >>> import harmonia, matplotlib; matplotlib.use("agg")
        >>> result = harmonia.gamma("fn:f2", "grid:0..1x5,0..1x5", radius=0.1)
        >>> regions, gamma = result.plot()
        >>> gamma.get_title()[:5]
        'gamma'
        """
        from . import _plot

        return _plot.plot(self, kind, ax)

    def __repr__(self) -> str:
        s = self.summary
        return (
            f"GammaResult({s.rows} rows, mean gamma {s.mean:.4g} [{s.low:.4g}, {s.high:.4g}], "
            f"radius {self.radius:.4g}, ball {self._native.ball})"
        )

    def _repr_html_(self) -> str:
        s = self.summary
        percent = f"{100 * self._native.confidence:g} %"
        rows = [
            ("model", self.model),
            ("mean gamma", f"{s.mean:.4g}, {percent} interval [{s.low:.4g}, {s.high:.4g}]"),
            ("rms", f"{s.rms:.4g}"),
            ("of the output's spread", f"{s.relative:.4g}"),
            ("rows", ", ".join(f"{count} {name}" for name, count in s.outcomes.items())),
            ("ball", f"{self._native.ball}, radius {self.radius:.4g}"),
            ("output", f"{self._native.output}; seed {self._native.seed}"),
            ("evaluations", f"{s.evaluations}"),
        ]
        rows += [("warning", sentence) for sentence in s.warnings]
        cells = "".join(
            f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in rows
        )
        return f"<table>{cells}</table>"
