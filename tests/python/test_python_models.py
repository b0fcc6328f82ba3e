"""Estimators, boosters and files as models."""

import json
import warnings

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

import harmonia as hm

WINE = load_wine(as_frame=True)
FRAME, Y = WINE.data[["alcohol", "flavanoids", "hue"]], WINE.target
ROWS = FRAME.to_numpy()
BINARY = (Y == 1).astype(int)


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def direct(function, rows, radius, gamma):
    """gamma again, by its definition: the ball is the cross."""
    steps = radius * np.concatenate([np.eye(rows.shape[1]), -np.eye(rows.shape[1])])
    for row, found in zip(rows, gamma):
        centre = function(row[None])[0]
        column = np.argmax(centre) if np.ndim(centre) else ...
        assert abs(function(row + steps).mean(axis=0)[column] - centre[column]) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("estimator, method", [
    (LogisticRegression(max_iter=5000), "predict_proba"),
    (make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=2000, random_state=0)), "predict_proba"),
    (GradientBoostingClassifier(n_estimators=10), "predict_proba"),
    (SVC(), "decision_function"),
    (LinearRegression(), "predict"),
])
def test_the_rule_for_estimators(estimator, method):
    estimator.fit(ROWS, Y)
    result = hm.gamma(estimator, ROWS[:20], 0.2, ball="cross")
    assert result.model == f"{type(estimator).__name__}.{method}"
    direct(lambda x: np.asarray(getattr(estimator, method)(x)), ROWS[:20], 0.2, result.gamma)


def test_margin_and_method():
    model = LogisticRegression(max_iter=5000).fit(ROWS, Y)
    assert hm.gamma(model, ROWS, 0.2, margin=True).summary.mean < 1e-12
    assert hm.gamma(model, ROWS, 0.2, method="decision_function").model == "LogisticRegression.decision_function"
    assert hm.gamma(model, ROWS, 0.2, method="predict", output="label").decided_class.dtype == np.int64
    with pytest.raises(hm.ModelError, match="LinearRegression has no method decision_function"):
        hm.gamma(LinearRegression().fit(ROWS, Y), ROWS, 0.2, margin=True)


def test_binary_classifiers_keep_two_columns():
    model = LogisticRegression(max_iter=5000).fit(ROWS, BINARY)
    result = hm.gamma(model, ROWS, 0.2)
    assert result.to_dict()["model"]["outputs"] == 2
    assert np.array_equal(result.decided_class, model.predict(ROWS))
    single = hm.gamma(LinearSVC(random_state=0).fit(ROWS, BINARY), ROWS, 0.2)
    assert single.to_dict()["model"]["outputs"] == 1


def test_labels_that_are_texts():
    names = np.array(["red", "green", "blue"])[Y]
    svm = SVC().fit(ROWS, names)
    result = hm.gamma(svm, ROWS, 0.2, method="predict", output="label")
    assert [result.classes[k] for k in result.decided_class] == list(svm.predict(ROWS))
    proba = hm.gamma(LogisticRegression(max_iter=5000).fit(ROWS, names), ROWS, 0.2)
    assert proba.classes == ["blue", "green", "red"]


def test_frames_go_to_what_was_fitted_on_frames():
    model = LogisticRegression(max_iter=5000).fit(FRAME, Y)
    named = hm.gamma(model, FRAME, 0.2)
    assert np.array_equal(named.gamma, hm.gamma(model, FRAME[["hue", "alcohol", "flavanoids"]], 0.2).gamma)
    assert np.array_equal(named.gamma, hm.gamma(model, ROWS, 0.2).gamma)
    assert named.feature_names == ["alcohol", "flavanoids", "hue"]
    with pytest.raises(hm.InputError, match="the data's columns are alcohol, hue; the model was fitted with"):
        hm.gamma(model, FRAME[["alcohol", "hue"]], 0.2)
    plain = LogisticRegression(max_iter=5000).fit(ROWS, Y)
    assert np.array_equal(hm.gamma(plain, FRAME, 0.2).gamma, named.gamma)


def test_functions_that_want_frames():
    result = hm.gamma(lambda frame: frame["hue"] ** 2 + frame.alcohol, FRAME, 0.1, ball="cross", as_frame=True)
    np.testing.assert_allclose(result.gamma, 0.01 / 3, rtol=1e-6)
    assert list(result.to_frame().index) == list(FRAME.index)


