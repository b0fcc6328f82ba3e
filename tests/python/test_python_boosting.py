"""gamma of boosters in training: read tree by tree, it is that of the whole booster to the bit."""

import copy
import gc
import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost

import harmonia as hm
from harmonia import _training
from harmonia._growing import GrowingBooster
from harmonia.lightgbm import gamma_callback
from harmonia.xgboost import GammaCallback

RNG = np.random.default_rng(3)
X = RNG.normal(size=(400, 6))
Y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(int)
CLASSES = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)
GAPS = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
FRAME = pd.DataFrame(X, columns=list("abcdef")).assign(kind=pd.Categorical(RNG.choice(list("uvw"), len(X))))
FRAME_Y = Y ^ (FRAME["kind"] == "u").to_numpy()
WATCHED = slice(0, 60)


@pytest.fixture
def measured(monkeypatch):
    """What the callback measured: the results, beside those of the booster anew, and what was read in parts."""
    seen = {"grown": [], "anew": [], "in_parts": [], "parts": []}
    measure, part = _training.gamma, GrowingBooster._part

    def both(subject, *arguments, **options):
        grown = isinstance(subject, GrowingBooster)
        seen["grown"].append(measure(subject, *arguments, **options))
        seen["anew"].append(measure(subject.booster if grown else subject, *arguments, **options))
        seen["in_parts"].append(grown)
        return seen["grown"][-1]

    def read(self, first, last):
        found = part(self, first, last)
        seen["parts"].append((first, last) if found is not None else None)
        return found

    monkeypatch.setattr(_training, "gamma", both)
    monkeypatch.setattr(GrowingBooster, "_part", read)
    return seen


def said(result):
    """What a result says, but for its time, and its path: few trees that look at two columns are a table of cells."""
    document = {**result.to_dict(), "seconds": 0}
    for part in ("model", "summary"):
        document[part] = {name: value for name, value in document[part].items() if name != "fast_path"}
    return document


def expect_equal(seen, history, rounds, in_parts=True):
    """Whole documents are the same, but for the time that they took and the way there. in_parts: how they are read; None: either way."""
    assert history["round"] == rounds and len(seen["grown"]) == len(rounds)
    assert in_parts is None or seen["in_parts"] == [in_parts] * len(rounds)
    for mean, grown, anew in zip(history["gamma"], seen["grown"], seen["anew"]):
        assert mean == anew.summary.mean
        assert said(grown) == said(anew)


def in_turn(rounds):
    """What is read when there are so many rounds: those that are new, and the last that was known."""
    return [(max(0, before - 1), now) for before, now in zip([0, *rounds], rounds)]


def train_xgboost(watch, parameters, rounds=12, x=X, y=Y, **more):
    matrix = xgboost.DMatrix(x, y, enable_categorical=True)
    return xgboost.train({"nthread": 1, "max_depth": 4, **parameters}, matrix, rounds, evals=[(matrix, "train")],
                         callbacks=[watch], verbose_eval=False, **more)


BINARY = {"objective": "binary:logistic"}
SOFTPROB = {"objective": "multi:softprob", "num_class": 3}


@pytest.mark.parametrize(
    "parameters, data, options",
    [
        (BINARY, (X, Y), {}),
        (BINARY, (X, Y), {"margin": True, "ball": "cross", "explain": 2}),
        (BINARY, (X, Y), {"scale": "std", "average": "solid"}),
        (SOFTPROB, (X, CLASSES), {"output": "all"}),
        ({**SOFTPROB, "objective": "multi:softmax"}, (X, CLASSES), {"output": "label"}),
        ({"objective": "reg:squarederror", "eta": 1}, (X, 1e3 * X[:, 0] * X[:, 1]), {"ball": "one-hot"}),
        ({"objective": "reg:squarederror", "multi_strategy": "one_output_per_tree"}, (X, np.c_[Y, X[:, 0]]), {"output": "norm"}),
        ({"objective": "reg:squarederror", "multi_strategy": "multi_output_tree"}, (X, np.c_[Y, X[:, 0]]), {"output": "norm"}),
        ({"objective": "count:poisson", "num_parallel_tree": 3, "subsample": 0.7}, (X, CLASSES), {}),
        ({**BINARY, "gamma": 1e9}, (X, Y), {}),  # trees of a single leaf
        (BINARY, (GAPS, Y), {}),
        (BINARY, (FRAME, FRAME_Y), {}),
        (BINARY, (X, Y), {"sample": 3}),
        (BINARY, (X, Y), {"ball": "rotated:2"}),
    ],
)
def test_xgboost_is_the_whole_to_the_bit(measured, parameters, data, options):
    x, y = data
    watch = GammaCallback(x[WATCHED], 0.1, **options)
    train_xgboost(watch, parameters, x=x, y=y)
    expect_equal(measured, watch.history, list(range(12)))
    assert measured["parts"] == in_turn(range(1, 13))


