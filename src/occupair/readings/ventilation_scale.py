"""The ventilation scale of readings: in column names, in messages, and compared with that of training."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError

NOISE = 0.15
"""Values this far below off or above full, as a fraction of full, are noise and count as off or full."""


@dataclass(frozen=True)
class Scale:
    """The value of full ventilation and its unit, as in the file."""

    full: float
    unit: str


NO_UNIT = "unknown"
_RANGE = re.compile(r"\[0\.\.(?P<full>[0-9][0-9.]*(?:e[+-]?[0-9]+)?) (?P<unit>[^\]]+)\]$")
_FRACTION_UNITS = {"0..1": 1.0, "%": 100.0, "on/off": 1.0}
_EQUIVALENT = ({"0..1", "%"}, {"0..1", "on/off"})


def same_fraction(one: Scale, other: Scale) -> bool:
    """Whether a fraction of 0..1 means the same on both scales.

    Examples
    --------
    >>> percent = Scale(100.0, "%")
    >>> same_fraction(percent, Scale(1.0, "0..1")), same_fraction(percent, Scale(50.0, "Hz"))
    (True, False)
    """
    complete = all(_FRACTION_UNITS.get(scale.unit) == scale.full for scale in (one, other))
    return one == other or (complete and {one.unit, other.unit} in _EQUIVALENT)


def scaled_name(scale: Scale) -> str:
    """Return the name of a ventilation column that states its unit and the value of full ventilation.

    Examples
    --------
    >>> [scaled_name(Scale(*one)) for one in ((4800.0, "m3/h"), (100.0, "%"), (1.0, "on/off"), (1.0, "0..1"))]
    ['ventilation [0..4800 m3/h]', 'ventilation [%]', 'ventilation [on/off]', 'ventilation']
    """
    if scale == Scale(1.0, "0..1"):
        return "ventilation"
    if _FRACTION_UNITS.get(scale.unit) == scale.full:
        return f"ventilation [{scale.unit}]"
    unit = "unknown unit" if scale.unit == NO_UNIT else scale.unit
    return f"ventilation [0..{repr(float(scale.full)).removesuffix('.0')} {unit}]"


def scale_in_name(name: str) -> Scale | None:
    """Return the scale that a column name states as a range, None if there is none.

    Examples
    --------
    >>> scale_in_name("Supply air [0..4800 m3/h]"), scale_in_name("Supply air [m3/h]")
    (Scale(full=4800.0, unit='m3/h'), None)
    """
    stated = _RANGE.search(name)
    if stated is None:
        return None
    unit = NO_UNIT if stated["unit"] == "unknown unit" else stated["unit"]
    return Scale(float(stated["full"]), unit)


def scale_of(readings: pd.DataFrame) -> Scale | None:
    """Return the ventilation scale stated in ``readings.attrs``, None if there is none."""
    full, unit = (readings.attrs.get(f"ventilation_{what}") for what in ("full", "unit"))
    return None if full is None or unit is None else Scale(float(full), str(unit))


def with_scale(readings: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Return readings that state their ventilation scale in ``attrs``."""
    stated = readings.copy(deep=False)
    stated.attrs = readings.attrs | {"ventilation_full": scale.full, "ventilation_unit": scale.unit}
    return stated


def in_unit(fraction: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Return ventilation in the unit of its scale, with the fewest decimals that give the same fractions.

    Examples
    --------
    >>> in_unit(np.array([0.0, 0.1, 1 / 3, 1.0]), Scale(4800.0, "m3/h")).tolist()
    [0.0, 480.0, 1600.0, 4800.0]
    """
    exact = fraction * scale.full
    values, left = exact.copy(), ~np.isnan(fraction)
    for decimals in range(15):
        rounded = np.round(exact, decimals)
        same = left & (rounded / scale.full == fraction)
        values[same] = rounded[same]
        left &= ~same
        if not left.any():
            break
    return values


def without_noise(fraction: float) -> float:
    """Return ventilation that is below off or above full by no more than ``NOISE`` as off or full.

    Examples
    --------
    >>> without_noise(1.0023), without_noise(-0.01), without_noise(0.5), without_noise(80.0)
    (1.0, 0.0, 0.5, 80.0)
    """
    return min(max(fraction, 0.0), 1.0) if -NOISE <= fraction <= 1 + NOISE else fraction


def describe_scale(scale: Scale, basis: str = "") -> str:
    """Return the unit and the value of full ventilation for a message.

    Examples
    --------
    >>> describe_scale(Scale(4800.0, "m3/h"), "99.9 % quantile")
    'm3/h, fully on = 4800 m3/h (99.9 % quantile)'
    >>> describe_scale(Scale(1.0, "0..1"))
    '0..1'
    """
    if scale.full == 1 and scale.unit in _FRACTION_UNITS:
        return scale.unit
    unit, suffix = ("unit unknown", "") if scale.unit == NO_UNIT else (scale.unit, f" {scale.unit}")
    return f"{unit}, fully on = {scale.full:g}{suffix}{f' ({basis})' if basis else ''}"


def describe_mismatch(here: Scale, trained: Scale) -> str:
    """Return the message for ventilation on another scale than in training.

    Examples
    --------
    >>> describe_mismatch(Scale(850.0, "m3/h"), Scale(100.0, "%"))
    'ventilation is in m3/h, but was in % in training'
    """
    if here.unit == trained.unit:
        full = f"full ventilation is {here.full:g}, but was {trained.full:g} in training"
        return f"{full} [{here.unit}]"
    unit, trained_unit = (_unit_name(scale.unit) for scale in (here, trained))
    return f"ventilation is in {unit}, but was in {trained_unit} in training"


def mismatch_advice(here: Scale, trained: Scale) -> str:
    """Return the advice for readings in another unit than in training."""
    return f"convert it to {_unit_name(trained.unit)}, or train again on readings in {_unit_name(here.unit)}"


def check_scale_matches(readings: pd.DataFrame, trained: Scale | None) -> None:
    """Raise InputError if ``readings.attrs`` states another ventilation scale than in training.

    Readings without a stated scale are accepted, and so is ventilation that is always off.
    """
    here = scale_of(readings)
    if trained is None or here is None or not readings["ventilation"].any():
        return
    if not same_fraction(here, trained):
        again = f"ventilation_full={trained.full:g}, ventilation_unit={trained.unit!r}"
        advice = f"read the file with {again}, or train again on readings like these"
        raise InputError(f"readings: {describe_mismatch(here, trained)}: {advice}")


def _unit_name(unit: str) -> str:
    return "an unknown unit" if unit == NO_UNIT else unit
