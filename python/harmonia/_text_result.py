"""What harmonia.text finds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._compare import Pair, _number, _Written
from ._text_calls import shortened

if TYPE_CHECKING:
    import pandas as pd

    from . import _native

#: Numbers of a row, in the order of to_frame().
NUMBERS = ("gamma", "low", "high", "plain", "floor", "excess", "resultant", "paper", "isotropy")

#: Counts of a row.
COUNTS = ("variants", "changed", "failed", "calls")


@dataclass(frozen=True)
class TextSummary:
    """The prompts of one family; NaN is a number that cannot be said.

    >>> import harmonia
    >>> ask, embed = (lambda prompt: "4"), (lambda texts: [[1.0, len(t)] for t in texts])
    >>> result = harmonia.text.gamma(ask, embed, ["2 + 2?", "1 + 3?"])
    >>> result.summary.mean, result.summary.changed, result.summary.variants
    (0.0, 0, 20)
    """

    family: str  #: of variants
    prompts: int  #: with a value
    marked: int  #: without one
    mean: float  #: of gamma over the prompts, in the result's convention
    low: float  #: with the run's confidence the mean gamma of the prompts' population lies between low …
    high: float  #: … and high; NaN for fewer than two prompts
    floor: float  #: mean noise floor
    excess: float  #: mean of what is left of gamma without the floor
    resultant: float  #: mean length of the mean answer: near 0 where answers cancel each other
    isotropy: float  #: mean cosine of a prompt with the mean of its variants
    variants: int  #: answers to variants, of all prompts
    changed: int  #: of them another text than the prompt's own answer
    bands: dict[str, int]  #: prompts by the authors' bands
    settling: tuple[
        float, ...
    ]  #: mean gamma of the first 2, 3, … variants, in radians: where it is flat, there are enough

    @staticmethod
    def of(told: dict[str, Any]) -> "TextSummary":
        gamma, others = told["gamma"], ("floor", "excess", "resultant", "isotropy")
        numbers: dict[str, Any] = {name: _number(told[name]["mean"]) for name in others}
        numbers.update({name: _number(gamma[name]) for name in ("mean", "low", "high")})
        numbers.update({name: told[name] for name in ("family", "marked", "variants", "changed", "bands")})
        return TextSummary(prompts=gamma["prompts"], settling=tuple(told["settling_radians"]), **numbers)


class _TextWritten(_Written):
    """What is the same for one model and for several."""

    def _take(self, native: "_native.Text") -> dict[str, Any]:
        """What the library found, as it tells it."""
        told: dict[str, Any] = json.loads(native.to_json())
        self._native = native
        self.warnings: tuple[str, ...] = tuple(told["summary"]["warnings"])
        return told

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_native": KeptText(self.to_json(), str(self), str(self._native.csv()))}


class TextResult(_TextWritten):
    """gamma of every prompt and family, as NumPy arrays with one entry each, by prompt and then family.

    >>> import harmonia, numpy as np
    >>> angles = {"four": 0.0, "4": 0.3}
    >>> result = harmonia.text.gamma(
    ...     lambda prompt: "four" if prompt == "2 + 2?" else "4",
    ...     lambda texts: [[np.cos(angles[t]), np.sin(angles[t])] for t in texts],
    ...     ["2 + 2?"], isotropy=False)
    >>> result
    TextResult(1 prompt, mean gamma 0.3 [nan, nan] in the convention 'angle')
    >>> result.gamma.round(6), result.changed, result.band
    (array([0.3]), array([10]), array(['likely hallucination'], dtype='<U20'))
    """

    def __init__(self, native: "_native.Text", index: Any = None) -> None:
        told = self._take(native)
        self._index = index
        rows: list[dict[str, Any]] = told["rows"]

        def field(name: str) -> NDArray[np.float64]:
            return np.array([_number(row[name]) for row in rows], dtype=float)

        def count(name: str) -> NDArray[np.int64]:
            return np.array([row[name] or 0 for row in rows], dtype=np.int64)

        self.model: str = told["models"][0]["name"]
        """What the function that was asked is called."""
        self.convention: str = told["options"]["convention"]
        """How angles are written: "angle" (radians), "chord", "sin" or "paper"."""
        self.row: NDArray[np.int64] = count("row")
        """Number of the prompt in the list, from 0."""
        self.family: NDArray[np.str_] = np.array([row["family"] for row in rows])
        """Of variants."""
        self.prompt: list[str] = [row["prompt"] for row in rows]
        self.id: Optional[list[str]] = [row.get("id", "") for row in rows] if any("id" in row for row in rows) else None
        """The prompts' ids, if their file has them."""
        self.domain: Optional[list[str]] = (
            [row.get("domain", "") for row in rows] if any("domain" in row for row in rows) else None
        )
        """The prompts' domains, if their file has them."""
        self.answer: list[str] = [row["answer"] for row in rows]
        """To the prompt itself."""
        self.gamma: NDArray[np.float64] = field("gamma")
        """Angle between the answer and the mean of the variants' answers, less what their finite number scatters.

        NaN where there is none: outcome and reason say why."""
        self.low: NDArray[np.float64] = field("low")
        """With the run's confidence the angle to the mean of all variants lies between low …"""
        self.high: NDArray[np.float64] = field("high")
        """… and high."""
        self.plain: NDArray[np.float64] = field("plain")
        """The angle as it is."""
        self.floor: NDArray[np.float64] = field("floor")
        """How far repeats of the unchanged prompt are from their mean; NaN without repeats."""
        self.excess: NDArray[np.float64] = field("excess")
        """What is left of gamma without the floor."""
        self.resultant: NDArray[np.float64] = field("resultant")
        """Length of the mean of the variants' unit vectors: 1 if all are alike, near 0 where they cancel each other."""
        self.paper: NDArray[np.float64] = field("paper")
        """plain in the convention "paper", which bands are judged on."""
        self.isotropy: NDArray[np.float64] = field("isotropy")
        """Cosine of the prompt's embedding with the mean of its variants'."""
        self.band: NDArray[np.str_] = np.array([row["band"] or "" for row in rows])
        """The authors' words; "" where there is no value."""
        self.variants: NDArray[np.int64] = count("variants")
        """That were answered."""
        self.changed: NDArray[np.int64] = count("changed")
        """Of them with another answer than the prompt's own."""
        self.failed: NDArray[np.int64] = count("failed")
        """Variants without an answer that can be used."""
        self.calls: NDArray[np.int64] = count("calls")
        """Of the function that was asked."""
        self.outcome: NDArray[np.str_] = np.array([row["outcome"] for row in rows])
        """measured, unmeasured (fewer than 2 variants answered), or of the prompt itself failed, empty or unasked."""
        self.reason: list[str] = [row.get("reason", "") for row in rows]
        """Why there is no value, in a line."""
        self.answers: list[list[tuple[str, str]]] = [
            [(pair["variant"], pair["answer"]) for pair in row["answers"]] for row in rows
        ]
        """Of every row, the variants that were answered, with their answers."""
        self.families: dict[str, TextSummary] = {s["family"]: TextSummary.of(s) for s in told["summary"]["families"]}
        """The summary of each family."""
        self.summary: TextSummary = next(iter(self.families.values()))
        """Of the first family."""
        self.seconds: float = told["seconds"]

    def __len__(self) -> int:
        return len(self.gamma)

    def __repr__(self) -> str:
        s = self.summary
        prompts = s.prompts + s.marked
        return (
            f"TextResult({prompts} prompt{'' if prompts == 1 else 's'}, mean gamma {s.mean:.4g} "
            f"[{s.low:.4g}, {s.high:.4g}] in the convention '{self.convention}')"
        )

    def to_frame(self) -> "pd.DataFrame":
        """A row a prompt and family, with the index of the prompts if they are a pandas series.

        >>> import harmonia
        >>> ask, embed = (lambda prompt: "4"), (lambda texts: [[1.0, len(t)] for t in texts])
        >>> frame = harmonia.text.gamma(ask, embed, ["2 + 2?"]).to_frame()
        >>> print(frame[["prompt", "answer", "gamma", "outcome"]])
             prompt answer  gamma   outcome
        row
        0    2 + 2?      4    0.0  measured
        """
        import pandas as pd

        told = [name for name in ("id", "domain") if getattr(self, name) is not None]
        names = (*told, "family", "prompt", "answer", *NUMBERS, *COUNTS, "band", "outcome", "reason")
        index = pd.Index(self.row, name="row") if self._index is None else self._index.take(self.row)
        return pd.DataFrame({name: getattr(self, name) for name in names}, index=index)

    def to_csv(self) -> str:
        """A line a prompt and family, as the program writes them.

        >>> import harmonia
        >>> ask, embed = (lambda prompt: "4"), (lambda texts: [[1.0, len(t)] for t in texts])
        >>> harmonia.text.gamma(ask, embed, ["2 + 2?"]).to_csv()[:16]
        'model,row,id,dom'
        """
        return str(self._native.csv())

    def plot(self, ax: Any = None, worst: int = 5) -> Any:
        """How gamma is spread over the prompts, on the authors' bands, with the worst named; returns the axes.

        >>> import harmonia, matplotlib; matplotlib.use("agg")
        >>> ask, embed = (lambda prompt: "4"), (lambda texts: [[1.0, len(t)] for t in texts])
        >>> result = harmonia.text.gamma(ask, embed, ["2 + 2?"])
        >>> result.plot().get_ylabel()
        'prompts'
        """
        from . import _text_plot

        return _text_plot.plot(self, ax, worst)


