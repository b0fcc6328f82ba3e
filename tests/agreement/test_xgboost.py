"""Models that XGBoost saved answer as XGBoost does."""

import itertools
import json

import numpy as np
import pytest
import xgboost
from tree_answers import answers, assert_close, assert_same_labels, columns_of, hard_rows

ROWS, COLUMNS = 400, 5


def thresholds(booster: xgboost.Booster) -> list[tuple[int, float]]:
    """Column and value of every split on numbers."""
    booster_json = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]
    found = []
    for tree in booster_json.get("gbtree", booster_json)["model"]["trees"]:
        for left, column, value, kind in zip(tree["left_children"], tree["split_indices"], tree["split_conditions"], tree["split_type"]):
            if left != -1 and kind == 0:
                found.append((column, float(np.float32(value))))
    return found


def check(harmonia, folder, booster, rng, categories=None, types=None):
    """Margins and predictions agree, from a JSON file and from a UBJSON file."""
    x = hard_rows(rng, booster.num_features(), thresholds(booster), categories)
    data = xgboost.DMatrix(x, feature_names=booster.feature_names, feature_types=types, enable_categorical=True)
    margins, predicted = booster.predict(data, output_margin=True), booster.predict(data)
    labels = "multi:softmax" in booster.save_config() or "binary:hinge" in booster.save_config()
    for form in ("json", "ubj"):
        path = folder / f"model.{form}"
        booster.save_model(path)
        assert_close(answers(harmonia, folder, path, x, "--margin"), margins, f"margins from {form}")
        ours = answers(harmonia, folder, path, x)
        if labels:
            assert_same_labels(ours[:, 0], predicted, margins, f"labels from {form}")
        else:
            assert_close(ours, predicted, f"predictions from {form}")
            assert_same_labels(ours.argmax(axis=1), columns_of(predicted).argmax(axis=1), margins, f"labels from {form}")


def table(rng, missing=0.1):
    x = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    x[rng.random(x.shape) < missing] = np.nan
    score = np.nansum(x * [1, -2, 0.5, 0, 1], axis=1) + np.nan_to_num(x[:, 0]) * np.nan_to_num(x[:, 1])
    return x, score


def train(rng, parameters, label, rounds=12, x=None, **info):
    data = xgboost.DMatrix(x, label=label, **info)
    return xgboost.train({"seed": int(rng.integers(1 << 30)), "verbosity": 0, "nthread": 1, **parameters}, data, rounds)


REGRESSION = ["reg:squarederror", "reg:squaredlogerror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror", "rank:pairwise", "rank:ndcg"]
POSITIVE = ["count:poisson", "reg:gamma", "reg:tweedie", "survival:cox"]
BINARY = ["binary:logistic", "binary:logitraw", "binary:hinge", "reg:logistic", "rank:map"]


