"""Writes small models of one LightGBM version with its predictions, for tests/agreement/test_lightgbm_versions.py.

Run it with the Python of an environment that has this version and NumPy:
    python -m venv old && old/bin/pip install lightgbm==3.3.5 numpy==1.26.4 && old/bin/python tests/data/make_lightgbm.py
"""

import json
from pathlib import Path

import lightgbm
import numpy as np

rng = np.random.default_rng(17)
COLUMNS = 4


def rows(count: int) -> np.ndarray:
    x = rng.normal(size=(count, COLUMNS))
    x[rng.random(x.shape) < 0.15] = np.nan
    x[:, 3] = rng.integers(0, 9, count)
    return x


def numbers(values: np.ndarray) -> list:
    return [[float(v) for v in row] for row in np.asarray(values, dtype=float).reshape(len(values), -1)]


train, test = rows(300), rows(25)
test[0, 3], test[1, 3] = np.nan, 30
score = np.nansum(train[:, :3] * [1, -2, 0.5], axis=1) + np.sin(2 * train[:, 3])
MODELS = {
    "squared": ({}, score),
    "sqrt": ({"reg_sqrt": True}, 9 * score),
    "binary": ({"objective": "binary", "sigmoid": 0.7}, score > 0),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, np.digitize(score, [-1, 1])),
    "ova": ({"objective": "multiclassova", "num_class": 3}, np.digitize(score, [-1, 1])),
    "poisson": ({"objective": "poisson"}, np.exp(score / 4)),
    "zeros": ({"zero_as_missing": True}, score),
    "categories": ({"min_data_per_group": 1, "cat_smooth": 1}, score),
}

folder = Path(__file__).parent / "lightgbm" / lightgbm.__version__
folder.mkdir(parents=True, exist_ok=True)
expected = {"rows": [[None if np.isnan(v) else float(v) for v in row] for row in test], "models": {}}
for name, (parameters, label) in MODELS.items():
    parameters = {"num_leaves": 6, "min_data_in_leaf": 5, "seed": 1, "num_threads": 1, "verbose": -1, **parameters}
    categories = [3] if name == "categories" else []
    data = lightgbm.Dataset(train, label=label.astype(float), categorical_feature=categories, params=parameters)
    booster = lightgbm.train(parameters, data, 3)
    (folder / f"{name}.txt").write_text(booster.model_to_string().split("\nparameters:")[0] + "\n")
    expected["models"][f"{name}.txt"] = {"margins": numbers(booster.predict(test, raw_score=True)), "predictions": numbers(booster.predict(test))}
(folder / "expected.json").write_text(json.dumps(expected))
