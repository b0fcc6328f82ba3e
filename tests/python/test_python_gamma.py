"""harmonia.gamma of functions: closed forms, agreement with the program, what goes wrong."""

import gc
import json
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings

import numpy as np
import pytest

import harmonia as hm

X = np.random.default_rng(0).normal(size=(60, 3))


def bowl(x):
    return (x**2).sum(axis=1)


def test_closed_form():
    result = hm.gamma(bowl, X, radius=0.1)
    np.testing.assert_allclose(result.gamma, 0.01, rtol=1e-9)
    np.testing.assert_allclose(result.value, bowl(X))
    np.testing.assert_allclose(result.laplacian, 6, rtol=1e-6)
    assert (result.outcome == "exact").all() and (result.points == 8).all()
    assert np.isnan(result.decided_class).all()
    assert result.summary.rows == 60 and result.summary.evaluations == 60 * 9 + 1


@pytest.mark.parametrize("options", [
    {"radius": 0.1},
    {"radius": "auto", "scale": "std"},
    {"radius": 0.2, "ball": "cross", "explain": 2},
    {"radius": 0.2, "ball": "random-pairs:40", "seed": 7},
    {"radius": 0.2, "ball": "rotated:20", "precision": 0.2, "floor": 0.001},
    {"radius": 0.2, "average": "solid", "output": "norm", "confidence": 0.8},
    {"radius": 0.1, "paper": True},
])
def test_the_same_numbers_as_the_program(harmonia, tmp_path, options):
    """Rows in a file, by the program and here, and as a function that asks the same model."""
    np.save(tmp_path / "rows.npy", X)
    words = [w for k, v in options.items() for w in ([f"--{k}"] if v is True else [f"--{k}", v])]
    done = harmonia("gamma", "fn:f4", "rows.npy", *words, "--json", "out.json", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "out.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hm.HarmoniaWarning)
        ours = hm.gamma("fn:f4", str(tmp_path / "rows.npy"), **options)
        arrays = hm.gamma("fn:f4", X, **options)
        several = hm.gamma("fn:f4", X, threads=2, batch=64, **options)
    mine = ours.to_dict()
    for part in ("rows", "summary", "options", "evaluations"):
        assert mine[part] == theirs[part], part
    for other in (arrays, several):
        told = other.to_dict()
        assert told["rows"] == theirs["rows"]
        assert told["summary"]["gamma"] == theirs["summary"]["gamma"]
    f4 = lambda x: f4_model(x)  # noqa: E731
    called = hm.gamma(f4, X, **options) if not options.get("paper") else None
    if called is not None:
        np.testing.assert_allclose(called.gamma, arrays.gamma, rtol=1e-7, atol=1e-12)


def f4_model(x):
    from harmonia import _native

    return _native.open_model("fn:f4", list(x[0]), "", [], "", "", 60.0, 4, False, False, False, _native.Images(), "cpu", True).evaluate(np.ascontiguousarray(x))


def test_the_result_is_of_the_schema(root):
    import jsonschema

    schema = json.loads((root / "docs" / "result.schema.json").read_text())
    jsonschema.validate(hm.gamma(bowl, X, radius=0.1, scale="std", explain=2).to_dict(), schema)


@pytest.mark.parametrize("make", [
    lambda x: np.asfortranarray(x), lambda x: x.tolist(), lambda x: np.repeat(x, 2, axis=0)[::2], lambda x: x.copy(),
])
def test_any_layout_of_the_rows(make):
    assert np.array_equal(hm.gamma(bowl, make(X), radius=0.1).gamma, hm.gamma(bowl, X, radius=0.1).gamma)


def test_float32_rows_and_float32_batches():
    seen = set()

    def function(x):
        seen.add(x.dtype)
        return bowl(x)

    hm.gamma(function, X.astype(np.float32), radius=0.1)
    assert seen == {np.dtype(np.float64)}
    seen.clear()
    result = hm.gamma(function, X, radius=0.1, dtype=np.float32)
    assert seen == {np.dtype(np.float32)}
    np.testing.assert_allclose(result.gamma, 0.01, rtol=1e-3)


@pytest.mark.parametrize("answer", [
    lambda x: bowl(x)[:, None], lambda x: np.asfortranarray(np.stack([bowl(x), -bowl(x)], axis=1)),
    lambda x: bowl(x).tolist(), lambda x: np.stack([bowl(x)] * 4, axis=1)[:, ::2],
    lambda x: bowl(x).astype(">f8"), lambda x: bowl(x).astype(np.longdouble),
])
def test_any_layout_of_the_answers(answer):
    np.testing.assert_allclose(hm.gamma(answer, X, radius=0.1, output="column:0").gamma, 0.01, rtol=1e-9)


def test_whole_numbers_are_classes():
    result = hm.gamma(lambda x: x[:, 0] > 0, X, radius=0.3, output="label")
    assert result.decided_class.dtype == np.int64
    assert np.array_equal(result.decided_class, X[:, 0] > 0)


def test_a_function_may_change_and_keep_its_batch():
    """Neither reaches the points of the ball."""
    kept = []

    def function(x):
        answer = bowl(x)
        kept.append((x, x.copy()))
        x *= 0
        kept[-1][0][:] = kept[-1][1]
        return answer

    np.testing.assert_allclose(hm.gamma(function, X, radius=0.1, batch=50).gamma, 0.01, rtol=1e-9)
    gc.collect()
    assert len(kept) > 5
    for batch, copy in kept:
        assert np.array_equal(batch, copy)


def test_what_a_function_raises_is_raised_here():
    class Own(Exception):
        pass

    calls = []

    def broken(x):
        calls.append(len(x))
        if len(calls) > 2:
            raise Own("no more")
        return bowl(x)

    with pytest.raises(Own, match="no more") as caught:
        hm.gamma(broken, X, radius=0.1, batch=20)
    assert "in broken" in "".join(traceback.format_tb(caught.value.__traceback__))
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == [f"raised by model test_what_a_function_raises_is_raised_here.<locals>.broken on a batch of {calls[-1]} × 3"]


def as_field(x):
    """The field of a structured array: its stride is no multiple of its size."""
    table = np.zeros(len(x), dtype=[("p", "f8"), ("known", "u1")])
    table["p"] = bowl(x)
    return table["p"]


@pytest.mark.parametrize("answer", [
    as_field,
    lambda x: as_field(x)[::-1][::-1],
    lambda x: as_field(x)[:, None],
    lambda x: np.stack([x[:, 0], bowl(x)], axis=1)[:, 1],
    lambda x: np.asfortranarray(np.stack([bowl(x)] * 2, axis=1))[:, ::-1],
    lambda x: np.broadcast_to(bowl(x)[:, None], (len(x), 3)),
])
def test_answers_of_any_strides(answer):
    ours = hm.gamma(answer, X, radius=0.1, output="column:0")
    np.testing.assert_array_equal(ours.value, hm.gamma(bowl, X, radius=0.1, output="column:0").value)
    np.testing.assert_array_equal(ours.gamma, hm.gamma(bowl, X, radius=0.1, output="column:0").gamma)


@pytest.mark.parametrize("answer, text", [
    (lambda x: x[0], r"returned an array of shape \(3,\) for 1 row; expected \(1,\) or \(1, outputs\)"),
    (lambda x: bowl(x)[:1], r"returned an array of shape \(1,\) for 540 rows; expected \(540,\) or \(540, 1\)"),
    (lambda x: np.ones((len(x), 2 if len(x) == 1 else 3)), r"returned an array of shape \(540, 3\) for 540 rows; expected \(540, 2\)"),
    (lambda x: np.ones((len(x), 2, 2)), r"returned an array of shape \(1, 2, 2\) for 1 row"),
    (lambda x: np.ones((len(x), 0)), r"returned an array of shape \(1, 0\) for 1 row"),
    (lambda x: ["a"] * len(x), r"returned an array of type str\d* and shape \(1,\); expected numbers"),
    (lambda x: None, r"returned an array of type object and shape \(\); expected numbers"),
    (lambda x: bowl(x) * 1j, "returned an array of type complex128"),
    (lambda x: np.where(np.arange(len(x)) == 5, np.nan, bowl(x)), "answered nan in output 0 for a point of the ball around row 0; expected finite numbers"),
    (lambda x: bowl(x) * np.inf, "answered inf in output 0 for data row 0"),
])
def test_answers_that_cannot_be_used(answer, text):
    with pytest.raises(hm.ModelError, match=text):
        hm.gamma(answer, X, radius=0.1)


@pytest.mark.parametrize("options, text", [
    ({"radius": -1}, "radius"), ({"radius": "wide"}, "radius 'wide'; expected a number above 0, or auto"),
    ({"ball": "cube"}, "cube"), ({"output": "column:9"}, "column"), ({"sample": 0}, "sample is 0"),
    ({"scale": "wide"}, "wide"), ({"average": "mean"}, "average 'mean'; expected surface or solid"),
    ({"floor": 0.1}, "floor needs a precision"), ({"paper": True, "sample": 4}, "paper excludes sample"),
    ({"dtype": "int8"}, "dtype is int8"), ({"feature_names": ["a"]}, "feature_names has 1 names; the data has 3 columns"),
    ({"method": "predict"}, "method and margin are for estimators"), ({"confidence": 2}, "confidence is 2"),
])
def test_wrong_arguments(options, text):
    with pytest.raises(hm.UsageError, match=text) as caught:
        hm.gamma(bowl, X, **{"radius": 0.1, **options})
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, hm.Error)


