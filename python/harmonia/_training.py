"""gamma while a model is trained, and when to stop because of it."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from . import _native
from ._errors import UsageError
from ._measure import gamma
from ._result import GammaResult


class Watch:
    """Measures gamma every few rounds and decides when it has climbed for long enough.

    The rule: the measurement of the lowest mean gamma so far is the reference. A later one climbs if the training loss
    is below what it was at the reference, and the mean of gamma − reference over the same rows is, by the lower end of
    its interval, above `rise` times the reference. `patience` climbing measurements in a row stop the training.
    """

    def __init__(
        self,
        X: Any,
        radius: Union[float, str],
        period: int,
        stop: bool,
        patience: int,
        rise: float,
        options: dict[str, Any],
    ) -> None:
        if period < 1 or patience < 1:
            raise UsageError(f"period is {period} and patience {patience}; expected at least 1")
        if not rise >= 0:
            raise UsageError(f"rise is {rise}; expected no negative number")
        self.rows, self.radius, self.period = X, radius, period
        self.stop, self.patience, self.rise = stop, patience, rise
        self.options = {"progress": False, **options}
        self.history: dict[str, list[float]] = {name: [] for name in ("round", "gamma", "low", "high", "loss")}
        self.latest = float("nan")
        self.stopped: Optional[int] = None
        self._best: Optional[tuple[float, GammaResult, float]] = None  # mean, result, training loss
        self._climbed = 0

    def due(self, round: int) -> bool:
        return round % self.period == 0

    def measure(self, model: Any, round: int, loss: float) -> bool:
        """Measures and keeps the result; true if training should stop. loss: lower is better; NaN if unknown."""
        result = gamma(model, self.rows, self.radius, **self.options)
        self.radius = result.radius  # one that was found from the rows stays for all rounds
        summary = result.summary
        self.latest = summary.mean
        for name, value in zip(self.history, (round, summary.mean, summary.low, summary.high, loss)):
            self.history[name].append(value)
        climbs = self._climbs(result, loss)
        self._climbed = self._climbed + 1 if climbs else 0
        if self._best is None or summary.mean <= self._best[0]:
            self._best = (summary.mean, result, loss)
        if self.stop and self._climbed >= self.patience:
            self.stopped = round
        return self.stopped is not None

    def _climbs(self, result: GammaResult, loss: float) -> bool:
        if self._best is None or not loss < self._best[2]:
            return False
        mean, reference, _ = self._best
        confidence = float(self.options.get("confidence", 0.95))
        _, low, _ = _native.paired_difference(*_estimates(result), *_estimates(reference), confidence)
        return low is not None and low > self.rise * mean


def _estimates(result: GammaResult) -> tuple[Any, Any]:
    """The rows' plug-in and split estimates, which are the same where a row was measured in full."""
    return result.gamma, np.where(np.isnan(result.split), result.gamma, result.split)
