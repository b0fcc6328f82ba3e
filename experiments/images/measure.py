"""Measures exported networks with the project's own program. Needs nothing but Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models import PAPER_SIDE, RADIUS, Size
from program import Program

WHITE = 255


@dataclass(frozen=True)
class Row:
    """One image: the network's answer, γ, and what a search of N steps made of it."""

    id: str
    label: str
    decided: int
    logit: float
    mean_logit: float
    probability: float
    gamma: float
    low: float | None
    high: float | None
    score: float
    two_exponential: float
    correct: bool | None
    stable: bool
    drift: float


@dataclass(frozen=True)
class Map:
    """Images, the table by class and in all, and the map. `table`, `correlations` and `validation` are the program's own."""

    rows: list[Row]
    classes: list[dict]
    all: dict
    correlations: list[dict]
    drift_with_gamma: dict | None
    validation: dict | None
    fitted: dict | None
    reason: str | None
    evaluations: int
    seconds: float


@dataclass(frozen=True)
class Search:
    """Two methods on the same images."""

    methods: dict[str, dict]
    comparison: dict
    evaluations: int
    seconds: float


@dataclass(frozen=True)
class Gamma:
    """γ of one image. Without `high` too few pairs carry it to say how large it may be."""

    gamma: float
    low: float | None
    high: float | None
    points: int


def map_of(result: dict) -> Map:
    rows = []
    for r in result["rows"]:
        rows.append(Row(r.get("id", str(r["row"])), r.get("label", ""), r["class"], r["logit"], r["mean_logit"], r["probability"], r["gamma"],
                        r["low"], r["high"], r["score"], r["two_exponential"], r["correct"], r["stable"], r["drift"]))  # fmt: skip
    s = result["summary"]
    return Map(rows, s["table"]["classes"], s["table"]["all"], s["correlations"], s["drift_with_gamma"], s["validation"], s["map"],
               s["fit"]["reason"], result["evaluations"], result["seconds"])  # fmt: skip


def search_of(result: dict) -> Search:
    s = result["summary"]
    return Search({m["method"]: m for m in s["methods"]}, s["comparison"], result["evaluations"], result["seconds"])


def gammas_of(result: dict) -> list[Gamma]:
    return [Gamma(r["gamma"], r["low"], r["high"], r["points"]) for r in result["rows"]]


class Images(Program):
    """Images and the networks of one folder. `select` are options that say which images, and how they come to the network."""

    def __init__(self, build: Path, folder: Path, reuse: bool, data: str, select: tuple[object, ...]) -> None:
        super().__init__(build, folder, reuse)
        self.data, self.select = data, select

    def ask(self, name: str, command: str, network: str, *options: object, rows: int = 0, radius: float = RADIUS) -> dict:
        """rows: the first ones alone, if not 0."""
        window = ("--window", f"0..{rows - 1}") if rows else ()
        return self.result(f"{name}.json", command, f"{network}.onnx", self.data, *self.select, *window, "--radius", f"{radius:g}", *options)

    def map(self, network: str, size: Size, sample: int, rows: int = 0) -> Map:
        """sample: pairs of γ; 0: all of them."""
        drawn = ("--sample", sample) if sample else ()
        return map_of(self.ask(f"{network}-map", "map", network, *search(size), "--ball", "cross", *drawn, rows=rows))

    def paper_map(self, network: str, size: Size, rows: int = 0) -> Map:
        return map_of(self.ask(f"{network}-map-paper", "map", network, *search(size), "--paper", rows=rows))

    def paper_gamma(self, network: str, rows: int = 0) -> list[Gamma]:
        """0.1 % of the ball's points, drawn one by one."""
        return gammas_of(self.ask(f"{network}-gamma-paper", "gamma", network, "--paper", rows=rows))

    def against_random(self, network: str, size: Size, paper: bool = False, rows: int = 0) -> Search:
        name = f"{network}-attack{'-paper' if paper else ''}"
        return search_of(self.ask(name, "attack", network, *search(size), "--against", "random", *(("--paper",) if paper else ()), rows=rows))

    def steps(self, network: str, size: Size, rows: int = 0) -> list[int]:
        """Pixels that the search changes until the class is another one; of images that keep theirs one more than it may."""
        result = self.ask(f"{network}-steps", "attack", network, *search(size), rows=rows)
        return [r["steps"] if r["success"] else size.steps + 1 for r in result["rows"]]

    def whole_balls(self, network: str, rows: int, radius: float) -> list[Gamma]:
        return gammas_of(self.ask(f"{network}-gamma-all-r{radius:g}", "gamma", network, "--ball", "cross", rows=rows, radius=radius))

    def drawn(self, network: str, rows: int, radius: float, calls: int, paired: bool, seed: int) -> list[Gamma]:
        """γ from so many calls around every image: pairs of opposite points, or single points as the paper draws them."""
        ball, sample = ("cross", calls // 2) if paired else ("one-hot", calls)
        name = f"{network}-gamma-{ball}-r{radius:g}-{calls}-{seed}"
        return gammas_of(self.ask(name, "gamma", network, "--ball", ball, "--sample", sample, "--seed", seed, rows=rows, radius=radius))


def search(size: Size) -> tuple[object, ...]:
    return ("--steps", size.steps, "--candidates", size.candidates, "--lower", 0, "--upper", WHITE)


def grey(side: int = PAPER_SIDE) -> tuple[object, ...]:
    return ("--size", f"{side}x{side}", "--grey")
