# SPDX-License-Identifier: Apache-2.0
# The short commands for people; `make help` lists them. CMake and the presets do the work.
SHELL := /bin/bash
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export CTEST_OUTPUT_ON_FAILURE = 1
# colours only for people
export CTEST_PROGRESS_OUTPUT =

# what the CUDA plugin is built for: all, or one such as 90a
CUDA_ARCH ?= all
# what the ROCm plugin is built for, by commas
ROCM_ARCH ?= gfx90a

.PHONY: help plugin-cuda plugin-rocm plugin-tensorrt build run test check fuzz bench parity train-demo install valgrind coverage mutants aarch64 clean packages wheel deb deb-check \
    writable sanitized
.DEFAULT_GOAL := build

## build      the program, build/skitter (release)
build: writable
	@scripts/quietly "configuring" cmake --preset release -B "$(BUILD)"
	@ninja -C "$(BUILD)" -j $(JOBS)

## run        the first thing to see: skitter at work on a scene and with models of its own (DEMO= more options)
run: packages writable
	@scripts/quietly "configuring" cmake --preset release -B "$(BUILD)"
	@ninja -C "$(BUILD)" -j $(JOBS) skitter
	@"$(BUILD)/skitter" demo --restart --out "$(BUILD)/demo" $(DEMO)

## test       everything that decides whether a change is good, in a few minutes
test: packages-test build sanitized
	@ctest --test-dir "$(BUILD)" -j $(JOBS) --no-tests=error

## check      the long form: style, clang-tidy, gcc and clang with -Werror, sanitizers, minimal build
check: packages-check writable
	@BUILD="$(BUILD)" JOBS=$(JOBS) scripts/check

## fuzz       every fuzzer for FUZZ_SECONDS each (default 60), or those of FUZZ="torch onnx", FUZZ_JOBS at a time
fuzz: packages-test sanitized
	@BUILD="$(BUILD)" JOBS=$(or $(FUZZ_JOBS),$(JOBS)) scripts/fuzz $(or $(FUZZ_SECONDS),60) $(FUZZ)

## bench      times a model's network here: make bench MODEL=model.pt
bench: packages build
	@scripts/bench "$(BUILD)/skitter" $(if $(MODEL),"$(MODEL)")

## parity     compares networks with the original programs, by hand: PARITY_PYTHON=a python with ultralytics
parity: build
	$(PARITY_PYTHON) tests/parity/ultralytics_models.py --skitter "$(BUILD)/skitter"

## plugin-cuda  the cuda engine, build/libskitter_cuda.so (needs nvcc 12 or newer; CUDA_ARCH=90a for one GPU only)
plugin-cuda: writable
	@command -v nvcc >/dev/null || test -x /usr/local/cuda/bin/nvcc || { echo "error: nvcc is not found" >&2; \
	    echo "  hint: install NVIDIA's CUDA toolkit and put its bin folder into PATH" >&2; exit 1; }
	@scripts/quietly "configuring" cmake --preset release -B "$(BUILD)" -DSKITTER_CUDA_ARCH=$(CUDA_ARCH)
	@ninja -C "$(BUILD)" -j $(JOBS) plugin_cuda

## plugin-rocm  the same engine for AMD, build/libskitter_rocm.so (needs hipcc; ROCM_ARCH=gfx90a,gfx1100; never run on a GPU)
plugin-rocm: writable
	@command -v hipcc >/dev/null || test -x /opt/rocm/bin/hipcc || { echo "error: hipcc is not found" >&2; \
	    echo "  hint: install ROCm's HIP compiler (Debian: apt-get install hipcc)" >&2; exit 1; }
	@scripts/quietly "configuring" cmake --preset release -B "$(BUILD)" -DSKITTER_ROCM_ARCH=$(ROCM_ARCH)
	@ninja -C "$(BUILD)" -j $(JOBS) plugin_rocm

