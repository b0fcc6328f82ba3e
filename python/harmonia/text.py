"""How steady the answers of a language model are: gamma of prompts, with any function that answers and any that embeds.

>>> import harmonia
>>> def ask(prompt):  # your model: takes a prompt, returns the answer
...     return "Paris." if "France" in prompt else "Perhaps " + prompt[::-1]
>>> def embed(texts):  # your embedder: takes a list, returns a row a text
...     return [[1.0, len(text) / 10] for text in texts]
>>> result = harmonia.text.gamma(ask, embed, ["The capital of France?", "The capital of Atlantis?"])
>>> result.gamma.round(3), result.changed
(array([0.   , 0.026]), array([ 0, 10]))

gamma is the angle between the embedding of the answer and the mean of the answers to small changes of the prompt: 0 for
an answer that stays the same. Low gamma is steady, which is not the same as true.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

import numpy as np

from . import _native
from ._errors import InputError, ModelError, UsageError
from ._measure import _count, _whole, warn
from ._models import name_of
from ._progress import Progress, shown
from ._text_calls import Ask, Asker, Budget, Embed, Embedding, checked, local_embedder, shortened
from ._text_result import AscentResult, AscentStep, TextCompareResult, TextResult, TextSummary

__all__ = [
    "FAMILIES",
    "AscentResult",
    "AscentStep",
    "TextCompareResult",
    "TextResult",
    "TextSummary",
    "angle",
    "ascend",
    "compare",
    "gamma",
    "local",
    "variants",
]

FAMILIES: dict[str, str] = dict(_native.text_families())
"""Ways to change a prompt by little, with what they do; the authors' own first."""

Prompts = Union[Sequence[str], "os.PathLike[str]"]

#: Options that a call need not say.
_DEFAULTS = {
    "variants": 10,
    "repeats": 3,
    "families": ("appended",),
    "convention": "angle",
    "confidence": 0.95,
    "seed": 1,
    "isotropy": True,
}


def gamma(
    ask: Ask,
    embed: Union[None, str, Embed],
    prompts: Prompts,
    *,
    variants: int = 10,
    repeats: int = 3,
    families: Union[str, Sequence[str]] = ("appended",),
    convention: str = "angle",
    confidence: float = 0.95,
    seed: int = 1,
    workers: int = 1,
    on_error: str = "mark",
    max_calls: Optional[int] = None,
    isotropy: bool = True,
    progress: Union[bool, None, Progress] = None,
) -> TextResult:
    """gamma of every prompt: how far the answers move when the prompt changes by little.

    >>> import harmonia
    >>> def ask(prompt):
    ...     return "Four" if prompt == "2 + 2?" else "Four."
    >>> result = harmonia.text.gamma(ask, lambda texts: [[1.0, len(text) / 10] for text in texts], ["2 + 2?"])
    >>> result.gamma.round(4), result.floor, result.answer, result.calls
    (array([0.0831]), array([0.]), ['Four'], array([14]))

    Parameters
    ----------
    ask: takes a prompt, returns the answer; None or "" is no answer. It is called 1 + repeats + variants · families
        times a prompt, for repeats with the same prompt again; a variant that is there twice is asked once.
    embed: takes a list of at most 256 texts, returns an array with a row a text; no text is given twice. None or
        "local": all-MiniLM-L6-v2 in this process, from the folder HARMONIA_EMBEDDER or ~/.cache/harmonia/embedder;
        "local:FOLDER" another one.
    prompts: a list, an array or a pandas series of texts; or the path (pathlib.Path) of a .txt, .jsonl or .csv file.
    variants: of a prompt in each family.
    repeats: further answers to the unchanged prompt, for the noise floor.
    families: some of FAMILIES, each measured apart; or "all".
    convention: how angles are written: "angle" (radians), "chord", "sin" or "paper" (√(1 − cos θ), the authors').
    confidence: of every interval.
    seed: of the variants.
    workers: calls of ask at the same time, in threads of their own; with 1 it is called on the calling thread.
    on_error: "mark": a text that ask raises an exception for has failed, the rest is measured, and `reason` holds the
        exception's line; if nothing at all was answered the first exception is raised. "raise": the first exception
        ends the run, and the answers so far are lost. KeyboardInterrupt and exceptions of embed are always raised.
    max_calls: ask is not called more often; what is left is marked as unasked.
    isotropy: embed the prompts and their variants too, to see how the variants lie around them.
    progress: True or False, or a function of prompts done, prompts, calls; None: a bar if somebody watches.
    """
    asked = {k: v for k, v in locals().items() if k in _DEFAULTS}
    name = name_of(checked("ask", ask))
    native, index = _study(
        {name: ask},
        embed,
        prompts,
        asked,
        (workers, on_error, max_calls),
        progress,
        f"gamma({name}",
        f"gamma of {name}",
    )
    warn(native.warnings)
    return TextResult(native, index)


