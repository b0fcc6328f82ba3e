"""What the study's numbers come to: tables in Markdown, and the checks that must hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from frame import Check, table, under_headings
from measure import Attack, Estimate, Turned
from models import BASELINE, BOTH, COMPONENTS, MANIFOLD, MARK, MODELS, NEAR, PUBLISHED_ACCURACY, ROBUST, VARIANTS

if TYPE_CHECKING:
    from study import Measured, Study

Z = 1.959964  # of 95 % intervals
DISTANCES = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2)  # of PGD, at which accuracy is read


def wilson(share: float, rows: int) -> Estimate:
    """A share with its interval by Wilson's score."""
    centre, scale = share + Z * Z / (2 * rows), 1 + Z * Z / rows
    half = Z * math.sqrt(share * (1 - share) / rows + Z * Z / (4 * rows * rows))
    return share, max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def mean(values: np.ndarray) -> Estimate:
    """With an interval by the normal distribution; of one value there is none."""
    value = float(np.mean(values))
    half = Z * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return value, value - half, value + half


def nearest(found: Measured) -> np.ndarray:
    """Of every row that PGD attacked, the least distance at which any weight of the distance changed its class; 0 of rows that were
    wrong at first, infinite of those that it never changed."""
    least = np.full(len(next(iter(found.pgd.values())).right), np.inf)
    for attack in found.pgd.values():
        least = np.where(attack.changed, np.minimum(least, attack.distances), least)
        least = np.where(attack.right, least, 0.0)
    return least


def kept(found: Measured, method: str, epsilon: float) -> np.ndarray:
    """By row: right, and still so under the attack of this size; of size 0 there is none."""
    if method == "pgd":
        return nearest(found) > epsilon
    if method == "ball":
        return found.balls[epsilon].kept() if epsilon > 0 else next(iter(found.balls.values())).right
    return found.fgsm[epsilon].kept() if epsilon > 0 else next(iter(found.fgsm.values())).right


class Shares:
    """Accuracy under an attack, a share for every seed: of the same rows."""

    def __init__(self, runs: dict[int, Measured], method: str, epsilon: float) -> None:
        self.rows = np.array([kept(found, method, epsilon) for found in runs.values()], float)

    @property
    def mean(self) -> Estimate:
        """Of the seeds, with the interval of one share of as many rows."""
        return wilson(float(self.rows.mean()), self.rows.shape[1])

    @property
    def by_seed(self) -> np.ndarray:
        return self.rows.mean(1)

    def minus(self, other: Shares) -> tuple[Estimate, np.ndarray]:
        """The difference of the same rows, averaged over the seeds, with its interval over the rows; and that of every seed."""
        return mean((self.rows - other.rows).mean(0)), self.by_seed - other.by_seed


def along(basis: np.ndarray, turned: Turned) -> np.ndarray:
    """The share of every change's squared length that lies along the plane."""
    change = turned.after - turned.before
    return ((change @ basis.T) ** 2).sum(1) / (change**2).sum(1)


def interval(estimate: Estimate, digits: int = 3, scale: float = 1) -> str:
    value, low, high = (f"{scale * v:.{digits}f}" for v in estimate)
    return f"{value} [{low}, {high}]" if math.isfinite(estimate[1]) else value


def percent(estimate: Estimate) -> str:
    return interval(estimate, 1, 100)


def spread(values: np.ndarray, digits: int = 3, scale: float = 1) -> str:
    """The least and the most of several seeds."""
    return f"{scale * values.min():.{digits}f} … {scale * values.max():.{digits}f}" if len(values) > 1 else "–"


def natural(found: Measured) -> Estimate:
    return found.epochs[-1].accuracy


def setting_table(study: Study) -> str:
    size = study.size
    rows = [["training rows", f"{size.rows}"], ["epochs", f"{size.epochs}"], ["hidden layers", size.hidden.replace(",", ", ")], ["seeds", f"{size.seeds}"],
            ["test rows of accuracy, alignment and FGSM", f"{size.tested}"], ["of these, attacked by PGD", f"{size.attacked}"],
            ["weights of PGD's distance", ", ".join(f"{p:g}" for p in size.penalties)], ["run on", study.how]]  # fmt: skip
    return table(["what", "how much"], rows)


