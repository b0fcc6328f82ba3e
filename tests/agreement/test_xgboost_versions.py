"""Models that older versions of XGBoost saved answer as those versions did; tests/data/make_xgboost.py made them."""

import json
from pathlib import Path

import numpy as np
import pytest
from tree_answers import answers, assert_close, assert_same_labels

DATA = Path(__file__).parent.parent / "data" / "xgboost"
FILES = sorted(path.relative_to(DATA) for version in ("1.7.6", "2.1.4") for path in (DATA / version).iterdir()
               if path.suffix in (".json", ".ubj") and path.stem not in ("expected", "linear"))


def test_there_are_models_of_both():
    assert {file.parts[0] for file in FILES} == {"1.7.6", "2.1.4"} and len(FILES) > 20


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_model_of_another_version(harmonia, tmp_path, file):
    expected = json.loads((DATA / file.parent / "expected.json").read_text())
    x = np.array(expected["rows"], dtype=float)
    theirs = {kind: np.array(values) for kind, values in expected["models"][file.name].items()}
    assert_close(answers(harmonia, tmp_path, DATA / file, x, "--margin"), theirs["margins"], "margins")
    ours = answers(harmonia, tmp_path, DATA / file, x)
    if file.stem in ("softmax", "hinge"):
        assert_same_labels(ours[:, 0], theirs["predictions"][:, 0], theirs["margins"], "labels")
    else:
        assert_close(ours, theirs["predictions"], "predictions")
