"""gamma per round of XGBoost's training."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Optional, Union

import xgboost as _xgb

from ._errors import UsageError
from ._training import Watch, Watched

__all__ = ["GammaCallback"]

_MAXIMISED = ("auc", "aucpr", "pre", "map", "ndcg")  # metrics that XGBoost itself takes for better when larger


class GammaCallback(Watched, _xgb.callback.TrainingCallback):
    """Measures gamma of the booster at the rows X every `period` rounds, beside the losses.

    A measurement reads and walks the trees that are new since the last one, and gives what harmonia.gamma(booster, X, …)
    gives, to the bit. dart, whose old trees change, is read in full every time.
    The last round is read again with the new ones: one that was taken back or changed is noticed, a change of an older
    tree alone (by another callback) is not. The rows are read when a training begins, and have to stay as they are.

    The mean is entered in XGBoost's own log as data "gamma", metric "mean" (before the others, so that EarlyStopping's
    choice of the last stays what it was; rounds between two measurements repeat the last; not if there is no evaluation
    set), and with its interval and the training loss in `history`: lists "round", "gamma", "low", "high", "loss".

    With stop=True training ends when gamma climbs while the training loss falls. Here gamma counts in units of the
    output's spread over the rows X, because boosting makes answers larger round by round, and gamma with them. The
    measurement of the lowest mean so far is the reference. A later one climbs if the training loss is lower than at the
    reference and gamma is higher on the same rows: the mean difference's interval lies above `rise` times the
    reference. `patience` climbing measurements in a row stop; `stopped` is then the round. The training loss is metric
    `metric` (default: the last) of the evaluation set `train` (default: the first). Every training starts anew.

    The rule sees how the answers bend, not how well they predict: it stops some trainings that go on to predict better
    (those of shallow trees, or with answers near 0 and 1), and misses some that overfit. Look at `history` of a training
    with stop=False first, and judge by rows that were not trained on.

    >>> import numpy as np, xgboost
    >>> from harmonia.xgboost import GammaCallback
    >>> X = np.random.default_rng(0).normal(size=(300, 3)); y = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> d = xgboost.DMatrix(X, y)
    >>> watch = GammaCallback(X, radius=0.1, period=2)
    >>> booster = xgboost.train({"objective": "binary:logistic"}, d, 5, evals=[(d, "train")], callbacks=[watch],
    ...                         verbose_eval=False)
    >>> watch.history["round"]
    [0, 2, 4]
    """

    def __init__(
        self,
        X: Any,
        radius: Union[float, str] = 0.05,
        *,
        period: int = 1,
        stop: bool = False,
        patience: int = 3,
        rise: float = 0.05,
        train: Optional[str] = None,
        metric: Optional[str] = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self._watch = Watch(X, radius, period, stop, patience, rise, options, "xgboost")
        self._train, self._metric = train, metric

    def before_training(self, model: Any) -> Any:
        """Called by XGBoost before the first round."""
        self._watch.reset()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Called by XGBoost after every round."""
        stop = False
        if self._watch.due(epoch):
            if not isinstance(model, _xgb.Booster):
                raise UsageError("GammaCallback is for xgboost.train and fit, not for xgboost.cv")
            stop = self._watch.measure(model, epoch, self._loss(evals_log))
        if _metrics(evals_log):  # a log of gamma alone would be what EarlyStopping looks at
            log = evals_log.setdefault("gamma", OrderedDict())
            log.setdefault("mean", []).append(self._watch.latest)
            log.move_to_end("mean", last=False)
            if len(log) == 1:  # else an evaluation set has that name, and keeps its place
                evals_log.move_to_end("gamma", last=False)
        return stop

    def after_training(self, model: Any) -> Any:
        """Called by XGBoost after the last round."""
        self._watch.finish()
        return model

    def _loss(self, evals_log: Any) -> float:
        known = _metrics(evals_log)
        sets = list(known)
        name = self._train if self._train is not None else sets[0] if sets else None
        if name is None or name not in known:
            if self._watch.stop or self._train is not None:
                wanted = name or "of the training rows"
                raise UsageError(f"no evaluation set {wanted}; evals has {', '.join(sets) or 'none'}")
            return float("nan")
        metrics = known[name]
        metric = self._metric if self._metric is not None else metrics[-1]
        if metric not in metrics:
            raise UsageError(f"no metric {metric} of {name}; there are {', '.join(metrics)}")
        last = evals_log[name][metric][-1]
        value = float(last[0] if isinstance(last, tuple) else last)
        return -value if metric.split("@")[0] in _MAXIMISED else value


def _metrics(evals_log: Any) -> dict[str, list[str]]:
    """The evaluation sets' metrics; gamma's own entry is none, but a set may have its name."""
    found = {name: [m for m in log if (name, m) != ("gamma", "mean")] for name, log in evals_log.items()}
    return {name: metrics for name, metrics in found.items() if metrics}
