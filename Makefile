# `make demo` and `make test` do all the set-up themselves; see CONTRIBUTING.md for the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo serve test servers lint rooms prove bench peers load soak reproduce seeds picture screenshots clean help
.DEFAULT_GOAL := help

help:                    ## what there is to make
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

demo: $(INSTALLED)       ## the paper's experiment in about a minute: table, and a report to open
	@$(BIN)/occupair reproduce --draws 1 --out occupair-report.html

reproduce: $(INSTALLED)  ## the same with the paper's 100 draws: the README's table
	@$(BIN)/occupair reproduce --draws 100 --out occupair-report.html

serve: $(INSTALLED)      ## the live service on five simulated rooms: open http://127.0.0.1:8099
	@$(BIN)/occupair serve --demo

test: lint servers       ## everything that has to hold
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

# Debian's packages, where one may install them; else the tests say at their end what they left out.
servers:
	@missing=; for pair in mosquitto:mosquitto initdb:postgresql chromium:chromium openssl:openssl; do \
	  PATH="$$PATH:/usr/sbin:$$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tr '\n' ':')" \
	  command -v $${pair%%:*} >/dev/null || missing="$$missing $${pair##*:}"; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing for the tests:$$missing"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	elif [ -n "$$missing" ]; then echo "not installed, so that some tests are left out:$$missing"; fi

soak: $(INSTALLED) servers  ## the service killed twenty times on each database (some five minutes)
	OCCUPAIR_KILLS=20 $(BIN)/python -m pytest tests/live/test_survives.py

load: $(INSTALLED) servers  ## 2,000 rooms for ten minutes, then more until it breaks: docs/load.md
	@$(BIN)/python -m tools.load --until-it-breaks

lint: $(INSTALLED)       ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

ROOMS := sdu2018-1 sdu2018-2 sdu2018-3 sdu2018-4 sdu2019-1 robod-1 robod-3
METHODS := mean,profile,markov-chain,mass-balance,deconvolution,kalman,hmm,ridge,gradient-boosting,random-forest,svr,mlp,paper,occupair

rooms: $(INSTALLED)      ## every method in every public room: docs/benchmark.md (some twenty minutes, then kept)
	@$(BIN)/occupair benchmark $(ROOMS) --methods $(METHODS) --jobs 2 --out occupair-benchmark.html

prove: $(INSTALLED)      ## how often ranges hold, how few labelled days do: docs/proofs.md (two to three minutes)
	@$(BIN)/occupair prove $(ROOMS)

bench: $(INSTALLED)      ## how fast it is, beside BLAS, the equations and other packages: docs/speed.md (some six minutes)
	@$(BIN)/python -m tools.speed

# What is installed stays as it is. scikit-elm does not say that it needs Dask; pyrcn brings torch.
peers: $(INSTALLED)      ## the other packages that make bench compares with, those that install (gigabytes)
	@$(BIN)/python -m pip freeze --disable-pip-version-check --exclude-editable > $(VENV)/kept.txt
	@for peer in hpelm 'scikit-elm dask[array] distributed pyarrow' pyoselm pyrcn; do \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(VENV)/kept.txt $$peer || \
	  echo "$$peer: cannot be installed beside what is here"; done

seeds: $(INSTALLED)      ## the experiment in ten other offices, one draw each (some six minutes)
	@$(BIN)/python tools/seeds.py 10

screenshots: $(INSTALLED) servers  ## the README's pictures of the live page
	OCCUPAIR_SCREENSHOTS=docs $(BIN)/python -m pytest -q tests/live/page/test_page.py

picture: $(INSTALLED)    ## the README's picture, from the report (needs Debian's chromium)
	$(BIN)/python tools/readme_picture.py occupair-report.html docs/five-test-days.png

clean:                   ## forget the virtual environment and what was made
	rm -rf $(VENV) occupair-report.html .mypy_cache .ruff_cache .pytest_cache

# A venv without ensurepip works on every Python, also where the distribution keeps ensurepip back;
# the pip that is already there then fills it.
$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "occupair needs Python 3.11 or newer, $(PYTHON) is older: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@echo "setting up $(VENV) (once; a minute or two)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv --without-pip $(VENV)
	@$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