def alignment_table(study: Study) -> str:
    rows = []
    for name, runs in study.models.items():
        for seed, found in runs.items():
            a = found.alignment
            rows.append([MODELS[name].title, str(seed), percent(natural(found)), interval(a.cosine, 4), interval(a.squared, 4), interval(a.ratio, 3)])
        if len(runs) > 1:
            accuracies = np.array([natural(found)[0] for found in runs.values()])
            means = [np.array([getattr(found.alignment, what)[0] for found in runs.values()]) for what in ("cosine", "squared", "ratio")]
            rows.append([MODELS[name].title, "all", f"{100 * accuracies.mean():.1f} ({spread(accuracies, 1, 100)})",
                         *(f"{m.mean():.{digits}f} ({spread(m, digits)})" for m, digits in zip(means, (4, 4, 3)))])  # fmt: skip
    return table(["model", "seed", "test accuracy in %", "cosine", "squared cosine", "ratio"], rows)


def accuracy_table(study: Study, method: str, sizes: tuple[float, ...], title: str) -> str:
    rows = []
    for epsilon in sizes:
        line = [f"{epsilon:g}"]
        for runs in study.models.values():
            shares = Shares(runs, method, epsilon)
            line.append(percent(shares.mean) + (f" ({spread(shares.by_seed, 1, 100)})" if len(runs) > 1 else ""))
        rows.append(line)
    return table([title, *(MODELS[name].title for name in study.models)], rows)


def unreached(runs: dict[int, Measured]) -> float:
    """The share of rows that no weight of PGD's distance brought to another class."""
    return float(np.mean([np.isinf(nearest(found)).mean() for found in runs.values()]))


def pgd_table(study: Study) -> str:
    never = ["never changed, in %", *(f"{100 * unreached(runs):.1f}" for runs in study.models.values())]
    text = accuracy_table(study, "pgd", DISTANCES, "distance")
    return text + "| " + " | ".join(never) + " |\n"


def turned_table(study: Study) -> str:
    rows = []
    for name, runs in study.models.items():
        for seed, found in runs.items():
            line = [MODELS[name].title, str(seed)]
            for turned in found.turned.values():
                line += [f"{len(turned.numbers)} of {turned.tried}", interval(mean(along(study.basis, turned))) if turned.numbers else "–"]
            rows.append(line)
    return table(["model", "seed", "2s turned into 3s, L∞", "share of the change along the plane", "ℓ2", "share along the plane"], rows)


def rises(found: Measured) -> int:
    """Epochs in which the term of the manifold grew."""
    terms = [epoch.alignment for epoch in found.epochs if epoch.alignment is not None]
    return sum(after > before for before, after in zip(terms, terms[1:]))


def variant_table(study: Study) -> str:
    rows = []
    chosen = {BASELINE: "none", MANIFOLD: f"ratio, {MODELS[MANIFOLD].alpha:g}"}
    shown = [*((title, study.models[name][1]) for name, title in chosen.items()), *((VARIANTS[name].title, found) for name, found in study.variants.items())]
    for title, found in shown:
        attack = found.fgsm[MARK].kept()
        rows.append([title, percent(natural(found)), interval(found.alignment.cosine, 4), f"{np.percentile(found.alignment.cosines, 1):.3f}",
                     percent(wilson(float(attack.mean()), len(attack))), f"{found.epochs[-1].cross_entropy:.3f}",
                     f"{rises(found)} of {len(found.epochs) - 1}" if title != "none" else "–"])  # fmt: skip
    return table(["term, α", "test accuracy in %", "cosine", "its 1st percentile", f"accuracy under FGSM at {MARK:g}, in %", "cross-entropy in training",
                  "epochs in which the term grew"], rows)  # fmt: skip


def verdict(estimate: Estimate) -> str:
    return "more" if estimate[1] > 0 else "less" if estimate[2] < 0 else "not told apart"


