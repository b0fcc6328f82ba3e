"""TorchScript files: the same numbers as the program's. And the tests of modules, under a Python that has PyTorch."""

import json
import os
import re
import subprocess
import sysconfig

import harmonia as hm
import numpy as np
import pytest
from PIL import Image


@pytest.fixture(autouse=True)
def library(torch_library, monkeypatch):
    monkeypatch.setenv("HARMONIA_TORCH", str(torch_library))


def test_the_same_as_the_program(harmonia, torch_models, tmp_path):
    rows, model = torch_models / "rows.npy", torch_models / "net64.pt"
    done = harmonia("gamma", model, rows, "--radius", 0.5, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "out.json").read_text())
    ours = json.loads(hm.gamma(str(model), str(rows), radius=0.5).to_json())
    for key in ("rows", "summary", "options", "data", "model"):
        assert ours[key] == theirs[key], key
    array = hm.gamma(hm.ModelAddress(model, device="cpu"), np.load(rows), radius=0.5)
    assert [row["gamma"] for row in theirs["rows"]] == array.gamma.tolist()


def test_errors_of_the_library_are_exceptions(torch_models):
    rows = np.load(torch_models / "rows.npy")
    with pytest.raises(hm.ModelError, match="answers with String; expected a tensor"):
        hm.gamma(torch_models / "text.pt", rows, radius=0.5)
    with pytest.raises(hm.UsageError, match="--device tpu: is no device"):
        hm.gamma(hm.ModelAddress(torch_models / "net.pt", device="tpu"), rows, radius=0.5)
    with pytest.raises(hm.UsageError, match="expected a TorchScript file"):
        hm.gamma(hm.ModelAddress("fn:f2", device="cuda"), rows, radius=0.5)


def test_a_file_of_half_precision_warns(torch_models):
    rows = np.load(torch_models / "rows.npy")
    words = "half.pt are of type BFloat16, whose rounding is larger than most gammas"
    with pytest.warns(hm.HarmoniaWarning, match=words):
        result = hm.gamma(torch_models / "half.pt", rows, radius=0.5)
    assert words in result.to_dict()["model"]["warning"]


def pictures(folder, count=3):
    """So many of 8 × 8."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for k in range(count):
        Image.fromarray(rng.integers(0, 256, (8, 8, 3)).astype(np.uint8)).save(folder / f"{k}.png")
    return folder


def test_without_the_fast_path(torch_models, tmp_path):
    """On a processor there is none; on a GPU the result says which way pairs went."""
    photos, model = pictures(tmp_path / "photos"), tmp_path / "image.pt"
    model.write_bytes((torch_models / "image.pt").read_bytes())
    (tmp_path / "image.image.json").write_text(json.dumps({"height": 8, "width": 8, "channels": "rgb"}))

    def measured(device, fast_path):
        return hm.gamma(hm.ModelAddress(model, device=device, fast_path=fast_path), photos, radius=10, ball="cross")

    on_cpu = measured("cpu", True)
    np.testing.assert_array_equal(on_cpu.gamma, measured("cpu", False).gamma)
    assert "fast_path" not in on_cpu.to_dict()["model"]
    try:
        fast = measured("cuda", True)
    except hm.UsageError as error:
        assert "finds no GPU here" in str(error)  # noqa: PT017
        return
    points = measured("cuda", False)
    assert fast.to_dict()["model"]["fast_path"] == "differences"
    assert "fast_path" not in points.to_dict()["model"]
    for found in (fast, points):
        np.testing.assert_allclose(found.gamma, on_cpu.gamma, atol=1e-5)


def test_alignment_as_the_program(harmonia, torch_models, tmp_path):
    rows, model = torch_models / "rows.npy", torch_models / "net64.pt"
    done = harmonia("alignment", model, rows, "--components", 2, "--outputs", "probabilities", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "out.json").read_text())
    result = hm.alignment(str(model), str(rows), components=2, outputs="probabilities")
    ours = json.loads(result.to_json())
    for key in ("rows", "summary", "options", "data", "model", "evaluations"):
        assert ours[key] == theirs[key], key
    repeated = eval(ours["command_line"], {"harmonia": hm})
    np.testing.assert_array_equal(repeated.cosine, result.cosine)


def test_modules(package, root, torch_library):
    """test_python_modules*.py, under Debian's own Python with the packages of this one."""
    blas = subprocess.run([root / "scripts" / "setup.sh", "--openblas"], capture_output=True, text=True).stdout.strip()
    environment = {**os.environ, "PYTHONPATH": sysconfig.get_paths()["purelib"], "HARMONIA_PACKAGE": str(package),
                   "LD_LIBRARY_PATH": f"{blas}:{os.environ.get('LD_LIBRARY_PATH', '')}".strip(":")}  # fmt: skip
    done = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", *sorted((root / "tests" / "python").glob("test_python_modules*.py"))],
                          cwd=root, env=environment, capture_output=True, text=True, timeout=900)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"passed(, 1 skipped)?( in|, \d+ warning)", done.stdout), done.stdout  # that of a GPU


def test_probabilities_of_images_are_attacked_as_by_the_program(harmonia, torch_models, tmp_path):
    """What the description beside the file says of its outputs counts here too."""
    pictures(tmp_path / "photos")
    model = tmp_path / "image.pt"
    model.write_bytes((torch_models / "image.pt").read_bytes())
    (tmp_path / "image.image.json").write_text(json.dumps({"height": 8, "width": 8, "channels": "rgb", "outputs": "probabilities"}))
    done = harmonia("attack", model, tmp_path / "photos", "--method", "fgsm", "--epsilon", 20, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "out.json").read_text())
    ours = json.loads(hm.attack(str(model), str(tmp_path / "photos"), method="fgsm", epsilon=20).to_json())
    assert ours["options"]["gradient"]["outputs"] == "probabilities"
    for key in ("rows", "summary", "options", "model"):
        assert ours[key] == theirs[key], key
