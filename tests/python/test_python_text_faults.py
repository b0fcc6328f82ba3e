"""harmonia.text: answers that do not come, functions that are none, exceptions, Ctrl-C."""

import os
import signal
import threading
import traceback

import numpy as np
import pytest
from support.text_functions import PROMPTS, at_angles, moved

import harmonia as hm


def test_an_exception_of_ask_marks_and_the_rest_is_measured():
    def failing(prompt):
        if prompt.startswith("Second?"):
            raise ConnectionError("the line\nis dead")
        return moved(prompt)

    for workers in (1, 4):
        with pytest.warns(
            hm.HarmoniaWarning, match="1 row without a value; the first: ConnectionError: the line is dead"
        ):
            result = hm.text.gamma(failing, at_angles, PROMPTS, workers=workers)
        assert result.outcome.tolist() == ["measured", "failed"] and result.failed.tolist() == [0, 10]
        assert result.reason[1] == "ConnectionError: the line is dead" and np.isnan(result.gamma[1])
        assert result.gamma[0] == pytest.approx(0.3, abs=1e-6) and result.band[1] == "" and result.summary.marked == 1


@pytest.mark.parametrize("workers", [1, 4])
def test_an_exception_of_ask_is_raised_where_asked_for_or_nothing_was_answered(workers):
    def broken(prompt):
        raise KeyError(prompt)

    for on_error in ("raise", "mark"):
        with pytest.raises(KeyError) as caught:
            hm.text.gamma(broken, at_angles, PROMPTS, on_error=on_error, workers=workers)
        assert "broken" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        with pytest.raises(KeyError):
            hm.text.ascend(broken, at_angles, "Why?", on_error=on_error, workers=workers)
    if hasattr(caught.value, "__notes__"):
        # Which of several at once comes first is not known.
        assert caught.value.__notes__[0].startswith("raised by " + hm._models.name_of(broken) + " on the text 'First one?")


def test_some_variants_may_fail():
    failed = hm.text.variants(PROMPTS[0], "appended", 10)[:3]
    result = hm.text.gamma(
        lambda p: None if p in failed[:2] else 1 / 0 if p == failed[2] else moved(p), at_angles, PROMPTS
    )
    assert (
        result.failed.tolist() == [3, 0]
        and result.variants.tolist() == [7, 10]
        and result.gamma[0] == pytest.approx(0.3, abs=1e-6)
    )


def test_no_answer_is_empty_and_a_cap_leaves_the_rest_unasked():
    for nothing in (None, "", " \n"):
        with pytest.warns(hm.HarmoniaWarning, match="gave no text"):
            result = hm.text.gamma(lambda p: nothing if p == "Second?" else "0.1", at_angles, PROMPTS)
        assert result.outcome.tolist() == ["measured", "empty"] and result.answer[1] == ""
    calls = []
    with pytest.warns(hm.HarmoniaWarning, match="1 row not asked: a cap on calls"):
        result = hm.text.gamma(lambda p: calls.append(p) or "0.1", at_angles, PROMPTS, max_calls=14)
    assert len(calls) == 14 and result.outcome.tolist() == ["measured", "unasked"] and result.calls.tolist() == [14, 0]


def test_what_is_no_text():
    with pytest.raises(hm.ModelError, match="returned dict; expected a str, or None"):
        hm.text.gamma(lambda p: {"content": "x"}, at_angles, PROMPTS)
    with pytest.warns(hm.HarmoniaWarning, match="returned int; expected a str"):
        result = hm.text.gamma(lambda p: 7 if p.startswith("Second") else "0.1", at_angles, PROMPTS)
    assert result.outcome.tolist() == ["measured", "failed"]
    odd = hm.text.gamma(lambda p: "half \ud83d of it", lambda t: [[1.0, 2.0]] * len(t), PROMPTS)
    assert odd.answer[0] == "half ? of it"


async def later(prompt):
    return "0.1"


class Later:
    async def __call__(self, prompt):
        return "0.1"


@pytest.mark.parametrize("ask", [later, Later(), lambda p: later(p)])
def test_async_functions_are_refused(ask):
    with pytest.raises(hm.UsageError, match="is an async function; expected one that returns the answer"):
        hm.text.gamma(ask, at_angles, PROMPTS)
    with pytest.raises(hm.UsageError, match="embed is an async function"):
        hm.text.gamma(moved, later, PROMPTS)


@pytest.mark.parametrize(
    "embed, message",
    [
        (lambda t: np.ones(len(t)), r"an array of shape \(\d+,\) for \d+ texts; expected \(\d+, width\)"),
        (lambda t: np.ones((1, 4)), r"an array of shape \(1, 4\) for \d+ texts; expected"),
        (lambda t: np.ones((len(t), 0)), r"an array of shape \(\d+, 0\)"),
        (lambda t: [[1.0]] * (len(t) - 1) + [[1.0, 2.0]], "is no array"),
        (lambda t: None, r"an array of shape \(\)"),
        (lambda t: [["a", "b"]] * len(t), "an array of type <U1; expected numbers"),
        (
            lambda t: np.where(np.arange(2) == 1, np.nan, np.ones((len(t), 2))),
            "numbers that are not finite for the text '0.1'",
        ),
        (lambda t: np.full((len(t), 2), 1e300), "numbers that are not finite"),
        (lambda t: np.zeros((len(t), 2)), "zeros alone for the text '0.1'; expected a direction"),
    ],
)
def test_what_is_no_embedding(embed, message):
    with pytest.raises(hm.ModelError, match=message):
        hm.text.gamma(moved, embed, PROMPTS)


