"""Means and shares with 95 % intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

DRAWS = 2000  # of the bootstrap
PERCENT = (2.5, 97.5)
NORMAL = 1.959964


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float
    rows: int

    def text(self, digits: int = 3, scale: float = 1) -> str:
        value, low, high = (f"{scale * v:.{digits}f}" for v in (self.value, self.low, self.high))
        return f"{value} [{low}, {high}]"

    @property
    def apart(self) -> bool:
        """Of a difference: it is not 0."""
        return self.low > 0 or self.high < 0


def bootstrapped(statistic, *columns: list[float]) -> Estimate:
    """statistic: of arrays rows × draws, over the first axis. Rows are drawn with all their columns."""
    data = [np.asarray(column, float) for column in columns]
    rows = len(data[0])
    chosen = np.random.default_rng(1).integers(rows, size=(rows, DRAWS))
    draws = statistic(*(column[chosen] for column in data))
    low, high = np.percentile(draws, PERCENT)
    return Estimate(float(statistic(*(column[:, None] for column in data))[0]), float(low), float(high), rows)


def mean(values: list[float]) -> Estimate:
    return bootstrapped(lambda x: x.mean(0), values)


def difference(a: list[float], b: list[float]) -> Estimate:
    """Of the means of two columns of the same rows."""
    return bootstrapped(lambda x, y: x.mean(0) - y.mean(0), a, b)


def ratio(a: list[float], b: list[float]) -> Estimate:
    """Of the means of two columns of the same rows."""
    return bootstrapped(lambda x, y: x.mean(0) / y.mean(0), a, b)


def share(hits: int, rows: int) -> Estimate:
    """By Wilson's score."""
    p, z = hits / rows, NORMAL**2 / rows
    centre, half = (p + z / 2) / (1 + z), NORMAL * math.sqrt(p * (1 - p) / rows + z / (4 * rows)) / (1 + z)
    return Estimate(p, max(0.0, centre - half), min(1.0, centre + half), rows)
