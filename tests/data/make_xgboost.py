"""Writes small models of one XGBoost version with its predictions, for tests/agreement/test_xgboost_versions.py.

Run it with the Python of an environment that has this version and NumPy:
    python -m venv old && old/bin/pip install xgboost==1.7.6 numpy==1.26.4 && old/bin/python tests/data/make_xgboost.py
"""

import json
from pathlib import Path

import numpy as np
import xgboost

rng = np.random.default_rng(17)
VERSION = tuple(map(int, xgboost.__version__.split(".")))
COLUMNS, TYPES = 4, ["q", "q", "q", "c"]


def rows(count: int) -> np.ndarray:
    x = rng.normal(size=(count, COLUMNS)).astype(np.float32)
    x[rng.random(x.shape) < 0.15] = np.nan
    x[:, 3] = rng.integers(0, 9, count)
    return x


def numbers(values: np.ndarray) -> list:
    return [[float(f"{v:.9g}") for v in row] for row in np.asarray(values, dtype=float).reshape(len(values), -1)]


train, test = rows(300), rows(25)
test[0, 3], test[1, 3] = np.nan, 30
score = np.nansum(train[:, :3] * [1, -2, 0.5], axis=1) + np.sin(2 * train[:, 3])
above, several = (score > 0).astype(float), np.stack([score, -score], axis=1)
MODELS = {
    "squared": ({}, score),
    "binary": ({"objective": "binary:logistic", "base_score": 0.3}, above),
    "hinge": ({"objective": "binary:hinge"}, above),
    "softprob": ({"objective": "multi:softprob", "num_class": 3}, np.digitize(score, [-1, 1])),
    "softmax": ({"objective": "multi:softmax", "num_class": 3}, np.digitize(score, [-1, 1])),
    "poisson": ({"objective": "count:poisson"}, np.round(np.exp(score / 4))),
    "dart": ({"booster": "dart", "rate_drop": 0.6, "one_drop": 1}, score),
    "forest": ({"num_parallel_tree": 3, "subsample": 0.6, "eta": 1.0}, score),
    "targets": ({}, several),
    "categories": ({"max_cat_to_onehot": 1}, score),
    "onehot": ({"max_cat_to_onehot": 100}, score),
}
if VERSION >= (2, 0):
    MODELS["vector"] = ({"multi_strategy": "multi_output_tree"}, several)
    MODELS["quantiles"] = ({"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.8]}, score)

folder = Path(__file__).parent / "xgboost" / xgboost.__version__
folder.mkdir(parents=True, exist_ok=True)
expected = {"rows": [[None if np.isnan(v) else float(v) for v in row] for row in test], "models": {}}
categorical = {"feature_types": TYPES, "enable_categorical": True}
for number, (name, (parameters, label)) in enumerate(MODELS.items()):
    more = categorical if name in ("categories", "onehot") else {}
    data = xgboost.DMatrix(train, label=label, **more)
    booster = xgboost.train({"max_depth": 3, "tree_method": "hist", "seed": 1, "nthread": 1, "verbosity": 0, **parameters}, data, 3)
    file = f"{name}.{'json' if number % 2 == 0 else 'ubj'}"
    booster.save_model(folder / file)
    asked = xgboost.DMatrix(test, **more)
    expected["models"][file] = {"margins": numbers(booster.predict(asked, output_margin=True)), "predictions": numbers(booster.predict(asked))}
    if name == "squared" and VERSION < (2, 0):
        (folder / "old.bin").write_bytes(booster.save_raw("deprecated"))
    if name == "squared":
        xgboost.train({"booster": "gblinear", "nthread": 1}, data, 1).save_model(folder / "linear.json")
(folder / "expected.json").write_text(json.dumps(expected))
