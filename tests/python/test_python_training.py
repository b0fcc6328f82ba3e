"""gamma in searches and while boosters are trained."""

import copy
import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.tree import DecisionTreeClassifier

import harmonia as hm
from harmonia.lightgbm import gamma_callback
from harmonia.sklearn import gamma_scorer
from harmonia.xgboost import GammaCallback

WINE = load_wine(as_frame=True)
FRAME, Y = WINE.data[["alcohol", "flavanoids"]], WINE.target
ROWS = FRAME.to_numpy()
RNG = np.random.default_rng(0)
NOISY = np.where(RNG.random(len(Y)) < 0.25, RNG.integers(0, 3, len(Y)), Y)


def test_the_scorer_is_minus_the_mean():
    model = DecisionTreeClassifier(random_state=0).fit(ROWS, Y)
    assert gamma_scorer(0.1)(model, ROWS, Y) == -hm.gamma(model, ROWS, 0.1).summary.mean
    few = gamma_scorer(0.1, max_rows=50)
    assert few(model, ROWS) == few(model, ROWS) != gamma_scorer(0.1)(model, ROWS)
    assert "gamma_scorer" in repr(few)


def test_grid_search_by_gamma_prefers_the_plainer_model():
    search = GridSearchCV(
        GradientBoostingClassifier(random_state=0), {"n_estimators": [1, 60]}, scoring=gamma_scorer(0.1), cv=3, n_jobs=2
    ).fit(FRAME, NOISY)
    assert search.best_params_ == {"n_estimators": 1}
    assert (search.cv_results_["mean_test_score"] < 0).all()


def test_cross_validate_beside_accuracy():
    scores = cross_validate(
        DecisionTreeClassifier(random_state=0), FRAME, Y, scoring={"accuracy": "accuracy", "gamma": gamma_scorer(0.1)}, cv=4
    )
    assert np.isfinite(scores["test_gamma"]).all() and (scores["test_gamma"] <= 0).all()


def train_xgboost(watch, rounds=60, **parameters):
    matrix = xgboost.DMatrix(ROWS, NOISY)
    log = {}
    booster = xgboost.train(
        {"objective": "multi:softprob", "num_class": 3, "max_depth": 6, "eta": 0.5, "nthread": 1, **parameters},
        matrix, rounds, evals=[(matrix, "train")], evals_result=log, callbacks=[watch], verbose_eval=False,
    )
    return booster, log


def test_xgboost_logs_gamma_beside_the_loss(capsys):
    watch = GammaCallback(ROWS, 0.1, period=2)
    booster, log = train_xgboost(watch, 5)
    assert watch.history["round"] == [0, 2, 4] and watch.stopped is None
    assert log["gamma"]["mean"] == [watch.history["gamma"][i] for i in (0, 0, 1, 1, 2)]
    assert watch.history["loss"] == [log["train"]["mlogloss"][i] for i in (0, 2, 4)]
    assert watch.history["gamma"][-1] == hm.gamma(booster, ROWS, 0.1).summary.mean
    assert all(l <= g <= h for l, g, h in zip(*(watch.history[k] for k in ("low", "gamma", "high"))))


def test_xgboost_shows_gamma_in_its_own_log(capsys):
    matrix = xgboost.DMatrix(ROWS, Y)
    xgboost.train({"objective": "multi:softprob", "num_class": 3, "nthread": 1}, matrix, 2, evals=[(matrix, "train")],
                  callbacks=[GammaCallback(ROWS, 0.1)], verbose_eval=True)
    assert "gamma-mean:" in capsys.readouterr().out


def test_xgboost_stops_when_gamma_climbs():
    watch = GammaCallback(ROWS, 0.1, stop=True, patience=3)
    booster, log = train_xgboost(watch)
    assert watch.stopped is not None and watch.stopped < 59
    assert booster.num_boosted_rounds() == watch.stopped + 1
    means = np.array(watch.history["gamma"])
    assert (means[-3:] > means.min() * 1.05).all()
    assert watch.history["loss"][-1] < watch.history["loss"][int(means.argmin())]


def test_xgboost_goes_on_when_gamma_does_not_climb():
    """A rise that is asked to be ten thousandfold does not come."""
    watch = GammaCallback(ROWS, 0.1, stop=True, patience=1, rise=1e4)
    booster, _ = train_xgboost(watch, 15)
    assert watch.stopped is None and booster.num_boosted_rounds() == 15


