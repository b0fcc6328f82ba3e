"""Trains and writes, once, the models whose cost cost_bench measures, and cases.csv, the list of what to measure, into FOLDER.

    python3 bench/cost_models.py FOLDER

Boosters are XGBoost's, on normal rows whose class depends on products of some features; networks are dense ReLU networks
with random weights. Four sweeps go through one centre: features, trees, depth, radius in standard deviations.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import onnx_models
import xgboost as xgb

FEATURES = [2, 5, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]
NETWORK_FEATURES = [features for features in FEATURES if features <= 10_000]
TREES = [10, 30, 100, 200, 500, 1000, 2000]
DEPTHS = [2, 3, 4, 6, 8, 10, 12]
RADII = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3]
CENTRE = (100, 200, 6, 0.1)  # features, trees, depth, radius
HIDDEN = [256, 256, 10]
# So that training ends in seconds, with 100,000 features too:
COLUMNS_OF_A_TREE = 100  # looked at for one tree, at most
TRAINED_VALUES = 24_000_000


def draw_rows(features: int, rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, features), dtype=np.float32)


def train(features: int, trees: int, depth: int) -> xgb.Booster:
    x = draw_rows(features, int(np.clip(TRAINED_VALUES // features, 400, 3000)), 1)
    used = np.random.default_rng(2).permutation(features)[: 2 * max(1, min(features, 40) // 2)]
    y = (x[:, used[0::2]] * x[:, used[1::2]]).sum(axis=1) > 0
    options = {
        "objective": "binary:logistic", "eta": 0.05, "max_depth": depth, "min_child_weight": 0, "subsample": 0.8, "seed": 1,
        "tree_method": "exact", "colsample_bytree": min(0.5 if features > 2 else 1, COLUMNS_OF_A_TREE / features),
        "nthread": 1,  # several wait for each other where others work too
    }
    return xgb.train(options, xgb.DMatrix(x, y), trees)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for features in FEATURES:
        rows = folder / f"rows_{features}.npy"
        if not rows.exists():
            np.save(rows, draw_rows(features, 512 if features <= 1000 else 64, 3))
    features, trees, depth, _ = CENTRE
    shapes = [(n, trees, depth) for n in FEATURES] + [(features, trees, d) for d in DEPTHS]
    for shape in dict.fromkeys(shapes):
        file = folder / "trees_{}_{}_{}.ubj".format(*shape)
        if not file.exists():
            train(*shape).save_model(file)
    if not all((folder / f"trees_{features}_{t}_{depth}.ubj").exists() for t in TREES):
        longest = train(features, max(TREES), depth)
        for t in TREES:
            longest[:t].save_model(folder / f"trees_{features}_{t}_{depth}.ubj")
    for n in NETWORK_FEATURES:
        file = folder / f"network_{n}.onnx"
        if not file.exists():
            file.write_bytes(onnx_models.network([n, *HIDDEN]))

    radius = CENTRE[3]
    cases = [("features", n, f"trees_{n}_{trees}_{depth}.ubj", n, radius) for n in FEATURES]
    cases += [("trees", t, f"trees_{features}_{t}_{depth}.ubj", features, radius) for t in TREES]
    cases += [("depth", d, f"trees_{features}_{trees}_{d}.ubj", features, radius) for d in DEPTHS]
    cases += [("radius", r, f"trees_{features}_{trees}_{depth}.ubj", features, r) for r in RADII]
    cases += [("features", n, f"network_{n}.onnx", n, radius) for n in NETWORK_FEATURES]
    cases += [("radius", r, f"network_{features}.onnx", features, r) for r in RADII]
    with (folder / "cases.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sweep", "value", "model", "rows", "radius"])
        writer.writerows((sweep, value, model, f"rows_{n}.npy", r) for sweep, value, model, n, r in cases)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
