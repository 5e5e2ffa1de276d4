# Two commands do everything: `make demo` and `make test`. Each makes its own virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test docs lint compiled pytest bench bench-live install clean

help:
	@echo "make demo         crawl a small web on this machine, live, and compare the crawls with simulated ones"
	@echo "make test         linters, types, import contract and all tests (also alone: make lint, make pytest)"
	@echo "make docs         the documentation as a site in site/, with executed notebooks and checked links"
	@echo "make bench        the benchmarks; those of real collections need ../shared/data"
	@echo "make bench-live   live crawls over loopback: CPU time of real pages compared with Scrapy (../shared/data), politeness, resuming, forty kills (-9), 100,000 pages"
	@echo "make clean        remove the virtual environment and what the tools left"

install: $(STAMP)

$(STAMP): pyproject.toml setup.py constraints.txt $(wildcard src/scenthound/native/*.[ch])
	$(PYTHON) -m venv $(VENV)
	$(PIP) setuptools
	$(PIP) --no-build-isolation --editable '.[lab,dashboard,dev]'
	touch $@

demo: install
	$(BIN)/scenthound demo --out demo

test: install
	@$(MAKE) --no-print-directory --jobs 2 lint compiled
	@$(MAKE) --no-print-directory pytest

docs: install
	$(BIN)/python -m docs_site

lint: install
	$(BIN)/ruff check src tests benchmarks docs_site
	$(BIN)/ruff format --check src tests benchmarks docs_site
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

# In a new checkout nothing is compiled yet.
compiled: install
	$(BIN)/python tests/compile_functions.py

# Tests start hundreds of Python processes. Without cached bytecode each of them would compile the package.
pytest: export PYTHONDONTWRITEBYTECODE =
pytest: install
	$(BIN)/pytest --numprocesses 4 --dist worksteal

bench: install
	$(BIN)/python -m benchmarks

bench-live: install
	$(BIN)/python -m benchmarks.live
	$(BIN)/python -m benchmarks.live_politeness
	$(BIN)/python -m benchmarks.live_resume
	$(BIN)/python -m benchmarks.live_kills
	$(BIN)/python -m benchmarks.live_large

clean:
	find src tests benchmarks docs_site -name __pycache__ -prune -exec rm -rf {} +
	rm -f src/scenthound/native/*.so
	rm -rf $(VENV) demo build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
