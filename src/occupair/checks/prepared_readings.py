"""Readings prepared for the checks, and the series and time spans that the checks derive from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.checks.sensor_limits import is_plausible
from occupair.errors import InputError
from occupair.readings.gaps import is_gap
from occupair.readings.schema import COLUMNS, check_duplicate_columns
from occupair.wording import quoted_list

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Span = tuple[pd.Timestamp, pd.Timestamp]

DAY = pd.Timedelta(days=1)


def prepare_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the known columns as floats, sorted by local time; values that are not numbers are NaN.

    Of two readings with the same time, the first is used. Values are not judged or repaired here.
    """
    if not isinstance(readings, pd.DataFrame) or not isinstance(readings.index, pd.DatetimeIndex):
        raise InputError("readings must be a DataFrame with a DatetimeIndex")
    if "co2" not in readings.columns:
        raise InputError(f"readings has no column 'co2', only {quoted_list(readings.columns)}")
    names = [name for name in COLUMNS if name in readings.columns]
    check_duplicate_columns(readings)
    numbers = {
        name: pd.to_numeric(readings[name], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        for name in names
    }
    table = pd.DataFrame(numbers, index=readings.index.tz_localize(None))
    for name in table.columns.drop("co2"):  # an infinite CO2 value is a failed read
        table[name] = table[name].replace([np.inf, -np.inf], np.nan)
    if not (table.index.is_monotonic_increasing and table.index.is_unique):  # also if a time is missing
        table = table[table.index.notna()]
        table = table[np.logical_not(table.index.duplicated())].sort_index()
    if len(table) < 2:
        raise InputError(f"readings must have at least two rows to be checked, got {len(table)}")
    table.attrs = dict(readings.attrs)
    return table


def times_of(readings: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the times of readings."""
    assert isinstance(readings.index, pd.DatetimeIndex)
    return readings.index


def days_of(readings: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the local day of each reading."""
    return times_of(readings).normalize()


def steps_of(readings: pd.DataFrame) -> Array:
    """Return the time between each reading and the next [min]."""
    return np.asarray(np.diff(times_of(readings)) / np.timedelta64(1, "m"))


def interval_minutes(readings: pd.DataFrame) -> float:
    """Return the median time between readings [min]."""
    return float(np.median(steps_of(readings)))


def follows_without_gap(readings: pd.DataFrame) -> Mask:
    """Whether each reading but the first follows the one before without a gap."""
    return ~is_gap(steps_of(readings), interval_minutes(readings))


def plausible_co2(readings: pd.DataFrame) -> pd.Series[float]:
    """Return CO2 [ppm] with failed reads as NaN."""
    co2 = readings["co2"]
    return co2.where(is_plausible(co2.to_numpy(dtype=np.float64)))


def counts_of(readings: pd.DataFrame) -> pd.Series[float] | None:
    """Return the head counts [people], or None if there are none."""
    if "occupancy" not in readings.columns or readings["occupancy"].isna().all():
        return None
    return readings["occupancy"]


def runs(mask: Mask) -> list[tuple[int, int]]:
    """Return the first and last index of each run of True.

    Examples
    --------
    >>> runs(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(int), [0]))))
    return [(int(first), int(stop) - 1) for first, stop in zip(edges[::2], edges[1::2], strict=True)]


def spans_of(readings: pd.DataFrame, mask: Mask) -> list[Span]:
    """Return the first and last time of each run of True; a day without readings ends a run."""
    times = times_of(readings)
    skips_days = np.append(np.diff(times.normalize()) > DAY, False)
    spans = []
    for first, last in runs(mask):
        ends = [*(first + np.flatnonzero(skips_days[first:last])), last]
        starts = [first, *(end + 1 for end in ends[:-1])]
        spans += [(times[start], times[end]) for start, end in zip(starts, ends, strict=True)]
    return spans


def whole_day_spans(days: Sequence[pd.Timestamp]) -> list[Span]:
    """Return the spans from midnight to midnight that consecutive days form."""
    spans: list[Span] = []
    for day in days:
        if spans and spans[-1][1] == day:
            spans[-1] = (spans[-1][0], day + DAY)
        else:
            spans.append((day, day + DAY))
    return spans
