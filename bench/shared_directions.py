"""Points x + sigma·z with the same z for all rows and sigmas: W(x + sigma·z) is Wx + sigma·Wz, so that a dense network's first layer
costs one addition a unit. What that gives, one thread: ONNX Runtime on whole points, which are made from z in memory, against the
products Wz in memory and ONNX Runtime on the rest of the network. ReLU networks of random weights, 512 points a call.

    OPENBLAS_NUM_THREADS=1 python3 bench/shared_directions.py
"""

import time

import numpy as np
from conv_patches import session
from onnx import helper

POINTS, REPEATS, SIGMA = 512, 9, np.float32(0.1)
NETWORKS = [[20, 64, 3], [20, 64, 64, 3], [100, 128, 128, 10], [784, 128, 10], [784, 256, 256, 10], [784, 1568, 1568, 10],
            [3072, 512, 256, 10]]


def session_of(layers, activated):
    """ReLU between the layers, and before the first if `activated`."""
    nodes, value, constants = [], "x", []
    if activated:
        nodes, value = [helper.make_node("Relu", ["x"], ["a"])], "a"
    for i, (weights, bias) in enumerate(layers):
        constants += [(f"w{i}", weights), (f"b{i}", bias)]
        nodes += [helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], [f"z{i}"]), helper.make_node("Relu", [f"z{i}"], [f"r{i}"])]
        value = f"r{i}"
    return session(nodes[:-1], constants, [len(layers[0][0])])


def in_float64(layers, x):
    for i, (weights, bias) in enumerate(layers):
        x = x @ weights.astype(float) + bias
        x = np.maximum(x, 0) if i + 1 < len(layers) else x
    return x


def measure(sizes):
    rng = np.random.default_rng(0)
    layers = [((rng.standard_normal(s) * np.sqrt(2 / s[0])).astype(np.float32), (0.1 * rng.standard_normal(s[1])).astype(np.float32))
              for s in zip(sizes, sizes[1:])]
    whole, rest = session_of(layers, False), session_of(layers[1:], True)
    x, z = rng.standard_normal(sizes[0]).astype(np.float32), rng.standard_normal((POINTS, sizes[0])).astype(np.float32)
    kept, points = z @ layers[0][0], np.empty_like(z)
    sums = np.empty_like(kept)

    def black_box():
        np.add(np.multiply(z, SIGMA, out=points), x, out=points)
        return whole.run(None, {"x": points})[0]

    def shared():
        np.add(np.multiply(kept, SIGMA, out=sums), x @ layers[0][0] + layers[0][1], out=sums)
        return rest.run(None, {"x": sums})[0]

    answers = [black_box(), shared()]
    truth = in_float64(layers, points.astype(float))
    errors = [np.sqrt(np.mean((answer - truth) ** 2)) for answer in answers]
    assert np.abs(answers[0] - answers[1]).max() < 1e-4, "sharing gives other answers"
    times = [np.inf, np.inf]
    for _ in range(REPEATS):
        for i, ask in enumerate((black_box, shared)):
            began = time.perf_counter()
            ask()
            times[i] = min(times[i], time.perf_counter() - began)
    print(f"| {'-'.join(map(str, sizes))} | {POINTS / times[0]:,.0f} | {POINTS / times[1]:,.0f} | {times[0] / times[1]:.2f} | "
          f"{errors[0]:.1e} | {errors[1]:.1e} |", flush=True)


if __name__ == "__main__":
    print("| network | black box, points/s | shared, points/s | ratio | error of the black box | error, shared |")
    print("|---|---|---|---|---|---|")
    for network in NETWORKS:
        measure(network)
