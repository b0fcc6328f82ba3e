"""Attacks networks and measures images with the project's own program. Needs NumPy beside Python."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mnist_rows import LABEL
from models import GAMMA, PRECISION, SIDE
from trained import TrainedFolder


@dataclass(frozen=True)
class Persistence:
    """Of one row. A censored row has no sigma: it is beyond the end of the range that was searched."""

    label: int  # the class
    sigma: float | None
    low: float | None
    high: float | None

    @property
    def censored(self) -> bool:
        return self.sigma is None

    @property
    def endless(self) -> bool:
        """Beyond the upper end of the range: the class keeps its share however strong the noise is."""
        return self.sigma is None and self.high is None

    @property
    def value(self) -> float:
        """sigma, or the end of the range that it is beyond."""
        if self.sigma is not None:
            return self.sigma
        if self.low is not None:
            return self.low
        return self.high if self.high is not None else math.inf


@dataclass(frozen=True)
class Attack:
    """On one image. distortion: ‖δ‖₂ / √784. past: the part of it that lies beyond the last boundary on the straight way."""

    target: int
    success: bool
    distortion: float | None
    past: float | None


@dataclass(frozen=True)
class Deeper:
    """Attacks until the target's logit leads by `lead`: how many were tried, and those that got there."""

    lead: float
    tried: int
    distortions: list[float]
    persistences: list[Persistence]


class MeasuredFolder(TrainedFolder):
    """Of one network."""

    def persistence(self, data: str, *options: object) -> list[Persistence]:
        result = self.result(f"persistence-{Path(data).stem}.json", "persistence", "net.pt", data, *options, "--gamma", GAMMA,
                             "--precision", PRECISION, *self.common)  # fmt: skip
        return [Persistence(r["class"], r["sigma"], r["low"], r["high"]) for r in result["rows"]]

    def attack(self, data: str) -> list[Attack]:
        rows = self.lbfgs(data)
        past = iter(self.past(data, rows) if any(row["success"] for row in rows) else [])
        return [Attack(row["target"], True, row["distortion_l2"], next(past)) if row["success"] else Attack(row["target"], False, None, None)
                for row in rows]  # fmt: skip

    def deeper(self, data: str, lead: float) -> Deeper:
        rows = self.lbfgs(data, lead=lead)
        done = [row["distortion_l2"] for row in rows if row["success"]]
        return Deeper(lead, len(rows), done, self.persistence(f"adversarial-{lead:g}.npy") if done else [])

    def past(self, data: str, rows: list[dict]) -> list[float]:
        """How far beyond the last boundary between its image and itself every adversarial row lies, over √784."""
        done = [k for k, row in enumerate(rows) if row["success"]]
        np.save(self.folder / "sources.npy", np.load(self.folder / data)[done, :LABEL])
        result = self.result("boundary.json", "boundary", "net.pt", "sources.npy", "adversarial.npy", "--normal", "none", *self.common)
        last: dict[int, float] = {}
        for row in result["rows"]:
            if row["t"] is not None:
                last[row["a"]] = max(last.get(row["a"], 0.0), row["t"])
        return [(1 - last[k]) * rows[index]["distortion_l2"] for k, index in enumerate(done)]


def length(distortion: float) -> float:
    """‖δ‖₂."""
    return SIDE * distortion
