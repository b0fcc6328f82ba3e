#!/usr/bin/env bash
# Measures gamma of four functions whose gamma is known, and puts both side by side. Exit code 1 if they differ.
# HARMONIA_BUILD names the build folder if it is not build/.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
program=${HARMONIA_BUILD:-build}/harmonia
[ -x "$program" ] || { echo "demo-functions: no program $program; run 'make build' first" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# FUNCTION N HARMONIC BALL WHAT SPHERE EXPECTED: the closed forms on the sphere and on the ball's points.
measure() {
  "$program" gamma "fn:$1?n=$2" uniform:1000 --radius 1 --ball "$4" --quiet --csv "$folder/rows.csv"
  awk -F, -v name="$1" -v n="$2" -v harmonic="$3" -v ball="$4" -v what="$5" -v sphere="$6" -v expected="$7" '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    {
      value = $column["value"]; gamma = $column["gamma"]
      if (what == "gamma/|f|") gamma /= value < 0 ? -value : value
      count++; step = gamma - mean; mean += step / count; squares += step * (gamma - mean)
    }
    END {
      half = 1.962 * sqrt(squares / (count - 1) / count)
      error = mean - expected; if (error < 0) error = -error
      wrong = !(error <= 1e-7) || count != 1000
      printf "  %-8s %3d  %-8s  %-12s  %-9s  %9.6f  %9.6f  %9.6f [%.6f, %.6f]%s\n", name, n, harmonic, ball, what,
        sphere, expected, mean, mean - half, mean + half, wrong ? "  WRONG" : ""
      exit wrong
    }' "$folder/rows.csv" || failed=1
}

cat <<'END'
gamma = |average of f over a ball around x - f(x)|, at 1000 random points x of the unit cube, radius 1.
f1 = x0^2 - x1^2 + ...   f2 = x0^2 + x1^2 + ...   f3 = sin x0 * exp x1 * sin x2 * ...   f4 = exp(x0 + x1 + ...)
The gamma of f3 and f4 grows with the value, so for them it is divided by the value.

                                                    closed form on       measured:
  function   n  harmonic  ball          quantity    the sphere the ball  mean gamma, 95 % interval
END
measure f1 2 yes simplex+anti gamma 0 0
measure f1 10 yes simplex+anti gamma 0 0
measure f2 2 no simplex+anti gamma 1 1
measure f2 10 no simplex+anti gamma 1 1
measure f3 2 yes cross 'gamma/|f|' 0 0.0416914703
measure f3 10 yes cross 'gamma/|f|' 0 0.0416914703
measure f4 2 no cross 'gamma/|f|' 0.56608293 0.5430806348
measure f4 10 no cross 'gamma/|f|' 0.61759241 0.5430806348
measure f4 2 no simplex+anti 'gamma/|f|' 0.56608293 0.56645574
measure f4 10 no simplex+anti 'gamma/|f|' 0.61759241 1.0306833

[ "$failed" = 0 ] || { echo "demo-functions: a measured value is not its closed form" >&2; exit 1; }
cat <<END

Every measured value is its closed form. f3 and f4 show what a ball of few points is: exact for curvature, not for
what a function does beyond it within the radius. Next, a model of your own:

  $program gamma "cmd:python3 examples/score.py" examples/rows.csv --id customer --scale std --radius 0.5
END