def test_xgboost_early_stopping_beside_it_is_not_disturbed():
    half = np.arange(len(Y)) % 2 == 0
    runs = []
    for callbacks in ([], [GammaCallback(ROWS, 0.1)]):
        model = xgboost.XGBClassifier(n_estimators=100, n_jobs=1, learning_rate=0.8, early_stopping_rounds=4, callbacks=callbacks)
        model.fit(ROWS[half], NOISY[half], eval_set=[(ROWS[half], NOISY[half]), (ROWS[~half], NOISY[~half])], verbose=False)
        runs.append(model)
    assert runs[0].best_iteration == runs[1].best_iteration
    assert runs[0].best_score == runs[1].best_score
    assert "gamma" in runs[1].evals_result()


def test_xgboost_needs_the_training_loss_to_stop():
    with pytest.raises(hm.UsageError, match="evals has none"):
        xgboost.train({"nthread": 1}, xgboost.DMatrix(ROWS, Y), 3, callbacks=[GammaCallback(ROWS, 0.1, stop=True)])


def train_lightgbm(watch, rounds=80, more=()):
    data = lightgbm.Dataset(ROWS, NOISY)
    log = {}
    booster = lightgbm.train(
        {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 2, "learning_rate": 0.5},
        data, rounds, valid_sets=[data], callbacks=[lightgbm.record_evaluation(log), watch, *more],
    )
    return booster, log


def test_lightgbm_logs_gamma_beside_the_loss():
    watch = gamma_callback(ROWS, 0.1, period=2)
    booster, log = train_lightgbm(watch, 5)
    assert watch.history["round"] == [0, 2, 4]
    assert log["training"]["gamma"] == [watch.history["gamma"][i] for i in (0, 0, 1, 1, 2)]
    assert watch.history["loss"] == [log["training"]["multi_logloss"][i] for i in (0, 2, 4)]
    assert watch.history["gamma"][-1] == hm.gamma(booster, ROWS, 0.1).summary.mean


def test_lightgbm_stops_when_gamma_climbs():
    watch = gamma_callback(ROWS, 0.1, stop=True, patience=3)
    booster, _ = train_lightgbm(watch)
    assert watch.stopped is not None and watch.stopped < 79
    assert booster.best_iteration == watch.stopped + 1


def test_lightgbm_early_stopping_beside_it_is_not_disturbed():
    half = np.arange(len(Y)) % 2 == 0
    best = []
    for watch in ([], [gamma_callback(ROWS, 0.1, period=3)]):
        model = lightgbm.LGBMClassifier(n_estimators=100, learning_rate=0.5, min_child_samples=3, verbose=-1, n_jobs=1)
        model.fit(ROWS[half], NOISY[half], eval_set=[(ROWS[~half], NOISY[~half])],
                  callbacks=[lightgbm.early_stopping(4, verbose=False), *watch])
        best.append(model.best_iteration_)
    assert best[0] == best[1] and best[0] < 100