def test_embeddings_of_another_width_and_exceptions_of_embed():
    width = iter([2, 3])
    with pytest.raises(hm.ModelError, match=r"shape \(\d+, 3\) for \d+ texts; expected \(\d+, 2\)"):
        hm.text.gamma(lambda p: p + "!", lambda t: np.ones((len(t), next(width))), [f"Number {i}" for i in range(20)])

    def unwell(texts):
        raise OSError("no embedder today")

    with pytest.raises(OSError, match="no embedder today") as caught:
        hm.text.gamma(moved, unwell, PROMPTS)
    assert "unwell" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: hm.text.gamma("gpt", at_angles, PROMPTS), hm.UsageError, "ask is str; expected a function"),
        (lambda: hm.text.gamma(moved, 3, PROMPTS), hm.UsageError, "embed is int; expected a function"),
        (
            lambda: hm.text.gamma(moved, "remote", PROMPTS),
            hm.UsageError,
            "embed is 'remote'; expected a function, 'local'",
        ),
        (
            lambda: hm.text.gamma(moved, "local:nowhere", PROMPTS),
            hm.InputError,
            "embedder nowhere is no folder",
        ),
        (lambda: hm.text.gamma(moved, at_angles, "prompts.txt"), hm.UsageError, "prompts is a str; expected a list"),
        (lambda: hm.text.gamma(moved, at_angles, []), hm.InputError, "prompts is empty"),
        (lambda: hm.text.gamma(moved, at_angles, ["a", 3]), hm.InputError, "prompt 1 is int; expected str"),
        (lambda: hm.text.gamma(moved, at_angles, ["a", " "]), hm.InputError, "prompt 1 has no text"),
        (lambda: hm.text.gamma(moved, at_angles, ["\ud83d"]), hm.InputError, "prompt 0, .*surrogate"),
        (
            lambda: hm.text.gamma(moved, at_angles, PROMPTS, families="swapped"),
            hm.UsageError,
            "family 'swapped'; expected one of appended, ",
        ),
        (
            lambda: hm.text.gamma(moved, at_angles, PROMPTS, families=["case", "case"]),
            hm.UsageError,
            "expected each once",
        ),
        (lambda: hm.text.gamma(moved, at_angles, PROMPTS, families=[]), hm.UsageError, "no family of variants"),
        (
            lambda: hm.text.gamma(moved, at_angles, PROMPTS, variants=1),
            hm.UsageError,
            "1 variant of a prompt; expected at least 2",
        ),
        (
            lambda: hm.text.gamma(moved, at_angles, PROMPTS, convention="degrees"),
            hm.UsageError,
            "convention 'degrees'; expected angle",
        ),
        (lambda: hm.text.gamma(moved, at_angles, PROMPTS, confidence=1.5), hm.UsageError, "confidence"),
        (lambda: hm.text.gamma(moved, at_angles, PROMPTS, workers=0), hm.UsageError, "workers is 0"),
        (
            lambda: hm.text.gamma(moved, at_angles, PROMPTS, on_error="ignore"),
            hm.UsageError,
            "on_error is 'ignore'; expected mark or raise",
        ),
        (lambda: hm.text.gamma(moved, at_angles, PROMPTS, repeats=-1), hm.UsageError, "repeats is -1"),
        (lambda: hm.text.compare({"a": moved}, at_angles, PROMPTS), hm.UsageError, "at least 2 models"),
        (lambda: hm.text.compare({"a": moved, "b": 3}, at_angles, PROMPTS), hm.UsageError, r"asks\['b'\] is int"),
        (lambda: hm.text.variants("a", "swapped"), hm.UsageError, "family 'swapped'"),
        (lambda: hm.text.angle([0, 0], [1, 0]), hm.InputError, "u has shape"),
        (lambda: hm.text.angle([1, 0], [1, 0, 0]), hm.InputError, "u has 2 numbers and v 3"),
    ],
)
def test_mistakes_are_one_clear_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("workers", [1, 3])
def test_ctrl_c_ends_the_run(workers):
    """A signal while answers are waited for raises KeyboardInterrupt, and no new call is begun."""
    calls = []
    release = threading.Event()

    def waiting(prompt):
        calls.append(prompt)
        if len(calls) == 5:
            os.kill(os.getpid(), signal.SIGINT)
            release.wait(0.2 if workers == 1 else 20)
        return "0.1"

    with pytest.raises(KeyboardInterrupt):
        hm.text.gamma(waiting, at_angles, PROMPTS * 5, workers=workers)
    release.set()
    assert len(calls) < 140


def test_keyboard_interrupt_of_ask_is_never_marked():
    def stops(prompt):
        raise KeyboardInterrupt

    for workers in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            hm.text.gamma(stops, at_angles, PROMPTS, workers=workers)
