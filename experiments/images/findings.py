"""What the study's numbers come to: tables in Markdown, and the checks that must hold."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from estimates import Estimate, difference, mean, ratio, share
from frame import Check, table, under_headings
from measure import Map, Row, Search
from models import DIGITS, LITES, MAIN, PUBLISHED
from photographs import label_of

if TYPE_CHECKING:
    from study import Digits, Drawn, Study

NOMINAL = 0.95
DEVIATIONS = 3.0
SAME = 1e-3  # of logits of two runtimes
RIGHT = 0.8  # of the labelled photographs, at the networks' own size

COLUMNS: dict[str, tuple[str, Callable[[Row], float]]] = {
    "logit": ("class logit", lambda r: r.logit),
    "mean_logit": ("mean logit", lambda r: r.mean_logit),
    "probability": ("P", lambda r: r.probability),
    "gamma": ("γ", lambda r: r.gamma),
    "score": ("P·e^(−Nγ)", lambda r: r.score),
    "two_exponential": ("with both exponentials", lambda r: r.two_exponential),
    "drift": ("logit drift", lambda r: r.drift),
}


def correct(rows: list[Row]) -> tuple[int, int]:
    """How many of the labelled photographs are right."""
    labels = [(row.decided, label_of(Path(row.id).name)) for row in rows]
    known = [(decided, label) for decided, label in labels if label is not None]
    return sum(decided == label for decided, label in known), len(known)


def stability(rows: list[Row]) -> Estimate:
    return share(sum(row.stable for row in rows), len(rows))


def columns_of(found: Map) -> dict[str, Estimate]:
    """Table 3's, over the photographs."""
    numbers = {name: mean([value(row) for row in found.rows]) for name, (_, value) in COLUMNS.items()}
    right, known = correct(found.rows)
    return numbers | {"stability": stability(found.rows)} | ({"accuracy": share(right, known)} if known else {})


def maps(study: Study) -> list[tuple[str, str, Map]]:
    """Network, procedure, and what was measured."""
    found = [(name, "pairs", network.map) for name, network in study.networks.items()]
    return found + [(name, "paper", network.paper) for name, network in study.networks.items() if network.paper]


def network_table(study: Study) -> str:
    """Table 3. Its lines are classes of the paper's; here all photographs are one."""
    rows = []
    for name, how, found in maps(study):
        numbers = columns_of(found)
        cells = [numbers[key].text(2 if "logit" in key or key == "drift" else 3) for key in COLUMNS]
        accuracy = numbers["accuracy"].text(0, 100) if "accuracy" in numbers else "–"
        cells.insert(4, mean([g.gamma for g in study.networks[name].paper_gamma]).text() if how == "pairs" else "–")
        steps = mean([float(n) for n in study.networks[name].steps]).text(1) if how == "pairs" else "–"
        rows.append([LITES[name].title, how, *cells[:-1], accuracy, numbers["stability"].text(0, 100), steps, cells[-1],
                     f"{study.size.steps * numbers['gamma'].value:.2f}"])  # fmt: skip
    for name, told in PUBLISHED.items():
        spread = lambda key: "{:g} … {:g}".format(*told[key]) if key in told else "–"  # noqa: E731
        gamma = "{:.2f} … {:.2f}".format(*(study.size.steps * v for v in told["gamma"]))
        cells = [spread(key) for key in COLUMNS if key != "drift"]
        cells.insert(4, "–")
        rows.append([f"{name}, the paper's ten classes", "paper", *cells, spread("accuracy"), spread("stability"), "–", "–", gamma])
    titles = [title for key, (title, _) in COLUMNS.items() if key != "drift"]
    titles.insert(4, "γ of 20 single points")
    return table(["network", "procedure", *titles, "accuracy in %", "stable in %", "pixels to another class", "logit drift", "N·γ"], rows)


def ranked(study: Study) -> list[tuple[str, str, int, dict[str, list[float]]]]:
    """Procedure, what is ranked, digits, and a column of photographs a network."""
    kinds = [("γ", lambda r: r.gamma, 4), ("P", lambda r: r.probability, 3), ("P·e^(−Nγ)", lambda r: r.score, 3), ("stable", lambda r: float(r.stable), 3)]
    by_procedure: dict[str, dict[str, Map]] = {}
    for name, how, found in maps(study):
        by_procedure.setdefault(how, {})[name] = found
    columns = [(how, title, digits, {name: [value(row) for row in found.rows] for name, found in networks.items()})
               for how, networks in by_procedure.items() for title, value, digits in kinds]  # fmt: skip
    steps = {name: [float(n) for n in network.steps] for name, network in study.networks.items()}
    return [*columns, ("pairs", "pixels to another class", 1, steps)]


