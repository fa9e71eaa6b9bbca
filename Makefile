# `make` alone lists the targets. pip and the package registry are all that is needed.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
BENCHMARKS = $(sort $(wildcard benchmarks/*.py))

# The first Python on the path that is new enough; name another with `make PYTHON=/path/to/python check`.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)

.PHONY: help check prove mutate conform kill test format bench clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

check: $(VENV)/.installed ## check every specification in spec/ and refresh reports/
	$(BIN)/killpoint check

prove: $(VENV)/.installed ## certify every scenario in spec/ and write reports/proofs.md; takes minutes
	$(BIN)/killpoint prove

mutate: $(VENV)/.installed ## change every protocol in spec/ in one place at a time; reports/mutation.md; takes minutes
	$(BIN)/killpoint mutate --fail-on-survivors

conform: $(VENV)/.installed-reference ## hold the implementations against spec/; reports/conformance.md
	$(BIN)/killpoint conform

kill: $(VENV)/.installed-reference ## kill the implementations at every kill point; reports/conformance.md; takes minutes
	$(BIN)/killpoint kill

test: $(VENV)/.installed-test ## lint, type-check, check the import contracts, run the tests (those of pages in Chromium where it is)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

format: $(VENV)/.installed-test ## sort imports, mend what ruff can mend, lay out the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed ## run every benchmark in benchmarks/
	@test -n "$(BENCHMARKS)" || { echo "bench: benchmarks/ holds no .py file" >&2; exit 1; }
	@set -e; for benchmark in $(BENCHMARKS); do echo "== $$benchmark"; $(BIN)/python $$benchmark; done

clean: ## remove the environment, caches and builds; reports/ stays
	rm -rf $(VENV) build dist .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamp files: each step runs again only when pyproject.toml, which says what is installed, has changed.
$(VENV)/.created:
	@test -n "$(PYTHON)" || { \
		echo "killpoint needs Python 3.11 or newer, and none of python3, python3.13, python3.12, python3.11 is." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) cannot be run or is older than Python 3.11." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-reference: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[reference]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,pictures,reference]'
	@touch $@
