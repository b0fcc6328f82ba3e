#!/usr/bin/env bash
# Makes the scripts and styles of web/src, of the report and of the monitor's page, and writes them as C++. Packages are installed once, by the lock
# file, into a folder outside the repository that is named after it.
#   web/bundle.sh FOLDER     writes FOLDER/report_assets.cpp; without the packages, one that says what is missing
#   web/bundle.sh --check    the types of web/src
#   web/bundle.sh --modules  prints the folder of the packages, installing them if they are not there
# HARMONIA_CACHE is where they are kept (default: ~/.cache/harmonia).
set -euo pipefail
web=$(cd "$(dirname "$0")" && pwd)
cache=${HARMONIA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/harmonia}
reason=

# Sets `modules` to the folder of the packages; fails, with the reason in one line, if they cannot be had.
install_modules() {
  local tool hash
  for tool in node npm; do
    command -v "$tool" >/dev/null || { reason="$tool is not installed (Debian: nodejs, npm)"; return 1; }
  done
  hash=$(cat "$web/package.json" "$web/package-lock.json" "$web/.npmrc" | sha256sum)
  modules=$cache/web-${hash:0:16}
  [ ! -e "$modules/complete" ] || return 0
  mkdir -p "$modules" || { reason="$modules cannot be made"; return 1; }
  # Two builds at once: the second waits, and finds the work done.
  exec 9>"$modules/lock"
  flock 9
  [ ! -e "$modules/complete" ] || return 0
  echo "web: installing the report's npm packages into $modules"
  cp "$web/package.json" "$web/package-lock.json" "$web/.npmrc" "$modules"
  if ! (cd "$modules" && npm ci --ignore-scripts --loglevel=error) >"$modules/npm.log" 2>&1 9>&-; then
    reason="npm cannot install the report's packages (log: $modules/npm.log)"
    return 1
  fi
  touch "$modules/complete"
}

# The tools look for packages beside the sources: a folder that has both.
work_folder() {
  local folder=$1
  mkdir -p "$folder"
  rm -rf "$folder/src" "$folder/node_modules"
  cp -r "$web/src" "$web/tsconfig.json" "$web/package.json" "$folder"
  ln -s "$modules/node_modules" "$folder/node_modules"
}

case "${1:?usage: web/bundle.sh FOLDER | --check | --modules}" in
  --modules)
    install_modules >&2 || { echo "web: $reason" >&2; exit 1; }
    echo "$modules/node_modules"
    ;;
  --check)
    install_modules || { echo "web: $reason" >&2; exit 1; }
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    work_folder "$folder"
    cd "$folder" && node_modules/.bin/tsc --noEmit -p .
    ;;
  *)
    out=$1
    mkdir -p "$out"
    if install_modules; then
      work_folder "$out/bundle"
      (cd "$out/bundle" && node_modules/.bin/esbuild report=src/main.ts monitor=src/monitor.ts --bundle --minify --format=iife \
        --target=es2020 --charset=ascii --legal-comments=eof --log-level=warning --outdir=.)
      node "$web/embed.mjs" "$out/report_assets.cpp" "$out/bundle" report monitor
      touch "$out/complete"
    else
      # Not marked as complete: the next build tries again.
      echo "web: $reason; the program is built without pages" >&2
      sed "s|@REASON@|${reason//[|&\\]/ }|" "$web/no_assets.cpp.in" >"$out/report_assets.new"
      if ! cmp -s "$out/report_assets.new" "$out/report_assets.cpp"; then
        mv "$out/report_assets.new" "$out/report_assets.cpp"
      fi
    fi
    ;;
esac
