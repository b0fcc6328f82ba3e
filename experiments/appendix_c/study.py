"""The statements of the paper's appendix C, each beside its measurement. Started by `run`."""

import argparse
import math
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measure import FIXED_BALLS, FULL, MANY, QUICK, SEED, Laboratory, Record, Records, Size, f3_on_cross, f4_closed_form
from measure import sphere_gamma


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, what was measured, and what it comes to; `sound` if the measured numbers are the
    closed form's, so that the verdict may be believed."""

    statement: str
    measured: str
    verdict: str
    sound: bool


def estimate(record: Record, digits: int = 3) -> str:
    return f"{record.value:.{digits}f} [{record.low:.{digits}f}, {record.high:.{digits}f}]"


def close(value: float, expected: float, relative: float) -> bool:
    return abs(value - expected) <= relative * abs(expected)


def listed(ns: list[int], text: Callable[[int], str]) -> str:
    return "; ".join(f"n={n}: {text(n)}" for n in ns)


def slope(records: list[Record]) -> tuple[float, float]:
    """The exponent of value ~ n^exponent by least squares on logarithms, and its 95 % half-width from the intervals."""
    xs = [math.log(r.n) for r in records]
    centre = sum(xs) / len(xs)
    square = sum((x - centre) ** 2 for x in xs)
    weights = [(x - centre) / square for x in xs]
    exponent = sum(w * math.log(r.value) for w, r in zip(weights, records))
    half = math.sqrt(sum((w * (r.high - r.low) / 2 / r.value) ** 2 for w, r in zip(weights, records)))
    return exponent, half


def coverage_findings(records: Records, size: Size) -> list[Finding]:
    """Figure 11."""
    random = records.of("sum_squared", "random")
    exponent, half = slope(random)
    golden = {2: 1.2732, 10: 3.090, 50: 7.038}
    shown = [n for n in golden if n in size.dimensions]
    last = max(size.dimensions)
    mean_length = records.get("sum", "random", last).value / last
    central = max(r.value for ball in ("simplex", "simplex+anti", "cross") for r in records.of("sum", ball))
    dropped = [r.value for r in records.of("sum", "simplex-less-one")]
    rotated, single = (records.get("angles_to_axis", ball, 10) for ball in ("rotated-simplex", "random"))
    axis = records.get("angles_to_axis", "simplex", 10).value
    towards = max(r.value for r in records.of("angles_to_diagonal", "simplex-less-one"))
    lengths = max(r.value for (quantity, _, _), r in records.all.items() if quantity == "length_error")
    narrowing = [records.get("angles_to_axis", "random", n) for n in (2, 10, last)]
    return [
        Finding(
            "The sum of n random unit vectors grows as √n",
            f"exponent of its root mean square {exponent / 2:.3f} ± {half / 2:.3f}; mean length "
            + listed(shown, lambda n: estimate(records.get("sum", "random", n), 2)),
            "holds",
            abs(exponent / 2 - 0.5) < 0.02
            and all(close(records.get("sum", "random", n).value, golden[n], 0.1) for n in shown)
            and all(close(r.value, r.n, 0.2) for r in random),
        ),
        Finding(
            "Random vectors never become symmetric",
            f"their mean, which is what gamma uses, shrinks as 1/√n: length {mean_length:.3f} at n={last}",
            "holds for the sum, not for the mean",
            close(mean_length, 1 / math.sqrt(last), 0.1),
        ),
        Finding(
            "The angles of random vectors to a fixed one spread less and less as n grows",
            "standard deviation " + listed([r.n for r in narrowing], lambda n: estimate(records.get("angles_to_axis", "random", n))),
            "holds: about 1/√n",
            close(narrowing[-1].value * math.sqrt(last), 1, 0.1),
        ),
        Finding(
            "The simplex is perfectly centred",
            f"length of the sum at most {central:.1e} for n + 1 vertices, simplex+anti and cross; "
            f"1 within {max(abs(d - 1) for d in dropped):.0e} for the n vertices that the paper keeps",
            "holds for n + 1 vertices, not for n",
            central < 1e-12 and max(abs(d - 1) for d in dropped) < 1e-12 and lengths < 1e-7,
        ),
        Finding(
            "The simplex is perfectly isotropic: its angles to a fixed vector do not spread",
            f"standard deviation at n=10: {axis:.3f} to an axis, {estimate(rotated)} over random rotations; random "
            f"vectors {estimate(single)}. It is 0 (at most {towards:.1e}) for n vertices seen from the one left out",
            "wrong: it spreads as random vectors do",
            close(rotated.value, 0.30, 0.15) and towards < 1e-6,
        ),
    ]


