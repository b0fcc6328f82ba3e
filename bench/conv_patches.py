"""Convolutions: what one changed pixel touches, and whether computing only that pays on a processor.

Of each network, exact counts: the share of all multiplications that lie in what one pixel can change, on average over the
pixels. And time, one thread, random weights: ONNX Runtime on a batch of whole points, and on patches. Of these every layer's input is cut
out of what the centre has there and what the layer before changed is put into it; the layer runs on all points' patches at once.

    python3 bench/conv_patches.py
"""

import time
from dataclasses import dataclass

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

REPEATS = 3


@dataclass
class Layer:
    """A convolution (channels > 0) or a pooling."""
    kernel: int
    stride: int
    padding: int
    inputs: int = 0
    outputs: int = 0


def conv(inputs, outputs, kernel=3, stride=1, padding=None):
    return Layer(kernel, stride, kernel // 2 if padding is None else padding, inputs, outputs)


def pool(kernel=2, stride=2, padding=0):
    return Layer(kernel, stride, padding)


def lenet():
    return 28, [conv(1, 32, 5), pool(), conv(32, 64, 5), pool()], [3136, 1024, 10]


def vgg_small():
    return 32, [conv(3, 64), conv(64, 64), pool(), conv(64, 128), conv(128, 128), pool(), conv(128, 256), conv(256, 256), pool()], \
        [4096, 256, 10]


def resnet_small():
    """ResNet-18 for images of 32 × 32, its ways around blocks left out: they touch no more than the blocks."""
    layers, inputs = [conv(3, 64)], 64
    for width in (64, 128, 256, 512):
        for block in range(2):
            layers += [conv(inputs, width, 3, 2 if block == 0 and width > 64 else 1), conv(width, width)]
            inputs = width
    return 32, layers + [pool(4, 4)], [512, 10]


def vgg16():
    layers, inputs = [], 3
    for width, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            layers.append(conv(inputs, width))
            inputs = width
        layers.append(pool())
    return 224, layers, [25088, 4096, 4096, 1000]


def resnet50():
    layers, inputs = [conv(3, 64, 7, 2), pool(3, 2, 1)], 64
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(count):
            layers += [conv(inputs, width, 1), conv(width, width, 3, 2 if block == 0 and width > 64 else 1), conv(width, 4 * width, 1)]
            inputs = 4 * width
    return 224, layers + [pool(7, 7)], [2048, 1000]


NETWORKS = {"LeNet, 28": lenet, "VGG of 6 convolutions, 32": vgg_small, "ResNet-18, 32": resnet_small, "VGG-16, 224": vgg16,
            "ResNet-50, 224": resnet50}


def out_side(layer, side):
    return (side + 2 * layer.padding - layer.kernel) // layer.stride + 1


def touched(layer, span, side):
    """The outputs along one side that the inputs first … last reach."""
    first, last = span
    low = max(0, -(-(first - layer.kernel + 1 + layer.padding) // layer.stride))
    return low, min(out_side(layer, side) - 1, (last + layer.padding) // layer.stride)


def walk(side, layers):
    """Of every layer: its output's side, and how long a pixel's span is there, one by one of the pixels along a side."""
    spans, steps = [(i, i) for i in range(side)], []
    for layer in layers:
        spans = [touched(layer, span, side) for span in spans]
        side = out_side(layer, side)
        steps.append((side, np.array([max(0, last - first + 1) for first, last in spans])))
    return steps


def shares(side, layers, dense):
    """Multiplications of a point, and those that one pixel touches, on average."""
    whole = patch = sum(a * b for a, b in zip(dense, dense[1:]))
    for layer, (out, lengths) in zip(layers, walk(side, layers)):
        each = layer.inputs * layer.outputs * layer.kernel**2
        whole += each * out * out
        patch += each * lengths.mean() ** 2
    return whole, patch


def build(side, layers, dense):
    """The whole network; the same with what lies between two layers as outputs; every layer without padding; the dense part."""
    rng, constants, nodes, value, parts = np.random.default_rng(1), [], [], "x", []
    for i, layer in enumerate(layers):
        shape = dict(kernel_shape=[layer.kernel] * 2, strides=[layer.stride] * 2)
        made = [helper.make_node("MaxPool", ["x"], [f"v{i}"], **shape)]
        own = []
        if layer.outputs:
            weights = rng.standard_normal((layer.outputs, layer.inputs, layer.kernel, layer.kernel))
            own = [(f"w{i}", weights / (layer.kernel * np.sqrt(layer.inputs / 2))), (f"b{i}", rng.standard_normal(layer.outputs) / 10)]
            made = [helper.make_node("Conv", ["x", f"w{i}", f"b{i}"], [f"z{i}"], **shape), helper.make_node("Relu", [f"z{i}"], [f"v{i}"])]
        parts.append(session(made, own, (None, None, None)))
        first = helper.make_node(made[0].op_type, [value, *made[0].input[1:]], made[0].output, pads=[layer.padding] * 4, **shape)
        nodes += [first, *made[1:]]
        constants += own
        value = f"v{i}"
    own, last = [], [helper.make_node("Flatten", ["x"], ["flat"])]
    for i, (a, b) in enumerate(zip(dense, dense[1:])):
        own += [(f"d{i}", rng.standard_normal((a, b)) / np.sqrt(a)), (f"e{i}", np.zeros(b))]
        last += [helper.make_node("Gemm", [last[-1].output[0], f"d{i}", f"e{i}"], [f"y{i}"]), helper.make_node("Relu", [f"y{i}"], [f"r{i}"])]
    tail = session(last[:-1], own, (None, None, None))
    flatten = helper.make_node("Flatten", [value], ["flat"])
    graph = [*nodes, flatten, *last[1:-1]], constants + own, (layers[0].inputs, side, side)
    return session(*graph), session(*graph, [f"v{i}" for i in range(len(layers))]), parts, tail


def session(nodes, constants, shape, between=()):
    """The last node's output comes first."""
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in (nodes[-1].output[0], *between)]
    graph = helper.make_graph(nodes, "bench", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, *shape])], outputs,
                              [numpy_helper.from_array(np.asarray(c, np.float32), n) for n, c in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(of, x):
    return of.run([of.get_outputs()[0].name], {"x": x})[0]


class Patches:
    """Answers to points that differ from a centre in one pixel. Patches of a layer are of one size, so that all points' are a batch."""

    def __init__(self, layers, parts, tail, centre, between):
        self.layers, self.parts, self.tail, self.last = layers, parts, tail, between[-1]
        self.padded = []
        for layer, value in zip(layers, [centre, *between]):
            room = [(0, 0), (layer.padding, layer.padding), (layer.padding, layer.padding)]
            self.padded.append(np.pad(value, room, constant_values=0 if layer.outputs else -np.inf))

    def answer(self, pixels, values):
        """pixels: points × 2. values: points × channels."""
        starts, patch = pixels, np.ascontiguousarray(values[:, :, None, None])
        for layer, part, padded in zip(self.layers, self.parts, self.padded):
            length = patch.shape[2]
            out = (padded.shape[1] - layer.kernel) // layer.stride + 1
            count = min(out, (length + layer.kernel - 2) // layer.stride + 1)
            firsts = np.maximum(0, -(-(starts - layer.kernel + 1 + layer.padding) // layer.stride))
            firsts = np.minimum(firsts, out - count)
            side = (count - 1) * layer.stride + layer.kernel
            crops = np.empty((len(patch), len(padded), side, side), np.float32)
            for crop, own, corner, start in zip(crops, patch, firsts * layer.stride, starts + layer.padding):
                y, x = corner
                np.copyto(crop, padded[:, y:y + side, x:x + side])
                (top, left), (skip_y, skip_x) = np.maximum(start - corner, 0), np.maximum(corner - start, 0)
                high, wide = min(length - skip_y, side - top), min(length - skip_x, side - left)
                crop[:, top:top + high, left:left + wide] = own[:, skip_y:skip_y + high, skip_x:skip_x + wide]
            starts, patch = firsts, run(part, crops)
        whole = np.repeat(self.last[None], len(patch), axis=0)
        length = patch.shape[2]
        for value, own, (y, x) in zip(whole, patch, starts):
            value[:, y:y + length, x:x + length] = own
        return run(self.tail, whole)


def in_turn(*actions):
    """Seconds of each, the least of some repeats."""
    times = [[] for _ in actions]
    for _ in range(REPEATS):
        for action, taken in zip(actions, times):
            began = time.perf_counter()
            action()
            taken.append(time.perf_counter() - began)
    return [min(taken) for taken in times]


def measured(side, layers, dense, points):
    """Seconds of a point, of whole points and by patches; wrong answers are not timed."""
    whole, told, parts, tail = build(side, layers, dense)
    rng = np.random.default_rng(2)
    centre = rng.standard_normal((layers[0].inputs, side, side)).astype(np.float32)
    between = [value[0] for value in told.run(None, {"x": centre[None]})[1:]]
    pixels = rng.integers(side, size=(points, 2))
    x = np.repeat(centre[None], points, axis=0)
    values = rng.standard_normal((points, layers[0].inputs)).astype(np.float32)
    x[np.arange(points), :, pixels[:, 0], pixels[:, 1]] = values
    patches = Patches(layers, parts, tail, centre, between)
    truth, answers = run(whole, x), patches.answer(pixels, values)
    assert np.abs(answers - truth).max() < 1e-4 * np.abs(truth).max(), "patches give other answers"
    return [taken / points for taken in in_turn(lambda: run(whole, x), lambda: patches.answer(pixels, values))]


def main():
    print("| network | multiplications | touched by a pixel | bound | whole, points/s | patches, points/s | ratio |")
    print("|---|---|---|---|---|---|---|")
    for name, make in NETWORKS.items():
        side, layers, dense = make()
        whole, patch = shares(side, layers, dense)
        at_once, patches = measured(side, layers, dense, 64 if side < 224 else 4)
        print(f"| {name} | {whole / 1e6:,.0f} M | {100 * patch / whole:.0f} % | {whole / patch:.1f} | {1 / at_once:,.1f} | "
              f"{1 / patches:,.1f} | {at_once / patches:.2f} |", flush=True)


if __name__ == "__main__":
    main()