@pytest.mark.parametrize("rows, text", [
    (np.zeros(3), r"shape \(3,\); expected rows × features"), (np.array([["a", "b"]]), "expected numbers"),
    (np.array([[1.0, np.inf]]), "infinite"), (np.array([[1.0, np.nan]]), "takes no missing values"),
    ("nowhere.csv", "nowhere.csv"),
])
def test_wrong_rows(rows, text):
    with pytest.raises((hm.InputError, hm.UsageError), match=text):
        hm.gamma(bowl, rows, radius=0.1)


def test_no_rows():
    with pytest.raises(hm.UsageError, match="0 × 3"):
        hm.gamma(bowl, np.zeros((0, 3)), radius=0.1)


def test_the_same_text_as_the_program(harmonia, tmp_path):
    done = harmonia("gamma", "fn:f9", "uniform:3", "--radius", 0.1)
    with pytest.raises(hm.UsageError) as caught:
        hm.gamma("fn:f9", "uniform:3", radius=0.1)
    assert done.stderr.strip() == f"harmonia: {caught.value}"


def test_missing_values_are_not_moved():
    rows = X.copy()
    rows[0, 1] = np.nan
    result = hm.gamma(lambda x: np.nansum(x**2, axis=1), rows, radius=0.1, missing=True)
    assert result.moved[0] == 2 and result.moved[1] == 3
    assert result.summary.rows_partly_moved == 1


