"""Figures 3, 4 and 11 to 13 and part of Table 1 of the paper beside what is measured. Started by `run`."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from findings import auroc, checks, records, sections, values
from frame import conclude, option_parser, write_numbers
from measure import Area, Frequency, MeasuredFolder, Persistence
from models import FULL, MAIN, NETWORKS, QUICK, REACHED, Size, stop_name

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Attacks:
    """The lines of attacks.csv with one stop, and the persistence of those that got there."""

    lines: list[dict[str, str]]
    rows: list[Persistence]

    @property
    def done(self) -> list[dict[str, str]]:
        return [line for line in self.lines if line["success"] == "1"]

    @property
    def sources(self) -> list[int]:
        """Which image each row was made of."""
        return [int(line["source"]) for line in self.done]

    def of(self, name: str) -> list[float]:
        """A column of those that got there."""
        return [float(line[name]) for line in self.done]

    def on(self, images: set[int]) -> Attacks:
        """Those of some images."""
        return Attacks([line for line in self.lines if int(line["source"]) in images],
                       [row for row, source in zip(self.rows, self.sources, strict=True) if source in images])  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """One network. `natural_lines` and `one` are the lines of natural.csv and one.csv."""

    training: dict
    natural_lines: list[dict[str, str]]
    natural: list[Persistence]
    reached: Attacks
    deeper: dict[str, Attacks]  # by stop, all of the same images
    detectors: dict[str, Area]
    one: list[dict[str, str]]
    curves: dict[int, list[Frequency]]  # of the image of a 1 and its adversarial images, by row

    def auroc(self, attacks: Attacks) -> tuple[float, float, float]:
        return auroc(values(self.natural), values(attacks.rows), attacks.sources)


@dataclass
class Study:
    """All networks, by name."""

    size: Size
    networks: dict[str, Measured] = field(default_factory=dict)


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def prepare(folder: Path, name: str, size: Size, reuse: bool) -> None:
    if reuse and (folder / "training.json").exists():
        epochs = json.loads((folder / "training.json").read_text(encoding="utf-8"))["epochs"]
        if epochs != size.epochs:
            raise SystemExit(f"{folder} has a network of {epochs} epochs, not {size.epochs}; leave out --reuse or name another --out")
        return
    for old in folder.glob("*.json"):  # results of other images
        old.unlink()
    command = [HERE / "prepare", "--out", folder, "--network", name, "--epochs", size.epochs, "--images", size.attacked(name),
               "--deeper", size.images_deeper, "--stops", *size.stops_of(name)]  # fmt: skip
    subprocess.run([str(part) for part in command], check=True)


def measure(folder: Path, build: Path, name: str, reuse: bool) -> Measured:
    start = time.monotonic()
    program = MeasuredFolder(build, folder, reuse)
    first = stop_name(REACHED)
    attacks: dict[str, list[dict[str, str]]] = {}
    for line in lines(folder / "attacks.csv"):
        attacks.setdefault(line["stop"], []).append(line)
    pair = program.against("natural.npy", f"adversarial-{first}.npy")
    reached = Attacks(attacks.pop(first), pair.adversarial)
    deeper = {}
    for stop, chosen in attacks.items():
        any_there = any(line["success"] == "1" for line in chosen)
        deeper[stop] = Attacks(chosen, program.persistence(f"adversarial-{stop}.npy") if any_there else [])
    images = {int(line["source"]) for found in deeper.values() for line in found.lines}
    found = Measured(
        training=json.loads((folder / "training.json").read_text(encoding="utf-8")),
        natural_lines=lines(folder / "natural.csv"),
        natural=pair.natural,
        reached=reached,
        deeper={first: reached.on(images), **deeper} if deeper else {},
        detectors=pair.detectors,
        one=lines(folder / "one.csv"),
        curves=program.stability("one.npy") if name == MAIN else {},
    )
    print(f"  {NETWORKS[name].title}: measured in {time.monotonic() - start:.0f} s", flush=True)
    return found


def main() -> int:
    parser = option_parser(__doc__, quick="one network, three epochs, ten attacked images",
                           reuse="take what an earlier run left in the folder, make what is missing",
                           out="folder for models, images and results [out/mnist]")  # fmt: skip
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), help="others than the setting's; the first has to be " + MAIN)
    parser.add_argument("--stop-before-measuring", action="store_true", help="train and attack only")
    options = parser.parse_args()
    out: Path = options.out or options.default_out
    size = QUICK if options.quick else FULL
    names = options.networks or list(size.networks)
    if names[0] != MAIN:
        parser.error(f"the first network has to be {MAIN}, not {names[0]}")

    start = time.monotonic()
    print(f"Training and attacking {len(names)} network{'s' if len(names) > 1 else ''}", flush=True)
    for name in names:
        prepare(out / "models" / name, name, size, options.reuse)
    if options.stop_before_measuring:
        print(f"models and images: {out / 'models'} ({time.monotonic() - start:.0f} s)")
        return 0
    print("Measuring", flush=True)
    study = Study(size)
    for name in names:
        study.networks[name] = measure(out / "models" / name, options.build, name, options.reuse)
    write_numbers(out / "numbers.csv", ["quantity", "network", "stop", "value", "low", "high", "rows"], records(study))

    def draw() -> None:
        import plots

        plots.draw(study, out)

    return conclude("mnist", out, sections(study), checks(study), None if options.no_plots else draw, start)


if __name__ == "__main__":
    sys.exit(main())
