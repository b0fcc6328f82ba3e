"""The study of manifold alignment with the real program, on a few small made images; and its checks on results that are not right."""

import csv
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TRAIN, TEST, SIDE = 600, 100, 28
MODELS = ("baseline", "robust", "manifold", "manifold-robust")
PERMUTED = """
import sys
from pathlib import Path
from measure import DataFolder
from models import QUICK
build, images, out = map(Path, sys.argv[1:])
plain, permuted = (DataFolder(build, out / name, reuse=False) for name in ("plain", "permuted"))
assert plain.prepare(images, QUICK, permute=False) and permuted.prepare(images, QUICK, permute=True)
for row, other in zip(plain.twos(), permuted.twos(), strict=True):
    assert (row != other).any() and (plain.picture(row) == row).all() and (permuted.picture(other) == row).all()
"""
SIZE = ("--rows", TRAIN, "--tested", TEST, "--attacked", 10, "--epochs", 15, "--hidden", "32,32", "--no-variants")


def write_images(folder: Path, name: str, count: int, random: np.random.Generator, shapes: np.ndarray) -> None:
    """IDX files: each class is a shape, and noise."""
    labels = np.arange(count) % 10
    pixels = np.clip(shapes[labels] + random.normal(0, 30, (count, SIDE * SIDE)), 0, 255).astype(np.uint8)
    (folder / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, count, SIDE, SIDE) + pixels.tobytes())
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) + labels.astype(np.uint8).tobytes())


def study(root: Path, build_dir: Path, images: Path, out: Path, *more: object) -> subprocess.CompletedProcess:
    environment = {**os.environ, "HARMONIA_BUILD": str(build_dir), "HARMONIA_PYTHON": sys.executable}
    command = [root / "experiments" / "manifold" / "run", "--quick", "--no-plots", "--images", images, "--out", out, *SIZE, *more]
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    random = np.random.default_rng(1)
    shapes = 128 + 70 * np.sign(random.standard_normal((10, SIDE * SIDE)))
    write_images(folder, "train", TRAIN, random, shapes)
    write_images(folder, "t10k", TEST, random, shapes)
    return folder


@pytest.fixture(scope="module")
def run(root, build_dir, torch_library, images, tmp_path_factory):
    """What the study prints, and its folder."""
    out = tmp_path_factory.mktemp("manifold") / "out"
    done = study(root, build_dir, images, out, "--jobs", 2)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout, out


@pytest.fixture
def reused(root, build_dir, images, run, tmp_path):
    """Runs the study again on a copy of the results, after they were changed."""
    out = tmp_path / "out"
    shutil.copytree(run[1], out)

    def again(*more):
        return study(root, build_dir, images, out, "--reuse", *more)

    again.out = out
    return again


def numbers(out: Path) -> dict[tuple[str, str, str], float]:
    with (out / "numbers.csv").open(newline="") as file:
        return {(line["quantity"], line["model"], line["setting"]): float(line["value"]) for line in csv.DictReader(file)}


def test_what_is_measured_is_in_the_numbers(run):
    text, out = run
    assert "FAILS" not in text
    found = numbers(out)
    rows = np.load(out / "data" / "test.npy")
    assert rows.shape == (TEST, SIDE * SIDE + 1)
    assert np.abs(rows[:, :-1]).max() < 2  # white is 1
    for model in MODELS:
        result = json.loads((out / "models" / f"{model}-1" / "fgsm-0.1.json").read_text())
        kept = [row["class"] == float(row["label"]) and not row["success"] for row in result["rows"]]
        assert found["fgsm_accuracy", model, "0.1"] == pytest.approx(np.mean(kept))
        result = json.loads((out / "models" / f"{model}-1" / "ball-0.05.json").read_text())
        assert max(row["distortion_l2"] for row in result["rows"]) <= 0.05 * (1 + 1e-6)
        kept = [row["class"] == float(row["label"]) and not row["success"] for row in result["rows"]]
        assert found["ball_accuracy", model, "0.05"] == pytest.approx(np.mean(kept))
        least = np.full(10, np.inf)
        for penalty in ("0.1", "0.01"):
            for row in json.loads((out / "models" / f"{model}-1" / f"pgd-{penalty}.json").read_text())["rows"]:
                if row["class"] != float(row["label"]):
                    least[row["row"]] = 0
                elif row["success"]:
                    least[row["row"]] = min(least[row["row"]], row["distortion_l2"])
        for distance in (0.01, 0.05, 0.2):
            assert found["pgd_accuracy", model, f"{distance:g}"] == pytest.approx(np.mean(least > distance))
    difference = found["fgsm_accuracy", "robust", "0.1"] - found["fgsm_accuracy", "manifold", "0.1"]
    assert found["fgsm_difference", "robust - manifold", "0.1"] == pytest.approx(difference)
    assert found["cosine", "manifold", ""] > found["cosine", "baseline", ""]
    for key, value in found.items():
        if key[0] == "turned_along_plane":
            assert 0 < value < 1


def test_an_earlier_run_is_taken_and_doubted(reused):
    """Rows that were wrong at first count as wrong, and two commands that differ about a class are told."""
    path = reused.out / "models" / "baseline-1" / "fgsm-0.1.json"
    result = json.loads(path.read_text())
    before = numbers(reused.out)["fgsm_accuracy", "baseline", "0.1"]
    for row in result["rows"]:
        row.update({"class": int(float(row["label"])), "success": False})
    row = result["rows"][0]
    row["class"] = (row["class"] + 1) % 10
    path.write_text(json.dumps(result))
    done = reused()
    assert done.returncode == 1
    assert "FAILS  classes by `attack` are those by `alignment`" in done.stdout
    assert "checks fail: classes by `attack` are those by `alignment`" in done.stderr
    after = numbers(reused.out)["fgsm_accuracy", "baseline", "0.1"]
    assert after == pytest.approx((TEST - 1) / TEST) and after != before


def test_networks_side_by_side_are_those_made_one_by_one(reused):
    before = numbers(reused.out)
    shutil.rmtree(reused.out / "models" / "manifold-1")
    done = reused()
    assert done.returncode == 0, done.stderr
    assert numbers(reused.out) == before


def test_permuted_pixels_are_put_back(root, program, images, tmp_path):
    folders = (root / "experiments" / name for name in ("common", "manifold"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PERMUTED, program.parent, images, tmp_path]
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_bad_sizes_are_refused(reused):
    done = reused("--epochs", 0)
    assert done.returncode == 2
    assert "--epochs is 0; expected at least 1" in done.stderr
    done = reused("--jobs", 0)
    assert done.returncode == 2
    assert "argument --jobs: is 0; expected a whole number, at least 1" in done.stderr
