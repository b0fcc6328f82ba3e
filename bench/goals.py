#!/usr/bin/env python3
"""Sums up what the benchmarks say of the goals of docs/performance.md: every ratio, and one line a goal.

    python3 bench/goals.py OUTPUT CSV

OUTPUT is what the programs printed; its lines of goals are written to CSV as well. A goal that no program measured is
an error: there was nothing to measure it with, or a program was left out.
"""

import csv
import re
import sys
from pathlib import Path

LINE = re.compile(r"^ *(\d+)  (.*?) +(>=|<=) +(\S+) +(\S+)  (pass|short)$")
NO_GOAL = re.compile(r"^ *(\d+)  (.*?) +no goal +(\S+)$")
NAMES = {
    1: "black box / raw engine",
    2: "trees, cross, in row-evals",
    3: "trees, simplex+anti, in row-evals",
    4: "tree engine / XGBoost's, one thread",
    5: "trees end to end / a Python user's batch",
    6: "dense network / OpenBLAS",
    7: "one hidden layer, in row-evals",
    8: "networks: error of float32 / ours",
    9: "normals / std::normal_distribution",
    10: "resident memory / what a batch needs",
}


def main(output: Path, table: Path) -> int:
    lines = output.read_text().splitlines()
    found = [m.groups() for m in map(LINE.match, lines) if m]
    beside = [m.groups() for m in map(NO_GOAL.match, lines) if m]
    found.sort(key=lambda line: int(line[0]))
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["goal", "what", "sign", "wanted", "measured", "verdict"])
        writer.writerows(found)
        writer.writerows((number, what, "", "", measured, "no goal") for number, what, measured in beside)
    for number, what, sign, wanted, measured, verdict in found:
        print(f"{number:>2}  {what:<58} {sign} {wanted:<6} {measured:>9}  {verdict}")
    for number, what, measured in beside:
        print(f"{number:>2}  {what:<58} no goal   {measured:>9}")
    print(f"\n{'goal':<44} {'cases that pass':>15}   {'nearest to failing, or furthest from passing':<52}")
    missing = 0
    for number, name in NAMES.items():
        lines = [line for line in found if int(line[0]) == number]
        if not lines:
            print(f"{number:>2}  {name:<40} {'not measured':>15}")
            missing += 1
            continue
        # By how far a case is from its own goal: some goals differ from case to case.
        worst = min(lines, key=lambda line: (float(line[4]) / float(line[3])) ** (1 if line[2] == ">=" else -1))
        passed = sum(line[5] == "pass" for line in lines)
        verdict = "pass" if passed == len(lines) else "short"
        print(f"{number:>2}  {name:<40} {f'{passed} of {len(lines)}':>15}   {worst[4]:>9} {worst[2]} {worst[3]:<6} {verdict:<6} {worst[1]}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