def compare(
    asks: Mapping[str, Ask],
    embed: Union[None, str, Embed],
    prompts: Prompts,
    *,
    variants: int = 10,
    repeats: int = 3,
    families: Union[str, Sequence[str]] = ("appended",),
    convention: str = "angle",
    confidence: float = 0.95,
    seed: int = 1,
    workers: int = 1,
    on_error: str = "mark",
    max_calls: Optional[int] = None,
    isotropy: bool = True,
    progress: Union[bool, None, Progress] = None,
) -> TextCompareResult:
    """Which of several models is steadier: paired differences of gamma on the same prompts and variants.

    >>> import harmonia
    >>> models = {"small": lambda prompt: prompt[-2:], "large": lambda prompt: "4"}
    >>> embed = lambda texts: [[9.0, ord(text[0])] for text in texts]
    >>> result = harmonia.text.compare(models, embed, [f"{i} + 2?" for i in range(12)])
    >>> result.ranking
    [['large'], ['small']]

    asks is a dictionary by name; the rest is as for gamma(). Models are asked one after another, max_calls is of all.
    """
    asked = {k: v for k, v in locals().items() if k in _DEFAULTS}
    if not isinstance(asks, Mapping) or len(asks) < 2:
        raise UsageError(
            "asks is no dictionary of at least 2 models by name; for one model there is harmonia.text.gamma"
        )
    models = {str(name): checked(f"asks[{name!r}]", ask) for name, ask in asks.items()}
    native, index = _study(
        models,
        embed,
        prompts,
        asked,
        (workers, on_error, max_calls),
        progress,
        "compare({" + ", ".join(map(repr, models)) + "}",
        "comparing models",
    )
    warn(native.warnings)
    return TextCompareResult(native, index)


def ascend(
    ask: Ask,
    embed: Union[None, str, Embed],
    prompt: str,
    *,
    steps: int = 5,
    variants: int = 10,
    family: str = "utf8",
    paper: bool = False,
    convention: str = "angle",
    confidence: float = 0.95,
    seed: int = 1,
    workers: int = 1,
    on_error: str = "mark",
    max_calls: Optional[int] = None,
    progress: Union[bool, None, Progress] = None,
) -> AscentResult:
    """Walks from a prompt to variants of it with larger gamma: where the model is less steady.

    >>> import harmonia
    >>> def ask(prompt):
    ...     return "x" * (len(prompt) - 5) ** 2
    >>> walk = harmonia.text.ascend(ask, lambda texts: [[9.0, len(text)] for text in texts], "2 + 2?", steps=2)
    >>> walk.path[0].prompt, walk.best.gamma >= walk.path[0].gamma
    ('2 + 2?', True)

    Parameters
    ----------
    steps: of the walk.
    variants: of a prompt: those that gamma is measured with, and that it may move to.
    family: of the variants.
    paper: the authors' walk: gamma at every variant, and on to the largest, even if it is less than before. By
        default only a larger gamma counts, confirmed on fresh variants, with fewer calls.

    The others are those of gamma(). An answer is asked for once. If answers fail or max_calls is reached, the path says
    how far it came.
    """
    name = name_of(checked("ask", ask))
    with ExitStack() as stack:
        asker, embedding = _opened({name: ask}, embed, (workers, on_error, max_calls), stack)
        tell = stack.enter_context(shown(progress, f"ascent of {name}", "steps", "calls"))
        with _or_first_error(asker):
            told = _native.text_ascent(
                (name, asker[0]),
                embedding,
                _prompt(prompt, 0),
                0,
                _whole("steps", steps),
                _count("variants", variants),
                family,
                bool(paper),
                float(confidence),
                convention,
                _whole("seed", seed),
                tell,
            )
    return AscentResult(told, convention)


def variants(prompt: str, family: str = "appended", count: int = 10, seed: int = 1, number: int = 0) -> list[str]:
    """Variants of a prompt, as gamma() asks them of prompt `number` of its list.

    >>> import harmonia
    >>> harmonia.text.variants("Hello", "case", count=3)
    ['heLlO', 'hellO', 'hElLo']

    More of them leave the first ones as they are. A prompt without letters has none of "typing" and "case".
    """
    return _native.text_variants(
        _prompt(prompt, 0), family, _whole("count", count), _whole("seed", seed), _whole("number", number)
    )


