"""What the studies have in common: their options, tables and checks, and how they end. `run` puts this folder on Python's path."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Check:
    """Something that must hold whatever is measured."""

    what: str
    measured: str
    expected: str
    holds: bool


def table(header: list[str], rows: list[list[str]]) -> str:
    """In Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(lines) + "\n"


def under_headings(parts: Iterable[tuple[str, str]]) -> str:
    """Tables, each under its heading."""
    return "\n".join(f"### {title}\n\n{text}" for title, text in parts)


def show(found: list[Check]) -> None:
    for check in found:
        print(f"  {'holds ' if check.holds else 'FAILS '} {check.what}: {check.measured}; expected {check.expected}")


def option_parser(description: str | None, quick: str, reuse: str, out: str) -> argparse.ArgumentParser:
    """The options of every study; `quick`, `reuse` and `out` say what they do in this one."""
    parser = argparse.ArgumentParser(prog="run", description=description)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--reuse", action="store_true", help=reuse)
    parser.add_argument("--no-plots", action="store_true", help="numbers alone")
    parser.add_argument("--out", type=Path, help=out)
    parser.add_argument("--build", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--default-out", type=Path, required=True, help=argparse.SUPPRESS)
    return parser


def add_jobs(parser: argparse.ArgumentParser, what: str) -> None:
    """`--jobs`, how many of `what` are made at a time."""

    def at_least_one(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise argparse.ArgumentTypeError(f"is {text}; expected a whole number, at least 1")
        return int(text)

    parser.add_argument("--jobs", type=at_least_one, default=1, help=f"{what} at a time; what is found does not depend on it [1]")


def write_numbers(path: Path, header: list[str], rows: Iterable[list]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def conclude(name: str, out: Path, text: str, found: list[Check], draw: Callable[[], None] | None, start: float) -> int:
    """Writes and prints the tables, then the checks; draws, if there is something to draw with. The exit code: 1 if a check fails."""
    (out / "tables.md").write_text(text, encoding="utf-8")
    print(f"\n{text}")
    show(found)
    if draw:
        draw()
    print(f"numbers, tables{', plots' if draw else ''} and models: {out} ({time.monotonic() - start:.0f} s)")
    failed = [check for check in found if not check.holds]
    if failed:
        print(f"{name}: {len(failed)} of {len(found)} checks fail: {'; '.join(check.what for check in failed)}", file=sys.stderr)
    return 1 if failed else 0
