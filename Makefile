# Each target works on a fresh machine with Python 3.11, Rust and a C toolchain: it makes .venv, builds, and runs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.elephan
RUST_SOURCES := $(shell git ls-files -co --exclude-standard 'crates/*.rs' 'crates/**/Cargo.toml' Cargo.toml Cargo.lock 2>/dev/null)
OUT ?= results
WHEELS ?= dist
SEED ?= 2026

MINUTES ?= 5
# Files of fast Python tests at a time.
JOBS ?= 2
BINARYEN ?= 132.0.0

# rust-toolchain.toml names a version; a machine without it, and without a way to it, builds with the stable one that it has.
ifneq ($(shell rustc --version >/dev/null 2>&1 && echo there),there)
export RUSTUP_TOOLCHAIN := stable
endif

.PHONY: help setup demo test test-all fuzz fuzz-cases fuzz-planted fuzz-targets fuzz-install lint deny miri asan asan-run bench wheel lock generate digests page page-check clean packetdrill web conformance bands docs docs-update studies requirements requirements-cut referee

help:
	@echo "make demo      the quick run of the study intel-2004: answer, verdicts, report"
	@echo "make test      the fast tests, Rust and Python"
	@echo "make test-all  the long ones as well (apt-get install tshark tcptrace, slurmctld slurmd slurm-client munge)"
	@echo "make fuzz      random scenarios without end; what is found goes to results/fuzz (docs/fuzz.md)"
	@echo "make lint      formatting, clippy, ruff, mypy, generated files, dependencies, the engine under Miri"
	@echo "make asan      the engine and the Python module with the address sanitizer"
	@echo "make bench     the standard workloads W1 to W4"
	@echo "make wheel     a manylinux abi3 wheel in dist/, for any CPython from 3.11 on (PROFILE=1: profile-guided)"
	@echo "make web       the engine of elephan explore in WebAssembly, and the static site in dist/web/"
	@echo "make lock      write requirements.lock again (UPGRADE=--upgrade: with the newest versions)"
	@echo "make docs      the book: a site for elephan docs, and a man page (target/docs)"
	@echo "make docs-update  run what the tutorials show, write numbers and pictures again"
	@echo "make packetdrill DIR=...  packetdrill scripts below DIR, as a table"
	@echo "make referee MINUTES=10  TCP beside this machine's kernel: scripts, random senders and receivers (root, TUN)"
	@echo "make generate  write the generated files again: schema, references, Python classes"
	@echo "make studies   every study in full (an hour or more), and their READMEs with its numbers"
	@echo "make digests   the digests of elephan verify, after a change of numbers"
	@echo "make requirements  how many rules of the RFCs are done and tested, and whether each place and test exists"
	@echo "make requirements-cut  whether the tests of a sample of rules break when the rule is taken out (slow)"
	@echo "make bands     congestion controls over links that vary, for the docs"
	@echo "make conformance  the conformance of every built-in congestion control, for the docs"
	@echo "make page      build the page of elephan explore again (needs Node; users do not)"

$(VENV)/.deps: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	@touch $@

$(STAMP): $(VENV)/.deps pyproject.toml $(RUST_SOURCES)
	PIP_QUIET=2 VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --quiet
	@touch $@

setup: $(STAMP)

demo: setup
	$(BIN)/elephan study run intel-2004 --quick --out $(OUT)/intel-2004-quick

# The fast tests draw the same random cases each time, the long ones new ones.
test: setup
	PROPTEST_RNG_SEED=$(SEED) cargo test --quiet --workspace --exclude elephan-py
	$(BIN)/python -m pytest -m "not slow and not alone" -n $(JOBS) --dist loadfile
	$(BIN)/python -m pytest -m "alone and not slow"

test-all: setup
	cargo test --quiet --workspace --exclude elephan-py
	PROPTEST_CASES=2000 ELEPHAN_NAIVE_CASES=5000 ELEPHAN_NAIVE_SEED=$$(date +%s) cargo test --quiet --profile long --workspace --exclude elephan-py
	$(BIN)/python -m pytest
	$(MAKE) --no-print-directory asan fuzz-planted fuzz-cases fuzz-targets

# Profile long: optimised, with overflow checks and debug assertions. New seeds each time.
FUZZ := cargo run --quiet --profile long --package elephan-fuzz
TARGETS := endpoint queue capture scenario