def test_columns_that_are_no_numbers_are_carried_and_never_moved():
    frame = FRAME.assign(colour=np.array(["red", "white"])[(Y > 0).astype(int)], grade=pd.Categorical(Y), who=range(len(Y)))
    model = make_pipeline(
        ColumnTransformer([("texts", OneHotEncoder(), ["colour", "grade"])], remainder="passthrough"),
        LogisticRegression(max_iter=20000),
    ).fit(frame.drop(columns="who"), BINARY)
    result = hm.gamma(model, frame, 0.2, id="who")
    assert (result.moved == 3).all() and result.id[:2] == ["0", "1"]
    assert result.to_dict()["options"]["schema"]["colour"]["fixed"] is True
    with pytest.raises(hm.InputError, match="column 'colour' holds no numbers"):
        hm.gamma(LogisticRegression(max_iter=5000).fit(ROWS, Y), frame.drop(columns="who"), 0.2)


def test_columns_of_frames_and_arrays():
    chosen = hm.gamma(lambda x: x[:, 0], FRAME, 0.1, columns=["hue"])
    assert chosen.feature_names == ["hue"] and np.array_equal(chosen.value, FRAME["hue"])
    dropped = hm.gamma(lambda x: x[:, 0], ROWS, 0.1, drop=["b"], feature_names=["a", "b", "c"])
    assert dropped.feature_names == ["a", "c"]
    with pytest.raises(hm.InputError, match="no column 'taste'"):
        hm.gamma(lambda x: x[:, 0], FRAME, 0.1, columns=["taste"])


def test_missing_values_where_the_estimator_takes_them():
    rows = ROWS.copy()
    rows[0, 0] = np.nan
    model = HistGradientBoostingRegressor(max_iter=20).fit(rows, Y)
    assert hm.gamma(model, rows, 0.2).moved[0] == 2
    with pytest.raises(hm.InputError, match="takes no missing values"):
        hm.gamma(LinearRegression().fit(ROWS, Y), rows, 0.2)


XGB = {"n_estimators": 30, "max_depth": 3, "n_jobs": 1}
LGB = {"n_estimators": 30, "num_leaves": 8, "verbose": -1, "n_jobs": 1, "min_child_samples": 5}


def same(native, called, kind):
    assert native.to_dict()["model"]["kind"] == kind
    assert called.to_dict()["model"]["kind"] == "python"
    assert native.to_dict()["model"]["outputs"] == called.to_dict()["model"]["outputs"]
    np.testing.assert_allclose(native.value, called.value, rtol=1e-6, atol=2e-6)
    assert np.mean(np.abs(native.gamma - called.gamma) < 1e-5) > 0.97


@pytest.mark.parametrize("target", ["binary", "several", "number"])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosters_are_read_and_not_called(library, target, monkeypatch):
    kind = {
        ("xgboost", False): xgboost.XGBClassifier, ("xgboost", True): xgboost.XGBRegressor,
        ("lightgbm", False): lightgbm.LGBMClassifier, ("lightgbm", True): lightgbm.LGBMRegressor,
    }[library, target == "number"]
    model = kind(**(XGB if library == "xgboost" else LGB))
    model.fit(ROWS, {"binary": BINARY, "several": Y, "number": ROWS[:, 0] * ROWS[:, 1]}[target])
    method = "predict" if target == "number" else "predict_proba"
    # XGBoost rounds its inputs to float32, so a function of it is asked in float32 too.
    dtype = np.float32 if library == "xgboost" else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        called = hm.gamma(model, ROWS, 0.1, method=method, dtype=dtype, as_frame=False)
    booster = model.get_booster() if library == "xgboost" else model.booster_
    for name in ("predict", "inplace_predict"):
        monkeypatch.setattr(type(booster), name, lambda *_, **__: pytest.fail("called"), raising=False)
    native = hm.gamma(model, ROWS, 0.1)
    same(native, called, library)
    alone = hm.gamma(booster, ROWS, 0.1)
    assert alone.to_dict()["model"]["outputs"] == {"binary": 1, "several": 3, "number": 1}[target]
    np.testing.assert_allclose(alone.gamma, native.gamma, atol=1e-6)


def test_boosters_name_their_classes():
    names = np.array(["red", "green", "blue"])[Y]
    trees = lightgbm.LGBMClassifier(**LGB).fit(FRAME, names)
    result = hm.gamma(trees, FRAME, 0.1)
    assert result.to_dict()["model"]["kind"] == "lightgbm" and result.classes == ["blue", "green", "red"]
    assert [result.classes[k] for k in result.decided_class] == list(trees.predict(FRAME))
    assert hm.gamma(xgboost.XGBClassifier(**XGB).fit(ROWS, Y), ROWS, 0.1).classes == ["0", "1", "2"]
    assert hm.gamma(xgboost.XGBRegressor(**XGB).fit(ROWS, Y), ROWS, 0.1).classes == []


