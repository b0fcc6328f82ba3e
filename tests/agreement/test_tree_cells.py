"""Boosters of one and two columns that libraries trained: looking points up gives what walking the trees gives."""

import json

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.ensemble import GradientBoostingClassifier
from support.onnx_models import save_sklearn

COMMANDS = {
    "gamma": ["--radius", 0.05, "--scale", "std"],
    "stability": ["--sigma", "0.01..2x12", "--samples", 300],
    "persistence": ["--gamma", 0.7, "--precision", 0.1],
}


def table(rng, missing, columns=2):
    x = rng.normal(size=(600, columns))
    x[:, 0] = np.where(rng.random(len(x)) < 0.2, 0, x[:, 0])
    y = np.digitize(np.sin(3 * x[:, 0]) + x[:, 0] * x[:, -1], [-0.3, 0.6])
    x[rng.random(x.shape) < missing] = np.nan
    return x, y


def saved(folder, kind, rng):
    """A model's file, and rows that it takes."""
    missing = 0 if kind in ("onnx", "two classes") else 0.15
    x, y = table(rng, missing, 1 if kind == "one column" else 2)
    if kind == "onnx":
        booster = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(x, y)
        return save_sklearn(folder / "model.onnx", booster, 2, options={"zipmap": False}), x
    if kind.startswith("lightgbm"):
        options = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1, "seed": 1}
        booster = lightgbm.train({**options, "zero_as_missing": kind.endswith("zeros")}, lightgbm.Dataset(x, y), 15)
        booster.save_model(folder / "model.txt")
        return folder / "model.txt", x
    classes = {"objective": "binary:logistic"} if kind == "two classes" else {"objective": "multi:softprob", "num_class": 3}
    y = np.minimum(y, 1) if kind == "two classes" else y
    xgboost.train({**classes, "max_depth": 5, "seed": 1}, xgboost.DMatrix(x, y), 30).save_model(folder / "model.ubj")
    return folder / "model.ubj", x.astype(np.float32).astype(float)


@pytest.mark.parametrize("kind", ["two classes", "three classes", "one column", "lightgbm", "lightgbm, zeros", "onnx"])
def test_every_measure_is_the_same(harmonia, tmp_path, kind):
    model, x = saved(tmp_path, kind, np.random.default_rng(1))
    for command, options in COMMANDS.items():
        np.save(tmp_path / "rows.npy", x if command == "gamma" else x[:25])
        results = []
        for name, more in (("fast", []), ("slow", ["--no-fast-path"])):
            run = [command, model, tmp_path / "rows.npy", *options, "--quiet", *more]
            done = harmonia(*run, "--csv", tmp_path / f"{name}.csv", "--json", tmp_path / f"{name}.json")
            assert done.returncode == 0, done.stderr
            results.append(json.loads((tmp_path / f"{name}.json").read_text()))
        assert (tmp_path / "fast.csv").read_bytes() == (tmp_path / "slow.csv").read_bytes(), command
        assert results[0]["model"]["fast_path"].startswith("cells from ") and "fast_path" not in results[1]["model"]
        assert results[0]["evaluations"] == results[1]["evaluations"]


def test_compared_on_a_grid(harmonia, root, tmp_path):
    models = [root / "examples" / "wine" / f"gbdt-{i}.onnx" for i in (1, 2)]
    run = ["compare", *models, "grid:0..5x101,1..4x61", "--radius", 0.05, "--quiet"]
    for name, more in (("fast", []), ("slow", ["--no-fast-path"])):
        done = harmonia(*run, *more, "--csv", tmp_path / f"{name}.csv", "--json", tmp_path / f"{name}.json")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "fast.csv").read_bytes() == (tmp_path / "slow.csv").read_bytes()
    said = [[model.get("fast_path", "").split(" ")[0] for model in json.loads((tmp_path / f"{name}.json").read_text())["models"]]
            for name in ("fast", "slow")]
    assert said == [["cells", "cells"], ["", ""]]
