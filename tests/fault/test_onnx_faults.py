"""ONNX files that cannot be used: one line that says why, exit code 2 for the file and 3 for what happens later."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier

from support.onnx_models import save_conv, save_graph, save_mlp, save_sklearn

FLOAT = TensorProto.FLOAT


def refused(harmonia, model, *parts, data="uniform:5", code=2, options=()):
    done = harmonia("gamma", model, data, "--radius", 0.1, *options)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("harmonia: "), done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr
    return done.stderr


def identity(path, kind=FLOAT, shape=("N", 3), inputs=None, out=None):
    return save_graph(path, [helper.make_node("Identity", ["x"], ["y"])], inputs or [("x", kind, list(shape))],
                      [("y", out or kind, None)])


def test_rows_of_another_width(harmonia, tmp_path):
    model = save_mlp(tmp_path / "fraud.onnx", [14, 4, 2])
    np.save(tmp_path / "rows.npy", np.zeros((5, 12)))
    refused(harmonia, model, f"data has 12 columns; model {model} expects 14", data=tmp_path / "rows.npy")


def test_string_inputs(harmonia, tmp_path):
    refused(harmonia, identity(tmp_path / "m.onnx", TensorProto.STRING), 'input "x" holds string; expected float or double'
            .replace('"', "'"))


def test_whole_number_inputs(harmonia, tmp_path):
    refused(harmonia, identity(tmp_path / "m.onnx", TensorProto.INT64), "holds int64; expected float or double")


def test_sequence_inputs(harmonia, tmp_path):
    model = save_graph(tmp_path / "m.onnx", [helper.make_node("SequenceAt", ["x", "zero"], ["y"])],
                       [helper.make_tensor_sequence_value_info("x", FLOAT, None)], [("y", FLOAT, None)],
                       [("zero", np.int64(0))])
    refused(harmonia, model, "is a sequence; expected a tensor of float or double")


def test_several_inputs(harmonia, tmp_path):
    model = save_graph(tmp_path / "m.onnx", [helper.make_node("Add", ["a", "b"], ["y"])],
                       [("a", FLOAT, ["N", 3]), ("b", FLOAT, ["N", 3])], [("y", FLOAT, ["N", 3])])
    refused(harmonia, model, "its graph has 2 inputs (a, b); expected one")


def test_images_of_any_size(harmonia, tmp_path):
    refused(harmonia, save_conv(tmp_path / "m.onnx", sizes=("H", "W")), "has the shape ?×3×?×?; expected a fixed size")


def test_a_vector_is_no_table(harmonia, tmp_path):
    refused(harmonia, identity(tmp_path / "m.onnx", shape=("N",)), "expected rows × features")


def test_text_outputs(harmonia, tmp_path):
    x, y = load_wine(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = save_sklearn(tmp_path / "m.onnx", GradientBoostingClassifier(n_estimators=2).fit(x, names), 13)
    refused(harmonia, model, "'output_label' holds string; expected numbers", options=("--model-output", "output_label"))


def test_an_output_that_is_not_there(harmonia, tmp_path):
    refused(harmonia, save_mlp(tmp_path / "m.onnx", [3, 4, 2]), "no such value; its outputs are probabilities",
            options=("--model-output", "score"))


def test_a_margin_that_nobody_knows(harmonia, tmp_path):
    refused(harmonia, save_mlp(tmp_path / "m.onnx", [3, 4, 2], softmax=False), "--margin", "'Gemm'", "--model-output",
            options=("--margin",))


def test_an_unknown_operator(harmonia, tmp_path):
    model = save_graph(tmp_path / "m.onnx", [helper.make_node("Frobnicate", ["x"], ["y"])], [("x", FLOAT, ["N", 3])],
                       [("y", FLOAT, ["N", 3])])
    refused(harmonia, model, "cannot be loaded by ONNX Runtime", "Frobnicate")


def test_a_model_that_fails_when_it_runs(harmonia, tmp_path):
    """A reshape to 7 columns, which the runtime finds out about with the first rows."""
    model = save_graph(tmp_path / "m.onnx", [helper.make_node("Reshape", ["x", "shape"], ["y"])], [("x", FLOAT, ["N", 3])],
                       [("y", FLOAT, ["N", 7])], [("shape", np.array([-1, 7]))])
    refused(harmonia, model, "failed", code=3)


def test_answers_that_are_not_one_a_row(harmonia, tmp_path):
    model = save_graph(tmp_path / "m.onnx", [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=1)],
                       [("x", FLOAT, ["N", 3])], [("y", FLOAT, ["N", 1])])
    refused(harmonia, model, "'y' has the shape [1, 1]; expected as many rows as the input has")


def test_answers_that_turn_out_not_to_be_one_a_row(harmonia, tmp_path):
    """The shape is known when it runs, and not before: all rows' sum over and over."""
    model = save_graph(tmp_path / "m.onnx", [helper.make_node("ReduceSum", ["x", "all"], ["y"], keepdims=1)],
                       [("x", FLOAT, ["N", 3]), ], [helper.make_tensor_value_info("y", FLOAT, None)],
                       [("all", np.array([0]))])
    refused(harmonia, model, "'y' has the shape [1, 3]; expected as many rows")


