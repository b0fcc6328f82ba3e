"""ONNX models: the program's answers are those of Python's onnxruntime, for every batch size and number of threads."""

import hashlib
import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from support.onnx_answers import answers, run_onnx
from support.onnx_models import save_control_flow, save_conv, save_mlp, save_sklearn

TOLERANCE = 1e-5  # of answers in float32
ORT = ("--model-kind", "onnx")  # ONNX Runtime, even for trees that are read natively


def estimators():
    wine = load_wine(return_X_y=True)
    cancer = load_breast_cancer(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])
    yield "logistic", make_pipeline(StandardScaler(), LogisticRegression()), *wine
    yield "logistic_names", make_pipeline(StandardScaler(), LogisticRegression()), wine[0], names[wine[1]]
    yield "gbdt", GradientBoostingClassifier(n_estimators=20, random_state=1), *wine
    yield "gbdt_two", GradientBoostingClassifier(n_estimators=30, random_state=1), *cancer
    yield "forest", RandomForestClassifier(n_estimators=25, random_state=1), *wine
    yield "mlp", make_pipeline(StandardScaler(), MLPClassifier((16, 8), max_iter=200, random_state=1)), *wine
    yield "mlp_two", make_pipeline(StandardScaler(), MLPClassifier((12,), max_iter=200, random_state=1)), *cancer


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("zipmap", [True, False], ids=["zipmap", "table"])
@pytest.mark.parametrize("name", [e[0] for e in estimators()])
def test_classifiers_of_scikit_learn(harmonia, tmp_path, name, zipmap):
    _, estimator, x, y = next(e for e in estimators() if e[0] == name)
    estimator.fit(x, y)
    model = save_sklearn(tmp_path / f"{name}.onnx", estimator, x.shape[1], options={"zipmap": zipmap})
    got, result = answers(harmonia, tmp_path, model, x, *ORT)
    expected = run_onnx(model, x)[1]
    if zipmap:
        assert isinstance(expected[0], dict)
        expected = np.array([[row[c] for c in estimator.classes_] for row in expected])
    np.testing.assert_allclose(got, expected, atol=TOLERANCE)
    np.testing.assert_allclose(got, estimator.predict_proba(x.astype(np.float32)), atol=2e-4)
    assert result["model"]["kind"] == "onnx"
    assert result["model"]["sha256"] == hashlib.sha256(model.read_bytes()).hexdigest()


def test_a_regression_in_double(harmonia, tmp_path):
    x, y = load_diabetes(return_X_y=True)
    estimator = LinearRegression().fit(x, y)
    model = save_sklearn(tmp_path / "linear.onnx", estimator, 10, double=True)
    got, _ = answers(harmonia, tmp_path, model, x)
    np.testing.assert_allclose(got[:, 0], estimator.predict(x), rtol=1e-13)


@pytest.mark.parametrize("double", [False, True], ids=["float", "double"])
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("batch", [1, 7, 64, 4096])
def test_batches_and_threads(harmonia, tmp_path, batch, threads, double):
    model = save_mlp(tmp_path / "net.onnx", [5, 32, 32, 4], double=double)
    x = np.random.default_rng(3).standard_normal((101, 5))
    got, _ = answers(harmonia, tmp_path, model, x, "--batch", batch, "--threads", threads)
    np.testing.assert_allclose(got, run_onnx(model, x)[0], atol=1e-14 if double else 1e-6)


@pytest.mark.parametrize("fixed", [1, 8, 300])
def test_a_fixed_batch_is_filled_up(harmonia, tmp_path, fixed):
    free, model = tmp_path / "free.onnx", tmp_path / "fixed.onnx"
    save_mlp(free, [5, 16, 3])
    save_mlp(model, [5, 16, 3], batch=fixed)
    x = np.random.default_rng(3).standard_normal((29, 5))
    for batch in (1, 3, 8, 50, 1000):
        got, _ = answers(harmonia, tmp_path, model, x, "--batch", batch, "--threads", 2)
        np.testing.assert_allclose(got, run_onnx(free, x)[0], atol=1e-6)


