# What a newcomer can do here: `make help`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Everything that ends up in the page; a change in any of it builds the page again.
PAGE_SOURCES := $(shell find web/src sdk/typescript/src web/public web/index.html web/vite.config.ts package-lock.json 2>/dev/null)

# Debian packages that a machine may lack.
ROOT := $(if $(filter 0,$(shell id -u)),,sudo)
install = $(ROOT) apt-get update -qq; $(ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1) >/dev/null

# For each fuzz target.
FUZZ_SECONDS ?= 600
FUZZ := mkdir -p fuzz/corpus/$$target && cargo +nightly fuzz run
FUZZ_LIMITS = -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=4096

# Programs in C and C++ that the tests build and run.
NATIVE_TESTS = cargo test --locked --package oasis --test end_to_end -- sdk logging

# Sanitizers want to be told what they build for.
HOST = $(shell rustc -vV | sed -n "s/host: //p")

# The settings of sdk/python hold for what is generated for it too.
GENERATED_PYTHON := --config sdk/python/pyproject.toml crates/pdl-gen/tests

# Builds the documentation.
MDBOOK_VERSION := 0.5.4
MDBOOK := target/tools/bin/mdbook

.PHONY: help run build page test test-rust test-arrow test-web test-python notebook check-native test-browser lint format bench bench-spool bench-fanout bench-archive bench-probes bench-page pictures docs check-memory fuzz python cpp postgresql valgrind browser clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

run: build ## Build everything and start OASIS; the page is at http://127.0.0.1:7070
	./target/release/oasis up

build: page ## Build the release binary, page included: target/release/oasis
	cargo build --release --locked -p oasis --features arrow

page: web/dist/index.html ## Build the page that goes into the binary

test: test-rust test-arrow test-web test-python notebook test-browser ## Run every test of every language

test-rust: page postgresql ## Rust: unit, property and end-to-end tests with real processes
	cargo test --workspace --locked

test-arrow: page python ## Arrow and Parquet, which take minutes to build, read back with pyarrow, polars and DuckDB
	target/venv/bin/pip install --quiet --disable-pip-version-check --requirement tests/end_to_end/recordings/requirements.txt
	cargo test --locked -p oasis-format --features arrow
	cargo test --locked -p oasis --features arrow --test end_to_end -- recordings
	cd sdk/python && ../../target/venv/bin/pytest --quiet tests/test_history.py

test-web: node_modules/.package-lock.json ## TypeScript: unit tests
	npm test

test-python: python ## Python: the package and what is generated for it
	cargo build --locked -p oasis
	cd sdk/python && ../../target/venv/bin/pytest --quiet

notebook: python ## Record a test run and execute the notebook of docs/notebooks on it (NOTEBOOK=--write keeps what it shows)
	target/venv/bin/pip install --quiet --disable-pip-version-check --requirement docs/notebooks/requirements.txt
	cargo build --locked -p oasis
	target/venv/bin/python docs/notebooks/run.py target/debug/oasis $(NOTEBOOK)

check-native: page ## Run the tests of C and C++ under the address, undefined-behaviour and thread sanitizers
	OASIS_SANITIZE=address,undefined $(NATIVE_TESTS)
	OASIS_SANITIZE=thread TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1" $(NATIVE_TESTS)
	cargo test --locked --package oasis-pdl-gen --test cpp --test c

test-browser: page browser ## A real browser against the real binary
	cargo build --locked -p oasis
	npm run test:browser

lint: page target/venv/installed ## Formatting, lints and types, warnings as errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --workspace --all-targets --locked --features oasis/arrow -- -D warnings
	npm run lint
	target/venv/bin/ruff check --quiet sdk/python
	target/venv/bin/ruff check --quiet $(GENERATED_PYTHON)
	target/venv/bin/ruff format --quiet --check sdk/python
	target/venv/bin/ruff format --quiet --check $(GENERATED_PYTHON)
	cd sdk/python && ../../target/venv/bin/mypy

format: node_modules/.package-lock.json target/venv/installed ## Format everything
	cargo fmt --all
	npm run format
	target/venv/bin/ruff format --quiet sdk/python

bench: ## Measure the codec on recorded data, the PDL compiler, and what an event costs who logs; figures and machine in docs/evidence/performance.md
	cargo bench --locked -p oasis-wire
	cargo bench --locked -p oasis-pdl --bench compile
	cargo bench --locked -p oasis-tracing

bench-spool: page ## Kill the DAC for half a minute, with a file spool and without; and what a batch in a file costs
	cargo test --locked -p oasis --test end_to_end -- file_spool::half_a_minute --ignored --nocapture
	cargo bench --locked -p oasis-probe --bench spool

bench-fanout: page ## Measure the WebSocket server beside others, some five minutes; report in docs/evidence/fanout.md
	cargo build --release --locked -p oasis-lab
	./target/release/oasis-lab --write docs/evidence/fanout.md all

