"""Whether there is enough to learn from: labelled days, ventilation that moves, readings without holes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from occupair.checks.cleaning import counts_of, days_of, interval_minutes, times_of
from occupair.checks.fault import Fault, Severity
from occupair.wording import plural

FEWEST_DAYS = 3  # occupied days; with fewer, nothing is left to check an estimator on
GOOD_DAYS = 7  # occupied days; a week has seen each weekday
HOURS = 6  # of a day that have a count, one is enough; all counts in one hour teach next to nothing
HOLES_NOTED = 0.01  # of the readings that a day should have
HOLES_DOUBTFUL = 0.2
STEADY = 1e-6  # of its range; ventilation that moves less never moves


def check_labels(readings: pd.DataFrame) -> list[Fault]:
    """Find out whether there are enough days with people counted."""
    counts = counts_of(readings)
    if counts is None:
        words = "There are no head counts, so nothing can be trained. Count people for a week or two."
        return [Fault("no_counts", "wrong", words, details={"days": 0})]
    known = counts.dropna()
    days, hours = days_of(known.to_frame()), times_of(known.to_frame()).hour
    labelled = pd.Series(hours, index=days).groupby(level=0).nunique() >= HOURS
    occupied = int((labelled & (known.groupby(days).max() > 0)).sum())
    found = _presence_only(counts)
    if occupied >= GOOD_DAYS:
        return found
    severity: Severity = "wrong" if occupied < FEWEST_DAYS else "doubtful"
    words = (
        f"{_few(occupied, int(labelled.sum()))}. "
        f"Count people once an hour or more, all day, for a week or two ({GOOD_DAYS} occupied days or more), "
        "or start from models of rooms like it: occupair fit --like."
    )
    return [Fault("few_days", severity, words, details={"days": occupied}), *found]


def check_ventilation(readings: pd.DataFrame) -> list[Fault]:
    """Find out whether the ventilation is known, moves, and is in 0..1."""
    if "ventilation" not in readings.columns or readings["ventilation"].isna().all():
        words = "There is no ventilation column; it is taken as constant, which costs accuracy if it is not."
        return [Fault("no_ventilation", "note", words)]
    air = readings["ventilation"].dropna()
    low, high = float(air.min()), float(air.max())
    if low < 0 or high > 1:
        words = f"Ventilation goes from {low:g} to {high:g}, but must be from 0 to 1 (80 % is 0.8). Scale it."
        return [Fault("ventilation_range", "wrong", words, details={"lowest": low, "highest": high})]
    if high - low > STEADY:
        return []
    words = (
        f"Ventilation never moves: it reads {low:g} all the time. Take the column out, or find the one that "
        "follows the fan or the damper."
    )
    return [Fault("still_ventilation", "doubtful", words, details={"value": low})]


def check_holes(readings: pd.DataFrame) -> list[Fault]:
    """Find out how many readings are missing inside the days, or have no CO2."""
    interval = interval_minutes(readings)
    days = days_of(readings)
    steps = np.diff(times_of(readings)) / np.timedelta64(1, "m")
    inside = np.asarray(days[1:] == days[:-1])
    absent = float(np.maximum(np.rint(steps[inside] / interval) - 1, 0).sum())
    empty = float(readings["co2"].isna().sum())
    share = (absent + empty) / (len(readings) + absent)
    if share < HOLES_NOTED:
        return []
    longest = float(steps[inside].max()) if inside.any() else 0.0
    words = (
        f"{share:.0%} of the CO2 readings are missing inside the days (longest gap {longest:.0f} min). "
        "No estimate crosses a long gap."
    )
    severity: Severity = "doubtful" if share >= HOLES_DOUBTFUL else "note"
    return [Fault("holes", severity, words, details={"share": share, "longest": longest})]


def _few(occupied: int, labelled: int) -> str:
    if labelled == 0:
        return f"No day has head counts in {HOURS} of its hours, so there is next to nothing to train on"
    days = f"{plural(labelled, 'day')} with counts in {HOURS} hours or more"
    if occupied == 0:
        return f"Nobody is counted on any of {days}: an estimator would only learn an empty room"
    on = plural(occupied, "day") if occupied == labelled else f"{occupied} of {days}"
    return f"Somebody is counted on only {on}: too few to trust an estimator"


def _presence_only(counts: pd.Series[float]) -> list[Fault]:
    if counts.max() != 1 or counts.min() < 0:
        return []
    words = "The counts are only ever 0 or 1: presence, not people. Scores in people mean nothing here."
    return [Fault("presence_only", "note", words)]
