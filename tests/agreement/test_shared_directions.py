"""Networks whose points share directions: gamma on rotated balls, stability and persistence by the first layer's products, against
points and against the same network in float64."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.onnx_models import save_conv, save_graph, save_mlp, save_sklearn

FEATURES, WIDTH, CLASSES = 24, 32, 3


def node(operation, inputs, output, **attributes):
    return helper.make_node(operation, inputs, [output], **attributes)


# What may follow the first layer, whose sums are h; the last value is t.
TAILS = {
    "layer norm": [node("LayerNormalization", ["h", "scale", "shift"], "n"), node("Relu", ["n"], "t")],
    "residual block": [node("Relu", ["h"], "a"), node("MatMul", ["a", "square"], "b"), node("Add", ["b", "h"], "c"),
                       node("LayerNormalization", ["c", "scale", "shift"], "t")],
    "attention": [node("Reshape", ["h", "tokens"], "k"), node("MatMul", ["k", "mix"], "q"), node("Softmax", ["q"], "p", axis=-1),
                  node("MatMul", ["p", "k"], "v"), node("Reshape", ["v", "flat"], "t")],
    "gated": [node("Tanh", ["h"], "a"), node("Mul", ["a", "h"], "t")],
    "unknown": [node("Sin", ["h"], "t")],
}


def network(folder, tail, kind, seed=0):
    """The same numbers as floats or as doubles."""
    rng = np.random.default_rng(seed)

    def drawn(*shape):
        return (rng.normal(size=shape) * np.sqrt(2 / shape[0])).astype(np.float32).astype(kind)

    constants = [("w", drawn(FEATURES, WIDTH)), ("bias", drawn(WIDTH)), ("square", drawn(WIDTH, WIDTH)), ("last", drawn(WIDTH, CLASSES)),
                 ("scale", 1 + drawn(WIDTH)), ("mix", drawn(WIDTH // 4, 4)), ("shift", drawn(WIDTH)), ("tokens", np.array([-1, 4, WIDTH // 4])),
                 ("flat", np.array([-1, WIDTH]))]
    nodes = [node("MatMul", ["x", "w"], "u"), node("Add", ["u", "bias"], "h"), *TAILS[tail], node("MatMul", ["t", "last"], "y")]
    used = {name for n in nodes for name in n.input}
    element = TensorProto.FLOAT if kind == np.float32 else TensorProto.DOUBLE
    return save_graph(folder / f"{np.dtype(kind).name}.onnx", nodes, [("x", element, [None, FEATURES])], [("y", element, [None, CLASSES])],
                      [c for c in constants if c[0] in used])


def run(harmonia, folder, command, path, *options):
    done = harmonia(command, path, folder / "rows.npy", *options, "--json", folder / "result.json", "--quiet")
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "result.json").read_text())


def save_rows(folder, count=40, seed=1, features=FEATURES):
    np.save(folder / "rows.npy", np.random.default_rng(seed).normal(size=(count, features)))


def rotated(harmonia, folder, path, *options):
    result = run(harmonia, folder, "gamma", path, "--ball", "rotated:2", "--radius", "0.5", "--output", "column:1", *options)
    return np.array([[row["gamma"], row["value"]] for row in result["rows"]]), result


@pytest.mark.parametrize("tail", TAILS)
def test_gamma_is_no_farther_from_float64(harmonia, tmp_path, tail):
    save_rows(tmp_path)
    path = network(tmp_path, tail, np.float32)
    exact, _ = rotated(harmonia, tmp_path, network(tmp_path, tail, np.float64), "--no-fast-path")
    shared, result = rotated(harmonia, tmp_path, path)
    points, other = rotated(harmonia, tmp_path, path, "--no-fast-path")
    assert result["summary"]["fast_path"] == "shared directions" and result["summary"]["shared_directions"]
    assert result["model"]["fast_path"] == f"first layer of {WIDTH} units"
    assert "fast_path" not in other["summary"]
    assert result["evaluations"] == other["evaluations"]
    for column in range(2):
        errors = [np.sqrt(np.mean((found - exact)[:, column] ** 2)) for found in (shared, points)]
        assert errors[0] <= errors[1], (column, errors)


@pytest.mark.parametrize("tail", ["layer norm", "attention"])
def test_doubles(harmonia, tmp_path, tail):
    save_rows(tmp_path)
    path = network(tmp_path, tail, np.float64)
    shared, result = rotated(harmonia, tmp_path, path)
    points, _ = rotated(harmonia, tmp_path, path, "--no-fast-path")
    assert result["summary"]["fast_path"] == "shared directions"
    np.testing.assert_allclose(shared, points, atol=1e-13)


def moved(one, other):
    """Samples of another class."""
    return sum(abs(a["probability"] - b["probability"]) * a["samples"] for a, b in zip(one["rows"], other["rows"], strict=True))


@pytest.mark.parametrize("noise", ["gaussian", "ball"])
@pytest.mark.parametrize("tail", ["residual block", "gated"])
def test_stability(harmonia, tmp_path, tail, noise):
    """Classes at 40 × 200 × 3 points: of two answers that differ by 1e-6, few lie on two sides of a boundary."""
    save_rows(tmp_path)
    path = network(tmp_path, tail, np.float32)
    options = ["--sigma", "0.1,0.5,2", "--samples", "200", "--noise", noise]
    shared = run(harmonia, tmp_path, "stability", path, *options)
    points = run(harmonia, tmp_path, "stability", path, *options, "--no-fast-path")
    assert shared["summary"]["fast_path"] == "shared directions" and "fast_path" not in points["summary"]
    assert shared["evaluations"] == points["evaluations"]
    assert moved(shared, points) <= 3
    assert moved(shared, run(harmonia, tmp_path, "stability", path, *options, "--threads", "1", "--batch", "64")) <= 3


def test_persistence(harmonia, tmp_path):
    save_rows(tmp_path, 10)
    path = network(tmp_path, "residual block", np.float32)
    options = ["--gamma", "0.7", "--sigma", "0.01..10", "--precision", "0.05"]
    shared = run(harmonia, tmp_path, "persistence", path, *options)
    points = run(harmonia, tmp_path, "persistence", path, *options, "--no-fast-path")
    assert shared["summary"]["fast_path"] == "shared directions" and "fast_path" not in points["summary"]
    for one, other in zip(shared["rows"], points["rows"]):
        assert one["outcome"] == other["outcome"]
        assert one["sigma"] == pytest.approx(other["sigma"], rel=0.1)


def test_the_table_says_it(harmonia, tmp_path):
    save_rows(tmp_path, 3)
    path = network(tmp_path, "gated", np.float32)
    for command, *options in [("gamma", "--ball", "rotated:1", "--radius", "0.1"), ("stability", "--sigma", "1"), ("persistence", "--gamma", "0.7")]:
        done = harmonia(command, path, tmp_path / "rows.npy", *options)
        assert done.returncode == 0, done.stderr
        assert "fast path for shared directions" in done.stdout, done.stdout


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
def test_scikit_learn(harmonia, tmp_path):
    """A scaler is part of the first layer."""
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(200, FEATURES)) * rng.uniform(0.1, 9, FEATURES) + 5).astype(np.float32)
    estimator = make_pipeline(StandardScaler(), MLPClassifier((30, 10), max_iter=30, random_state=1)).fit(x, x[:, 0] * x[:, 1] > 25)
    options = {id(estimator[-1]): {"zipmap": False}}
    path = save_sklearn(tmp_path / "model.onnx", estimator, FEATURES, options=options)
    in_doubles = save_sklearn(tmp_path / "exact.onnx", estimator, FEATURES, double=True, options=options)
    np.save(tmp_path / "rows.npy", x[:20].astype(float))
    exact, _ = rotated(harmonia, tmp_path, in_doubles, "--no-fast-path")
    shared, result = rotated(harmonia, tmp_path, path)
    points, _ = rotated(harmonia, tmp_path, path, "--no-fast-path")
    assert result["summary"]["fast_path"] == "shared directions"
    np.testing.assert_allclose(shared, points, atol=2e-6)
    np.testing.assert_allclose(shared, exact, atol=2e-6)


def test_a_fixed_batch(harmonia, tmp_path):
    save_rows(tmp_path)
    path = save_mlp(tmp_path / "net.onnx", [FEATURES, WIDTH, CLASSES], batch=16)
    shared, result = rotated(harmonia, tmp_path, path)
    points, _ = rotated(harmonia, tmp_path, path, "--no-fast-path")
    assert result["summary"]["fast_path"] == "shared directions"
    np.testing.assert_allclose(shared, points, atol=2e-6)


def test_points_are_asked_for_elsewhere(harmonia, tmp_path):
    """Bounds, whole features, convolutions, and two readers of the row."""
    save_rows(tmp_path)
    path = network(tmp_path, "gated", np.float32)
    for rule in ({"bounds": [-50, 50]}, {"integer": True}):
        (tmp_path / "schema.json").write_text(json.dumps({"features": {"x3": rule}}))
        np.savetxt(tmp_path / "rows.csv", np.load(tmp_path / "rows.npy").round(), delimiter=",", comments="",
                   header=",".join(f"x{j}" for j in range(FEATURES)))
        done = harmonia("gamma", path, tmp_path / "rows.csv", "--ball", "rotated:1", "--radius", "0.5", "--schema", tmp_path / "schema.json",
                        "--json", tmp_path / "result.json", "--quiet")
        assert done.returncode == 0, done.stderr
        assert "fast_path" not in json.loads((tmp_path / "result.json").read_text())["summary"]
    conv = save_conv(tmp_path / "conv.onnx")
    np.save(tmp_path / "rows.npy", np.random.default_rng(1).normal(size=(2, 3 * 8 * 8)))
    _, result = rotated(harmonia, tmp_path, conv, "--sample", "8")
    assert "fast_path" not in result["summary"]
    assert result["model"]["fast_path"] == "none: no first layer that is a product of the row by constants"