def test_early_stopping_is_respected():
    half = np.arange(len(Y)) % 2 == 0
    x = xgboost.XGBClassifier(n_estimators=300, early_stopping_rounds=3, n_jobs=1, learning_rate=1.0)
    x.fit(ROWS[half], BINARY[half], eval_set=[(ROWS[~half], BINARY[~half])], verbose=False)
    assert x.best_iteration < x.get_booster().num_boosted_rounds() - 1
    np.testing.assert_allclose(hm.gamma(x, ROWS, 0.1, output="column:1").value, x.predict_proba(ROWS)[:, 1], atol=2e-6)
    g = lightgbm.LGBMClassifier(**{**LGB, "n_estimators": 300, "learning_rate": 0.9})
    g.fit(ROWS[half], BINARY[half], eval_set=[(ROWS[~half], BINARY[~half])],
          callbacks=[lightgbm.early_stopping(3, verbose=False)])
    assert 0 < g.best_iteration_ < 300
    np.testing.assert_allclose(hm.gamma(g, ROWS, 0.1, output="column:1").value, g.booster_.predict(ROWS), atol=2e-6)


def test_margins_of_boosters():
    model = xgboost.XGBClassifier(**XGB).fit(ROWS, BINARY)
    assert hm.gamma(model, ROWS, 0.1, margin=True).to_dict()["options"]["margin"] is True
    np.testing.assert_allclose(hm.gamma(model, ROWS, 0.1, margin=True).value, model.predict(ROWS, output_margin=True), atol=1e-4)


def test_boosters_know_their_columns():
    model = xgboost.XGBClassifier(**XGB).fit(FRAME, BINARY)
    hm.gamma(model, FRAME, 0.1)
    with pytest.raises(hm.InputError, match="the data's columns are a, b, c; the model was trained with alcohol"):
        hm.gamma(model.get_booster(), FRAME.set_axis(["a", "b", "c"], axis=1), 0.1)


def test_categories_of_boosters():
    colours = np.array(["red", "white", "rose"])[Y]
    frame = FRAME.assign(colour=pd.Categorical(colours, categories=["white", "rose", "red"]))
    x = xgboost.XGBRegressor(**XGB, enable_categorical=True, max_cat_to_onehot=1).fit(frame, ROWS[:, 0])
    g = lightgbm.LGBMRegressor(**LGB).fit(frame, ROWS[:, 0])
    for model in (x, g):
        result = hm.gamma(model, frame, 0.1)
        assert (result.moved == 3).all()
        np.testing.assert_allclose(result.value, model.predict(frame), atol=1e-5)
    # Both know the categories of their training by value, in whatever order they come.
    other = frame.assign(colour=frame.colour.cat.set_categories(["red", "white", "rose"]))
    for model in (x, g):
        np.testing.assert_allclose(hm.gamma(model, other, 0.1).value, model.predict(frame), atol=1e-5)
    with pytest.raises(hm.InputError, match="category 'green', which the model was not trained with"):
        hm.gamma(x, frame.assign(colour=frame.colour.cat.rename_categories({"red": "green"})), 0.1)


def test_linear_boosters_and_other_missing_values_are_called():
    linear = xgboost.XGBRegressor(booster="gblinear", n_estimators=5).fit(ROWS, Y)
    result = hm.gamma(linear, ROWS, 0.1)
    assert result.model == "XGBRegressor.predict" and result.summary.mean < 1e-6
    odd = xgboost.XGBRegressor(**XGB, missing=-1.0).fit(ROWS, Y)
    assert hm.gamma(odd, ROWS, 0.1).model == "XGBRegressor.predict"


def test_files_of_boosters(tmp_path):
    x = xgboost.XGBRegressor(**XGB).fit(ROWS, Y)
    g = lightgbm.LGBMRegressor(**LGB).fit(ROWS, Y)
    x.save_model(tmp_path / "booster.json")
    g.booster_.save_model(tmp_path / "booster.txt")
    for model, path in ((x, tmp_path / "booster.json"), (g, tmp_path / "booster.txt")):
        file = hm.gamma(path, ROWS, 0.1)
        assert np.array_equal(file.gamma, hm.gamma(model, ROWS, 0.1).gamma)
        assert file.to_dict()["model"]["sha256"]


def test_onnx_files(tmp_path):
    from skl2onnx import to_onnx

    model = make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=2000, random_state=0)).fit(ROWS, Y)
    path = tmp_path / "net.onnx"
    path.write_bytes(to_onnx(model, ROWS[:1].astype(np.float32), options={"zipmap": False}).SerializeToString())
    result = hm.gamma(hm.ModelAddress(path, output_name="probabilities"), ROWS, 0.2)
    np.testing.assert_allclose(result.gamma, hm.gamma(model, ROWS, 0.2).gamma, atol=1e-5)
    assert json.loads(result.to_json())["model"]["kind"] == "onnx"


def test_what_is_no_model():
    with pytest.raises(hm.UsageError, match="the model is int; expected a function"):
        hm.gamma(5, ROWS, 0.1)
    with pytest.raises(hm.UsageError, match="nowhere.onnx"):
        hm.gamma("nowhere.onnx", ROWS, 0.1)
