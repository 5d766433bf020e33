"""The suites: which tests run on the wheel, and which packages they need."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
NOT_FOR_TESTS = ("import-linter", "ruff", "mypy", "pandas-stubs", "scipy-stubs", "uv", "energyplus")
"""Packages and extras of the extra ``dev`` that are not installed: linters, the installer, and EnergyPlus."""


@dataclass(frozen=True)
class Suite:
    """Tests, and what they need beside the package."""

    paths: tuple[str, ...]
    extras: tuple[str, ...]
    tools: tuple[str, ...]
    deselected: tuple[str, ...] = ()


def needed_by_tests() -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the extras that the tests need, and their tools by name, from ``dev`` in pyproject.toml."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    extras, tools = [], {}
    for line in project["optional-dependencies"]["dev"]:
        requirement = Requirement(line)
        if requirement.name == project["name"]:
            extras += sorted(requirement.extras)
        else:
            tools[requirement.name] = line
    return (
        tuple(extra for extra in extras if extra not in NOT_FOR_TESTS),
        {name: line for name, line in tools.items() if name not in NOT_FOR_TESTS},
    )


_EXTRAS, _TOOLS = needed_by_tests()
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
        "tests/fleet/test_task_runner.py",
        "tests/fleet/test_worker_processes.py",
        "tests/groundtruth/counters",
        "tests/groundtruth/ledger",
        "tests/groundtruth/video/test_video_files.py",
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
    extras=("parquet", "fleet", "live", "postgres", "video"),
    tools=tuple(_TOOLS[name] for name in ("pytest", "pytest-xdist", "hypothesis", "httpx")),
)
"""The library without servers and browsers, and what depends on the version of Python: worker processes and
PyAV. Some minutes on two cores."""

WHOLE = Suite(
    paths=("tests",),
    extras=_EXTRAS,
    tools=tuple(_TOOLS.values()),
    deselected=("tests/savings/energyplus",),
)
"""All tests, without EnergyPlus: gigabytes for one command."""
