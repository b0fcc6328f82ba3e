"""gamma of boosters that libraries trained: the fast path gives what asking for every point gives, to the last digit."""

import csv
import json

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from support.onnx_models import save_sklearn

BALLS = ["cross", "one-hot", "simplex", "anti", "simplex+anti"]
RADII = [1e-6, 0.01, 0.3, 10]


def table(rng, missing, categories):
    """Three classes of rows with whole numbers, missing values and, in column 4, categories."""
    x = rng.normal(size=(400, 6))
    x[:, 2] = np.round(2 * x[:, 2])
    x[:, 4] = rng.integers(0, 9, len(x)) if categories else x[:, 4]
    x[rng.random(x.shape) < missing] = np.nan
    score = np.nan_to_num(x[:, 0] * x[:, 1]) + np.nan_to_num(x[:, 2]) + (np.nan_to_num(x[:, 4]) % 3 == 1)
    return x, np.digitize(score, np.quantile(score, [0.3, 0.7]))


def saved_xgboost(folder, rng, classes, missing, categories, depth=6):
    x, y = table(rng, missing, categories)
    kinds = ["c" if categories and j == 4 else "q" for j in range(x.shape[1])]
    data = xgboost.DMatrix(x.astype(np.float32), np.minimum(y, classes - 1), feature_types=kinds, enable_categorical=True)
    objective = {"objective": "multi:softprob", "num_class": 3} if classes == 3 else {"objective": "binary:logistic"}
    booster = xgboost.train({**objective, "max_depth": depth, "seed": 1, "max_cat_to_onehot": 2}, data, 20)
    booster.save_model(folder / "model.ubj")
    splits = booster.trees_to_dataframe().dropna(subset=["Split"])
    return folder / "model.ubj", x.astype(np.float32).astype(float), splits["Split"].to_numpy(float)


def saved_lightgbm(folder, rng, classes, missing, categories):
    x, y = table(rng, missing, categories)
    objective = {"objective": "multiclass", "num_class": 3} if classes == 3 else {"objective": "binary"}
    data = lightgbm.Dataset(x, np.minimum(y, classes - 1), categorical_feature=[4] if categories else [])
    parameters = {**objective, "seed": 1, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 3}
    booster = lightgbm.train(parameters, data, 20)
    booster.save_model(folder / "model.txt")
    nodes = booster.trees_to_dataframe().dropna(subset=["threshold"])
    return folder / "model.txt", x, nodes["threshold"][nodes["decision_type"] == "<="].to_numpy(float)


def assert_same(harmonia, folder, model, x, *options):
    """The same table either way, and the result says which way it was."""
    np.save(folder / "rows.npy", x)
    together = 0
    for ball in BALLS:
        for radius in RADII:
            command = ["gamma", model, folder / "rows.npy", "--radius", radius, "--ball", ball, *options, "--quiet"]
            fast = harmonia(*command, "--csv", folder / "fast.csv", "--json", folder / "fast.json")
            slow = harmonia(*command, "--csv", folder / "slow.csv", "--json", folder / "slow.json", "--no-fast-path")
            assert fast.returncode == 0 and slow.returncode == 0, fast.stderr + slow.stderr
            assert (folder / "fast.csv").read_bytes() == (folder / "slow.csv").read_bytes(), (ball, radius)
            one, other = (json.loads((folder / name).read_text()) for name in ("fast.json", "slow.json"))
            together += one["summary"].get("fast_path") == "trees"
            assert "fast_path" not in other["summary"]
            assert one["evaluations"] == other["evaluations"]
    assert together > 0  # of few features, points are often sooner done one by one
    with open(folder / "fast.csv") as file:  # something was measured
        assert max(float(row["gamma"] or 0) for row in csv.DictReader(file)) > 0


def rows_of(rng, x, thresholds, count=60):
    """Rows of the data, of which some values are on a threshold, or a radius beside it."""
    rows = x[rng.choice(len(x), count, replace=False)].copy()
    for row in rows:
        at = rng.choice(4, 2, replace=False)
        row[at] = rng.choice(thresholds, 2) + rng.choice([0, 0.3, -0.3, 0.01], 2)
    return rows


@pytest.mark.parametrize("saved", [saved_xgboost, saved_lightgbm])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing, categories", [(0, False), (0.15, False), (0.1, True)])
def test_boosters(harmonia, tmp_path, saved, classes, missing, categories):
    rng = np.random.default_rng(3)
    model, x, thresholds = saved(tmp_path, rng, classes, missing, categories)
    assert_same(harmonia, tmp_path, model, rows_of(rng, x, thresholds), *(["--scale", "std"] if classes == 2 else []))


def test_margins_and_deep_trees(harmonia, tmp_path):
    rng = np.random.default_rng(4)
    model, x, thresholds = saved_xgboost(tmp_path, rng, 2, 0.1, False, depth=11)
    assert_same(harmonia, tmp_path, model, rows_of(rng, x, thresholds), "--margin")


@pytest.mark.parametrize("features", [6, 30, 100])
def test_boosters_as_lightgbm_grows_them(harmonia, tmp_path, features):
    """31 leaves, leaf by leaf: most trees are deeper than those that are packed as complete ones."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3000, features))
    y = (np.sin(2 * x[:, 0] * x[:, 1]) + x[:, 2] + rng.normal(size=len(x)) > 0).astype(int)
    parameters = {"objective": "binary", "seed": 1, "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(x, y), 100)
    booster.save_model(tmp_path / "model.txt")
    nodes = booster.trees_to_dataframe()
    assert (nodes.groupby("tree_index")["node_depth"].max() - 1 > 8).mean() > 0.5
    thresholds = nodes["threshold"].dropna().to_numpy(float)
    assert_same(harmonia, tmp_path, tmp_path / "model.txt", rows_of(rng, x, thresholds, 40), "--scale", "std")


def test_trees_of_onnx_files(harmonia, tmp_path):
    x, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(30, random_state=0).fit(x, y)
    model = save_sklearn(tmp_path / "forest.onnx", forest, x.shape[1], options={"zipmap": False})
    assert_same(harmonia, tmp_path, model, x[::5], "--scale", "std", "--model-kind", "onnx-trees")


def test_with_a_schema(harmonia, tmp_path):
    """Bounds, whole numbers and features that stay."""
    x, y = load_breast_cancer(return_X_y=True)
    booster = xgboost.train({"objective": "binary:logistic", "max_depth": 5}, xgboost.DMatrix(x, y), 15)
    booster.save_model(tmp_path / "model.json")
    features = {"x0": {"bounds": [0, 30]}, "x1": {"integer": True}, "x2": {"immutable": True}, "x3": {"scale": 100}}
    (tmp_path / "schema.json").write_text(json.dumps({"features": features}))
    assert_same(harmonia, tmp_path, tmp_path / "model.json", x[::20], "--schema", tmp_path / "schema.json")