def test_missing_values_in_a_network(harmonia, tmp_path):
    np.save(tmp_path / "rows.npy", np.full((5, 3), np.nan))
    done = harmonia("gamma", save_mlp(tmp_path / "m.onnx", [3, 4, 2]), tmp_path / "rows.npy", "--radius", 0.1)
    assert done.returncode in (2, 3) and done.stderr.count("\n") == 1


def test_no_such_file(harmonia, tmp_path):
    refused(harmonia, tmp_path / "none.onnx", "No such file")


def test_a_folder(harmonia, tmp_path):
    (tmp_path / "m.onnx").mkdir()
    refused(harmonia, tmp_path / "m.onnx", "is a folder")


@pytest.mark.parametrize("contents", [b"", b"PK\x03\x04 no model", b"\x08\x08", b"\xff" * 64])
def test_files_of_something_else(harmonia, tmp_path, contents):
    (tmp_path / "m.onnx").write_bytes(contents)
    refused(harmonia, tmp_path / "m.onnx", "ONNX file")


@pytest.mark.parametrize("kind", ["network", "trees"])
def test_truncated_files(harmonia, tmp_path, kind):
    whole = make(tmp_path, kind)
    for i in range(12):
        model = tmp_path / "cut.onnx"
        model.write_bytes(whole[: len(whole) * i // 12])
        refused(harmonia, model, "cut.onnx")


def make(tmp_path, kind):
    if kind == "network":
        return save_mlp(tmp_path / "whole.onnx", [3, 4, 2]).read_bytes()
    x, y = load_wine(return_X_y=True)
    return save_sklearn(tmp_path / "whole.onnx", GradientBoostingClassifier(n_estimators=2, random_state=1).fit(x, y),
                        13).read_bytes()


@pytest.mark.parametrize("kind", ["network", "trees"])
def test_damaged_files(harmonia, tmp_path, kind):
    """Bytes changed here and there: an answer or one line, never a crash."""
    whole, rng = make(tmp_path, kind), np.random.default_rng(1)
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=rng.integers(1, 4)):
            damaged[place] = rng.integers(256)
        (tmp_path / "damaged.onnx").write_bytes(damaged)
        done = harmonia("gamma", tmp_path / "damaged.onnx", "uniform:3", "--radius", 0.1, timeout=60)
        assert done.returncode in (0, 2, 3), (done.returncode, done.stderr, bytes(damaged))
        if done.returncode != 0:
            assert done.stderr.count("\n") == 1 and done.stderr.startswith("harmonia: "), done.stderr
        assert len(done.stderr) < 2000