def difference(study: Study, name: str, other: str, method: str, epsilon: float) -> str:
    found, seeds = Shares(study.models[name], method, epsilon).minus(Shares(study.models[other], method, epsilon))
    of_seeds = f", seeds {spread(seeds, 1, 100)}" if len(seeds) > 1 else ""
    return f"{verdict(found)}: {percent(found)} points{of_seeds}"


def cosines(study: Study, name: str) -> Estimate:
    """The mean over the seeds, with the least and the most end of their intervals."""
    found = [measured.alignment.cosine for measured in study.models[name].values()]
    return float(np.mean([f[0] for f in found])), min(f[1] for f in found), max(f[2] for f in found)


def statement_table(study: Study) -> str:
    """What the paper's text and figures say in words."""
    means = {name: cosines(study, name) for name in study.models}
    accuracy = np.array([natural(found)[0] for found in study.models[BASELINE].values()])
    seeds = f" ({spread(accuracy, 1, 100)})" if len(accuracy) > 1 else ""
    rows = [[f"4.4: a baseline MLP has {100 * PUBLISHED_ACCURACY:.0f} % on PMNIST", f"{100 * accuracy.mean():.1f} %{seeds}"]]
    for name, words in ((ROBUST, "Figure 9: the robust model is more aligned than the baseline"), (MANIFOLD, "… and so is the manifold model"),
                        (BOTH, "(manifold robust)")):  # fmt: skip
        rows.append([words, f"mean cosine {interval(means[name])}, of the baseline {interval(means[BASELINE])}"])
    rows.append(["Figure 9: adversarial training a little less than the manifold's", f"robust {means[ROBUST][0]:.3f}, manifold {means[MANIFOLD][0]:.3f}"])
    for method, words, epsilon in (("fgsm", "FGSM", MARK), ("pgd", "PGD", NEAR), ("ball", "PGD within a ball", NEAR)):
        at = f"{words} at {epsilon:g}"
        slightly, together = ("", "above robust") if method == "fgsm" else (", slightly", "not above robust")
        rows += [[f"Figure 10, {at}: manifold above the baseline{slightly}", difference(study, MANIFOLD, BASELINE, method, epsilon)],
                 ["… robust above the baseline", difference(study, ROBUST, BASELINE, method, epsilon)],
                 ["… robust above manifold, by much more", difference(study, ROBUST, MANIFOLD, method, epsilon)],
                 [f"… both together {together}", difference(study, BOTH, ROBUST, method, epsilon)]]  # fmt: skip
    if study.variants:
        means_of = {VARIANTS[name].title: found.alignment.cosine[0] for name, found in study.variants.items()}
        rows.append(["4.5: of the ratio, the cosine and the rejection, the ratio is the most stable in training",
                     "mean cosine of one seed, by term and α: " + "; ".join(f"{title}: {value:.3f}" for title, value in means_of.items())])  # fmt: skip
    return table(["the paper says", "measured"], rows)


def sections(study: Study) -> str:
    """All tables, each under its heading."""
    parts = [
        ("What was run", setting_table(study)),
        ("Statements", statement_table(study)),
        ("Figure 9: alignment", alignment_table(study)),
        ("Figure 10: accuracy under FGSM, in %", accuracy_table(study, "fgsm", study.size.epsilons, "ε")),
        ("Figure 10: accuracy under PGD, in %", pgd_table(study)),
        ("PGD within a ball: accuracy in %", accuracy_table(study, "ball", study.size.balls, "radius")),
        ("Figure 8: a 2 into a 3", turned_table(study)),
        ("Other terms and weights", variant_table(study)),
    ]
    return under_headings(parts if study.variants else parts[:-1])


