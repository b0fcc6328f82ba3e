"""harmonia.stability: arrays, frames, pages, agreement with the program, mistakes."""

import copy
import json
import pickle
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import harmonia as hm

X = np.array([[0.0, 0.0], [0.5, 3.0], [2.0, 0.0]])


def inside(x):
    """Labels alone: 1 where x0 < 1."""
    return (x[:, 0] < 1).astype(int)


def test_curve_of_a_function_that_returns_labels():
    result = hm.stability(inside, X, sigma=[0.5, 1, 2], samples=20000)
    assert result.probability.shape == result.low.shape == result.samples.shape == (3, 3)
    truth = [[NormalDist().cdf(d / s) for s in (0.5, 1, 2)] for d in (1, 0.5, 1)]
    np.testing.assert_allclose(result.probability, truth, atol=0.015)  # over 4 standard errors
    assert result.decided_class.tolist() == [1, 1, 0]
    assert result.classes == [0, 1]
    np.testing.assert_array_equal(result.frequencies.sum(axis=2), result.samples)
    np.testing.assert_allclose(result.frequencies[0, :, 1] / 20000, result.probability[0])
    assert (result.low <= result.probability).all() and (result.probability <= result.high).all()
    assert np.isnan(result.takeover).all() and set(result.outcome.ravel()) == {"sampled"}
    assert result.certified_radius[0, 1] == pytest.approx(1, abs=0.05)
    assert "stays the most frequent" in repr(result) and "rows holding" in str(result)


def test_agrees_with_the_program(harmonia, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "along.npy", np.array([[1.0, 1.0]]))
    harmonia("stability", "fn:ball-class", "rows.npy", "--sigma", "0.1..1x4", "--samples", 300, "--directions", "along.npy",
             "--scale", "std", "--json", "out.json", cwd=tmp_path)
    theirs = json.loads((tmp_path / "out.json").read_text())
    for sigma in ("0.1..1x4", theirs["options"]["sigmas"]):
        ours = hm.stability("fn:ball-class", X, sigma, samples=300, directions=[[1.0, 1.0]], scale="std")
        told = json.loads(ours.to_json())
        for part in ("rows", "options", "evaluations"):
            assert told[part] == theirs[part]
        assert told["summary"]["curve"] == theirs["summary"]["curve"]


def test_question():
    result = hm.stability(inside, X, 1.0, gamma=0.7)
    assert result.outcome.ravel().tolist() == ["stable", "borderline" if result.outcome[1, 0] == "borderline" else "unstable", "stable"]
    assert result.summary["looks"]["most"] >= result.samples.max()
    assert result.exact_low[0, 0] > 0.7


def test_estimators_and_frames():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"], index=[f"r{i}" for i in range(60)])
    model = LogisticRegression().fit(frame, frame["a"] + frame["b"] > 0)
    result = hm.stability(model, frame, sigma="0.2,2", samples=200)
    assert result.decided_class.tolist() == model.predict(frame).astype(int).tolist()
    table = result.to_frame()
    assert len(table) == 120 and table.index[1] == "r0" and {"probability", "class 0", "class 1"} <= set(table.columns)
    assert len(result) == 60


def test_results_are_copied_pickled_and_written(tmp_path):
    result = hm.stability("fn:ball-class", [[0.0, 0.0]], "0.1..2x5", samples=100, image=(1, 2))
    for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert (again.to_json(), str(again), repr(again)) == (result.to_json(), str(result), repr(result))
        pd.testing.assert_frame_equal(again.to_frame(), result.to_frame())
    assert "class 0 takes over" in repr(result) and result.background[0] == 0
    result.to_html(tmp_path / "page.html")
    assert "pictures" in (tmp_path / "page.html").read_text()
    axis = result.plot()
    assert [line.get_color() for line in axis.lines][1] == "black" and axis.get_ylim()[1] > 1
    with pytest.raises(hm.UsageError, match="expected one of 1"):
        result.plot(1)


def test_budget_and_warnings():
    result = hm.stability("fn:half-space", X, 1.0, samples=100, max_evaluations=250)
    assert result.outcome.ravel().tolist() == ["sampled", "sampled", "budget"]
    assert np.isnan(result.probability[2, 0]) and np.isnan(result.decided_class[2]) and result.samples[2, 0] == 0
    random = np.random.default_rng(0)
    with pytest.warns(hm.HarmoniaWarning, match="of 12 points asked twice with another class"):
        hm.stability(lambda x: random.integers(0, 3, len(x)), X, 1.0, samples=10)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"sigma": 0}, "0 is no sigma"),
        ({"sigma": []}, "is not a number"),
        ({"sigma": 1, "gamma": 1.0}, "gamma is 1; expected between 0 and 1"),
        ({"sigma": [1, 2], "gamma": 0.7}, "gamma asks about one sigma; 2 were given"),
        ({"sigma": 1, "gamma": 0.7, "samples": 10}, "as many samples as it needs"),
        ({"sigma": 1, "samples": 0}, "samples is 0"),
        ({"sigma": 1, "half_width": -1}, "half_width is -1"),
        ({"sigma": 1, "noise": "red"}, "noise 'red' is not known"),
        ({"sigma": 1, "directions": [[1, 2, 3]]}, "directions have 3 columns"),
        ({"sigma": 1, "image": (2, 2)}, "image is 2 × 2; rows have 2 features"),
        ({"sigma": 1, "image": (0, 2)}, "expected height and width"),
        ({"sigma": 1, "confidence": 1.0}, "confidence is 1"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(hm.UsageError, match=message):
        hm.stability("fn:half-space", X, **options)


def test_what_a_function_raises_is_raised():
    def broken(x):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        hm.stability(broken, X, 1.0)
