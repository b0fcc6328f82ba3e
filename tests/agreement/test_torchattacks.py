"""Attacks by gradients beside torchattacks, on a convolutional network trained on scikit-learn's digits."""

import json
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_digits

STEPS = ("--step-size", 0.03, "--steps", 8, "--go-on")
SAME = {
    "fgsm": ("--method", "fgsm", "--epsilon", 0.2),
    "bim": ("--method", "bim", "--epsilon", 0.2, *STEPS),
    "mifgsm": ("--method", "mifgsm", "--epsilon", 0.2, "--decay", 0.9, *STEPS),
    "pgd": ("--method", "pgd", "--epsilon", 0.2, "--no-random-start", *STEPS),
    "pgd-l2": ("--method", "pgd", "--norm", "l2", "--epsilon", 1, "--no-random-start", "--step-size", 0.2, "--steps", 8, "--go-on"),
}
ALIKE = {
    "rfgsm": ("--method", "rfgsm", "--epsilon", 0.2, "--step-size", 0.04, "--steps", 7, "--go-on"),
    "pgd-random": ("--method", "pgd", "--epsilon", 0.2, *STEPS),
    "cw": ("--method", "cw", "--constant", 2, "--steps", 100, "--step-size", 0.02),
}


@pytest.fixture(scope="module")
def theirs(root, torch_library, tmp_path_factory):
    folder = tmp_path_factory.mktemp("torchattacks")
    digits = load_digits()
    np.save(folder / "images.npy", digits.data / 16)
    np.save(folder / "labels.npy", digits.target.astype(np.int64))
    package = subprocess.run([root / "scripts" / "setup.sh", "--torchattacks"], capture_output=True, text=True)
    assert package.returncode == 0, "no torchattacks; 'make setup' fetches it"
    made = subprocess.run(["/usr/bin/python3", root / "tests" / "support" / "torchattacks_answers.py", package.stdout.strip(), folder],
                          capture_output=True, text=True, timeout=600)  # fmt: skip
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture
def attacked(harmonia, theirs, tmp_path):
    def attacked(options):
        path = tmp_path / "result.json"
        done = harmonia("attack", theirs / "net.pt", theirs / "rows.npy", "--lower", 0, "--upper", 1, *options, "--json", path, "--quiet", timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(path.read_text())["rows"]

    return attacked


def distances(theirs, name):
    rows = np.load(theirs / "rows.npy")
    change = np.load(theirs / f"{name}.npy") - rows
    return np.sqrt((change**2).mean(1)), np.abs(change).max(1)


def changed(theirs, name, harmonia, tmp_path):
    """Whether the network gives torchattacks' rows another class."""
    path = tmp_path / "classes.json"
    classes = []
    for file in ("rows.npy", f"{name}.npy"):
        done = harmonia("gamma", theirs / "net.pt", theirs / file, "--radius", 1e-3, "--ball", "random-pairs:1", "--output", "label", "--json", path, "--quiet")
        assert done.returncode == 0, done.stderr
        classes.append(np.array([row["class"] for row in json.loads(path.read_text())["rows"]]))
    return classes[0] != classes[1]


@pytest.mark.parametrize("name", SAME)
def test_the_same_rows(attacked, theirs, name, harmonia, tmp_path):
    ours = attacked(SAME[name])
    l2, linf = distances(theirs, name)
    near = 1e-6 if name == "pgd-l2" else 1e-9  # torchattacks adds a small number to lengths that it divides by
    np.testing.assert_allclose([r["distortion_l2"] for r in ours], l2, atol=near)
    np.testing.assert_allclose([r["distortion_linf"] for r in ours], linf, atol=near)
    found = changed(theirs, name, harmonia, tmp_path)
    assert [r["new_class"] != r["class"] for r in ours] == list(found)
    assert 0.1 < found.mean() < 1


@pytest.mark.parametrize("name", ALIKE)
def test_alike_where_starts_are_drawn_or_rules_differ(attacked, theirs, name, harmonia, tmp_path):
    """cw goes on here where torchattacks stops, when the cost of the whole batch has grown: it finds as many rows or more."""
    ours = attacked(ALIKE[name])
    success = np.array([r["success"] for r in ours])
    found = changed(theirs, name, harmonia, tmp_path)
    both = success & found
    assert both.sum() > 50
    noise = 4 * np.sqrt((success != found).sum() + 1) / len(found)
    assert found.mean() - noise <= success.mean() <= found.mean() + (1 if name == "cw" else noise)
    l2 = np.array([r["distortion_l2"] for r in ours])[both]
    np.testing.assert_allclose(l2.mean(), distances(theirs, name)[0][both].mean(), rtol=0.05)
