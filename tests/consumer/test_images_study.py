"""The study of images in its quick setting, by the program itself, on small networks of random weights. Neither PyTorch nor the weights
and images that it is made for are needed: `prepare`'s part is written here."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from PIL import Image

from support.onnx_models import save_graph

RADIUS, EACH, PAIRS = 100, 20, 50


def save_network(path: Path, channels: int, sides: list, classes: int) -> Path:
    """A convolution, a softplus that bends everywhere, an average, and logits."""
    rng = np.random.default_rng(3)
    constants = [("k", rng.standard_normal((8, channels, 3, 3)).astype(np.float32)), ("kb", rng.standard_normal(8).astype(np.float32)),
                 ("w", (3 * rng.standard_normal((8, classes))).astype(np.float32)), ("b", rng.standard_normal(classes).astype(np.float32))]  # fmt: skip
    nodes = [helper.make_node("Conv", ["image", "k", "kb"], ["c"], strides=[2, 2]), helper.make_node("Softplus", ["c"], ["s"]),
             helper.make_node("GlobalAveragePool", ["s"], ["a"]), helper.make_node("Flatten", ["a"], ["f"], axis=1),
             helper.make_node("Gemm", ["f", "w", "b"], ["logits"])]  # fmt: skip
    return save_graph(path, nodes, [("image", TensorProto.FLOAT, ["N", channels, *sides])], [("logits", TensorProto.FLOAT, ["N", classes])], constants)


def logits(path: Path, images: np.ndarray) -> np.ndarray:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"image": images.astype(np.float32)})[0]


def prepare_digits(folder: Path) -> np.ndarray:
    """Returns the images, from 0 to 255."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(5)
    pixels = rng.integers(0, 256, (10 * EACH, 28, 28)).astype(np.uint8)
    labels = np.tile(np.arange(10, dtype=np.uint8), EACH)
    (folder / "test-images-idx3-ubyte").write_bytes(np.array([2051, len(pixels), 28, 28], ">i4").tobytes() + pixels.tobytes())
    (folder / "test-labels-idx1-ubyte").write_bytes(np.array([2049, len(labels)], ">i4").tobytes() + labels.tobytes())
    net = save_network(folder / "net.onnx", 1, [28, 28], 10)
    told = {"height": 28, "width": 28, "channels": "grey", "layout": "nchw", "range": [0, 1], "outputs": "logits", "classes": list("0123456789")}
    (folder / "net.image.json").write_text(json.dumps(told))
    np.save(folder / "logits.npy", logits(net, pixels[:, None] / 255))
    (folder / "training.json").write_text(json.dumps({"epochs": 1, "each": EACH, "test_accuracy": 0.99}))
    return pixels


def prepare_photographs(folder: Path) -> None:
    (folder / "photographs").mkdir(parents=True)
    rng = np.random.default_rng(6)
    for k in range(4):
        small = Image.fromarray(rng.integers(0, 256, (12, 12, 3)).astype(np.uint8))
        small.resize((120, 130), Image.Resampling.BICUBIC).save(folder / "photographs" / f"{k:02}-imagenet_{k:02}_{k}.png")
    save_network(folder / "lite0.onnx", 3, ["height", "width"], 20)
    told = {"height": 224, "width": 224, "channels": "rgb", "layout": "nchw", "range": [0, 255], "mean": 127, "std": 128, "outputs": "logits"}
    (folder / "lite0.image.json").write_text(json.dumps(told))
    (folder / "lite0.export.json").write_text(json.dumps({"difference": 1e-5, "difference_paper": 2e-5, "correct": 18, "labelled": 20}))


@pytest.fixture
def out(tmp_path):
    prepare_photographs(tmp_path / "models" / "lite")
    return tmp_path


def study(root: Path, build_dir: Path, out: Path, *options: str) -> subprocess.CompletedProcess:
    command = [root / "experiments" / "images" / "run", "--quick", "--reuse", "--no-plots", "--out", out, *options]
    environment = {**os.environ, "HARMONIA_BUILD": str(build_dir), "HARMONIA_PYTHON": sys.executable}
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, timeout=300)


def whole_ball(net: Path, image: np.ndarray) -> float:
    """gamma of the predicted class's logit over all steps of one pixel."""
    steps = np.concatenate([RADIUS * np.eye(784), -RADIUS * np.eye(784)]).reshape(-1, 28, 28)
    centre = logits(net, image[None, None] / 255)[0]
    return abs(float(logits(net, (image + steps)[:, None] / 255)[:, centre.argmax()].astype(float).mean()) - float(centre.max()))


def test_the_study_in_its_quick_setting(root, build_dir, out):
    """Exit code 0 says that its checks hold: classes and logits as another runtime's, intervals that cover, searches the same."""
    pixels = prepare_digits(out / "models" / "mnist")
    done = study(root, build_dir, out)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "FAILS" not in done.stdout and done.stdout.count("  holds ") == 15
    tables = (out / "tables.md").read_text(encoding="utf-8")
    for heading in ("Table 3: photographs", "Table 3: MNIST", "The map", "The search by γ against a random one", "Pairs and single points"):
        assert f"### {heading}\n" in tables
    with (out / "numbers.csv").open(newline="") as file:
        numbers = {(line["quantity"], line["model"], line["setting"]): float(line["value"]) for line in csv.DictReader(file)}
    expected = np.mean([whole_ball(out / "models" / "mnist" / "net.onnx", image.astype(float)) for image in pixels[:PAIRS]])
    assert numbers["gamma_whole", "MNIST", "r 100, 20 calls"] == pytest.approx(expected, rel=1e-3)
    assert numbers["accuracy", "lite0", "pairs"] in (0, 0.25, 0.5, 0.75, 1)


def test_one_part_alone(root, build_dir, out):
    done = study(root, build_dir, out, "--parts", "photographs")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "MNIST" not in (out / "tables.md").read_text(encoding="utf-8")


def test_images_of_another_setting_are_not_reused(root, build_dir, out):
    prepare_digits(out / "models" / "mnist")
    path = out / "models" / "mnist" / "training.json"
    path.write_text(json.dumps({"epochs": 4, "each": 100, "test_accuracy": 0.99}))
    done = study(root, build_dir, out, "--parts", "digits")
    assert done.returncode == 1
    assert "has a network of 4 epochs and 100 images a class, not 1 and 20; leave out --reuse or name another --out" in done.stderr