@pytest.mark.parametrize("objective", REGRESSION + POSITIVE + BINARY)
def test_objectives_of_one_output(harmonia, tmp_path, objective):
    rng = np.random.default_rng(sum(objective.encode()))
    x, score = table(rng)
    label, info = score, {}
    if objective in BINARY or objective == "rank:ndcg":
        label = (score > 0).astype(float)
    elif objective in POSITIVE or objective == "reg:squaredlogerror":
        label = np.round(np.exp(score / 4)) + 1
    if objective.startswith("rank:"):
        info["qid"] = np.repeat(np.arange(ROWS // 10), 10)
    parameters = {"objective": objective, "max_depth": int(rng.integers(1, 7)), "eta": 0.3}
    if objective == "reg:quantileerror":
        parameters["quantile_alpha"] = 0.3
    check(harmonia, tmp_path, train(rng, parameters, label, x=x, **info), rng)
    if objective not in ("reg:absoluteerror", "reg:quantileerror"):
        parameters["base_score"] = 0.7
        check(harmonia, tmp_path, train(rng, parameters, label, x=x, **info), rng)


def test_survival_in_intervals(harmonia, tmp_path):
    rng = np.random.default_rng(3)
    x, score = table(rng)
    data = xgboost.DMatrix(x)
    data.set_float_info("label_lower_bound", np.exp(score / 4))
    data.set_float_info("label_upper_bound", np.where(score > 0, np.inf, np.exp(score / 4)))
    for base in ({}, {"base_score": 2.5}):
        booster = xgboost.train({"objective": "survival:aft", "max_depth": 4, **base}, data, 10)
        check(harmonia, tmp_path, booster, rng)


@pytest.mark.parametrize("objective, classes", list(itertools.product(["multi:softprob", "multi:softmax"], [2, 3, 7])))
def test_classes(harmonia, tmp_path, objective, classes):
    rng = np.random.default_rng(classes)
    x, score = table(rng)
    label = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        parameters = {"objective": objective, "num_class": classes, "max_depth": 4, "multi_strategy": strategy, "tree_method": "hist"}
        check(harmonia, tmp_path, train(rng, parameters, label, x=x), rng)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic", "reg:quantileerror"])
def test_several_targets(harmonia, tmp_path, strategy, objective):
    rng = np.random.default_rng(11)
    x, score = table(rng)
    label = np.stack([score, -score, np.abs(score)], axis=1)
    parameters = {"objective": objective, "max_depth": 5, "multi_strategy": strategy, "tree_method": "hist"}
    if objective == "binary:logistic":
        label = (label > 0.5).astype(float)
    if objective == "reg:quantileerror":
        label, parameters["quantile_alpha"] = score, [0.1, 0.5, 0.9]
    check(harmonia, tmp_path, train(rng, parameters, label, x=x), rng)


@pytest.mark.parametrize("depth", [1, 2, 3, 6, 8, 9, 12])
def test_depths(harmonia, tmp_path, depth):
    rng = np.random.default_rng(depth)
    x, score = table(rng)
    for policy in ({}, {"tree_method": "exact"}, {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 3 * depth}):
        parameters = {"max_depth": depth, "min_child_weight": 0, "lambda": 0.1, "gamma": 0.02, **policy}
        check(harmonia, tmp_path, train(rng, parameters, score, x=x), rng)


@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic", "multi:softprob"])
def test_dropout_and_forests(harmonia, tmp_path, objective):
    rng = np.random.default_rng(5)
    x, score = table(rng)
    label = score if objective == "reg:squarederror" else np.digitize(score, [0] if objective == "binary:logistic" else [-1, 1])
    common = {"objective": objective, "max_depth": 4, **({"num_class": 3} if objective == "multi:softprob" else {})}
    for parameters in (
        {"booster": "dart", "rate_drop": 0.4, "one_drop": 1},
        {"booster": "dart", "rate_drop": 0.4, "normalize_type": "forest", "num_parallel_tree": 3},
        {"num_parallel_tree": 7, "subsample": 0.7, "colsample_bynode": 0.7},
        {"num_parallel_tree": 30, "subsample": 0.7, "eta": 1},
    ):
        check(harmonia, tmp_path, train(rng, {**common, **parameters}, label, x=x, rounds=1 if "eta" in parameters else 8), rng)


@pytest.mark.parametrize("to_onehot", [1, 100])
def test_categories(harmonia, tmp_path, to_onehot):
    rng = np.random.default_rng(to_onehot)
    x, score = table(rng)
    categories = {1: 6, 3: 70}
    for column, count in categories.items():
        missing = np.isnan(x[:, column])
        x[:, column] = rng.integers(0, count, ROWS)
        score += rng.normal(size=count)[x[:, column].astype(int)]
        x[missing, column] = np.nan
    types = ["c" if column in categories else "q" for column in range(COLUMNS)]
    for tree_method in ("hist", "approx"):
        parameters = {"max_depth": 6, "max_cat_to_onehot": to_onehot, "tree_method": tree_method}
        booster = train(rng, parameters, score, x=x, feature_types=types, enable_categorical=True)
        assert '"split_type":[1' in booster.save_raw("json").decode() or ",1," in booster.save_raw("json").decode()
        check(harmonia, tmp_path, booster, rng, categories, types)


def test_pruned_trees_and_stumps_of_one_leaf(harmonia, tmp_path):
    """Pruning leaves deleted nodes in the file; a heavy gamma leaves nothing but the root."""
    rng = np.random.default_rng(8)
    x, score = table(rng)
    booster = train(rng, {"max_depth": 8, "gamma": 6, "tree_method": "exact"}, score, x=x)
    assert '"num_deleted":"0"' not in booster.save_raw("json").decode().split('"tree_param"')[1]
    check(harmonia, tmp_path, booster, rng)
    check(harmonia, tmp_path, train(rng, {"gamma": 1e9}, score, x=x, rounds=2), rng)


@pytest.mark.parametrize("objective, label", [("binary:logistic", 1.0), ("binary:logistic", 0.0), ("count:poisson", 1.0), ("reg:gamma", 1.0)])
def test_labels_that_are_all_the_same(harmonia, tmp_path, objective, label):
    rng = np.random.default_rng(9)
    x, _ = table(rng)
    check(harmonia, tmp_path, train(rng, {"objective": objective}, np.full(ROWS, label), x=x, rounds=3), rng)


def test_continued_training_and_slices(harmonia, tmp_path):
    rng = np.random.default_rng(10)
    x, score = table(rng)
    data = xgboost.DMatrix(x, label=score)
    booster = xgboost.train({"max_depth": 3}, data, 5)
    check(harmonia, tmp_path, xgboost.train({"max_depth": 5, "eta": 0.1}, data, 5, xgb_model=booster), rng)
    check(harmonia, tmp_path, booster[1:4], rng)
