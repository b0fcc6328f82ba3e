#!/usr/bin/env bash
# Adds up what ctest wrote to tests.xml in the build folders given, and says it in one last line.
set -euo pipefail
cd "$(dirname "$0")/.."

# number FILE NAME: the attribute NAME of the one <testsuite> in FILE.
number() {
  local value
  value=$(tr '\n\t' '  ' <"$1" | grep -o '<testsuite [^>]*>' | grep -oE " $2=\"[0-9]+\"" | tr -dc '0-9')
  [ -n "$value" ] || { echo "count_tests: $1 does not say how many tests are $2" >&2; exit 1; }
  echo "$value"
}

total=0 failed=0 skipped=0
for folder in "$@"; do
  file=$folder/tests.xml
  n=$(number "$file" tests); total=$((total + n))
  n=$(number "$file" failures); failed=$((failed + n))
  n=$(number "$file" skipped); skipped=$((skipped + n))
  n=$(number "$file" disabled); skipped=$((skipped + n))
done
passed=$((total - failed - skipped))
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
