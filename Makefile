# Everything a person does with the repository; `make help` lists it.
# PYTHON=… chooses the interpreter, VENV=… the virtual environment, ARGS=… passes arguments on.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run setup test check format docs build bench lock node-clients clean

VENV ?= .venv
ARGS ?=
export PYTHON
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

install = python="$$(scripts/find_python)"; \
	"$$python" scripts/install.py --venv $(VENV) $(if $(PYTHON),--same-python)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST) | sort

run: ## Start Archivolt on this machine (PORT, DATA, VAULTS from the environment)
	@$(install) run ministack
	@scripts/fetch_dynamodb_local --optional
	@exec $(VENV)/bin/archivolt up

setup: ## Create .venv and the tools' environments
	@$(install) dev ministack mcp-servers
	@scripts/fetch_dynamodb_local --optional

test: setup ## Run the test suite
	@$(VENV)/bin/python -m pytest $(ARGS)

check: ## Format, lint, types, import contracts, template, house rules
	@$(install) dev sam
	@scripts/check $(VENV)

format: ## Format the code and apply the linter's safe fixes
	@$(install) dev
	@$(VENV)/bin/ruff check --fix-only --quiet .
	@$(VENV)/bin/ruff format --quiet .

docs: ## Write docs/api.md anew from the code
	@$(install) dev
	@$(VENV)/bin/python -m scripts.generate_api_docs

build: ## Build what is deployed, with SAM
	@$(install) sam
	@scripts/build

bench: ## Print the benchmarks
	@$(install) dev ministack fastmcp search-peers
	@scripts/fetch_dynamodb_local --optional
	@$(VENV)/bin/python -m bench $(ARGS)

lock: ## Write the pinned requirements anew (ARGS=--upgrade takes newer versions)
	@$(install) uv
	@scripts/lock .tools/uv/bin/uv $(ARGS)

node-clients: node_modules/.package-lock.json ## Install the Node clients that the guides and tests use

node_modules/.package-lock.json: package.json package-lock.json
	@command -v npm >/dev/null || { echo "The Node clients need npm: install Node." >&2; exit 1; }
	@npm ci --loglevel=error
	@touch $@

clean: ## Remove everything that can be made anew (not the data of a stack)
	rm -rf .venv* .tools .aws-sam node_modules .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
