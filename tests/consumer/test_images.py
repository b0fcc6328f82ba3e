"""gamma of images as a user has it: folders of photographs, IDX files, the description beside the model."""

import base64
import io
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import onnxruntime
import pytest
from PIL import Image

from support.onnx_models import save_image_net

DESCRIPTION = {"height": 8, "width": 8, "channels": "rgb", "range": [-1, 1], "mean": [0.1, 0.2, 0.3], "std": [0.5, 0.6, 0.7],
               "classes": ["ape", "bee", "cat", "dog"]}


def photographs(folder: Path, count: int = 3, size=(12, 10), seed: int = 1) -> Path:
    """A folder of two classes with `count` images each."""
    rng = np.random.default_rng(seed)
    for label in ("bee", "ape"):
        (folder / label).mkdir(parents=True)
        for i in range(count):
            pixels = rng.integers(0, 256, (size[1], size[0], 3)).astype(np.uint8)
            Image.fromarray(pixels).save(folder / label / f"{i}.{'png' if i % 2 else 'jpg'}", quality=95)
    return folder


@pytest.fixture
def net(tmp_path):
    """A network for colour images of any size, with its description beside it."""
    path = save_image_net(tmp_path / "net.onnx")
    (tmp_path / "net.image.json").write_text(json.dumps(DESCRIPTION))
    return path


@pytest.fixture
def measure(harmonia, root, tmp_path):
    """Runs harmonia gamma and gives its result, which is as the documents say."""
    form = json.loads((root / "docs" / "result.schema.json").read_text())

    def run(*arguments):
        done = harmonia("gamma", *arguments, "--json", tmp_path / "out.json")
        assert done.returncode == 0, done.stderr
        result = json.loads((tmp_path / "out.json").read_text())
        jsonschema.validate(result, form)
        return result

    return run


def write_idx(path: Path, array: np.ndarray) -> Path:
    path.write_bytes(struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes())
    return path


def test_a_folder_with_the_description_beside_the_model(measure, net, tmp_path):
    photographs(tmp_path / "photos")
    result = measure(net, tmp_path / "photos", "--radius", 10, "--ball", "cross", "--by", "label")
    assert result["data"]["image"] == {"height": 8, "width": 8, "channels": 3}
    assert [row["id"] for row in result["rows"]] == ["ape/0.jpg", "ape/1.png", "ape/2.jpg", "bee/0.jpg", "bee/1.png", "bee/2.jpg"]
    assert [row["label"] for row in result["rows"]] == ["ape"] * 3 + ["bee"] * 3
    assert {row["outcome"] for row in result["rows"]} == {"exact"}
    assert [s["value"] for s in result["summary"]["segments"]["values"]] == ["ape", "bee"]
    described = result["options"]["images"]
    assert described["pixel_range"] == "free"
    assert described["description"]["mean"] == [0.1, 0.2, 0.3]
    assert described["description"]["path"] == str(tmp_path / "net.image.json")


