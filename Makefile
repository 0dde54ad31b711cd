# Every target makes the environment it needs, once, and again when pyproject.toml has changed.
#   make demo          what inert does, on a shipped file
#   make test          lint, types, the whole suite with coverage; neither torch nor tensorflow is there
#   make test-oracle   comparison with the real programs, torch and tensorflow each in an environment of its own
#   make pictures      the pictures of docs/view.md
#   make lint · fuzz-smoke · fuzz · clean
#   make bench · bench-tensorflow · bench-checks   ratios against other programs, each from one run
# PYTHON=python3.13 make test   takes another interpreter.

PYTHON ?= python3
VENV := .venv
ORACLE := .venv-oracle
ORACLE_TF := .venv-oracle-tf
CHECKS := .venv-checks
DEMO ?= examples/demo.ckpt
FUZZ_SECONDS ?= 600
PYTEST_ARGS ?=
BENCH_ARGS ?=

# The interpreter's name is part of the stamps, so that another PYTHON makes the environment anew.
tag := $(subst /,-,$(PYTHON))
pip = $(1)/bin/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := test
.PHONY: demo test test-oracle test-oracle-torch test-oracle-tensorflow bench bench-tensorflow bench-checks lint pictures fuzz-smoke fuzz clean
.DELETE_ON_ERROR:

# ------------------------------------------------------------------------------------------------------------ environments

$(VENV)/.made-run-$(tag): pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(call pip,$(VENV)) --editable .
	touch $@

$(VENV)/.made-test-$(tag): $(VENV)/.made-run-$(tag)
	$(call pip,$(VENV)) --editable '.[test]'
	touch $@

# What looks at the page of `inert view`: Debian's Chromium and npm's axe-core. Where they cannot be had here, those tests say that they
# are skipped (with CI=true they fail).
$(VENV)/.made-browser-$(tag): $(VENV)/.made-test-$(tag)
	command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; } || \
		echo "chromium is not here: the tests of the page are skipped"
	npm install --silent --no-save --no-audit --no-fund --prefix $(VENV)/node axe-core@4.14.1 || echo "axe-core is not here: its test is skipped"
	touch $@

# atheris has wheels for some interpreters only; without it the targets' random driver does the work.
$(VENV)/.made-fuzz-$(tag): $(VENV)/.made-test-$(tag)
	$(call pip,$(VENV)) --editable '.[fuzz]' || echo "atheris cannot be installed here: the random driver is used"
	touch $@

# torch is held to one version, here and in pyproject.toml. Without a GPU you want its CPU build: see CONTRIBUTING.md.
# deepspeed is a source package that imports torch when it is built (15 s without its CUDA operators), so that no extra can name it.
$(ORACLE)/.made-oracle-$(tag): pyproject.toml
	$(PYTHON) -m venv --clear $(ORACLE)
	$(call pip,$(ORACLE)) torch==2.13.0
	$(call pip,$(ORACLE)) --editable '.[oracle]'
	$(call pip,$(ORACLE)) setuptools wheel
	DS_BUILD_OPS=0 $(call pip,$(ORACLE)) --no-build-isolation deepspeed==0.19.8 || \
		echo "deepspeed cannot be installed here: tests/oracle/test_deepspeed_oracle.py is skipped"
	touch $@

# tensorflow-cpu (some 250 MB) beside torch would fight over protobuf, and slow down every start of the others' tests.
$(ORACLE_TF)/.made-oracle-$(tag): pyproject.toml
	$(PYTHON) -m venv --clear $(ORACLE_TF)
	$(call pip,$(ORACLE_TF)) --editable '.[oracle-tensorflow]'
	touch $@

$(ORACLE)/.made-bench-$(tag): $(ORACLE)/.made-oracle-$(tag)
	$(call pip,$(ORACLE)) --editable '.[bench]'
	touch $@

# ----------------------------------------------------------------------------------------------------------------- targets

demo: $(VENV)/.made-run-$(tag)
	@set -e; \
	run() { printf '\n——— %s\n——— $$ inert %s\n\n' "$$1" "$$(shift; echo "$$*")"; shift; $(VENV)/bin/inert "$$@"; }; \
	first=$$($(VENV)/bin/inert ls --json $(DEMO) | \
		$(VENV)/bin/python -c 'import json, sys; print(json.load(sys.stdin)["tensors"][0]["name"])'); \
	run 'Which tensors are in it?' ls $(DEMO); \
	run 'What is it, who wrote it, and would torch load it?' info $(DEMO); \
	run 'What does one tensor hold?' show $(DEMO) "$$first" --stats; \
	run 'Where do the bytes lie?' parts $(DEMO)

pictures: $(VENV)/.made-browser-$(tag)
	$(VENV)/bin/python tools/make_pictures.py

lint: $(VENV)/.made-test-$(tag)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

test: lint $(VENV)/.made-browser-$(tag)
	$(VENV)/bin/python -m pytest -n 2 --ignore=tests/oracle --cov --cov-report=term --cov-report=json:coverage.json $(PYTEST_ARGS)
	$(VENV)/bin/python tools/core_coverage.py coverage.json

# The real programs warn about matters of their own, so warnings are no errors here.
test-oracle: test-oracle-torch test-oracle-tensorflow

test-oracle-torch: $(ORACLE)/.made-oracle-$(tag)
	$(ORACLE)/bin/python -m pytest -n 2 -W default -m oracle tests/oracle $(PYTEST_ARGS)

test-oracle-tensorflow: $(ORACLE_TF)/.made-oracle-$(tag)
	$(ORACLE_TF)/bin/python -m pytest -W default -m oracle tests/oracle $(PYTEST_ARGS)

# The same inputs each time, about a minute's worth on two cores; the random driver is enough for that.
fuzz-smoke: $(VENV)/.made-test-$(tag)
	$(VENV)/bin/python tools/fuzz.py --smoke --jobs 2

fuzz: $(VENV)/.made-fuzz-$(tag)
	$(VENV)/bin/python tools/fuzz.py --seconds $(FUZZ_SECONDS) -- --seed $$(date +%s) --corpus fuzz/corpus

bench: $(ORACLE)/.made-bench-$(tag)
	$(ORACLE)/bin/python bench/run.py $(BENCH_ARGS)

bench-tensorflow: $(ORACLE_TF)/.made-oracle-$(tag) $(VENV)/.made-run-$(tag)
	$(ORACLE_TF)/bin/python bench/bundles.py --inert $(VENV)/bin/python $(BENCH_ARGS)

# Whole processes, so inert is installed here as its users have it.
bench-checks: pyproject.toml
	$(PYTHON) -m venv --clear $(CHECKS)
	$(call pip,$(CHECKS)) . picklescan==1.0.5 hayward==1.4.1
	$(CHECKS)/bin/python bench/checks.py $(BENCH_ARGS)

clean:
	rm -rf $(VENV) $(ORACLE) $(ORACLE_TF) $(CHECKS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	rm -rf .coverage .coverage.* coverage.json htmlcov
	find src tests tools fuzz bench examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
