"""Writes the ONNX files that onnx_bench times: python bench/onnx_models.py FOLDER (with the tests' environment)."""

import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor


def network(sizes) -> bytes:
    """A dense ReLU network with random weights and a softmax."""
    rng = np.random.default_rng(1)
    nodes, constants, value = [], [], "x"
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        constants += [numpy_helper.from_array((rng.standard_normal((a, b)) * np.sqrt(2 / a)).astype(np.float32), f"w{i}"),
                      numpy_helper.from_array((0.1 * rng.standard_normal(b)).astype(np.float32), f"b{i}")]
        nodes.append(helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], [f"h{i}"]))
        value = f"h{i}"
        if i < len(sizes) - 2:
            nodes.append(helper.make_node("Relu", [value], [f"r{i}"]))
            value = f"r{i}"
    nodes.append(helper.make_node("Softmax", [value], ["y"], axis=1))
    graph = helper.make_graph(nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", sizes[0]])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", sizes[-1]])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def images(widths, classes: int) -> bytes:
    """A convolutional network of the shape of MobileNet's, with random weights, for images of any size."""
    rng = np.random.default_rng(1)
    nodes, constants, value, before = [], [], "x", 3

    def conv(name, inputs, outputs, size, groups, stride):
        nonlocal value
        fan = inputs // groups * size * size
        weights = rng.standard_normal((outputs, inputs // groups, size, size)) * np.sqrt(2 / fan)
        constants.extend([numpy_helper.from_array(weights.astype(np.float32), f"{name}w"),
                          numpy_helper.from_array((0.1 * rng.standard_normal(outputs)).astype(np.float32), f"{name}b")])
        nodes.append(helper.make_node("Conv", [value, f"{name}w", f"{name}b"], [f"{name}c"], kernel_shape=[size, size],
                                      strides=[stride, stride], pads=[size // 2] * 4, group=groups))
        nodes.append(helper.make_node("Relu", [f"{name}c"], [f"{name}r"]))
        value = f"{name}r"

    for i, width in enumerate(widths):
        if i == 0:
            conv("first", before, width, 3, 1, 2)
        else:
            conv(f"depth{i}", before, before, 3, before, 1 + i % 2)
            conv(f"point{i}", before, width, 1, 1, 1)
        before = width
    constants += [numpy_helper.from_array((rng.standard_normal((before, classes)) / np.sqrt(before)).astype(np.float32), "w"),
                  numpy_helper.from_array(np.zeros(classes, np.float32), "b")]
    nodes += [helper.make_node("GlobalAveragePool", [value], ["pooled"]), helper.make_node("Flatten", ["pooled"], ["flat"]),
              helper.make_node("Gemm", ["flat", "w", "b"], ["y"])]
    graph = helper.make_graph(nodes, "images", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", classes])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def trees(count: int, features: int) -> bytes:
    """Gradient boosting of scikit-learn on a smooth function of a hundred features."""
    x, y = make_friedman1(n_samples=2000, n_features=features, random_state=1)
    estimator = GradientBoostingRegressor(n_estimators=count, max_depth=6, max_features=0.1, random_state=1)
    estimator.fit(x.astype(np.float32), y)
    return to_onnx(estimator, initial_types=[("x", FloatTensorType([None, features]))],
                   target_opset={"": 17, "ai.onnx.ml": 3}).SerializeToString()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "network.onnx").write_bytes(network([784, 1568, 1568, 10]))
    (folder / "images.onnx").write_bytes(images([32, 64, 128, 128, 256, 256, 512, 512], 1000))
    (folder / "trees.onnx").write_bytes(trees(500, 100))
