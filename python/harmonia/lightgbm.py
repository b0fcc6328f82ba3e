"""gamma per round of LightGBM's training."""

from __future__ import annotations

from typing import Any, Optional, Union

import lightgbm as _lgb

from ._errors import UsageError
from ._training import Watch, Watched

__all__ = ["gamma_callback"]


class _GammaCallback(Watched):
    """A callback as LightGBM calls it after every round."""

    order = 5  # before the callbacks that log and record
    before_iteration = False

    def __init__(self, watch: Watch, metric: Optional[str]) -> None:
        self._watch, self._metric = watch, metric

    def __call__(self, env: Any) -> None:
        if not isinstance(env.model, _lgb.Booster):
            raise UsageError("gamma_callback is for lightgbm.train and fit, not for lightgbm.cv")
        if env.iteration == env.begin_iteration:
            self._watch.reset()
        train = getattr(env.model, "_train_data_name", "training")
        results = env.evaluation_result_list
        stop = False
        if self._watch.due(env.iteration):
            stop = self._watch.measure(env.model, env.iteration, self._loss(results, train))
        if results:  # gamma alone would be what early_stopping looks at
            # Under the training set's name, which early_stopping does not look at.
            results.append((train, "gamma", self._watch.latest, False))
        if stop or env.iteration + 1 == env.end_iteration:
            self._watch.finish()
        if stop:
            raise _lgb.callback.EarlyStopException(env.iteration, results)

    def _loss(self, results: Any, train: str) -> float:
        found = [r for r in results if r[0] == train and (self._metric is None or r[1] == self._metric)]
        if not found:
            if self._watch.stop or self._metric is not None:
                raise UsageError(f"no {self._metric or 'metric'} of the training rows; give these as a valid set too")
            return float("nan")
        return -float(found[-1][2]) if found[-1][3] else float(found[-1][2])


def gamma_callback(
    X: Any,
    radius: Union[float, str] = 0.05,
    *,
    period: int = 1,
    stop: bool = False,
    patience: int = 3,
    rise: float = 0.05,
    metric: Optional[str] = None,
    **options: Any,
) -> Any:
    """A callback that measures gamma of the booster at the rows X every `period` rounds, beside the losses.

    A measurement reads and walks the trees that are new since the last one, and gives what harmonia.gamma(booster, X, …)
    gives, to the bit. dart and random forests, whose old trees change or are averaged, are read in full every time.
    The last round is read again with the new ones: one that was taken back or changed is noticed, a change of an older
    tree alone (by another callback) is not. The rows are read when a training begins, and have to stay as they are.

    The mean appears in LightGBM's own log as the training set's metric "gamma" (early_stopping does not look at those;
    rounds between two measurements repeat the last; not if there is no valid set), and with its interval and the
    training loss in `history`.

    With stop=True training ends when gamma climbs while the training loss falls, by the rule of
    harmonia.xgboost.GammaCallback. The training loss is metric `metric` (default: the last) of the training rows,
    which have to be among the valid sets. Every training starts anew.

    >>> import lightgbm, numpy as np
    >>> from harmonia.lightgbm import gamma_callback
    >>> X = np.random.default_rng(0).normal(size=(300, 3)); y = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> d = lightgbm.Dataset(X, y)
    >>> watch = gamma_callback(X, radius=0.1, period=2)
    >>> booster = lightgbm.train({"objective": "binary", "verbose": -1}, d, 5, valid_sets=[d], callbacks=[watch])
    >>> watch.history["round"]
    [0, 2, 4]
    """
    return _GammaCallback(Watch(X, radius, period, stop, patience, rise, options, "lightgbm"), metric)
