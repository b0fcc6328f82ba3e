#!/usr/bin/env bash
# Builds the Python package as `pip install .` does, and installs it into a folder of its own, which it prints. What
# was built of the same sources, with the same Python, is not built again.
#   scripts/wheel.sh PYTHON   a Python that has scikit-build-core and nanobind (tests/requirements.txt)
set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:?usage: scripts/wheel.sh PYTHON}
cache=${HARMONIA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/harmonia}
mkdir -p "$cache"

hash=$({
  "$python" -c 'import sys; print(sys.executable, sys.version)'
  scripts/setup.sh --onnxruntime || true
  cat CMakeLists.txt pyproject.toml README.md scripts/wheel.sh
  find cmake include src python web -type f -not -name '*.pyc' -not -path '*/node_modules/*' -print0 2>/dev/null | sort -z | xargs -0 sha256sum
} | sha256sum)
place=$cache/package-${hash:0:16}
if [ ! -e "$place/complete" ]; then
  # Two at once: the second waits, and finds the work done.
  exec 9>"$cache/wheel.lock"
  flock 9
  if [ ! -e "$place/complete" ]; then
    rm -rf "$place"
    # The build folder is kept, so that only what changed is compiled; what the compiler's cache keeps serves other
    # copies of the repository too.
    CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 SKBUILD_BUILD_DIR=build-python "$python" -m pip install --quiet --disable-pip-version-check --no-input \
      --no-build-isolation --no-deps --target "$place" . >"$place.log" 2>&1 9>&- ||
      { tail -n 40 "$place.log" >&2; exit 1; }
    rm -f "$place.log"
    touch "$place/complete"
  fi
fi
touch "$place"
find "$cache" -maxdepth 1 -name 'package-*' -mtime +7 ! -path "$place" -exec rm -rf {} +
echo "$place"
