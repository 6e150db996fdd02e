# Part of Eider, under the Apache License v2.0.
#
#   make demo         builds and runs the main job on a real input: on the first GPU, else on `host`
#   make test         builds and runs the tests that this machine can run, but the exhaustive
#                     ones; of cases that are much alike a share
#   make test-all     the exhaustive ones too
#   make conformance  the formats over every value, all 2^32 of f32 among them; says its time
#   make fuzz         fuzzes what reads files of others, a minute each (FUZZ_SECONDS)
#   make tidy         clang-tidy over our C++ (Debian's clang-tidy-22; takes long)
#   make clean        removes the build

JOBS ?= $(shell nproc)

.PHONY: demo test test-all conformance fuzz build dependencies tidy clean
.NOTPARALLEL:

demo: build/build.ninja
	@cmake --build --preset release -j $(JOBS) --target eider-demo eider
	@build/bin/eider-demo examples/data/minilm.safetensors build/demo

test: build
	ctest --preset quick

test-all: build
	ctest --preset all

conformance: build/build.ninja
	@cmake --build --preset release -j $(JOBS) --target conformance

FUZZ_SECONDS ?= 60
fuzz: build/build.ninja
	@cmake --build --preset release -j $(JOBS) --target fuzz-programs
	@tests/fuzz/run.sh build $(FUZZ_SECONDS)

tidy: build
	@scripts/tidy.sh

build: build/build.ninja
	@cmake --build --preset release -j $(JOBS)

build/build.ninja: | dependencies
	@cmake --preset release

dependencies:
	@scripts/install-dependencies.sh

clean:
	rm -rf build
