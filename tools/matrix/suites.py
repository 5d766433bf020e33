"""The suites: which tests run on the wheel, and which packages they need."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
NOT_FOR_TESTS = ("occupair", "import-linter", "ruff", "mypy", "pandas-stubs", "scipy-stubs", "uv")
"""Packages of the extra ``dev`` that no test imports: this one with its extras, linters and the installer."""


@dataclass(frozen=True)
class Suite:
    """Tests, and what they need beside the package."""

    paths: tuple[str, ...]
    extras: tuple[str, ...]
    tools: tuple[str, ...]
    deselected: tuple[str, ...] = ()


def tools_of_tests() -> dict[str, str]:
    """Return the requirements of the tests by name, from the extra ``dev`` of pyproject.toml."""
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    found = {Requirement(line).name: line for line in extras["dev"]}
    return {name: line for name, line in found.items() if name not in NOT_FOR_TESTS}


_TOOLS = tools_of_tests()
CORE = Suite(
    paths=(
        "tests/readings",
        "tests/elm",
        "tests/checks",
        "tests/simulation",
        "tests/control",
        "tests/compatibility",
        "tests/doctor",
        "tests/physics/test_air_change.py",
        "tests/physics/test_calibration.py",
        "tests/physics/test_co2_filter.py",
        "tests/physics/test_day_grid.py",
        "tests/paper/test_features.py",
        "tests/room/test_inputs.py",
        "tests/room/test_features.py",
        "tests/room/test_mass_balance.py",
        "tests/room/test_boosted_trees.py",
        "tests/room/test_kernel_regression.py",
        "tests/room/test_prediction_intervals.py",
        "tests/room/test_time_profile.py",
        "tests/cli/test_doctor.py",
        "tests/groundtruth/counters",
        "tests/groundtruth/ledger",
        "tests/live/config",
        "tests/live/http/test_access.py",
        "tests/live/http/test_events.py",
        "tests/live/http/test_ingress.py",
        "tests/test_compiler.py",
        "tests/test_folds.py",
        "tests/test_live_room.py",
        "tests/test_live_time_zones.py",
        "tests/test_metrics.py",
        "tests/test_model_file.py",
        "tests/test_smoothing.py",
    ),
    extras=("parquet", "live", "postgres"),
    tools=tuple(_TOOLS[name] for name in ("pytest", "pytest-xdist", "hypothesis", "httpx")),
)
"""The library without servers and browsers: some minutes on two cores."""

WHOLE = Suite(
    paths=("tests",),
    extras=("parquet", "fleet", "live", "postgres", "bacnet", "semantic", "calendar", "video"),
    tools=tuple(_TOOLS.values()),
    deselected=("tests/savings/energyplus",),
)
"""All tests, without EnergyPlus: gigabytes for one command."""