def angle(u: Any, v: Any, convention: str = "angle") -> float:
    """The angle between two vectors, exact also where it is small.

    >>> import harmonia
    >>> harmonia.text.angle([1.0, 0.0], [0.0, 2.0], convention="sin")
    1.0
    """
    found = [np.asarray(vector, dtype=np.float32) for vector in (u, v)]
    for name, vector in zip("uv", found):
        if vector.ndim != 1 or not np.isfinite(vector).all() or not vector.any():
            raise InputError(f"{name} has shape {vector.shape}; expected a vector of finite numbers, not all 0")
    if len(found[0]) != len(found[1]):
        raise InputError(f"u has {len(found[0])} numbers and v {len(found[1])}; expected as many")
    return _native.text_angle(found[0].tolist(), found[1].tolist(), convention)


def local(folder: Union[None, str, "os.PathLike[str]"] = None) -> _native.LocalEmbedder:
    """The local embedder, all-MiniLM-L6-v2, as a function for `embed`: opened once for several calls.

    folder holds one ONNX file and vocab.txt; None: HARMONIA_EMBEDDER or ~/.cache/harmonia/embedder.

    >>> import harmonia
    >>> harmonia.text.local("nowhere")
    Traceback (most recent call last):
    harmonia._errors.InputError: embedder nowhere is no folder; expected a folder with one ONNX file and
        vocab.txt, as 'scripts/setup.sh embedder' makes it
    """
    return local_embedder("local" if folder is None else f"local:{os.fspath(folder)}")


def _prompt(text: Any, place: int) -> str:
    if not isinstance(text, str):
        raise InputError(f"prompt {place} is {type(text).__name__}; expected str")
    if not text.strip():
        raise InputError(f"prompt {place} has no text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"prompt {place}, {shortened(text)}, has half of a surrogate pair; expected Unicode text"
        ) from None
    return str(text)


def _told(prompts: Prompts) -> tuple[list[tuple[str, str, str]], str, Any]:
    """Text, id and domain of every prompt; what they are called; their index in pandas."""
    if isinstance(prompts, os.PathLike):
        path = os.fspath(prompts)
        return _native.read_prompts(path), path, None
    if isinstance(prompts, str):
        raise UsageError("prompts is a str; expected a list of prompts, or the pathlib.Path of a file")
    index = getattr(prompts, "index", None)
    told = [(_prompt(text, place), "", "") for place, text in enumerate(prompts)]
    if not told:
        raise InputError("prompts is empty; expected at least one")
    return told, "memory", None if callable(index) else index


def _opened(
    models: Mapping[str, Ask], embed: Any, how: tuple[int, str, Optional[int]], stack: ExitStack
) -> tuple[list[Asker], Embedding]:
    workers, on_error, max_calls = how
    if on_error not in ("mark", "raise"):
        raise UsageError(f"on_error is {on_error!r}; expected mark or raise")
    threads, budget = _count("workers", workers), Budget(None if max_calls is None else _count("max_calls", max_calls))
    askers = [Asker(name, ask, max(1, threads), on_error, budget) for name, ask in models.items()]
    embedding = Embedding(embed)
    return [stack.enter_context(asker) for asker in askers], embedding


@contextmanager
def _or_first_error(askers: Sequence[Asker]) -> Iterator[None]:
    """Raises the first exception of the functions that were asked if none of them answered anything."""
    try:
        yield
    except ModelError:
        _raise_first_error(askers)
        raise
    _raise_first_error(askers)


def _raise_first_error(askers: Sequence[Asker]) -> None:
    errors = [asker.first_error for asker in askers if asker.first_error is not None]
    if errors and not any(asker.answered for asker in askers):
        raise errors[0]


def _study(
    models: Mapping[str, Ask],
    embed: Any,
    prompts: Prompts,
    asked: Mapping[str, Any],
    how: tuple[int, str, Optional[int]],
    progress: Union[bool, None, Progress],
    call: str,
    title: str,
) -> tuple[_native.Text, Any]:
    told, source, index = _told(prompts)
    families = asked["families"]
    each = list(FAMILIES) if families == "all" else [families] if isinstance(families, str) else list(families)
    if len(set(each)) < len(each):
        raise UsageError(f"families are {', '.join(map(str, each))}; expected each once")
    options = "".join(f", {k}={asked[k]!r}" for k in _DEFAULTS if asked[k] != _DEFAULTS[k])
    with ExitStack() as stack:
        askers, embedding = _opened(models, embed, how, stack)
        line = f"harmonia.text.{call}, {embedding.name}, {source!r}{options})"
        tell = stack.enter_context(shown(progress, title, "prompts", "calls"))
        with _or_first_error(askers):
            native = _native.text_gamma(
                [(asker.name, asker) for asker in askers],
                embedding,
                embedding.name,
                told,
                source,
                _count("variants", asked["variants"]),
                _whole("repeats", asked["repeats"]),
                each,
                asked["convention"],
                bool(asked["isotropy"]),
                float(asked["confidence"]),
                _whole("seed", asked["seed"]),
                line,
                tell,
            )
    return native, index
