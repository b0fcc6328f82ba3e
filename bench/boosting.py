#!/usr/bin/env python3
"""gamma during boosting: what it costs a round, against one prediction of the same rows by the booster itself.

After every round of one training three things are timed in turn: the callback's measurement, which reads and walks the
trees that are new; gamma of the whole booster anew; and the library's own prediction of the rows. The first two have to
be the same to the bit in every row, or the benchmark fails. Then a training without callback and one with it are timed.
One thread each. Needs the package, NumPy, XGBoost and LightGBM.
    python3 bench/boosting.py [ROUNDS] [ROWS] [FEATURES]
"""

import functools
import sys
import time

import lightgbm as lgb
import numpy as np
import xgboost as xgb

import harmonia
from harmonia._data import KeptRows
from harmonia._growing import GrowingBooster
from harmonia.lightgbm import gamma_callback
from harmonia.xgboost import GammaCallback

RADIUS = 0.1
TRAINED = 10_000
OPTIONS = {"radius": RADIUS, "threads": 1, "progress": False}


class Timed:
    """Seconds of the three after each round."""

    def __init__(self, library, rows, predict):
        self.rows, self.predict = rows, predict
        self.kept = KeptRows(rows)  # as the callbacks have them
        self.growing = GrowingBooster(library, margin=False)
        self.incremental, self.anew, self.prediction = [], [], []

    def round(self, booster):
        measure = functools.partial(harmonia.gamma, **OPTIONS)
        grown = timed(self.incremental, lambda: measure(self.growing.look(booster), self.kept))
        whole = timed(self.anew, lambda: measure(booster, self.rows))
        timed(self.prediction, lambda: self.predict(booster, self.rows))
        if not np.array_equal(grown.gamma, whole.gamma) or grown.summary.mean != whole.summary.mean:
            sys.exit(f"wrong answer after {len(self.anew)} rounds: mean {grown.summary.mean}, anew {whole.summary.mean}")


def timed(seconds, work):
    start = time.perf_counter()
    result = work()
    seconds.append(time.perf_counter() - start)
    return result


class XgboostRounds(xgb.callback.TrainingCallback):
    def __init__(self, timed_rounds):
        self.timed = timed_rounds

    def after_iteration(self, model, epoch, evals_log):
        self.timed.round(model)
        return False


class LightgbmRounds:
    def __init__(self, timed_rounds):
        self.timed = timed_rounds

    def __call__(self, environment):
        self.timed.round(environment.model)


def train_xgboost(x, y, rounds, callbacks):
    parameters = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "nthread": 1}
    xgb.train(parameters, xgb.DMatrix(x, y), rounds, callbacks=callbacks)


def train_lightgbm(x, y, rounds, callbacks):
    parameters = {"objective": "binary", "learning_rate": 0.1, "num_threads": 1, "verbose": -1}
    lgb.train(parameters, lgb.Dataset(x, y), rounds, callbacks=callbacks)


def report(name, train, callback, in_turn, rounds, timed_rounds):
    train(rounds, [in_turn])
    without, with_it = [], []
    timed(without, lambda: train(rounds, []))
    timed(with_it, lambda: train(rounds, [callback]))
    new, anew, one = (1e3 * np.array(s) for s in (timed_rounds.incremental, timed_rounds.anew, timed_rounds.prediction))
    last = slice(-max(1, rounds // 10), None)
    print(f"{name}: training {without[0]:.2f} s, with the callback {with_it[0]:.2f}, if it measured anew "
          f"{without[0] + anew.sum() / 1e3:.2f}")
    for when, part in (("all rounds", slice(None)), ("last tenth", last)):
        print(f"  ms a round, {when}: {new[part].mean():.2f}, anew {anew[part].mean():.2f} "
              f"({anew[part].mean() / new[part].mean():.1f} times), one prediction {one[part].mean():.2f} "
              f"(gamma takes {new[part].mean() / one[part].mean():.2f} of them); median {np.median(new[part]):.2f}")


def main(rounds=500, rows=2000, features=100):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(TRAINED, features))
    y = (x[:, 0] * x[:, 1] + x[:, 2] + 0.5 * x[:, 3:10].sum(axis=1) > 0).astype(int)
    watched = rng.normal(size=(rows, features))
    print(f"{rounds} rounds, {rows} rows of {features} features, radius {RADIUS}, simplex and anti-simplex")
    timed_rounds = Timed("xgboost", watched, lambda booster, z: booster.inplace_predict(z))
    report("XGBoost", functools.partial(train_xgboost, x, y), GammaCallback(watched, **OPTIONS),
           XgboostRounds(timed_rounds), rounds, timed_rounds)
    timed_rounds = Timed("lightgbm", watched, lambda booster, z: booster.predict(z, num_threads=1))
    report("LightGBM", functools.partial(train_lightgbm, x, y), gamma_callback(watched, **OPTIONS),
           LightgbmRounds(timed_rounds), rounds, timed_rounds)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
