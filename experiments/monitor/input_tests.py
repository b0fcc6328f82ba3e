"""A two-sample test of the inputs, window by window: alibi-detect's KSDrift, or the same from SciPy alone."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import ks_2samp

Test = Callable[[np.ndarray, float], Callable[[np.ndarray], bool]]


def plain(reference: np.ndarray, level: float) -> Callable[[np.ndarray], bool]:
    """Kolmogorov and Smirnov's test of every feature, with Bonferroni's correction."""

    def drifted(window: np.ndarray) -> bool:
        p_values = [ks_2samp(reference[:, j], window[:, j], method="asymp").pvalue for j in range(reference.shape[1])]
        return min(p_values) < level / reference.shape[1]

    return drifted


def alibi_detect() -> Test:
    """KSDrift. What it says about libraries that it does not need here is left out."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    warnings.filterwarnings("ignore", module="transformers|alibi_detect")
    logging.getLogger("alibi_detect").setLevel(logging.ERROR)
    from alibi_detect.cd import KSDrift

    def test(reference: np.ndarray, level: float) -> Callable[[np.ndarray], bool]:
        detector = KSDrift(reference, p_val=level)
        return lambda window: bool(detector.predict(window)["data"]["is_drift"])

    return test


def first_alarm(test: Test, reference: np.ndarray, stream: np.ndarray, window: int, rate: float) -> int | None:
    """Rows that had come when a window was found to differ. Every window may raise a false alarm, so that each has its part of the rate."""
    drifted = test(reference, rate / (len(stream) // window))
    for end in range(window, len(stream) + 1, window):
        if drifted(stream[end - window : end]):
            return end
    return None
