"""Models that LightGBM saved answer as LightGBM does."""

import lightgbm
import numpy as np
import pytest
from tree_answers import answers, assert_close, assert_same_labels, columns_of, hard_rows

ROWS, COLUMNS = 400, 5


def thresholds(booster: lightgbm.Booster) -> list[tuple[int, float]]:
    """Column and value of every split on numbers, as the file has them."""
    found = []
    for tree in booster.model_to_string().split("Tree=")[1:]:
        fields = dict(line.split("=", 1) for line in tree.split("\n\n")[0].splitlines() if "=" in line)
        lists = (fields.get(key, "").split() for key in ("split_feature", "threshold", "decision_type"))
        found += [(int(column), float(value)) for column, value, kind in zip(*lists) if int(kind) % 2 == 0 and value != "inf"]
    return found


def check(harmonia, folder, booster, rng, categories=None):
    """Margins and predictions agree."""
    x = hard_rows(rng, booster.num_feature(), thresholds(booster), categories, huge=1e300)
    margins, predicted = booster.predict(x, raw_score=True), booster.predict(x)
    path = folder / "model.txt"
    booster.save_model(path)
    if "\naverage_output\n" in path.read_text():  # LightGBM's raw score is the sum there, its prediction is of the mean
        margins = margins / booster.current_iteration()
    assert_close(answers(harmonia, folder, path, x, "--margin"), margins, "margins")
    ours = answers(harmonia, folder, path, x)
    assert_close(ours, predicted, "predictions")
    assert_same_labels(ours.argmax(axis=1), columns_of(predicted).argmax(axis=1), margins, "labels")
    if columns_of(margins).shape[1] == 1:
        assert ((ours[:, 0] >= 0.5) == (predicted >= 0.5))[np.abs(predicted - 0.5) > 1e-9].all()


def table(rng, missing=0.1):
    x = rng.normal(size=(ROWS, COLUMNS))
    x[rng.random(x.shape) < missing] = np.nan
    x[:, 2] = np.round(x[:, 2])  # with zeros
    return x, np.nansum(x * [1, -2, 0.5, 0, 1], axis=1) + np.nan_to_num(x[:, 0]) * np.nan_to_num(x[:, 1])


def train(rng, parameters, x, label, rounds=12, categories=(), **data):
    seed = {"seed": int(rng.integers(1 << 30)), "verbose": -1, "num_threads": 1, "min_data_in_leaf": 3}
    return lightgbm.train({**seed, **parameters}, lightgbm.Dataset(x, label=label, categorical_feature=list(categories), **data), rounds)


REGRESSION = ["regression", "regression_l1", "huber", "fair", "quantile", "mape"]
POSITIVE = ["poisson", "gamma", "tweedie"]
PROBABILITY = ["binary", "cross_entropy", "cross_entropy_lambda"]


