#!/usr/bin/env bash
# Formats all C++ of the repository; --check changes nothing and fails where something would change.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t files < <(find include src apps python tests bench examples experiments -name '*.hpp' -o -name '*.cpp' | sort)
case "${1:-}" in
  "") clang-format -i "${files[@]}" ;;
  --check)
    clang-format --dry-run --Werror "${files[@]}" || { echo "format: run 'make format'" >&2; exit 1; }
    echo "format: ${#files[@]} files are in form"
    ;;
  *) echo "format: unknown argument '$1'; expected --check" >&2; exit 2 ;;
esac