bench-archive: page postgresql ## Measure the archive under load, beside SQLite, its past, its start, queries and replays, and what goes into a PostgreSQL of its own, some twelve minutes and 10 GB of disk; report in docs/evidence/archive-measured.md
	cargo build --release --locked -p oasis-lab -p oasis
	pg_virtualenv -o fsync=on sh -c 'OASIS_POSTGRESQL_URL="host=$$PGHOST port=$$PGPORT user=$$PGUSER password=$$PGPASSWORD dbname=$$PGDATABASE sslmode=disable" \
	  ./target/release/oasis-lab --write docs/evidence/archive-measured.md archive'

bench-probes: page valgrind ## Measure what probes cost the threads they watch, some two minutes; report in docs/evidence/probes-measured.md
	cargo bench --locked -p oasis-probe --bench flush
	cargo build --release --locked -p oasis-lab
	./target/release/oasis-lab --write docs/evidence/probes-measured.md probes

check-memory: ## Model the rings, and what shares one, with loom, and run them under Miri and the sanitizers; needs a nightly Rust with miri and rust-src
	RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3 cargo test --release --locked --target-dir target/loom -p oasis-probe --lib models
	cargo test --release --locked -p oasis-probe --test watched_thread
	MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test --locked --target-dir target/miri -p oasis-probe --lib ring::
	for sanitizer in thread address; do \
	  TSAN_OPTIONS=allocator_may_return_null=1 ASAN_OPTIONS=allocator_may_return_null=1 RUSTFLAGS="-Zsanitizer=$$sanitizer" cargo +nightly test --locked -Zbuild-std --target $(HOST) --target-dir target/$$sanitizer -p oasis-probe --lib --test node; done

bench-page: page browser ## Measure the page in a real browser, some fifteen minutes (ten of them watch its heap, BENCH_MINUTES); figures in docs/evidence/performance.md
	cargo build --release --locked -p oasis -p oasis-lab
	OASIS_BIN=$(CURDIR)/target/release/oasis OASIS_LAB_BIN=$(CURDIR)/target/release/oasis-lab npm run bench --workspace tests/browser

pictures: page browser ## Take the pictures of docs/images
	cargo build --locked -p oasis
	npm run pictures --workspace tests/browser

docs: $(MDBOOK) ## Build the documentation as a book and check its links: target/book/docs/index.html
	rm -rf target/book
	$(MDBOOK) build docs
	python3 docs/checks/book.py . target/book/docs

fuzz: ## Fuzz what reads text and bytes from outside, FUZZ_SECONDS (600) for each target; needs a nightly Rust
	@cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
	for target in pdl_compile pdl_format; do \
	  $(FUZZ) $$target fuzz/corpus/$$target crates/pdl/tests/corpus/good crates/pdl/tests/corpus/bad pdl -- -dict=fuzz/pdl.dict $(FUZZ_LIMITS); done
	for target in batch_decode batch_round_trip eisa_decode mcap_read; do \
	  $(FUZZ) $$target fuzz/corpus/$$target fuzz/seeds/$$target -- $(FUZZ_LIMITS); done

python: target/venv/installed ## Build sdk/python and install it into target/venv
	cd sdk/python && VIRTUAL_ENV=../../target/venv ../../target/venv/bin/maturin develop --quiet --locked

cpp: ## Install Debian's CMake, pkg-config and spdlog if there are none (asks for root); tests that need them are skipped without
	@pkg-config --exists spdlog && command -v cmake >/dev/null || { echo "installing cmake, pkg-config, libspdlog-dev"; $(call install,cmake make pkg-config libspdlog-dev); }

postgresql: ## Install Debian's PostgreSQL if there is none (asks for root); the tests start one of their own
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { echo "installing postgresql"; $(call install,postgresql); }

valgrind: ## Install Debian's valgrind if there is none (asks for root); it counts instructions
	@command -v valgrind >/dev/null || { echo "installing valgrind"; $(call install,valgrind); }

browser: ## Install Debian's chromium if there is none (asks for root)
	@command -v chromium >/dev/null || { echo "installing chromium"; $(call install,chromium fonts-dejavu-core); }

clean: ## Remove what was built
	cargo clean
	rm -rf web/dist sdk/typescript/dist node_modules

web/dist/index.html: node_modules/.package-lock.json $(PAGE_SOURCES)
	npm run build
	@touch $@

# npm writes this file when it has installed what is locked.
node_modules/.package-lock.json: package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

# About three minutes of processor time, once.
$(MDBOOK):
	cargo install --locked --root target/tools --no-default-features --features search mdbook@$(MDBOOK_VERSION)

# Only for tests and lints: the package itself needs nothing.
target/venv/installed: sdk/python/requirements-dev.txt
	@python3 -c 'import ensurepip' 2>/dev/null || { echo "installing python3-venv"; $(call install,python3-venv); }
	@python3 -m venv target/venv
	target/venv/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@
