"""Writes a BERT sentence embedder as an ONNX file, from its published weights.

    embedder_onnx.py FOLDER FILE.onnx     FOLDER has config.json and model.safetensors

Inputs: input_ids, attention_mask and token_type_ids, int64 [batch, length]. Output: embedding, float32 [batch, width], which is
the mean of the last layer over the attention mask, at length 1: what sentence-transformers gives for a model with mean pooling and
normalisation. Of Python packages it needs numpy and onnx.
"""

import json
import math
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17  # the first with LayerNormalization
IR_VERSION = 8


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """The float32 tensors of a file, by name: a length, a header in JSON, then the numbers."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    start = 8 + length
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(data[start + begin : start + end], "<f4").reshape(entry["shape"])
    return tensors


class Graph:
    """Nodes and constants as they are added. Every node's name is that of its output."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name: str, values: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, name: str, operation: str, *inputs: str, **attributes) -> str:
        self.nodes.append(helper.make_node(operation, inputs, [name], name=name, **attributes))
        return name


class Bert:
    """The layers of a BERT encoder in a graph, under the names of the published weights."""

    def __init__(self, config: dict, weights: dict[str, np.ndarray]):
        if config.get("hidden_act") != "gelu" or config.get("position_embedding_type", "absolute") != "absolute":
            raise SystemExit(f"embedder_onnx: activation {config.get('hidden_act')}, positions "
                             f"{config.get('position_embedding_type')}; expected gelu and absolute")
        self.graph, self.weights = Graph(), weights
        self.layers, self.heads, self.width = (
            config[name] for name in ("num_hidden_layers", "num_attention_heads", "hidden_size"))
        self.epsilon = config["layer_norm_eps"]
        constant = self.graph.constant
        constant("root_of_two", np.float32(math.sqrt(2)))
        constant("one", np.float32(1))
        constant("half", np.float32(0.5))
        constant("root_of_head", np.float32(math.sqrt(self.width // self.heads)))
        constant("least", np.float32(np.finfo(np.float32).min))
        constant("split", np.array([0, 0, self.heads, self.width // self.heads], np.int64))
        constant("join", np.array([0, 0, self.width], np.int64))
        for index in range(3):
            constant(f"axis{index}", np.array([index], np.int64))

    def weight(self, name: str, transpose: bool = False) -> str:
        return self.graph.constant(name, self.weights[name].T if transpose else self.weights[name])

    def dense(self, name: str, x: str) -> str:
        product = self.graph.add(f"{name}/product", "MatMul", x, self.weight(f"{name}.weight", transpose=True))
        return self.graph.add(name, "Add", product, self.weight(f"{name}.bias"))

    def norm(self, name: str, x: str) -> str:
        return self.graph.add(name, "LayerNormalization", x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"),
                              axis=-1, epsilon=self.epsilon)

    def gelu(self, name: str, x: str) -> str:
        add = self.graph.add
        erf = add(f"{name}/erf", "Erf", add(f"{name}/scaled", "Div", x, "root_of_two"))
        return add(name, "Mul", add(f"{name}/twice", "Mul", x, add(f"{name}/phi", "Add", erf, "one")), "half")

    def embeddings(self) -> str:
        add = self.graph.add
        words = add("words", "Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids")
        types = add("types", "Gather", self.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
        length = add("length", "Gather", add("shape", "Shape", "input_ids"), "axis1")
        positions = add("positions", "Slice", self.weight("embeddings.position_embeddings.weight"), "axis0", length, "axis0")
        return self.norm("embeddings.LayerNorm", add("embedded", "Add", add("typed", "Add", words, types), positions))

    def attention(self, name: str, x: str, bias: str) -> str:
        add = self.graph.add

        def part(which: str, order: list[int]) -> str:
            values = self.dense(f"{name}.self.{which}", x)
            return add(f"{name}/{which}", "Transpose", add(f"{name}/{which}_heads", "Reshape", values, "split"), perm=order)

        query, key, value = part("query", [0, 2, 1, 3]), part("key", [0, 2, 3, 1]), part("value", [0, 2, 1, 3])
        scores = add(f"{name}/scores", "Div", add(f"{name}/products", "MatMul", query, key), "root_of_head")
        shares = add(f"{name}/shares", "Softmax", add(f"{name}/masked", "Add", scores, bias), axis=-1)
        heads = add(f"{name}/heads", "Transpose", add(f"{name}/mixed", "MatMul", shares, value), perm=[0, 2, 1, 3])
        joined = self.dense(f"{name}.output.dense", add(f"{name}/joined", "Reshape", heads, "join"))
        return self.norm(f"{name}.output.LayerNorm", add(f"{name}/sum", "Add", joined, x))

    def layer(self, name: str, x: str, bias: str) -> str:
        attended = self.attention(f"{name}.attention", x, bias)
        inner = self.gelu(f"{name}.intermediate", self.dense(f"{name}.intermediate.dense", attended))
        return self.norm(f"{name}.output.LayerNorm",
                         self.graph.add(f"{name}/sum", "Add", self.dense(f"{name}.output.dense", inner), attended))

    def pooled(self, x: str, mask: str) -> str:
        """The mean over the mask, at length 1."""
        add, constant = self.graph.add, self.graph.constant
        column = add("mask_column", "Unsqueeze", mask, "axis2")
        total = add("total", "ReduceSum", add("kept", "Mul", x, column), "axis1", keepdims=0)
        count = add("count", "Max", add("ones", "ReduceSum", column, "axis1", keepdims=0), constant("least_count", np.float32(1e-9)))
        mean = add("mean", "Div", total, count)
        size = add("size", "Max", add("norm", "ReduceL2", mean, axes=[-1]), constant("least_size", np.float32(1e-12)))
        return add("embedding", "Div", mean, size)

    def model(self) -> onnx.ModelProto:
        """The whole, checked."""
        add = self.graph.add
        mask = add("mask", "Cast", "attention_mask", to=TensorProto.FLOAT)
        # 0 where a token is, the least number where none is: such a one gets no share.
        absent = add("absent", "Mul", add("padding", "Sub", "one", mask), "least")
        bias = add("bias", "Unsqueeze", absent, self.graph.constant("axes12", np.array([1, 2], np.int64)))
        x = self.embeddings()
        for index in range(self.layers):
            x = self.layer(f"encoder.layer.{index}", x, bias)
        self.pooled(x, mask)
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
                  for name in ("input_ids", "attention_mask", "token_type_ids")]
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", self.width])
        graph = helper.make_graph(self.graph.nodes, "sentence embedder", inputs, [output], self.graph.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
                                  producer_name="harmonia")
        onnx.checker.check_model(model, full_check=True)
        return model


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("embedder_onnx: expected a folder and the file to write")
    folder = Path(sys.argv[1])
    bert = Bert(json.loads((folder / "config.json").read_text()), read_safetensors(folder / "model.safetensors"))
    onnx.save(bert.model(), sys.argv[2])


if __name__ == "__main__":
    main()
