"""harmonia.alignment: arrays, frames, pages, agreement with the program, mistakes. Modules: test_python_modules.py."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import harmonia as hm

X = np.random.default_rng(0).normal(size=(40, 3)) * [3, 2, 0.1]


@pytest.fixture
def model(torch_library, torch_models, monkeypatch):
    """With gradients along (1, 2, 2)."""
    monkeypatch.setenv("HARMONIA_TORCH", str(torch_library))
    return str(torch_models / "golden.pt")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"gradient": "output", "confidence": 0.9},
        {"outputs": "probabilities", "max_evaluations": 20},
        {"paper": True, "label": "digit", "by_label": True, "components": 1},
        {"manifold": "plane.csv", "id": "name", "drop": ["digit"]},
    ],
)
def test_agrees_with_the_program(harmonia, model, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=list("abc")).assign(name=[f"r{i}" for i in range(40)], digit=np.arange(40) % 2)
    frame.iloc[::-1].to_csv("plane.csv", index=False)
    carried = {"drop": ["name", *([] if "label" in options else ["digit"])]} if "id" not in options else {}
    options = {"components": 2, **carried, **options}
    frame.to_csv("rows.csv", index=False)
    told = []
    for name, value in options.items():
        told += [f"--{name.replace('_', '-')}", *([] if value is True else [",".join(value)] if name == "drop" else [value])]
    done = harmonia("alignment", model, "rows.csv", *told, "--json", "result.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    program = json.loads((tmp_path / "result.json").read_text())
    result = hm.alignment(model, "rows.csv", **options)
    mine = json.loads(result.to_json())
    for field in ("rows", "summary", "options", "data", "model", "evaluations"):
        assert mine[field] == program[field], field
    repeated = eval(mine["command_line"], {"harmonia": hm})
    np.testing.assert_array_equal(repeated.cosine, result.cosine)
    of_frame = hm.alignment(model, frame, **{**options, **({"manifold": pd.read_csv("plane.csv")} if "manifold" in options else {})})
    np.testing.assert_allclose(of_frame.cosine, result.cosine, atol=1e-12)


def test_fields_frames_pages_and_pickles(model, tmp_path):
    result = hm.alignment(model, pd.DataFrame(X, index=[f"r{i}" for i in range(40)]), components=2)
    np.testing.assert_allclose(result.cosine, np.sqrt(5) / 3, atol=0.02)
    np.testing.assert_allclose(result.ratio, 1 / result.cosine)
    np.testing.assert_allclose(result.rejection**2 + result.cosine**2, 1)
    assert result.dimensions == 2 and result.by_chance == pytest.approx(2 / 3) and len(result) == 40
    assert result.summary["cosine"]["low"] <= result.cosine.mean() <= result.summary["cosine"]["high"]
    assert result.to_frame().index[0] == "r0" and "AlignmentResult(the cosine between" in repr(result)
    again = pickle.loads(pickle.dumps(result))
    assert again.to_json() == result.to_json() and str(again) == str(result)
    assert "<html" in result.to_html(tmp_path / "page.html")
    assert result.plot().get_ylabel() == "rows"


def test_rows_out_of_budget_are_nan(model):
    with pytest.warns(hm.HarmoniaWarning, match="32 rows not measured"):
        result = hm.alignment(model, X, components=2, max_evaluations=10)  # 2 of them to open the model
    assert np.isnan(result.cosine[8:]).all() and np.isnan(result.decided_class[8:]).all()
    assert result.outcome.tolist() == ["measured"] * 8 + ["budget"] * 32


@pytest.mark.parametrize(
    "error, options, words",
    [
        (hm.UsageError, {"components": 0}, "components is 0"),
        (hm.UsageError, {"components": 3}, "components is 3; rows have 3 features, and a plane in them has fewer"),
        (hm.UsageError, {"outputs": "odds"}, "expected logits or probabilities"),
        (hm.UsageError, {"gradient": "steep"}, "expected loss or output"),
        (hm.UsageError, {"y": [0, 1]}, r"y has shape \(2,\); expected a label a row, \(40,\)"),
        (hm.InputError, {"y": ["cat"] * 40}, "cat"),
        (hm.UsageError, {"manifold_y": [0]}, "the labels of the rows in manifold; none are given"),
        (hm.InputError, {"by_label": True}, "label"),
        (hm.UsageError, {"labels": "labels.idx"}, "labels are of images; the data is a table"),
        (hm.InputError, {"manifold": X[:, :2]}, "3"),
    ],
)
def test_mistakes(model, error, options, words):
    with pytest.raises(error, match=words):
        hm.alignment(model, X, **{"components": 1, **options})


def test_models_without_gradients(model):
    with pytest.raises(hm.ModelError, match=r"which has no gradients; alignment takes a TorchScript model \(net.pt\) or, in Python, a torch.nn.Module"):
        hm.alignment(lambda x: x, X, components=2)
    with pytest.raises(hm.InputError, match="has column 'z' where memory has 'a'"):
        hm.alignment(model, pd.DataFrame(X, columns=list("abc")), components=1, manifold=pd.DataFrame(X, columns=list("zbc")))


def test_images_and_their_labels_as_the_program(harmonia, torch_library, torch_models, monkeypatch, tmp_path):
    monkeypatch.setenv("HARMONIA_TORCH", str(torch_library))
    rng = np.random.default_rng(0)
    for name in ("rows", "plane"):
        for label in range(4):
            (tmp_path / name / str(label)).mkdir(parents=True)
            for k in range(3):
                Image.fromarray(rng.integers(0, 256, (8, 8, 3)).astype(np.uint8)).save(tmp_path / name / str(label) / f"{k}.png")
    (tmp_path / "net.json").write_text(json.dumps({"height": 8, "width": 8, "channels": "rgb", "outputs": "probabilities"}))
    told = (torch_models / "image.pt", tmp_path / "rows", "--description", tmp_path / "net.json", "--manifold", tmp_path / "plane")
    done = harmonia("alignment", *told, "--components", 2, "--by-label", "--json", tmp_path / "result.json")
    assert done.returncode == 0, done.stderr
    program = json.loads((tmp_path / "result.json").read_text())
    result = hm.alignment(torch_models / "image.pt", tmp_path / "rows", manifold=tmp_path / "plane", description=tmp_path / "net.json",
                          components=2, by_label=True)  # fmt: skip
    mine = json.loads(result.to_json())
    for field in ("rows", "summary", "options", "data", "model", "evaluations"):
        assert mine[field] == program[field], field
    assert mine["rows"][0]["label"] == "0"