## wheel      the Python package, build/dist/skitter-*.whl (docs/python.md)
wheel: packages-wheel writable
	@scripts/quietly "configuring" cmake --preset release -B "$(BUILD)"
	@ninja -C "$(BUILD)" -t query wheel >/dev/null 2>&1 || { cmake --preset release -B "$(BUILD)" | grep 'Python package' >&2; exit 1; }
	@scripts/quietly "building" ninja -C "$(BUILD)" -j $(JOBS) wheel
	@ls "$(BUILD)"/dist/*.whl

## deb        the Debian packages, build/deb/*.deb (docs/install.md)
deb: packages-deb writable
	@BUILD="$(BUILD)" JOBS=$(JOBS) scripts/deb

## deb-check  the packages made again with the same bytes, installed in a Debian of their own, used and removed
deb-check: packages-deb writable
	@BUILD="$(BUILD)" JOBS=$(JOBS) scripts/check deb

## train-demo trains the demo's models anew into share/models (TRAIN_PYTHON=python3 with PyTorch, a GPU, minutes)
train-demo: build
	@scripts/train-demo "$(BUILD)/skitter"

## plugin-tensorrt  the tensorrt engine, build/libskitter_tensorrt.so (needs TensorRT 10 or 11's headers: TENSORRT=folder, nvcc)
plugin-tensorrt: writable
	@scripts/quietly "configuring" cmake --preset release -B "$(BUILD)" -DSKITTER_TENSORRT_ROOT="$(TENSORRT)"
	@ninja -C "$(BUILD)" -t query plugin_tensorrt >/dev/null 2>&1 || { \
	    echo "error: TensorRT's headers (NvInfer.h) or CUDA's toolkit are not found" >&2; \
	    echo "  hint: make plugin-tensorrt TENSORRT=/path/to/TensorRT, with nvcc in PATH or in /usr/local/cuda/bin" >&2; exit 1; }
	@ninja -C "$(BUILD)" -j $(JOBS) plugin_tensorrt

## install    program, library, headers, manual and completions (PREFIX=/usr/local, DESTDIR=)
install: build
	@DESTDIR="$(DESTDIR)" cmake --install "$(BUILD)" --prefix "$(PREFIX)"

## valgrind   the unit tests under valgrind
valgrind: packages-check writable
	@BUILD="$(BUILD)" JOBS=$(JOBS) scripts/valgrind

## coverage   line coverage of the tests, build-coverage/index.html
coverage: packages-check writable
	@BUILD="$(BUILD)" JOBS=$(JOBS) scripts/coverage

## mutants    changes one operator of the code at a time and looks whether a test notices: ROOM=graph N=40 SEED=1
mutants: packages-check writable
	@tests/mutants/mutants.py --work "$(BUILD)-mutants" --count $(or $(N),40) --seed $(or $(SEED),1) --jobs $(JOBS) $(if $(ROOM),--room $(ROOM)) $(if $(ONLY),--only $(ONLY))

## aarch64    builds for 64-bit ARM and runs the tests under qemu
aarch64: packages-check writable
	@BUILD="$(BUILD)" JOBS=$(JOBS) scripts/aarch64

## clean      removes what was built
clean:
	rm -rf "$(BUILD)" "$(BUILD)"-*

## help       this list
help:
	@sed -n 's/^## /  make /p' Makefile

packages:
	@scripts/install-packages build
packages-wheel:
	@scripts/install-packages build wheel
packages-deb:
	@scripts/install-packages build wheel deb
packages-test:
	@scripts/install-packages build wheel test
packages-check:
	@scripts/install-packages build wheel test check deb

# The tests and fuzzers with the address and undefined-behaviour sanitizers: what `make test` runs of them.
sanitized: writable
	@scripts/quietly "configuring with sanitizers" cmake --preset asan -B "$(BUILD)-asan"
	@ninja -C "$(BUILD)-asan" -j $(JOBS) sanitized

writable:
	@mkdir -p "$(BUILD)" 2>/dev/null && test -w "$(BUILD)" || { \
	    echo "error: the folder $$PWD/$(BUILD) cannot be written, so there is nowhere to build" >&2; \
	    echo "  hint: build elsewhere: make BUILD=/tmp/skitter-build $(MAKECMDGOALS)" >&2; exit 1; }
