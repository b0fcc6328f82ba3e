"""The models and the rows that are watched: pools of rows, as they are usual and as a change leaves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xgboost
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split

SEED = 1
BLUR = 0.2  # in standard deviations: rows of a pool are held-out rows of the data, moved by noise
TIMES_LIKELIER = 3  # under the covariate shift


@dataclass(frozen=True)
class Task:
    """A data set, and the model that is trained on half of it."""

    title: str
    load: Callable
    trees: int
    depth: int


TASKS = {
    "wine": Task("Wine, 13 features", load_wine, 100, 3),
    "cancer": Task("Breast cancer, 30 features", load_breast_cancer, 500, 4),
}
CHANGES = {
    "none": "no change",
    "covariate": f"covariate shift: rows with the most used feature above its median come {TIMES_LIKELIER} times as often",
    "harmless": "harmless shift: the least used feature grows by a standard deviation",
    "stuck": "broken feature: the most used one stays at its median",
    "scaled": "broken feature: the most used one is ten times too large",
}


@dataclass(frozen=True)
class Pool:
    """Rows in standard deviations of the training rows, their true classes, and how often each is drawn."""

    rows: np.ndarray
    classes: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Watched:
    """A model, and its rows before and after every change."""

    task: Task
    booster: xgboost.Booster
    most_used: str
    least_used: str
    pools: dict[str, Pool]

    def accuracy(self, change: str) -> float:
        pool = self.pools[change]
        answers = self.booster.predict(xgboost.DMatrix(pool.rows))
        return float(np.average(answers.argmax(1) == pool.classes, weights=pool.weights))


def by_use(booster: xgboost.Booster) -> list[int]:
    """The features that the trees use, the most used first."""
    gains = booster.get_score(importance_type="total_gain")
    return [int(name.removeprefix("f")) for name in sorted(gains, key=gains.get, reverse=True)]


def make(name: str, rows: int, folder: Path) -> Watched:
    """Trains the model, keeps it in the folder as model.json, and draws pools of so many rows from what it was not trained on."""
    task = TASKS[name]
    data = task.load()
    x, held_out, y, classes = train_test_split(data.data, data.target, test_size=0.5, random_state=0, stratify=data.target)
    mean, spread = x.mean(0), x.std(0)
    booster = xgboost.train({"objective": "multi:softprob", "num_class": len(data.target_names), "max_depth": task.depth, "eta": 0.1,
                             "nthread": 1, "seed": SEED}, xgboost.DMatrix((x - mean) / spread, label=y), task.trees)  # fmt: skip
    booster.save_model(folder / "model.json")

    random = np.random.default_rng(SEED)
    drawn = random.integers(len(held_out), size=rows)
    usual = (held_out[drawn] - mean) / spread + BLUR * random.standard_normal((rows, x.shape[1]))
    order = by_use(booster)
    most, least = order[0], order[-1]
    median = np.median(usual[:, most])

    def changed(feature: int, values: np.ndarray | float) -> Pool:
        moved = usual.copy()
        moved[:, feature] = values
        return Pool(moved, classes[drawn], np.ones(rows))

    unit = mean[most] / spread[most]  # what is 0 in the feature's own unit is minus this
    pools = {
        "none": Pool(usual, classes[drawn], np.ones(rows)),
        "covariate": Pool(usual, classes[drawn], np.where(usual[:, most] > median, TIMES_LIKELIER, 1)),
        "harmless": changed(least, usual[:, least] + 1),
        "stuck": changed(most, median),
        "scaled": changed(most, 10 * (usual[:, most] + unit) - unit),
    }
    return Watched(task, booster, data.feature_names[most], data.feature_names[least], pools)
