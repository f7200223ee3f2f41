# Two commands do all the set-up: `make demo` and `make test`. Both need Python >= 3.11, git and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz test-services lint fmt types imports bench conformance mutation docs measure clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[dev,languages,plugins,rag,postgres]'
	@touch $@ $(VENV)/.installed

$(VENV)/.rag: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[languages,rag]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed ## Run the main job on the example fleet
	@$(MAKE) --no-print-directory $(VENV)/.rag \
	  || echo "The extra rag cannot be installed here: the demo searches by words alone." >&2
	@sh examples/demo.sh $(BIN)/agentic-os

test: $(VENV)/.dev ## Run the test suite (pip only)
	$(PYTEST) -n $(WORKERS) --dist worksteal --cov --cov-report=term --cov-fail-under=95

fuzz: $(VENV)/.dev ## Run the property tests on newly drawn cases
	$(PYTEST) -n $(WORKERS) --hypothesis-profile=explore tests/property

test-services: $(VENV)/.dev ## Run the tests that need apt, npm, torch or a server (.ci/services)
	$(PYTEST) -m services tests

lint: $(VENV)/.dev types imports ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## Check the types
	$(BIN)/mypy

imports: $(VENV)/.dev ## Check the walls between the rooms
	$(BIN)/lint-imports

measure: $(BIN)/python ## Count folders, copies, double constants and moods (tests hold the limits)
	$(BIN)/python tests/support/house/measures.py

fmt: $(VENV)/.dev ## Format the code
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

page: ## Build the page's script and style into the package (needs Node.js 20)
	cd web && npm ci --no-fund --no-audit --loglevel=error && npm run --silent types && npm run --silent build

page-check: ## Check the page's sources, and that the built files are theirs
	cd web && npm ci --no-fund --no-audit --loglevel=error && npm run --silent check && npm run --silent test

docs: $(VENV)/.dev ## Write the generated reference pages anew
	$(BIN)/python docs/generate.py

bench: $(VENV)/.dev ## Measure; results are in docs/explanation/performance.md
	$(BIN)/python benchmarks/fleet.py
	$(BIN)/python benchmarks/graph_union.py
	$(BIN)/python benchmarks/graph_judge.py
	$(BIN)/python benchmarks/vector_index.py
	$(BIN)/python benchmarks/retrieval/run.py
	$(BIN)/python benchmarks/retrieval/peer.py
	$(BIN)/python benchmarks/ledger_verify.py
	$(BIN)/python benchmarks/witness_load.py
	$(BIN)/python benchmarks/mcp_start.py
	$(BIN)/python benchmarks/mcp_server.py
	$(BIN)/python benchmarks/aios_writing.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/plugins.py

conformance: $(VENV)/.dev ## Let outside judges test the MCP server (needs npm); see docs/reference/mcp-conformance.md
	$(BIN)/python tests/conformance/run.py --record

# mutmut 3.8 ends CPython 3.11 with a segmentation fault: make mutation VENV=.venv-3.13 PYTHON=python3.13
mutation: $(VENV)/.dev ## Mutation testing of the parsers and the guards of paths (half an hour)
	$(PIP) install 'mutmut>=3.8,<4'
	$(BIN)/mutmut run --max-children $(WORKERS)
	$(BIN)/mutmut results

clean: ## Delete what the targets above made
	rm -rf $(VENV) .demo dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage* mutants
