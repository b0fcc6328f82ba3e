"""What an ONNX graph of dense layers stands for, computed with more digits than float64: casts keep all of them."""

import math
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

WIDE = np.longdouble
ERF = np.vectorize(lambda z: WIDE(math.erf(z)), otypes=[WIDE])


def softmax(z):
    shares = np.exp(z - z.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def elu(z, alpha):
    return np.where(z > 0, z, alpha * np.expm1(np.minimum(z, 0)))


def gelu(z, how):
    if how == b"tanh":
        return z / 2 * (1 + np.tanh(np.sqrt(2 / WIDE(np.pi)) * (z + WIDE("0.044715") * z**3)))
    return z / 2 * (1 + ERF(z / np.sqrt(WIDE(2))))


def gemm(x, w, b=None, *, alpha=1.0, beta=1.0, transA=0, transB=0):
    y = alpha * (x @ (w.T if transB else w))
    return y if b is None else y + beta * b


def linear(x, *, coefficients, intercepts, **_):
    return x @ np.array(coefficients, WIDE).reshape(len(intercepts), -1).T + np.array(intercepts, WIDE)


def classify(x, *, post_transform=b"NONE", **given):
    scores = linear(x, **given)
    return None, {b"NONE": lambda z: z, b"SOFTMAX": softmax, b"LOGISTIC": sigmoid}[post_transform](scores)


def reshape(x, shape):
    return x.reshape([x.shape[i] if side == 0 else int(side) for i, side in enumerate(shape)])


OPERATIONS = {
    "Identity": lambda x: x, "Cast": lambda x, to: x, "Dropout": lambda x, *_: x, "Imputer": lambda x, **_: x,
    "Flatten": lambda x, axis=1: x.reshape(len(x), -1), "Reshape": reshape, "Transpose": lambda x, perm: x.transpose(perm),
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b, "Div": lambda a, b: a / b,
    "MatMul": lambda a, b: a @ b, "Gemm": gemm, "LinearRegressor": linear, "LinearClassifier": classify,
    "Normalizer": lambda x, norm: x / np.abs(x).sum(axis=1, keepdims=True),
    "BatchNormalization": lambda x, s, b, m, v, epsilon=1e-5: s * (x - m) / np.sqrt(v + WIDE(np.float32(epsilon))) + b,
    "Scaler": lambda x, offset, scale: (x - np.array(offset, WIDE)) * np.array(scale, WIDE),
    "Concat": lambda *parts, axis: np.concatenate(parts, axis=axis),
    "ArrayFeatureExtractor": lambda x, which: x[:, which.astype(int).ravel()],
    "Gather": lambda x, which, axis: np.take(x, which.astype(int), axis=axis),
    "Softmax": lambda z, axis=-1: softmax(z), "LogSoftmax": lambda z, axis=-1: np.log(softmax(z)),
    "Relu": lambda z: np.maximum(z, 0), "LeakyRelu": lambda z, alpha=0.01: np.where(z > 0, z, WIDE(np.float32(alpha)) * z),
    "PRelu": lambda z, slope: np.where(z > 0, z, slope * z), "Clip": lambda z, low, high: np.clip(z, low, high),
    "HardSigmoid": lambda z, alpha=0.2, beta=0.5: np.clip(WIDE(np.float32(alpha)) * z + beta, 0, 1),
    "HardSwish": lambda z: z * np.clip(z / 6 + WIDE(0.5), 0, 1), "Tanh": np.tanh, "Sigmoid": sigmoid, "Erf": ERF,
    "Softplus": lambda z: np.logaddexp(z, 0), "Elu": lambda z, alpha=1.0: elu(z, WIDE(np.float32(alpha))),
    "Selu": lambda z: WIDE(np.float32(1.05070102214813232421875)) * elu(z, WIDE(np.float32(1.67326319217681884765625))),
    "Celu": lambda z, alpha=1.0: WIDE(np.float32(alpha)) * elu(z / WIDE(np.float32(alpha)), 1),
    "Gelu": lambda z, approximate=b"none": gelu(z, approximate),
}


def exact_function(path: Path, output: str | None = None):
    """x (rows × …) → the value called `output`, or the graph's first output of real numbers, as long double."""
    graph = onnx.load(path).graph
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    wanted = output or next(o.name for o in graph.output if o.type.tensor_type.elem_type in (1, 11))

    def answer(x):
        values = {n: v.astype(WIDE) if v.dtype.kind in "fi" else v for n, v in constants.items()}
        values[graph.input[0].name] = np.asarray(x, WIDE)
        for node in graph.node:
            if node.op_type not in OPERATIONS:  # labels, which are not asked for
                continue
            inputs = [values.get(name) for name in node.input if name]
            if any(value is None for value in inputs):
                continue
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            made = OPERATIONS[node.op_type](*inputs, **attributes)
            values.update(zip(node.output, made if isinstance(made, tuple) else (made,)))
        return values[wanted]

    return answer
