"""The ventilation scale of readings, which must match that of training."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from occupair.errors import InputError


@dataclass(frozen=True)
class Scale:
    """The value of full ventilation and its unit, as in the file."""

    full: float
    unit: str


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
    full, unit = (readings.attrs.get(f"ventilation_{what}") for what in ("full", "unit"))
    if trained is None or full is None or unit is None or not readings["ventilation"].any():
        return
    here = Scale(float(full), str(unit))
    if not same_fraction(here, trained):
        again = f"ventilation_full={trained.full:g}, ventilation_unit={trained.unit!r}"
        advice = f"read the file with {again}, or train again on readings like these"
        raise InputError(f"readings: {describe_mismatch(here, trained)}: {advice}")


def _unit_name(unit: str) -> str:
    return "an unknown unit" if unit == "unknown" else unit
