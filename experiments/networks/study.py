"""Table 1 of the paper, with networks that the program trains, beside what is measured. Started by `run`."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from findings import checks, records, sections
from frame import add_jobs, conclude, option_parser, write_numbers
from measure import Attack, Deeper, MeasuredFolder, Persistence
from mnist_rows import LABEL, write_data
from models import FULL, QUICK, Size
from side_by_side import side_by_side
from trained import NETWORKS, SEED, Trained, train

CANDIDATES = 2  # images drawn for each one that is attacked: some are not classified rightly


@dataclass(frozen=True)
class Measured:
    """One network: natural images, the attacks, and those that got there."""

    trained: Trained
    natural: list[Persistence]
    attacks: list[Attack]
    adversarial: list[Persistence]
    deeper: list[Deeper]

    @property
    def done(self) -> list[Attack]:
        return [attack for attack in self.attacks if attack.success]

    @property
    def distortions(self) -> list[float]:
        return [attack.distortion for attack in self.done if attack.distortion is not None]

    @property
    def pasts(self) -> list[float]:
        return [attack.past for attack in self.done if attack.past is not None]


@dataclass
class Study:
    """All networks, by name. tested: how many rows a test accuracy is of."""

    size: Size
    tested: int
    networks: dict[str, Measured] = field(default_factory=dict)


def draw_images(test: np.ndarray, size: Size, folder: Path) -> None:
    """Natural images, and candidates for attacks: the same of every network."""
    random = np.random.default_rng(SEED)
    natural, attacked = (random.permutation(len(test)) for _ in range(2))
    np.save(folder / "natural.npy", test[natural[: size.images]])
    np.save(folder / "candidates.npy", test[attacked[: CANDIDATES * size.images]])


def measure(program: MeasuredFolder, trained: Trained, data: Path, size: Size) -> Measured:
    natural = program.persistence(str(data / "natural.npy"), "--label", LABEL)
    np.save(program.folder / "attacked.npy", program.right(data / "candidates.npy", size.images))  # one that is wrong needs no attack
    attacks = program.attack("attacked.npy")
    if not any(attack.success for attack in attacks):
        raise SystemExit(f"{program.folder}: no attack reached its class")
    adversarial = program.persistence("adversarial.npy")
    np.save(program.folder / "deeper.npy", np.load(program.folder / "attacked.npy")[: size.deeper])
    return Measured(trained, natural, attacks, adversarial, [program.deeper("deeper.npy", lead) for lead in size.leads])


def main() -> int:
    parser = option_parser(__doc__, quick="one fully connected network and C-2, one and two epochs on 10,000 rows, 20 images",
                           reuse="take what an earlier run left in the folder, make what is missing",
                           out="folder for networks, images and results [out/networks]")  # fmt: skip
    parser.add_argument("--networks", nargs="+", choices=list(NETWORKS), help="others than the setting's")
    parser.add_argument("--device", help="where networks are trained and run: cpu, cuda or cuda:N [cpu]")
    parser.add_argument("--threads", type=int, default=1, help="of attacks and measurements; training takes one [1]")
    add_jobs(parser, "networks")
    parser.add_argument("--mnist", type=Path, required=True, help="folder of MNIST's files [what scripts/setup.sh mnist fetches]")
    options = parser.parse_args()
    out: Path = (options.out or options.default_out).resolve()
    size = QUICK if options.quick else FULL
    device = ["--device", options.device] if options.device else []

    start = time.monotonic()
    data = out / "data"
    test = write_data(options.mnist, data, size.rows, options.reuse)
    draw_images(test, size, data)
    study = Study(size, len(test))
    names = options.networks or size.networks
    print(f"Training, attacking and measuring {len(names)} network{'s' if len(names) > 1 else ''}", flush=True)

    def piece(name: str) -> Measured:
        folder = out / "models" / name
        program = MeasuredFolder(options.build, folder, options.reuse, ["--threads", str(options.threads), *device])
        trained = train(program.program, folder, NETWORKS[name], size.training(NETWORKS[name]), data, device, options.reuse)
        began = time.monotonic()
        found = measure(program, trained, data, size)
        print(f"  {NETWORKS[name].title}: attacked and measured in {time.monotonic() - began:.0f} s", flush=True)
        return found

    study.networks = dict(zip(names, side_by_side(options.jobs, [partial(piece, name) for name in names])))
    write_numbers(out / "numbers.csv", ["quantity", "network", "value", "low", "high", "rows", "published"], records(study))

    def draw() -> None:
        import plots

        plots.draw(study, out)

    return conclude("networks", out, sections(study), checks(study), None if options.no_plots else draw, start)


if __name__ == "__main__":
    sys.exit(main())
