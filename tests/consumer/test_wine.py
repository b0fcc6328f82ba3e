"""The Wine models that are kept, the demo that falls back on them, and the study in its quick setting."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GRID = "grid:0..5x101,1..4x61"
NAMES = ("gbdt-1", "gbdt-2", "mlp-1", "mlp-2")
# scikit-learn's own models, evaluated with NumPy on the same hexagons, gave these.
GAMMA = {"gbdt-1": 0.014066980, "gbdt-2": 0.048828653, "mlp-1": 0.013336580, "mlp-2": 0.022182546}
FLIPS = {"gbdt-1": 0.011632311, "gbdt-2": 0.045338960, "mlp-1": 0.012443867, "mlp-2": 0.022182546}


def compare(harmonia, folder: Path, tmp_path: Path, output: str) -> dict:
    models = [f"{name}.onnx" for name in NAMES]
    done = harmonia("compare", *models, GRID, "--radius", 0.05, "--output", output, "--quiet", "--json", tmp_path / "result.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))


def test_the_kept_models_have_the_gamma_that_was_recorded(harmonia, root, tmp_path):
    result = compare(harmonia, root / "examples" / "wine", tmp_path, "label")
    for name, model in zip(NAMES, result["models"]):
        assert model["gamma"]["mean"] == pytest.approx(GAMMA[name], abs=5e-10), name


def test_flips_count_every_class_alike(harmonia, root, tmp_path):
    result = compare(harmonia, root / "examples" / "wine", tmp_path, "flip")
    for name, model in zip(NAMES, result["models"]):
        assert model["gamma"]["mean"] == pytest.approx(FLIPS[name], abs=5e-10), name
        assert 0 < model["gamma"]["mean"] <= GAMMA[name]


def test_the_kept_models_decide_as_scikit_learn_did(harmonia, root, tmp_path):
    folder = root / "examples" / "wine"
    training = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    result = compare(harmonia, folder, tmp_path, "label")
    for name, points in zip(NAMES, result["points"]["models"]):
        assert "".join(map(str, points["class"])) == training[name]["grid_labels"], name


def run(root: Path, command: list[object], environment: dict[str, str], timeout: float) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(part) for part in command], cwd=root, env={**os.environ, **environment}, capture_output=True, text=True, timeout=timeout
    )


def test_the_demo_without_python_packages(root, build_dir, tmp_path):
    """pip finds no index, and the cache holds no environment: the kept models are measured, and the demo says so."""
    nowhere = {"HARMONIA_CACHE": str(tmp_path / "cache"), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "HARMONIA_BUILD": str(build_dir)}
    (tmp_path / "cache").mkdir()
    runtime = run(root, ["scripts/setup.sh", "--onnxruntime"], {}, 60).stdout.strip()
    if runtime:
        (tmp_path / "cache" / Path(runtime).name).symlink_to(runtime)
    done = run(root, ["scripts/demo.sh", tmp_path / "out"], nowhere, 300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "setup: the Python packages of experiments/requirements.txt cannot be installed" in done.stderr
    assert "measuring the four models kept in examples/wine" in done.stdout
    assert "0.0141  [0.0121, 0.0164]" in done.stdout
    report = Path(done.stdout.strip().splitlines()[-1].rsplit(": ", 1)[1])
    assert report == tmp_path / "out" / "report.html"
    page = report.read_text(encoding="utf-8")
    assert page.startswith("<!") and all(f"{name}.onnx" in page for name in NAMES)


def test_the_study_in_its_quick_setting(root, build_dir, tmp_path):
    """Trains two splits. Exit code 0 says that its checks hold: labels as scikit-learn's, overfit models told apart."""
    environment = {"HARMONIA_BUILD": str(build_dir), "HARMONIA_PYTHON": sys.executable}
    done = run(root, ["experiments/wine/run", "--quick", "--no-plots", "--out", tmp_path], environment, 600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "FAILS" not in done.stdout and done.stdout.count("  holds ") == 8
    assert "| GBDT-2 | 0.051 ± 0.002 |" in (tmp_path / "tables.md").read_text(encoding="utf-8")


def test_a_check_that_fails_is_loud(root, build_dir, tmp_path):
    """A folder whose GBDT-2 is GBDT-1 in disguise: the study must not pass."""
    environment = {"HARMONIA_BUILD": str(build_dir), "HARMONIA_PYTHON": sys.executable}
    kept = root / "examples" / "wine"
    for split in (0, 1):
        folder = tmp_path / "models" / f"split-{split}"
        folder.mkdir(parents=True)
        training = json.loads((kept / "training.json").read_text(encoding="utf-8"))
        training["gbdt-2"]["grid_labels"] = training["gbdt-1"]["grid_labels"]
        (folder / "training.json").write_text(json.dumps(training), encoding="utf-8")
        for name in NAMES:
            source = "gbdt-1" if name == "gbdt-2" else name
            for target in (name, f"{name}-middle-0", f"{name}-middle-2"):
                (folder / f"{target}.onnx").write_bytes((kept / f"{source}.onnx").read_bytes())
    done = run(root, ["experiments/wine/run", "--quick", "--reuse", "--no-plots", "--out", tmp_path], environment, 600)
    assert done.returncode == 1, f"{done.stdout}\n{done.stderr}"
    assert "wine: 2 of 8 checks fail: γ of GBDT-1 is below GBDT-2's; … on average at every radius" in done.stderr
