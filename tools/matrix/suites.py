"""The suites: which tests run on the wheel, and which packages they need."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """Tests, and what they need beside the package."""

    paths: tuple[str, ...]
    extras: tuple[str, ...]
    tools: tuple[str, ...]
    deselected: tuple[str, ...] = ()


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
        "tests/live/config",
        "tests/test_compiler.py",
        "tests/test_folds.py",
        "tests/test_live_room.py",
        "tests/test_live_time_zones.py",
        "tests/test_metrics.py",
        "tests/test_model_file.py",
        "tests/test_smoothing.py",
    ),
    extras=("parquet", "live", "postgres"),
    tools=("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "httpx>=0.27"),
)
"""The library without servers and browsers: some minutes on two cores."""

WHOLE = Suite(
    paths=("tests",),
    extras=("parquet", "fleet", "live", "postgres", "bacnet", "semantic", "calendar", "video"),
    tools=(
        *CORE.tools,
        "BAC0>=2025",
        "schemathesis>=4",
        "playwright>=1.45",
        "brickschema>=0.8",
        "pyshifty>=0.5",
        "rusty-haystack>=0.7",
        "s3fs>=2024.6",
        "moto[server]>=5",
        "pyyaml>=6",
        "matplotlib>=3.10",
        "hatchling>=1.24",
        "coverage>=7.10",
        "mutmut>=3.6,<4",
    ),
    deselected=("tests/savings/energyplus",),
)
"""All tests, without EnergyPlus: gigabytes for one command."""
