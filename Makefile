# Every command of AIDE for people. `make help` lists them.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PORT ?= 8000
PYTEST_ARGS ?=
# Processes of the test run. Each starts the servers that its own tests ask for.
TEST_PROCESSES ?= 2
MSG ?=

# The first Python on PATH that is new enough; `make demo PYTHON=…` chooses another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)

PY := .venv/bin/python
MANAGE := $(PY) manage.py
HASH = $(shell cat $(1) 2>/dev/null | cksum | cut -d' ' -f1)
PLACE := $(shell echo "$(CURDIR)" | cksum | cut -d' ' -f1)
RUNTIME := .venv/.runtime-$(PLACE)-$(call HASH,requirements.txt sdk/pyproject.toml)
DEVELOPMENT := .venv/.development-$(PLACE)-$(call HASH,requirements.txt requirements-vault.txt requirements-dev.txt sdk/pyproject.toml)

# The demo is the same everywhere: no variable of the shell changes it.
DEMO := env -u AIDE_BROKER_URL -u AIDE_KAFKA_SERVERS -u AIDE_SECRET_KEY -u AIDE_ALLOWED_HOSTS \
	AIDE_DEBUG=1 AIDE_DATABASE_URL=sqlite:///var/aide.sqlite3
# What a production server is given, with values of no use elsewhere.
PRODUCTION := env AIDE_DEBUG=0 AIDE_SECRET_KEY=check-only-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJ \
	AIDE_ALLOWED_HOSTS=aide.example.com AIDE_CSRF_TRUSTED_ORIGINS=https://aide.example.com \
	AIDE_DATABASE_URL=postgresql://aide:aide@127.0.0.1:5432/aide AIDE_BROKER_URL=redis://127.0.0.1:6379/0

.PHONY: help demo demo-reset demo-port test test-postgresql nightly chaos load check up stop bench format \
	seed-data-types migration migrate

