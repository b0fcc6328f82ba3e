"""harmonia.attack: arrays, frames, pages, agreement with the program, mistakes."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import harmonia as hm

X = np.zeros((4, 30))


def margin(x):
    """Two outputs: 4.5 less the sum of the features, and 0."""
    return np.stack([4.5 - x.sum(axis=1), np.zeros(len(x))], axis=1)


def test_a_linear_margin_takes_five_features():
    result = hm.attack(margin, X, radius=1.0)
    assert result.success.all() and set(result.outcome) == {"changed"}
    assert result.steps.tolist() == result.changed.tolist() == [5] * 4
    assert result.adversarial.shape == X.shape
    np.testing.assert_array_equal(result.adversarial.sum(axis=1), 5)
    np.testing.assert_array_equal(margin(result.adversarial).argmax(axis=1), result.new_class)
    np.testing.assert_allclose(result.distortion_l2, np.sqrt(5 / 30))
    assert "gamma changed the class of 4 of 4 rows" in repr(result) and "median" in str(result)


def test_agrees_with_the_program(harmonia, tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(1).uniform(size=(12, 3)) / 2)
    told = ["--radius", 0.2, "--against", "boundary", "--lower", 0, "--upper", 1, "--steps", 6]
    done = harmonia("attack", "fn:ball-class?n=3", tmp_path / "rows.npy", *told, "--json", tmp_path / "result.json")
    assert done.returncode == 0, done.stderr
    program = json.loads((tmp_path / "result.json").read_text())
    result = hm.attack("fn:ball-class?n=3", tmp_path / "rows.npy", radius=0.2, against="boundary", lower=0, upper=1, steps=6)
    mine = json.loads(result.to_json())
    for field in ("rows", "summary", "shown", "evaluations"):
        assert mine[field] == program[field]
    assert ((result.adversarial >= 0) & (result.adversarial <= 1)).all()


@pytest.mark.parametrize(
    "options",
    [
        {"method": "pgd", "epsilon": 0.4, "against": "rfgsm", "step_size": 0.07, "steps": 12},
        {"method": "pgd", "epsilon": 0.9, "norm": "l2", "random_start": False, "target": 0},
        {"method": "mifgsm", "epsilon": 0.4, "decay": 0.5, "target": "next"},
        {"method": "pgd-penalty", "penalty": 0.3, "go_on": True},
        {"method": "cw", "constant": 5, "kappa": 0.1, "steps": 50},
        {"method": "lbfgs", "outputs": "probabilities", "lower": 0, "upper": 2},
    ],
)
def test_gradients_agree_with_the_program(harmonia, tmp_path, options):
    np.save(tmp_path / "rows.npy", np.random.default_rng(1).uniform(size=(12, 3)))
    told = [word for name, value in options.items() if value is not False for word in (f"--{name.replace('_', '-')}", *([] if value is True else [value]))]
    if options.get("random_start") is False:
        told.append("--no-random-start")
    done = harmonia("attack", "fn:soft-ball?n=3", tmp_path / "rows.npy", *told, "--json", tmp_path / "result.json")
    assert done.returncode == 0, done.stderr
    program = json.loads((tmp_path / "result.json").read_text())
    result = hm.attack("fn:soft-ball?n=3", tmp_path / "rows.npy", **options)
    mine = json.loads(result.to_json())
    for field in ("options", "rows", "summary", "shown", "evaluations"):
        assert mine[field] == program[field]
    assert result.success.any()
    assert np.isnan(result.target).all() == ("target" not in options)
    repeated = eval(mine["command_line"], {"harmonia": hm})
    np.testing.assert_array_equal(repeated.adversarial, result.adversarial)


def test_frames_pages_and_pickles(tmp_path):
    result = hm.attack(margin, pd.DataFrame(X, index=list("abcd")), radius=1.0)
    assert result.to_frame().index.tolist() == list("abcd")
    again = pickle.loads(pickle.dumps(result))
    assert again.to_json() == result.to_json()
    np.testing.assert_array_equal(again.adversarial, result.adversarial)
    assert "<html" in result.to_html(tmp_path / "page.html")


def test_out_of_budget_rows_are_nan():
    with pytest.warns(hm.HarmoniaWarning, match="not attacked"):
        result = hm.attack(margin, X, radius=0.1, max_evaluations=3000)
    assert result.outcome.tolist() == ["kept", "budget", "budget", "budget"]
    assert np.isnan(result.adversarial[1:]).all() and np.isnan(result.decided_class[1:]).all()


@pytest.mark.parametrize(
    "options, words",
    [
        ({"radius": 0}, "radius is 0"),
        ({"radius": 1, "steps": 0}, "steps is 0"),
        ({"radius": 1, "method": "magic"}, "method 'magic' is not known"),
        ({"radius": 1, "image": (5, 5)}, "an image of 5x5x1 has 25 values; rows have 30 features"),
        ({"radius": 1, "image": (30,)}, "expected height and width"),
        ({"radius": 1, "epsilon": -1}, "epsilon is -1"),
        ({}, "radius is 0; method gamma needs a number above 0"),
        ({"method": "pgd", "epsilon": 1}, "has no gradients, which method pgd needs; methods that work with it are gamma"),
        ({"method": "pgd"}, "epsilon is 0; method pgd needs the size of its ball"),
        ({"method": "cw", "outputs": "odds"}, "expected logits or probabilities"),
        ({"method": "cw", "target": "cat"}, "target 'cat'; expected the number of a class"),
        ({"radius": 1, "method": "boundary", "go_on": True}, "boundary takes all steps anyway"),
    ],
)
def test_mistakes(options, words):
    with pytest.raises(hm.UsageError, match=words):
        hm.attack(margin, X, **options)


def test_rows_outside_of_the_bounds():
    with pytest.raises(hm.InputError, match="row 0, column 0 is 0; expected a value within the bounds, 1 to inf"):
        hm.attack(margin, X, radius=1, lower=1)


def test_images_by_their_logits_as_the_program(harmonia, root, tmp_path):
    digits = root / "examples" / "digits"
    done = harmonia("attack", digits / "net.onnx", digits / "photos", "--radius", 120, "--steps", 2, "--candidates", 4, "--json", tmp_path / "result.json")
    assert done.returncode == 0, done.stderr
    program = json.loads((tmp_path / "result.json").read_text())
    mine = json.loads(hm.attack(str(digits / "net.onnx"), str(digits / "photos"), radius=120, steps=2, candidates=4).to_json())
    assert mine["options"]["margin"] is True
    for field in ("options", "rows", "summary", "shown"):
        assert mine[field] == program[field]
