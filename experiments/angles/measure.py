"""Finds crossings with the project's own program, and their gradients with PyTorch. Needs NumPy beside Python."""

import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mnist_rows import LABEL
from models import WAYS
from trained import TrainedFolder

HERE = Path(__file__).resolve().parent
ROWS = ("training", "interpolant", "adversarial")  # of Figure 7, from the top


@dataclass(frozen=True)
class Crossings:
    """The first crossing of every pair, of one kind of pairs. Angles are radians to the boundary; π/2 is orthogonal. own_normal: by
    rows, how far the program's normal is off PyTorch's, which is exact. off, off_exact: by way and point, how far the normal of singular
    vectors is off the program's and off PyTorch's. by_svd: the angles of all rows, by way and point, if that normal is taken."""

    pairs: int
    crossed: int
    once: int  # pairs whose way crosses one boundary and no other
    angles: dict[str, np.ndarray]
    told: np.ndarray  # the interpolant's angle as the program says it
    covered: float  # share of crossings whose angle by PyTorch's normal is within the uncertainty that the program states
    own_normal: np.ndarray
    third: np.ndarray  # probability of all classes but the two that meet
    off: dict[str, np.ndarray]
    off_exact: dict[str, np.ndarray]
    by_svd: dict[str, dict[str, np.ndarray]]


def to_boundary(vectors: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Angles between rows and the plane that is orthogonal to the normal, exact for small ones and near π/2."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    along = np.sum(vectors / lengths * normals, axis=1, keepdims=True)
    across = np.linalg.norm(vectors / lengths - along * normals, axis=1)
    return np.arctan2(np.abs(along[:, 0]), across)


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles between lines."""
    return np.pi / 2 - to_boundary(a, b)


class MeasuredFolder(TrainedFolder):
    """Of one network."""

    def crossings(self, kind: str, a: np.ndarray, b: np.ndarray, points: int, samples: int) -> Crossings:
        """Of the ways from rows of `a` to rows of `b`; `kind` names the files. At the first `points` crossings normals are
        found by singular vectors too."""
        np.save(self.folder / f"{kind}-a.npy", a)
        np.save(self.folder / f"{kind}-b.npy", b)
        normals_path = self.folder / f"{kind}-normals.npy"
        result = self.result(f"{kind}.json", "boundary", "net.pt", f"{kind}-a.npy", f"{kind}-b.npy", "--normal", "margin", "--points",
                             "--normals", normals_path.name, *self.common)  # fmt: skip
        first: dict[int, int] = {}
        for index, row in enumerate(result["rows"]):
            if row["outcome"] == "crossing" and (row["a"] not in first or row["t"] < result["rows"][first[row["a"]]]["t"]):
                first[row["a"]] = index
        chosen = [first[k] for k in sorted(first)]
        rows = [result["rows"][k] for k in chosen]
        normals = np.load(normals_path)[chosen]
        answers = self.answers(kind, rows, points, samples)
        ways = (b - a)[sorted(first)].astype(float)
        counts = Counter(row["a"] for row in result["rows"] if row["outcome"] == "crossing")
        return compare(len(a), sum(count == 1 for count in counts.values()), rows, normals, ways, answers)

    def answers(self, kind: str, rows: list[dict], points: int, samples: int) -> dict[str, np.ndarray]:
        """PyTorch's, of crossings."""
        crossings, out = self.folder / f"{kind}-crossings.npz", self.folder / f"{kind}-answers.npz"
        if not (self.reuse and out.exists()):
            classes = np.array([row["classes"] for row in rows])
            np.savez(crossings, points=np.array([row["point"] for row in rows]), own=classes[:, 0], other=classes[:, 1])
            ways = [f"{way.bits}:{way.sigma:g}:{int(way.centred)}" for way in WAYS]
            command = [HERE / "prepare", "--network", self.folder / "net.pt", "--crossings", crossings, "--out", out, "--points", points,
                       "--samples", samples, "--ways", *ways]  # fmt: skip
            subprocess.run([str(part) for part in command], check=True)
        return dict(np.load(out))


def compare(pairs: int, once: int, rows: list[dict], normals: np.ndarray, ways: np.ndarray, answers: dict[str, np.ndarray]) -> Crossings:
    """The program's crossings, a row each, with PyTorch's answers."""
    exact = np.degrees(to_boundary(ways, answers["normal"]))
    vectors = {"training": answers["training"], "interpolant": ways, "adversarial": answers["adversarial"]}
    count, by_way = answers["svd"].shape[1], list(zip(WAYS, answers["svd"], strict=True))
    return Crossings(
        pairs=pairs,
        crossed=len(normals),
        once=once,
        angles={name: to_boundary(chosen, normals) for name, chosen in vectors.items()},
        told=np.array([row["radians"] for row in rows]),
        covered=float(np.mean([row["angle_low"] <= angle <= row["angle_high"] for row, angle in zip(rows, exact, strict=True)])),
        own_normal=between(normals, answers["normal"]),
        third=answers["third"],
        off={way.name: between(found, normals[:count]) for way, found in by_way},
        off_exact={way.name: between(found, answers["normal"][:count]) for way, found in by_way},
        by_svd={way.name: {name: to_boundary(chosen[:count], found) for name, chosen in vectors.items()} for way, found in by_way},
    )


def test_pairs(right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every image, and the next one of another label."""
    labels = right[:, LABEL]
    ends = []
    for k in range(len(right)):
        later = np.roll(np.arange(len(right)), -k - 1)
        ends.append(later[labels[later] != labels[k]][0])
    return right[:, :LABEL], right[ends, :LABEL]
