"""harmonia.gamma of TorchScript files: the same numbers as the program's."""

import json

import harmonia as package
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def library(torch_library, monkeypatch):
    monkeypatch.setenv("HARMONIA_TORCH", str(torch_library))


def test_the_same_as_the_program(harmonia, torch_models, tmp_path):
    rows, model = torch_models / "rows.npy", torch_models / "net64.pt"
    done = harmonia("gamma", model, rows, "--radius", 0.5, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "out.json").read_text())
    ours = json.loads(package.gamma(str(model), str(rows), radius=0.5).to_json())
    for key in ("rows", "summary", "options", "data", "model"):
        assert ours[key] == theirs[key], key
    array = package.gamma(package.ModelAddress(model, device="cpu"), np.load(rows), radius=0.5)
    assert [row["gamma"] for row in theirs["rows"]] == array.gamma.tolist()


def test_errors_of_the_library_are_exceptions(torch_models):
    rows = np.load(torch_models / "rows.npy")
    with pytest.raises(package.ModelError, match="answers with String; expected a tensor"):
        package.gamma(torch_models / "text.pt", rows, radius=0.5)
    with pytest.raises(package.UsageError, match="--device tpu: is no device"):
        package.gamma(package.ModelAddress(torch_models / "net.pt", device="tpu"), rows, radius=0.5)
    with pytest.raises(package.UsageError, match="expected a TorchScript file"):
        package.gamma(package.ModelAddress("fn:f2", device="cuda"), rows, radius=0.5)
