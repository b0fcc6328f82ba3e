"""harmonia.text.ascend: prompts with larger gamma."""

import numpy as np
from support.text_functions import at_angles

import harmonia as hm


def test_ascent_rises_and_asks_once():
    asked = []

    def bent(prompt):
        asked.append(prompt)
        return "0." + str(sum(map(ord, prompt[4:])) % 9)

    walk = hm.text.ascend(bent, at_angles, "Why?", steps=4)
    assert walk.path[0].prompt == "Why?" and (np.diff(walk.gamma) > 0).all() and walk.best is walk.path[-1]
    assert len(set(asked)) == len(asked) == walk.calls and walk.ended == "after 4 steps"
    assert walk.to_frame()["prompt"].tolist() == [step.prompt for step in walk.path]
    several = hm.text.ascend(bent, at_angles, "Why?", steps=4, workers=4)
    assert several.path == walk.path and "AscentResult(gamma" in repr(walk)
    assert len(hm.text.ascend(bent, at_angles, "Why?", steps=2, variants=4, paper=True).path) == 3
    assert hm.text.ascend(bent, at_angles, "Why?", steps=4, max_calls=40).calls == 40
