"""Table 3 and Figure 8 of the paper for networks that can be had, and what its sampling and its search are worth. Started by `run`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from findings import checks, records, sections
from frame import conclude, option_parser, write_numbers
from measure import Gamma, Images, Map, Search, grey
from models import DIGITS, FULL, LITES, MAIN, QUICK, Size

HERE = Path(__file__).resolve().parent
SETUP = HERE.parent.parent / "scripts" / "setup.sh"
PARTS = ("photographs", "digits")


@dataclass(frozen=True)
class Drawn:
    """γ of some images from so many calls: pairs, single points, and the whole ball, an entry an image and draw each."""

    radius: float
    calls: int
    pairs: list[Gamma]
    points: list[Gamma]
    whole: list[Gamma]


@dataclass(frozen=True)
class Network:
    """An EfficientNet-Lite on the photographs. `export` is what NAME.export.json holds; `steps`: pixels changed until the
    class is another one; `paper_gamma`: γ as the paper draws it, `paper`: all of its procedure."""

    export: dict
    map: Map
    steps: list[int]
    paper_gamma: list[Gamma]
    paper: Map | None
    search: Search | None  # of the main one, where there is time


@dataclass(frozen=True)
class Digits:
    """A small network on a set of small images. `logits` are PyTorch's."""

    training: dict
    names: list[str]
    logits: np.ndarray
    map: Map
    search: Search
    paper: Search | None
    drawn: list[Drawn]


@dataclass
class Study:
    size: Size
    networks: dict[str, Network] = field(default_factory=dict)
    digits: dict[str, Digits] = field(default_factory=dict)
    drawn: list[Drawn] = field(default_factory=list)  # of photographs


def setup(part: str) -> Path:
    """Fetches what is missing; the folder."""
    subprocess.run([SETUP, part], check=True)
    return Path(subprocess.run([SETUP, f"--{part}"], check=True, capture_output=True, text=True).stdout.strip())


def prepare(script: str, *arguments: object) -> None:
    subprocess.run([str(part) for part in (HERE / "prepare", script, *arguments)], check=True)


