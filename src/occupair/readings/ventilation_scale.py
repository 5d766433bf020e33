"""How readings are written: the scale of their ventilation and their time zone, which have to stay."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from occupair.errors import InputError


@dataclass(frozen=True)
class Scale:
    """What means fully on, in the unit of the file, and that unit."""

    full: float
    unit: str


_SHARES = {"0..1": 1.0, "%": 100.0, "on/off": 1.0}
_ALIKE = ({"0..1", "%"}, {"0..1", "on/off"})


def same_share(one: Scale, other: Scale) -> bool:
    """Whether 0..1 means the same by both scales.

    Examples
    --------
    >>> same_share(Scale(100.0, "%"), Scale(1.0, "0..1")), same_share(Scale(100.0, "%"), Scale(50.0, "Hz"))
    (True, False)
    """
    whole = all(_SHARES.get(scale.unit) == scale.full for scale in (one, other))
    return one == other or (whole and {one.unit, other.unit} in _ALIKE)


def other_scale(here: Scale, trained: Scale) -> str:
    """Say that ventilation is not scaled as in training.

    Examples
    --------
    >>> other_scale(Scale(850.0, "m3/h"), Scale(100.0, "%"))
    'ventilation is in m3/h here and was in % in training'
    """
    if here.unit == trained.unit:
        fully = f"ventilation is fully on at {here.full:g} here"
        return f"{fully} and was at {trained.full:g} in training [{here.unit}]"
    ours, theirs = (_in_words(scale.unit) for scale in (here, trained))
    return f"ventilation is in {ours} here and was in {theirs} in training"


def unit_advice(here: Scale, trained: Scale) -> str:
    """Say what to do about readings in another unit."""
    return f"give it in {_in_words(trained.unit)}, or train again on readings in {_in_words(here.unit)}"


def check_scale(readings: pd.DataFrame, trained: Scale | None) -> None:
    """Refuse readings whose notes say that their ventilation was scaled otherwise than in training.

    Readings without notes are taken as they are; ventilation that is always off is off by any scale.
    """
    full, unit = (readings.attrs.get(f"ventilation_{what}") for what in ("full", "unit"))
    if trained is None or full is None or unit is None or not readings["ventilation"].any():
        return
    here = Scale(float(full), str(unit))
    if not same_share(here, trained):
        again = f"ventilation_full={trained.full:g}, ventilation_unit={trained.unit!r}"
        advice = f"read the file with {again}, or train again on readings like these"
        raise InputError(f"readings: {other_scale(here, trained)}: {advice}")


def _in_words(unit: str) -> str:
    return "an unknown unit" if unit == "unknown" else unit
