"""Figures 3, 4 and 11 to 13 and part of Table 1 of the paper beside what is measured. Started by `run`."""

import argparse
import csv
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from findings import Check, auroc, checks, records, sections
from measure import Frequency, Pair, Persistence, Program
from models import FULL, MAIN, NETWORKS, QUICK, REACHED, Size, stop_name

HERE = Path(__file__).resolve().parent


@dataclass
class Measured:
    """One network."""

    training: dict
    natural: list[dict[str, str]]  # the lines of natural.csv, attacks.csv and one.csv
    attacks: list[dict[str, str]]
    one: list[dict[str, str]]
    pair: Pair
    deeper: dict[str, list[Persistence]] = field(default_factory=dict)  # by stop
    curves: dict[int, list[Frequency]] = field(default_factory=dict)  # of the image of a 1 and its adversarial images

    def attacks_of(self, stop: str) -> list[dict[str, str]]:
        return [line for line in self.attacks if line["stop"] == stop]

    def adversarial(self, stop: str) -> list[Persistence]:
        return self.pair.adversarial if stop == stop_name(REACHED) else self.deeper[stop]

    def sources(self, stop: str) -> list[int]:
        """Which image each adversarial row was made of."""
        return [int(line["source"]) for line in self.attacks_of(stop) if line["success"] == "1"]

    def auroc(self, stop: str) -> tuple[float, float, float]:
        return auroc([p.value for p in self.pair.natural], [p.value for p in self.adversarial(stop)], self.sources(stop))


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
        return
    for old in folder.glob("*.json"):  # results of other images
        old.unlink()
    command = [HERE / "prepare", "--out", folder, "--network", name, "--epochs", size.epochs, "--images", size.attacked(name),
               "--deeper", size.images_deeper, "--stops", *size.stops_of(name)]  # fmt: skip
    subprocess.run([str(part) for part in command], check=True)


def measure(folder: Path, build: Path, name: str, size: Size, reuse: bool) -> Measured:
    start = time.monotonic()
    program = Program(build, folder, reuse)
    found = Measured(
        training=json.loads((folder / "training.json").read_text(encoding="utf-8")),
        natural=lines(folder / "natural.csv"),
        attacks=lines(folder / "attacks.csv"),
        one=lines(folder / "one.csv"),
        pair=program.against("natural.npy", f"adversarial-{stop_name(REACHED)}.npy"),
    )
    for stop in size.stops_of(name):
        if stop != REACHED:
            found.deeper[stop_name(stop)] = program.persistence(f"adversarial-{stop_name(stop)}.npy")
    if name == MAIN:
        found.curves = program.stability("one.npy")
    print(f"  {NETWORKS[name].title}: measured in {time.monotonic() - start:.0f} s", flush=True)
    return found


def show(found: list[Check]) -> None:
    for check in found:
        print(f"  {'holds ' if check.holds else 'FAILS '} {check.what}: {check.measured}; expected {check.expected}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one network, three epochs, ten attacked images")
    parser.add_argument("--reuse", action="store_true", help="take what an earlier run left in the folder, make what is missing")
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), help="others than the setting's; the first has to be " + MAIN)
    parser.add_argument("--stop-before-measuring", action="store_true", help="train and attack only")
    parser.add_argument("--no-plots", action="store_true", help="numbers alone")
    parser.add_argument("--out", type=Path, help="folder for models, images and results [out/mnist]")
    parser.add_argument("--build", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--default-out", type=Path, required=True, help=argparse.SUPPRESS)
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
        study.networks[name] = measure(out / "models" / name, options.build, name, size, options.reuse)
    with (out / "numbers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["quantity", "network", "stop", "value", "low", "high", "rows"], *records(study)])
    text = sections(study)
    (out / "tables.md").write_text(text, encoding="utf-8")
    print(f"\n{text}")
    found = checks(study)
    show(found)
    if not options.no_plots:
        import plots

        plots.draw(study, out)
    print(f"numbers, tables{'' if options.no_plots else ', plots'} and models: {out} ({time.monotonic() - start:.0f} s)")
    failed = [check for check in found if not check.holds]
    if failed:
        print(f"mnist: {len(failed)} of {len(found)} checks fail: {'; '.join(check.what for check in failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
