"""harmonia.gamma of images: the same numbers as the program's."""

import json
import shutil

import harmonia as package
import numpy as np
import pytest
from PIL import Image

from support.onnx_models import save_image_net


@pytest.fixture
def photos(tmp_path):
    rng = np.random.default_rng(1)
    for label in ("ape", "bee"):
        (tmp_path / "photos" / label).mkdir(parents=True)
        Image.fromarray(rng.integers(0, 256, (9, 9, 3)).astype(np.uint8)).save(tmp_path / "photos" / label / "a.png")
    save_image_net(tmp_path / "net.onnx")
    (tmp_path / "net.image.json").write_text(json.dumps({"height": 8, "width": 8, "channels": "rgb", "mean": 0.5}))
    return tmp_path / "photos"


def test_the_same_as_the_program(harmonia, photos, tmp_path):
    options = {"radius": 10.0, "ball": "patch:2", "size": "12x10", "grey": True, "pixel_range": "reflect"}
    ours = json.loads(package.gamma(tmp_path / "net.onnx", str(photos), **options).to_json())
    done = harmonia("gamma", tmp_path / "net.onnx", photos, "--radius", 10, "--ball", "patch:2", "--size", "12x10", "--grey",
                    "--pixel-range", "reflect", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "out.json").read_text())
    for key in ("rows", "summary", "options", "data"):
        assert ours[key] == theirs[key], key


def test_a_function_gets_the_pixels(photos):
    result = package.gamma(lambda rows: (rows**2).sum(axis=1), str(photos), radius=2.0, size="8x8", ball="cross")
    assert np.allclose(result.gamma, 4.0)
    assert package.gamma(lambda rows: rows.sum(axis=1), str(photos), paper=True).radius == 100


def test_compare_and_sweep_take_images(harmonia, photos, tmp_path):
    options = {"ball": "patch:2", "size": "12x10", "grey": True}
    one = package.gamma(tmp_path / "net.onnx", str(photos), radius=10.0, **options).summary.mean
    swept = package.sweep(tmp_path / "net.onnx", str(photos), [10.0, 20.0], **options)
    assert swept.mean[0] == one
    for end in (".onnx", ".image.json"):
        shutil.copy(tmp_path / f"net{end}", tmp_path / f"twin{end}")
    compared = package.compare([tmp_path / "net.onnx", tmp_path / "twin.onnx"], str(photos), 10.0, **options)
    done = harmonia("compare", tmp_path / "net.onnx", tmp_path / "twin.onnx", photos, "--radius", 10, "--ball", "patch:2",
                    "--size", "12x10", "--grey", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "out.json").read_text())
    assert json.loads(compared.to_json())["options"] == theirs["options"]
    with pytest.raises(package.UsageError, match="are of images; the data is a table"):
        package.sweep("fn:f2", "uniform:3", [0.1], size="8x8")


def test_options_of_images_for_a_table():
    with pytest.raises(package.UsageError, match="are of images; the data is a table"):
        package.gamma("fn:f2", "uniform:3", grey=True)
    with pytest.raises(package.UsageError, match="pixel_range is of images; uniform:3 is a table"):
        package.gamma("fn:f2", "uniform:3", pixel_range="reflect")