def test_xgboost_reads_what_is_new_since_the_last_measurement(measured):
    watch = GammaCallback(X[WATCHED], 0.1, period=5)
    train_xgboost(watch, BINARY)
    expect_equal(measured, watch.history, [0, 5, 10])
    assert measured["parts"] == in_turn([1, 6, 11])


def test_xgboost_may_go_on_from_a_booster(measured):
    first = xgboost.train({"nthread": 1, **BINARY}, xgboost.DMatrix(X, Y), 7)
    watch = GammaCallback(X[WATCHED], 0.1)
    train_xgboost(watch, BINARY, 4, xgb_model=first)
    expect_equal(measured, watch.history, [0, 1, 2, 3])
    assert measured["parts"] == in_turn([8, 9, 10, 11])


def test_xgboost_trees_may_be_updated(measured):
    """Trees of another training come back one by one; XGBoost gives no parts until the last."""
    first = xgboost.train({"nthread": 1, **BINARY}, xgboost.DMatrix(X, Y), 4)
    watch = GammaCallback(X[WATCHED], 0.1)
    with pytest.warns(UserWarning, match="updater"):
        train_xgboost(watch, {**BINARY, "process_type": "update", "updater": "refresh"}, 4, y=1 - Y, xgb_model=first)
    expect_equal(measured, watch.history, [0, 1, 2, 3], in_parts=None)


def test_xgboost_dart_is_read_in_full(measured):
    watch = GammaCallback(X[WATCHED], 0.1)
    train_xgboost(watch, {**BINARY, "booster": "dart", "rate_drop": 0.5, "seed": 1}, 8)
    expect_equal(measured, watch.history, list(range(8)), in_parts=False)


def test_xgboost_stops_early(measured):
    watch = GammaCallback(X[WATCHED], 0.1)
    model = xgboost.XGBClassifier(n_estimators=60, n_jobs=1, learning_rate=1.5, early_stopping_rounds=3, callbacks=[watch])
    model.fit(X[:200], Y[:200], eval_set=[(X[200:], Y[200:])], verbose=False)
    rounds = model.get_booster().num_boosted_rounds()
    assert rounds < 60
    expect_equal(measured, watch.history, list(range(rounds)))


class SpoilRows(xgboost.callback.TrainingCallback):
    """Changes a data frame in place after the first round."""

    def __init__(self, frame):
        self.frame = frame

    def after_iteration(self, model, epoch, evals_log):
        self.frame["a"] = 5.0
        return False


def test_rows_are_read_when_a_training_begins():
    matrix = xgboost.DMatrix(FRAME.drop(columns="kind"), Y)
    rows = FRAME.drop(columns="kind")[WATCHED].copy()
    watch = GammaCallback(rows, 0.1)
    as_it_was = hm.gamma(xgboost.train(BINARY, matrix, 4), rows, 0.1).summary.mean
    xgboost.train(BINARY, matrix, 4, callbacks=[watch, SpoilRows(rows)])
    assert watch.history["gamma"][-1] == as_it_was
    booster = xgboost.train(BINARY, matrix, 4, callbacks=[watch])
    assert watch.history["gamma"][-1] == hm.gamma(booster, rows, 0.1).summary.mean != as_it_was


def test_a_measurement_that_fails_leaves_nothing_half_read():
    rows = RNG.normal(size=(5000, 2))  # more than one block of them
    watch = _training.Watch(rows, 0.1, 1, False, 1, 0.0, {"batch": 100})
    calls = []

    def fails(batch):
        calls.append(len(batch))
        if len(calls) == 5:
            raise RuntimeError("no more")
        return (batch**2).sum(axis=1)

    with pytest.raises(RuntimeError, match="no more"):
        watch.measure(fails, 0, 0.0)
    watch.measure(fails, 1, 0.0)
    assert watch.history["round"] == [1]
    assert watch.latest == hm.gamma(fails, rows, 0.1, batch=100).summary.mean


def test_a_callback_may_watch_two_trainings(measured):
    watch = GammaCallback(X[WATCHED], 0.1)
    train_xgboost(watch, BINARY, 3)
    first = watch.history
    train_xgboost(watch, {**BINARY, "max_depth": 2}, 3)
    expect_equal({k: v[3:] for k, v in measured.items()}, watch.history, [0, 1, 2])
    assert watch.history != first and measured["parts"] == 2 * in_turn([1, 2, 3])