@dataclass(frozen=True)
class KeptText:
    """What a pickled or copied result holds in place of the library's own."""

    json: str
    text: str
    lines: str

    def to_json(self) -> str:
        return self.json

    def table(self) -> str:
        return self.text

    def csv(self) -> str:
        return self.lines


class TextCompareResult(_TextWritten):
    """Several models on the same prompts and the same variants of them.

    >>> import harmonia
    >>> steady, moved = (lambda prompt: "4"), (lambda prompt: "4" * len(prompt))
    >>> prompts = [f"{i} + {i}?" for i in range(10)]
    >>> embed = lambda texts: [[1.0, len(t)] for t in texts]
    >>> result = harmonia.text.compare({"steady": steady, "moved": moved}, embed, prompts)
    >>> result.ranking, result.pairs[0].verdict
    ([['steady'], ['moved']], 'a_lower')
    """

    def __init__(self, native: "_native.Text", index: Any = None) -> None:
        told = self._take(native)
        self.models: list[str] = [model["name"] for model in told["models"]]
        """Names of the models, as they were given."""
        self.results: dict[str, TextResult] = {
            name: TextResult(native.of(i), index) for i, name in enumerate(self.models)
        }
        """What was found of each."""
        self.mean: dict[str, float] = {name: result.summary.mean for name, result in self.results.items()}
        """Mean gamma by model, of the first family."""
        self.rankings: dict[str, list[list[str]]] = {r["family"]: r["ranking"] for r in told["summary"]["rankings"]}
        """By family: steadiest first; models that cannot be ordered are together."""
        self.ranking: list[list[str]] = next(iter(self.rankings.values()))
        """Of the first family."""
        self.pairs: list[Pair] = [
            Pair(p["a"], p["b"], _number(p["difference"]), _number(p["low"]), _number(p["high"]), p["verdict"])
            for p in told["summary"]["rankings"][0]["pairs"]
        ]
        """Every pair of models, in the first family; with the run's confidence all their intervals hold together.

        Differences are in the run's convention, but in radians where that is "sin"."""

    def __repr__(self) -> str:
        return f"TextCompareResult({', then '.join(' and '.join(group) for group in self.ranking)})"

    def to_frame(self) -> "pd.DataFrame":
        """gamma of every prompt and family, a column a model.

        >>> import harmonia
        >>> models = {"a": lambda prompt: "4", "b": lambda prompt: "5"}
        >>> embed = lambda texts: [[1.0, len(t)] for t in texts]
        >>> harmonia.text.compare(models, embed, ["2 + 2?", "1 + 3?"]).to_frame().columns.tolist()
        ['family', 'prompt', 'a', 'b']
        """
        import pandas as pd

        first = self.results[self.models[0]].to_frame()[["family", "prompt"]]
        return pd.concat(
            [first, pd.DataFrame({n: r.gamma for n, r in self.results.items()}, index=first.index)], axis=1
        )

    def plot(self, ax: Any = None) -> Any:
        """Mean gamma of every model with its interval, steadiest first; returns the axes.

        >>> import harmonia, matplotlib; matplotlib.use("agg")
        >>> models = {"a": lambda prompt: "4", "b": lambda prompt: "5"}
        >>> embed = lambda texts: [[1.0, len(t)] for t in texts]
        >>> harmonia.text.compare(models, embed, ["2 + 2?", "1 + 3?"]).plot().get_xlabel()
        'mean gamma (angle)'
        """
        from . import _text_plot

        return _text_plot.plot_comparison(self, ax)


