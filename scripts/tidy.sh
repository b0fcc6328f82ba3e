#!/usr/bin/env bash
# Runs clang-tidy over the C++ files that build/ compiles, as many at a time as there are cores. A file that was
# clean is not read again until it, a header of ours, a list of checks or a compiler flag changes.
#   scripts/tidy.sh [FILE...]   default: all of src/, apps/, tests/, bench/ and experiments/,
#                               and python/ where its extension was built
set -euo pipefail
cd "$(dirname "$0")/.."

database=build/compile_commands.json
[ -e "$database" ] || { echo "tidy: no $database; run 'make build' first" >&2; exit 2; }
cache=${HARMONIA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/harmonia}/tidy
mkdir -p "$cache"

if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(find src apps tests bench experiments -name '*.cpp' -not -path 'tests/fuzz/*' | sort)
  [ ! -e build-python/compile_commands.json ] || files+=(python/src/*.cpp)
fi

# What all files share: the checks, the headers, and the flags, without the place of the checkout.
shared=$({
  clang-tidy --version
  find include src apps python tests bench experiments -name '*.hpp' -print0 | sort -z | xargs -0 cat
  cat .clang-tidy tests/.clang-tidy scripts/tidy.sh
  grep '"command"' "$database" | sed "s#$PWD##g" | grep -oE ' -[DfIiWsm][^ ]*' | sort -u
} | sha256sum | cut -d' ' -f1)

check() {
  local file=$1 stamp output folder
  stamp=$cache/$({ echo "$shared $file"; cat "$file"; } | sha256sum | cut -d' ' -f1)
  [ ! -e "$stamp" ] || return 0
  # The Python extension is built in a folder of its own (scripts/wheel.sh).
  case $file in python/*) folder=build-python ;; *) folder=build ;; esac
  if output=$(clang-tidy -p "$folder" --quiet --extra-arg=-Wno-unknown-warning-option "$file" 2>/dev/null); then
    touch "$stamp"
    echo "tidy: $file"
  else
    printf 'tidy: %s\n%s\n' "$file" "$output" >&2
    return 1
  fi
}
export -f check
export shared cache

printf '%s\0' "${files[@]}" | xargs -0 -n1 -P "$(nproc)" bash -c 'check "$0"' ||
  { echo "tidy: findings above" >&2; exit 1; }
find "$cache" -type f -mtime +30 -delete
echo "tidy: ${#files[@]} files are clean"
