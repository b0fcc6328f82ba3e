#!/usr/bin/env bash
# Adds up what ctest wrote to tests.xml in the build folders given, and says it in one last line.
set -euo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0 skipped=0
for folder in "$@"; do
  suite=$(tr '\n' ' ' <"$folder/tests.xml" | grep -o '<testsuite [^>]*>')
  number() { sed -nE "s/.* $1=\"([0-9]+)\".*/\1/p" <<<"$suite"; }
  out=$(($(number skipped) + $(number disabled)))
  failed=$((failed + $(number failures)))
  skipped=$((skipped + out))
  passed=$((passed + $(number tests) - $(number failures) - out))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
