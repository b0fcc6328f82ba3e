"""Images, descriptions and labels that are wrong: one clear line each."""

import json
import os
import struct

import numpy as np
import pytest
from PIL import Image

from support.onnx_models import save_image_net

USAGE = 2


@pytest.fixture
def net(tmp_path):
    path = save_image_net(tmp_path / "net.onnx")
    (tmp_path / "net.image.json").write_text(json.dumps({"height": 8, "width": 8, "channels": "rgb"}))
    return path


@pytest.fixture
def photos(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(tmp_path / "photos" / "a.jpg")
    return tmp_path / "photos"


@pytest.fixture
def fails(harmonia, tmp_path):
    def run(*arguments) -> str:
        done = harmonia("gamma", *arguments, "--json", tmp_path / "out.json")
        assert done.returncode == USAGE, (done.returncode, done.stderr)
        assert done.stdout == "" and done.stderr.startswith("harmonia: ") and done.stderr.count("\n") == 1, done.stderr
        assert not os.path.exists(tmp_path / "out.json")
        return done.stderr[len("harmonia: ") : -1]

    return run


def test_a_file_that_is_no_image(fails, net, photos):
    (photos / "b.png").write_text("hello")
    assert fails(net, photos, "--radius", 1) == f"{photos}/b.png: not an image; expected a PNG or JPEG file"


def test_a_truncated_jpeg(fails, net, photos):
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (64, 64, 3)).astype(np.uint8)).save(photos / "b.jpg")
    whole = (photos / "b.jpg").read_bytes()
    (photos / "b.jpg").write_bytes(whole[: len(whole) // 2])
    assert fails(net, photos, "--radius", 1).startswith(f"{photos}/b.jpg: the JPEG file is cut short or damaged (")


def test_a_single_pixel_fills_the_image(harmonia, net, photos):
    Image.fromarray(np.full((1, 1, 3), 9, np.uint8)).save(photos / "b.png")
    done = harmonia("gamma", net, photos, "--radius", 1)
    assert done.returncode == 0, done.stderr


def test_folders_without_images(fails, net, tmp_path):
    (tmp_path / "photos").mkdir()
    assert fails(net, tmp_path / "photos", "--radius", 1) == (
        f"{tmp_path}/photos has no images; expected PNG or JPEG files, or a sub-folder of them for each class"
    )
    for label in ("cat", "dog"):
        (tmp_path / "photos" / label).mkdir()
    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(tmp_path / "photos" / "cat" / "a.png")
    assert fails(net, tmp_path / "photos", "--radius", 1) == (
        f"{tmp_path}/photos/dog has no images; expected PNG or JPEG files in every class's folder"
    )


def test_a_model_of_another_size_or_order(fails, photos, tmp_path):
    net = save_image_net(tmp_path / "fixed.onnx", height=16, width=16)
    (tmp_path / "fixed.image.json").write_text(json.dumps({"height": 8, "width": 8, "channels": "rgb"}))
    assert fails(net, photos, "--radius", 1) == (
        f"model {net} takes images of 3×16×16; {tmp_path}/fixed.image.json describes 3×8×8 (another size or number of channels)"
    )
    (tmp_path / "fixed.image.json").write_text(json.dumps({"height": 16, "width": 16, "channels": "rgb", "layout": "nhwc"}))
    assert fails(net, photos, "--radius", 1) == (
        f"model {net} takes images of 3×16×16; {tmp_path}/fixed.image.json describes 16×16×3 "
        '("layout": "nchw" puts channels first)'
    )
    (tmp_path / "fixed.image.json").write_text(json.dumps({"height": 16, "width": 16, "channels": "grey"}))
    assert fails(net, photos, "--radius", 1).startswith(f"model {net} takes images of 3×16×16; ")


def test_labels_that_do_not_match(fails, net, photos, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("file,label\nb.jpg,cat\n")
    assert fails(net, photos, "--radius", 1, "--labels", labels) == (
        f"{photos} has 'a.jpg', which {labels} does not name; expected a label for every image"
    )
    images, few = tmp_path / "images-idx3-ubyte", tmp_path / "labels-idx1-ubyte"
    images.write_bytes(struct.pack(">HBB3I", 0, 8, 3, 2, 8, 8) + bytes(128))
    few.write_bytes(struct.pack(">HBBI", 0, 8, 1, 1) + bytes(1))
    assert fails(net, images, "--radius", 1, "--labels", few) == f"{few} has 1 label; {images} has 2 images"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--size", "8"], "--size '8'; expected HEIGHTxWIDTH in pixels, from 1 to 10000 each"),
        (["--size", "3000x2000"], "{photos}: images of 3000×2000×3 make rows of 18000000 columns; expected at most 16777216 (a smaller --size or description)"),
        (["--by", "colour"], "--by 'colour'; images have no columns: expected label"),
        (["--by", "label"], "--by label: the images of {photos} have no labels"),
        (["--columns", "a"], "--columns names a column of a table; {photos} are images (--labels FILE has their labels)"),
        (["--description", "none.json"], "none.json: no such file"),
        (["--ball", "patch:0"], "ball 'patch:0': '0' after the colon; expected a whole number above 0"),
    ],
)
def test_options(fails, net, photos, arguments, message):
    assert fails(net, photos, "--radius", 1, *arguments) == message.format(photos=photos)


def test_mnist_images_that_are_made_too_large(fails, net, tmp_path):
    images = tmp_path / "images-idx3-ubyte"
    images.write_bytes(struct.pack(">HBB3I", 0, 8, 3, 2, 8, 8) + bytes(128))
    assert fails(net, images, "--radius", 1, "--size", "9000x9000") == (
        f"{images}: images of 9000×9000×3 make rows of 243000000 columns; expected at most 16777216 (a smaller --size or description)"
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--grey"], "--description, --size and --grey are of images; uniform:3 is a table"),
        (["--labels", "x.csv"], "--labels is a file of images; uniform:3 is a table"),
        (["--pixel-range", "reflect"], "--pixel-range is of images; uniform:3 is a table"),
        (["--ball", "pixel"], "ball pixel moves the pixels of images; the data has 2 columns that are no image"),
    ],
)
def test_options_of_images_for_a_table(fails, arguments, message):
    assert fails("fn:f2", "uniform:3", "--radius", 1, *arguments) == message


def test_a_description_that_is_wrong(fails, net, photos, tmp_path):
    path = tmp_path / "net.image.json"
    path.write_text('{"height": 8, "width": 8, "channels": "rgb", "std": [1, 2]}')
    assert fails(net, photos, "--radius", 1) == f"{path}: std has 2 numbers; expected 3, one a channel"
    path.write_text("{")
    assert fails(net, photos, "--radius", 1) == f"{path} line 1, byte 2: not valid JSON"
    path.unlink()
    assert fails(net, photos, "--radius", 1) == (
        f"{photos}: images have to come to one size; expected a description beside the model (net.image.json of net.onnx), "
        "--description FILE, or --size HEIGHTxWIDTH"
    )
