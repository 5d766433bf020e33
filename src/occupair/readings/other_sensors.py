"""Optional sensors besides CO2 and ventilation: their columns, units, valid values and holding.

Readings may have a column for each of ``SENSORS``. Unlike CO2 and ventilation, these may be missing at any
reading (NaN), and an invalid value is a missing value, not an error: an estimate can always do without.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.value_rules import ValueRule
from occupair.wording import quoted

SENSORS: dict[str, ValueRule] = {
    "temperature": ValueRule(-40.0, 85.0, "must be from -40 to 85 °C"),
    "humidity": ValueRule(0.0, 100.0, "must be from 0 to 100 % RH"),
    "sound": ValueRule(0.0, 150.0, "must be from 0 to 150 dB"),
    "light": ValueRule(0.0, 200_000.0, "must be from 0 to 200000 lx"),
    "wifi": ValueRule(0.0, 100_000.0, "must be from 0 to 100000 clients"),
    "power": ValueRule(0.0, 1e6, "must be from 0 to 1000000 W"),
    "motion": ValueRule(0.0, 1.0, "must be from 0 to 1"),
}
"""Valid values of each optional sensor: what its hardware can report."""

SENSOR_UNITS = {
    "temperature": "°C",
    "humidity": "% RH",
    "sound": "dB",
    "light": "lx",
    "wifi": "clients",
    "power": "W",
    "motion": "0..1",
}

SENSOR_HOLD = 60.0
"""A value is held for this long [min]; an older one is missing. Battery sensors report changes only, and
repeat an unchanged value about every 50 min.
"""


def sensor_names(readings: pd.DataFrame) -> list[str]:
    """Return the optional sensors that readings have a column of.

    Examples
    --------
    >>> sensor_names(pd.DataFrame(columns=["co2", "light", "humidity"]))
    ['humidity', 'light']
    """
    return [name for name in SENSORS if name in readings.columns]


def sensor_columns(readings: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Return the optional sensors of readings by name; NaN where missing."""
    return {name: readings[name].to_numpy(dtype=float) for name in sensor_names(readings)}


def valid_or_missing(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a sensor with NaN in place of invalid ones.

    Examples
    --------
    >>> valid_or_missing("humidity", np.array([41.5, -9999.0])).tolist()
    [41.5, nan]
    """
    return np.where(SENSORS[name].valid(values), values, np.nan)


def check_sensor_values(sensors: Mapping[str, float | None] | None) -> dict[str, float]:
    """Return the valid values among those of one live reading.

    Raises
    ------
    InputError
        If a name is not one of ``SENSORS``, or a value is neither a number nor None.

    Examples
    --------
    >>> check_sensor_values({"humidity": 41.5, "light": None, "temperature": 850.0})
    {'humidity': 41.5}
    """
    valid = {}
    for name, value in (sensors or {}).items():
        if name not in SENSORS:
            raise InputError(f"sensors must be among {', '.join(SENSORS)}, got {quoted(name)}")
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float | np.number)):
            raise InputError(f"{name} must be a number or None, got {value!r}")
        if value is not None and SENSORS[name].allows(value):
            valid[name] = float(value)
    return valid
