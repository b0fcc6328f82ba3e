"""The networks of the paper's Table 1, trained and attacked with the project's own program. Needs NumPy beside Python."""

import csv
import json
import shutil
import subprocess
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from mnist_rows import LABEL
from program import Program

SEED = 1
BESIDE = 1e-6  # deviation of the one sample that is asked for beside a row to learn its class


@dataclass(frozen=True)
class Network:
    """Widths of the fully connected layers before the last, and λ of every layer's penalty. With `channels`, the layers of the
    paper's Table 3 come before them: four convolutions and a pooling."""

    title: str
    hidden: tuple[int, ...] = ()
    penalties: tuple[float, ...] = ()
    channels: int = 0

    @property
    def convolutional(self) -> bool:
        return self.channels > 0

    @property
    def linear(self) -> bool:
        """Its classes are convex: no layer but the last."""
        return not self.hidden and not self.convolutional

    def arguments(self) -> list[str]:
        """Of `harmonia train`."""
        found = []
        if self.channels:
            found += ["--channels", str(self.channels)]
        if self.hidden:
            found += ["--hidden", ",".join(map(str, self.hidden))]
        if self.penalties:
            found += ["--penalty", ",".join(f"{value:g}" for value in self.penalties)]
        return found


NETWORKS = {
    "fc10-4": Network("FC10-4", penalties=(1e-4,)),
    "fc10-2": Network("FC10-2", penalties=(1e-2,)),
    "fc10-0": Network("FC10-0", penalties=(1.0,)),
    "fc100-100-10": Network("FC100-100-10", (100, 100), (1e-5, 1e-5, 1e-6)),
    "fc200-200-10": Network("FC200-200-10", (200, 200), (1e-5, 1e-5, 1e-6)),
    **{f"c-{n}": Network(f"C-{n}", (256,), channels=n) for n in (2, 4, 8, 16, 32, 64, 128, 256, 512)},
}


@dataclass(frozen=True)
class Training:
    """How a network is trained. rows: how many it learns from; 0 is all."""

    epochs: int
    rows: int = 0
    seed: int = SEED


@dataclass(frozen=True)
class Trained:
    """The last epoch of a training. The interval is the program's, 95 %, of the test accuracy."""

    accuracy: float
    test_accuracy: float
    test_low: float
    test_high: float
    seconds: float


def read_trained(folder: Path) -> Trained:
    with (folder / "training.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    last = lines[-1]
    return Trained(*(float(last[name]) for name in ("accuracy", "test_accuracy", "test_low", "test_high")),
                   seconds=sum(float(line["seconds"]) for line in lines))  # fmt: skip


def train(program: Path, folder: Path, network: Network, training: Training, data: Path, device: Iterable[str], reuse: bool) -> Trained:
    """Writes net.pt into the folder, unless it is there already of the same training. One thread: a network's last digits depend on
    their number."""
    told = folder / "training.json"
    if reuse and told.exists():
        found = json.loads(told.read_text(encoding="utf-8"))
        if found != asdict(training):
            raise SystemExit(f"{folder} has a network of {found['epochs']} epochs on {found['rows'] or 'all'} rows, not {training.epochs} on "
                             f"{training.rows or 'all'}; leave out --reuse or name another --out")  # fmt: skip
        return read_trained(folder)
    shutil.rmtree(folder, ignore_errors=True)  # results of another network
    folder.mkdir(parents=True)
    start = time.monotonic()
    command = [program, "train", data / "train.npy", "--label", LABEL, *network.arguments(), "--epochs", training.epochs, "--seed", training.seed,
               "--test", data / "test.npy", "--threads", 1, *device, "--csv", folder / "training.csv", "--out", folder / "net.pt",
               "--quiet"]  # fmt: skip
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed: {done.stderr.strip()}")
    told.write_text(json.dumps(asdict(training)) + "\n", encoding="utf-8")
    trained = read_trained(folder)
    print(f"  {network.title}: test accuracy {100 * trained.test_accuracy:.2f} %, trained in {time.monotonic() - start:.0f} s", flush=True)
    return trained


class TrainedFolder(Program):
    """The folder of net.pt: the program runs there, and its results are kept there. `common`: options of every command."""

    def __init__(self, build: Path, folder: Path, reuse: bool, common: list[str]) -> None:
        super().__init__(build, folder, reuse)
        self.common = common

    def classes(self, data: str) -> list[int]:
        """Of every row."""
        result = self.result(f"classes-{Path(data).stem}.json", "stability", "net.pt", data, "--label", LABEL, "--sigma", BESIDE,
                             "--samples", 1, *self.common)  # fmt: skip
        return [row["class"] for row in result["rows"]]

    def right(self, candidates: Path, count: int) -> np.ndarray:
        """The first `count` rows that the network has right."""
        rows = np.load(candidates)
        found = rows[np.array(self.classes(str(candidates))) == rows[:, LABEL]]
        if len(found) < count:
            raise SystemExit(f"{self.folder}: the network has {len(found)} of {len(rows)} images right, fewer than {count}")
        return found[:count]

    def lbfgs(self, data: str, bounded: bool = True, lead: float = 0) -> list[dict]:
        """Attacks by L-BFGS, each towards a random class whose logit is to lead by so much; pixels stay in [0, 1] if they are bounded. The
        images of those that got there are in adversarial.npy, adversarial-free.npy or adversarial-LEAD.npy."""
        end = f"-{lead:g}" if lead else "" if bounded else "-free"
        bounds = ("--lower", 0, "--upper", 1) if bounded else ()
        leads = ("--kappa", lead) if lead else ()
        options = ("--label", LABEL, "--method", "lbfgs", "--target", "random", *bounds, *leads, "--adversarial", f"adversarial{end}.npy")
        return self.result(f"attack{end}.json", "attack", "net.pt", data, *options, *self.common)["rows"]
