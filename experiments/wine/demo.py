"""Measures the four models of one split and puts them beside the paper's. Started by scripts/demo.sh; needs nothing but Python."""

import argparse
import json
import sys
from pathlib import Path

from measure import Program, differing_labels
from models import GRID_COUNTS, PAIRS, PUBLISHED, RADIUS, SETTINGS, TITLES, grid

RADII = "0.02,0.05,0.1,0.2,0.3,0.4,0.5"
WHAT = {
    "gbdt-1": "5 trees of depth 1, rate 0.1",
    "gbdt-2": "200 trees of depth 100, rate 1",
    "mlp-1": "100 units",
    "mlp-2": "100, 500 and 1000 units, no penalty",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    out: Path = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    program = Program(options.build, options.models)
    training = json.loads((options.models / "training.json").read_text(encoding="utf-8"))
    names = list(SETTINGS)

    found = program.compare(names, json_file=out / "compare.json")
    sweeps = {name: program.sweep(name, RADII, "--jitter", json_file=out / f"sweep-{name}.json") for name in names}
    differing = {name: differing_labels(training[name]["grid_labels"], found.classes[name]) for name in names}

    print(f"""
Which of two models bends its decisions more? No labels are asked for. The data is Wine, two features, 80 % of it for training;
gamma is that of the predicted class as a number, averaged over {GRID_COUNTS[0]} × {GRID_COUNTS[1]} points of the region that holds the data, r = {RADIUS}.

  model   {"":36}train  test   gamma, paper     gamma, measured, 95 % interval""")
    for name in names:
        paper, gamma, told = PUBLISHED[name], found.gamma[name], training[name]
        print(f"  {TITLES[name]:8}{WHAT[name]:36}{told['train_accuracy']:4.0%}  {told['test_accuracy']:4.0%}   {paper.gamma:.3f} ± {paper.error:.3f}"
              f"    {gamma.mean:.4f}  [{gamma.low:.4f}, {gamma.high:.4f}]")  # fmt: skip
    print()
    for first, second in PAIRS:
        ratio = found.gamma[second].mean / found.gamma[first].mean
        published = PUBLISHED[second].gamma / PUBLISHED[first].gamma
        difference = found.pairs[first, second]
        verdict = "told apart" if difference.verdict != "indistinguishable" else "indistinguishable"
        print(f"  {TITLES[second]} / {TITLES[first]}: {ratio:.2f}, paper {published:.2f}; difference {-difference.difference:.4f} "
              f"[{-difference.high:.4f}, {-difference.low:.4f}], {verdict}")  # fmt: skip
    print("\n  gamma against the radius\n  r     " + "".join(f"{TITLES[name]:>9}" for name in names))
    for radius in sweeps[names[0]]:
        print(f"  {radius:<6g}" + "".join(f"{sweeps[name][radius].mean:9.4f}" for name in names))
    print(f"\nThis is one split of ten; experiments/wine/README.md has all of them, and what the numbers do not say.")
    report = out / "report.html"
    program.call("report", out / "compare.json", *(out / f"sweep-{name}.json" for name in names), "-o", report)

    wrong = [f"{TITLES[name]}: {count} labels on {grid()} are not scikit-learn's" for name, count in differing.items() if count]
    wrong += [f"{TITLES[b]} is not above {TITLES[a]}" for a, b in PAIRS if found.gamma[b].mean <= found.gamma[a].mean]
    for line in wrong:
        print(f"demo: {line}", file=sys.stderr)
    print(f"The report, one page that opens without a network: {report}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
