# The ways through this repository. `make help` lists them.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
# The compiler's cache knows files by their place in the repository, so that clones share what it holds.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help setup build program torch test test-release test-asan test-tsan fuzz demo demo-functions bench bench-goals bench-cost format check-format tidy clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s%s\n", $$1, $$2}' Makefile

setup: ## install what building and testing need (Debian packages, a Python environment outside the repository)
	@scripts/setup.sh test

# The Python tests are there once `make setup` has made their environment.
configure = venv=$$(scripts/setup.sh --venv || true); \
	cmake --preset release --log-level=NOTICE -DHARMONIA_TEST_PYTHON="$${venv:+$$venv/bin/python}" >/dev/null

build: ## build everything with optimisation; the program is build/harmonia
	@$(configure)
	cmake --build build --parallel $(JOBS)

program:
	@$(configure)
	cmake --build build --parallel $(JOBS) --target harmonia_cli

torch: ## build libharmonia_torch too, which runs TorchScript models; installs libtorch, some 500 MB
	@scripts/setup.sh libtorch
	@$(configure) -DHARMONIA_WITH_TORCH=ON
	cmake --build build --parallel $(JOBS) --target harmonia_torch harmonia_cli

test: export HARMONIA_TIDY_SECONDS ?= 600
# Where nothing was compiled before, it gets what is left of 65 minutes, and one at least.
test: export HARMONIA_TIDY_UNTIL := $(shell echo $$(($$(date +%s) + 3900)))
test: setup torch build test-release test-asan test-tsan fuzz check-format tidy ## every test, with sanitizers, fuzzing, format and clang-tidy
	@scripts/count_tests.sh build build-asan build-tsan

test-release: ## the tests of build/, in C++ and Python
	ctest --test-dir build --parallel $(JOBS) --output-on-failure --no-tests=error --output-junit tests.xml

test-asan: ## the C++ tests under the address and undefined-behaviour sanitizers
	$(call sanitized,asan)

test-tsan: ## the C++ tests under the thread sanitizer
	$(call sanitized,tsan)

# The thread sanitizer's shadow memory wants addresses that the kernel's randomisation may take: without it, where
# that is allowed.
sanitized = @fixed=; ! setarch --addr-no-randomize true 2>/dev/null || fixed='setarch --addr-no-randomize'; set -ex; \
	cmake --preset $(1) --log-level=NOTICE >/dev/null; \
	$$fixed cmake --build build-$(1) --parallel $(JOBS) --target harmonia_tests; \
	$$fixed ctest --test-dir build-$(1) -E "^Coverage" --parallel $(JOBS) --output-on-failure --no-tests=error --output-junit tests.xml

fuzz: ## every fuzz target for ten seconds
	@if [ -x scripts/fuzz.sh ]; then scripts/fuzz.sh 10; else echo "fuzz: no scripts/fuzz.sh"; fi

demo: ## install what it needs, build, train four models, tell the overfit ones, and write a report
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory program
	scripts/demo.sh

demo-functions: program ## measure functions whose gamma is known
	scripts/demo_functions.sh

bench: build ## run the benchmarks
	@venv=$$(scripts/setup.sh --venv) && "$$venv/bin/python" bench/onnx_models.py build/bench/models && \
	  "$$venv/bin/python" bench/tree_models.py build/bench/models || echo "bench: 'make setup' makes what trains the models"
	@[ ! -x build/bench/torch_bench ] || /usr/bin/python3 bench/torch_models.py build/bench/models
	@for program in build/bench/*_bench; do if [ -x "$$program" ]; then echo "== $$program"; "$$program" || exit 1; fi; done

# Goals 1 to 10: the black box, trees, dense networks, normals, memory. A wrong answer ends it.
goal_programs = black_box_bench onnx_bench tree_bench lightgbm_bench dense_bench normals_bench memory_bench
bench-goals: ## measure the goals of docs/performance.md: goal, ratio, pass or short; three minutes, or seven with the package
	@scripts/setup.sh test && scripts/setup.sh openblas
	@$(configure)
	cmake --build build --parallel $(JOBS) --target $(goal_programs)
	@set -eo pipefail; venv=$$(scripts/setup.sh --venv); models=build/bench/models; \
	  "$$venv/bin/python" bench/tree_models.py $$models; \
	  [ -e $$models/network.onnx ] || "$$venv/bin/python" bench/onnx_models.py $$models; \
	  package=$$(scripts/wheel.sh "$$venv/bin/python"); out=build/bench/goals.txt; : > $$out; \
	  for name in $(goal_programs); do echo "== $$name"; build/bench/$$name | tee -a $$out; done; \
	  echo "== tree_python.py"; PYTHONPATH=$$package "$$venv/bin/python" bench/tree_python.py $$models | tee -a $$out; \
	  echo; "$$venv/bin/python" bench/goals.py $$out build/bench/goals.csv

bench-cost: ## measure what gamma costs against features, trees, depth and radius, and draw docs/cost.svg; some four minutes
	@$(configure)
	cmake --build build --parallel $(JOBS) --target cost_bench
	@set -eo pipefail; venv=$$(scripts/setup.sh --venv); cost=build/bench/cost; "$$venv/bin/python" bench/cost_models.py $$cost; \
	  build/bench/cost_bench $$cost | tee $$cost/cost.csv; "$$venv/bin/python" bench/plot_cost.py $$cost/cost.csv docs/cost.svg

format: ## put all C++ into form
	scripts/format.sh

check-format: ## fail where 'make format' would change something
	@scripts/format.sh --check

tidy: ## run clang-tidy over what changed since it was last clean
	@[ -e build/compile_commands.json ] || { $(configure); }
	@scripts/tidy.sh

clean: ## remove the build folders
	rm -rf build build-debug build-asan build-tsan build-fuzz
