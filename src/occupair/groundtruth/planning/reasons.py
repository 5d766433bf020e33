"""Reasons for recommending a day: how it differs from the days labelled or recommended already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occupair.groundtruth.planning.day_similarity import (
    SCALES,
    VENTILATION_LEVELS,
    DayProfile,
    dissimilarity,
)


def difference_reason(day: DayProfile, known: Sequence[DayProfile], *, any_recommended: bool) -> str:
    """Describe how a day differs from the known days, those labelled or recommended before it."""
    others = "days labelled or above" if any_recommended else "labelled days"
    differences = [
        *_calendar(day, known),
        *_ventilation(day, known, others),
        *_co2(day, known, others),
        *_use(day, known, others),
    ]
    if differences:
        return "; ".join(differences)
    nearest = min(known, key=lambda other: dissimilarity(day, other))
    return f"most similar to {nearest.date:%Y-%m-%d}, {_main_difference(day, nearest)}"


def air_reason(day: DayProfile, new: int, *, first: bool) -> str:
    """Describe the air of a day, and how many of its conditions are new."""
    levels = [VENTILATION_LEVELS[level] for level in sorted({level for _, level in day.air_conditions})]
    co2 = f"CO2 from {day.co2_low:.0f} to {day.co2_high:.0f} ppm"
    flow = "" if levels == [VENTILATION_LEVELS[0]] else f", ventilation {', '.join(levels)}"
    weekend = ", a weekend" if day.weekend else ""
    conditions = f"{new} air conditions" if first else f"{new} more air conditions"
    return f"{co2}{flow}{weekend}: {conditions}"


def _calendar(day: DayProfile, known: Sequence[DayProfile]) -> list[str]:
    if any(day.weekend == other.weekend for other in known):
        return []
    return ["first weekend day" if day.weekend else "first weekday"]


def _ventilation(day: DayProfile, known: Sequence[DayProfile], others: str) -> list[str]:
    more = np.array(day.ventilation) - np.max([other.ventilation for other in known], axis=0)
    level = int(np.argmax(more))
    if more[level] < SCALES["ventilation"] / 2:
        return []
    longest = max(other.ventilation[level] for other in known)
    usual = "none" if longest * 24 < 0.1 else f"at most {longest * 24:.1f} h"
    return [
        f"ventilation {VENTILATION_LEVELS[level]} for {day.ventilation[level] * 24:.1f} h, {others} {usual}"
    ]


def _co2(day: DayProfile, known: Sequence[DayProfile], others: str) -> list[str]:
    low, high = min(other.co2_high for other in known), max(other.co2_high for other in known)
    if day.co2_high > high + SCALES["co2_high"] / 4:
        return [f"CO2 up to {day.co2_high:.0f} ppm, {others} up to {high:.0f}"]
    if day.co2_high < low - SCALES["co2_high"] / 4:
        return [f"CO2 only up to {day.co2_high:.0f} ppm, {others} at least {low:.0f}"]
    return []


def _use(day: DayProfile, known: Sequence[DayProfile], others: str) -> list[str]:
    low, high = min(other.hours for other in known), max(other.hours for other in known)
    if not low - SCALES["hours"] / 4 <= day.hours <= high + SCALES["hours"] / 4:
        usual = f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"
        use = f"in use for {day.hours:.1f} h" if day.hours >= 0.5 else "not in use"
        return [f"{use} judging by CO2, {others} for {usual} h"]
    early, late = min(other.middle for other in known), max(other.middle for other in known)
    if not early - SCALES["middle"] / 4 <= day.middle <= late + SCALES["middle"] / 4:
        when = "earlier" if day.middle < early else "later"
        time = f"{int(day.middle):02d}:{int(day.middle % 1 * 60):02d}"
        return [f"in use {when} than {others}, around {time}"]
    return []


def _main_difference(day: DayProfile, other: DayProfile) -> str:
    co2, hours = day.co2_high - other.co2_high, day.hours - other.hours
    if abs(co2) / SCALES["co2_high"] >= abs(hours) / SCALES["hours"]:
        return f"with CO2 up to {day.co2_high:.0f} instead of {other.co2_high:.0f} ppm"
    return f"in use for {day.hours:.1f} instead of {other.hours:.1f} h"
