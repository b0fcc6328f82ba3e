"""Figure 7 of the paper, and its way to a boundary's normal, beside what is measured. Started by `run`."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from findings import checks, records, sections
from frame import conclude, option_parser, write_numbers
from measure import Crossings, MeasuredFolder, test_pairs
from mnist_rows import LABEL, write_data
from models import FULL, QUICK, Size
from trained import NETWORKS, SEED, Trained, train

CANDIDATES = 2  # images drawn for each one that is used: some are not classified rightly


@dataclass
class Study:
    """By network, and then by kind of pairs. tested: how many rows a test accuracy is of."""

    size: Size
    tested: int
    trained: dict[str, Trained] = field(default_factory=dict)
    networks: dict[str, dict[str, Crossings]] = field(default_factory=dict)


def attacked(program: MeasuredFolder, right: np.ndarray, bounded: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images, and what attacks made of them."""
    done = [row["success"] for row in program.lbfgs("right.npy", bounded)]
    if not any(done):
        raise SystemExit(f"{program.folder}: no attack reached its class")
    return right[np.array(done), :LABEL], np.load(program.folder / ("adversarial.npy" if bounded else "adversarial-free.npy"))


def measure(program: MeasuredFolder, candidates: Path, size: Size, points: int) -> dict[str, Crossings]:
    right = program.right(candidates, size.pairs)
    np.save(program.folder / "right.npy", right)
    pairs = {"test": test_pairs(right), "adversarial": attacked(program, right, True), "free": attacked(program, right, False)}
    return {kind: program.crossings(kind, *ends, points, size.samples) for kind, ends in pairs.items()}


def main() -> int:
    parser = option_parser(__doc__, quick="one network, two epochs on 10,000 rows, 20 pairs of each kind",
                           reuse="take what an earlier run left in the folder, make what is missing",
                           out="folder for networks, images and results [out/angles]")  # fmt: skip
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), help="others than the setting's")
    parser.add_argument("--threads", type=int, default=1, help="of attacks and crossings; training takes one [1]")
    parser.add_argument("--mnist", type=Path, required=True, help="folder of MNIST's files [what scripts/setup.sh mnist fetches]")
    options = parser.parse_args()
    out: Path = (options.out or options.default_out).resolve()
    size = QUICK if options.quick else FULL

    start = time.monotonic()
    data = out / "data"
    test = write_data(options.mnist, data, size.rows, options.reuse)
    order = np.random.default_rng(SEED).permutation(len(test))
    np.save(data / "candidates.npy", test[order[: CANDIDATES * size.pairs]])
    study = Study(size, len(test))
    names = options.networks or size.networks
    print(f"Training and measuring {len(names)} network{'s' if len(names) > 1 else ''}", flush=True)
    for name in names:
        folder = out / "models" / name
        program = MeasuredFolder(options.build, folder, options.reuse, ["--threads", str(options.threads)])
        study.trained[name] = train(program.program, folder, NETWORKS[name], size.training(NETWORKS[name]), data, [], options.reuse)
        began = time.monotonic()
        study.networks[name] = measure(program, data / "candidates.npy", size, size.points_of(NETWORKS[name]))
        print(f"  {NETWORKS[name].title}: measured in {time.monotonic() - began:.0f} s", flush=True)
    write_numbers(out / "numbers.csv", ["quantity", "network", "pairs", "value", "low", "high", "rows"], records(study))

    def draw() -> None:
        import plots

        plots.draw(study, out)

    return conclude("angles", out, sections(study), checks(study), None if options.no_plots else draw, start)


if __name__ == "__main__":
    sys.exit(main())
