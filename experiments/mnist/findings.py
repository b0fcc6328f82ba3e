"""What the study's numbers come to: tables in Markdown, and the checks that must hold."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import numpy as np

from frame import Check, table, under_headings
from measure import CENSORED_HIGH, CENSORED_LOW, Frequency, Persistence
from models import GAMMA, MAIN, NETWORKS, REACHED, stop_name
from table1 import PUBLISHED

if TYPE_CHECKING:
    from study import Attacks, Measured, Study

DRAWS = 2000  # of the bootstrap
FIRST = stop_name(REACHED)
PERCENT = (2.5, 97.5)
ONE = 1  # the label of the image of Figure 3


def area(natural: np.ndarray, adversarial: np.ndarray) -> float:
    """How often a natural value is above an adversarial one; ties count half."""
    order = np.sort(natural)
    above = len(order) - np.searchsorted(order, adversarial, "right")
    ties = np.searchsorted(order, adversarial, "right") - np.searchsorted(order, adversarial, "left")
    return float((above + ties / 2).mean() / len(order))


def by_source(values: list[float], sources: list[int]) -> list[np.ndarray]:
    return [np.array([v for v, s in zip(values, sources) if s == source]) for source in dict.fromkeys(sources)]


def auroc(natural: list[float], adversarial: list[float], sources: list[int]) -> tuple[float, float, float]:
    """With the 95 % interval of a bootstrap that draws natural images, and attacked images with all their attacks."""
    random = np.random.default_rng(1)
    first, groups = np.array(natural), by_source(adversarial, sources)
    draws = []
    for _ in range(DRAWS):
        chosen = np.concatenate([groups[k] for k in random.integers(len(groups), size=len(groups))])
        draws.append(area(random.choice(first, len(first)), chosen))
    return area(first, np.array(adversarial)), *(float(v) for v in np.percentile(draws, PERCENT))


def mean(values: list[float], sources: list[int]) -> tuple[float, float, float]:
    """With the 95 % interval of a bootstrap over the sources."""
    random = np.random.default_rng(1)
    groups = by_source(values, sources)
    sums, counts = np.array([g.sum() for g in groups]), np.array([len(g) for g in groups])
    chosen = random.integers(len(groups), size=(DRAWS, len(groups)))
    draws = sums[chosen].sum(1) / counts[chosen].sum(1)
    return float(np.mean(values)), *(float(v) for v in np.percentile(draws, PERCENT))


def values(rows: list[Persistence]) -> list[float]:
    return [row.value for row in rows]


def natural_mean(found: Measured) -> tuple[float, float, float]:
    return mean(values(found.natural), [int(line["source"]) for line in found.natural_lines])


def adversarial_mean(attacks: Attacks) -> tuple[float, float, float]:
    return mean(values(attacks.rows), attacks.sources)


def interval(estimate: tuple[float, float, float], digits: int = 3) -> str:
    value, low, high = (f"{v:.{digits}f}" for v in estimate)
    return f"{value} [{low}, {high}]"


def network_table(study: Study) -> str:
    rows = []
    for name, found in study.networks.items():
        paper = PUBLISHED.get(name)
        told = (f"{100 * paper.accuracy:.2f}", f"{paper.distortion:.3f}", f"{paper.natural:.2f}", f"{paper.adversarial:.2f}") if paper else ("–",) * 4
        distortion = statistics.fmean(found.reached.of("distortion"))
        rows.append([NETWORKS[name].title, told[0], f"{100 * found.training['test_accuracy']:.2f}", told[1], f"{distortion:.3f}", told[2],
                     interval(natural_mean(found)), told[3], interval(adversarial_mean(found.reached))])  # fmt: skip
    return table(["network", "test accuracy in %, paper", "measured", "distortion, paper", "measured", "natural, paper", "measured",
                  "adversarial, paper", "measured"], rows)  # fmt: skip


def attack_table(study: Study) -> str:
    """How far the attacks go, and what becomes of persistence on the way."""
    rows = []
    for name, found in study.networks.items():
        for stop, attacks in found.deeper.items():
            there = f"{len(attacks.rows)} of {len(attacks.lines)}"
            if not attacks.rows:
                rows.append([NETWORKS[name].title, stop, there, *["–"] * 5])
                continue
            rows.append([NETWORKS[name].title, stop, there, f"{statistics.fmean(attacks.of('distortion')):.3f}",
                         f"{statistics.fmean(attacks.of('probability')):.3f}", f"{statistics.median(values(attacks.rows)):.3f}",
                         interval(adversarial_mean(attacks)), interval(found.auroc(attacks))])  # fmt: skip
    return table(["network", "attack until", "got there", "distortion", "target's probability", "median persistence", "mean persistence",
                  "AUROC of persistence"], rows)  # fmt: skip


def quantile_table(study: Study) -> str:
    """Figures 4, 12 and 13 in numbers."""
    rows = []
    for name, found in study.networks.items():
        for title, chosen in (("natural", found.natural), ("adversarial", found.reached.rows)):
            marks = np.percentile(values(chosen), (5, 25, 50, 75, 95))
            censored = [sum(row.outcome == outcome for row in chosen) for outcome in (CENSORED_LOW, CENSORED_HIGH)]
            rows.append([NETWORKS[name].title, title, str(len(chosen)), *(f"{mark:.3f}" for mark in marks), *map(str, censored)])
    return table(["network", "images", "number", "5 %", "25 %", "median", "75 %", "95 %", "below the range", "above it"], rows)


def detector_table(study: Study) -> str:
    """The program's own numbers."""
    rows = []
    for name, found in study.networks.items():
        for score, detector in found.detectors.items():
            bounds = "–" if detector.low is None or detector.high is None else f"[{detector.low:.3f}, {detector.high:.3f}]"
            rows.append([NETWORKS[name].title, score, f"{detector.value:.3f}", bounds])
    return table(["network", "score", "AUROC", "95 % interval"], rows)


