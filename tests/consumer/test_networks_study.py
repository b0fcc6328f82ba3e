"""The studies of Table 1 and of Figure 7, as a user runs them, on images that stand in for MNIST's: a class is a bright square."""

import csv
import json
import math
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

NETWORK = "fc10-0"  # it is linear: boundaries are flat, and much is known
SIDE, SQUARE = 28, 7
PLACES = [(2 + 9 * (c % 3), 1 + 7 * (c // 3)) for c in range(10)]


def write_idx(path: Path, values: np.ndarray) -> None:
    path.write_bytes(bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape) + values.astype(np.uint8).tobytes())


def write_digits(folder: Path, training: int, test: int) -> Path:
    """The four files, under MNIST's names."""
    random = np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", training), ("t10k", test)):
        labels = random.permutation(np.arange(count) % 10)
        pixels = random.integers(0, 60, (count, SIDE, SIDE))
        for image, label in zip(pixels, labels):
            x, y = PLACES[label]
            image[y : y + SQUARE, x : x + SQUARE] += random.integers(60, 190)
        write_idx(folder / f"{part}-images-idx3-ubyte", pixels)
        write_idx(folder / f"{part}-labels-idx1-ubyte", labels)
    return folder


def study(name: str, root: Path, build_dir: Path, out: Path, *options: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "HARMONIA_BUILD": str(build_dir), "HARMONIA_PYTHON": sys.executable}
    command = [root / "experiments" / name / "run", "--quick", "--networks", NETWORK, "--no-plots", "--out", out, *options]
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=600)


def read_numbers(out: Path, *keys: str) -> dict[tuple[str, ...], dict[str, str]]:
    with (out / "numbers.csv").open(newline="") as file:
        return {tuple(line[key] for key in keys): line for line in csv.DictReader(file)}


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return write_digits(tmp_path_factory.mktemp("digits"), 2000, 300)


@pytest.fixture(scope="module")
def networks(root, build_dir, torch_library, digits, tmp_path_factory):
    """What the study of Table 1 prints, and its folder."""
    out = tmp_path_factory.mktemp("networks")
    return study("networks", root, build_dir, out, "--mnist", str(digits)), out


def test_table_1(networks):
    done, out = networks
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "FAILS" not in done.stdout
    assert "Not run: FC10-4, FC10-2, FC100-100-10, FC200-200-10, C-2, C-4," in done.stdout
    folder = out / "models" / NETWORK
    sources, adversarial = (np.load(folder / name).astype(float) for name in ("attacked.npy", "adversarial.npy"))
    numbers = read_numbers(out, "quantity")
    distortion = np.linalg.norm(adversarial - sources[:, :784], axis=1) / 28
    assert float(numbers["distortion",]["value"]) == pytest.approx(distortion.mean(), rel=1e-6)
    assert numbers["adversarial_persistence",]["published"] == "12.22"
    rows = json.loads((folder / "persistence-natural.json").read_text())["rows"]
    assert float(numbers["natural_persistence",]["value"]) == pytest.approx(np.mean([row["sigma"] for row in rows]), rel=1e-6)
    for line in numbers.values():
        assert float(line["low"]) <= float(line["value"]) <= float(line["high"]), line


def reused(networks, root, build_dir, digits, tmp_path, change) -> subprocess.CompletedProcess:
    """The study once more, on what it left, after a change of that."""
    out = tmp_path / "out"
    shutil.copytree(networks[1], out)
    change(out / "models" / NETWORK)
    return study("networks", root, build_dir, out, "--reuse", "--mnist", str(digits))


def test_a_network_that_learnt_nothing_is_told(networks, root, build_dir, digits, tmp_path):
    def worse(folder: Path) -> None:
        path = folder / "training.csv"
        lines = list(csv.DictReader(path.read_text().splitlines()))
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerow({**lines[-1], "test_accuracy": "0.1"})

    done = reused(networks, root, build_dir, digits, tmp_path, worse)
    assert done.returncode == 1
    assert "FAILS  test accuracy of FC10-0: 0.1000; expected at least 0.6689" in done.stdout
    assert "networks: 1 of 4 checks fail: test accuracy of FC10-0" in done.stderr


def test_an_endless_image_is_in_no_mean(networks, root, build_dir, digits, tmp_path):
    kept = []

    def endless(folder: Path) -> None:
        path = folder / "persistence-natural.json"
        result = json.loads(path.read_text())
        result["command_line"] = result["command_line"].replace(str(networks[1]), str(tmp_path / "out"))  # where it is now
        result["rows"][0].update({"sigma": None, "low": 270000.0, "high": None, "outcome": "censored_high"})
        kept.extend(row["sigma"] for row in result["rows"][1:])
        path.write_text(json.dumps(result))

    done = reused(networks, root, build_dir, digits, tmp_path, endless)
    assert done.returncode == 0, done.stderr
    assert f"| {np.mean(kept):.3f} [" in done.stdout and "; 1 endless |" in done.stdout
    line = read_numbers(tmp_path / "out", "quantity")["natural_persistence",]
    assert float(line["value"]) == pytest.approx(np.mean(kept), rel=1e-6) and int(line["rows"]) == len(kept)


def test_networks_of_another_setting_are_not_reused(networks, root, build_dir, digits, tmp_path):
    def older(folder: Path) -> None:
        path = folder / "training.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "epochs": 21}))

    done = reused(networks, root, build_dir, digits, tmp_path, older)
    assert done.returncode == 1
    assert "has a network of 21 epochs on 10000 rows, not 1 on 10000; leave out --reuse or name another --out" in done.stderr


def test_figure_7(root, build_dir, torch_library, digits, tmp_path):
    done = study("angles", root, build_dir, tmp_path, "--mnist", str(digits))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "FAILS" not in done.stdout
    numbers = read_numbers(tmp_path, "quantity", "pairs")
    folder = tmp_path / "models" / NETWORK
    for kind in ("test", "adversarial"):
        # The interpolants' angles are those of the ways with normals that PyTorch knows.
        answers, rows = np.load(folder / f"{kind}-answers.npz"), json.loads((folder / f"{kind}.json").read_text())["rows"]
        ways = np.load(folder / f"{kind}-b.npy").astype(float) - np.load(folder / f"{kind}-a.npy")
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        assert len(rows) >= len(ways)
        angles = np.arcsin(np.abs(np.sum(ways * answers["normal"], axis=1)))
        assert float(numbers["interpolant_angle", kind]["value"]) == pytest.approx(angles.mean(), abs=math.radians(0.2))
        assert float(numbers["svd_off_exact_sound", kind]["value"]) < 1e-6
