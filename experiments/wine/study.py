"""Tables 1 and 2 and Figures 3 to 5 of the paper beside what is measured. Started by `run`."""

import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from findings import checks, sections
from frame import conclude, option_parser, write_numbers
from measure import Comparison, Estimate, Program, differing_labels
from models import GRID_COUNTS, SEARCHED, SETTINGS, grid

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    splits: tuple[int, ...]
    radii: tuple[float, ...]
    grids: tuple[tuple[int, int], ...]
    search: bool


FULL = Size(
    splits=tuple(range(10)),
    radii=(0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    grids=((26, 16), (51, 31), (101, 61), (201, 121)),
    search=True,
)
QUICK = Size(splits=(0, 1), radii=(0.02, 0.1, 0.4), grids=((26, 16), (101, 61)), search=False)


@dataclass(frozen=True)
class Record:
    """One measured number of one model of one split. `setting` is the radius or the grid where these vary."""

    quantity: str
    split: int
    model: str
    setting: str
    value: float
    low: float | None = None
    high: float | None = None


class Records:
    """The numbers, in the order in which they were measured."""

    def __init__(self) -> None:
        self.all: list[Record] = []

    def add(self, quantity: str, split: int, model: str, value: float | Estimate, setting: object = "") -> None:
        if isinstance(value, Estimate):
            self.all.append(Record(quantity, split, model, str(setting), value.mean, value.low, value.high))
        else:
            self.all.append(Record(quantity, split, model, str(setting), value))

    def of(self, quantity: str, model: str, setting: object = "") -> list[float]:
        """One value a split."""
        wanted = (quantity, model, str(setting))
        return [r.value for r in self.all if (r.quantity, r.model, r.setting) == wanted]

    def mean(self, quantity: str, model: str, setting: object = "") -> float:
        return statistics.fmean(self.of(quantity, model, setting))

    def write(self, path: Path) -> None:
        rows = ([r.quantity, r.split, r.model, r.setting, *("" if v is None else f"{v:.7g}" for v in (r.value, r.low, r.high))] for r in self.all)
        write_numbers(path, ["quantity", "split", "model", "setting", "value", "low", "high"], rows)


class Study:
    """Measures every split, and keeps what the plots and the tables need."""

    def __init__(self, build: Path, models: Path, size: Size) -> None:
        self.build, self.models, self.size = build, models, size
        self.records = Records()
        self.training: dict[int, dict] = {}
        self.maps: dict[int, Comparison] = {}  # on the study's grid, by split

    def measure(self) -> None:
        for split in self.size.splits:
            start = time.monotonic()
            self.measure_split(split)
            print(f"  split {split}: measured in {time.monotonic() - start:.0f} s", flush=True)

    def measure_split(self, split: int) -> None:
        folder = self.models / f"split-{split}"
        program = Program(self.build, folder)
        training = self.training[split] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
        names, four = list(training), list(SETTINGS)
        labels = self.maps[split] = program.compare(names)
        for name in names:
            told = training[name]
            self.records.add("label", split, name, labels.gamma[name])
            self.records.add("train_accuracy", split, name, told["train_accuracy"])
            self.records.add("test_accuracy", split, name, told["test_accuracy"])
            self.records.add("differing_labels", split, name, differing_labels(told["grid_labels"], labels.classes[name]))
        for output in ("predicted", "flip"):
            found = program.compare(names, output=output)
            for name in names:
                self.records.add(output, split, name, found.gamma[name])
        for middle in (0, 2):
            found = program.compare([f"{name}-middle-{middle}" for name in four])
            for name in four:
                self.records.add("reordered", split, name, found.gamma[f"{name}-middle-{middle}"], middle)
        for counts in self.size.grids:
            for jitter in ((), ("--jitter",)):
                found = program.compare(four, *jitter, data=grid(counts))
                for name in four:
                    setting = f"{counts[0]}x{counts[1]}{' jitter' if jitter else ''}"
                    self.records.add("grid", split, name, found.gamma[name], setting)
        for name in four:
            for radius, value in program.sweep(name, ",".join(map(str, self.size.radii)), "--jitter").items():
                self.records.add("radius", split, name, value, radius)


def train(models: Path, size: Size) -> None:
    command = [sys.executable, HERE / "train.py", "--out", models, "--reordered", "--splits", *map(str, size.splits)]
    if size.search:
        command.append("--search")
    subprocess.run([str(part) for part in command], check=True)


def main() -> int:
    parser = option_parser(__doc__, quick="two splits, no grid search, fewer radii and grids",
                           reuse="measure the models of an earlier run, train none", out="folder for models and results [out/wine]")  # fmt: skip
    options = parser.parse_args()
    out: Path = options.out or options.default_out
    size = QUICK if options.quick else FULL

    start = time.monotonic()
    if not options.reuse:
        print(f"Training on {len(size.splits)} splits", flush=True)
        train(out / "models", size)
    print(f"Measuring on {grid()}, {GRID_COUNTS[0] * GRID_COUNTS[1]} points", flush=True)
    study = Study(options.build, out / "models", size)
    study.measure()
    study.records.write(out / "numbers.csv")

    def draw() -> None:
        import plots

        plots.draw(study, out)

    return conclude("wine", out, sections(study), checks(study), None if options.no_plots else draw, start)


if __name__ == "__main__":
    sys.exit(main())
