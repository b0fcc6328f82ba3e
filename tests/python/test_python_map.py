"""harmonia.map and harmonia.GammaMap: arrays, frames, agreement with the program, mistakes."""

import json
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import harmonia as hm

X = np.random.default_rng(4).normal(scale=1.5, size=(240, 4))


def logits(x):
    return np.stack([x[:, 0] ** 2 + x[:, 1], 2 * x[:, 2] - 0.5 * x[:, 0], 0.3 * x[:, 3]], axis=1)


@pytest.fixture(scope="module")
def made():
    return hm.map(logits, X, radius=0.4, ball="cross", steps=3)


def test_arrays(made):
    y = logits(X)
    np.testing.assert_array_equal(made.decided_class, y.argmax(axis=1))
    np.testing.assert_allclose(made.logit, y.max(axis=1))
    np.testing.assert_allclose(made.mean_logit, y.mean(axis=1))
    e = np.exp(y - y.max(axis=1, keepdims=True))
    np.testing.assert_allclose(made.p, e.max(axis=1) / e.sum(axis=1))
    np.testing.assert_allclose(made.score, made.p * np.exp(-3 * made.gamma))
    assert set(made.stable) == {0.0, 1.0} and len(made) == 240
    assert list(made.classes["class"]) == ["0", "1", "2", "all"] and "probability_low" in made.classes
    assert made.to_frame().shape[0] == 240 and "keep their class" in repr(made)


def test_the_map_answers_new_rows(made, tmp_path):
    made.save(tmp_path / "map.json")
    map = hm.GammaMap.load(tmp_path / "map.json")
    assert (map.steps, map.radius, map.ball, map.inputs) == (3, 0.4, "cross", ["logit_p", "log_gamma"])
    answer = map.predict(logits, X[:10])
    np.testing.assert_allclose(answer.gamma, made.gamma[:10])
    same = map.predict_from(made.p[:10], made.gamma[:10], low=made.low[:10], high=made.high[:10])
    np.testing.assert_allclose(answer.probability, same.probability, rtol=1e-6)
    assert (same.low <= same.probability).all() and (same.probability <= same.high).all() and not same.outside.any()
    again = pickle.loads(pickle.dumps(map))
    np.testing.assert_array_equal(again.predict_from(0.9, 0.1).probability, map.predict_from(0.9, 0.1).probability)
    odds = map.predict_from(None, 0.1, logit_p=800.0)
    assert np.isfinite(odds.probability).all() and odds.outside.all()