def test_a_booster_that_shrinks_or_changes_is_read_anew():
    booster = train_xgboost(GammaCallback(X[:5]), BINARY, 8)
    shorter, growing = booster[:3], GrowingBooster("xgboost", False)
    for now in (booster, shorter, booster):
        subject = growing.look(now)
        assert subject is growing
        np.testing.assert_array_equal(hm.gamma(subject, X[WATCHED], 0.1).gamma, hm.gamma(now, X[WATCHED], 0.1).gamma)
    for twin in (copy.deepcopy(growing), pickle.loads(pickle.dumps(growing))):
        assert twin.model is None and twin.look(booster) is twin


def test_a_method_that_is_asked_for_is_called(measured):
    watch = GammaCallback(X[WATCHED], 0.1, method="inplace_predict")
    train_xgboost(watch, BINARY, 2)
    expect_equal(measured, watch.history, [0, 1], in_parts=False)


def test_names_and_categories_are_looked_at_as_always():
    with pytest.raises(hm.InputError, match="trained with"):
        train_xgboost(GammaCallback(FRAME[list("bacdef")]), BINARY, 3, x=FRAME[list("abcdef")])
    other = FRAME.assign(kind=pd.Categorical(["u", "t"] * (len(FRAME) // 2)))
    with pytest.raises(hm.InputError, match="'t'"):
        train_xgboost(GammaCallback(other), BINARY, 3, x=FRAME, y=FRAME_Y)


def train_lightgbm(watch, parameters, rounds=12, x=X, y=Y, **more):
    data = lightgbm.Dataset(x, y)
    return lightgbm.train({"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5, "num_leaves": 12, **parameters}, data,
                          rounds, valid_sets=[data], callbacks=[watch], **more)


@pytest.mark.parametrize(
    "parameters, data, options",
    [
        ({"objective": "binary"}, (X, Y), {}),
        ({"objective": "binary"}, (X, Y), {"margin": True, "ball": "cross"}),
        ({"objective": "multiclass", "num_class": 3}, (X, CLASSES), {"output": "all"}),
        ({"objective": "regression", "learning_rate": 1.0}, (X, 1e4 + 1e3 * X[:, 0] * X[:, 1]), {"scale": "range"}),
        ({"objective": "regression", "boost_from_average": False}, (X, 5 + X[:, 0]), {}),
        ({"objective": "poisson", "data_sample_strategy": "goss"}, (X, CLASSES), {}),
        ({"objective": "binary", "bagging_freq": 1, "bagging_fraction": 0.5}, (GAPS, Y), {}),
        ({"objective": "binary", "zero_as_missing": True}, (np.round(X), Y), {}),
        ({"objective": "binary"}, (FRAME, FRAME_Y), {}),
        ({"objective": "binary"}, (X, Y), {"sample": 3}),
    ],
)
def test_lightgbm_is_the_whole_to_the_bit(measured, parameters, data, options):
    x, y = data
    watch = gamma_callback(x[WATCHED], 0.1, **options)
    train_lightgbm(watch, parameters, x=x, y=y)
    expect_equal(measured, watch.history, list(range(12)))
    assert measured["parts"] == in_turn(range(1, 13))


@pytest.mark.parametrize(
    "parameters",
    [{"boosting": "dart", "drop_rate": 0.5}, {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}],
)
def test_lightgbm_that_cannot_be_read_in_parts_is_read_in_full(measured, parameters):
    watch = gamma_callback(X[WATCHED], 0.1)
    train_lightgbm(watch, {"objective": "binary", **parameters}, 6)
    expect_equal(measured, watch.history, list(range(6)), in_parts=False)


def test_lightgbm_reads_what_is_new_since_the_last_measurement(measured):
    watch = gamma_callback(X[WATCHED], 0.1, period=4)
    train_lightgbm(watch, {"objective": "binary"}, 10)
    expect_equal(measured, watch.history, [0, 4, 8])
    assert measured["parts"] == in_turn([1, 5, 9])


def test_lightgbm_may_go_on_from_a_booster(measured):
    first = train_lightgbm(gamma_callback(X[:5]), {"objective": "binary"}, 5)
    for seen in measured.values():
        seen.clear()
    watch = gamma_callback(X[WATCHED], 0.1)
    booster = train_lightgbm(watch, {"objective": "binary"}, 3, init_model=first)
    expect_equal(measured, watch.history, watch.history["round"])
    assert booster.current_iteration() == 8 and measured["parts"] == in_turn([6, 7, 8])


def test_lightgbm_may_find_nothing_more_to_split(measured):
    """Then rounds go by and no tree is added."""
    watch = gamma_callback(X[WATCHED], 0.1)
    booster = train_lightgbm(watch, {"objective": "regression", "min_data_in_leaf": 250}, 4)
    assert booster.current_iteration() < 4
    expect_equal(measured, watch.history, [0, 1, 2, 3])


def test_lightgbm_stops_early(measured):
    watch = gamma_callback(X[WATCHED], 0.1)
    model = lightgbm.LGBMClassifier(n_estimators=60, learning_rate=1.0, min_child_samples=3, verbose=-1, n_jobs=1)
    model.fit(X[:200], Y[:200], eval_set=[(X[200:], Y[200:])], callbacks=[lightgbm.early_stopping(3, verbose=False), watch])
    assert 0 < len(watch.history["round"]) < 60
    expect_equal(measured, watch.history, list(range(len(watch.history["round"]))))


def test_lightgbm_that_was_cut_at_its_best_iteration_is_read_in_full():
    booster = train_lightgbm(gamma_callback(X[:5]), {"objective": "binary"}, 8)
    growing = GrowingBooster("lightgbm", False)
    assert growing.look(booster) is growing
    booster.best_iteration = 3
    assert growing.look(booster) is booster


def expect_as_anew(growing, booster):
    subject = growing.look(booster)
    assert subject is growing
    np.testing.assert_array_equal(hm.gamma(subject, X[WATCHED], 0.1).gamma, hm.gamma(booster, X[WATCHED], 0.1).gamma)


def test_xgboost_that_became_another_is_read_anew():
    """The same object and as many rounds, but other trees."""
    matrix, growing = xgboost.DMatrix(X, Y), GrowingBooster("xgboost", False)
    booster = xgboost.train({"nthread": 1, **BINARY}, matrix, 4)
    expect_as_anew(growing, booster)
    kept = growing.model
    expect_as_anew(growing, booster)
    assert growing.model is kept
    booster.load_model(xgboost.train({"nthread": 1, "max_depth": 2, **BINARY}, matrix, 4).save_raw())
    expect_as_anew(growing, booster)
    assert growing.model is not kept


@pytest.mark.parametrize("classes", [1, 3])
def test_lightgbm_whose_last_round_changed_is_read_anew(classes):
    objective = {"objective": "multiclass", "num_class": 3} if classes == 3 else {"objective": "binary"}
    booster = lightgbm.Booster({"verbose": -1, "num_threads": 1, **objective}, lightgbm.Dataset(X, CLASSES if classes == 3 else Y))
    growing = GrowingBooster("lightgbm", False)
    for _ in range(3):
        booster.update()
    expect_as_anew(growing, booster)
    kept = growing.model
    booster.update()
    expect_as_anew(growing, booster)
    assert growing.model is kept
    changes = (
        lambda: (booster.rollback_one_iter(), booster.reset_parameter({"learning_rate": 0.5}), booster.update()),
        lambda: (booster.rollback_one_iter(), booster.reset_parameter({"learning_rate": 0.2}), booster.update(), booster.update()),
        lambda: booster.set_leaf_output(booster.num_trees() - 1, 0, 3.5),
    )
    for change in changes:
        change()
        expect_as_anew(growing, booster)
        assert growing.model is not kept
        kept = growing.model


def test_lightgbm_that_another_callback_stopped_is_let_go_of():
    """Nobody tells a callback then: it sees when its history is looked at, or the booster is gone."""
    def stopped_early():
        watch = gamma_callback(X[WATCHED], 0.1)
        train, valid = lightgbm.Dataset(X[:200], Y[:200]), lightgbm.Dataset(X[200:], Y[200:])
        parameters = {"objective": "binary", "learning_rate": 1.0, "min_data_in_leaf": 3, "verbose": -1, "num_threads": 1}
        booster = lightgbm.train(parameters, train, 60, valid_sets=[valid],
                                 callbacks=[lightgbm.early_stopping(3, verbose=False), watch])
        assert booster.current_iteration() < 60 and watch._watch._growing.model is not None
        return watch, booster

    watch, booster = stopped_early()
    rounds = watch.history["round"]
    assert rounds and watch._watch._growing.model is None and watch.history["round"] == rounds
    watch, booster = stopped_early()
    del booster
    gc.collect()
    assert watch._watch._growing.model is None


def test_history_may_be_looked_at_while_training_goes_on(measured):
    watch = gamma_callback(X[WATCHED], 0.1)
    lengths = []
    train = lightgbm.Dataset(X, Y)
    lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 1}, train, 4,
                   callbacks=[watch, lambda env: lengths.append(len(watch.history["round"]))])
    assert lengths == [1, 2, 3, 4] and measured["parts"] == in_turn([1, 2, 3, 4])
