"""The functions that harmonia.text is given: how models are asked and texts embedded."""

from __future__ import annotations

import inspect
import os
from functools import partial
from typing import Any, Callable, Iterator, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._errors import ModelError, UsageError
from ._models import name_of

#: Takes a prompt, returns the answer; None or "" is none.
Ask = Callable[[str], Optional[str]]

#: Takes texts, returns an array with a row a text.
Embed = Callable[[Sequence[str]], Any]

#: place, outcome, answer, reason, calls
_Given = tuple[int, str, str, str, int]


def shortened(text: str, limit: int = 60) -> str:
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def checked(what: str, ask: Any) -> Ask:
    """The function, unless it is none that can be asked."""
    if not callable(ask):
        raise UsageError(
            f"{what} is {type(ask).__name__}; expected a function that takes a prompt and returns the answer"
        )
    if _is_async(ask):
        raise UsageError(_ASYNC.format(what))
    return ask  # type: ignore[no-any-return]


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


class Asker:
    """Asks one model, on this thread or on several of its own: takes (text, repeat) pairs, gives answers as they come.

    A question that is there twice is asked once.
    """

    def __init__(self, name: str, ask: Ask, workers: int, on_error: str, budget: "Budget") -> None:
        self.name = name
        self.answered = 0
        self.first_error: Optional[Exception] = None
        self._ask = ask
        self._workers = workers
        self._raises = on_error == "raise"
        self._budget = budget
        self._pool: Any = None

    def __enter__(self) -> "Asker":
        if self._workers > 1:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="harmonia-ask")
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._pool is not None:
            # Calls under way cannot be ended; after an error nobody waits for them.
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def __call__(self, questions: Sequence[tuple[str, int]]) -> Iterator[_Given]:
        places: dict[tuple[str, int], list[int]] = {}
        for place, question in enumerate(questions):
            places.setdefault(question, []).append(place)
        for question, given in self._answers(list(places)):
            for copy, place in enumerate(places[question]):
                yield (place, *given[:3], 0 if copy else given[3])

    def _answers(
        self, questions: Sequence[tuple[str, int]]
    ) -> Iterator[tuple[tuple[str, int], tuple[str, str, str, int]]]:
        if self._pool is None:
            for question in questions:
                yield question, (
                    self._taken(question[0], partial(self._ask, question[0])) if self._budget.spend() else _UNASKED
                )
            return
        from concurrent.futures import as_completed

        asked = {}
        for question in questions:
            if self._budget.spend():
                asked[self._pool.submit(self._ask, question[0])] = question
            else:
                yield question, _UNASKED
        try:
            for future in as_completed(asked):
                yield asked[future], self._taken(asked[future][0], future.result)
        finally:
            for future in asked:
                future.cancel()

    def _taken(self, text: str, call: Callable[[], Any]) -> tuple[str, str, str, int]:
        try:
            answer = call()
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"raised by {self.name} on the text {shortened(text)}")
            if self._raises:
                raise
            self.first_error = self.first_error or error
            return "failed", "", f"{type(error).__name__}: {error}".rstrip(": "), 1
        if answer is None or (isinstance(answer, str) and not answer.strip()):
            return "empty", "", f"{self.name} gave no text", 1
        if isinstance(answer, str):
            self.answered += 1
            return "answered", answer.encode("utf-8", "replace").decode("utf-8"), "", 1
        if inspect.isawaitable(answer):
            getattr(answer, "close", lambda: None)()
            raise UsageError(_ASYNC.format(self.name))
        wrong = ModelError(f"{self.name} returned {type(answer).__name__}; expected a str, or None for no answer")
        if self._raises or not self.answered:  # a mistake in the function, and nothing is lost yet
            raise wrong
        return "failed", "", str(wrong), 1


_ASYNC = (
    "{} is an async function; expected one that returns the answer, such as lambda prompt: asyncio.run(ask(prompt)), "
    "with workers for several at once"
)
_UNASKED = ("unasked", "", "the cap on calls was reached", 0)


class Budget:
    """Calls that may be made."""

    def __init__(self, calls: Optional[int]) -> None:
        self._left = calls

    def spend(self) -> bool:
        if self._left is None:
            return True
        self._left -= 1
        return self._left >= 0


class Embedding:
    """Embeds every text once, and refuses what is no embedding."""

    def __init__(self, embed: Union[None, str, Embed]) -> None:
        if embed is None or isinstance(embed, str):
            embed = local_embedder(embed)
        elif not callable(embed):
            raise UsageError(
                f"embed is {type(embed).__name__}; expected a function that takes a list of texts, or 'local'"
            )
        if _is_async(embed):
            raise UsageError("embed is an async function; expected one that returns an array")
        self._embed = embed
        self._known: dict[str, NDArray[np.float32]] = {}
        self._width: Optional[int] = None
        self.name = embed.name if isinstance(embed, _native.LocalEmbedder) else name_of(embed)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            self._known.update(zip(fresh, self._rows(fresh)))
        return np.stack([self._known[text] for text in texts])

    def cuts(self, text: str) -> bool:
        """Whether it is known to take only the beginning of the text."""
        return isinstance(self._embed, _native.LocalEmbedder) and self._embed.cuts(text)

    def _rows(self, texts: list[str]) -> NDArray[np.float32]:
        found = self._embed(list(texts))
        expected = f"expected ({len(texts)}, {'width' if self._width is None else self._width})"
        try:
            array = np.asarray(found)
        except Exception as error:
            raise ModelError(
                f"embed returned {type(found).__name__}, which is no array: {' '.join(str(error).split())}; {expected}"
            ) from error
        if (
            array.ndim != 2
            or len(array) != len(texts)
            or array.shape[1] != (self._width or array.shape[1])
            or not array.size
        ):
            raise ModelError(
                f"embed returned an array of shape {array.shape} for {_counted(len(texts), 'text')}; {expected}"
            )
        if array.dtype.kind not in "fiub":
            raise ModelError(f"embed returned an array of type {array.dtype}; expected numbers")
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(array, dtype=np.float32)
        for bad, what in (
            (~np.isfinite(rows).all(axis=1), "numbers that are not finite"),
            (~rows.any(axis=1), "zeros alone"),
        ):
            if bad.any():
                raise ModelError(
                    f"embed returned {what} for the text {shortened(texts[int(bad.argmax())])}; expected a direction"
                )
        self._width = rows.shape[1]
        return rows


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def local_folder() -> str:
    """Where the local embedder is, as the program has it."""
    if named := os.environ.get("HARMONIA_EMBEDDER"):
        return named
    if cache := os.environ.get("HARMONIA_CACHE"):
        return os.path.join(cache, "embedder")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "harmonia", "embedder")


def local_embedder(address: Optional[str]) -> _native.LocalEmbedder:
    """address: None or "local" for the usual folder, or "local:FOLDER"."""
    if address is not None and address != "local" and not address.startswith("local:"):
        raise UsageError(f"embed is {address!r}; expected a function, 'local' or 'local:FOLDER'")
    if address is not None and address.startswith("local:"):
        return _native.LocalEmbedder(address[len("local:") :], 0)
    folder = local_folder()
    if not os.path.exists(folder):
        raise UsageError(
            f"no embedder in {folder}; expected a folder with one ONNX file and vocab.txt there or in HARMONIA_EMBEDDER, "
            "'local:FOLDER', or a function"
        )
    return _native.LocalEmbedder(folder, 0)