def test_images_are_flattened_rows(harmonia, tmp_path):
    model = save_conv(tmp_path / "conv.onnx")
    x = np.random.default_rng(3).standard_normal((13, 3 * 8 * 8))
    got, result = answers(harmonia, tmp_path, model, x)
    np.testing.assert_allclose(got, run_onnx(model, x, shape=(3, 8, 8))[0], atol=1e-6)
    assert result["model"]["inputs"] == 192


def test_gamma_is_that_of_the_model(harmonia, tmp_path):
    model = save_mlp(tmp_path / "net.onnx", [4, 16, 3])
    x = np.random.default_rng(3).standard_normal((20, 4)).astype(np.float32)
    np.save(tmp_path / "rows.npy", x)
    done = harmonia("gamma", model, tmp_path / "rows.npy", "--radius", 0.5, "--ball", "cross", "--output", "column:1",
                    "--json", tmp_path / "out.json", "--quiet")
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    steps = 0.5 * np.concatenate([np.eye(4), -np.eye(4)])
    points = (x[:, None, :].astype(np.float64) + steps).reshape(-1, 4)
    around = run_onnx(model, points)[0][:, 1].reshape(20, 8).astype(np.float64).mean(axis=1)
    expected = np.abs(around - run_onnx(model, x)[0][:, 1])
    np.testing.assert_allclose([row["gamma"] for row in rows], expected, atol=1e-6)


def test_the_output_is_chosen_by_name(harmonia, tmp_path):
    x, y = load_wine(return_X_y=True)
    estimator = GradientBoostingClassifier(n_estimators=5, random_state=1).fit(x, y)
    model = save_sklearn(tmp_path / "gbdt.onnx", estimator, 13)
    got, _ = answers(harmonia, tmp_path, model, x, *ORT, "--model-output", "output_label")
    np.testing.assert_array_equal(got[:, 0], estimator.predict(x.astype(np.float32)))
    net = save_mlp(tmp_path / "net.onnx", [5, 16, 3])
    rows = np.random.default_rng(3).standard_normal((9, 5))
    logits = run_onnx(save_mlp(tmp_path / "logits.onnx", [5, 16, 3], softmax=False), rows)[0]
    for options in (("--model-output", "logits"), ("--margin",)):
        got, _ = answers(harmonia, tmp_path, net, rows, *options)
        np.testing.assert_allclose(got, logits, atol=1e-6)
    got, result = answers(harmonia, tmp_path, net, rows, "--model-output", "r0")
    assert result["model"]["outputs"] == 16 and (got >= 0).all()


def test_control_flow_runs(harmonia, tmp_path):
    model = save_control_flow(tmp_path / "loop.onnx")
    x = np.random.default_rng(3).standard_normal((9, 3))
    got, _ = answers(harmonia, tmp_path, model, x, "--batch", 1)
    expected = np.concatenate([run_onnx(model, x[i : i + 1])[0] for i in range(9)])
    np.testing.assert_allclose(got, expected, atol=1e-6)


def test_a_width_that_the_data_tells(harmonia, tmp_path):
    model = save_mlp(tmp_path / "net.onnx", [5, 16, 3], width="F")
    x = np.random.default_rng(3).standard_normal((9, 5))
    got, result = answers(harmonia, tmp_path, model, x)
    np.testing.assert_allclose(got, run_onnx(model, x)[0], atol=1e-6)
    assert result["model"]["inputs"] == 5


def test_a_file_without_the_suffix_is_recognised(harmonia, tmp_path):
    model = save_mlp(tmp_path / "net", [5, 16, 3])
    _, result = answers(harmonia, tmp_path, model, np.zeros((2, 5)))
    assert result["model"]["kind"] == "onnx"
