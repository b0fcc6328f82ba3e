"""harmonia.persistence: arrays, paths, detectors, frames, pages, agreement with the program, mistakes."""

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
AWAY = 1 / NormalDist().inv_cdf(0.7)


def inside(x):
    """Labels alone: 1 where x0 < 1."""
    return (x[:, 0] < 1).astype(int)


def test_function_that_returns_labels():
    result = hm.persistence(inside, X, precision=0.02, samples=100000)
    np.testing.assert_allclose(result.sigma, [AWAY, 0.5 * AWAY, AWAY], rtol=0.05)  # over 4 standard errors
    assert result.decided_class.tolist() == [1, 1, 0] and result.t is None and set(result.group) == {"natural"}
    assert (result.low < result.sigma).all() and (result.sigma < result.high).all()
    assert (result.ranked == result.sigma).all() and "the median sigma* for gamma 0.7" in repr(result)


def test_agrees_with_the_program(harmonia, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    np.save(tmp_path / "near.npy", X / 10)
    asked = ["--gamma", "0.6,0.7", "--against", "near.npy", "--radius", "0.1", "--scale", "std", "--json", "out.json"]
    harmonia("persistence", "fn:ball-class", "rows.npy", *asked, cwd=tmp_path)
    theirs = json.loads((tmp_path / "out.json").read_text())
    told = json.loads(hm.persistence("fn:ball-class", X, [0.7, 0.6], against=X / 10, radius=0.1, scale="std").to_json())
    theirs["options"]["against"] = told["options"]["against"]
    for part in ("rows", "options", "evaluations"):
        assert told[part] == theirs[part]
    assert told["summary"]["medians"] == theirs["summary"]["medians"]
    assert told["summary"]["detector"]["persistence"] == theirs["summary"]["detector"]["persistence"]


def test_between():
    result = hm.persistence(inside, between=([0.0, 0.0], [2.5, 0.0]), steps=5)
    np.testing.assert_allclose(result.t, np.linspace(0, 1, 6))
    np.testing.assert_allclose(result.ranked, abs(1 - 2.5 * result.t) * AWAY, rtol=0.12, atol=1e-4)
    assert result.summary["path"]["changes"] == [{"after": 0.2, "before": 0.4, "from": 1, "to": 0}]
    assert "between=" in json.loads(result.to_json())["command_line"]
    assert result.plot().get_xlabel() == "t"
    frame = pd.DataFrame({"a": [0.0, 2.5], "b": [0.0, 0.0]})
    again = hm.persistence(inside, between=(frame.iloc[0], frame.iloc[[1]]), steps=5)
    np.testing.assert_array_equal(again.sigma, result.sigma)


def test_against_and_estimators():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"], index=[f"r{i}" for i in range(40)])
    model = LogisticRegression(C=1e3).fit(frame, frame["a"] > 0)
    near = frame.assign(a=frame["a"] * 0.05)
    result = hm.persistence(model, frame, against=near, progress=False)
    detector = result.summary["detector"]
    assert detector["confidence_form"] == "probabilities" and detector["persistence"][0]["auroc"] > 0.8
    assert abs(detector["confidence"]["auroc"] - detector["persistence"][0]["auroc"]) < 0.1
    table = result.to_frame()
    assert len(table) == len(result) == 80 and (table["group"] == result.group).all()
    assert len(hm.persistence(model, frame.head(3), [0.6, 0.7]).to_frame().loc["r1"]) == 2
    assert result.plot().get_xscale() == "log"


def test_results_are_copied_pickled_and_written(tmp_path):
    result = hm.persistence("fn:ball-class", [[0.0, 0.0], [5.0, 0.0]], 0.7)
    for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert (again.to_json(), str(again), repr(again)) == (result.to_json(), str(result), repr(result))
        pd.testing.assert_frame_equal(again.to_frame(), result.to_frame())
    assert result.outcome.tolist() == ["crossing", "censored_high"] and np.isinf(result.ranked[1]) and np.isnan(result.sigma[1])
    result.to_html(tmp_path / "page.html")
    assert "distributions" in (tmp_path / "page.html").read_text()


def test_budget_and_warnings():
    result = hm.persistence("fn:half-space", X, max_evaluations=100)
    assert result.outcome.tolist() == ["budget"] * 3 and np.isnan(result.sigma).all()
    random = np.random.default_rng(0)
    with pytest.warns(hm.HarmoniaWarning, match="of 12 points asked twice with another class"):
        hm.persistence(lambda x: random.integers(0, 3, len(x)), X, sigma=(0.1, 10))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"gamma": 1.0}, "gamma is 1; expected between 0 and 1"),
        ({"sigma": (0, 1)}, "expected a range above 0"),
        ({"precision": 0}, "precision is 0"),
        ({"samples": 3}, "cannot decide"),
        ({"noise": "red"}, "noise 'red' is not known"),
        ({"between": ([0.0, 0.0], [1.0, 0.0])}, "and not both"),
        ({"radius": 0.1}, "other rows in against"),
        ({"paper": True, "sigma": (1, 2)}, "of the scan"),
        ({"confidence": 1.0}, "confidence is 1"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(hm.UsageError, match=message):
        hm.persistence("fn:half-space", X, **options)


def test_other_rows_of_another_kind():
    with pytest.raises(hm.InputError, match="3 columns"):
        hm.persistence("fn:half-space?n=2", X, against=np.zeros((2, 3)))
    with pytest.raises(hm.UsageError, match="between is two single rows"):
        hm.persistence("fn:half-space", between=([0.0, 0.0],))
    with pytest.raises(hm.InputError, match="more rows than one"):
        hm.persistence("fn:half-space", between=(X, [0.0, 0.0]))
