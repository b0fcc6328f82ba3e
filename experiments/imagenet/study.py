"""Table 2 of the paper in its form: six attacks on an ImageNet classifier, and the persistence before and after. Started by `run`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from findings import checks, records, sections
from frame import add_jobs, conclude, option_parser, write_numbers
from measure import Attacked, MeasuredFolder
from models import FULL, QUICK, SEED, SIDE, Size
from photographs import label_of, photographs, square
from side_by_side import side_by_side

HERE = Path(__file__).resolve().parent


@dataclass
class Study:
    """natural: persistence of every photograph that is attacked. difference: largest of a logit, the program's from PyTorch's."""

    size: Size
    natural: list[float]
    difference: float
    attacked: list[Attacked] = field(default_factory=list)


def prepare(folder: Path, size: Size) -> None:
    """net.pt, and natural.npy: photographs that it has right."""
    folder.mkdir(parents=True, exist_ok=True)
    setup = HERE.parent.parent / "scripts" / "setup.sh"
    subprocess.run([str(setup), "images"], check=True)
    images = Path(subprocess.run([str(setup), "--images"], check=True, capture_output=True, text=True).stdout.strip())
    labelled = [path for path in photographs(images) if label_of(path.name) is not None]
    rows = np.stack([square(path, SIDE).reshape(-1) / 255 for path in labelled]).astype(np.float32)
    np.save(folder / "labelled.npy", rows)
    subprocess.run([str(HERE / "prepare"), "--out", str(folder / "net.pt"), "--rows", str(folder / "labelled.npy")], check=True)
    logits = np.load(folder / "net.npy")
    right = np.flatnonzero(logits.argmax(1) == [label_of(path.name) for path in labelled])[: size.photographs or None]
    print(f"  {len(right)} of {len(labelled)} labelled photographs are right and attacked", flush=True)
    np.save(folder / "natural.npy", rows[right])
    np.save(folder / "logits.npy", logits[right])
    (folder / "photographs.json").write_text(json.dumps(size.photographs), encoding="utf-8")


def targets(size: Size, logits: np.ndarray) -> list[int]:
    """Classes drawn from those that no photograph has: the same first ones however many."""
    free = np.setdiff1d(np.arange(logits.shape[1]), logits.argmax(1))
    return np.random.default_rng(SEED).permutation(free)[: size.targets].tolist()


def largest_difference(program: MeasuredFolder, logits: np.ndarray) -> float:
    """Of each row's largest logit, as the program has it when it measures gamma."""
    result = program.result("gamma.json", "gamma", "net.pt", "natural.npy", "--radius", 0.001, "--ball", "random:1", *program.common)
    return max(abs(row["value"] - float(line.max())) for row, line in zip(result["rows"], logits, strict=True))


def measure(program: MeasuredFolder, size: Size, jobs: int) -> Study:
    rows, logits = (np.load(program.folder / name) for name in ("natural.npy", "logits.npy"))
    study = Study(size, program.persistences("persistence-natural", "natural.npy"), largest_difference(program, logits))

    def piece(method: str, target: int) -> Attacked:
        start = time.monotonic()
        found = program.attacked(method, target, rows)
        print(f"  {method} to {target}: {len(found.sources)} of {found.tried}, {time.monotonic() - start:.0f} s", flush=True)
        return found

    aims = targets(size, logits)
    study.attacked = side_by_side(jobs, [partial(piece, method, target) for method in size.methods for target in aims])
    return study


def main() -> int:
    parser = option_parser(__doc__, quick="two photographs, one target, two attacks, coarse persistences",
                           reuse="take what an earlier run left in the folder, make what is missing",
                           out="folder for the network, images and results [out/imagenet]")  # fmt: skip
    parser.add_argument("--photographs", type=int, help="how many of those that the network has right [all; quick: 2]")
    parser.add_argument("--targets", type=int, help="how many classes the attacks go to [5; quick: 1]")
    parser.add_argument("--precision", type=float, help="of a persistence, as its share [0.1; quick: 0.5]")
    parser.add_argument("--device", default="cpu", help="where the network runs: cpu, cuda or cuda:N [cpu]")
    parser.add_argument("--threads", type=int, help="of the program: calls of the network at the same time [its own choice]")
    add_jobs(parser, "attacks")
    options = parser.parse_args()
    out: Path = options.out or options.default_out
    given = {name: getattr(options, name) for name in ("photographs", "targets", "precision")}
    size = replace(QUICK if options.quick else FULL, **{name: value for name, value in given.items() if value is not None})
    folder = out / "models" / "lite0"
    start = time.monotonic()
    if options.reuse and (folder / "logits.npy").exists():
        kept = json.loads((folder / "photographs.json").read_text(encoding="utf-8"))
        if kept != size.photographs:
            raise SystemExit(f"{folder} was made for {kept or 'all'} photographs, not {size.photographs or 'all'}; leave out --reuse or name another --out")
    else:
        print("Preparing", flush=True)
        prepare(folder, size)
    print("Attacking and measuring", flush=True)
    common = ["--device", options.device, *(["--threads", options.threads] if options.threads is not None else [])]
    study = measure(MeasuredFolder(options.build, folder, options.reuse, size, common), size, options.jobs)
    write_numbers(out / "numbers.csv", ["quantity", "attack", "value", "low", "high", "images"], records(study))

    def draw() -> None:
        import plots

        plots.draw(study, out)

    return conclude("imagenet", out, sections(study), checks(study), None if options.no_plots else draw, start)


if __name__ == "__main__":
    sys.exit(main())