def test_schema_as_a_dictionary():
    schema = {"x0": {"immutable": True}, "x1": {"scale": 2.0, "bounds": [-100, None]}}
    result = hm.gamma(lambda x: x[:, 0] ** 2 + x[:, 1] ** 2, X, radius=0.1, ball="cross", schema=schema)
    np.testing.assert_allclose(result.gamma, 0.5 * 0.04, rtol=1e-9)
    with pytest.raises(hm.InputError, match="no feature"):
        hm.gamma(bowl, X, radius=0.1, schema={"nothing": {}})


def test_budget_and_outcomes():
    result = hm.gamma(bowl, X, radius=0.1, max_evaluations=100)
    assert result.summary.evaluations <= 100
    assert set(result.outcome) == {"exact", "budget"}
    assert np.isnan(result.gamma[result.outcome == "budget"]).all()


def test_warnings_are_warnings():
    rows = X * [1, 100, 1]
    with pytest.warns(hm.HarmoniaWarning, match="spreads") as caught:
        result = hm.gamma(bowl, rows, radius=0.1)
    assert caught[0].filename == __file__
    assert len(result.summary.warnings) == 1


def test_explain_and_all_outputs():
    result = hm.gamma(lambda x: 3 * x[:, 1] ** 2 + x[:, 0] ** 2, X, radius=0.1, ball="cross", explain=1)
    assert all(list(parts) == ["x1"] for parts in result.explain)
    assert list(result.summary.explain) == ["x1"]
    both = hm.gamma(lambda x: np.stack([bowl(x), 2 * bowl(x)], axis=1), X, radius=0.1, output="all")
    assert len(both) == 120 and list(both.column[:2]) == [0, 1]
    assert [round(c.mean, 9) for c in both.summary.columns] == [0.01, 0.02]


def test_progress_is_told():
    told = []

    def slow(x):
        time.sleep(0.03)
        return bowl(x)

    hm.gamma(slow, X, radius=0.1, batch=20, progress=lambda *now: told.append(now))
    assert told and all(rows == 60 for _, rows, _ in told)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)

    def stop(*_):
        raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        hm.gamma(slow, X, radius=0.1, batch=20, progress=stop)


def test_the_gil_is_free_outside_the_function():
    """While a native model is measured, another thread of Python runs."""
    counted, done = [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    hm.gamma("fn:f4?n=300", "uniform:3000", radius=0.1)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in counted if start < t < end]
    assert len(during) > 0.05 * (end - start) / 0.001, (len(during), end - start)


def test_several_threads_call_a_function_when_asked():
    seen = set()

    def function(x):
        seen.add(threading.get_ident())
        time.sleep(0.005)
        return bowl(x)

    result = hm.gamma(function, np.repeat(X, 4, axis=0), radius=0.1, threads=3, batch=60)
    assert len(seen) > 1
    np.testing.assert_allclose(result.gamma, 0.01, rtol=1e-9)
    for _ in range(20):  # every thread's points are its own, also where the function takes no time
        result = hm.gamma(bowl, np.repeat(X, 400, axis=0), radius=0.1, threads=4, batch=60)
        np.testing.assert_allclose(result.gamma, 0.01, rtol=1e-9)
    seen.clear()
    hm.gamma(function, X, radius=0.1, batch=60)
    assert seen == {threading.get_ident()}


