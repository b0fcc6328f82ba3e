"""When a change is noticed: the monitor's detectors on gamma beside a test of the inputs, at the same rate of false alarms. Started by `run`."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from findings import checks, records, sections
from frame import conclude, option_parser, write_numbers
from input_tests import Test, alibi_detect, first_alarm, plain
from plan import AFTER, BEFORE, FULL, GAMMA, QUICK, RADIUS, RATE, REFERENCE, WINDOWS, Size
from program import Program
from tasks import CHANGES, SEED, TASKS, Watched, make


@dataclass
class Study:
    """alarms: by task, change and method, rows that had come in every stream when an alarm was raised; None: none was."""

    size: Size
    test: str
    watched: dict[str, Watched] = field(default_factory=dict)
    gamma: dict[tuple[str, str], float] = field(default_factory=dict)  # its mean, by task and change
    alarms: dict[tuple[str, str, str], list[int | None]] = field(default_factory=dict)
    told: dict[tuple[str, str], list[dict[str, str]]] = field(default_factory=dict)  # what gamma's alarms say, by task and change


def draw_streams(weights: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Numbers of rows in the pools: a stream a row, the baseline's rows first."""
    random = np.random.default_rng(seed)
    before = random.integers(len(weights), size=(count, REFERENCE + BEFORE))
    after = random.choice(len(weights), size=(count, AFTER), p=weights / weights.sum())
    return np.hstack([before, after])


def gamma_alarms(program: Path, folder: Path, change: str, streams: np.ndarray) -> list[dict[str, str]]:
    """One a stream; without an alarm its fields are empty."""
    np.save(folder / f"streams-{change}.npy", streams.astype(np.float64))
    command = [program, "none.npy", f"{change}.npy", f"streams-{change}.npy", REFERENCE, BEFORE, RATE]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} in {folder} failed: {done.stderr.strip()}")
    (folder / f"alarms-{change}.csv").write_text(done.stdout, encoding="utf-8")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def input_alarms(test: Test, usual: np.ndarray, changed: np.ndarray, streams: np.ndarray, window: int) -> list[int | None]:
    found = []
    for numbers in streams:
        before, after = numbers[REFERENCE : REFERENCE + BEFORE], numbers[REFERENCE + BEFORE :]
        found.append(first_alarm(test, usual[numbers[:REFERENCE]], np.vstack([usual[before], changed[after]]), window, RATE))
    return found


def measure(name: str, study: Study, test: Test, build: Path, folder: Path, reuse: bool) -> None:
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    watched = study.watched[name] = make(name, study.size.pool, folder)
    program = Program(build, folder, reuse)
    usual = watched.pools["none"].rows
    for number, (change, pool) in enumerate(watched.pools.items()):
        np.save(folder / f"{change}-rows.npy", pool.rows)
        rows = program.result(f"gamma-{change}.json", "gamma", "model.json", f"{change}-rows.npy", "--radius", RADIUS)["rows"]
        gamma = np.array([row["gamma"] for row in rows])
        study.gamma[name, change] = float(np.average(gamma, weights=pool.weights))
        np.save(folder / f"{change}.npy", np.column_stack([pool.rows, gamma]))
        count = study.size.usual_streams if change == "none" else study.size.changed_streams
        streams = draw_streams(pool.weights, count, SEED + number)
        told = study.told[name, change] = gamma_alarms((build / "experiments" / "monitor").resolve(), folder, change, streams)
        study.alarms[name, change, GAMMA] = [int(alarm["alarm"]) if alarm["alarm"] else None for alarm in told]
        for window in WINDOWS:
            study.alarms[name, change, f"inputs-{window}"] = input_alarms(test, usual, pool.rows, streams[: study.size.changed_streams], window)
    print(f"  {watched.task.title}: watched in {time.monotonic() - began:.0f} s", flush=True)


def main() -> int:
    parser = option_parser(__doc__, quick="20 streams without a change, 5 of every change", reuse="take what an earlier run measured of gamma",
                           out="folder for models, pools, streams and results [out/monitor]")  # fmt: skip
    parser.add_argument("--plain", action="store_true", help="the test of the inputs from SciPy instead of alibi-detect")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS), help="data sets [all]")
    options = parser.parse_args()
    out: Path = (options.out or options.default_out).resolve()

    start = time.monotonic()
    study = Study(QUICK if options.quick else FULL, "SciPy" if options.plain else "alibi-detect")
    test = plain if options.plain else alibi_detect()
    print(f"Watching {len(CHANGES)} kinds of stream on {len(options.tasks)} data set{'s' if len(options.tasks) > 1 else ''}", flush=True)
    for name in options.tasks:
        measure(name, study, test, options.build, out / name, options.reuse)
    write_numbers(out / "numbers.csv", ["task", "change", "method", "streams", "false_alarms", "found", "delay", "low", "high"], records(study))

    def draw() -> None:
        import plots

        plots.draw(study, out)

    return conclude("monitor", out, sections(study), checks(study), None if options.no_plots else draw, start)


if __name__ == "__main__":
    sys.exit(main())