def records(study: Study) -> list[list[str]]:
    """The lines of numbers.csv."""
    lines: list[list[str]] = []

    def add(quantity: str, model: str, seed: int | str, setting: float | str, found: Estimate, rows: int) -> None:
        numbers = ["" if not math.isfinite(v) else f"{v:.7g}" for v in found]
        lines.append([quantity, model, str(seed), f"{setting:g}" if isinstance(setting, float) else setting, *numbers, str(rows)])

    runs = [(name, seed, found) for name, by_seed in study.models.items() for seed, found in by_seed.items()]
    for name, seed, found in [*runs, *((name, 1, found) for name, found in study.variants.items())]:
        add("test_accuracy", name, seed, "", natural(found), study.size.tested)
        for what in ("cosine", "squared", "ratio"):
            add({"squared": "squared_cosine"}.get(what, what), name, seed, "", getattr(found.alignment, what), len(found.alignment.cosines))
        for epsilon, attack in found.fgsm.items():
            add("fgsm_accuracy", name, seed, float(epsilon), wilson(float(attack.kept().mean()), len(attack.right)), len(attack.right))
    for name, seed, found in runs:
        least = nearest(found)
        for distance in DISTANCES:
            add("pgd_accuracy", name, seed, distance, wilson(float((least > distance).mean()), len(least)), len(least))
        for radius, attack in found.balls.items():
            add("ball_accuracy", name, seed, float(radius), wilson(float(attack.kept().mean()), len(attack.right)), len(attack.right))
        add("pgd_never_changed", name, seed, "", wilson(float(np.isinf(least).mean()), len(least)), len(least))
        for norm, turned in found.turned.items():
            if turned.numbers:
                add("turned_along_plane", name, seed, norm, mean(along(study.basis, turned)), len(turned.numbers))
    for other, name in ((BASELINE, MANIFOLD), (BASELINE, ROBUST), (MANIFOLD, ROBUST), (ROBUST, BOTH)):
        for method, sizes, rows in (("fgsm", study.size.epsilons, study.size.tested), ("pgd", DISTANCES, study.size.attacked),
                                    ("ball", study.size.balls, study.size.attacked)):  # fmt: skip
            for epsilon in sizes:
                found, _ = Shares(study.models[name], method, epsilon).minus(Shares(study.models[other], method, epsilon))
                add(f"{method}_difference", f"{name} - {other}", "all", float(epsilon), found, rows)
    return lines


def off_size(epsilon: float, attack: Attack) -> float:
    """By how much FGSM's changes differ from its epsilon; a pixel without a gradient stays, and the largest change does not."""
    return float(np.abs(attack.largest - epsilon).max())


def checks(study: Study) -> list[Check]:
    """The plane is the rows' own, the commands agree with each other, and the manifold's objective does what it is for."""
    found = []
    runs = [run for by_seed in study.models.values() for run in by_seed.values()]
    every = [*runs, *study.variants.values()]
    explained = min(run.alignment.explained for run in every)
    planes = {run.alignment.dimensions for run in every}
    found.append(Check("the plane has all of the rows' variance", f"{explained:.7f} in {min(planes)} dimensions", f"above 0.99999 in {COMPONENTS}",
                       explained > 0.99999 and planes == {COMPONENTS}))  # fmt: skip
    differing = sum(int((run.alignment.classes != attack.classes).sum()) for run in every for attack in run.fgsm.values())
    found.append(Check("classes by `attack` are those by `alignment`", f"{differing} differ", "0", differing == 0))
    wrong = max(abs(natural(run)[0] - float(next(iter(run.fgsm.values())).right.mean())) for run in every)
    found.append(Check("accuracy by `attack` is that by `train`", f"{wrong:.4f} apart", "at most 0.002", wrong <= 0.002))
    off = max(off_size(epsilon, attack) for run in every for epsilon, attack in run.fgsm.items())
    found.append(Check("FGSM moves as far as it is told", f"{off:.1e} apart", "at most 1e-6", off <= 1e-6))
    outside = max(float(attack.distances.max()) / radius for run in runs for radius, attack in run.balls.items())
    found.append(Check("PGD stays in its ball", f"{outside:.6f} of the radius", "at most 1.000001", outside <= 1.000001))
    accuracy, expected = min(natural(run)[0] for run in study.models[BASELINE].values()), study.size.accuracy
    found.append(Check("test accuracy of the baseline", f"{accuracy:.4f}", f"at least {expected:g}", accuracy >= expected))
    manifold = min(run.alignment.cosine[1] for run in study.models[MANIFOLD].values())
    baseline = max(run.alignment.cosine[2] for run in study.models[BASELINE].values())
    found.append(Check("the manifold's objective aligns", f"cosine at least {manifold:.3f}, baseline at most {baseline:.3f}", "above it", manifold > baseline))
    return found