def sines(x):
    """Every bit of every number matters."""
    return np.sin(x @ np.sin(np.arange(2, 2 + 2 * x.shape[1])).reshape(-1, 2))


MANY = np.random.default_rng(4).normal(size=(900, 5))


@pytest.mark.parametrize("options", [
    {}, {"scale": "std"}, {"dtype": np.float32}, {"ball": "random-pairs:9"}, {"output": "all", "sample": 3}, {"batch": 100},
    {"ball": "random-pairs:200", "precision": 0.3, "floor": 0.01},
], ids=str)
def test_batches_are_made_ready_during_calls(options):
    """The next batch is written while the function is called, unless one thread is asked for: the same bits."""
    sizes = {}

    def counting(threads):
        def function(x):
            sizes.setdefault(threads, []).append(len(x))
            before = x.copy()
            time.sleep(0.0005)
            assert np.array_equal(before, x), "a batch changed while the function had it"
            return sines(x)

        return function

    ahead, alone = (hm.gamma(counting(threads), MANY, 0.2, threads=threads, **options) for threads in (None, 1))
    assert len(sizes[None]) > 2 and sum(sizes[None]) == sum(sizes[1]) == ahead.summary.evaluations
    for field in ("gamma", "value", "low", "high", "points"):
        assert np.array_equal(getattr(ahead, field), getattr(alone, field), equal_nan=True), field
    assert ahead.summary.mean == alone.summary.mean


def test_batches_that_are_kept_while_others_are_made_ready():
    """Every one, more than are remembered."""
    kept = []

    def function(x):
        kept.append((x, x.copy()))
        return sines(x)

    result = hm.gamma(function, MANY, 0.2, batch=90)
    assert len(kept) > 100
    for batch, copy in kept:
        assert np.array_equal(batch, copy)
    assert np.array_equal(result.gamma, hm.gamma(sines, MANY, 0.2, threads=1).gamma)


@pytest.mark.parametrize("fault, error, text", [
    (lambda x: 1 / 0, ZeroDivisionError, "division by zero"),
    (lambda x: sines(x)[1:], hm.ModelError, r"returned an array of shape \(\d+, 2\) for \d+ rows; expected"),
    (lambda x: sines(x) * np.nan, hm.ModelError, "answered nan in output 0"),
    (lambda x: signal.raise_signal(signal.SIGINT) or sines(x), KeyboardInterrupt, ""),
], ids=["raises", "shape", "nan", "interrupt"])
def test_a_call_that_fails_while_the_next_batch_is_made_ready(fault, error, text):
    for bad in (2, 3, 8):
        calls = []

        def function(x):
            calls.append(len(x))
            return fault(x) if len(calls) == bad else sines(x)

        with pytest.raises(error, match=text):
            hm.gamma(function, MANY, 0.2, batch=200)
        assert len(calls) == bad


def test_rows_that_fail_during_a_call():
    rows = MANY.copy()
    rows[700, 3] = np.nan
    calls = []

    def function(x):
        calls.append(len(x))
        time.sleep(0.002)
        return sines(x)

    with pytest.raises(hm.InputError, match="row 700, column 3 is missing .*takes no missing values"):
        hm.gamma(function, rows, 0.2, batch=200)
    assert len(calls) > 10


INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import numpy as np, harmonia
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    {call}
    print("went through")
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start < 5)
"""


@pytest.mark.parametrize("call", [
    'harmonia.gamma("fn:f2?n=2000", "uniform:1000000", radius=0.1)',
    'harmonia.gamma("cmd:sleep 60", "uniform:10", radius=0.1)',
    'harmonia.gamma(lambda x: (x ** 2).sum(axis=1), np.zeros((100000, 200)), radius=0.1)',
    'harmonia.sweep("fn:f2?n=2000", "uniform:1000000", [0.1, 0.2])',
    'harmonia.stability("fn:half-space?n=2000", "uniform:1000000", "0.1..2x50")',
    'harmonia.persistence("fn:half-space?n=2000", "uniform:100000", sigma=(0.1, 10))',
])
def test_ctrl_c(call, package):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(call=call), package], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "interrupted True", done.stdout + done.stderr


def test_batches_are_large():
    sizes = []

    def function(x):
        sizes.append(len(x))
        return bowl(x)

    hm.gamma(function, np.zeros((5000, 3)), radius=0.1)
    assert sizes[0] == 1 and max(sizes) <= 4096 and np.mean(sizes[1:]) > 3000


def test_signal_handlers_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    hm.gamma("fn:f2", X, radius=0.1)
    assert signal.getsignal(signal.SIGINT) is before
