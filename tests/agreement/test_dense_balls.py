"""gamma of dense networks in ONNX files: the fast path's error against float64 is no larger than that of asking for every point."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.onnx_models import save_graph

ACTIVATIONS = {"Relu": lambda z: np.maximum(z, 0), "Tanh": np.tanh, "LeakyRelu": lambda z: np.where(z > 0, z, 0.01 * z)}


def network(folder, rng, sizes, activation, softmax=False):
    """A file, and the same function in float64."""
    layers = [(rng.normal(size=s, scale=np.sqrt(2 / s[0])).astype(np.float32), rng.normal(size=s[1], scale=0.1).astype(np.float32))
              for s in zip(sizes, sizes[1:])]
    nodes, initializers, value = [], [], "x"
    for i, (weights, bias) in enumerate(layers):
        initializers += [(f"w{i}", weights), (f"b{i}", bias)]
        nodes.append(helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], [f"z{i}"]))
        value = f"z{i}"
        if i + 1 < len(layers):
            nodes.append(helper.make_node(activation, [value], [f"a{i}"]))
            value = f"a{i}"
    if softmax:
        nodes.append(helper.make_node("Softmax", [value], ["p"], axis=1))
        value = "p"
    path = save_graph(folder / "net.onnx", nodes, [("x", TensorProto.FLOAT, [None, sizes[0]])],
                      [(value, TensorProto.FLOAT, [None, sizes[-1]])], initializers)

    def answer(x):
        for i, (weights, bias) in enumerate(layers):
            x = x @ weights.astype(float) + bias
            x = ACTIVATIONS[activation](x) if i + 1 < len(layers) else x
        if softmax:
            x = np.exp(x - x.max(axis=1, keepdims=True))
            x = x / x.sum(axis=1, keepdims=True)
        return x

    return path, answer


def exact(answer, rows, radius):
    """gamma of output 1 over the cross, whose points are float32 as the network gets them."""
    gammas = []
    for row in rows:
        step = np.eye(len(row)) * radius
        points = np.concatenate([row + step, row - step]).astype(np.float32).astype(float)
        gammas.append(abs((answer(points) - answer(row.astype(np.float32).astype(float)[None]))[:, 1].mean()))
    return np.array(gammas)


def measured(harmonia, folder, path, radius, *options):
    done = harmonia("gamma", path, folder / "rows.npy", "--radius", radius, "--ball", "cross", "--output", "column:1",
                    "--json", folder / "result.json", "--quiet", *options)
    assert done.returncode == 0, done.stderr
    result = json.loads((folder / "result.json").read_text())
    return np.array([row["gamma"] for row in result["rows"]]), result


@pytest.mark.parametrize("sizes, activation, softmax", [
    ([20, 64, 3], "Relu", False), ([20, 64, 3], "Relu", True), ([50, 40, 30, 4], "Relu", False), ([8, 30, 2], "Tanh", False),
    ([12, 20, 20, 20, 3], "LeakyRelu", True),
])
@pytest.mark.parametrize("radius", [1e-4, 0.01, 0.3, 3])
def test_no_larger_error(harmonia, tmp_path, sizes, activation, softmax, radius):
    rng = np.random.default_rng(sum(sizes))
    path, answer = network(tmp_path, rng, sizes, activation, softmax)
    rows = rng.normal(size=(30, sizes[0])).astype(np.float32).astype(float)
    np.save(tmp_path / "rows.npy", rows)
    true = exact(answer, rows, radius)
    fast, result = measured(harmonia, tmp_path, path, radius)
    slow, other = measured(harmonia, tmp_path, path, radius, "--no-fast-path")
    assert result["summary"]["fast_path"] == "dense networks" and "fast_path" not in other["summary"]
    assert result["evaluations"] == other["evaluations"] == len(rows) * (2 * sizes[0] + 1)
    # That of float64 itself, where both are at their best.
    assert np.abs(fast - true).max() <= np.abs(slow - true).max() + 1e-13
    np.testing.assert_allclose([r["value"] for r in result["rows"]], [r["value"] for r in other["rows"]], rtol=1e-5, atol=1e-6)


def test_threads_do_not_matter(harmonia, tmp_path):
    rng = np.random.default_rng(1)
    path, _ = network(tmp_path, rng, [30, 50, 3], "Relu")
    np.save(tmp_path / "rows.npy", rng.normal(size=(500, 30)))
    one, _ = measured(harmonia, tmp_path, path, 0.1, "--threads", 1)
    two, _ = measured(harmonia, tmp_path, path, 0.1, "--threads", 2)
    np.testing.assert_array_equal(one, two)


def test_what_is_asked_decides(harmonia, tmp_path):
    """Labels, explanations, samples and bounds ask for points."""
    rng = np.random.default_rng(2)
    path, _ = network(tmp_path, rng, [6, 20, 3], "Relu")
    np.save(tmp_path / "rows.npy", rng.uniform(size=(20, 6)))
    (tmp_path / "schema.json").write_text(json.dumps({"features": {"x0": {"bounds": [0, 1]}}}))
    for options in (["--explain", 2], ["--sample", 4], ["--schema", tmp_path / "schema.json"], ["--output", "flip"]):
        done = harmonia("gamma", path, tmp_path / "rows.npy", "--radius", 0.1, "--ball", "cross", "--json", tmp_path / "r.json", *options)
        assert done.returncode == 0, done.stderr
        assert "fast_path" not in json.loads((tmp_path / "r.json").read_text())["summary"], options
