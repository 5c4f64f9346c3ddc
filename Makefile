# The commands for people. Each installs what it needs (scripts/bootstrap) and builds under build/.
#
#   make demo      build mindgate and run admission on real manifests
#   make test      build and run the whole test suite
#   make e2e       the end-to-end tests, on their own real Kubernetes (K8S=1.30, 1.34 or 1.36)
#   make e2e-up    start such a cluster and leave it running; make e2e-down removes it
#   make build     build/release/mindgate
#   make bench     what decisions cost, beside a webhook in Go (docs/performance.md; BENCH_QUICK=1)
#   make soak      every known attack at once beside honest reviews (SOAK_MINUTES=1)
#   make fuzz      run every fuzz target (FUZZ_SECONDS=60)
#   make lint      format, clang-tidy, folder arrows, shell scripts
#   make sanitize  the whole suite under ASan+UBSan and under TSan
#   make generate  write what is derived from the program: pages, help, schemas, what the chart knows of kinds
#   make image     build/mindgate-image.tar, for docker load and ctr images import
#   make install   PREFIX=/usr/local
#   make release   dist/: static programs, packages, image, chart and lists for amd64 and arm64 (docs/install.md), with
#                  RELEASE_SECURITY_CONTACT=mailto:ADDRESS MINISIGN_KEY=FILE; KEEP_PACKAGES=1 takes Debian's of last time
#   make release-test   builds a release with values for tests into build/release-test, and checks it; RELEASE_TWICE=1 builds
#                  it in two folders without the compiler cache and compares the bytes

SHELL := /bin/bash
PREFIX ?= /usr/local
SOAK_MINUTES ?= 1
export JOBS ?= $(shell nproc)

.PHONY: demo test e2e e2e-up e2e-down build bench soak fuzz lint sanitize asan tsan generate image install release release-test clean

demo: build
	@scripts/demo build/release/mindgate

test:
	@scripts/build test
	@# Some tests wait for sockets, processes and clocks: two for each core.
	@ctest --preset test -j $$((2 * JOBS)) --no-tests=error

e2e: image
	@scripts/e2e

e2e-up:
	@scripts/bootstrap --e2e
	@tests/e2e/cluster/up

e2e-down:
	@tests/e2e/cluster/down

build:
	@scripts/build release mindgate

bench: build
	@scripts/bench

soak: build
	@tests/soak/soak.py --minutes $(SOAK_MINUTES)

fuzz:
	@scripts/bootstrap --all
	@scripts/fuzz

lint:
	@scripts/bootstrap --all
	@scripts/lint

sanitize: asan tsan

asan tsan:
	@scripts/bootstrap --all
	@scripts/build $@
	@ctest --preset $@ -j $$((2 * JOBS)) --no-tests=error

generate:
	@scripts/build test
	@scripts/generate

image: build
	@scripts/image

install: build
	@scripts/install build/release/mindgate $(DESTDIR)$(PREFIX)
	@strip $(DESTDIR)$(PREFIX)/bin/mindgate

release:
	@scripts/bootstrap --release
	@python3 scripts/release $(if $(KEEP_PACKAGES),--keep-packages)

release-test:
	@scripts/bootstrap --release
	@tests/release/run

clean:
	rm -rf build
