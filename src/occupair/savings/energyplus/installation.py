"""Access to EnergyPlus, an optional dependency: its Python API, reference building and weather files."""

from __future__ import annotations

import importlib
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from occupair.errors import InputError

CLIMATES = {
    "chicago": "usa_il_chicago",
    "denver": "usa_co_denver",
    "miami": "usa_fl_miami",
    "phoenix": "usa_az_phoenix",
    "san-francisco": "usa_ca_san_francisco",
}
"""Climates by name, with their key in ``pyenergyplus.dataset.weather_files``: typical years (TMY3)."""


@cache
def energyplus_api() -> Any:
    """Return the EnergyPlus API of this process, an ``EnergyPlusAPI`` of `pyenergyplus-lbnl`."""
    return _installed("api").EnergyPlusAPI()


def reference_building_file() -> Path:
    """Return the input file of the reference small office, new construction, in Chicago."""
    return Path(_installed("dataset").ref_models["small_office"])


def weather_file(climate: str) -> Path:
    """Return the weather file of a climate: a typical meteorological year (TMY3)."""
    if climate not in CLIMATES:
        raise InputError(f"climate must be one of {', '.join(CLIMATES)}, got {climate!r}")
    return Path(_installed("dataset").weather_files[CLIMATES[climate]])


def _installed(module: str) -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):  # about its syntax, on the first import
            return importlib.import_module(f"pyenergyplus.{module}")
    except ImportError:
        raise InputError('EnergyPlus is not installed: pip install "occupair[energyplus]"') from None