def last_above(series: list[Frequency], label: int, share: float) -> float:
    """The largest deviation up to which the class always has this share; 0 if it has not at the first."""
    reached = 0.0
    for point in series:
        if point.share(label) < share:
            break
        reached = point.sigma
    return reached


def leaders(series: list[Frequency]) -> list[int]:
    """The most frequent classes in the order in which they take over: by more than two standard errors of the difference."""
    found = [series[0].most]
    for point in series:
        most, before = point.counts[point.most], point.counts.get(found[-1], 0)
        if most - before > 2 * math.sqrt(most + before):
            found.append(point.most)
    return found


def curve_table(found: Measured) -> str:
    """Figures 3 and 11 in numbers."""
    rows = []
    for line in found.one:
        if line["success"] != "1":
            continue
        series = found.curves[int(line["row"])]
        own = int(line["target"] or line["label"])
        title = f"adversarial, towards {line['target']}" if line["target"] else f"natural, a {line['label']}"
        rows.append([title, f"{float(line['distortion']):.3f}", *(f"{last_above(series, own, share):.3f}" for share in (GAMMA, 0.5)),
                     ", ".join(map(str, leaders(series))), f"{max(point.share(ONE) for point in series):.2f}",
                     f"{series[-1].most} ({100 * series[-1].share(series[-1].most):.0f} %)"])  # fmt: skip
    return table(["image", "distortion", f"own class ≥ {GAMMA:g} up to σ", "≥ 0.5 up to σ", "most frequent class, as σ grows",
                  "largest share of 1", "at the end"], rows)  # fmt: skip


def statement_table(study: Study) -> str:
    """What the paper's figures say in words."""
    main = study.networks[MAIN]
    natural, adversarial = (statistics.median(values(rows)) for rows in (main.natural, main.reached.rows))
    series = {line["target"]: main.curves[int(line["row"])] for line in main.one if line["success"] == "1"}
    ends = sorted(last_above(curve, int(target), 0.5) for target, curve in series.items() if target)
    returns = sum(ONE in leaders(curve) for target, curve in series.items() if target)
    rows = [
        ["Figure 3: the image of a 1 is very stable, the adversarial one is not",
         f"the 1 keeps {GAMMA:g} of its samples up to σ = {last_above(series[''], ONE, GAMMA):.3f}, the one towards 0 up to "
         + (f"{last_above(series['0'], 0, GAMMA):.3f}" if "0" in series else "– (the attack failed)")],
        ["Figure 11: the adversarial class falls off quickly for every target, at different rates",
         f"half of the samples are left up to σ = {ends[0]:.3f} … {ends[-1]:.3f}"],
        ["Conclusion: around an adversarial image often another class than the original one is the most frequent",
         f"1 becomes the most frequent class around {returns} of {len(ends)} images, another than 1 and the target around "
         f"{sum(bool(set(leaders(c)) - {ONE, int(t)}) for t, c in series.items() if t)}"],
        ["Figure 4: adversarial images are significantly less persistent",
         f"medians {natural:.3f} natural, {adversarial:.3f} adversarial; AUROC {interval(main.auroc(main.reached))}"],
    ]  # fmt: skip
    for name, words in (("fc10-4", "Figure 12: of the small networks, adversarial images are the more persistent"), ("fc10-2", "…"),
                        ("fc10-0", "… and by far, with much regularisation"), ("fc100-100-10", "Figure 13: less persistent again"),
                        ("c-4", "Figure 14: less persistent, and by far")):  # fmt: skip
        if name not in study.networks:
            continue
        found = study.networks[name]
        means = [f"{adversarial_mean(attacks)[0]:.3f} until {stop}" for stop, attacks in found.deeper.items() if attacks.rows]
        rows.append([f"{words} ({NETWORKS[name].title})", f"mean {natural_mean(found)[0]:.3f} natural; adversarial {', '.join(means)}"])
    return table(["the paper says", "measured"], rows)


