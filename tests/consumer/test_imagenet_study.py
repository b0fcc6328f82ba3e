"""The study of attacks on an ImageNet classifier in its quick setting, by the program itself, on a small network of its own training.
Neither PyTorch nor the weights and photographs that it is made for are needed: `prepare`'s part is written here."""

import csv
import os
import subprocess
import sys

import numpy as np
import pytest

VALUES = 16 * 16 * 3


@pytest.fixture
def out(harmonia, torch_library, tmp_path):
    """Rows of which a third is brighter, which one being the class; and a network that tells them."""
    folder = tmp_path / "models" / "lite0"
    folder.mkdir(parents=True)
    draws = np.random.default_rng(4)
    classes = np.array([0, 1, 2] * 8)
    rows = draws.uniform(0.3, 0.5, (24, 3, VALUES // 3))
    rows[np.arange(24), classes] += 0.05
    rows = rows.reshape(24, VALUES).astype(np.float32)
    np.save(tmp_path / "train.npy", np.column_stack([rows, classes.astype(np.float32)]))
    done = harmonia("train", tmp_path / "train.npy", "--label", VALUES, "--epochs", 40, "--batch", 5, "--rate", 1e-3, "--out", folder / "net.pt")
    assert done.returncode == 0, done.stderr
    np.save(folder / "natural.npy", rows[:2])
    asked = harmonia("gamma", folder / "net.pt", folder / "natural.npy", "--radius", 1e-6, "--ball", "random:1", "--csv", tmp_path / "told.csv", "--quiet")
    assert asked.returncode == 0, asked.stderr
    with open(tmp_path / "told.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    logits = np.full((2, 3), -np.inf)
    for k, line in enumerate(lines):
        logits[k, int(line["class"])] = float(line["value"])
    assert set(logits.argmax(1)) == {0, 1}
    np.save(folder / "logits.npy", logits)
    (folder / "photographs.json").write_text("2")
    return tmp_path


def test_the_study_in_its_quick_setting(root, build_dir, out):
    command = [root / "experiments" / "imagenet" / "run", "--quick", "--reuse", "--no-plots", "--jobs", 2, "--threads", 1, "--out", out]
    environment = {**os.environ, "HARMONIA_BUILD": str(build_dir), "HARMONIA_PYTHON": sys.executable}
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "FAILS" not in done.stdout and done.stdout.count("  holds ") == 3
    with (out / "numbers.csv").open(newline="") as file:
        numbers = {(line["quantity"], line["attack"]): float(line["value"]) for line in csv.DictReader(file)}
    natural, found = np.load(out / "models" / "lite0" / "natural.npy"), np.load(out / "models" / "lite0" / "bim-2.npy")
    assert numbers["distortion", "bim"] == pytest.approx(np.sqrt(((found - natural[-len(found):]) ** 2).mean(1)).mean(), rel=1e-3)
    assert numbers["natural", "total"] > 0
