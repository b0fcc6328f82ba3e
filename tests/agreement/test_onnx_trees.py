"""Trees in ONNX files: our own evaluator answers as ONNX Runtime does, and as the scikit-learn model they come from."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (ExtraTreesRegressor, GradientBoostingClassifier, GradientBoostingRegressor,
                              HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from support.onnx_answers import answers, run_onnx
from support.onnx_models import save_graph, save_sklearn

MARGIN = 1e-5


def both(harmonia, tmp_path, model, rows, *options, kind="onnx-trees"):
    """The answers of our evaluator, after they were found to be those of ONNX Runtime."""
    got, result = answers(harmonia, tmp_path, model, rows, *options)
    assert result["model"]["kind"] == kind
    expected, other = answers(harmonia, tmp_path, model, rows, "--model-kind", "onnx", *options)
    assert other["model"]["kind"] == "onnx"
    # ONNX Runtime's way says why it has no sooner one.
    assert {k: v for k, v in result["model"].items() if k not in ("kind", "fast_path")} == {
        k: v for k, v in other["model"].items() if k not in ("kind", "fast_path")}
    np.testing.assert_allclose(got, expected, atol=MARGIN, rtol=MARGIN)
    if got.shape[1] > 1:
        np.testing.assert_array_equal(got.argmax(axis=1), expected.argmax(axis=1))
    return got


def tree_attributes(model):
    nodes = onnx.load(str(model)).graph.node
    node = next(n for n in nodes if n.op_type.startswith("TreeEnsemble"))
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def rows_on_thresholds(model, rows, seed=1):
    """Rows of the data, with values that are exactly on, just above and just below thresholds of the model."""
    attributes = tree_attributes(model)
    rng = np.random.default_rng(seed)
    rows = np.repeat(rows, 4, axis=0).astype(np.float32)
    for row in rows:
        for _ in range(3):
            i = rng.integers(len(attributes["nodes_values"]))
            value = np.float32(attributes["nodes_values"][i])
            row[attributes["nodes_featureids"][i]] = rng.choice(
                [value, np.nextafter(value, np.float32(np.inf)), np.nextafter(value, np.float32(-np.inf))])
    return rows


CLASSIFIERS = {
    "gbdt": (GradientBoostingClassifier(n_estimators=30, max_depth=3, random_state=1), load_wine),
    "gbdt_two": (GradientBoostingClassifier(n_estimators=40, max_depth=4, random_state=1), load_breast_cancer),
    "forest": (RandomForestClassifier(n_estimators=30, random_state=1), load_wine),
    "forest_two": (RandomForestClassifier(n_estimators=30, random_state=1), load_breast_cancer),
    "tree": (DecisionTreeClassifier(random_state=1), load_wine),
}
REGRESSORS = {
    "gbdt": GradientBoostingRegressor(n_estimators=40, random_state=1),
    "forest": RandomForestRegressor(n_estimators=20, random_state=1),
    "extra": ExtraTreesRegressor(n_estimators=20, random_state=1),
    "tree": DecisionTreeRegressor(random_state=1),
    "histogram": HistGradientBoostingRegressor(max_iter=30, random_state=1),
}


@pytest.mark.parametrize("zipmap", [True, False], ids=["zipmap", "table"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_of_scikit_learn(harmonia, tmp_path, name, zipmap):
    estimator, load = CLASSIFIERS[name]
    x, y = load(return_X_y=True)
    x = x.astype(np.float32)  # so that scikit-learn's thresholds fall between the values that the file has
    estimator.fit(x, y)
    model = save_sklearn(tmp_path / "model.onnx", estimator, x.shape[1], options={"zipmap": zipmap})
    got = both(harmonia, tmp_path, model, x)
    np.testing.assert_allclose(got, estimator.predict_proba(x), atol=MARGIN)
    edges = rows_on_thresholds(model, x[::5])
    got = both(harmonia, tmp_path, model, edges)
    np.testing.assert_allclose(got, estimator.predict_proba(edges), atol=MARGIN)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_of_scikit_learn(harmonia, tmp_path, name):
    estimator = REGRESSORS[name]
    x, y = load_diabetes(return_X_y=True)
    x = x.astype(np.float32)
    estimator.fit(x, y)
    model = save_sklearn(tmp_path / "model.onnx", estimator, 10)
    got = both(harmonia, tmp_path, model, x)
    np.testing.assert_allclose(got[:, 0], estimator.predict(x), rtol=MARGIN)
    edges = rows_on_thresholds(model, x[::5])
    edges[::7, 2] = np.nan
    both(harmonia, tmp_path, model, edges)


def test_margins_of_boosting(harmonia, tmp_path):
    for load in (load_wine, load_breast_cancer):
        x, y = load(return_X_y=True)
        x = x.astype(np.float32)
        estimator = GradientBoostingClassifier(n_estimators=20, random_state=1).fit(x, y)
        model = save_sklearn(tmp_path / "model.onnx", estimator, x.shape[1])
        got, _ = answers(harmonia, tmp_path, model, x, "--margin")
        np.testing.assert_allclose(got, estimator.decision_function(x).reshape(len(x), -1), atol=MARGIN)


def random_ensemble(rng, *, trees, features, depth, outputs, modes, missing, per_leaf):
    """Random trees as attributes; thresholds are few, so that many values are equal to one."""
    a = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                         "missing_value_tracks_true")}
    w = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    thresholds = np.linspace(-1, 1, 9).astype(np.float32)
    for tree in range(trees):
        nodes = []

        def grow(level):
            number = len(nodes)
            nodes.append(None)
            if level == depth or (level > 0 and rng.random() < 0.2):
                nodes[number] = ("LEAF", 0, 0.0, 0, 0, 0)
                for k in rng.choice(outputs, size=min(per_leaf, outputs), replace=False):
                    for key, value in zip(w, (tree, number, int(k), float(np.float32(rng.normal())))):
                        w[key].append(value)
                return number
            yes, no = grow(level + 1), grow(level + 1)
            nodes[number] = (str(rng.choice(modes)), int(rng.integers(features)), float(rng.choice(thresholds)), yes, no,
                             int(missing and rng.random() < 0.5))
            return number

        grow(0)
        for number, node in enumerate(nodes):
            for key, value in zip(a, (tree, number, node[1], node[2], node[0], node[3], node[4], node[5])):
                a[key].append(value)
    return {f"nodes_{k}": v for k, v in a.items()}, w


def save_trees(path, rng, *, classes=0, targets=1, post="NONE", base=None, features=4, aggregate="SUM", per_leaf=1,
               one_score=None, modes=("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"), **keywords):
    outputs = 1 if one_score is not None else classes or targets
    nodes, weights = random_ensemble(rng, trees=9, features=features, depth=5, outputs=outputs, modes=modes, missing=True,
                                     per_leaf=per_leaf, **keywords)
    if one_score is not None:
        weights["ids"] = [one_score] * len(weights["ids"])
    if classes:
        node = helper.make_node("TreeEnsembleClassifier", ["x"], ["label", "p"], domain="ai.onnx.ml", post_transform=post,
                                classlabels_int64s=list(range(classes)), **nodes,
                                **{f"class_{k}": v for k, v in weights.items()}, **({"base_values": base} if base else {}))
        outputs = [("label", TensorProto.INT64, ["N"]), ("p", TensorProto.FLOAT, ["N", classes])]
    else:
        node = helper.make_node("TreeEnsembleRegressor", ["x"], ["p"], domain="ai.onnx.ml", post_transform=post,
                                n_targets=targets, aggregate_function=aggregate, **nodes,
                                **{f"target_{k}": v for k, v in weights.items()}, **({"base_values": base} if base else {}))
        outputs = [("p", TensorProto.FLOAT, ["N", targets])]
    return save_graph(path, [node], [("x", TensorProto.FLOAT, ["N", features])], outputs)


def random_rows(rng, count=200, features=4):
    """Values on thresholds, beside them, between them, and missing."""
    rows = rng.choice(np.linspace(-1, 1, 9), size=(count, features)).astype(np.float32)
    above = np.nextafter(rows, np.float32(np.inf))
    rows = np.where(rng.random(rows.shape) < 0.2, above, rows)
    rows = np.where(rng.random(rows.shape) < 0.3, rng.uniform(-1.5, 1.5, rows.shape).astype(np.float32), rows)
    return np.where(rng.random(rows.shape) < 0.15, np.float32(np.nan), rows)


SETTINGS = {
    "three_classes": dict(classes=3, post="SOFTMAX", base=[0.1, -0.2, 0.3]),
    "three_classes_several_a_leaf": dict(classes=3, post="NONE", per_leaf=3),
    "five_logistic": dict(classes=5, post="LOGISTIC", per_leaf=2),
    "two_classes": dict(classes=2, post="SOFTMAX", per_leaf=2),
    "two_classes_one_score": dict(classes=2, post="LOGISTIC", one_score=0, base=[0.4]),
    "two_classes_one_score_no_base": dict(classes=2, post="LOGISTIC", one_score=0),
    "regression": dict(base=[3.0]),
    "three_targets": dict(targets=3, per_leaf=2, base=[0.5, 1.5, 2.5]),
    "average": dict(aggregate="AVERAGE", base=[1.0]),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SETTINGS)
def test_random_ensembles(harmonia, tmp_path, name, seed):
    rng = np.random.default_rng(seed)
    model = save_trees(tmp_path / "trees.onnx", rng, **SETTINGS[name])
    rows = random_rows(rng)
    got = both(harmonia, tmp_path, model, rows)
    np.testing.assert_allclose(got, run_onnx(model, rows, "p")[0], atol=MARGIN)


@pytest.mark.parametrize("setting", [
    dict(modes=("BRANCH_LEQ", "BRANCH_EQ")), dict(modes=("BRANCH_NEQ",)), dict(aggregate="MIN"), dict(aggregate="MAX"),
    dict(classes=2, post="NONE", one_score=0), dict(classes=2, post="LOGISTIC", one_score=1), dict(post="PROBIT"),
], ids=["eq", "neq", "min", "max", "scores_of_two", "score_of_the_second", "probit"])
def test_what_we_have_no_words_for_is_left_to_onnx_runtime(harmonia, tmp_path, setting):
    rng = np.random.default_rng(5)
    model = save_trees(tmp_path / "trees.onnx", rng, **setting)
    rows = np.nan_to_num(random_rows(rng))
    expected = run_onnx(model, rows, "p")[0]
    if not np.isfinite(expected).all():
        done = harmonia("gamma", model, "uniform:5", "--radius", 0.1)
        assert done.returncode == 3 and "expected finite numbers" in done.stderr
        return
    got, result = answers(harmonia, tmp_path, model, rows)
    assert result["model"]["kind"] == "onnx"
    np.testing.assert_allclose(got, expected, atol=MARGIN)


@pytest.mark.parametrize("cast", [False, True], ids=["double", "cast"])
def test_double_thresholds(harmonia, tmp_path, cast):
    """Numbers that float cannot hold, compared in double; and the same rows, where the graph casts them to float."""
    rng = np.random.default_rng(1)
    nodes, weights = random_ensemble(rng, trees=9, features=4, depth=5, outputs=1, modes=("BRANCH_LEQ", "BRANCH_LT"),
                                     missing=True, per_leaf=1)
    thresholds = np.asarray(nodes.pop("nodes_values"), np.float64) / 3
    values = weights.pop("weights")
    if cast:
        numbers = {"nodes_values": list(thresholds.astype(np.float32)), "target_weights": values}
    else:
        numbers = {f"{name}_as_tensor": helper.make_tensor(name, TensorProto.DOUBLE, [len(v)], v)
                   for name, v in (("nodes_values", thresholds), ("target_weights", values))}
    tree = helper.make_node("TreeEnsembleRegressor", ["c" if cast else "x"], ["y"], domain="ai.onnx.ml", n_targets=1,
                            **nodes, **numbers, **{f"target_{k}": v for k, v in weights.items()})
    before = [helper.make_node("Cast", ["x"], ["c"], to=TensorProto.FLOAT)] if cast else []
    model = save_graph(tmp_path / "trees.onnx", [*before, tree], [("x", TensorProto.DOUBLE, ["N", 4])],
                       [("y", TensorProto.FLOAT, ["N", 1])])
    rows = rng.choice(np.linspace(-1, 1, 9), size=(200, 4)).astype(np.float32).astype(np.float64) / 3
    rows = np.where(rng.random(rows.shape) < 0.3, np.nextafter(rows, np.inf), rows)
    rows[::9, 1] = np.nan
    got = both(harmonia, tmp_path, model, rows)
    np.testing.assert_allclose(got, run_onnx(model, rows)[0], atol=MARGIN)
