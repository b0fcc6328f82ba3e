#!/usr/bin/env python3
"""Goal 5: gamma of a booster at rows of 1,000 features against what a user writes with NumPy and XGBoost.

The user makes the 2n points around a row as one array and asks the booster for all of them at once, on as many threads
as it likes. Both give the same gamma, which is checked first. Needs the package, NumPy and XGBoost, and the boosters of
tree_models.py in FOLDER.
    python3 bench/tree_python.py FOLDER
"""

import functools
import sys
import time
from pathlib import Path

import numpy as np
import xgboost as xgb

import harmonia

GOAL = 3000
RADIUS = 0.1
USER_ROWS = 8
REPEATS = 5


def user_gamma(booster, x):
    """|mean over the cross of f - f(x)|, a row at a time, its points in one batch."""
    n = x.shape[1]
    at = np.arange(n)
    gammas = []
    for row in x:
        points = np.repeat(row[None], 2 * n + 1, axis=0)
        points[1 + at, at] += np.float32(RADIUS)
        points[1 + n + at, at] -= np.float32(RADIUS)
        answers = booster.inplace_predict(points, predict_type="margin").astype(np.float64)
        gammas.append(abs(answers[1:].mean() - answers[0]))
    return np.array(gammas)


def least(work):
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main(folder: Path) -> None:
    rows = np.load(folder / "rows_1000.npy")
    x = np.tile(rows.astype(np.float64), (32, 1))  # so many that reading the booster's file is little of it
    for trees in (200, 1000):
        file = folder / f"trees_1000_{trees}_6.ubj"
        booster = xgb.Booster(model_file=file)
        measure = functools.partial(harmonia.gamma, file, radius=RADIUS, ball="cross", margin=True)
        ours = measure(x[:USER_ROWS]).gamma
        theirs = user_gamma(booster, rows[:USER_ROWS])
        # The user's sums are those of float32 margins.
        if not np.allclose(ours, theirs, rtol=1e-3, atol=1e-6):
            sys.exit(f"wrong answer: gamma {ours} and by hand {theirs}")
        seconds = least(lambda: measure(x)) / len(x)
        by_hand = least(lambda: user_gamma(booster, rows[:USER_ROWS])) / USER_ROWS
        ratio = by_hand / seconds
        print(f"{trees} trees: {1e6 * seconds:.1f} us a row, by NumPy and XGBoost {1e6 * by_hand:.0f}")
        what = f"1000 features, {trees} trees, a Python user's batch / ours"
        print(f" 5  {what:<58} >= {GOAL:<6} {ratio:9.3f}  {'pass' if ratio >= GOAL else 'short'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