def sections(study: Study) -> str:
    """All tables, each under its heading."""
    parts = [
        ("Statements", statement_table(study)),
        ("Figures 3 and 11", curve_table(study.networks[MAIN])),
        ("Figures 4, 12 and 13", quantile_table(study)),
        ("Table 1", network_table(study)),
        ("How far past the boundary", attack_table(study)),
        ("Detectors", detector_table(study)),
    ]
    return under_headings(parts)


def records(study: Study) -> list[list[str]]:
    """The lines of numbers.csv."""
    found: list[list[str]] = []

    def add(quantity: str, network: str, stop: str, estimate: tuple[float, float | None, float | None], rows: int) -> None:
        found.append([quantity, network, stop, *("" if v is None else f"{v:.7g}" for v in estimate), str(rows)])

    for name, network in study.networks.items():
        add("train_accuracy", name, "", (network.training["train_accuracy"], None, None), 60_000)
        add("test_accuracy", name, "", (network.training["test_accuracy"], None, None), 10_000)
        add("natural_persistence", name, "", natural_mean(network), len(network.natural))
        sets = [(FIRST, network.reached), *((stop, attacks) for stop, attacks in network.deeper.items() if attacks != network.reached)]
        for stop, attacks in sets:
            add("attack_success", name, stop, (len(attacks.rows) / len(attacks.lines), None, None), len(attacks.lines))
            if attacks.rows:
                add("distortion", name, stop, mean(attacks.of("distortion"), attacks.sources), len(attacks.rows))
                add("target_probability", name, stop, mean(attacks.of("probability"), attacks.sources), len(attacks.rows))
                add("adversarial_persistence", name, stop, adversarial_mean(attacks), len(attacks.rows))
                add("auroc", name, stop, network.auroc(attacks), len(attacks.rows))
        for score, detector in network.detectors.items():
            add(f"program_auroc_{score}", name, FIRST, (detector.value, detector.low, detector.high), len(network.reached.rows))
    return found


def differing_classes(found: Measured) -> int:
    """Rows that the exported network decides otherwise than PyTorch did."""
    count = sum(row.label != int(line["class"]) for row, line in zip(found.natural, found.natural_lines, strict=True))
    for attacks in (found.reached, *found.deeper.values()):
        count += sum(row.label != int(line["target"]) for row, line in zip(attacks.rows, attacks.done, strict=True))
    return count


def checks(study: Study) -> list[Check]:
    """The network is as good as it should be, the attacks get there, the export is faithful, and adversarial images that just
    crossed the boundary are told from natural ones."""
    found = []
    main = study.networks[MAIN]
    accuracy, expected = main.training["test_accuracy"], study.size.accuracy
    found.append(Check(f"test accuracy of {NETWORKS[MAIN].title}", f"{accuracy:.4f}", f"at least {expected:g}", accuracy >= expected))
    for name, network in study.networks.items():
        title = NETWORKS[name].title
        share = len(network.reached.rows) / len(network.reached.lines)
        found.append(Check(f"attacks on {title} that reach their class", f"{100 * share:.1f} %", "at least 95 %", share >= 0.95))
        differing = differing_classes(network)
        found.append(Check(f"classes of {title} as ONNX are PyTorch's", f"{differing} differ", "0", differing == 0))
        if "persistence" in network.detectors:
            ours, theirs = network.auroc(network.reached)[0], network.detectors["persistence"].value
            found.append(Check(f"AUROC of {title} as the program's", f"{ours:.4f}, {theirs:.4f}", "within 0.005", abs(ours - theirs) <= 0.005))
    low = main.auroc(main.reached)[1]
    found.append(Check("natural images are more persistent than those that just crossed the boundary", f"AUROC at least {low:.3f}", "above 0.5", low > 0.5))
    return found
