"""ONNX files for the tests: models that scikit-learn trained, and graphs written by hand."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType


def save_sklearn(path: Path, estimator, features: int, *, double: bool = False, **keywords) -> Path:
    """Exports a fitted estimator; keywords go to skl2onnx (options={'zipmap': False}, …)."""
    kind = DoubleTensorType if double else FloatTensorType
    model = to_onnx(estimator, initial_types=[("X", kind([None, features]))], target_opset={"": 17, "ai.onnx.ml": 3},
                    **keywords)
    path.write_bytes(model.SerializeToString())
    return path


def save_graph(path: Path, nodes, inputs, outputs, initializers=(), opset: int = 17) -> Path:
    """Writes a graph; inputs and outputs are (name, type, shape)."""
    values = [[v if not isinstance(v, tuple) else helper.make_tensor_value_info(*v) for v in side]
              for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "test", *values, [numpy_helper.from_array(a, n) for n, a in initializers])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())
    return path


def save_mlp(path: Path, sizes, *, seed: int = 1, batch="N", double: bool = False, softmax: bool = True,
             width=None) -> Path:
    """A dense ReLU network with random weights; its value before the softmax is called 'logits'."""
    kind, numpy_kind = (TensorProto.DOUBLE, np.float64) if double else (TensorProto.FLOAT, np.float32)
    rng = np.random.default_rng(seed)
    nodes, constants, value = [], [], "x"
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        constants += [(f"w{i}", (rng.standard_normal((a, b)) * np.sqrt(2 / a)).astype(numpy_kind)),
                      (f"b{i}", (0.1 * rng.standard_normal(b)).astype(numpy_kind))]
        last = i == len(sizes) - 2
        nodes.append(helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], ["logits" if last else f"h{i}"]))
        if not last:
            nodes.append(helper.make_node("Relu", [f"h{i}"], [f"r{i}"]))
            value = f"r{i}"
    if softmax:
        nodes.append(helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1))
    output = "probabilities" if softmax else "logits"
    return save_graph(path, nodes, [("x", kind, [batch, sizes[0] if width is None else width])],
                      [(output, kind, [batch, sizes[-1]])], constants)


def save_conv(path: Path, *, channels=3, height=8, width=8, classes=4, batch="N", sizes=None) -> Path:
    """A small convolutional network on images, channels first."""
    rng = np.random.default_rng(7)
    flat = 6 * (height - 2) * (width - 2)
    constants = [("k", (rng.standard_normal((6, channels, 3, 3)) / 5).astype(np.float32)),
                 ("kb", rng.standard_normal(6).astype(np.float32)),
                 ("w", (rng.standard_normal((flat, classes)) / np.sqrt(flat)).astype(np.float32)),
                 ("b", rng.standard_normal(classes).astype(np.float32))]
    nodes = [helper.make_node("Conv", ["image", "k", "kb"], ["c"]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Flatten", ["r"], ["f"], axis=1), helper.make_node("Gemm", ["f", "w", "b"], ["logits"]),
             helper.make_node("Softmax", ["logits"], ["p"], axis=1)]
    return save_graph(path, nodes, [("image", TensorProto.FLOAT, [batch, channels, *(sizes or (height, width))])],
                      [("p", TensorProto.FLOAT, [batch, classes])], constants)


def save_control_flow(path: Path) -> Path:
    """A Loop that squares the row three times over, and an If on the sign of the whole batch's sum that keeps it."""
    body = helper.make_graph(
        [helper.make_node("Mul", ["v", "half"], ["scaled"]), helper.make_node("Mul", ["scaled", "v"], ["v_out"]),
         helper.make_node("Identity", ["go"], ["go_out"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("go_out", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v_out", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.float32(0.5), "half")])
    branches = {}
    for name, operation in (("then_branch", "Abs"), ("else_branch", "Identity")):
        branches[name] = helper.make_graph([helper.make_node(operation, ["looped"], [f"{name}_y"])], name, [],
                                           [helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, None)])
    nodes = [helper.make_node("Loop", ["three", "", "x"], ["looped"], body=body),
             helper.make_node("ReduceSum", ["looped"], ["sum"], keepdims=0),
             helper.make_node("Greater", ["sum", "zero"], ["positive"]),
             helper.make_node("If", ["positive"], ["y"], **branches)]
    return save_graph(path, nodes, [("x", TensorProto.FLOAT, ["N", 3])],
                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                      [("three", np.int64(3)), ("zero", np.float32(0))])


def save_image_net(path: Path, *, channels=3, height="H", width="W", classes=4, last=False, softmax=False,
                   batch="N", seed=3) -> Path:
    """A small network for images of any size: a convolution, an average, a dense layer. `last`: channels come last."""
    rng = np.random.default_rng(seed)
    constants = [("k", (rng.standard_normal((8, channels, 3, 3)) / 2).astype(np.float32)),
                 ("kb", rng.standard_normal(8).astype(np.float32)),
                 ("w", rng.standard_normal((8, classes)).astype(np.float32)),
                 ("b", rng.standard_normal(classes).astype(np.float32))]
    nodes = [helper.make_node("Transpose", ["x"], ["first"], perm=[0, 3, 1, 2])] if last else []
    nodes += [helper.make_node("Conv", ["first" if last else "x", "k", "kb"], ["c"], kernel_shape=[3, 3], pads=[1] * 4),
              helper.make_node("Softplus", ["c"], ["r"]), helper.make_node("GlobalAveragePool", ["r"], ["p"]),
              helper.make_node("Flatten", ["p"], ["f"]), helper.make_node("Gemm", ["f", "w", "b"], ["logits"])]
    if softmax:
        nodes.append(helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1))
    shape = [batch, height, width, channels] if last else [batch, channels, height, width]
    return save_graph(path, nodes, [("x", TensorProto.FLOAT, shape)],
                      [("probabilities" if softmax else "logits", TensorProto.FLOAT, [batch, classes])], constants)