@dataclass(frozen=True)
class AscentStep:
    """A prompt that a walk stood at.

    >>> import harmonia
    >>> ask, embed = (lambda prompt: "4"), (lambda texts: [[1.0, len(t)] for t in texts])
    >>> walk = harmonia.text.ascend(ask, embed, "2 + 2?", steps=1)
    >>> walk.path[0].prompt, walk.path[0].gamma
    ('2 + 2?', 0.0)
    """

    prompt: str
    answer: str
    gamma: float
    low: float
    high: float
    plain: float  #: the angle as it is
    resultant: float
    band: str
    variants: int
    changed: int  #: variants with another answer
    calls: int  #: until it was reached, from the start


class AscentResult:
    """Where a walk to larger gamma went.

    >>> import harmonia
    >>> ask, embed = (lambda prompt: "4"), (lambda texts: [[1.0, len(t)] for t in texts])
    >>> walk = harmonia.text.ascend(ask, embed, "2 + 2?", steps=2)
    >>> walk.ended, len(walk.path)
    ('after 2 steps', 1)
    """

    def __init__(self, told: dict[str, Any], convention: str) -> None:
        ends = ("low", "high")
        self.path: list[AscentStep] = [
            AscentStep(**{**s, **{end: _number(s[end]) for end in ends}}) for s in told["path"]
        ]
        """Prompts that it stood at, the given one first."""
        self.best: AscentStep = self.path[told["best"]]
        """The one with the largest gamma."""
        self.ended: str = told["ended"]
        """Why, in a line."""
        self.calls: int = told["calls"]
        self.convention = convention
        """How gamma is written."""

    @property
    def gamma(self) -> NDArray[np.float64]:
        """Of every prompt of the path.

        >>> import harmonia
        >>> ask, embed = (lambda prompt: "4"), (lambda texts: [[1.0, len(t)] for t in texts])
        >>> harmonia.text.ascend(ask, embed, "2 + 2?", steps=1).gamma
        array([0.])
        """
        return np.array([step.gamma for step in self.path])

    def __repr__(self) -> str:
        first, best = self.path[0], self.best
        return (
            f"AscentResult(gamma {first.gamma:.4g} → {best.gamma:.4g} at {shortened(best.prompt)}, "
            f"{self.calls} calls, ended {self.ended})"
        )

    def to_frame(self) -> "pd.DataFrame":
        """A row a prompt of the path.

        >>> import harmonia
        >>> ask, embed = (lambda prompt: "4"), (lambda texts: [[1.0, len(t)] for t in texts])
        >>> len(harmonia.text.ascend(ask, embed, "2 + 2?", steps=1).to_frame())
        1
        """
        import pandas as pd

        return pd.DataFrame([vars(step) for step in self.path])