def square_findings(records: Records, size: Size) -> list[Finding]:
    """Figure 12."""
    even = [n for n in size.dimensions if n % 2 == 0]
    balls = [*FIXED_BALLS, "rotated"]
    f1_even = max(records.get("farthest_f1", "simplex", n).value for n in even)
    f1_odd = max(r.value for r in records.of("farthest_f1", "simplex") if r.n % 2 == 1)
    f1_all = max(r.value for ball in balls for r in records.of("farthest_f1", ball))
    f2_simplex = max(r.value for r in records.of("farthest_f2", "simplex"))
    f2_all = max(r.value for ball in balls for r in records.of("farthest_f2", ball))
    golden = {2: 0.769, 10: 0.307, 20: 0.212, 50: 0.132}
    shown = [n for n in golden if n in size.dimensions]
    exponent, half = slope([r for r in records.of("gamma_f1", "random") if r.n % 2 == 0])
    scatter = {n: records.get("gamma_f2", "random", n) for n in shown}
    less_f1, less_f2 = records.get("gamma_f1", "simplex-less-one", 10), records.of("gamma_f2", "simplex-less-one")
    return [
        Finding(
            "On the simplex γ of f1 is 0 for all n",
            f"at most {f1_even:.1e} for even n; 1/n within {f1_odd:.1e} for odd n, as on the sphere",
            "holds for an even number of variables; else f1 is not harmonic",
            f1_all < 1e-12,
        ),
        Finding(
            "On the simplex γ of f2 is 1 for all n",
            f"1 within {f2_simplex:.1e}; on simplex+anti, cross and rotated within {f2_all:.1e}",
            "holds",
            f2_all < 1e-11,
        ),
        Finding(
            "n vertices are enough: the last may be left out",
            f"γ of f2 is then {estimate(records.get('gamma_f2', 'simplex-less-one', 10))} at n=10 (1 + 1/√n = {1 + 1 / math.sqrt(10):.3f}), "
            f"γ of f1 {estimate(less_f1)}",
            "wrong: the values of figure 12 need all n + 1",
            all(abs(r.value - 1 - 1 / math.sqrt(r.n)) < 2 * (r.high - r.low) / 2 for r in less_f2),
        ),
        Finding(
            "Random vectors find f1 less well; slowly better as n grows",
            "mean γ of f1 " + listed(shown, lambda n: estimate(records.get("gamma_f1", "random", n)))
            + f"; exponent {exponent:.2f} ± {half:.2f}",
            "holds: about as 1/√n",
            all(close(records.get("gamma_f1", "random", n).value, golden[n], 0.03) for n in shown)
            and abs(exponent + 0.5) < 0.1,
        ),
        Finding(
            "Random vectors find f2 less well",
            "mean γ of f2 " + listed(shown, lambda n: f"{estimate(scatter[n])}, deviation over points {scatter[n].deviation:.2f}"),
            "holds for single points; the mean is close to 1",
            all(abs(scatter[n].value - 1) < 0.2 for n in shown),
        ),
    ]  # fmt: skip


