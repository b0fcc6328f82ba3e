"""Models that older versions of LightGBM saved answer as those versions did; tests/data/make_lightgbm.py made them."""

import json
from pathlib import Path

import numpy as np
import pytest
from tree_answers import answers, assert_close

DATA = Path(__file__).parent.parent / "data" / "lightgbm"
FILES = sorted(path.relative_to(DATA) for path in DATA.glob("*/*.txt"))


def test_there_are_models_of_both():
    assert {file.parts[0] for file in FILES} == {"2.3.1", "3.3.5"} and len(FILES) == 16


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_model_of_another_version(harmonia, tmp_path, file):
    expected = json.loads((DATA / file.parent / "expected.json").read_text())
    x = np.array(expected["rows"], dtype=float)
    theirs = {kind: np.array(values) for kind, values in expected["models"][file.name].items()}
    assert_close(answers(harmonia, tmp_path, DATA / file, x, "--margin"), theirs["margins"], "margins")
    assert_close(answers(harmonia, tmp_path, DATA / file, x), theirs["predictions"], "predictions")
