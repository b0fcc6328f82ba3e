"""Measures exported models with the project's own program. Needs nothing but Python."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from models import RADIUS, grid


@dataclass(frozen=True)
class Estimate:
    """A mean gamma with its 95 % interval, the grid's points taken as a random sample of the region."""

    mean: float
    low: float
    high: float
    error: float
    rows: int


@dataclass(frozen=True)
class Pair:
    """The mean of gamma of a less gamma of b; intervals of all pairs hold together."""

    difference: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """Several models on one grid, by name."""

    gamma: dict[str, Estimate]
    pairs: dict[tuple[str, str], Pair]
    classes: dict[str, list[int]]
    gammas: dict[str, list[float]]
    text: str
    warnings: list[str]


def estimate(statistics: dict) -> Estimate:
    return Estimate(*(statistics[name] for name in ("mean", "low", "high", "stderr", "rows")))


def name_of(model: str) -> str:
    return model.removesuffix(".onnx")


class Program:
    """Runs `harmonia` on the models NAME.onnx of a folder."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.program = (build / "harmonia").resolve()
        self.folder = folder

    def compare(self, names: list[str], *options: str, data: str = grid(), output: str = "label",
                radius: float = RADIUS, json_file: Path | None = None) -> Comparison:  # fmt: skip
        models = [f"{name}.onnx" for name in names]
        result = self.result("compare", *models, data, "--radius", radius, "--output", output, *options, json_file=json_file)
        points = result["points"]["models"]
        return Comparison(
            gamma={name_of(m["name"]): estimate(m["gamma"]) for m in result["models"]},
            pairs={
                (name_of(r["a"]), name_of(r["b"])): Pair(r["difference"], r["low"], r["high"], r["verdict"])
                for r in result["rows"]
            },
            classes={name_of(m["name"]): m["class"] for m in points},
            gammas={name_of(m["name"]): m["gamma"] for m in points},
            text=result["summary"]["text"],
            warnings=result["summary"]["warnings"],
        )

    def sweep(self, name: str, radii: str, *options: str, json_file: Path | None = None) -> dict[float, Estimate]:
        """gamma of the label by radius."""
        result = self.result("sweep", f"{name}.onnx", grid(), "--radii", radii, "--output", "label", *options, json_file=json_file)
        return {r["radius"]: estimate(r) for r in result["rows"]}

    def result(self, *arguments: object, json_file: Path | None = None) -> dict:
        """What the program writes as JSON; it is kept if a file is named."""
        if json_file is None:
            with tempfile.TemporaryDirectory() as folder:
                return self.result(*arguments, json_file=Path(folder) / "result.json")
        self.call(*arguments, "--quiet", "--json", json_file.resolve())
        return json.loads(json_file.read_text(encoding="utf-8"))

    def call(self, *arguments: object) -> str:
        command = [str(self.program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} in {self.folder} failed: {done.stderr.strip()}")
        return done.stdout


def differing_labels(labels: str, classes: list[int]) -> int:
    """Points of the grid where the exported model decides otherwise than scikit-learn's own did."""
    if len(labels) != len(classes):
        raise SystemExit(f"scikit-learn labelled {len(labels)} points of the grid, the program {len(classes)}")
    return sum(int(a) != b for a, b in zip(labels, classes))
