#!/usr/bin/env bash
# Runs clang-tidy over the C++ files that build/ compiles, as many at a time as there are cores, those that were changed
# last first. A file that was clean is not read again until it, a header of ours that it includes, a list of checks or a
# compiler flag changes.
#   scripts/tidy.sh [FILE...]   default: all of src/, apps/, tests/, bench/ and experiments/,
#                               and python/ where its extension was built
# HARMONIA_TIDY_SECONDS: no further file is begun after so long, and how many are left is said (default: no limit).
# HARMONIA_TIDY_UNTIL: nor after this time, in seconds since 1970, or a minute from now if that is later (default: no limit).
set -euo pipefail
cd "$(dirname "$0")/.."

database=build/compile_commands.json
[ -e "$database" ] || { echo "tidy: no $database; run 'make build' first" >&2; exit 2; }
cache=${HARMONIA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/harmonia}/tidy
mkdir -p "$cache"

if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <({
    git log --format= --name-only -n 200 -- src apps tests bench experiments python 2>/dev/null || true
    find src apps tests bench experiments -name '*.cpp' | sort
    [ ! -e build-python/compile_commands.json ] || ls python/src/*.cpp
  } | grep -E '\.cpp$' | grep -v '^tests/fuzz/' | awk '!seen[$0]++' | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)
  # clang cannot read libtorch's headers as C++20 (a vector of a type that is not complete).
  mapfile -t files < <(printf '%s\n' "${files[@]}" | xargs grep -LE '^#include [<"](torch/script|network|objective|traced_flags|point_pairs|difference[a-z_]*)\.(h|hpp)[>"]')
  # What is of libharmonia_torch only where that was built (make torch).
  grep -q '/src/torch/' "$database" || mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -vE '^(src|tests)/torch/|^bench/(torch|gpu)_')
  [ -e build-python/compile_commands.json ] || mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '^python/')
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What all files share: the checks, and the flags, without the place of the checkout.
shared=$({
  clang-tidy --version
  cat .clang-tidy tests/.clang-tidy scripts/tidy.sh
  grep '"command"' "$database" | sed "s#$PWD##g" | grep -oE ' -[DfIiWsm][^ ]*' | sort -u
} | sha256sum | cut -d' ' -f1)
# Lines "file header" of what was compiled from our own headers, and the hash of every header.
for folder in build build-python; do
  [ ! -e "$folder/build.ninja" ] || ninja -C "$folder" -t deps 2>/dev/null
done | awk -v root="$PWD/" '
  /^[^ ].*: #deps/ { file = ""; next }
  NF == 1 { path = $1; sub("^\\.\\./", root, path); if (index(path, root) != 1) next; path = substr(path, length(root) + 1)
            if (file == "") file = path; else print file, path }' | grep '\.hpp$' | sort -u >"$work/headers"
find include src apps python tests bench experiments -name '*.hpp' -exec sha256sum {} + | sort -k2 >"$work/sums"

# The hashes of the headers that a file includes; of all of them if it was not compiled.
headers_of() {
  local list
  list=$(awk -v file="$1" '$1 == file { print $2 }' "$work/headers")
  if [ -n "$list" ]; then grep -Ff <(sed 's/^/  /' <<<"$list") "$work/sums"; else cat "$work/sums"; fi
}

check() {
  local file=$1 stamp output folder
  stamp=$cache/$({ echo "$shared $file"; headers_of "$file"; cat "$file"; } | sha256sum | cut -d' ' -f1)
  [ ! -e "$stamp" ] || return 0
  if [ "$deadline" != 0 ] && [ "$(date +%s)" -ge "$deadline" ]; then
    echo "$file" >>"$work/left"
    return 0
  fi
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
export -f check headers_of
now=$(date +%s)
deadline=$((${HARMONIA_TIDY_SECONDS:-0} > 0 ? now + HARMONIA_TIDY_SECONDS : 0))
if [ "$deadline" -gt "${HARMONIA_TIDY_UNTIL:-$deadline}" ]; then
  deadline=$((HARMONIA_TIDY_UNTIL > now + 60 ? HARMONIA_TIDY_UNTIL : now + 60))
fi
export shared cache work deadline

printf '%s\0' "${files[@]}" | xargs -0 -n1 -P "$(nproc)" bash -c 'check "$0"' ||
  { echo "tidy: findings above" >&2; exit 1; }
find "$cache" -type f -mtime +30 -delete
left=$([ ! -e "$work/left" ] || wc -l <"$work/left")
if [ -n "$left" ]; then
  echo "tidy: $((${#files[@]} - left)) of ${#files[@]} files are clean; time was up before the other $left were read"
else
  echo "tidy: ${#files[@]} files are clean"
fi
