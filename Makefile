# On a fresh machine `make train` and `make test` do everything, the setting up included.
PYTHON ?= python3
VENV ?= .venv
VENV_RLLIB ?= .venv-rllib
BIN := $(VENV)/bin
BIN_RLLIB := $(VENV_RLLIB)/bin
READY := $(VENV)/.ready
CLIENTS := $(VENV)/.clients
READY_RLLIB := $(VENV_RLLIB)/.ready
# Tests share the processors; each worker takes over from those that are behind.
PYTEST := $(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal
INSTALL := -m pip install --quiet --disable-pip-version-check --constraint

.PHONY: help train test demo soak bench rllib lint clean

help: ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) constraints.txt torch
	$(BIN)/python $(INSTALL) constraints.txt --editable ".[train,dev]"
	touch $(READY)

$(CLIENTS): $(READY)
	$(BIN)/python $(INSTALL) constraints.txt --editable ".[train,dev,clients,bench]"
	touch $(CLIENTS)

$(READY_RLLIB): pyproject.toml constraints-rllib.txt
	$(PYTHON) -m venv $(VENV_RLLIB)
	$(BIN_RLLIB)/python $(INSTALL) constraints-rllib.txt --editable . "ray[rllib]" torch pytest pillow
	touch $(READY_RLLIB)

train: $(READY) ## train an agent for mitch_jp by self-play, export it, show it in a tournament
	$(BIN)/python train/ppo.py --config configs/mitch_jp_3p.yaml

test: $(CLIENTS) lint ## check style and types, run all tests, and the rules again uncompiled and with bounds checks
	$(PYTEST) -m "not slow"
	NUMBA_DISABLE_JIT=1 $(PYTEST) tests/test_rulings_mitch.py tests/test_rendering_mitch.py
	NUMBA_BOUNDSCHECK=1 $(PYTEST) tests/test_rulings_mitch.py tests/test_laws.py -k "not plain"

lint: $(READY) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict mitch_env agents

demo: $(READY) ## play a random match and show it
	$(BIN)/python examples/demo.py

soak: $(READY) ## 20,000 random matches against the referee, and the slow strength tests
	$(BIN)/python tests/soak.py --matches 20000 --seed 1
	$(BIN)/python -m pytest -m slow

bench: $(READY) ## speed, side by side with peers (installs them)
	$(BIN)/python $(INSTALL) constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks.throughput --cold --out runs/speed

rllib: $(READY_RLLIB) ## test the RLlib client in an environment of its own, since Ray pins another Gymnasium
	$(BIN_RLLIB)/python -m pytest tests/test_client_rllib.py tests/test_aec.py tests/test_single_agent.py tests/test_registry.py tests/test_batch.py
	$(BIN_RLLIB)/python examples/rllib_ppo.py --iterations 1 --decisions 100 --matches 20

clean: ## remove the virtual environments and caches
	rm -rf $(VENV) $(VENV_RLLIB) .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