def product_findings(records: Records, size: Size) -> list[Finding]:
    """Figure 13."""
    shown = [n for n in (2, 10, 50) if n in size.dimensions]
    even = [n for n in size.dimensions if n % 2 == 0]
    true = {n: sphere_gamma("f4", n) for n in size.dimensions}
    f3 = {ball: records.get("relative_f3", ball, 10) for ball in (*FIXED_BALLS, "random", "rotated")}
    f4 = {ball: records.get("relative_f4", ball, 10) for ball in (*FIXED_BALLS, "random", "rotated")}
    mean = {f: records.get(f"gamma_{f}", "simplex", 10).value for f in ("f3", "f4")}
    mean_size = {f: records.get(f"size_{f}", "simplex", 10).value for f in ("f3", "f4")}
    closed = max(
        abs(records.get("relative_f4", ball, n).value / f4_closed_form(ball, n) - 1)
        for ball in FIXED_BALLS
        for n in size.dimensions
    )
    cross = max(abs(r.value / f3_on_cross(r.n) - 1) for r in records.of("relative_f3", "cross"))
    error = {
        (function, ball, n): records.get(f"error_{function}", ball, n)
        for function in ("f3", "f4") for ball in ("simplex", "random", "rotated") for n in shown
    }  # fmt: skip

    def errors(function: str, ball: str) -> str:
        return " / ".join(f"{error[function, ball, n].value:.3f}" for n in shown)

    ns = "/".join(str(n) for n in shown)
    lower = {ball: f3[ball].value < f4[ball].value for ball in ("simplex", "anti", "simplex+anti", "cross")}
    rotations = [records.get("relative_f4", f"rotated:{MANY}", n) for n in shown]
    return [
        Finding(
            "On the simplex γ of f3 is not quite 0",
            "median γ/|f3| " + listed(shown, lambda n: estimate(records.get("relative_f3", "simplex", n)))
            + f"; the sphere's value is 0 for even n. On the cross {f3['cross'].value:.4f} for even n, as it must be",
            "holds; relative to the value it grows with n",
            cross < 1e-6,
        ),
        Finding(
            "On the simplex γ of f3 is much lower than of f4",
            f"n=10: mean γ {mean['f4'] / mean['f3']:.0f} times lower, but mean |f3| is {mean_size['f4'] / mean_size['f3']:.0f} times lower too. "
            f"Mean γ over mean |f|: {mean['f3'] / mean_size['f3']:.3f} against {mean['f4'] / mean_size['f4']:.3f}. Median of γ/|f|: "
            + "; ".join(f"{ball} {f3[ball].value:.3f} against {f4[ball].value:.3f}" for ball in lower),
            "because f3 itself is lower; point by point, relative to the value, "
            + ("not lower on " + ", ".join(b for b, low in lower.items() if not low) if not all(lower.values()) else "lower by less"),
            True,
        ),
        Finding(
            "The simplex measures f4 well (no value is given)",
            f"n=10: {f4['simplex'].value:.4f}, the sphere's value is {true[10]:.4f}; mirrored {f4['anti'].value:.4f}, both "
            f"{f4['simplex+anti'].value:.4f}, cross {f4['cross'].value:.4f}; all within {closed:.0e} of their closed forms",
            "biased: the simplex has a handedness",
            closed < 1e-7,
        ),
        Finding(
            "(not in the paper) random rotations take the bias away",
            f"mean γ/f4 over {MANY * size.rotations} rotations "
            + listed(shown, lambda n: f"{estimate(records.get('relative_f4', f'rotated:{MANY}', n), 4)}, sphere {true[n]:.4f}"),
            "rotate where the function is skew",
            all(abs(r.value - true[r.n]) <= 2 * (r.high - r.low) / 2 for r in rotations),
        ),
        Finding(
            "On f3 and f4 the simplex is better than random vectors",
            f"median distance from the sphere's γ/|f|, n={ns}: f3 simplex {errors('f3', 'simplex')}, random {errors('f3', 'random')}, "
            f"rotated {errors('f3', 'rotated')}; f4 simplex {errors('f4', 'simplex')}, random {errors('f4', 'random')}, "
            f"rotated {errors('f4', 'rotated')}",
            "; ".join(
                f"{function}: " + ("holds" if not worse else "not at n=" + ", ".join(map(str, worse)))
                for function in ("f3", "f4")
                for worse in [[n for n in shown if error[function, "simplex", n].value >= error[function, "random", n].value]]
            ),
            len(even) > 0,
        ),
    ]  # fmt: skip


def show(findings: list[Finding]) -> None:
    """As a table of three columns on the terminal."""
    widths = (38, 70, 30)
    rule = "-+-".join("-" * width for width in widths)

    def line(cells: tuple[str, str, str]) -> None:
        wrapped = [textwrap.wrap(cell, width) for cell, width in zip(cells, widths)]
        for i in range(max(map(len, wrapped))):
            print(" | ".join((part[i] if i < len(part) else "").ljust(width) for part, width in zip(wrapped, widths)).rstrip())
        print(rule)

    print(rule)
    line(("STATEMENT OF THE PAPER", "MEASURED", "VERDICT"))
    for finding in findings:
        line((finding.statement, finding.measured, finding.verdict if finding.sound else "NOT REPRODUCED"))


def write_markdown(findings: list[Finding], path: Path) -> None:
    rows = ["| the paper | measured | verdict |", "|---|---|---|"]
    for f in findings:
        cells = (f.statement, f.measured, f"**{f.verdict}**" if f.sound else "**NOT REPRODUCED**")
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer dimensions and repeats")
    parser.add_argument("--no-plots", action="store_true", help="numbers alone; needs no package")
    parser.add_argument("--out", type=Path, help="folder for the results [out/appendix_c]")
    parser.add_argument("--build", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--default-out", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    out: Path = options.out or options.default_out
    out.mkdir(parents=True, exist_ok=True)
    size = QUICK if options.quick else FULL

    start = time.monotonic()
    records = Laboratory(options.build, size).measure()
    findings = [f for part in (coverage_findings, square_findings, product_findings) for f in part(records, size)]
    show(findings)
    print(f"In brackets: 95 % intervals. Seed {SEED}; rotations have seeds 1 to {size.rotations}. γ: r = 1, {size.rows} "
          f"points of the unit cube.\nSums and angles: {size.repeats} repeats. {time.monotonic() - start:.0f} s")  # fmt: skip
    records.write(out / "numbers.csv")
    write_markdown(findings, out / "findings.md")
    if not options.no_plots:
        import plots

        plots.draw(records, out)
    print(f"numbers, table{'' if options.no_plots else ' and plots'}: {out}")
    return 0 if all(finding.sound for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
