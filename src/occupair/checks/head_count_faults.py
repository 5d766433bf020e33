"""Checks of the head counts: negative, fractional, no head counts, drifting, at night, reset at midnight."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, theilslopes

from occupair.checks.fault import Fault
from occupair.checks.lowest_co2 import MAX_DRIFT_P_VALUE
from occupair.checks.prepared_readings import DAY, counts_of, days_of, runs, spans_of, times_of
from occupair.wording import day_list, plural

NIGHT_HOURS = (0, 5)  # h; after late workers and before early cleaners
ALL_NIGHT_SHARE = 0.8  # of the night with people counted
MIN_DRIFT = 3.0  # people over all nights
MIN_NIGHTS = 5
MIN_PEOPLE_RESET = 2.0  # people counted at the end of the day and gone at the next reading
MIN_RESET_SHARE = 0.2  # of the midnights
MOST_PEOPLE = 1000.0  # people in a room with one CO2 sensor
MOST_VISITS = 20.0  # times a day that a room fills and empties; the published rooms do so up to 8 times


def check_negative_counts(readings: pd.DataFrame) -> list[Fault]:
    """Find negative head counts."""
    counts = counts_of(readings)
    if counts is None or not (counts < 0).any():
        return []
    negative = (counts < 0).to_numpy()
    spans = spans_of(readings, negative)
    message = (
        f"The head count is negative in {plural(int(negative.sum()), 'reading')}, down to "
        f"{counts.min():.0f} (first {spans[0][0]:%Y-%m-%d %H:%M}): the door counter misses people who enter."
    )
    fix = "Start each day at 0 and clip negative counts, or correct the counter."
    details = {"readings": int(negative.sum()), "lowest": float(counts.min()), "spans": spans}
    return [Fault("negative_counts", "wrong", message, spans[0][0], spans[-1][1], details, fix)]


def check_whole_counts(readings: pd.DataFrame) -> list[Fault]:
    """Find fractional head counts: averages, or not head counts at all."""
    counts = counts_of(readings)
    fractional = None if counts is None else (counts != counts.round()) & counts.notna()
    if counts is None or fractional is None or not fractional.any():
        return []
    first = counts[fractional]
    message = (
        f"{int(fractional.sum())} of {plural(int(counts.notna().sum()), 'head count')} are not integers "
        f"(first {first.iloc[0]:g} at {times_of(readings)[fractional][0]:%Y-%m-%d %H:%M}): "
        "are they averages, or not head counts?"
    )
    details, fix = {"readings": int(fractional.sum())}, "Round them if they are people."
    return [Fault("broken_counts", "wrong", message, details=details, fix=fix)]


def check_what_is_counted(readings: pd.DataFrame) -> list[Fault]:
    """Find numbers that are not people present: scaled or cumulative counts, or passages per interval."""
    counts = counts_of(readings)
    if counts is None:
        return []
    known, most = counts.dropna(), float(counts.max())
    if most > MOST_PEOPLE:
        finding = f"Up to {most:.0f} people are counted, more than a room with one CO2 sensor holds."
        fix = "Use the number of people present, not a running total or a scaled value."
        return [Fault("many_people", "doubtful", finding, details={"most": most}, fix=fix)]
    visits = len(runs((known > 0).to_numpy())) / days_of(known.to_frame()).nunique()
    if visits < MOST_VISITS:
        return []
    finding = f"The head count returns to 0 {visits:.0f} times a day: are these passages, not people present?"
    fix = "Compute the people present from entries and exits: occupair groundtruth occupancy."
    return [Fault("passages", "doubtful", finding, details={"a_day": visits}, fix=fix)]


def check_counter_drift(readings: pd.DataFrame) -> list[Fault]:
    """Find a counter whose count at night increases or decreases from day to day."""
    counts = _nights(readings)
    if counts is None:
        return []
    nightly = counts.groupby(days_of(counts.to_frame())).median().dropna()
    if len(nightly) < MIN_NIGHTS or nightly.nunique() < 2:
        return []
    days = (pd.DatetimeIndex(nightly.index) - nightly.index[0]) / DAY
    values = nightly.to_numpy(dtype=float)
    change = float(theilslopes(values, days)[0]) * float(days[-1])
    if abs(change) < MIN_DRIFT or not kendalltau(days, values).pvalue < MAX_DRIFT_P_VALUE:
        return []
    message = (
        f"The counter drifts: at night, when the room should be empty, it goes from {values[0]:.0f} to "
        f"{values[-1]:.0f} people over {days[-1] + 1:.0f} days."
    )
    fix = "Start each day at 0, or correct the counter."
    start, end = nightly.index[0], nightly.index[-1] + DAY
    return [Fault("counter_drift", "wrong", message, start, end, {"change": change}, fix)]


def check_people_at_night(readings: pd.DataFrame) -> list[Fault]:
    """Find nights with people counted throughout."""
    counts = _nights(readings)
    if counts is None:
        return []
    by_night = counts.groupby(days_of(counts.to_frame()))
    share = (counts >= 0.5).groupby(days_of(counts.to_frame())).mean()
    nights = list(share.index[share >= ALL_NIGHT_SHARE])
    if not nights:
        return []
    level = by_night.median()[nights]
    span = f"{level.min():.0f}" if level.min() == level.max() else f"{level.min():.0f} to {level.max():.0f}"
    people = "person" if span == "1" else "people"
    message = (
        f"{span} {people} counted all night on {len(nights)} of {plural(len(share), 'night')} "
        f"({day_list(nights)}): a counter error, or were people present?"
    )
    fix = "If not, set the head counts of these nights to 0."
    end = pd.Timedelta(hours=NIGHT_HOURS[1])
    details = {
        "nights": len(nights),
        "of_nights": len(share),
        "most": float(level.max()),
        "spans": [(night, night + end) for night in nights],
    }
    return [Fault("people_at_night", "doubtful", message, nights[0], nights[-1] + end, details, fix)]


def check_midnight_resets(readings: pd.DataFrame) -> list[Fault]:
    """Find a counter that is reset to 0 at midnight from a higher count."""
    counts = counts_of(readings)
    if counts is None:
        return []
    days = days_of(readings)
    last = np.flatnonzero(days[1:] - days[:-1] == DAY)
    left = counts.to_numpy()[last]
    gone = (left >= MIN_PEOPLE_RESET) & (counts.to_numpy()[last + 1] <= 0)
    if last.size < MIN_NIGHTS or gone.mean() < MIN_RESET_SHARE:
        return []
    midnights = list(days[last[gone] + 1])
    message = (
        f"The counter is reset at midnight from up to {left[gone].max():.0f} people, "
        f"{plural(len(midnights), 'time')} ({day_list(midnights)}): it misses people who leave, "
        "and evening counts are too high."
    )
    fix = "Count all doors, or correct the counts: occupair groundtruth occupancy --apply."
    details = {
        "times": len(midnights),
        "most": float(left[gone].max()),
        "spans": [(midnight, midnight) for midnight in midnights],
    }
    return [Fault("midnight_reset", "doubtful", message, midnights[0], midnights[-1], details, fix)]


def _nights(readings: pd.DataFrame) -> pd.Series[float] | None:
    """Return the known head counts at night."""
    counts = counts_of(readings)
    if counts is None:
        return None
    hours = times_of(readings).hour
    known = counts[(hours >= NIGHT_HOURS[0]) & (hours < NIGHT_HOURS[1])].dropna()
    return known if len(known) else None
