#!/usr/bin/env bash
# Builds the fuzz targets and runs each for SECONDS. What it learns stays in build-fuzz/corpus, so that the next
# run goes on from there; an input that breaks something is left in build-fuzz/crashes.
# Usage: scripts/fuzz.sh SECONDS [TARGET...]
set -euo pipefail
seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
cd "$(dirname "$0")/.."

cmake --preset fuzz
cmake --build --preset fuzz --target harmonia_fuzz

targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
  for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "$source" .cpp)"); done
fi
for target in "${targets[@]}"; do
  corpus=build-fuzz/corpus/$target
  mkdir -p "$corpus" build-fuzz/crashes
  folders=("$corpus")
  if [[ -d tests/fuzz/seeds/$target ]]; then folders+=("tests/fuzz/seeds/$target"); fi
  echo "== $target, $seconds s"
  "build-fuzz/tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build-fuzz/crashes/$target-" "${folders[@]}"
done
