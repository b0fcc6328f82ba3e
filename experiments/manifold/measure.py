"""Prepares rows, trains and measures with the project's own program. Needs NumPy."""

from __future__ import annotations

import csv
import math
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models import BALL_STEPS, COMPONENTS, FROM, PGD_STEPS, PIXELS, TO, TURNING, TURNING_STEPS, Model, Size
from program import Program

Estimate = tuple[float, float, float]  # with the ends of its 95 % interval
DATA = "../../data"  # seen from a network's folder


@dataclass(frozen=True)
class Epoch:
    objective: float
    cross_entropy: float
    alignment: float | None
    accuracy: Estimate  # of the test rows
    seconds: float


@dataclass(frozen=True)
class Alignment:
    """The cosines of gradients with their parts along the plane, of the rows that have one, and the class of every row."""

    cosines: np.ndarray
    classes: np.ndarray
    cosine: Estimate
    squared: Estimate
    ratio: Estimate
    dimensions: int
    explained: float  # share of the rows' variance in the plane
    by_chance: float  # squared cosine of a random direction


@dataclass(frozen=True)
class Attack:
    """By row: the class before, whether it was the label, whether another was found, and how far away, in root mean square."""

    classes: np.ndarray
    right: np.ndarray
    changed: np.ndarray
    distances: np.ndarray
    largest: np.ndarray

    def kept(self) -> np.ndarray:
        """Rows that are right and stay so."""
        return self.right & ~self.changed


@dataclass(frozen=True)
class Turned:
    """Images of a 2 that were classified as such, and what an attack towards 3 made of those that got there."""

    tried: int
    numbers: list[int]  # rows of twos.npy
    before: np.ndarray
    after: np.ndarray


def estimate(summary: dict) -> Estimate:
    return summary["mean"], summary["low"], summary["high"]


def read_alignment(result: dict) -> Alignment:
    measured = [row for row in result["rows"] if row["outcome"] == "measured"]
    summary = result["summary"]
    return Alignment(
        cosines=np.array([row["cosine"] for row in measured]),
        classes=np.array([row["class"] for row in result["rows"]]),
        cosine=estimate(summary["cosine"]),
        squared=estimate(summary["squared_cosine"]),
        ratio=estimate(summary["ratio"]),
        dimensions=summary["plane"]["dimensions"],
        explained=summary["plane"]["explained"],
        by_chance=summary["by_chance"],
    )


def read_attack(result: dict) -> Attack:
    rows = result["rows"]
    return Attack(
        classes=np.array([row["class"] for row in rows]),
        right=np.array([row["class"] == round(float(row["label"])) for row in rows]),
        changed=np.array([row["success"] for row in rows]),
        distances=np.array([row["distortion_l2"] for row in rows]),
        largest=np.array([row["distortion_linf"] for row in rows]),
    )


def read_epochs(path: Path) -> list[Epoch]:
    with path.open(newline="", encoding="utf-8") as file:
        return [Epoch(float(line["objective"]), float(line["cross_entropy"]), float(line["alignment"]) if line["alignment"] else None,
                      (float(line["test_accuracy"]), float(line["test_low"]), float(line["test_high"])), float(line["seconds"]))
                for line in csv.DictReader(file)]  # fmt: skip


class Folder(Program):
    """A folder in which the program runs, and in which its results are kept."""

    def make(self, name: str, *arguments: object) -> bool:
        """A file that the program writes without a JSON result, and `name`.command beside it. Whether it was made anew."""
        command = [str(self.program), *map(str, arguments), "--out", name, "--quiet"]
        note, line = self.folder / f"{name}.command", shlex.join(["harmonia", *command[1:]])
        if self.reuse and note.exists() and note.read_text(encoding="utf-8") == line:
            return False
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} in {self.folder} failed: {done.stderr.strip()}")
        note.write_text(line, encoding="utf-8")
        return True


