"""What the alarms come to: tables in Markdown, and the checks that must hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from frame import Check, table, under_headings
from plan import BEFORE, GAMMA, RATE, WINDOWS
from tasks import CHANGES

if TYPE_CHECKING:
    from study import Study

QUARTILES = (25, 50, 75)
DOUBT = 0.005  # that a check of the rate of false alarms fails where the rate is right


@dataclass(frozen=True)
class Delay:
    """Streams of one kind under one method. The quartiles are over all streams without a false alarm; what was not found is infinitely late."""

    streams: int
    false_alarms: int
    found: int
    quartiles: tuple[float, float, float] | None

    @property
    def text(self) -> str:
        if not self.streams - self.false_alarms:
            return "–"
        share = f"{self.found} of {self.streams - self.false_alarms}"
        if self.quartiles is None or not self.found:
            return f"never, {share}"
        low, middle, high = (f"{v:.0f}" if np.isfinite(v) else "never" for v in self.quartiles)
        return f"{middle} [{low}, {high}], {share}"


def delay(alarms: list[int | None], change: str) -> Delay:
    if change == "none":
        return Delay(len(alarms), sum(a is not None for a in alarms), 0, None)
    late = [a - BEFORE if a is not None else np.inf for a in alarms if a is None or a > BEFORE]
    found = sum(np.isfinite(late))
    # By ranks: infinite delays have no mean to interpolate with.
    quartiles = tuple(float(np.percentile(late, q, method="higher")) for q in QUARTILES) if late else None
    return Delay(len(alarms), len(alarms) - len(late), int(found), quartiles)


def delays(study: Study) -> dict[tuple[str, str, str], Delay]:
    return {key: delay(alarms, key[1]) for key, alarms in study.alarms.items()}


def methods(study: Study) -> dict[str, str]:
    return {GAMMA: "gamma", **{f"inputs-{w}": f"{study.test} on inputs, windows of {w}" for w in WINDOWS}}


def records(study: Study) -> list[list]:
    rows = []
    for (task, change, method), found in delays(study).items():
        low, middle, high = found.quartiles or ("", "", "")
        rows.append([task, change, method, found.streams, found.false_alarms, found.found, middle, low, high])
    return rows


def change_table(study: Study) -> str:
    rows = []
    for task, watched in study.watched.items():
        for change, text in CHANGES.items():
            mean = study.gamma[task, change]
            rows.append([watched.task.title, text, f"{100 * watched.accuracy(change):.1f} %", f"{mean:.4f}",
                         f"{mean / study.gamma[task, 'none']:.2f}"])  # fmt: skip
    return table(["data", "change", "accuracy", "mean gamma", "over usual"], rows)


def false_alarm_table(study: Study) -> str:
    found = delays(study)
    rows = [[watched.task.title, *[f"{found[task, 'none', m].false_alarms} of {found[task, 'none', m].streams}" for m in methods(study)]]
            for task, watched in study.watched.items()]  # fmt: skip
    return table(["data", *methods(study).values()], rows)


def delay_table(study: Study) -> str:
    found = delays(study)
    rows = []
    for task, watched in study.watched.items():
        for change, text in CHANGES.items():
            if change != "none":
                rows.append([watched.task.title, text.split(":")[0] if change in ("covariate", "harmless") else text,
                             *[found[task, change, m].text for m in methods(study)]])  # fmt: skip
    return table(["data", "change", *methods(study).values()], rows)


def told_table(study: Study) -> str:
    rows = []
    for (task, change), alarms in study.told.items():
        found = [alarm for alarm in alarms if alarm["alarm"] and int(alarm["alarm"]) > BEFORE]
        if change == "none" or not found:
            continue
        begin = np.percentile([int(alarm["since"]) - BEFORE for alarm in found], QUARTILES)
        kinds = Counter(alarm["change"] for alarm in found)
        rows.append([study.watched[task].task.title, change, "{1:.0f} [{0:.0f}, {2:.0f}]".format(*begin),
                     ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()),
                     f"{sum(alarm['region'] != '' for alarm in found)} of {len(found)}"])  # fmt: skip
    return table(["data", "change", "since, rows after the truth", "kind", "surest in one region"], rows)


def sections(study: Study) -> str:
    return under_headings([
        ("What the changes do to the model", change_table(study)),
        ("False alarms in streams without a change", false_alarm_table(study)),
        ("Rows until a change is found: median [quartiles], streams in which it is", delay_table(study)),
        ("What gamma's alarms say", told_table(study)),
    ])  # fmt: skip


def checks(study: Study) -> list[Check]:
    found, result = delays(study), []
    for task, watched in study.watched.items():
        usual = found[task, "none", GAMMA]
        most = int(binom.ppf(1 - DOUBT, usual.streams, RATE))
        result.append(Check(f"false alarms, {watched.task.title}", f"{usual.false_alarms} of {usual.streams}", f"at most {most}",
                            usual.false_alarms <= most))  # fmt: skip
        broken = [found[task, change, GAMMA] for change in ("stuck", "scaled")]
        done, streams = sum(b.found for b in broken), sum(b.streams for b in broken)
        result.append(Check(f"gamma finds broken features, {watched.task.title}", f"{done} of {streams}", "more than half", 2 * done > streams))
    return result
