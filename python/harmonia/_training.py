"""gamma while a model is trained, and when to stop because of it."""

from __future__ import annotations

import math
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._data import KeptRows
from ._errors import UsageError
from ._growing import GrowingBooster
from ._measure import gamma
from ._result import GammaResult

_Columns = tuple[NDArray[np.float64], NDArray[np.float64]]


class Watch:
    """Measures gamma every few rounds and decides when it has climbed for long enough.

    The rule: gamma counts in units of the output's spread over the rows, because boosting makes answers larger round by
    round, and gamma with them. The measurement of the lowest mean so far is the reference. A later one climbs if the
    training loss is below what it was at the reference, and the mean of gamma − reference over the same rows is, by the
    lower end of its interval, above `rise` times the reference. `patience` climbing measurements in a row stop the
    training. A model that answers the same everywhere has no spread: it neither climbs nor is the reference.

    library: "xgboost" or "lightgbm", of a booster, of which only trees that are new are read; else empty.
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
        library: str = "",
    ) -> None:
        if period < 1 or patience < 1:
            raise UsageError(f"period is {period} and patience {patience}; expected at least 1")
        if not rise >= 0:
            raise UsageError(f"rise is {rise}; expected no negative number")
        self._rows, self.period = KeptRows(X), period
        self.stop, self.patience, self.rise = stop, patience, rise
        self.options = {"progress": False, **options}
        self._asked_radius = radius
        read_in_parts = library != "" and options.get("method") is None
        self._growing = GrowingBooster(library, bool(options.get("margin", False))) if read_in_parts else None
        self.reset()

    def reset(self) -> None:
        """Forgets what was measured, for a training that begins."""
        self.radius = self._asked_radius
        self.history: dict[str, list[float]] = {name: [] for name in ("round", "gamma", "low", "high", "loss")}
        self.latest = float("nan")
        self.stopped: Optional[int] = None
        self._best: Optional[tuple[float, _Columns, float]] = None  # mean and rows' gamma by the spread, training loss
        self._climbed = 0
        self.finish()

    def finish(self) -> None:
        """Lets go of what is kept for the next measurement."""
        self._rows.forget()
        if self._growing is not None:
            self._growing.forget()

    def finish_if_ended(self) -> None:
        """The same, if nobody said that the training was over, and it is."""
        if self._growing is not None and self._growing.ended():
            self.finish()

    def due(self, round: int) -> bool:
        return round % self.period == 0

    def measure(self, model: Any, round: int, loss: float) -> bool:
        """Measures and keeps the result; true if training should stop. loss: lower is better; NaN if unknown."""
        subject = model if self._growing is None else self._growing.look(model)
        try:
            result = gamma(subject, self._rows, self.radius, **self.options)  # type: ignore[arg-type]
        except BaseException:  # the rows may be half read
            self._rows.forget()
            raise
        if self._growing is None:  # nobody says when such a training ends
            self._rows.forget()
        self.radius = result.radius  # one that was found from the rows stays for all rounds
        summary = result.summary
        self.latest = summary.mean
        for name, value in zip(self.history, (round, summary.mean, summary.low, summary.high, loss)):
            self.history[name].append(value)
        level, columns = summary.relative, _by_spread(result)
        self._climbed = self._climbed + 1 if self._climbs(columns, loss) else 0
        if not math.isnan(level) and (self._best is None or level <= self._best[0]):
            self._best = (level, columns, loss)
        if self.stop and self._climbed >= self.patience:
            self.stopped = round
        return self.stopped is not None

    def _climbs(self, columns: _Columns, loss: float) -> bool:
        if self._best is None or not loss < self._best[2]:
            return False
        level, reference, _ = self._best
        confidence = float(self.options.get("confidence", 0.95))
        _, low, _ = _native.paired_difference(*columns, *reference, confidence)
        return low is not None and low > self.rise * level


class Watched:
    """What callbacks show of their watch."""

    _watch: Watch

    @property
    def history(self) -> dict[str, list[float]]:
        """Lists "round", "gamma", "low", "high" and "loss", an entry a measurement."""
        self._watch.finish_if_ended()
        return self._watch.history

    @property
    def stopped(self) -> Optional[int]:
        """The round that gamma stopped the training at; None: it did not."""
        self._watch.finish_if_ended()
        return self._watch.stopped


def _by_spread(result: GammaResult) -> _Columns:
    """The rows' plug-in and split estimates (the same where a row was measured in full) over the output's spread."""
    summary = result.summary
    spread = summary.mean / summary.relative if summary.relative > 0 else 1.0  # else gamma is 0, or nothing is compared
    split = np.where(np.isnan(result.split), result.gamma, result.split)
    return result.gamma / spread, split / spread
