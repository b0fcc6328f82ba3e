"""harmonia.text.gamma: angles that are known, the program's own numbers, threads, frames, files, plots, a real language model."""

import copy
import itertools
import json
import math
import pickle
import threading
import time
import urllib.request

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.chat_stand_in import embedding, running
from support.text_functions import PROMPTS, at_angles, moved, spread, wordy

import harmonia as hm


# Truth.


def test_answers_that_move_by_an_angle_give_that_angle():
    result = hm.text.gamma(moved, at_angles, PROMPTS)
    np.testing.assert_allclose(result.gamma, [0.3, 0], atol=2e-7)
    assert result.gamma[1] == 0 and result.plain[1] == 0 and result.low[1] == result.high[1] == 0
    np.testing.assert_allclose(result.plain[0], 0.3, atol=2e-7)
    assert (
        result.floor.tolist() == [0, 0] and result.changed.tolist() == [10, 0] and result.variants.tolist() == [10, 10]
    )
    np.testing.assert_allclose(result.paper[0], math.sqrt(1 - math.cos(0.3)), atol=2e-7)
    assert result.band.tolist() == ["likely hallucination", "probably trustworthy"]
    assert result.outcome.tolist() == ["measured"] * 2 and result.answer == ["0.1", "0.1"] and result.reason == ["", ""]
    assert result.resultant == pytest.approx([1, 1])
    assert [answer for _, answer in result.answers[0]] == ["0.4"] * 10
    assert result.summary.mean == pytest.approx(0.15, abs=1e-7) and result.summary.bands["likely hallucination"] == 1
    assert result.summary.changed == 10 and result.summary.variants == 20 and len(result.summary.settling) == 9


@pytest.mark.parametrize(
    "convention, of",
    [("chord", lambda t: 2 * math.sin(t / 2)), ("sin", math.sin), ("paper", lambda t: math.sqrt(1 - math.cos(t)))],
)
def test_conventions(convention, of):
    result = hm.text.gamma(moved, at_angles, PROMPTS, convention=convention)
    np.testing.assert_allclose(result.gamma, [of(0.3), 0], atol=2e-7)
    assert result.convention == convention and convention in repr(result)
    assert hm.text.angle([1, 0], at_angles(["0.3"])[0], convention) == pytest.approx(of(0.3), abs=1e-7)


def test_small_angles_are_recovered():
    assert hm.text.angle([1, 0, 0], [math.cos(1e-3), math.sin(1e-3), 0]) == pytest.approx(1e-3, rel=1e-4)
    assert hm.text.angle([1, 0], [-2, 0]) == pytest.approx(math.pi)
    assert hm.text.angle(np.ones(384), np.ones(384)) == 0


def test_opposite_answers_have_a_short_resultant():
    calls = iter(range(1000))
    with pytest.warns(hm.HarmoniaWarning, match="point apart"):
        result = hm.text.gamma(
            lambda p: "east" if p == PROMPTS[0] else ("east", "west")[next(calls) % 2],
            lambda texts: [[1.0, 0.0] if t == "east" else [-1.0, 1e-3] for t in texts],
            PROMPTS[:1], isotropy=False, repeats=0)  # fmt: skip
    assert result.resultant[0] < 0.01 and np.isnan(result.floor[0]) and np.isnan(result.excess[0])


def test_repeats_give_the_floor():
    answers = iter(["0.1", "0.3", "0.1", "0.3"])  # the prompt itself, and three repeats
    result = hm.text.gamma(lambda p: next(answers) if p == "Why?" else "0.1", at_angles, ["Why?"])
    same = at_angles(["0.1", "0.3", "0.1", "0.3"])
    assert result.floor[0] == pytest.approx(math.sqrt(((same - same.mean(0)) ** 2).sum() / 3), rel=1e-6)
    assert result.gamma[0] == 0 and result.excess[0] == 0 and result.calls[0] == 14


# Agreement.


