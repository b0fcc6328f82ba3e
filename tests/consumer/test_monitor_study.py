"""The study of the monitor, as a user runs it, on one data set."""

import csv
import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def study(root, build_dir, tmp_path_factory):
    """What it prints, and its numbers by change and method."""
    out = tmp_path_factory.mktemp("monitor")
    environment = {**os.environ, "HARMONIA_BUILD": str(build_dir), "HARMONIA_PYTHON": sys.executable}
    command = [root / "experiments" / "monitor" / "run", "--quick", "--plain", "--no-plots", "--tasks", "wine", "--out", out]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    with (out / "numbers.csv").open(newline="") as file:
        return done.stdout, {(row["change"], row["method"]): row for row in csv.DictReader(file)}


def test_checks_hold(study):
    assert "holds  false alarms" in study[0]
    assert "FAILS" not in study[0]


def test_gamma_finds_a_broken_feature(study):
    stuck = study[1]["stuck", "gamma"]
    assert stuck["found"] == stuck["streams"] == "5"
    assert 0 < float(stuck["low"]) <= float(stuck["delay"]) <= float(stuck["high"]) < 1000


def test_gamma_is_silent_about_a_feature_that_the_model_hardly_uses(study):
    assert study[1]["harmless", "gamma"]["found"] == "0"
    assert study[1]["harmless", "inputs-100"]["found"] == "5"


def test_the_test_of_the_inputs_knows_whole_windows_alone(study):
    for (change, method), row in study[1].items():
        if method != "gamma" and row["delay"] not in ("", "inf"):
            assert float(row["delay"]) % int(method.removeprefix("inputs-")) == 0, (change, method)
