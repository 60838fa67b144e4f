# Each target works on a fresh machine with Python 3.11, Rust and a C toolchain: it makes .venv, builds, and runs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.elephan
RUST_SOURCES := $(shell git ls-files -co --exclude-standard 'crates/*.rs' 'crates/**/Cargo.toml' Cargo.toml Cargo.lock 2>/dev/null)
OUT ?= results
SEED ?= 2026

.PHONY: help setup demo test test-all lint bench wheel generate clean

help:
	@echo "make demo      the quick cut of the study intel-2004: answer, verdicts, report"
	@echo "make test      the fast tests, Rust and Python"
	@echo "make test-all  the long ones as well (apt-get install tshark tcptrace for those that read captures)"
	@echo "make lint      formatting, clippy, ruff, mypy, generated files"
	@echo "make bench     the standard workloads W1 to W4"
	@echo "make wheel     an abi3 wheel in dist/"
	@echo "make generate  write the generated files again: schema, references, Python classes"

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
	$(BIN)/python -m pytest -m "not slow"

test-all: setup
	cargo test --quiet --workspace --exclude elephan-py
	PROPTEST_CASES=2000 cargo test --quiet --profile long --workspace --exclude elephan-py
	$(BIN)/python -m pytest

lint: setup
	rustfmt --edition 2024 --check $$(git ls-files 'crates/*.rs')
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check python tests
	$(BIN)/ruff format --check python tests
	$(BIN)/mypy python
	$(MAKE) --no-print-directory generate CHECK=--check

bench: setup
	$(BIN)/elephan bench W1 W2 W3 W4

wheel: $(VENV)/.deps
	$(BIN)/maturin build --release --out dist

generate: setup
	cargo run --quiet --package elephan-scenario --bin generate -- $(CHECK)
	cargo run --quiet --package elephan-record --example data_dictionary -- $(CHECK)

clean:
	rm -rf target $(VENV) dist results
