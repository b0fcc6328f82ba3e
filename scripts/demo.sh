#!/usr/bin/env bash
# The first split of the Wine study: trains its four models, measures them with the program, and ends with the path of a report.
# Where the Python packages cannot be had, it measures the models kept in examples/wine instead, and says so.
#   scripts/demo.sh [OUT]     default: out/demo
# HARMONIA_BUILD names the build folder if it is not build/.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${HARMONIA_BUILD:-build}
out=${1:-out/demo}
[ -x "$build/harmonia" ] || { echo "demo: no program $build/harmonia; run 'make build' first" >&2; exit 2; }
export PYTHONDONTWRITEBYTECODE=1
mkdir -p "$out"

if scripts/setup.sh study; then
  echo "demo: training four models on the Wine data with scikit-learn, and writing them as ONNX files"
  "$(scripts/setup.sh --venv study)/bin/python" experiments/wine/train.py --out "$out/models" --splits 0
  models=$out/models/split-0
else
  echo "demo: the Python packages cannot be had; measuring the four models kept in examples/wine, trained earlier in the same way"
  models=examples/wine
fi
python3 experiments/wine/demo.py --build "$build" --models "$models" --out "$out"
