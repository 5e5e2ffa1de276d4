# `make help` lists the commands. Each makes the virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test test-all test-native docs lint pytest net-update bench bench-live install clean

help:
	@echo "make demo         crawl a small web on this machine, live, and compare the crawls with simulated ones"
	@echo "make test         linters, types, import contract and tests (also alone: make lint, make pytest)"
	@echo "make test-all     what \`make test\` leaves out: slow tests, and property tests with more examples"
	@echo "make test-native  the tests of the extension in C with AddressSanitizer and UBSan, and calls with any arguments"
	@echo "make net-update   store the golden files of tests/net anew; review their diff"
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

# Side by side, because mypy has one thread.
test: install
	@$(MAKE) --no-print-directory --jobs 2 lint pytest

docs: install
	$(BIN)/python -m docs_site

lint: install
	$(BIN)/ruff check src tests benchmarks docs_site
	$(BIN)/ruff format --check src tests benchmarks docs_site
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

# Tests start hundreds of Python processes. Without cached bytecode each of them would compile the package.
pytest: export PYTHONDONTWRITEBYTECODE =
pytest: install
	$(BIN)/pytest --numprocesses 3 --dist worksteal

# Nothing is repeated but the property tests. A file has one process, so that what its tests share, such as an installed
# package or a cluster, is made once.
test-all: export PYTHONDONTWRITEBYTECODE =
test-all: install
	$(BIN)/pytest --numprocesses 3 --dist loadfile -m "slow or hypothesis" --hypothesis-profile thorough

test-native: install
	$(BIN)/python tests/native/sanitizers.py

# Store the golden files of the net anew. Review the diff: it is the change that users see.
net-update: install
	$(BIN)/pytest tests/net --update-net

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