def test_agrees_with_the_program(harmonia, tmp_path, made):
    np.save(tmp_path / "rows.npy", X)
    (tmp_path / "logits.py").write_text(
        "import sys\nfor l in sys.stdin:\n    a, b, c, d = (float(v) for v in l.split(','))\n"
        "    print(f'{a * a + b},{2 * c - 0.5 * a},{0.3 * d}', flush=True)\n"
    )
    done = harmonia("map", "cmd:python3 logits.py", "rows.npy", "--radius", "0.4", "--ball", "cross", "--steps", "3", "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "out.json").read_text())
    ours = json.loads(made.to_json())
    assert [r["stable"] for r in ours["rows"]] == [r["stable"] for r in theirs["rows"]]
    np.testing.assert_allclose(ours["summary"]["map"]["coefficients"], theirs["summary"]["map"]["coefficients"], rtol=1e-6)
    with pytest.warns(hm.HarmoniaWarning, match="the map was fitted on cmd:python3 logits.py"):
        hm.GammaMap.load(tmp_path / "out.json").predict(logits, X[:3])


def test_estimator_gives_probabilities_and_classes():
    data = load_iris()
    names = np.array(["setosa", "versicolor", "virginica"])[data.target]
    estimator = LogisticRegression(max_iter=1000).fit(data.data, names)
    import pandas as pd

    frame = pd.DataFrame(data.data, columns=list("abcd")).assign(kind=names)
    estimator = LogisticRegression(max_iter=1000).fit(frame[list("abcd")], names)
    result = hm.map(estimator, frame, radius=0.3, steps=4, label="kind")
    told = json.loads(result.to_json())
    assert told["options"]["outputs"] == "probabilities"
    np.testing.assert_allclose(result.p, estimator.predict_proba(frame[list("abcd")]).max(axis=1), rtol=1e-9)
    assert np.mean(result.correct) == pytest.approx(estimator.score(frame[list("abcd")], names))
    assert list(result.classes["class"])[:3] == ["setosa", "versicolor", "virginica"]


def test_further_variables(made):
    age = np.random.default_rng(0).normal(size=240) + 3 * made.stable
    result = hm.map(logits, X, radius=0.4, ball="cross", steps=3, extra={"age": age})
    assert result.map.inputs == ["logit_p", "log_gamma", "age"]
    assert result.map.coefficients[3] > 1
    assert result.map.predict(logits, X[:5], extra={"age": age[:5]}).probability.shape == (5,)
    assert result.map.predict_from([0.9, 0.9], [0.1, 0.1], extra={"age": [0, 5]}).probability[1] > 0.5
    with pytest.raises(hm.UsageError, match="extra has nothing; the map has age"):
        result.map.predict_from(0.9, 0.1)


def test_variables_that_are_too_few_are_refused_before_the_rows_are_measured(made):
    asked = []

    def counted(x):
        asked.append(len(x))
        return logits(x)

    few = {"age": np.zeros(239)}
    with pytest.raises(hm.InputError, match="the further variables have 239 rows; the data has row 239"):
        hm.map(counted, X, radius=0.4, steps=3, extra=few)
    aged = hm.map(logits, X, radius=0.4, ball="cross", steps=3, extra={"age": X[:, 0]})
    with pytest.raises(hm.InputError, match="the further variables have 239 rows; the data has row 239"):
        aged.map.predict(counted, X, extra=few)
    assert sum(asked) <= 2  # the example that shows how many outputs there are


def test_rows_are_kept_where_no_map_can_be_fitted():
    with pytest.warns(hm.HarmoniaWarning, match="a ridge of 1e-300 is too small for a map of these rows"):
        result = hm.map(lambda x: np.stack([50 * x[:, 0], 0 * x[:, 0]], axis=1), X, radius=0.4, ball="cross", steps=3, ridge=1e-300)
    assert result.map is None and set(result.stable) == {0.0, 1.0} and np.isfinite(result.gamma).all()
    assert "a larger one" in result.summary["fit"]["reason"]


def test_mistakes(made, tmp_path):
    with pytest.raises(hm.UsageError, match="P is 1; expected between 0 and 1"):
        made.map.predict_from(1.0, 0.1)
    with pytest.raises(hm.UsageError, match="expected P or logit_p, and not both"):
        made.map.predict_from(None, 0.1)
    with pytest.raises(hm.UsageError, match="P has 2 values; gamma has 1"):
        made.map.predict_from([0.5, 0.6], 0.1)
    with pytest.raises(hm.UsageError, match="ball is the map's own"):
        made.map.predict(logits, X, ball="cross")
    with pytest.raises(hm.UsageError, match="outputs is 'odds'"):
        hm.map(logits, X, 0.1, outputs="odds")
    with pytest.raises(hm.UsageError, match="has one output"):
        hm.map(lambda x: x[:, 0], X, 0.1)
    with pytest.raises(hm.UsageError, match="leave output out"):
        hm.map(logits, X, 0.1, output="norm")
    (tmp_path / "bad.json").write_text('{"schema": "harmonia/1"')
    with pytest.raises(hm.InputError, match="breaks off"):
        hm.GammaMap.load(tmp_path / "bad.json")
    one = hm.map(logits, X[:20], 1e-7, steps=1)
    assert one.map is None and "all 20 rows are stable" in one.summary["fit"]["reason"]