help:  ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- The virtual environment ---------------------------------------------------------------------

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "AIDE needs Python 3.11 or newer; none was found on PATH." >&2; exit 1; }
	@echo "Making .venv with $$($(PYTHON) --version)"
	@if command -v uv >/dev/null 2>&1; then uv venv -q --python "$$(command -v $(PYTHON))" .venv; \
	else $(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python's venv module is incomplete here. On Debian: \
	apt-get install python3-venv" >&2; exit 1; }; fi

# $(1): the requirements file. uv where it is there, else pip; pip also when uv fails.
install = $(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "The Python of .venv is older than 3.11. Remove .venv and try again." >&2; exit 1; }; \
	echo "Installing $(1)"; \
	if ! { command -v uv >/dev/null 2>&1 && uv pip install -q --python $(PY) -r $(1); }; then \
	$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip -q; \
	$(PY) -m pip install -q --disable-pip-version-check -r $(1); fi

$(RUNTIME): | .venv/bin/python
	@$(call install,requirements.txt)
	@rm -f .venv/.runtime-*; touch $@

$(DEVELOPMENT): | .venv/bin/python
	@$(call install,requirements-dev.txt)
	@rm -f .venv/.runtime-* .venv/.development-*; touch $(RUNTIME) $@

# --- The demo ------------------------------------------------------------------------------------

demo-port:
	@test -n "$(PYTHON)" || { echo "AIDE needs Python 3.11 or newer; none was found on PATH." >&2; exit 1; }
	@$(PYTHON) -c 'import socket, sys; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); \
	s.bind(("127.0.0.1", int(sys.argv[1])))' "$(PORT)" 2>/dev/null \
	|| { echo "Port $(PORT) is taken (or is no port). Choose another: make demo PORT=8001" >&2; exit 1; }

demo: demo-port $(RUNTIME)  ## Try AIDE: a story in six systems and a shop, with log-ins for every role (PORT=8000)
	@$(DEMO) $(MANAGE) seed_demo --size small --with-shop
	@exec $(DEMO) $(MANAGE) serve --port $(PORT)

demo-reset: demo-port  ## The same, from the beginning
	@rm -f var/aide.sqlite3 var/aide.sqlite3-wal var/aide.sqlite3-shm
	@rm -rf var/demo
	@$(MAKE) --no-print-directory demo

# --- Tests ---------------------------------------------------------------------------------------

PYTEST = $(PY) -m pytest -n $(TEST_PROCESSES) --dist loadfile

test: $(DEVELOPMENT)  ## Every test of the short tier, on SQLite, then the product's own without a browser on PostgreSQL
	@status=0; $(PYTEST) -m "not nightly and not chaos and not load" $(PYTEST_ARGS) || status=$$?; \
	$(MAKE) --no-print-directory test-postgresql || status=$$?; exit $$status

test-postgresql: $(DEVELOPMENT)
	@AIDE_TEST_DATABASE=postgresql $(PYTEST) --product-only \
	-m "not nightly and not chaos and not load and not browser" $(PYTEST_ARGS)

nightly: $(DEVELOPMENT)  ## The long tier: everything, on both databases, with chaos and load
	@$(PYTEST) -m "not chaos and not load" $(PYTEST_ARGS)
	@AIDE_TEST_DATABASE=postgresql $(PYTEST) --product-only -m "not chaos and not load" $(PYTEST_ARGS)
	@$(MAKE) --no-print-directory chaos load

chaos: $(DEVELOPMENT)  ## The fault suite: servers stopped, paused and killed
	@$(PY) -m pytest -m chaos $(PYTEST_ARGS)

load: $(DEVELOPMENT)  ## The load suite
	@$(PY) -m pytest -m load $(PYTEST_ARGS)

check: $(DEVELOPMENT)  ## Format, lint, types, import contracts, migrations, production settings
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	.venv/bin/lint-imports
	AIDE_DEBUG=1 AIDE_DATABASE_URL=sqlite://:memory: $(MANAGE) makemigrations --check --dry-run
	$(PRODUCTION) $(MANAGE) check --deploy --fail-level WARNING

format: $(DEVELOPMENT)  ## Format the code and mend what the linter can
	$(PY) -m ruff check --fix-only -q .
	$(PY) -m ruff format .

bench: $(DEVELOPMENT)  ## The benchmarks: ratios against the floor and, where installed, the peers
	@for file in bench/bench_*.py; do echo "== $$file"; PYTHONPATH=. $(PY) "$$file" || exit 1; done

# --- The production shape ------------------------------------------------------------------------

.env:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed to make .env; none was found." >&2; exit 1; }
	@$(PYTHON) -c 'import re, secrets, pathlib; \
	text = pathlib.Path(".env.example").read_text(); \
	pathlib.Path(".env").write_text(re.sub("<random>", lambda _: secrets.token_urlsafe(48), text))'
	@chmod 600 .env
	@echo "Made .env with fresh secrets; read it before others are let in."

up: .env  ## PostgreSQL, Redis, Kafka, web, worker and beat with docker compose
	@command -v docker >/dev/null 2>&1 || { echo "make up needs Docker with its compose plugin." >&2; exit 1; }
	@docker compose up --build --detach --wait
	@echo "AIDE is at http://127.0.0.1:$${AIDE_PORT:-8000}/ ; the first administrator's log-in is in .env"

stop:  ## Stop what `make up` started; the data stay
	@docker compose down

# --- By hand -------------------------------------------------------------------------------------

seed-data-types: $(RUNTIME)  ## Load or update the type catalogues
	@$(MANAGE) seed_data_types

migrate: $(RUNTIME)  ## Bring the database up to date
	@$(MANAGE) migrate

migration: $(DEVELOPMENT)  ## Write a migration: make migration MSG=add_owner
	@test -n "$(MSG)" || { echo "Name it: make migration MSG=add_owner" >&2; exit 1; }
	@$(MANAGE) makemigrations --name "$(MSG)"
