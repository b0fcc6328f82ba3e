"""What the study's numbers come to: tables in Markdown, and the checks that must hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frame import Check, table, under_headings
from measure import Persistence, length
from models import QUANTILE, SIDE
from table1 import PUBLISHED
from trained import NETWORKS

if TYPE_CHECKING:
    from study import Measured, Study

DRAWS = 2000  # of the bootstrap
PERCENT = (2.5, 97.5)
BOUND_SHARE = 0.1  # of the rows whose whole interval may be beyond a bound: 2.5 % are to be expected where the bound is the answer

Estimate = tuple[float, float, float]


def mean(values: list[float]) -> Estimate:
    """With the 95 % interval of a bootstrap over the images."""
    found = np.array(values)
    draws = found[np.random.default_rng(1).integers(len(found), size=(DRAWS, len(found)))].mean(1)
    return float(found.mean()), *(float(v) for v in np.percentile(draws, PERCENT))


def ratio(above: list[float], below: list[float]) -> Estimate:
    """Of the means, of two sets of images that are drawn apart."""
    random = np.random.default_rng(1)
    means = [np.array(v)[random.integers(len(v), size=(DRAWS, len(v)))].mean(1) for v in (above, below)]
    return float(np.mean(above) / np.mean(below)), *(float(v) for v in np.percentile(means[0] / means[1], PERCENT))


def values(rows: list[Persistence]) -> list[float]:
    """Without those that are endless, which no mean can have."""
    return [row.value for row in rows if not row.endless]


def average(rows: list[Persistence], digits: int = 3) -> str:
    """The mean, and how many are endless, if any is."""
    found, endless = values(rows), sum(row.endless for row in rows)
    told = interval(mean(found), digits) if found else "–"
    return f"{told}; {endless} endless" if endless else told


def interval(estimate: Estimate, digits: int = 3) -> str:
    value, low, high = (f"{v:.{digits}f}" for v in estimate)
    return f"{value} [{low}, {high}]"


def adversarial_over_natural(found: Measured) -> Estimate:
    return ratio(values(found.adversarial), values(found.natural))


def network_table(study: Study) -> str:
    rows = []
    for name, found in study.networks.items():
        paper, trained = PUBLISHED[name], found.trained
        accuracy = tuple(100 * v for v in (trained.test_accuracy, trained.test_low, trained.test_high))
        rows.append([NETWORKS[name].title, f"{100 * paper.accuracy:.2f}", interval(accuracy, 2), f"{paper.distortion:g}",
                     interval(mean(found.distortions)), f"{paper.natural:g}", average(found.natural),
                     f"{paper.adversarial:g}", average(found.adversarial, 4)])  # fmt: skip
    return table(["network", "test accuracy in %, paper", "measured", "distortion, paper", "measured", "natural σ*, paper", "measured",
                  "adversarial σ*, paper", "measured"], rows)  # fmt: skip


def trend_table(study: Study) -> str:
    """Whether adversarial images are the less persistent."""
    rows = []
    for name, found in study.networks.items():
        paper = PUBLISHED[name]
        said, measured = paper.adversarial / paper.natural, adversarial_over_natural(found)
        verdict = "below" if measured[2] < 1 else "above" if measured[1] > 1 else "not told apart"
        rows.append([NETWORKS[name].title, f"{said:.3g}", "below" if said < 1 else "above", interval(measured, 4), verdict])
    return table(["network", "adversarial over natural, paper", "the paper's is", "measured", "measured is"], rows)


def depth_table(study: Study) -> str:
    """How much of an attack's way lies past the boundary."""
    rows = []
    for name, found in study.networks.items():
        paper = PUBLISHED[name]
        implied = QUANTILE * paper.adversarial / SIDE
        rows.append([NETWORKS[name].title, f"{implied:.4f}", f"{100 * implied / paper.distortion:.1f} %", interval(mean(found.pasts), 5),
                     f"{100 * np.sum(found.pasts) / np.sum(found.distortions):.2f} %"])  # fmt: skip
    return table(["network", "past the boundary, paper, were it flat", "of its distortion", "past the boundary, measured",
                  "of our distortion"], rows)  # fmt: skip


def lead_table(study: Study) -> str:
    """What becomes of persistence when an attack goes on."""
    rows = []
    for name, found in study.networks.items():
        for deeper in found.deeper:
            there = f"{len(deeper.persistences)} of {deeper.tried}"
            if len(values(deeper.persistences)) < 2:
                rows.append([NETWORKS[name].title, f"{deeper.lead:g}", there, *["–"] * 4])
                continue
            told = ratio(values(deeper.persistences), values(found.natural))
            rows.append([NETWORKS[name].title, f"{deeper.lead:g}", there, interval(mean(deeper.distortions)), average(deeper.persistences),
                         interval(told, 2), "above" if told[1] > 1 else "below" if told[2] < 1 else "not told apart"])  # fmt: skip
    return table(["network", "the target's logit leads by", "got there", "distortion", "adversarial σ*", "over natural", "which is"], rows)


