"""Attacks and measures with the project's own program."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models import ATTACKS, GAMMA, SEED, Size
from program import Program


@dataclass(frozen=True)
class Attacked:
    """One method, one target: the photographs that came to it, how far they were moved, and how persistent they are."""

    method: str
    target: int
    tried: int
    sources: list[int]
    distortions: list[float]
    largest: float  # change of a value
    persistences: list[float]


def persistence_of(row: dict) -> float:
    """sigma, or the end of the range that it is beyond."""
    if row["sigma"] is not None:
        return row["sigma"]
    return row["low"] if row["outcome"] == "censored_high" else row["high"]


class MeasuredFolder(Program):
    """The network's folder: the program runs there, and its results are kept there. `common`: options of every command."""

    def __init__(self, build: Path, folder: Path, reuse: bool, size: Size, common: list[object]) -> None:
        super().__init__(build, folder, reuse)
        self.size, self.common = size, common

    def persistences(self, name: str, rows: str) -> list[float]:
        result = self.result(f"{name}.json", "persistence", "net.pt", rows, "--gamma", GAMMA, "--precision", self.size.precision, "--sigma",
                             self.size.sigma, "--seed", SEED, *self.common)  # fmt: skip
        return [persistence_of(row) for row in result["rows"]]

    def attacked(self, method: str, target: int, rows: np.ndarray) -> Attacked:
        """Of natural.npy, whose rows these are."""
        name, side = f"{method}-{target}", math.isqrt(rows.shape[1] // 3)
        found = self.folder / f"{name}.npy"
        result = self.result(f"attack-{name}.json", "attack", "net.pt", "natural.npy", "--method", method, *ATTACKS[method].options, "--target",
                             target, "--lower", 0, "--upper", 1, "--image", f"{side}x{side}x3", "--adversarial", found.name, "--seed", SEED,
                             *self.common)  # fmt: skip
        sources = [row["row"] for row in result["rows"] if row["outcome"] == "changed"]
        moved = np.load(found) - rows[sources] if sources else np.zeros((0, rows.shape[1]))
        distortions = np.sqrt((moved**2).mean(1)).tolist()
        persistences = self.persistences(f"persistence-{name}", found.name) if sources else []
        return Attacked(method, target, len(rows), sources, distortions, float(np.abs(moved).max(initial=0)), persistences)