def ranking_table(study: Study) -> str:
    """Which of two networks has more of it, photograph by photograph."""
    short = {name: network.title.removeprefix("EfficientNet-") for name, network in LITES.items()}
    rows = []
    for how, title, digits, columns in ranked(study):
        order = sorted(columns, key=lambda name: statistics.fmean(columns[name]))
        if statistics.fmean(columns[order[0]]) == statistics.fmean(columns[order[-1]]):
            rows.append([how, title, "all alike", "–", "–", "not told apart"])
            continue
        for a, b in itertools.combinations(order, 2):
            gap = difference(columns[b], columns[a])
            rows.append([how, title, " < ".join(short[name] for name in order), f"{short[b]} − {short[a]}", gap.text(digits),
                         "told apart" if gap.apart else "not told apart"])  # fmt: skip
    return table(["procedure", "what", "order of the means", "difference", "of the same photographs", ""], rows)


def interval(entry: dict | None, digits: int = 3, value: str = "value", scale: float = 1) -> str:
    """Of the program's own results."""
    if entry is None or entry.get(value) is None:
        return "–"
    if entry.get("low") is None or entry.get("high") is None:
        return f"{scale * entry[value]:.{digits}f}"
    return f"{scale * entry[value]:.{digits}f} [{scale * entry['low']:.{digits}f}, {scale * entry['high']:.{digits}f}]"


def class_table(found: Digits) -> str:
    rows = []
    for group in [*found.map.classes, found.map.all]:
        title = group["class"] if group is found.map.all else found.names[int(group["class"])]
        rows.append([title, str(group["rows"]), interval(group["logit"], 2, "mean"), interval(group["mean_logit"], 2, "mean"),
                     interval(group["probability"], 3, "mean"), interval(group["gamma"], 4, "mean"), interval(group["score"], 3, "mean"),
                     interval(group["two_exponential"], 3, "mean"), interval(group["accuracy"], 0, "share", 100),
                     interval(group["stability"], 0, "share", 100), interval(group["drift"], 2, "mean"), f"{group['steps_gamma']:.2f}"])  # fmt: skip
    titles = [title for key, (title, _) in COLUMNS.items() if key != "drift"]
    return table(["class", "images", *titles, "accuracy in %", "stable in %", "logit drift", "N·γ"], rows)


def correlation_table(study: Study) -> str:
    """The paper's statement: the score goes with stability."""
    rows = []
    for name, found in study.digits.items():
        for entry in found.map.correlations:
            rows.append([DIGITS[name], entry["of"], interval(entry["rows"], 2), interval(entry["auroc"]), interval(entry["classes"], 2)])
        rows.append([DIGITS[name], "size of the logit drift, with N·γ", interval(found.map.drift_with_gamma, 2), "–", "–"])
    return table(["images", "with stability", "r over images", "AUROC", "r over classes"], rows)


def map_table(study: Study) -> str:
    rows = []
    for name, found in study.digits.items():
        stable = sum(row.stable for row in found.map.rows)
        counts = [DIGITS[name], str(stable), str(len(found.map.rows) - stable)]
        v = found.map.validation
        if v is None:
            rows.append([*counts, *["–"] * 6, found.map.reason or "–"])
            continue
        rows.append([*counts, interval(v["auroc"]), interval(v["auroc_probability"]), interval(v["over_probability"]), interval(v["auroc_gamma"]),
                     interval(v["slope"], 2), f"{v['brier']['mean']:.4f}, {v['brier_of_share']:.4f}", f"{v['folds']} folds"])  # fmt: skip
    return table(["images", "stable", "not", "AUROC of the map, held out", "of P alone", "map − P", "of γ alone", "slope of calibration",
                  "Brier score, of the share alone", ""], rows)  # fmt: skip


def searches(study: Study) -> list[tuple[str, str, Search]]:
    """Title, procedure, both methods."""
    found = []
    for name, digits in study.digits.items():
        found += [(DIGITS[name], "program's", digits.search)] + ([(DIGITS[name], "paper's", digits.paper)] if digits.paper else [])
    return found + [(LITES[name].title, "program's", network.search) for name, network in study.networks.items() if network.search]