def quantile_table(study: Study) -> str:
    rows = []
    for name, found in study.networks.items():
        for title, chosen in (("natural", found.natural), ("adversarial", found.adversarial)):
            marks = np.percentile([row.value for row in chosen], (5, 25, 50, 75, 95))
            rows.append([NETWORKS[name].title, title, str(len(chosen)), *(f"{mark:.4f}" for mark in marks), str(sum(row.censored for row in chosen))])
    return table(["network", "images", "number", "5 %", "25 %", "median", "75 %", "95 %", "beyond the range"], rows)


def training_table(study: Study) -> str:
    rows = []
    for name, found in study.networks.items():
        training = study.size.training(NETWORKS[name])
        rows.append([NETWORKS[name].title, str(training.epochs), str(training.rows or "all"), f"{100 * found.trained.accuracy:.2f}",
                     f"{found.trained.seconds:.0f}", f"{len(found.adversarial)} of {len(found.attacks)}"])  # fmt: skip
    return table(["network", "epochs", "rows learnt from", "right of these in %", "seconds", "attacks that get there"], rows)


def not_run(study: Study) -> str:
    """The networks of the paper's table that this run leaves out."""
    names = [NETWORKS[name].title for name in NETWORKS if name not in study.networks]
    return f"Not run: {', '.join(names)}.\n" if names else "All networks of the table were run.\n"


def sections(study: Study) -> str:
    """All tables, each under its heading."""
    parts = [
        ("Table 1", network_table(study) + "\n" + not_run(study)),
        ("The trend", trend_table(study)),
        ("How far past the boundary", depth_table(study)),
        ("Attacks that go on", lead_table(study)),
        ("Quantiles of persistence", quantile_table(study)),
        ("Training and attacks", training_table(study)),
    ]
    return under_headings(parts)


def records(study: Study) -> list[list[str]]:
    """The lines of numbers.csv."""
    found: list[list[str]] = []
    for name, network in study.networks.items():
        trained, paper = network.trained, PUBLISHED[name]
        lines: list[tuple[str, Estimate, int, float | None]] = [
            ("test_accuracy", (trained.test_accuracy, trained.test_low, trained.test_high), study.tested, paper.accuracy),
            ("distortion", mean(network.distortions), len(network.distortions), paper.distortion),
            ("past_boundary", mean(network.pasts), len(network.pasts), None),
            ("natural_persistence", mean(values(network.natural)), len(values(network.natural)), paper.natural),
            ("adversarial_persistence", mean(values(network.adversarial)), len(values(network.adversarial)), paper.adversarial),
            ("adversarial_over_natural", adversarial_over_natural(network), len(network.adversarial), paper.adversarial / paper.natural),
        ]
        for quantity, estimate, rows, said in lines:
            found.append([quantity, name, *(f"{v:.7g}" for v in estimate), str(rows), "" if said is None else f"{said:.7g}"])
    return found


def beyond_flat(found: Measured) -> float:
    """The share of adversarial rows that are more persistent than one flat boundary at their distance allows. Of a linear network
    none can be: its classes are convex, and the boundary on the way back to the image is one of those that end them."""
    beyond = sum(row.low is not None and row.low > length(past) / QUANTILE for row, past in zip(found.adversarial, found.pasts, strict=True))
    return beyond / len(found.adversarial)


def checks(study: Study) -> list[Check]:
    """Networks are as good as they should be, attacks get there, convex classes end where they must, and the paper's order of natural
    and adversarial images is found where it is stated for larger networks."""
    found = []
    for name, network in study.networks.items():
        title, accuracy = NETWORKS[name].title, network.trained.test_accuracy
        least = PUBLISHED[name].accuracy - study.size.behind
        found.append(Check(f"test accuracy of {title}", f"{accuracy:.4f}", f"at least {least:.4f}", accuracy >= least))
        share = len(network.adversarial) / len(network.attacks)
        found.append(Check(f"attacks on {title} that reach their class", f"{100 * share:.1f} %", "at least 95 %", share >= 0.95))
        other = sum(row.label != attack.target for row, attack in zip(network.adversarial, network.done, strict=True))
        found.append(Check(f"adversarial images of {title} that are of their target's class", f"{other} are not", "0", other == 0))
        if NETWORKS[name].linear:
            beyond = beyond_flat(network)
            found.append(Check(f"adversarial images of {title} that are beyond what a flat boundary allows", f"{100 * beyond:.1f} %",
                               f"at most {100 * BOUND_SHARE:g} %", beyond <= BOUND_SHARE))  # fmt: skip
        if NETWORKS[name].convolutional:
            measured = adversarial_over_natural(network)
            found.append(Check(f"adversarial over natural persistence of {title}", interval(measured, 4), "below 1", measured[2] < 1))
    return found
