"""The MNIST study's reading, tables and checks, with a program that answers at once. Neither PyTorch nor the images are needed."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

NATURAL, ATTACKED = 18, 2
PROGRAM = """#!{python}
import json, sys
from pathlib import Path
import numpy as np
arguments = sys.argv[1:]
option = {{a: b for a, b in zip(arguments, arguments[1:]) if a.startswith("--")}}
rows = np.load(arguments[2])
# A row's first pixel is its class, the second its persistence; 0 and 1 are beyond the range that was searched.
def persistence(k, row):
    outcome = {{0.0: "censored_low", 1.0: "censored_high"}}.get(float(row[1]), "crossing")
    found = dict(row=k, gamma=0.7, sigma=float(row[1]), low=float(row[1]), high=float(row[1]), samples=100, certified_radius=None, outcome=outcome)
    if outcome != "crossing":
        found.update(sigma=None, **({{"low": None, "high": 0.01}} if outcome == "censored_low" else {{"low": 10.0, "high": None}}))
    return {{"class": int(row[0]), **found}}
if arguments[0] == "persistence":
    assert option["--gamma"] == "0.7", option
    result = {{"rows": [persistence(k, row) for k, row in enumerate(rows)], "summary": {{}}}}
    if "--against" in option:
        result["summary"]["detector"] = {{"persistence": [{{"auroc": {auroc}, "low": 0.5, "high": 1.0}}]}}
else:
    assert arguments[0] == "stability" and option["--sigma"] == "0.016..1.6x100", arguments
    result = {{"rows": [{{"row": k, "class": int(row[0]), "sigma": s, "probability": 1 - s, "low": 0, "high": 1, "samples": 1000,
                         "frequencies": {{str(int(row[0])): 1000 - 100 * n, "8": 100 * n}}}} for k, row in enumerate(rows) for n, s in enumerate((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7))], "summary": {{}}}}
Path(option["--json"]).write_text(json.dumps(result))
"""


def write(path: Path, lines: list[dict]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def images(path: Path, classes: list[int], persistences: list[float]) -> None:
    pixels = np.zeros((len(classes), 784), np.float32)
    pixels[:, 0], pixels[:, 1] = classes, persistences
    np.save(path, pixels)


@pytest.fixture
def out(tmp_path):
    """What `prepare` leaves: two images of a 1 attacked, one attack without success."""
    folder = tmp_path / "out" / "models" / "fc100-20-10"
    folder.mkdir(parents=True)
    targets = [0, *range(2, 10)]
    images(folder / "natural.npy", [3] * NATURAL, [0.5] * (NATURAL - 1) + [1.0])
    write(folder / "natural.csv", [{"row": k, "source": k, "label": 3, "class": 3} for k in range(NATURAL)])
    attacks = []
    for stop, depth in (("reached", 0.25), ("0.99", 0.75)):
        done = [(source, target) for source in range(ATTACKED) for target in targets]
        failed = done[-1]
        for k, (source, target) in enumerate(done):
            good = (source, target) != failed
            attacks.append({"stop": stop, "row": k if good else "", "source": source, "label": 1, "target": target, "success": int(good),
                            "steps": 9, "distortion": 0.1 if stop == "reached" else 0.2, "probability": 0.6, "margin": 0.3})  # fmt: skip
        images(folder / f"adversarial-{stop}.npy", [target for _, target in done[:-1]], [depth] * (len(done) - 2) + [0.0])
    write(folder / "attacks.csv", attacks)
    images(folder / "one.npy", [1, *targets], [0.5] * 10)
    write(folder / "one.csv", [{"row": k, "source": 0, "label": 1, "target": "" if k == 0 else targets[k - 1], "success": 1, "distortion": 0.1} for k in range(10)])
    training = {"epochs": 3, "train_accuracy": 0.99, "test_accuracy": 0.96, "attacks": {"stops": {"reached": {}, "0.99": {}}}}
    (folder / "training.json").write_text(json.dumps(training))
    return tmp_path / "out"


def study(root: Path, out: Path, auroc: float) -> subprocess.CompletedProcess:
    build = out.parent / "build"
    build.mkdir()
    program = build / "harmonia"
    program.write_text(PROGRAM.format(python=sys.executable, auroc=auroc))
    program.chmod(0o755)
    environment = {**os.environ, "HARMONIA_BUILD": str(build), "HARMONIA_PYTHON": sys.executable}
    command = [root / "experiments" / "mnist" / "run", "--quick", "--reuse", "--no-plots", "--out", out]
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=120)


def test_what_is_measured_is_in_the_tables(root, out):
    done = study(root, out, 1.0)
    assert "FAILS" in done.stdout and done.returncode == 1  # 17 of 18 attacks are fewer than 95 %
    assert "mnist: 1 of 5 checks fail: attacks on FC100-20-10 that reach their class" in done.stderr
    tables = (out / "tables.md").read_text(encoding="utf-8")
    assert "| natural, a 1 | 0.100 | 0.400 | 0.600 | 1, 8 | 1.00 | 8 (60 %) |" in tables
    assert "| FC100-20-10 | natural | 18 | 0.500 | 0.500 | 0.500 | 0.500 | 1.925 | 0 | 1 |" in tables
    assert "| FC100-20-10 | adversarial | 17 | 0.202 | 0.250 | 0.250 | 0.250 | 0.250 | 1 | 0 |" in tables
    assert "| FC100-20-10 | reached | 17 of 18 | 0.100 | 0.600 | 0.250 |" in tables
    with (out / "numbers.csv").open(newline="") as file:
        numbers = {(line["quantity"], line["stop"]): float(line["value"]) for line in csv.DictReader(file)}
    assert numbers["auroc", "reached"] == 1.0
    # Of 17 adversarial images 16 are above all natural ones but the one beyond the range.
    assert numbers["auroc", "0.99"] == pytest.approx((16 * 1 + 18) / (17 * 18))
    assert numbers["natural_persistence", ""] == pytest.approx((17 * 0.5 + 10) / 18)


def test_a_detector_that_differs_is_told(root, out):
    done = study(root, out, 0.9)
    assert done.returncode == 1
    assert "FAILS  AUROC of FC100-20-10 as the program's: 1.0000, 0.9000; expected within 0.005" in done.stdout


def test_models_of_another_setting_are_not_reused(root, out):
    path = out / "models" / "fc100-20-10" / "training.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "epochs": 21}))
    done = study(root, out, 1.0)
    assert done.returncode == 1
    assert "has a network of 21 epochs, not 3; leave out --reuse or name another --out" in done.stderr
