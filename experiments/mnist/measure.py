"""Measures exported networks with the project's own program. Needs nothing but Python."""

import math
from dataclasses import dataclass
from pathlib import Path

from models import GAMMA, PRECISION, SIGMAS
from program import Program

CENSORED_LOW, CENSORED_HIGH = "censored_low", "censored_high"


@dataclass(frozen=True)
class Frequency:
    """How often each class was met among `samples` points around a row, at one deviation."""

    sigma: float
    own: int
    samples: int
    probability: float
    low: float
    high: float
    counts: dict[int, int]

    def share(self, label: int) -> float:
        return self.counts.get(label, 0) / self.samples

    @property
    def most(self) -> int:
        return max(self.counts, key=lambda label: self.counts[label])


@dataclass(frozen=True)
class Persistence:
    """Of one row. A censored row has no sigma: it is beyond the end of the range that was searched."""

    row: int
    label: int
    sigma: float | None
    low: float | None
    high: float | None
    samples: int
    outcome: str

    @property
    def value(self) -> float:
        """sigma, or the end of the range that it is beyond."""
        if self.sigma is not None:
            return self.sigma
        if self.outcome == CENSORED_HIGH:
            return self.low if self.low is not None else math.inf
        return self.high if self.high is not None else 0.0


@dataclass(frozen=True)
class Area:
    """Under the curve of a detector: how often a natural image has more of it than an adversarial one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Pair:
    """Natural and adversarial images, and how well each score tells them apart."""

    natural: list[Persistence]
    adversarial: list[Persistence]
    detectors: dict[str, Area]


def frequencies(result: dict) -> dict[int, list[Frequency]]:
    """By row, in the order of the deviations."""
    found: dict[int, list[Frequency]] = {}
    for r in result["rows"]:
        counts = {int(label): count for label, count in r["frequencies"].items()}
        found.setdefault(r["row"], []).append(Frequency(r["sigma"], r["class"], r["samples"], r["probability"], r["low"], r["high"], counts))
    return {row: sorted(series, key=lambda f: f.sigma) for row, series in found.items()}


def persistences(result: dict) -> list[Persistence]:
    return [Persistence(r["row"], r["class"], r["sigma"], r["low"], r["high"], r["samples"], r["outcome"]) for r in result["rows"]]


def detectors(result: dict) -> dict[str, Area]:
    found = result["summary"].get("detector", {})
    scores = {"persistence": found.get("persistence", [None])[0], "confidence": found.get("confidence")}
    return {name: Area(d["auroc"], d["low"], d["high"]) for name, d in scores.items() if d is not None}


class MeasuredFolder(Program):
    """A network's folder: the program runs there, and its results are kept there."""

    def stability(self, data: str) -> dict[int, list[Frequency]]:
        return frequencies(self.result(f"stability-{Path(data).stem}.json", "stability", "net.onnx", data, "--sigma", SIGMAS))

    def persistence(self, data: str) -> list[Persistence]:
        name = f"persistence-{Path(data).stem}.json"
        return persistences(self.result(name, "persistence", "net.onnx", data, "--gamma", GAMMA, "--precision", PRECISION))

    def against(self, natural: str, adversarial: str) -> Pair:
        """The result's rows are the natural images'; the adversarial ones, unless they follow there, have a result of their own."""
        name = f"persistence-{Path(natural).stem}-against-{Path(adversarial).stem}.json"
        result = self.result(name, "persistence", "net.onnx", natural, "--against", adversarial, "--gamma", GAMMA, "--precision", PRECISION)
        rows, count = persistences(result), rows_of(self.folder / natural)
        return Pair(rows[:count], rows[count:] or self.persistence(adversarial), detectors(result))


def rows_of(path: Path) -> int:
    """Of a .npy file."""
    import numpy as np

    return len(np.load(path, mmap_mode="r"))