def search_table(study: Study) -> str:
    rows = []
    for title, how, found in searches(study):
        gamma, random = found.methods["gamma"], found.methods["random"]
        calls = [m["evaluations"] / m["rows"] for m in (gamma, random)]
        rows.append([title, how, str(gamma["rows"]), interval(gamma, 1, "share", 100), interval(random, 1, "share", 100),
                     interval(found.comparison, 1, "difference", 100), f"{found.comparison['p_value']:.1e}",
                     " / ".join("–" if m["steps"] is None else f"{m['steps']['median']:.0f}" for m in (gamma, random)),
                     " / ".join(f"{c:.0f}" for c in calls)])  # fmt: skip
    return table(["images", "search", "number", "γ: changed in %", "random: changed in %", "difference", "p", "median steps", "calls an image, mean"], rows)


def drawings(study: Study) -> list[tuple[str, Drawn]]:
    found = [(DIGITS[name], drawn) for name, digits in study.digits.items() for drawn in digits.drawn]
    side = study.size.side
    return found + [(f"{LITES[MAIN].title}, {side} × {side}", drawn) for drawn in study.drawn]


def covered(drawn: Drawn) -> tuple[int, int]:
    """Intervals of pairs that hold the whole ball's γ, and how many there are. One without an upper end has to be below it."""
    slack = [1e-9 * w.gamma for w in drawn.whole]
    rows = zip(drawn.pairs, drawn.whole, slack)
    return sum((p.low or 0) <= w.gamma + s and (p.high is None or w.gamma <= p.high + s) for p, w, s in rows), len(drawn.pairs)


def excess(drawn: Drawn, kind: str) -> Estimate:
    """Mean of the estimates over the whole balls' mean."""
    return ratio([g.gamma for g in (drawn.pairs if kind == "pairs" else drawn.points)], [w.gamma for w in drawn.whole])


def pair_table(study: Study) -> str:
    rows = []
    for title, drawn in drawings(study):
        whole = statistics.fmean(w.gamma for w in drawn.whole)
        hits, count = covered(drawn)
        ends = sum(p.high is None for p in drawn.pairs)
        means = [statistics.fmean(g.gamma for g in chosen) for chosen in (drawn.points, drawn.pairs)]
        rows.append([title, f"{drawn.radius:g}", str(drawn.calls), str(count), f"{whole:.5f}", f"{means[0]:.5f}", f"{means[0] - whole:.5f}", excess(drawn, "points").text(1),
                     f"{means[1]:.5f}", excess(drawn, "pairs").text(2), share(hits, count).text(1, 100), str(ends)])  # fmt: skip
    return table(["images", "r", "calls", "estimates", "γ, whole ball", "γ, single points", "excess", "times", "γ, pairs", "times",
                  "intervals of pairs that cover, in %", "without upper end"], rows)  # fmt: skip


def sections(study: Study) -> str:
    """All tables, each under its heading."""
    parts = []
    if study.networks:
        parts.append(("Table 3: photographs", network_table(study)))
    if len(study.networks) > 1:
        parts.append(("Ranking of the networks", ranking_table(study)))
    parts += [(f"Table 3: {DIGITS[name]}", class_table(found)) for name, found in study.digits.items()]
    if study.digits:
        parts += [("What goes with stability", correlation_table(study)), ("The map", map_table(study))]
    if searches(study):
        parts.append(("The search by γ against a random one", search_table(study)))
    return under_headings([*parts, ("Pairs and single points", pair_table(study))])