def interaction(noise, seed=0):
    """A boundary that deep trees find in many rounds; with noise they learn that by heart instead."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(600, 4))
    return rows, (rows[:, 0] + rows[:, 1] * rows[:, 2] + noise * rng.normal(size=600) > 0).astype(int)


def boost(library, noise, rounds, seed):
    """The callback, and the rounds trained; the first 400 rows are trained on, the others measured at."""
    rows, y = interaction(noise, seed)
    if library == "xgboost":
        watch, matrix = GammaCallback(rows[400:], 0.1, stop=True), xgboost.DMatrix(rows[:400], y[:400])
        booster = xgboost.train({"objective": "binary:logistic", "max_depth": 6, "nthread": 1}, matrix, rounds,
                                evals=[(matrix, "train")], callbacks=[watch], verbose_eval=False)
        return watch, booster.num_boosted_rounds()
    watch, data = gamma_callback(rows[400:], 0.1, stop=True), lightgbm.Dataset(rows[:400], y[:400])
    parameters = {"objective": "binary", "num_leaves": 64, "min_data_in_leaf": 5, "learning_rate": 0.3,
                  "num_threads": 1, "verbose": -1}
    booster = lightgbm.train(parameters, data, rounds, valid_sets=[data], callbacks=[watch])
    return watch, booster.current_iteration()


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("seed", range(4))
def test_answers_that_grow_are_no_climb(library, seed):
    """gamma itself grows by much more than `rise`, as the answers do."""
    watch, rounds = boost(library, 0.0, 12, seed)
    assert watch.stopped is None and rounds == 12
    assert watch.history["gamma"][9] > 1.5 * watch.history["gamma"][0]


def test_deep_trees_stop_at_noise():
    """Not for all draws of it, but without noise for none."""
    for noise, least, most in ((1.5, 4, 8), (0.0, 0, 0)):
        runs = [boost("xgboost", noise, 40, seed) for seed in range(8)]
        assert all(rounds == (40 if watch.stopped is None else watch.stopped + 1) for watch, rounds in runs)
        assert least <= sum(watch.stopped is not None for watch, _ in runs) <= most


def test_a_constant_model_is_no_reference():
    """The first rounds answer the same everywhere; what comes then is no climb from 0."""
    rows, y = interaction(0.0)
    watch, matrix = GammaCallback(rows[400:], 0.1, stop=True, patience=1), xgboost.DMatrix(rows[:400], y[:400])

    class Later(xgboost.callback.TrainingCallback):
        def before_iteration(self, model, epoch, evals_log):
            model.set_param({"max_depth": 6, "min_child_weight": 1000 if epoch < 2 else 1})
            return False

    xgboost.train({"objective": "binary:logistic", "nthread": 1}, matrix, 3, evals=[(matrix, "train")],
                  callbacks=[Later(), watch], verbose_eval=False)
    assert watch.history["gamma"][:2] == [0, 0] and watch.history["gamma"][2] > 0 and watch.stopped is None


def test_every_training_of_xgboost_starts_anew():
    rows, y = interaction(1.5)
    model = xgboost.XGBClassifier(n_estimators=40, n_jobs=1, callbacks=[GammaCallback(rows[400:], "auto", stop=True)])
    found = []
    for _ in range(2):
        model.fit(rows[:400], y[:400], eval_set=[(rows[:400], y[:400])], verbose=False)
        found.append((model.get_booster().num_boosted_rounds(), model.callbacks[0].history))
    assert found[0] == found[1] and 3 < found[0][0] < 40
    answers = model.predict_proba(rows)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.predict_proba(rows), answers)
        assert twin.callbacks[0].history == found[0][1]
    again = clone(model).fit(rows[:400], y[:400], eval_set=[(rows[:400], y[:400])], verbose=False)
    assert again.get_booster().num_boosted_rounds() == found[0][0]


def test_every_training_of_lightgbm_starts_anew():
    rows, y = interaction(1.5)
    train, labels = rows[:400], y[:400]
    watch = gamma_callback(rows[400:], "auto", stop=True)
    found = []
    for _ in range(2):
        model = lightgbm.LGBMClassifier(n_estimators=40, min_child_samples=5, num_leaves=4, learning_rate=0.3, n_jobs=1, verbose=-1)
        model.fit(train, labels, eval_set=[(train, labels)], callbacks=[watch])
        found.append((model.booster_.current_iteration(), watch.stopped, watch.history))
    assert found[0] == found[1] and found[0][1] is not None
    assert pickle.loads(pickle.dumps(watch)).history == found[0][2]
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.predict_proba(rows), model.predict_proba(rows))


def test_without_evaluation_sets_gamma_is_not_one():
    watch, log = GammaCallback(ROWS, 0.1), {}
    xgboost.train({"nthread": 1}, xgboost.DMatrix(ROWS, Y), 2, callbacks=[watch], evals_result=log)
    assert log == {} and len(watch.history["gamma"]) == 2
    with pytest.raises(ValueError, match="at least 1 validation dataset"):
        xgboost.train({"nthread": 1}, xgboost.DMatrix(ROWS, Y), 3, callbacks=[GammaCallback(ROWS, 0.1)], early_stopping_rounds=2)
    watch = gamma_callback(ROWS, 0.1)
    parameters = {"objective": "regression", "num_threads": 1, "verbose": -1}
    lightgbm.train(parameters, lightgbm.Dataset(ROWS, Y), 2, callbacks=[watch, lightgbm.record_evaluation(log)])
    assert not log.get("training") and len(watch.history["gamma"]) == 2


@pytest.mark.parametrize("names", [["gamma"], ["gamma", "valid"], ["train", "gamma"]])
def test_an_evaluation_set_may_be_named_gamma(names):
    matrix, log = xgboost.DMatrix(ROWS, Y), {}
    watch = GammaCallback(ROWS, 0.1, stop=True, rise=1e4)
    booster = xgboost.train({"nthread": 1}, matrix, 4, evals=[(matrix, name) for name in names], evals_result=log,
                            callbacks=[watch], verbose_eval=False, early_stopping_rounds=2)
    assert list(log) == names and list(log["gamma"]) == ["mean", "rmse"]
    assert log["gamma"]["mean"] == watch.history["gamma"] and watch.history["loss"] == log[names[0]]["rmse"]
    assert booster.best_score == log[names[-1]]["rmse"][-1]


@pytest.mark.parametrize("options", [{"period": 0}, {"patience": 0}, {"rise": -1.0}])
def test_wrong_options(options):
    with pytest.raises(hm.UsageError):
        GammaCallback(ROWS, 0.1, **options)
    with pytest.raises(hm.UsageError):
        gamma_callback(ROWS, 0.1, **options)
