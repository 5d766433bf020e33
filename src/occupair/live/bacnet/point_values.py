"""From the properties of a BACnet object to a quantity of a room, in the units of occupair.

A point that is faulty or out of service, has no number, or is in a unit that cannot be converted raises
`InputError` with one line, and is not a reading.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from bacpypes3.basetypes import EngineeringUnits, Reliability
from bacpypes3.primitivedata import Null

from occupair.errors import InputError
from occupair.live.config import VentilationPoint
from occupair.readings.co2_units import PPM_PER_PERCENT
from occupair.readings.other_sensors import SENSOR_UNITS, SENSORS
from occupair.readings.value_rules import VALUE_RULES
from occupair.readings.ventilation_scale import without_noise

if TYPE_CHECKING:
    from occupair.live.config import BacnetPoint

STATE = ("present-value", "status-flags", "reliability", "out-of-service")
"""Properties that are read every time."""
DESCRIPTION = (*STATE, "units", "cov-increment")
"""Properties that are read now and then."""
NO_FAULT = "no-fault-detected"
"""Reliability of a point without faults."""
MAX_PERCENT = 5.0
"""Largest CO2 concentration in percent; more is a signal, such as the demand for ventilation."""
_FAULT, _OUT_OF_SERVICE = 1, 3  # bits of the status flags
_LUX_PER_FOOT_CANDLE = 10.7639


class _Conversion(NamedTuple):
    """value * factor + offset is in the unit of occupair."""

    factor: float
    offset: float = 0.0


_SAME = _Conversion(1.0)
_UNITS: dict[str, dict[str, _Conversion]] = {
    "co2": {
        "parts-per-million": _SAME,
        "percent": _Conversion(PPM_PER_PERCENT),
        "parts-per-billion": _Conversion(1e-3),
    },
    "temperature": {
        "degrees-celsius": _SAME,
        "degrees-fahrenheit": _Conversion(1 / 1.8, -32 / 1.8),
        "degrees-kelvin": _Conversion(1.0, -273.15),
    },
    "humidity": {"percent-relative-humidity": _SAME, "percent": _SAME},
    "sound": {"decibels": _SAME, "decibels-a": _SAME},
    "light": {"luxes": _SAME, "foot-candles": _Conversion(_LUX_PER_FOOT_CANDLE)},
    "wifi": {},
    "power": {"watts": _SAME, "kilowatts": _Conversion(1e3), "milliwatts": _Conversion(1e-3)},
    "motion": {"percent": _Conversion(0.01)},
}
_UNIT_NAMES = {"co2": "ppm", **SENSOR_UNITS}


def point_value(quantity: str, point: BacnetPoint, properties: Mapping[str, Any]) -> float:
    """Return a quantity of a room, in its unit.

    Parameters
    ----------
    quantity : str
        ``"co2"``, ``"ventilation"`` or an optional sensor.
    point : BacnetPoint
        The object, as in the settings.
    properties : mapping
        Those of its properties in ``DESCRIPTION`` that the object has.

    Raises
    ------
    InputError
        If it is not a reading, with the reason.

    Examples
    --------
    >>> from occupair.live.config import BacnetPoint
    >>> point = BacnetPoint(bacnet="10.0.2.7", object="analog-input,12")
    >>> point_value("co2", point, {"present-value": 0.0612, "units": 98})
    612.0
    """
    _check_state(properties)
    value = properties.get("present-value")
    if value is None or isinstance(value, Null | list):
        raise InputError("has no present value: check the object in the settings")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError("must be a number or a state") from None
    if not math.isfinite(number):
        raise InputError(f"is {number}")
    unit = unit_name(properties)
    if isinstance(point, VentilationPoint):
        number = _fraction(number, unit, point)
        if not VALUE_RULES["ventilation"].allows(number):
            raise InputError(f"ventilation {VALUE_RULES['ventilation'].text}, got {number:g}: check 'full'")
        return number
    number = _convert(quantity, number, unit)
    if quantity == "co2":
        if not VALUE_RULES["co2"].allows(abs(number)):
            raise InputError(f"CO2 {VALUE_RULES['co2'].text}, got {number:g}")
    elif not SENSORS[quantity].allows(number):
        raise InputError(f"{quantity} {SENSORS[quantity].text}, got {number:g}")
    return number


def unit_name(properties: Mapping[str, Any]) -> str | None:
    """Return the name of the unit of an object, None if it has none.

    Raises
    ------
    InputError
        If it is not a unit.
    """
    units = properties.get("units")
    return None if units is None else enumerated_name(EngineeringUnits, "units", units)


def enumerated_name(kind: Any, name: str, value: Any) -> str:
    """Return the name of an enumerated value, as a device sent it.

    Parameters
    ----------
    kind : type
        Enumeration of bacpypes3.
    name : str
        Name of the property, for the message.
    value : object
        Its value.

    Raises
    ------
    InputError
        If the value is not enumerated, such as text.

    Examples
    --------
    >>> enumerated_name(EngineeringUnits, "units", 96)
    'parts-per-million'
    """
    try:
        if isinstance(value, int):
            return str(kind(int(value)))
    except ValueError:
        pass
    raise InputError(f"has invalid {name}, got {str(value)[:40]!r}: correct the device")


def co2_increment(properties: Mapping[str, Any]) -> float | None:
    """Return the change of CO2 at which a device sends a notification [ppm], None if it is not known."""
    increment = properties.get("cov-increment")
    try:
        unit = unit_name(properties)
    except InputError:
        return None
    if not isinstance(increment, int | float) or unit is None:
        return None
    known = _UNITS["co2"].get(unit)
    return None if known is None else float(increment) * known.factor


def _check_state(properties: Mapping[str, Any]) -> None:
    """Raise `InputError` if the device reports a fault. Overridden and in alarm are readings."""
    flags = properties.get("status-flags")
    flags = list(flags) if isinstance(flags, list) else []
    reliability = properties.get("reliability")
    fault = NO_FAULT if reliability is None else enumerated_name(Reliability, "reliability", reliability)
    if fault != NO_FAULT:
        raise InputError(f"is faulty ({fault})")
    if len(flags) > _FAULT and flags[_FAULT]:
        raise InputError("is faulty")
    is_out = len(flags) > _OUT_OF_SERVICE and flags[_OUT_OF_SERVICE]
    if is_out or properties.get("out-of-service"):
        raise InputError("is out of service")


def _fraction(number: float, unit: str | None, point: VentilationPoint) -> float:
    """Return ventilation [0..1]; state 1 of a multi-state object is off, and active is fully on."""
    kind = point.object.partition(",")[0]
    if kind.startswith("multi-state"):
        return (number - 1) / (point.full - 1) if point.full > 1 else float(number > 1)
    if kind.startswith("binary"):
        return number
    percent = unit == "percent" and point.full == 1.0
    return float(without_noise(number / (100.0 if percent else point.full)))


def _convert(quantity: str, number: float, unit: str | None) -> float:
    known = _UNITS[quantity]
    if quantity == "co2" and unit == "percent" and abs(number) > MAX_PERCENT:
        raise InputError(f"is {number:g} %, which looks like a signal, not a CO2 concentration")
    if unit in known:
        factor, offset = known[unit]
        return round(number * factor + offset, 3) if factor != 1.0 else number + offset
    if quantity != "co2" and unit in (None, "no-units"):
        return number
    got = "no unit" if unit in (None, "no-units") else unit
    raise InputError(f"must be in {_UNIT_NAMES[quantity]}, got {got}: correct the unit in the device")