def test_numbers_are_those_of_numpy():
    """The estimate written again: jackknife of the squared angle, Student's t of it after Hall's transformation."""
    result = hm.text.gamma(wordy, spread, ["Which way is it?"], confidence=0.9, variants=12, seed=5)
    variants = hm.text.variants("Which way is it?", "appended", 12, seed=5)
    assert [text for text, _ in result.answers[0]] == variants

    def unit(v):
        return v / np.linalg.norm(v, axis=-1, keepdims=True)

    own = unit(spread([wordy("Which way is it?")]).astype(np.float32).astype(float))[0]
    around = unit(spread([wordy(v) for v in variants]).astype(np.float32).astype(float))

    def square(rows):
        mean = unit(rows.mean(axis=0))
        return (2 * math.atan2(np.linalg.norm(own - mean), np.linalg.norm(own + mean))) ** 2

    n = len(around)
    pseudo = np.array([n * square(around) - (n - 1) * square(np.delete(around, i, axis=0)) for i in range(n)])
    skew, t = stats.skew(pseudo, bias=False), stats.t.ppf(0.95, n - 1) / math.sqrt(n)
    low, high = (
        pseudo.mean() - pseudo.std(ddof=1) * 3 / skew * (np.cbrt(1 + skew * (w - skew / (6 * n))) - 1) for w in (t, -t)
    )
    assert result.plain[0] == pytest.approx(math.sqrt(square(around)), rel=1e-9)
    assert result.gamma[0] == pytest.approx(math.sqrt(pseudo.mean()), rel=1e-9)
    assert result.low[0] == pytest.approx(math.sqrt(max(0, low)), rel=1e-9)
    assert result.high[0] == pytest.approx(math.sqrt(high), rel=1e-9)
    assert result.resultant[0] == pytest.approx(np.linalg.norm(around.mean(axis=0)), rel=1e-9)
    assert result.changed[0] == sum(wordy(v) != wordy("Which way is it?") for v in variants)
    prompt, asked = unit(spread(["Which way is it?"]).astype(np.float32)), unit(spread(variants).astype(np.float32))
    assert result.isotropy[0] == pytest.approx(float(unit(asked.mean(axis=0)) @ prompt[0]), abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*point apart")
def test_agrees_with_the_program(harmonia, tmp_path, root):
    """The same endpoint asked by the program and by a function: the same numbers, and results of one form."""
    (tmp_path / "prompts.csv").write_text("prompt,id\nWhere does it go?,p1\nWhy is it so?,p2\n2 + 2,p3\n")
    options = [
        "--family",
        "appended,typing",
        "--variants",
        7,
        "--seed",
        4,
        "--convention",
        "paper",
        "--confidence",
        0.9,
    ]
    with running(lambda body, asked: wordy(body["messages"][-1]["content"])) as (url, _):
        told = ["--chat", url, "--model", "m", "--embed", url, "--prompts", tmp_path / "prompts.csv", "--no-store"]
        done = harmonia("text", *told, *options, "--json", tmp_path / "result.json")
        assert done.returncode == 0, done.stderr

        def ask(prompt):
            body = {"messages": [{"role": "user", "content": prompt}]}
            return posted(url + "/chat/completions", body)["choices"][0]["message"]["content"]

        with pytest.warns(hm.HarmoniaWarning, match="1 row without a value"):
            result = hm.text.gamma(
                ask,
                lambda texts: [embedding(text) for text in texts],
                tmp_path / "prompts.csv",
                families=("appended", "typing"),
                variants=7,
                seed=4,
                convention="paper",
                confidence=0.9,
                workers=4,
            )
    program, mine = json.loads((tmp_path / "result.json").read_text()), result.to_dict()
    for told in (program, mine):
        jsonschema.validate(told, json.loads((root / "docs" / "result.schema.json").read_text()))
        for row in told["rows"] + told["summary"]["families"]:
            for field in ("model", "calls", "tokens"):
                row.pop(field, None)
    assert mine["rows"] == program["rows"] and mine["summary"]["families"] == program["summary"]["families"]
    assert result.id == ["p1", "p1", "p2", "p2", "p3", "p3"] and np.nanmax(result.gamma) > 0


def posted(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


@pytest.mark.filterwarnings("ignore:.*point apart")
@pytest.mark.parametrize("workers", [2, 8])
def test_threads_change_nothing(workers):
    one, several = (hm.text.gamma(wordy, spread, PROMPTS, families="all", workers=w, seed=3) for w in (1, workers))
    for field in ("rows", "summary", "options", "evaluations"):
        assert several.to_dict()[field] == one.to_dict()[field]


def test_variants_are_asked_as_they_are_shown():
    asked = []
    hm.text.gamma(lambda p: asked.append(p) or "0.1", at_angles, PROMPTS, variants=4, repeats=1, seed=9)
    expected = []
    for number, prompt in enumerate(PROMPTS):
        expected += [prompt, prompt, *dict.fromkeys(hm.text.variants(prompt, "appended", 4, seed=9, number=number))]
    assert asked == expected
    assert list(hm.text.FAMILIES) == ["appended", "inserted", "invisible", "whitespace", "typing", "case", "utf8"]
    for family in hm.text.FAMILIES:
        found = hm.text.variants(PROMPTS[0], family, 6)
        assert len(found) == 6 and PROMPTS[0] not in found and hm.text.variants(PROMPTS[0], family, 3) == found[:3]
    assert all(v.lower() == "first one?" for v in hm.text.variants(PROMPTS[0], "case", 6))


# What users have.


def test_families_and_frames():
    prompts = pd.Series(["Word one", "2 + 2"], index=["a", "b"])
    with pytest.warns(hm.HarmoniaWarning, match="1 row without a value; the first: 0 of 0 variants answered"):
        result = hm.text.gamma(
            lambda p: "0.1" if p.startswith("Word") else "0.2",
            at_angles,
            prompts,
            families=("appended", "case"),
            variants=3,
        )
    frame = result.to_frame()
    assert frame.index.tolist() == ["a", "a", "b", "b"] and frame["family"].tolist() == ["appended", "case"] * 2
    assert frame["gamma"].isna().tolist() == [False, False, False, True] and frame["outcome"].iloc[3] == "unmeasured"
    assert (
        list(result.families) == ["appended", "case"]
        and result.families["case"].marked == 1
        and result.summary.family == "appended"
    )
    assert len(result) == 4 and result.row.tolist() == [0, 0, 1, 1] and result.prompt[3] == "2 + 2"
    assert len(hm.text.gamma(moved, at_angles, np.array(PROMPTS)).to_frame()) == 2


def test_json_pages_pickles_and_files(tmp_path):
    result = hm.text.gamma(moved, at_angles, PROMPTS, variants=5)
    told = result.to_dict()
    assert (
        told["command"] == "text"
        and told["options"]["temperature"] is None
        and told["options"]["embedder"] == "at_angles"
    )
    assert (
        told["command_line"] == "harmonia.text.gamma(moved, at_angles, 'memory', variants=5)"
        and told["evaluations"] == 18
    )
    assert [row["gamma"] for row in told["rows"]] == result.gamma.tolist()
    result.save(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text()) == told
    assert "mean gamma" in str(result) and "temperature" not in str(result) and "tokens" not in str(result)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert (
            again.to_json() == result.to_json()
            and again.to_csv() == result.to_csv()
            and again.answers == result.answers
        )
    (tmp_path / "prompts.csv").write_text("prompt,id\nFirst one?,p1\nSecond?,p2\n")
    read = hm.text.gamma(moved, at_angles, tmp_path / "prompts.csv", variants=5)
    np.testing.assert_array_equal(read.gamma, result.gamma)
    assert read.id == ["p1", "p2"] and read.to_frame()["id"].tolist() == read.id and result.id is None


def test_plots(tmp_path):
    import matplotlib.pyplot as plt

    result = hm.text.gamma(wordy, at_angles, [f"Question {i} of $x$?" for i in range(12)], isotropy=False)
    ax = result.plot(worst=3)
    assert (
        ax.get_xlabel() == "gamma (angle)"
        and [text.get_text() for text in ax.texts[:3]] == ["1", "2", "3"]
        and ax.get_title() == "gamma of wordy"
    )
    ax.figure.savefig(tmp_path / "plot.png")
    _, mine = plt.subplots()
    assert (
        hm.text.gamma(moved, at_angles, PROMPTS, families=("appended", "utf8"), convention="paper").plot(mine) is mine
    )
    plt.close("all")


@pytest.mark.filterwarnings("ignore:.*point apart")
def test_every_text_is_embedded_once():
    seen = []
    hm.text.gamma(wordy, lambda texts: seen.extend(texts) or spread(texts), PROMPTS, families="all")
    assert len(set(seen)) == len(seen) > 0
    seen.clear()
    hm.text.compare({"a": wordy, "b": wordy}, lambda texts: seen.extend(texts) or spread(texts), PROMPTS)
    assert len(set(seen)) == len(seen)


def test_progress_tells_prompts_and_calls():
    told = []

    def slow(prompt):
        time.sleep(0.03)
        return "0.1"

    hm.text.gamma(slow, at_angles, PROMPTS, progress=lambda *now: told.append(now))
    assert told and told[-1][0] <= 2 and {rows for _, rows, _ in told} == {2} and 0 < told[-1][2] <= 28


def test_calls_overlap_with_workers():
    """The first four calls wait for each other: one after another, none would go on."""
    barrier = threading.Barrier(4, timeout=60)
    count, names = itertools.count(), set()

    def together(prompt):
        names.add(threading.current_thread())
        if next(count) < 4:
            barrier.wait()
        return "0.1"

    result = hm.text.gamma(together, at_angles, PROMPTS, workers=4)
    assert result.outcome.tolist() == ["measured"] * 2 and result.failed.sum() == 0
    assert len(names) == 4 and threading.current_thread() not in names
    here = set()
    hm.text.gamma(lambda p: here.add(threading.current_thread()) or "0.1", at_angles, PROMPTS)
    assert here == {threading.current_thread()}


# The real thing.


@pytest.fixture(scope="module")
def minilm(embedder, tmp_path_factory):
    """The embedder's folder, under the names that it is opened by."""
    folder = tmp_path_factory.mktemp("embedder")
    (model,) = embedder.glob("*.onnx")
    (folder / "model.onnx").symlink_to(model)
    (folder / "vocab.txt").symlink_to(embedder / "vocab.txt")
    return folder


def test_the_local_embedder(minilm, monkeypatch):
    local = hm.text.local(minilm)
    rows = local(["A cat sits on the mat.", "A cat is sitting on a mat.", "Interest rates rose again."])
    assert rows.shape == (3, 384) and rows.dtype == np.float32
    assert hm.text.angle(rows[0], rows[1]) < 0.5 < 1 < hm.text.angle(rows[0], rows[2])
    monkeypatch.setenv("HARMONIA_EMBEDDER", str(minilm))
    answers = {True: "Paris is the capital of France.", False: "The capital is Paris."}
    found = [
        hm.text.gamma(lambda p: answers[p == "Capital of France?"], embed, ["Capital of France?"])
        for embed in (None, "local", f"local:{minilm}", local)
    ]
    assert len({result.gamma[0] for result in found}) == 1 and 0.05 < found[0].gamma[0] < 1
    assert found[0].to_dict()["options"]["embedder"] == local.name
    assert local.cuts("word " * 255) and not local.cuts("word " * 254)
    with pytest.warns(hm.HarmoniaWarning, match="6 answers are longer than the embedder reads"):
        hm.text.gamma(lambda p: "word " * 300, local, ["Capital of France?"], variants=4, repeats=1)
    monkeypatch.setenv("HARMONIA_EMBEDDER", str(minilm / "none"))
    with pytest.raises(hm.UsageError, match="no embedder in .*none; expected a folder with one ONNX file"):
        hm.text.gamma(moved, None, PROMPTS)


def test_a_language_model_through_a_function(llama_server, minilm):
    """SmolLM2 at temperature 0 on loopback, asked by a function in four threads."""

    def smollm2(prompt):
        body = {"messages": [{"role": "user", "content": prompt}], "temperature": 0, "max_tokens": 12, "seed": 1}
        return posted(llama_server + "/v1/chat/completions", body)["choices"][0]["message"]["content"]

    prompts = ["What is the capital of France?", "Blue seven under which Tuesday?"]
    result = hm.text.gamma(smollm2, f"local:{minilm}", prompts, variants=4, repeats=1, workers=4)
    assert result.outcome.tolist() == ["measured"] * 2 and all(result.answer)
    assert (result.low <= result.gamma).all() and (result.gamma <= result.high).all()
    assert ((result.resultant > 0) & (result.resultant <= 1 + 1e-9)).all()
    assert result.calls.sum() <= 12
