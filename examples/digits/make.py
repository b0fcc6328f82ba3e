"""Makes this example from the digits of scikit-learn: a network (net.onnx), its description, and images of digits that it
was not trained on, in a folder for each. Needs numpy, onnx, pillow and scikit-learn."""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

HERE = Path(__file__).parent
EACH = 3  # images of every digit

digits = load_digits()
pixels = np.rint(digits.images * 255 / 16).astype(np.uint8)
x = pixels.reshape(len(pixels), -1) / 255.0
train = np.arange(len(x)) < 1500
network = MLPClassifier((32,), activation="relu", alpha=0.01, max_iter=500, random_state=1).fit(x[train], digits.target[train])
print(f"right on {network.score(x[~train], digits.target[~train]):.3f} of the others")

constants, nodes, value = [], [helper.make_node("Flatten", ["image"], ["pixels"])], "pixels"
for i, (weights, biases) in enumerate(zip(network.coefs_, network.intercepts_)):
    constants += [numpy_helper.from_array(weights.astype(np.float32), f"w{i}"), numpy_helper.from_array(biases.astype(np.float32), f"b{i}")]
    last = i == len(network.coefs_) - 1
    nodes.append(helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], ["logits" if last else f"h{i}"]))
    if not last:
        nodes.append(helper.make_node("Relu", [f"h{i}"], [f"r{i}"]))
        value = f"r{i}"
nodes.append(helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1))
graph = helper.make_graph(nodes, "digits", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
                          [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])], constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
model.ir_version = 8
(HERE / "net.onnx").write_bytes(model.SerializeToString())
(HERE / "net.image.json").write_text(
    json.dumps({"height": 8, "width": 8, "channels": "grey", "layout": "nchw", "range": [0, 1], "outputs": "probabilities"}) + "\n"
)
for digit in range(10):
    (HERE / "photos" / str(digit)).mkdir(parents=True, exist_ok=True)
    for row in np.flatnonzero(~train & (digits.target == digit))[:EACH]:
        Image.fromarray(pixels[row]).save(HERE / "photos" / str(digit) / f"{row}.png")
