"""harmonia.boundary."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import harmonia as hm

A = np.zeros((3, 2))
B = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])


def sides(x):
    return np.stack([np.full(len(x), 0.25), x[:, 0] + x[:, 1]], axis=1)


def test_crossings_and_normals():
    result = hm.boundary(sides, A, B)
    np.testing.assert_allclose(result.t, [0.25, 0.125, np.nan], atol=1e-15)
    np.testing.assert_allclose(result.angle, [45, 90, np.nan], atol=1e-6)
    np.testing.assert_allclose(result.normals[:2], np.sqrt(0.5), atol=1e-6)
    np.testing.assert_allclose(result.points[0], [0.25, 0])
    assert list(result.outcome) == ["crossing", "crossing", "equal"] and list(result.method[:2]) == ["margin"] * 2
    assert (result.angle_low[:2] <= result.angle[:2]).all() and (result.angle[:2] <= result.angle_high[:2]).all()
    assert list(result.row) == list(result.a) == list(result.b) == [0, 1, 2] and len(result) == 3
    assert result.summary["pairs_by_crossings"] == [1, 2]
    assert "2 of 3 pairs cross a decision boundary" in repr(result)


def test_labels_dtypes_and_estimators():
    label = hm.boundary(lambda x: (x.sum(axis=1) > 0.25).astype(int), A, B)
    np.testing.assert_allclose(label.angle[:2], [45, 90], atol=1e-3)
    assert list(label.method[:2]) == ["label"] * 2

    def narrow(x):
        assert x.dtype == np.float32
        return sides(x)

    np.testing.assert_allclose(hm.boundary(narrow, A, B, dtype="float32").angle[:2], [45, 90], atol=1e-3)
    from sklearn.linear_model import LogisticRegression

    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))
    fitted = LogisticRegression().fit(X, X["a"] + 2 * X["b"] > 0)
    result = hm.boundary(fitted, X[:20], X[180:][["c", "a", "b"]])
    normal = fitted.coef_[0] / np.linalg.norm(fitted.coef_)
    crossed = np.isfinite(result.t)
    assert 5 <= crossed.sum() and (abs(result.normals[crossed] @ normal) > 1 - 1e-9).all()


def test_one_row_and_files(tmp_path):
    np.save(tmp_path / "b.npy", B)
    result = hm.boundary(sides, A[0], str(tmp_path / "b.npy"))
    np.testing.assert_allclose(result.t, [0.25, 0.125, np.nan], atol=1e-15)
    assert list(result.a) == [0, 0, 0]
    same = hm.boundary("fn:half-space?d=0.5", tmp_path / "b.npy", f"{tmp_path}/b.npy#2")
    assert list(same.outcome) == ["crossing", "crossing", "equal"]


def test_agrees_with_the_program(harmonia, tmp_path):
    X = np.random.default_rng(1).normal(size=(30, 4))
    np.save(tmp_path / "a.npy", X[:15])
    np.save(tmp_path / "b.npy", X[15:])
    arguments = ["--steps", "37", "--scale", "std", "--json", "out.json", "--normals", "n.npy"]
    done = harmonia("boundary", "fn:ball-class?r=1.5", "a.npy", "b.npy", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = hm.boundary("fn:ball-class?r=1.5", X[:15], X[15:], steps=37, scale="std")
    told = json.loads((tmp_path / "out.json").read_text())
    assert told["rows"] == json.loads(result.to_json())["rows"]
    np.testing.assert_array_equal(np.load(tmp_path / "n.npy"), result.normals)


def test_what_can_be_done_with_it(tmp_path):
    result = hm.boundary(sides, A, B)
    frame = result.to_frame()
    assert len(frame) == 3 and frame["angle"][0] == result.angle[0]
    assert result.plot().get_title().startswith("angle with the boundary: mean 67.5")
    assert "quarter circle" in result.to_html(tmp_path / "page.html")
    result.save(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["command_line"].startswith("harmonia.boundary(sides, ")
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.normals, result.normals)
    assert str(again) == str(result)


def test_options_and_errors():
    assert list(hm.boundary(sides, A, B, max_evaluations=110).outcome) == ["budget", "budget", "equal"]
    assert np.isnan(hm.boundary(sides, A, B, normal="none").angle).all()
    with pytest.raises(hm.InputError, match="has 3 rows and .* has 2; expected as many, or one row on one side"):
        hm.boundary(sides, A, B[:2])
    with pytest.raises(hm.InputError, match="columns"):
        hm.boundary(sides, A, np.zeros((3, 3)))
    with pytest.raises(hm.UsageError, match="normal 'slope'; expected auto, margin, label or none"):
        hm.boundary(sides, A, B, normal="slope")
    with pytest.raises(hm.UsageError, match="steps is 0"):
        hm.boundary(sides, A, B, steps=0)
    with pytest.raises(hm.ModelError, match="a single column must hold whole numbers"):
        hm.boundary(lambda x: x[:, 0] / 3, A, B)
    frame = pd.DataFrame({"x": [0.0], "kind": ["old"]})
    with pytest.raises(hm.UsageError, match="column 'kind' holds categories or texts"):
        hm.boundary(lambda x: x.iloc[:, 0] > 0, frame, frame, as_frame=True)
    with pytest.raises(ZeroDivisionError):
        hm.boundary(lambda x: x / 0 if len(x) > 3 and 1 // 0 else sides(x), A, B)
