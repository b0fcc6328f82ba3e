"""TorchScript models: the program's answers are PyTorch's, and its gamma that of the same network as an ONNX file."""

import hashlib
import json

import jsonschema
import numpy as np
import pytest
from PIL import Image

from support.onnx_answers import answers

SINGLE = 1e-6  # of answers in float32


@pytest.mark.parametrize("name", ["net", "net64", "traced", "dropout", "pair", "listed", "single", "squeezed", "whole"])
def test_answers_are_those_of_pytorch(harmonia, torch_models, tmp_path, root, name):
    model = torch_models / f"{name}.pt"
    got, result = answers(harmonia, tmp_path, model, np.load(torch_models / "rows.npy"))
    np.testing.assert_allclose(got, np.load(torch_models / f"answers-{name}.npy"), atol=1e-12 if name == "net64" else SINGLE)
    jsonschema.validate(result, json.loads((root / "docs" / "result.schema.json").read_text()))
    assert result["model"]["kind"] == "torch"
    assert result["model"]["sha256"] == hashlib.sha256(model.read_bytes()).hexdigest()


def gamma(harmonia, tmp_path, *arguments):
    out = tmp_path / "out.json"
    done = harmonia("gamma", *arguments, "--quiet", "--json", out)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())


def test_gamma_is_that_of_the_onnx_file(harmonia, torch_models, tmp_path):
    found = [gamma(harmonia, tmp_path, torch_models / f"net.{end}", torch_models / "rows.npy", "--radius", 0.5) for end in ("pt", "onnx")]
    torch, onnx = ([row["gamma"] for row in result["rows"]] for result in found)
    np.testing.assert_allclose(torch, onnx, atol=SINGLE)
    assert max(onnx) > 1e-3


def test_batches_and_threads_do_not_matter(harmonia, torch_models, tmp_path):
    one = gamma(harmonia, tmp_path, torch_models / "net64.pt", torch_models / "rows.npy", "--radius", 0.5, "--threads", 1)
    for options in (("--threads", 2), ("--threads", 4, "--batch", 7), ("--batch", 1)):
        other = gamma(harmonia, tmp_path, torch_models / "net64.pt", torch_models / "rows.npy", "--radius", 0.5, *options)
        np.testing.assert_allclose([r["gamma"] for r in other["rows"]], [r["gamma"] for r in one["rows"]], atol=1e-14)
    again = gamma(harmonia, tmp_path, torch_models / "net64.pt", torch_models / "rows.npy", "--radius", 0.5, "--threads", 1)
    assert again["rows"] == one["rows"]


@pytest.mark.parametrize("says", [{}, {"outputs": "probabilities"}])
def test_images_by_their_description(harmonia, torch_models, tmp_path, says):
    """The second description asks for what goes into a softmax, which cannot be found in a TorchScript file."""
    rng = np.random.default_rng(1)
    (tmp_path / "photos").mkdir()
    for k in range(3):
        Image.fromarray(rng.integers(0, 256, (8, 8, 3)).astype(np.uint8)).save(tmp_path / "photos" / f"{k}.png")
    description = {"height": 8, "width": 8, "channels": "bgr", "mean": [0.4, 0.5, 0.6], "std": 0.25}
    found = []
    for end in ("pt", "onnx"):
        (tmp_path / "net.json").write_text(json.dumps({**description, **(says if end == "pt" else {})}))
        found.append(gamma(harmonia, tmp_path, torch_models / f"image.{end}", tmp_path / "photos", "--radius", 20, "--description", tmp_path / "net.json"))
    torch, onnx = ([row["gamma"] for row in result["rows"]] for result in found)
    np.testing.assert_allclose(torch, onnx, atol=2e-5, rtol=1e-4)


def test_a_file_of_another_name_is_known_by_its_contents(harmonia, torch_models, tmp_path):
    (tmp_path / "model.bin").write_bytes((torch_models / "net.pt").read_bytes())
    assert gamma(harmonia, tmp_path, tmp_path / "model.bin", torch_models / "rows.npy", "--radius", 0.5)["model"]["kind"] == "torch"


def test_half_precision_is_in_the_result(harmonia, torch_models, tmp_path, root):
    path, words = tmp_path / "out.json", "half.pt are of type BFloat16, whose rounding is larger than most gammas"
    done = harmonia("gamma", torch_models / "half.pt", torch_models / "rows.npy", "--radius", 0.5, "--json", path)
    assert done.returncode == 0 and words in done.stderr
    result = json.loads(path.read_text())
    jsonschema.validate(result, json.loads((root / "docs" / "result.schema.json").read_text()))
    assert words in result["model"]["warning"]
    card = harmonia("card", path)
    assert "- Warning: the weights of " in card.stdout and "an order of magnitude; save the module with .float()." in card.stdout
    assert "warning" not in gamma(harmonia, tmp_path, torch_models / "net.pt", torch_models / "rows.npy", "--radius", 0.5)["model"]


def test_the_program_is_free_of_libtorch(program, torch_library):
    """It starts as fast as ever: libtorch, and what that brings, is loaded when a model of its kind is named."""
    assert b"libtorch" not in program.read_bytes().replace(b"libharmonia_torch", b"")