fuzz:
	$(FUZZ) -- --seed $$(date +%s)000 --out $(OUT)/fuzz

fuzz-cases:
	$(FUZZ) -- --seed $$(date +%s)000 --out $(OUT)/fuzz --minutes $(MINUTES)

# A fault that is built in on purpose must be found.
fuzz-planted:
	$(FUZZ) --features planted -- --seed $(SEED) --out $(OUT)/fuzz-planted --minutes $(MINUTES) --expect "general path"

# Coverage-guided fuzzing, with the address sanitizer where there is a nightly toolchain, which it wants.
fuzz-targets:
	@cargo fuzz --version >/dev/null 2>&1 || { echo "no cargo-fuzz: the coverage-guided targets are skipped (make fuzz-install)"; exit 0; }; \
	if cargo +nightly --version >/dev/null 2>&1; then with="+nightly fuzz run"; else with="fuzz run --sanitizer none"; fi; \
	for target in $(TARGETS); do \
		mkdir -p fuzz/corpus/$$target; \
		cargo $$with $$target fuzz/corpus/$$target $$(ls -d crates/fuzz/found/$$target 2>/dev/null) -- \
			-max_total_time=$$((60 * $(MINUTES))) -max_len=4096 -timeout=60 -print_final_stats=0 || exit 1; \
	done

fuzz-install:
	cargo install cargo-fuzz --version 0.13.1 --locked