def records(study: Study) -> list[list[str]]:
    """The lines of numbers.csv."""
    found: list[list[str]] = []

    def add(quantity: str, model: str, setting: object, value: float, low: float | None, high: float | None, rows: int) -> None:
        found.append([quantity, model, str(setting), *("" if v is None else f"{v:.7g}" for v in (value, low, high)), str(rows)])

    def add_estimate(quantity: str, model: str, setting: object, e: Estimate) -> None:
        add(quantity, model, setting, e.value, e.low, e.high, e.rows)

    for name, how, measured in maps(study):
        for quantity, estimate in columns_of(measured).items():
            add_estimate(quantity, name, how, estimate)
    for name, network in study.networks.items():
        add_estimate("gamma", name, "20 single points", mean([g.gamma for g in network.paper_gamma]))
        add_estimate("steps", name, "pairs", mean([float(n) for n in network.steps]))
    for name, digits in study.digits.items():
        add("test_accuracy", name, "", digits.training["test_accuracy"], None, None, 10_000)
        for group in [*digits.map.classes, digits.map.all]:
            for quantity in ("logit", "mean_logit", "probability", "gamma", "score", "two_exponential", "drift"):
                entry = group[quantity]
                add(quantity, name, group["class"], entry["mean"], entry["low"], entry["high"], group["rows"])
            for quantity in ("accuracy", "stability"):
                entry = group[quantity]
                add(quantity, name, group["class"], entry["share"], entry["low"], entry["high"], entry["rows"])
        v = digits.map.validation
        for quantity in ("auroc", "auroc_probability", "auroc_gamma", "over_probability") if v else ():
            add(quantity, name, "held out", v[quantity]["value"], v[quantity]["low"], v[quantity]["high"], len(digits.map.rows))
    for title, how, search in searches(study):
        for method, entry in search.methods.items():
            add(f"changed_{method}", title, how, entry["share"], entry["low"], entry["high"], entry["rows"])
        c = search.comparison
        add("changed_difference", title, how, c["difference"], c["low"], c["high"], c["rows"])
    for title, drawn in drawings(study):
        add("gamma_whole", title, f"r {drawn.radius:g}, {drawn.calls} calls", statistics.fmean(w.gamma for w in drawn.whole), None, None, len(drawn.whole))
        for kind in ("points", "pairs"):
            add_estimate(f"times_whole_{kind}", title, f"r {drawn.radius:g}, {drawn.calls} calls", excess(drawn, kind))
        add_estimate("pairs_cover", title, f"r {drawn.radius:g}, {drawn.calls} calls", share(*covered(drawn)))
    return found


def photograph_checks(study: Study) -> list[Check]:
    found = []
    for name, network in study.networks.items():
        title, told = LITES[name].title, network.export
        worst = max(told["difference"], told["difference_paper"])
        found.append(Check(f"logits of {title} as ONNX are PyTorch's", f"{worst:.1e} apart at most", f"at most {SAME:g}", worst <= SAME))
        right, known = told["correct"], told["labelled"]
        found.append(Check(f"labelled photographs that {title} has right at its own size", f"{right} of {known}",
                           f"at least {RIGHT * known:g}", right >= RIGHT * known))  # fmt: skip
    return found


def digit_checks(study: Study, name: str, digits: Digits) -> list[Check]:
    accuracy, expected = digits.training["test_accuracy"], study.size.accuracy[name]
    rows = digits.map.rows
    differing = sum(row.decided != int(logits.argmax()) for row, logits in zip(rows, digits.logits, strict=True))
    apart = max(abs(row.logit - float(logits.max())) for row, logits in zip(rows, digits.logits, strict=True))
    return [
        Check(f"test accuracy on {DIGITS[name]}", f"{accuracy:.4f}", f"at least {expected:g}", accuracy >= expected),
        Check(f"classes of {DIGITS[name]} are PyTorch's", f"{differing} differ", "0", differing == 0),
        Check(f"logits of {DIGITS[name]} are PyTorch's", f"{apart:.1e} apart at most", f"at most {SAME:g}", apart <= SAME),
    ]


def search_check(title: str, found: Map, search: Search) -> Check:
    """One seed, one search: whoever asks for it."""
    lost, changed = sum(not row.stable for row in found.rows), search.methods["gamma"]["changed"]
    return Check(f"images of {title} that lose their class in the map and in the attack", f"{lost}, {changed}", "the same", lost == changed)


def checks(study: Study) -> list[Check]:
    """The networks are what they should be, the program's answers PyTorch's, searches the same from either command, and intervals of
    pairs cover as often as they say."""
    found = photograph_checks(study)
    for name, digits in study.digits.items():
        found += digit_checks(study, name, digits)
    found += [search_check(DIGITS[name], digits.map, digits.search) for name, digits in study.digits.items()]
    found += [search_check(LITES[name].title, network.map, network.search) for name, network in study.networks.items() if network.search]
    for title, drawn in drawings(study):
        hits, count = covered(drawn)
        least = NOMINAL - DEVIATIONS * math.sqrt(NOMINAL * (1 - NOMINAL) / count)
        found.append(Check(f"intervals of {drawn.calls // 2} pairs that cover the whole ball's γ, {title}, r = {drawn.radius:g}", f"{hits} of {count}",
                           f"at least {100 * least:.0f} %", hits >= least * count))  # fmt: skip
    return found