@pytest.mark.parametrize("objective", REGRESSION + POSITIVE + PROBABILITY + ["lambdarank", "rank_xendcg"])
def test_objectives_of_one_output(harmonia, tmp_path, objective):
    rng = np.random.default_rng(sum(objective.encode()))
    x, score = table(rng)
    label, data = score, {}
    if objective in POSITIVE:
        label = np.exp(score / 4)
    elif objective in PROBABILITY:
        label = (score > 0).astype(float)
    elif "rank" in objective:
        label, data = (score > 0).astype(int), {"group": [10] * (ROWS // 10)}
    parameters = {"objective": objective, "num_leaves": int(rng.integers(2, 40))}
    check(harmonia, tmp_path, train(rng, parameters, x, label, **data), rng)
    if objective == "binary":
        check(harmonia, tmp_path, train(rng, {**parameters, "sigmoid": 0.6, "is_unbalance": True}, x, label), rng)
    if objective in ("regression", "regression_l1"):
        check(harmonia, tmp_path, train(rng, {**parameters, "reg_sqrt": True}, x, 9 * label), rng)


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_classes(harmonia, tmp_path, objective, classes):
    rng = np.random.default_rng(classes)
    x, score = table(rng)
    label = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    check(harmonia, tmp_path, train(rng, {"objective": objective, "num_class": classes, "sigmoid": 1.7}, x, label), rng)


@pytest.mark.parametrize("missing", [{}, {"use_missing": False}, {"zero_as_missing": True}], ids=["nan", "unused", "zero"])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_missing_values(harmonia, tmp_path, missing, share):
    """Without missing values in training, or with zeros for them, NaN is another thing than with them."""
    rng = np.random.default_rng(4)
    x, score = table(rng, share)
    booster = train(rng, {"objective": "regression", "num_leaves": 20, **missing}, x, score)
    kinds = {int(kind) >> 2 for line in booster.model_to_string().splitlines() if line.startswith("decision_type=") for kind in line[14:].split()}
    assert kinds == ({1} if "zero_as_missing" in missing else {2} if share > 0 and not missing else {0})
    check(harmonia, tmp_path, booster, rng)


def test_rules_that_differ_between_trees(harmonia, tmp_path):
    rng = np.random.default_rng(5)
    x, score = table(rng, 0.2)
    first = train(rng, {"objective": "regression"}, x, score, rounds=4)
    whole = lightgbm.Dataset(x, label=score, params={"zero_as_missing": True, "verbose": -1})
    booster = lightgbm.train({"objective": "regression", "verbose": -1, "zero_as_missing": True, "num_threads": 1}, whole, 4, init_model=first)
    check(harmonia, tmp_path, booster, rng)


@pytest.mark.parametrize("leaves, depth", [(2, 1), (4, 2), (8, 3), (31, -1), (200, 12), (300, -1)])
def test_shapes(harmonia, tmp_path, leaves, depth):
    rng = np.random.default_rng(leaves)
    x, score = table(rng)
    check(harmonia, tmp_path, train(rng, {"num_leaves": leaves, "max_depth": depth, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0}, x, score), rng)


@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass", "poisson"])
@pytest.mark.parametrize("boosting", [{"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.1}, {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, {"extra_trees": True}])
def test_boosting(harmonia, tmp_path, objective, boosting):
    rng = np.random.default_rng(6)
    x, score = table(rng)
    label = {"regression": score, "binary": (score > 0), "multiclass": np.digitize(score, [-1, 1]), "poisson": np.exp(score / 4)}[objective]
    check(harmonia, tmp_path, train(rng, {"objective": objective, **({"num_class": 3} if objective == "multiclass" else {}), **boosting}, x, label.astype(float)), rng)


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
    parameters = {"objective": "regression", "max_cat_to_onehot": to_onehot, "min_data_per_group": 1, "cat_smooth": 1, "cat_l2": 1}
    booster = train(rng, parameters, x, score, categories=categories)
    assert "num_cat=0" not in booster.model_to_string().split("Tree=")[2]
    check(harmonia, tmp_path, booster, rng, categories)


def test_trees_of_one_leaf(harmonia, tmp_path):
    rng = np.random.default_rng(7)
    x, score = table(rng)
    check(harmonia, tmp_path, train(rng, {"objective": "regression", "min_gain_to_split": 1e9}, x, score, rounds=2), rng)
    rare = np.where(np.arange(ROWS) < 2, 2, (score > 0).astype(int))  # too few of class 2 for a split
    check(harmonia, tmp_path, train(rng, {"objective": "multiclass", "num_class": 3, "min_data_in_leaf": 30}, x, rare), rng)


def test_an_objective_of_ones_own(harmonia, tmp_path):
    rng = np.random.default_rng(8)
    x, score = table(rng)
    booster = train(rng, {"objective": lambda predicted, data: (predicted - data.get_label(), np.ones(ROWS))}, x, score)
    check(harmonia, tmp_path, booster, rng)


def test_forms_of_the_file(harmonia, tmp_path):
    """Windows line ends, no parameters, no importances, and names of features."""
    rng = np.random.default_rng(9)
    x, score = table(rng)
    booster = train(rng, {"objective": "binary"}, x, score > 0, feature_name=["a", "b b", "c", "d", "e"])
    text = booster.model_to_string()
    rows = hard_rows(rng, COLUMNS, thresholds(booster))
    for form in (text, text.replace("\n", "\r\n"), text.split("parameters:")[0], text.split("end of trees")[0] + "end of trees\n", "\n" + text):
        path = tmp_path / "model.txt"
        path.write_bytes(form.encode())
        assert_close(answers(harmonia, tmp_path, path, rows), booster.predict(rows), "predictions")
