"""What the study's numbers come to: tables in Markdown, and the checks that must hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from frame import Check, table, under_headings
from measure import ROWS, Crossings
from models import PAPER, PUBLISHED_PRECISION, SOUND, WAYS
from trained import NETWORKS

if TYPE_CHECKING:
    from study import Study

DRAWS = 2000  # of the bootstrap
PERCENT = (2.5, 97.5)
# The columns of Figure 7, and one more: without bounds the nearest point of a class lies straight across a smooth boundary.
KINDS = {"test": "test ↔ test", "adversarial": "test ↔ adversarial", "free": "test ↔ adversarial without bounds"}
TITLES = {"training": "training gradient", "interpolant": "linear interpolant", "adversarial": "adversarial gradient"}
ORTHOGONAL = math.radians(89)  # from here on it counts as such
NORMALS = math.radians(1)  # by how much the program's normals may be off PyTorch's, in the median
SOUND_OFF = math.radians(0.1)  # by how much that of singular vectors in float64 may be off PyTorch's
TOLD = math.radians(0.05)

Estimate = tuple[float, float, float]


def mean(values: np.ndarray) -> Estimate:
    """With the 95 % interval of a bootstrap over the pairs."""
    draws = values[np.random.default_rng(1).integers(len(values), size=(DRAWS, len(values)))].mean(1)
    return float(values.mean()), *(float(v) for v in np.percentile(draws, PERCENT))


def less(a: np.ndarray, b: np.ndarray) -> Estimate:
    """By how much the mean of `a` is above that of `b`, of pairs that are drawn apart."""
    random = np.random.default_rng(1)
    means = [v[random.integers(len(v), size=(DRAWS, len(v)))].mean(1) for v in (a, b)]
    return float(a.mean() - b.mean()), *(float(v) for v in np.percentile(means[0] - means[1], PERCENT))


def degrees(estimate: Estimate, digits: int = 1) -> str:
    value, low, high = (f"{math.degrees(v):.{digits}f}" for v in estimate)
    return f"{value} [{low}, {high}]"


def radians(estimate: Estimate) -> str:
    value, low, high = (f"{v:.3f}" for v in estimate)
    return f"{value} [{low}, {high}]"


def angle_table(study: Study) -> str:
    """Figure 7 in numbers."""
    rows = []
    for name, kinds in study.networks.items():
        for kind, found in kinds.items():
            for row in ROWS:
                values = found.angles[row]
                marks = np.degrees(np.percentile(values, (5, 50, 95)))
                rows.append([NETWORKS[name].title, KINDS[kind], TITLES[row], str(len(values)), degrees(mean(values)), radians(mean(values)),
                             *(f"{mark:.1f}" for mark in marks), f"{100 * np.mean(values >= ORTHOGONAL):.0f} %"])  # fmt: skip
    return table(["network", "pairs", "direction", "number", "mean in degrees", "in radians", "5 %", "median", "95 %", "89° and more"], rows)


def statement_table(study: Study) -> str:
    """What the paper says of Figure 7 in words."""
    rows = []
    for name, kinds in study.networks.items():
        title = NETWORKS[name].title
        for row in ("training", "adversarial"):
            said = "; ".join(f"{KINDS[kind]} {degrees(mean(found.angles[row]))}°" for kind, found in kinds.items())
            rows.append([f"{TITLES[row]}s are not orthogonal to the boundary ({title})", said])
        said = "; ".join(f"{KINDS[kind]} {degrees(mean(found.angles['interpolant']))}°" for kind, found in kinds.items())
        rows.append([f"interpolants of both kinds cross at acute angles ({title})", said])
        closer = less(kinds["adversarial"].angles["interpolant"], kinds["test"].angles["interpolant"])
        rows.append([f"those to adversarial images are closer to orthogonal ({title})", f"by {degrees(closer)}°"])
        shares = "; ".join(f"{KINDS[kind]} {np.mean(found.third):.3f} on average, {np.median(found.third):.4f} in the median"
                           for kind, found in kinds.items())  # fmt: skip
        rows.append([f"gradients can be oblique because more than two classes have a share ({title})", f"share of all others: {shares}"])
    return table(["the paper says", "measured"], rows)


def with_svd(study: Study) -> list[tuple[str, dict[str, Crossings]]]:
    """Networks whose normals were found by singular vectors too."""
    return [(name, kinds) for name, kinds in study.networks.items() if study.size.points_of(NETWORKS[name])]


def svd_table(study: Study) -> str:
    """The paper's normals beside the program's."""
    rows = []
    for name, kinds in with_svd(study):
        for way in WAYS:
            off, exact = (np.concatenate([getattr(found, name)[way.name] for found in kinds.values()]) for name in ("off", "off_exact"))
            rows.append([NETWORKS[name].title, way.title, str(study.size.samples),
                         *(", ".join(f"{v:.2g}" for v in np.degrees(angles)) for angles in (off, exact)), f"{exact.max():.2g}",
                         f"{PUBLISHED_PRECISION:g}" if way == PAPER else "–"])  # fmt: skip
    return table(["network", "way", "samples", "off the program's normal, in degrees, point by point", "off the exact normal",
                  "largest in radians", "precision, paper"], rows)  # fmt: skip


def normal_table(study: Study) -> str:
    """The program's normals beside PyTorch's."""
    rows = []
    for name, kinds in study.networks.items():
        for kind, found in kinds.items():
            marks = np.degrees(np.percentile(found.own_normal, (50, 95, 100)))
            rows.append([NETWORKS[name].title, KINDS[kind], str(found.pairs), str(found.once), *(f"{mark:.2g}" for mark in marks),
                         f"{100 * found.covered:.1f} %"])  # fmt: skip
    return table(["network", "pairs", "number", "that cross once", "program's normals off the exact ones in degrees, median", "95 %", "largest",
                  "exact angles within the program's uncertainty"], rows)  # fmt: skip


def svd_angle_table(study: Study) -> str:
    """What the normal does to the angles, at the same points."""
    rows = []
    for name, kinds in with_svd(study):
        for row in ROWS:
            count = [len(found.off[PAPER.name]) for found in kinds.values()]
            own = np.concatenate([found.angles[row][:k] for found, k in zip(kinds.values(), count, strict=True)])
            by = [np.concatenate([found.by_svd[way.name][row] for found in kinds.values()]) for way in WAYS]
            rows.append([NETWORKS[name].title, TITLES[row], *(", ".join(f"{v:.1f}" for v in np.degrees(angles)) for angles in (own, *by))])
    return table(["network", "direction", "angles by the program's normal", *(f"by singular vectors, {way.title}" for way in WAYS)], rows)


def sections(study: Study) -> str:
    """All tables, each under its heading."""
    parts = [
        ("Statements", statement_table(study)),
        ("Figure 7", angle_table(study)),
        ("Crossings and the program's normals", normal_table(study)),
        ("The paper's normals", svd_table(study)),
        ("Angles by the paper's normals", svd_angle_table(study)),
    ]
    return under_headings(parts)


def records(study: Study) -> list[list[str]]:
    """The lines of numbers.csv. Angles in radians."""
    found: list[list[str]] = []

    def add(quantity: str, network: str, kind: str, estimate: Estimate, rows: int) -> None:
        found.append([quantity, network, kind, *(f"{v:.7g}" for v in estimate), str(rows)])

    for name, trained in study.trained.items():
        add("test_accuracy", name, "", (trained.test_accuracy, trained.test_low, trained.test_high), study.tested)
    for name, kinds in study.networks.items():
        for kind, crossings in kinds.items():
            for row in ROWS:
                add(f"{row}_angle", name, kind, mean(crossings.angles[row]), len(crossings.angles[row]))
            add("other_classes_share", name, kind, mean(crossings.third), len(crossings.third))
            add("normal_off_pytorch", name, kind, mean(crossings.own_normal), len(crossings.own_normal))
            for way in WAYS if study.size.points_of(NETWORKS[name]) else ():
                add(f"svd_off_{way.name}", name, kind, mean(crossings.off[way.name]), len(crossings.off[way.name]))
                add(f"svd_off_exact_{way.name}", name, kind, mean(crossings.off_exact[way.name]), len(crossings.off_exact[way.name]))
        closer = less(kinds["adversarial"].angles["interpolant"], kinds["test"].angles["interpolant"])
        add("interpolant_closer", name, "", closer, sum(found.crossed for found in kinds.values()))
    return found


def crossing_checks(title: str, found: Crossings) -> list[Check]:
    """Every pair crosses, the program's normals are those of PyTorch, and its angles are those of its normals."""
    median, told = float(np.median(found.own_normal)), float(np.abs(found.told - found.angles["interpolant"]).max())
    said = [
        Check(f"pairs of {title} that cross a boundary", f"{found.crossed} of {found.pairs}", "all", found.crossed == found.pairs),
        Check(f"normals of {title} are PyTorch's", f"median {math.degrees(median):.3g}° off", f"at most {math.degrees(NORMALS):g}°",
              median <= NORMALS),
        Check(f"angles of {title} are those of the normals", f"at most {math.degrees(told):.2g}° off", f"{math.degrees(TOLD):g}°", told <= TOLD),
    ]  # fmt: skip
    if len(found.off_exact[SOUND.name]):
        sound = float(found.off_exact[SOUND.name].max())
        said.append(Check(f"singular vectors in float64 find the normals of {title}", f"at most {math.degrees(sound):.2g}° off",
                            f"{math.degrees(SOUND_OFF):g}°", sound <= SOUND_OFF))  # fmt: skip
    return said


def checks(study: Study) -> list[Check]:
    found = []
    for name, kinds in study.networks.items():
        title, accuracy = NETWORKS[name].title, study.trained[name].test_accuracy
        found.append(Check(f"test accuracy of {title}", f"{accuracy:.4f}", f"at least {study.size.accuracy:g}", accuracy >= study.size.accuracy))
        for kind, crossings in kinds.items():
            found += crossing_checks(f"{title}, {KINDS[kind]}", crossings)
    return found
