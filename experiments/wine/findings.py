"""What the study's numbers come to: tables in Markdown, and the checks that must hold."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from frame import Check, table, under_headings
from models import GRID_HIGHS, GRID_LOWS, PAIRS, PUBLISHED, SEARCHED, SETTINGS, TITLES

if TYPE_CHECKING:
    from study import Study

RATIOS = {"gbdt-2": (4.0, 8.0), "mlp-2": (1.6, 2.0)}  # of the averages over ten splits
DEVIATIONS = 3.0
ALL_SPLITS = 10


def spread(values: list[float], digits: int = 4) -> str:
    """Mean ± standard deviation, and the range, of one value a split."""
    text = f"{statistics.fmean(values):.{digits}f}"
    if len(values) < 2:
        return text
    return f"{text} ± {statistics.stdev(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


def short(values: list[float], digits: int = 4) -> str:
    text = f"{statistics.fmean(values):.{digits}f}"
    return text if len(values) < 2 else f"{text} ± {statistics.stdev(values):.{digits}f}"


def ratios(study: Study, model: str) -> list[float]:
    """Of the overfit model to its partner, a split each."""
    partner = next(first for first, second in PAIRS if second == model)
    return [b / a for a, b in zip(study.records.of("label", partner), study.records.of("label", model))]


def ratio_of_means(study: Study, model: str, quantity: str, setting: object = "") -> str:
    """Single splits may have none: a grid that aliases reads 0."""
    partner = next(first for first, second in PAIRS if second == model)
    below = study.records.mean(quantity, partner, setting)
    return f"{study.records.mean(quantity, model, setting) / below:.2f}" if below > 0 else "–"


def percent(values: list[float]) -> str:
    return short([100 * value for value in values], 0) + " %"


def models_table(study: Study) -> str:
    rows = []
    for name, paper in PUBLISHED.items():
        of = study.records.of
        rows.append([
            TITLES[name], f"{paper.gamma:.3f} ± {paper.error:.3f}", spread(of("label", name)), f"{100 * paper.train:.0f} %",
            percent(of("train_accuracy", name)), f"{100 * paper.test:.0f} %", percent(of("test_accuracy", name)),
        ])  # fmt: skip
    header = ["model", "γ, paper", "γ, measured: mean ± sd [range]", "train, paper", "train", "test, paper", "test"]
    return table(header, rows)


def splits_table(study: Study) -> str:
    rows = []
    for split in study.size.splits:
        row = [str(split)]
        for pair in PAIRS:
            gammas = [study.maps[split].gamma[name] for name in pair]
            row += [f"{g.mean:.4f} [{g.low:.4f}, {g.high:.4f}]" for g in gammas]
            row.append(f"{gammas[1].mean / gammas[0].mean:.2f}")
        rows.append(row)
    rows.append(["all", *(cell for first, second in PAIRS for cell in (
        short(study.records.of("label", first)), short(study.records.of("label", second)), spread(ratios(study, second), 2)))])  # fmt: skip
    return table(["split", "GBDT-1", "GBDT-2", "ratio", "MLP-1", "MLP-2", "ratio"], rows)


def search_table(study: Study) -> str:
    rows = []
    for split in study.size.splits:
        told = study.training[split][SEARCHED]
        found = told["found"]
        rows.append([
            str(split), str(found["n_estimators"]), str(found["max_depth"]), f"{found['learning_rate']:g}",
            f"{100 * found['validation_accuracy']:.1f} %", f"{100 * found['published_validation_accuracy']:.1f} %",
            f"{100 * told['train_accuracy']:.0f} %", f"{100 * told['test_accuracy']:.0f} %",
            f"{study.maps[split].gamma[SEARCHED].mean:.4f}", f"{study.maps[split].gamma['gbdt-1'].mean:.4f}",
        ])  # fmt: skip
    header = ["split", "trees", "depth", "learning rate", "validation", "validation of Table 1's", "train", "test", "γ", "γ of GBDT-1"]
    return table(header, rows)


def radius_table(study: Study) -> str:
    rows = []
    for radius in study.size.radii:
        values = [short(study.records.of("radius", name, radius)) for name in SETTINGS]
        rows.append([f"{radius:g}", *values, *(ratio_of_means(study, second, "radius", radius) for _, second in PAIRS)])
    return table(["r", *(TITLES[name] for name in SETTINGS), "GBDT-2/GBDT-1", "MLP-2/MLP-1"], rows)


def grid_table(study: Study) -> str:
    rows = []
    for counts in study.size.grids:
        spacing = max((high - low) / (n - 1) for low, high, n in zip(GRID_LOWS, GRID_HIGHS, counts))
        for jitter in ("", " jitter"):
            setting = f"{counts[0]}x{counts[1]}{jitter}"
            first = study.records.of("grid", "gbdt-1", setting)[0]
            values = [short(study.records.of("grid", name, setting)) for name in SETTINGS]
            rows.append([f"{counts[0]}×{counts[1]}{',' if jitter else ''}{jitter}", f"{spacing:.3f}", f"{first:.4f}", *values])
    return table(["grid", "spacing", f"GBDT-1, split {study.size.splits[0]}", *(TITLES[name] for name in SETTINGS)], rows)


def outputs_table(study: Study) -> str:
    kinds = [("class as a number, order 0 1 2", "label", ""), ("order 1 0 2", "reordered", 0), ("order 0 2 1", "reordered", 2),
             ("flip rate", "flip", ""), ("probability of the predicted class", "predicted", "")]  # fmt: skip
    rows = []
    for title, quantity, setting in kinds:
        values = [short(study.records.of(quantity, name, setting)) for name in SETTINGS]
        rows.append([title, *values, *(ratio_of_means(study, second, quantity, setting) for _, second in PAIRS)])
    return table(["output", *(TITLES[name] for name in SETTINGS), "GBDT-2/GBDT-1", "MLP-2/MLP-1"], rows)


def sections(study: Study) -> str:
    """All tables, each under its heading."""
    parts = [("Tables 1 and 2", models_table), ("Split by split", splits_table), ("Radius", radius_table), ("Grid", grid_table),
             ("What is measured", outputs_table)]  # fmt: skip
    if study.size.search:
        parts.insert(2, ("What the grid search finds", search_table))
    return under_headings((title, make(study)) for title, make in parts)


def checks(study: Study) -> list[Check]:
    """Every split: exported models decide as their originals, and the overfit model is told from its partner. Ten splits: the
    averages are where they were found before."""
    found = []
    for name in study.training[study.size.splits[0]]:
        differing = int(max(study.records.of("differing_labels", name)))
        found.append(Check(f"labels of {TITLES[name]} as ONNX are scikit-learn's", f"{differing} differ on the worst split", "0", differing == 0))
    for pair in PAIRS:
        told = sum(study.maps[split].pairs[pair].verdict == "a_lower" for split in study.size.splits)
        count = len(study.size.splits)
        found.append(Check(f"γ of {TITLES[pair[0]]} is below {TITLES[pair[1]]}'s", f"in {told} of {count} splits", "all", told == count))
        radii = [r for r in study.size.radii if study.records.mean("radius", pair[0], r) >= study.records.mean("radius", pair[1], r)]
        found.append(Check(f"… on average at every radius from {min(study.size.radii):g} to {max(study.size.radii):g}",
                           f"not at {radii}" if radii else "at all", "all", not radii))  # fmt: skip
    if len(study.size.splits) < ALL_SPLITS:
        return found
    for name, (low, high) in RATIOS.items():
        ratio = statistics.fmean(ratios(study, name))
        found.append(Check(f"mean ratio of {TITLES[name]} to its partner", f"{ratio:.2f}", f"{low:g} to {high:g}", low <= ratio <= high))
    for name, paper in PUBLISHED.items():
        mean = study.records.mean("label", name)
        reach = DEVIATIONS * paper.deviation
        found.append(Check(f"mean γ of {TITLES[name]}", f"{mean:.4f}", f"{paper.expected:g} ± {reach:g}", abs(mean - paper.expected) <= reach))
    return found