def prepare_networks(folder: Path, size: Size, reuse: bool) -> None:
    """The networks as ONNX files, each compared with PyTorch, and the photographs."""
    missing = [name for name in size.networks if not (reuse and (folder / f"{name}.export.json").exists())]
    if not missing:
        return
    import export

    if not reuse:
        shutil.rmtree(folder, ignore_errors=True)  # results of other networks
    folder.mkdir(parents=True, exist_ok=True)
    images = setup("images")
    export.copy_photographs(images, folder)
    names = json.loads((images / "imagenet1k_clean_names.json").read_text(encoding="utf-8"))
    (folder / "classes.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    export.write_inputs(images, folder, {LITES[name].side for name in missing})
    prepare("lite.py", "--images", images, "--out", folder, *missing)
    for name in missing:
        told = export.finish(images, folder, name)
        print(f"  {LITES[name].title}: {told.correct} of {told.labelled} labelled photographs right at {told.native} × {told.native}", flush=True)
    for path in [*folder.glob("inputs-*.npy"), *folder.glob("*-logits-*.npy"), *folder.glob("*.symmetric.onnx")]:
        path.unlink()


def prepare_digits(folder: Path, name: str, size: Size, reuse: bool) -> None:
    told = folder / "training.json"
    if reuse and told.exists():
        found = json.loads(told.read_text(encoding="utf-8"))
        if (found["epochs"], found["each"]) != (size.epochs[name], size.each):
            raise SystemExit(f"{folder} has a network of {found['epochs']} epochs and {found['each']} images a class, not {size.epochs[name]} "
                             f"and {size.each}; leave out --reuse or name another --out")  # fmt: skip
        return
    for old in folder.glob("*.json"):  # results of other images
        old.unlink()
    prepare("digits.py", "--data", name, "--from", setup(name), "--out", folder, "--epochs", size.epochs[name], "--each", size.each)


def compare_draws(images: Images, network: str, rows: int, draws: int, size: Size, radii: tuple[float, ...]) -> list[Drawn]:
    found = []
    for radius in radii:
        whole = images.whole_balls(network, rows, radius)
        for calls in size.calls:
            kinds = [[g for seed in range(1, draws + 1) for g in images.drawn(network, rows, radius, calls, paired, seed)] for paired in (True, False)]
            found.append(Drawn(radius, calls, *kinds, whole * draws))
    return found


def measure_photographs(study: Study, folder: Path, build: Path, reuse: bool) -> None:
    size = study.size
    images = Images(build, folder, reuse, "photographs", grey())
    for name in size.networks:
        start = time.monotonic()
        study.networks[name] = Network(
            export=json.loads((folder / f"{name}.export.json").read_text(encoding="utf-8")),
            map=images.map(name, size, size.sample, size.photographs),
            steps=images.steps(name, size, size.photographs),
            paper_gamma=images.paper_gamma(name, size.photographs),
            search=images.against_random(name, size, rows=size.photographs) if size.thorough and name == MAIN else None,
            paper=images.paper_map(name, size, size.photographs) if size.thorough else None,
        )
        print(f"  {LITES[name].title}: measured in {time.monotonic() - start:.0f} s", flush=True)
    start = time.monotonic()
    pictures = Images(build, folder, reuse, "photographs", grey(size.side))
    study.drawn = compare_draws(pictures, MAIN, size.pair_photographs, size.draws, size, size.radii[:1])
    print(f"  whole balls of {LITES[MAIN].title}: measured in {time.monotonic() - start:.0f} s", flush=True)


def measure_digits(folder: Path, name: str, build: Path, size: Size, reuse: bool) -> Digits:
    start = time.monotonic()
    images = Images(build, folder, reuse, "test-images-idx3-ubyte", ("--labels", "test-labels-idx1-ubyte"))
    found = Digits(
        training=json.loads((folder / "training.json").read_text(encoding="utf-8")),
        names=json.loads((folder / "net.image.json").read_text(encoding="utf-8"))["classes"],
        logits=np.load(folder / "logits.npy"),
        map=images.map("net", size, 0),
        search=images.against_random("net", size),
        paper=images.against_random("net", size, paper=True, rows=size.paper) if size.paper else None,
        drawn=compare_draws(images, "net", size.pairs, 1, size, size.radii),
    )
    print(f"  {DIGITS[name]}: measured in {time.monotonic() - start:.0f} s", flush=True)
    return found


def main() -> int:
    parser = option_parser(__doc__, quick="one network on four photographs, 200 images of MNIST, shorter searches",
                           reuse="take what an earlier run left in the folder, make what is missing",
                           out="folder for models, images and results [out/images]")  # fmt: skip
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="one of the two alone")
    parser.add_argument("--photographs", type=int, help="the first of them alone; 20 with labels come first")
    parser.add_argument("--short", action="store_true", help="without the paper's own search and a random one on photographs, which take most of the time")
    parser.add_argument("--stop-before-measuring", action="store_true", help="fetch, export and train only")
    options = parser.parse_args()
    out: Path = options.out or options.default_out
    size = QUICK if options.quick else FULL
    if options.short:
        size = replace(size, thorough=False)
    if options.photographs is not None:
        size = replace(size, photographs=options.photographs)
    photographs, digits = out / "models" / "lite", {name: out / "models" / name for name in size.digits if "digits" in options.parts}

    start = time.monotonic()
    print("Exporting and training", flush=True)
    if "photographs" in options.parts:
        prepare_networks(photographs, size, options.reuse)
    for name, folder in digits.items():
        prepare_digits(folder, name, size, options.reuse)
    if options.stop_before_measuring:
        print(f"models and images: {out / 'models'} ({time.monotonic() - start:.0f} s)")
        return 0
    print("Measuring", flush=True)
    study = Study(size)
    for name, folder in digits.items():
        study.digits[name] = measure_digits(folder, name, options.build, size, options.reuse)
    if "photographs" in options.parts:
        measure_photographs(study, photographs, options.build, options.reuse)
    write_numbers(out / "numbers.csv", ["quantity", "model", "setting", "value", "low", "high", "rows"], records(study))

    def draw() -> None:
        import plots

        plots.draw(study, out)

    return conclude("images", out, sections(study), checks(study), None if options.no_plots else draw, start)


if __name__ == "__main__":
    sys.exit(main())