class DataFolder(Folder):
    """The rows: train.npy and test.npy, in the plane and in units of 1 for white, with the label as the last column; plane.npy, rows
    that the plane is found again from; twos.npy, test rows of a 2."""

    def prepare(self, images: Path, size: Size, permute: bool) -> bool:
        """Whether the rows were made anew."""
        self.folder.mkdir(parents=True, exist_ok=True)
        note, line = self.folder / "prepared", f"{images} {size.tested} {size.turned} {permute}"
        if self.reuse and note.exists() and note.read_text(encoding="utf-8") == line:
            return False
        note.unlink(missing_ok=True)
        for name, first in (("train", "train"), ("test", "t10k")):
            data = [f"{images}/{first}-images-idx3-ubyte", "--labels", f"{images}/{first}-labels-idx1-ubyte"]
            plane = [] if name == "train" else ["--manifold", f"{images}/train-images-idx3-ubyte"]
            self.make(f"{name}.npy", "project", *data, *plane, "--components", COMPONENTS)
        order = np.random.default_rng(1).permutation(PIXELS) if permute else np.arange(PIXELS)
        for name in ("train", "test"):
            rows = np.load(self.folder / f"{name}.npy")
            rows[:, :PIXELS] = rows[:, order] / 255
            if name == "test":
                twos = rows[rows[:, PIXELS] == FROM][: size.turned]
                rows = rows[: size.tested]
                np.save(self.folder / "twos.npy", twos)
            else:
                np.save(self.folder / "plane.npy", rows[:2000])
            np.save(self.folder / f"{name}.npy", rows)
            (self.folder / f"{name}.npy.command").unlink()  # what the program wrote is no more
        np.save(self.folder / "order.npy", order)
        note.write_text(line, encoding="utf-8")
        return True

    def twos(self) -> np.ndarray:
        return np.load(self.folder / "twos.npy")[:, :PIXELS].astype(float)

    def picture(self, row: np.ndarray) -> np.ndarray:
        """A row as an image, its pixels back in their order."""
        found = np.empty(PIXELS)
        found[np.load(self.folder / "order.npy")] = row
        return found

    def basis(self) -> np.ndarray:
        """Orthonormal directions of the plane, components × pixels."""
        rows = np.load(self.folder / "plane.npy")[:, :PIXELS].astype(float)
        return np.linalg.svd(rows - rows.mean(0), full_matrices=False)[2][:COMPONENTS]


class ModelFolder(Folder):
    """One network, trained from one seed."""

    def __init__(self, build: Path, folder: Path, reuse: bool, threads: int, device: str) -> None:
        super().__init__(build, folder, reuse)
        self.run = ["--threads", threads, *(["--device", device] if device != "cpu" else [])]

    def train(self, model: Model, size: Size, seed: int) -> list[Epoch]:
        self.folder.mkdir(parents=True, exist_ok=True)
        made = self.make("net.pt", "train", f"{DATA}/train.npy", "--label", PIXELS, "--window", f"0..{size.rows - 1}", "--hidden", size.hidden,
                         "--epochs", size.epochs, "--test", f"{DATA}/test.npy", "--seed", seed, *model.options(), *self.run,
                         "--csv", "epochs.csv")  # fmt: skip
        if made:
            for old in self.folder.glob("*.json"):  # results of another network
                old.unlink()
        return read_epochs(self.folder / "epochs.csv")

    def alignment(self) -> Alignment:
        return read_alignment(self.result("alignment.json", "alignment", "net.pt", f"{DATA}/test.npy", "--label", PIXELS, "--manifold",
                                          f"{DATA}/plane.npy", "--components", COMPONENTS, *self.run))  # fmt: skip

    def attack(self, name: str, data: str, *arguments: object) -> dict:
        return self.result(f"{name}.json", "attack", "net.pt", f"{DATA}/{data}", "--label", PIXELS, *arguments, *self.run)

    def fgsm(self, epsilon: float) -> Attack:
        return read_attack(self.attack(f"fgsm-{epsilon:g}", "test.npy", "--method", "fgsm", "--epsilon", f"{epsilon:g}"))

    def pgd(self, penalty: float, rows: int) -> Attack:
        """Stops where the class changes. The distance alone would shrink by a fifth in every step."""
        return read_attack(self.attack(f"pgd-{penalty:g}", "test.npy", "--window", f"0..{rows - 1}", "--method", "pgd-penalty", "--penalty",
                                       f"{penalty:g}", "--step-size", f"{0.1 / penalty:g}", "--steps", PGD_STEPS))  # fmt: skip

    def ball(self, radius: float, rows: int) -> Attack:
        """Within a ball, by steps of one length however short the gradient is; `radius` is in root mean square."""
        return read_attack(self.attack(f"ball-{radius:g}", "test.npy", "--window", f"0..{rows - 1}", "--method", "pgd", "--norm", "l2", "--epsilon",
                                       f"{radius * math.sqrt(PIXELS):g}", "--steps", BALL_STEPS))  # fmt: skip

    def turned(self, twos: np.ndarray, norm: str) -> Turned:
        epsilon = TURNING[norm] * (math.sqrt(PIXELS) if norm == "l2" else 1)
        file = f"turned-{norm}.npy"
        result = self.attack(f"turned-{norm}", "twos.npy", "--method", "pgd", "--norm", norm, "--target", TO, "--epsilon", f"{epsilon:g}", "--steps",
                             TURNING_STEPS, "--go-on", "--adversarial", file)  # fmt: skip
        changed = [row for row in result["rows"] if row["success"]]
        after = np.load(self.folder / file).astype(float) if changed else np.empty((0, PIXELS))
        chosen = [k for k, row in enumerate(changed) if row["class"] == FROM]
        numbers = [changed[k]["row"] for k in chosen]
        return Turned(sum(row["class"] == FROM for row in result["rows"]), numbers, twos[numbers], after[chosen][:, :PIXELS])
