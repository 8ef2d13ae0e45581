# On a fresh machine `make train` and `make test` do everything, the setting up included.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help train test demo soak bench lint clean

help: ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[train,dev]"
	touch $(READY)

train: $(READY) ## train an agent for mitch_jp by self-play, export it, show it in a tournament
	$(BIN)/python train/ppo.py --config configs/mitch_jp_3p.yaml

test: $(READY) lint ## check style and types, run all tests, and the rules again uncompiled and with bounds checks
	$(BIN)/python -m pytest -m "not slow"
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/test_rulings_mitch.py tests/test_rendering_mitch.py
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest tests/test_rulings_mitch.py tests/test_laws.py -k "not plain"

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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks.throughput

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
