"""What the study's numbers come to: tables in Markdown, and the checks that must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frame import Check, table, under_headings
from models import ATTACKS, EPSILON, PUBLISHED

if TYPE_CHECKING:
    from measure import Attacked
    from study import Study

DRAWS = 2000  # of the bootstrap
PERCENT = (2.5, 97.5)
MOST_DIFFERENCE = 1e-3  # of a logit, between the program and PyTorch


def mean(values: np.ndarray, sources: np.ndarray) -> tuple[float, float, float]:
    """With the 95 % interval of a bootstrap that draws photographs with all that was made of them; none of fewer than two."""
    groups = [values[sources == source] for source in np.unique(sources)]
    if len(groups) < 2:
        return float(values.mean()), float("nan"), float("nan")
    sums, counts = np.array([g.sum() for g in groups]), np.array([len(g) for g in groups])
    chosen = np.random.default_rng(1).integers(len(groups), size=(DRAWS, len(groups)))
    low, high = np.percentile(sums[chosen].sum(1) / counts[chosen].sum(1), PERCENT)
    return float(values.mean()), float(low), float(high)


def interval(estimate: tuple[float, float, float]) -> str:
    value, low, high = estimate
    return f"{value:.4f}" if np.isnan(low) else f"{value:.4f} [{low:.4f}, {high:.4f}]"


def of_method(study: Study, method: str | None) -> list[Attacked]:
    """Those of one method; None: of all."""
    return [attacked for attacked in study.attacked if method in (None, attacked.method)]


def estimates(study: Study, method: str | None) -> dict[str, tuple[float, float, float]] | None:
    """Distortion, and persistence of the photographs that were attacked with success and of what became of them."""
    chosen = of_method(study, method)
    sources = np.array([source for attacked in chosen for source in attacked.sources], int)
    if len(sources) == 0:
        return None
    told = {"distortion": [d for a in chosen for d in a.distortions], "natural": [study.natural[k] for k in sources],
            "adversarial": [p for a in chosen for p in a.persistences]}  # fmt: skip
    return {name: mean(np.array(values), sources) for name, values in told.items()}


def measured_table(study: Study) -> str:
    rows = []
    for method in (None, *study.size.methods):
        chosen, found = of_method(study, method), estimates(study, method)
        there = f"{sum(len(a.sources) for a in chosen)} of {sum(a.tried for a in chosen)}"
        title = "total" if method is None else ATTACKS[method].title
        rows.append([title, there, *([interval(found[name]) for name in ("distortion", "natural", "adversarial")] if found else ["–"] * 3)])
    return table(["EfficientNet-Lite0", "came to the target", "distortion", "persistence, natural", "persistence, adversarial"], rows)


def published_table() -> str:
    rows = [[network, "total" if method == "total" else ATTACKS[method].title, f"{line.distortion:.4f}", f"{line.natural:.4f}", f"{line.adversarial:.4f}"]
            for network, lines in PUBLISHED.items() for method, line in lines.items()]  # fmt: skip
    return table(["network", "attack", "distortion", "persistence, natural", "persistence, adversarial"], rows)


def sections(study: Study) -> str:
    return under_headings([("Measured", measured_table(study)), ("Table 2 of the paper", published_table())])


def records(study: Study) -> list[list]:
    """quantity, attack, value, low, high, rows."""
    found = []
    for method in (None, *study.size.methods):
        for name, estimate in (estimates(study, method) or {}).items():
            found.append([name, method or "total", *estimate, sum(len(a.sources) for a in of_method(study, method))])
    return found


def checks(study: Study) -> list[Check]:
    largest = max((a.largest for a in study.attacked if a.method != "cw"), default=0.0)
    total = estimates(study, None)
    return [
        Check("the exported network answers as PyTorch", f"{study.difference:.1e}", f"at most {MOST_DIFFERENCE:g} of a logit", study.difference <= MOST_DIFFERENCE),
        Check("attacks stay in their box", f"{largest:.4f}", f"no value moved by more than {EPSILON:.4f}", largest <= EPSILON + 1e-6),
        Check("some attack succeeds", str(sum(len(a.sources) for a in study.attacked)), "one or more", total is not None),
    ]  # fmt: skip
