"""gamma of plain facts and of nonsense in a real language model. Started by `run`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from frame import Check, conclude, option_parser, table, under_headings, write_numbers
from llama_server import MODEL, running_llama_server

HERE = Path(__file__).resolve().parent
DOMAINS = ("facts", "nonsense")
FAMILIES = ("appended", "typing")
QUICK_PROMPTS = 2  # of each domain


def chosen_prompts(out: Path, quick: bool) -> Path:
    """The twenty prompts, or a few of each domain."""
    if not quick:
        return HERE / "prompts.csv"
    header, *lines = (HERE / "prompts.csv").read_text(encoding="utf-8").splitlines()
    kept = [line for domain in DOMAINS for line in [x for x in lines if f",{domain}," in x][:QUICK_PROMPTS]]
    path = out / "prompts.csv"
    path.write_text("\n".join([header, *kept]) + "\n", encoding="utf-8")
    return path


def measure(options, out: Path) -> dict:
    """One run of the program at temperature 0."""
    families = FAMILIES[:1] if options.quick else FAMILIES
    variants, repeats, tokens = (4, 1, 16) if options.quick else (10, 3, 48)
    # One slot, so that what else is asked meanwhile cannot change an answer.
    with running_llama_server(options.llm, "--parallel", "1") as url:
        command = [options.build / "harmonia", "text", "--chat", f"{url}/v1", "--model", MODEL, "--embed", f"local:{options.embedder}",
                   "--prompts", chosen_prompts(out, options.quick), "--family", ",".join(families), "--variants", variants,
                   "--repeats", repeats, "--max-tokens", tokens, "--in-flight", 2, "--store", out / "answers.sqlite",
                   "--json", out / "result.json"]  # fmt: skip
        done = subprocess.run(list(map(str, command)), check=False)
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    return json.loads((out / "result.json").read_text(encoding="utf-8"))


def mean_interval(values: list[float]) -> tuple[float, float, float]:
    """Mean and Student's 95 % interval."""
    import numpy as np
    from scipy import stats

    mean = float(np.mean(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return mean, mean - half, mean + half


def rows_of(result: dict, family: str, domain: str) -> list[dict]:
    return [row for row in result["rows"] if row["family"] == family and row["domain"] == domain and row["gamma"] is not None]


def tables(result: dict) -> str:
    families = result["options"]["families"]
    compared = []
    for family in families:
        cells = [family]
        for domain in DOMAINS:
            rows = rows_of(result, family, domain)
            mean, low, high = mean_interval([row["gamma"] for row in rows])
            changed = sum(row["changed"] for row in rows) / sum(row["variants"] for row in rows)
            cells += [f"{mean:.3f} [{low:.3f}, {high:.3f}]", f"{100 * changed:.0f} %"]
        compared.append(cells)
    first = [row for row in result["rows"] if row["family"] == families[0]]
    prompts = [[row["id"], row["prompt"], f"{row['gamma']:.3f} [{row['low']:.3f}, {row['high']:.3f}]", f"{row['floor']:.3f}", f"{row['paper']:.3f}", row["band"],
                row["answer"].replace("\n", " ")[:70].replace("|", "/")] for row in first if row["gamma"] is not None]  # fmt: skip
    return under_headings([
        ("By family", table(["variants", "facts: mean gamma", "answers changed", "nonsense: mean gamma", "answers changed"], compared)),
        (f"The prompts, {families[0]} variants", table(["", "prompt", "gamma (radians)", "floor", "paper", "band", "answer begins"], prompts)),
    ])  # fmt: skip


def checks(result: dict) -> list[Check]:
    measured = [row for row in result["rows"] if row["outcome"] == "measured"]
    floors = max(row["floor"] for row in measured)
    inside = all(row["low"] <= row["gamma"] <= row["high"] for row in measured)
    same = [row for row in measured if row["changed"] == 0]
    return [
        Check("every prompt is measured in every family", f"{len(measured)} of {len(result['rows'])}", "all", len(measured) == len(result["rows"])),
        Check("repeats at temperature 0 are the same answer", f"largest floor {floors:g}", "0", floors == 0),
        Check("identical answers give exactly 0", f"{len(same)} rows", "gamma 0", all(row["gamma"] == 0 for row in same)),
        Check("gamma lies in its interval", f"{len(measured)} rows", "all", inside),
    ]


def plot(result: dict, out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    families = result["options"]["families"]
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for shift, (domain, colour) in enumerate(zip(DOMAINS, ("tab:blue", "tab:orange"), strict=True)):
        for i, family in enumerate(families):
            values = [row["gamma"] for row in rows_of(result, family, domain)]
            place = i + 0.32 * shift - 0.16
            axes.scatter([place] * len(values), values, s=14, alpha=0.5, color=colour, label=domain if i == 0 else None)
            mean, low, high = mean_interval(values)
            axes.errorbar(place + 0.09, mean, [[mean - low], [high - mean]], fmt="o", color=colour, capsize=3)
    axes.set_xticks(range(len(families)), families)
    axes.set_ylabel("gamma (radians)")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    axes.set_title(f"{MODEL}: gamma of facts and of nonsense, temperature 0")
    figure.savefig(out / "families.png", dpi=130)


def main() -> int:
    parser = option_parser(__doc__, quick="two prompts of each kind, four variants of one family, short answers",
                           reuse="as always: what was answered is not asked again", out="folder for answers and results [out/text]")  # fmt: skip
    parser.add_argument("--llm", type=Path, required=True, help="folder of llama-server and a model [what scripts/setup.sh llm makes]")
    parser.add_argument("--embedder", type=Path, required=True, help="folder of the embedder [what scripts/setup.sh embedder makes]")
    options = parser.parse_args()
    out: Path = (options.out or options.default_out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    result = measure(options, out)
    fields = ["family", "domain", "id", "gamma", "low", "high", "plain", "floor", "excess", "resultant", "paper", "band", "variants", "changed", "isotropy"]
    write_numbers(out / "numbers.csv", fields, ([row[field] for field in fields] for row in result["rows"]))
    draw = None if options.no_plots else lambda: plot(result, out)
    return conclude("text", out, tables(result), checks(result), draw, start)


if __name__ == "__main__":
    sys.exit(main())