lint: setup
	rustfmt --edition 2024 --check $$(git ls-files 'crates/*.rs')
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" cargo doc --quiet --workspace --no-deps --document-private-items
	$(BIN)/ruff check python tests docs/*.py
	$(BIN)/ruff format --check python tests docs/*.py
	$(BIN)/mypy python
	$(MAKE) --no-print-directory generate digests CHECK=--check
	$(MAKE) --no-print-directory page-check deny miri docs

# The book. It needs more packages than tests and demo do; they go into .venv when the book is first made.
BOOK := $(VENV)/.book

$(BOOK): $(VENV)/.deps docs/requirements.lock
	$(BIN)/python -m pip install --quiet --requirement docs/requirements.lock
	@touch $@

docs: setup $(BOOK)
	$(BIN)/codespell docs README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md python/elephan
	$(BIN)/python tests/python/prose.py
	$(BIN)/python docs/build.py

# Runs what the tutorials show, and writes their outputs and pictures again.
docs-update: setup
	$(BIN)/python tests/python/book.py --update

# The page of `elephan explore`: its source is in explore/, the built files are committed.
PAGE := python/elephan/explore/page
NODE_MODULES := explore/node_modules/.package-lock.json

$(NODE_MODULES): explore/package-lock.json
	cd explore && npm ci --silent --no-audit --no-fund
	@touch $@

page: $(NODE_MODULES)
	cd explore && npm run --silent build -- --logLevel warn

# Types, the tests of what needs no browser, and whether the committed files are those that the source gives.
page-check:
	@if node --version >/dev/null 2>&1; then \
		$(MAKE) --no-print-directory $(NODE_MODULES) && cd explore && npm run --silent check && npm run --silent test && \
		npm run --silent build -- --logLevel warn --outDir ../target/page && diff -rq ../target/page ../$(PAGE) || \
		{ echo "the page has drifted or does not pass its checks: make page"; exit 1; }; \
	else echo "no Node: the source of the page is not checked (Node 20.19 or later)"; fi

# Licences, bans and sources of dependencies, as deny.toml says.
deny:
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --log-level error --offline check bans licenses sources; \
	else echo "no cargo-deny: licences, bans and sources of dependencies are skipped (cargo install cargo-deny --locked)"; fi

# The queues and rings of the engine, whose code is unsafe, in an interpreter that sees undefined behaviour. Few random cases: it is slow.
miri:
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
		PROPTEST_CASES=4 MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --quiet --package elephan-engine; \
	else echo "no nightly toolchain with Miri: the engine under Miri is skipped (rustup component add --toolchain nightly miri)"; fi

# With the address sanitizer: the tests of the engine, and the Python module, which has the allocator and the boundary.
# gcc's runtime is loaded before Python, which is built without one.
ASAN := target/asan
ASAN_HOST := $(shell rustc -vV | sed -n 's/^host: //p')
ASAN_BUILD = RUSTFLAGS=-Zsanitizer=address PYO3_PYTHON="$(CURDIR)/$(BIN)/python" cargo +nightly

asan: setup
	@if cargo +nightly --version >/dev/null 2>&1; then $(MAKE) --no-print-directory asan-run; \
	else echo "no nightly toolchain: the address sanitizer is skipped"; fi

asan-run:
	PROPTEST_CASES=64 $(ASAN_BUILD) test --quiet --target $(ASAN_HOST) --target-dir $(ASAN) --lib --package elephan-engine
	$(ASAN_BUILD) build --quiet --target $(ASAN_HOST) --target-dir $(ASAN) --package elephan-py
	rm -rf $(ASAN)/python && cp -r python $(ASAN)/python
	cp $(ASAN)/$(ASAN_HOST)/debug/libelephan_py.so $(ASAN)/python/elephan/_core.abi3.so
	LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$(ASAN)/python \
		$(BIN)/python -m pytest -q -p no:cacheprovider crates/py/tests

bench: setup
	$(BIN)/elephan bench W1 W2 W3 W4

# --compatibility: Debian 12's C library gives symbols of 2.34 at most; maturin refuses what asks for later ones.
# PROFILE=1 builds the engine twice: what the workloads W1 to W4 run most decides how the compiler lays out the second.
PGO := $(CURDIR)/target/pgo
LLVM := $(shell rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
PROFDATA = $(firstword $(shell find "$$(rustc --print sysroot)" -name llvm-profdata -type f 2>/dev/null) $(wildcard /usr/lib/llvm-$(LLVM)/bin/llvm-profdata))
PROFILED := $(if $(PROFILE),CARGO_TARGET_DIR="$(PGO)/second" RUSTFLAGS="-Cprofile-use=$(PGO)/merged.profdata")

wheel: $(VENV)/.deps $(if $(PROFILE),$(PGO)/merged.profdata)
	$(PROFILED) $(BIN)/maturin build --release --quiet --compatibility manylinux_2_34 --out $(WHEELS)

$(PGO)/merged.profdata: $(STAMP)
	@test -n "$(PROFDATA)" || { echo "no llvm-profdata of LLVM $(LLVM): rustup component add llvm-tools, or Debian's llvm-$(LLVM)"; exit 1; }
	CARGO_TARGET_DIR="$(PGO)/first" RUSTFLAGS="-Cprofile-generate=$(PGO)/raw" PYO3_PYTHON="$(CURDIR)/$(BIN)/python" \
		cargo build --quiet --release --package elephan-py
	rm -rf $(PGO)/python $(PGO)/raw && cp -r python $(PGO)/python
	cp $(PGO)/first/release/libelephan_py.so $(PGO)/python/elephan/_core.abi3.so
	for run in "w1 2 s" "w2 10 ms" "w3 20 s" "w4 60 s"; do \
		PYTHONPATH=$(PGO)/python $(BIN)/python -m elephan.bench.worker $${run%% *} 1 "duration=$${run#* }" >$(PGO)/run.json || exit 1; \
	done
	$(PROFDATA) merge -o $@ $(PGO)/raw

# The engine of the page in WebAssembly. The standard library is built with it, so that it needs a compiler that knows the target and
# the library's sources: the nightly toolchain with rust-src, or Debian's rustc-web, cargo-web and rust-web-src. binaryen comes from npm.
WEB := target/web
WASM := python/elephan/explore/wasm/elephan.wasm
WEB_SOURCES := $(shell test -e $$(rustc +nightly --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library/Cargo.lock && echo nightly || \
	test -e /usr/lib/rustlib/src/rust/library/Cargo.lock && echo debian)
WEB_LLD := $(shell find "$$(rustc --print sysroot)" -name rust-lld -type f 2>/dev/null | head -1)
WEB_FLAGS := RUSTFLAGS="-C target-feature=+simd128 -C link-arg=-zstack-size=4194304" $(if $(WEB_LLD),CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$(WEB_LLD)")
WEB_CARGO := $(WEB_FLAGS) $(if $(filter nightly,$(WEB_SOURCES)),cargo +nightly,RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo)
# Passes that pay: -O3, and what the compiler cannot see across its own inlining.
WASM_OPT := --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals \
	--enable-multivalue --enable-reference-types -O3 --strip-debug --strip-producers

web:
	@if test -z "$(WEB_SOURCES)"; then echo "make web needs nightly with rust-src, or Debian's rustc-web, cargo-web and rust-web-src"; exit 1; fi
	$(WEB_CARGO) build --quiet -Z build-std=std,panic_abort --target wasm32-unknown-unknown --target-dir $(WEB) --package elephan-web --profile web
	mkdir -p $(dir $(WASM))
	@if npm --version >/dev/null 2>&1; then npm exec --yes --package=binaryen@$(BINARYEN) -- \
		wasm-opt $(WASM_OPT) $(WEB)/wasm32-unknown-unknown/web/elephan_web.wasm -o $(WASM); \
	else cp $(WEB)/wasm32-unknown-unknown/web/elephan_web.wasm $(WASM); fi
	gzip --keep --force --best $(WASM)
	rm -rf $(WHEELS)/web && mkdir -p $(WHEELS)/web && cp -r python/elephan/explore/page/. python/elephan/explore/wasm $(WHEELS)/web/
	@ls -l $(WASM) $(WASM).gz

# Exact versions for CPython 3.11 and later, with the hashes of all their files. What is locked already stays, unless UPGRADE=--upgrade.
# pip too, because `maturin develop` installs the dependency group, which pip knows since 25.1.
LOCK := target/lock/bin

lock:
	$(PYTHON) -m venv target/lock
	$(LOCK)/python -m pip install --quiet uv
	echo "pip>=25.1" | $(LOCK)/uv pip compile --quiet --universal --python-version 3.11 --group dev --generate-hashes --no-annotate \
		--no-emit-index-url --custom-compile-command "make lock" $(UPGRADE) --output-file requirements.lock pyproject.toml -
	$(LOCK)/uv pip compile --quiet --universal --python-version 3.11 --group docs --constraint requirements.lock --generate-hashes \
		--no-annotate --no-emit-index-url --custom-compile-command "make lock" $(UPGRADE) --output-file docs/requirements.lock

generate:
	cargo run --quiet --package elephan-scenario --bin generate -- $(CHECK)
	cargo run --quiet --package elephan-record --example data_dictionary -- $(CHECK)
	cargo run --quiet --package elephan-tcp --example stack_table -- $(CHECK)
	$(BIN)/python explore/generate.py $(CHECK)
	$(BIN)/python docs/studies.py $(CHECK)
	$(BIN)/python docs/requirements.py $(if $(CHECK),,--write)
	@if test -z "$(CHECK)" && node --version >/dev/null 2>&1; then $(MAKE) --no-print-directory page; fi

# The digests that `elephan verify` compares, of the tables of 200 scenarios: what changes the engine's numbers changes them.
digests: setup
	$(BIN)/python tests/python/verified.py $(CHECK)

clean:
	rm -rf target $(VENV) dist results

# Every study in full, an hour or more; their READMEs are written with the numbers that come out.
studies: setup
	@for name in $$($(BIN)/elephan study list --json | $(BIN)/python -c 'import json, sys; print(*(one["name"] for one in json.load(sys.stdin)))'); do \
		$(BIN)/elephan study run $$name --out $(OUT)/$$name && $(BIN)/python docs/studies.py $(OUT)/$$name || exit 1; \
	done

# Runs packetdrill scripts below DIR and prints a table by folder, such as DIR=packetdrill/gtests/net.
packetdrill: setup
	@$(BIN)/elephan packetdrill --table $(DIR) || test $$? -eq 1

# Asks this machine's kernel what TCP does (docs/kernel.md): own scripts, then random senders and receivers. Needs root and TUN.
referee: setup
	PYTHONPATH=tests/python $(BIN)/python -m kernel.referee all --minutes $(or $(MINUTES),10) --smallest $(OUT)/referee

# The page of every built-in congestion control's conformance; runs that are kept are not run again.
conformance: setup
	$(BIN)/python docs/conformance_reports.py $(CHECK)

# The page of bands: congestion controls over links that vary (docs/bands.md). CHECK=--check only compares.
bands: setup
	$(BIN)/python docs/bands.py $(CHECK)

# The register of requirements: places, tests and reasons of each rule (docs/requirements/).
requirements: setup
	$(BIN)/python docs/requirements.py

# Takes the cited line of a sample of rules out, in a copy, and runs the cited test, which must fail. COUNT=60 SEED=1 choose the sample.
COUNT ?= 60
requirements-cut: setup
	$(BIN)/python tests/python/cut_requirements.py --count $(COUNT) --seed $(SEED)