def test_the_numbers_are_those_of_the_network(measure, net, tmp_path):
    """The whole way by hand: resize by Pillow's own triangle, normalise, ask ONNX Runtime for every point of the ball."""
    (tmp_path / "photos").mkdir()
    pixels = np.random.default_rng(5).integers(0, 256, (8, 8, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photos" / "a.png")
    session = onnxruntime.InferenceSession(str(net), providers=["CPUExecutionProvider"])

    def logits(images):
        x = (-1 + 2 * images / 255 - np.array(DESCRIPTION["mean"])) / np.array(DESCRIPTION["std"])
        return session.run(None, {"x": x.transpose(0, 3, 1, 2).astype(np.float32)})[0]

    at = logits(pixels[None].astype(float))[0]
    predicted = int(at.argmax())
    for ball, blocks in (("pixel", [(slice(i, i + 1), slice(j, j + 1)) for i in range(8) for j in range(8)]),
                         ("patch:3", [(slice(i, i + 3), slice(j, j + 3)) for i in range(0, 8, 3) for j in range(0, 8, 3)])):
        points = []
        for block in blocks:
            direction = np.zeros((8, 8, 3))
            direction[block] = 1
            direction /= np.linalg.norm(direction)
            points += [pixels + 100 * direction, pixels - 100 * direction]
        expected = logits(np.array(points))[:, predicted].mean() - at[predicted]
        row = measure(net, tmp_path / "photos", "--radius", 100, "--ball", ball)["rows"][0]
        assert row["class"] == predicted
        assert row["value"] == pytest.approx(at[predicted], rel=1e-5)
        assert row["delta"] == pytest.approx(expected, rel=1e-3, abs=1e-6)
        assert row["points"] == len(points)


def test_resizing_is_that_of_pillow(harmonia, tmp_path):
    """Within what Pillow rounds away; but for the edge, where it leaves out what is outside instead of repeating it."""
    pixels = np.random.default_rng(6).integers(0, 256, (50, 80)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    code = "import sys\nfor l in sys.stdin: print(l.strip(), flush=True)"
    done = harmonia("gamma", f"cmd:{sys.executable} -c '{code}'", tmp_path / "a.png", "--size", "16x16", "--grey", "--radius", 1,
                    "--output", "all", "--ball", "cross", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    ours = np.array([row["value"] for row in json.loads((tmp_path / "out.json").read_text())["rows"]]).reshape(16, 16)
    theirs = np.asarray(Image.fromarray(pixels).resize((25, 16), Image.BILINEAR), dtype=float)[:, 4:20]
    assert np.abs(ours - theirs)[2:-2].max() < 1.5


def test_probabilities_are_measured_before_their_softmax(measure, tmp_path):
    net = save_image_net(tmp_path / "net.onnx", softmax=True, last=True, height=8, width=8)
    (tmp_path / "net.image.json").write_text(json.dumps({**DESCRIPTION, "layout": "nhwc", "outputs": "probabilities"}))
    photographs(tmp_path / "photos", 1)
    result = measure(net, tmp_path / "photos", "--radius", 10, "--sample", 16)
    assert result["options"]["margin"] is True
    assert result["options"]["ball"] == "simplex+anti"
    assert any(row["value"] > 1 or row["value"] < 0 for row in result["rows"])


def test_mnist_files(measure, tmp_path):
    rng = np.random.default_rng(2)
    images = write_idx(tmp_path / "t10k-images-idx3-ubyte", rng.integers(0, 256, (5, 28, 28)))
    labels = write_idx(tmp_path / "t10k-labels-idx1-ubyte", np.array([3, 1, 4, 1, 5]))
    net = save_image_net(tmp_path / "net.onnx", channels=1, height=28, width=28)
    (tmp_path / "net.image.json").write_text(json.dumps({"height": 28, "width": 28, "channels": "grey"}))
    result = measure(net, images, "--labels", labels, "--radius", 20, "--ball", "pixel")
    assert [row["label"] for row in result["rows"]] == ["3", "1", "4", "1", "5"]
    assert result["data"]["image"] == {"height": 28, "width": 28, "channels": 1}
    # One pixel of grey at a time is one feature at a time.
    assert [r["gamma"] for r in measure(net, images, "--radius", 20, "--ball", "cross")["rows"]] == [r["gamma"] for r in result["rows"]]
    one = measure(net, f"{images}#2", "--radius", 20, "--ball", "pixel")
    assert one["rows"][0]["row"] == 2 and one["rows"][0]["gamma"] == result["rows"][2]["gamma"]


def test_the_paper_procedure(measure, net, tmp_path):
    photographs(tmp_path / "photos", 1)
    result = measure(net, tmp_path / "photos", "--paper")
    assert result["data"]["image"] == {"height": 100, "width": 100, "channels": 1}
    assert result["options"]["radius"] == 100
    assert result["options"]["ball"] == "one-hot" and result["options"]["sample"] == 20
    assert {row["points"] for row in result["rows"]} == {20}
    assert measure(net, tmp_path / "photos", "--paper", "--size", "40x40", "--radius", 5)["rows"][0]["points"] == 3


def test_large_images_are_moved_by_pixels(measure, net, tmp_path):
    photographs(tmp_path / "photos", 1)
    options = measure(net, tmp_path / "photos", "--radius", 10, "--size", "32x32", "--sample", 32)["options"]
    assert options["ball"] == "pixel"


def test_steps_out_of_the_range(measure, net, tmp_path):
    (tmp_path / "photos").mkdir()
    Image.fromarray(np.full((8, 8, 3), 250, np.uint8)).save(tmp_path / "photos" / "a.png")
    found = {}
    for rule in ("free", "symmetric", "reflect"):
        result = measure(net, tmp_path / "photos", "--radius", 50, "--ball", "cross", "--pixel-range", rule)
        assert result["options"]["images"]["pixel_range"] == rule
        assert "schema" not in result["options"]
        found[rule] = result["rows"][0]
    assert found["symmetric"]["shortened"] == 192 and "shortened" not in found["reflect"]
    assert len({row["gamma"] for row in found.values()}) == 3


def test_the_result_shows_the_lowest_and_the_highest(measure, net, tmp_path):
    photographs(tmp_path / "photos", 15)
    result = measure(net, tmp_path / "photos", "--radius", 10, "--sample", 16, "--ball", "pixel")
    shown = result["summary"]["images"]
    assert len(shown) == 24
    gammas = sorted(row["gamma"] for row in result["rows"])
    assert [s["gamma"] for s in shown] == gammas[:12] + gammas[-12:]
    picture = Image.open(io.BytesIO(base64.b64decode(shown[0]["png"])))
    assert picture.size == (8, 8) and picture.mode == "RGB"
    large = measure(net, tmp_path / "photos", "--radius", 10, "--sample", 2, "--size", "120x240", "--window", "3..4")
    assert [s["row"] for s in large["summary"]["images"]] == sorted([3, 4], key=lambda r: large["rows"][r - 3]["gamma"])
    assert Image.open(io.BytesIO(base64.b64decode(large["summary"]["images"][0]["png"]))).size == (96, 48)


def test_a_run_goes_on_where_it_stopped(harmonia, net, tmp_path):
    photographs(tmp_path / "photos", 4)
    asked = ["gamma", net, tmp_path / "photos", "--radius", 10, "--ball", "pixel", "--threads", 1]
    whole = harmonia(*asked, "--json", tmp_path / "whole.json")
    assert whole.returncode == 0, whole.stderr
    part = harmonia(*asked, "--json", tmp_path / "part.json", "--resume", tmp_path / "journal", "--max-evaluations", 500)
    assert part.returncode == 0, part.stderr
    rest = harmonia(*asked, "--json", tmp_path / "part.json", "--resume", tmp_path / "journal")
    assert rest.returncode == 0, rest.stderr
    a, b = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "part"))
    assert a["rows"] == b["rows"] and a["summary"] == b["summary"]


def test_other_commands_take_images_too(harmonia, net, tmp_path):
    photographs(tmp_path / "photos", 1)
    save_image_net(tmp_path / "other.onnx", seed=9)
    (tmp_path / "other.image.json").write_text(json.dumps(DESCRIPTION))
    for arguments in (["sweep", net, tmp_path / "photos", "--radii", "1,10", "--sample", 16],
                      ["compare", net, tmp_path / "other.onnx", tmp_path / "photos", "--radius", 10, "--sample", 16],
                      ["stability", net, tmp_path / "photos", "--sigma", 10, "--samples", 100]):
        done = harmonia(*arguments)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("options", [
    ("gamma", "--radius", 10, "--sample", 4),
    ("attack", "--radius", 10, "--steps", 1, "--method", "random", "--candidates", 2),
    ("map", "--radius", 10, "--sample", 4, "--steps", 1, "--candidates", 2),
], ids=lambda options: options[0])
def test_memory_does_not_grow_with_the_images(options, program, net, tmp_path):
    # An image is 240 kB as doubles: 150 more of them would be 36 MB.
    picture = tmp_path / "picture.png"
    Image.fromarray(np.random.default_rng(2).integers(0, 256, (100, 100, 3)).astype(np.uint8)).save(picture)

    def most(images):
        folder = tmp_path / f"{images}"
        (folder / "ape").mkdir(parents=True)
        for i in range(images):
            os.link(picture, folder / "ape" / f"{i}.png")
        command = [program, options[0], net, folder, "--size", "100x100", "--threads", 1, *options[1:]]
        running = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        told = running.stderr.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        assert running.returncode == 0, told
        return used.ru_maxrss / 1024

    few, many = most(20), most(170)
    assert many - few < 12, f"{few:.0f} MB for 20 images, {many:.0f} MB for 170"


@pytest.mark.parametrize("verb", [("gamma", "--radius", 10, "--sample", 4), ("stability", "--sigma", 20), ("persistence", "--gamma", 0.7)],
                         ids=lambda verb: verb[0])
def test_every_measure_says_that_it_takes_logits(verb, harmonia, root, tmp_path):
    # The description beside the network says that it answers with probabilities.
    digits = root / "examples" / "digits"
    done = harmonia(verb[0], digits / "net.onnx", digits / "photos", *verb[1:], "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["options"]["margin"] is True
