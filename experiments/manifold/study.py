"""Figures 8 to 10 of the paper beside what is measured. Started by `run`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from findings import checks, records, sections
from frame import add_jobs, conclude, option_parser, write_numbers
from measure import Alignment, Attack, DataFolder, Epoch, ModelFolder, Turned
from models import FULL, MARK, MODELS, QUICK, TURNING, VARIANTS, Size
from side_by_side import side_by_side


@dataclass(frozen=True)
class Measured:
    """One network of one seed. `pgd` is by the weight of the distance; `balls` by the radius, `turned` by the norm. A variant has neither, and
    nothing turned."""

    epochs: list[Epoch]
    alignment: Alignment
    fgsm: dict[float, Attack]
    pgd: dict[float, Attack] = field(default_factory=dict)
    balls: dict[float, Attack] = field(default_factory=dict)
    turned: dict[str, Turned] = field(default_factory=dict)


@dataclass
class Study:
    """By model and seed; variants are of the first seed."""

    size: Size
    how: str
    basis: np.ndarray
    models: dict[str, dict[int, Measured]] = field(default_factory=dict)
    variants: dict[str, Measured] = field(default_factory=dict)


def parse() -> tuple[Namespace, Size]:
    parser = option_parser(__doc__, quick="4000 rows, two epochs, narrow networks, one seed",
                           reuse="take what an earlier run with the same commands left in the folder, make what is missing",
                           out="folder for data, models and results [out/manifold]")  # fmt: skip
    parser.add_argument("--rows", type=int, help="of training, instead of the setting's")
    parser.add_argument("--epochs", type=int, help="instead of the setting's")
    parser.add_argument("--hidden", help="widths of the hidden layers, as 1568,1568, instead of the setting's")
    parser.add_argument("--seeds", type=int, help="how many, instead of the setting's")
    parser.add_argument("--tested", type=int, help="rows of the test set, instead of the setting's")
    parser.add_argument("--attacked", type=int, help="of these, rows that PGD attacks, instead of the setting's")
    parser.add_argument("--no-variants", action="store_true", help="leave out other terms and weights of the manifold's objective")
    parser.add_argument("--device", default="cpu", help="where networks are trained and asked: cpu or cuda:N [cpu]")
    parser.add_argument("--threads", type=int, default=1, help="networks' last digits depend on their number [1]")
    add_jobs(parser, "networks that are trained and measured")
    parser.add_argument("--permute", action="store_true", help="the pixels in another order, the same for all rows")
    parser.add_argument("--images", type=Path, required=True, help="folder with the four files of MNIST [fetched]")
    options = parser.parse_args()
    named = {name: getattr(options, name) for name in ("rows", "epochs", "hidden", "seeds", "tested", "attacked")}
    for name, value in named.items():
        if isinstance(value, int) and value < 1:
            parser.error(f"--{name} is {value}; expected at least 1")
    size = replace(QUICK if options.quick else FULL, **{name: value for name, value in named.items() if value is not None})
    variants = () if options.no_variants else size.variants
    return options, replace(size, attacked=min(size.attacked, size.tested), variants=variants)


def measure(folder: ModelFolder, name: str, size: Size, seed: int, twos: np.ndarray) -> Measured:
    model = {**MODELS, **VARIANTS}[name]
    start = time.monotonic()
    epochs = folder.train(model, size, seed)
    trained = time.monotonic()
    variant = name in VARIANTS
    found = Measured(
        epochs=epochs,
        alignment=folder.alignment(),
        fgsm={epsilon: folder.fgsm(epsilon) for epsilon in ((MARK,) if variant else size.epsilons)},
        pgd={} if variant else {penalty: folder.pgd(penalty, size.attacked) for penalty in size.penalties},
        balls={} if variant else {radius: folder.ball(radius, size.attacked) for radius in size.balls},
        turned={} if variant else {norm: folder.turned(twos, norm) for norm in TURNING},
    )
    print(f"  {model.title}, seed {seed}: trained in {trained - start:.0f} s, measured in {time.monotonic() - trained:.0f} s", flush=True)
    return found


def main() -> int:
    options, size = parse()
    out: Path = (options.out or options.default_out).resolve()
    start = time.monotonic()
    print("Projecting the images", flush=True)
    data = DataFolder(options.build, out / "data", options.reuse)
    if data.prepare(options.images.resolve(), size, options.permute):
        for old in [*out.glob("models/*/*.json"), *out.glob("models/*/*.command")]:  # of other rows
            old.unlink()
    print("Training and measuring", flush=True)
    study = Study(size, f"{options.device}, {options.threads} thread{'s' if options.threads > 1 else ''}"
                        f"{', pixels permuted' if options.permute else ''}", data.basis())  # fmt: skip
    twos = data.twos()

    def piece(name: str, seed: int) -> Measured:
        folder = ModelFolder(options.build, out / "models" / f"{name}-{seed}", options.reuse, options.threads, options.device)
        return measure(folder, name, size, seed, twos)

    networks = [(name, seed) for seed in range(1, size.seeds + 1) for name in (*MODELS, *(size.variants if seed == 1 else ()))]
    for (name, seed), found in zip(networks, side_by_side(options.jobs, [partial(piece, *network) for network in networks])):
        if name in VARIANTS:
            study.variants[name] = found
        else:
            study.models.setdefault(name, {})[seed] = found
    write_numbers(out / "numbers.csv", ["quantity", "model", "seed", "setting", "value", "low", "high", "rows"], records(study))

    def draw() -> None:
        import plots

        plots.draw(study, data, out)

    return conclude("manifold", out, sections(study), checks(study), None if options.no_plots else draw, start)


if __name__ == "__main__":
    sys.exit(main())
