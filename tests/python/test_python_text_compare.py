"""harmonia.text.compare: which of several models is steadier."""

import pickle

import numpy as np
import pytest
from support.text_functions import at_angles

import harmonia as hm


def test_compare_ranks_models(tmp_path):
    prompts = [f"Question number {i}?" for i in range(12)]
    models = {
        "steady": lambda p: "0.1",
        "turning": lambda p: "0.1" if p in prompts else f"0.{2 + prompts.index(p[: p.index('?') + 1]) % 3}",
    }
    result = hm.text.compare(models, at_angles, prompts, workers=4)
    assert result.ranking == [["steady"], ["turning"]] and result.models == ["steady", "turning"]
    (pair,) = result.pairs
    assert (pair.a, pair.b, pair.verdict) == (
        "steady",
        "turning",
        "a_lower",
    ) and pair.low <= pair.difference <= pair.high < 0
    assert pair.difference == pytest.approx(-0.2, abs=1e-6) and result.mean["turning"] == pytest.approx(0.2, abs=1e-6)
    alone = hm.text.gamma(models["turning"], at_angles, prompts)
    np.testing.assert_array_equal(result.results["turning"].gamma, alone.gamma)
    assert result.to_frame()[["steady", "turning"]].shape == (12, 2) and "steadiest first" in str(result)
    assert result.plot().get_yticklabels()[0].get_text() == "steady"
    assert pickle.loads(pickle.dumps(result)).to_json() == result.to_json()
