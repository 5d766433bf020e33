"""Checks of whether there is enough data: labelled days, ventilation and complete readings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from occupair.checks.fault import Fault, Severity
from occupair.checks.prepared_readings import counts_of, days_of, interval_minutes, steps_of
from occupair.readings.gaps import VENTILATION_HOLD
from occupair.readings.labelled_days import ENOUGH_DAYS, FEWEST_DAYS, LABELLED_HOURS, WANTED, labelled_days
from occupair.readings.value_rules import VALUE_RULES
from occupair.wording import plural

MISSING_SHARE_NOTED = 0.01  # of the readings
MISSING_SHARE_DOUBTFUL = 0.2  # of the readings
CONSTANT_VENTILATION_RANGE = 1e-6  # range below which ventilation is constant


def check_labels(readings: pd.DataFrame) -> list[Fault]:
    """Check whether there are enough days with head counts."""
    counts = counts_of(readings)
    if counts is None:
        message = "There are no head counts to train on."
        fix = f"Count people {WANTED}, or state the size of the room with --volume and --capacity."
        return [Fault("no_counts", "wrong", message, details={"occupied_days": 0}, fix=fix)]
    labelled = labelled_days(counts)
    occupied = int(labelled.sum())
    found = _presence_only(counts)
    if occupied >= ENOUGH_DAYS:
        return found
    severity: Severity = "wrong" if occupied < FEWEST_DAYS else "doubtful"
    message = f"{_few(occupied, len(labelled))}."
    fix = (
        f"Count people at least once an hour, all day, {WANTED}, or start from models of similar rooms: "
        "occupair fit --like."
    )
    return [Fault("few_days", severity, message, details={"occupied_days": occupied}, fix=fix), *found]


def check_ventilation(readings: pd.DataFrame) -> list[Fault]:
    """Check whether the ventilation is known, varies, and is within 0..1."""
    if "ventilation" not in readings.columns or readings["ventilation"].isna().all():
        message = "There is no ventilation column. It is assumed constant; if it is not, accuracy suffers."
        return [Fault("no_ventilation", "note", message)]
    air = readings["ventilation"].dropna()
    low, high = float(air.min()), float(air.max())
    if low < 0 or high > 1:
        message = f"Ventilation {VALUE_RULES['ventilation'].text}, got {low:g} to {high:g}."
        details = {"lowest": low, "highest": high}
        return [Fault("ventilation_range", "wrong", message, details=details, fix="Scale it.")]
    if high - low > CONSTANT_VENTILATION_RANGE:
        return _ventilation_holes(readings)
    message = f"Ventilation is constant at {low:g}."
    fix = "Remove the column, or use the one that follows the fan or the damper."
    return [Fault("still_ventilation", "doubtful", message, details={"value": low}, fix=fix)]


def _ventilation_holes(readings: pd.DataFrame) -> list[Fault]:
    share = float(readings["ventilation"][readings["co2"].notna()].isna().mean())
    if share < MISSING_SHARE_NOTED:
        return []
    message = f"Ventilation is unknown at {share:.0%} of the readings, which are left out."
    severity: Severity = "doubtful" if share >= MISSING_SHARE_DOUBTFUL else "note"
    fix = f"Export it for the whole time; a value is held for up to {VENTILATION_HOLD / 60:g} h."
    return [Fault("ventilation_holes", severity, message, details={"share": share}, fix=fix)]


def check_ventilation_reads(readings: pd.DataFrame) -> list[Fault]:
    """Report failed reads of the ventilation, which are missing in the readings of a file."""
    if (failed := readings.attrs.get("ventilation_failed")) is None:
        return []
    message, fix = f"Ventilation has {failed}, read as missing.", "Check the connection of the sensor."
    return [Fault("ventilation_failed_reads", "doubtful", message, fix=fix)]


def check_holes(readings: pd.DataFrame) -> list[Fault]:
    """Check how many readings are missing within days, or have no CO2."""
    interval = interval_minutes(readings)
    days = days_of(readings)
    steps = steps_of(readings)
    inside = np.asarray(days[1:] == days[:-1])
    absent = float(np.maximum(np.rint(steps[inside] / interval) - 1, 0).sum())
    empty = float(readings["co2"].isna().sum())
    share = (absent + empty) / (len(readings) + absent)
    if share < MISSING_SHARE_NOTED:
        return []
    longest = float(steps[inside].max()) if inside.any() else 0.0
    message = (
        f"{share:.0%} of the CO2 readings are missing within days (longest gap {longest:.0f} min). "
        "Estimates start again after a long gap."
    )
    severity: Severity = "doubtful" if share >= MISSING_SHARE_DOUBTFUL else "note"
    return [Fault("holes", severity, message, details={"share": share, "longest": longest})]


def _few(occupied: int, labelled: int) -> str:
    if labelled == 0:
        return (
            f"No day has head counts in at least {LABELLED_HOURS} hours, so there is almost nothing "
            "to train on"
        )
    days = f"{plural(labelled, 'day')} with head counts in at least {LABELLED_HOURS} hours"
    if occupied == 0:
        return f"Nobody is counted on {days}: an estimator would only be trained on an empty room"
    on = plural(occupied, "day") if occupied == labelled else f"{occupied} of {days}"
    return f"People are counted on only {on}: too few for a reliable estimator"


def _presence_only(counts: pd.Series[float]) -> list[Fault]:
    if counts.max() != 1 or counts.min() < 0:
        return []
    message = "All head counts are 0 or 1: presence, not numbers of people. Scores in people are meaningless."
    return [Fault("presence_only", "note", message)]
