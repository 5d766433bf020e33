"""Readings as the checks want them, whatever state they come in; and small words and helpers they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.schema import COLUMNS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Span = tuple[pd.Timestamp, pd.Timestamp]

LOWEST_CO2 = 150.0  # ppm; no air has less, and an uncalibrated sensor is not off by more: a failed read
HIGHEST_CO2 = 20_000.0  # ppm; beyond the range of room sensors, such as 65535: a failed read
DAY = pd.Timedelta(days=1)


def clean_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """Give the columns we use as floats over rising local times; what is no number is NaN.

    Nothing else is judged or repaired here: that is what the checks are for. Of a time that is there
    twice the first reading is kept.
    """
    if not isinstance(readings, pd.DataFrame) or not isinstance(readings.index, pd.DatetimeIndex):
        raise InputError("readings must be a DataFrame with a DatetimeIndex")
    if "co2" not in readings.columns:
        raise InputError(f"readings has no column 'co2', only {', '.join(map(repr, readings.columns))}")
    kept = [name for name in COLUMNS if name in readings.columns]
    twice = [name for name in kept if (readings.columns == name).sum() > 1]
    if twice:
        raise InputError(f"readings: has two columns {twice[0]!r}: rename or delete one")
    numbers = {
        name: pd.to_numeric(readings[name], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        for name in kept
    }
    table = pd.DataFrame(numbers, index=readings.index.tz_localize(None))
    for name in table.columns.drop("co2"):  # an infinite CO2 is a failed read
        table[name] = table[name].replace([np.inf, -np.inf], np.nan)
    table = table[table.index.notna()]
    table = table[np.logical_not(table.index.duplicated())].sort_index()
    if len(table) < 2:
        raise InputError(f"readings must be two or more to be checked, got {len(table)}")
    table.attrs = dict(readings.attrs)
    return table


def times_of(readings: pd.DataFrame) -> pd.DatetimeIndex:
    """Give the times of readings."""
    assert isinstance(readings.index, pd.DatetimeIndex)
    return readings.index


def interval_minutes(readings: pd.DataFrame) -> float:
    """Give the usual time from one reading to the next [min]."""
    return float(np.median(np.diff(times_of(readings)) / np.timedelta64(1, "m")))


def days_of(readings: pd.DataFrame) -> pd.DatetimeIndex:
    """Give the local day of every reading."""
    return times_of(readings).normalize()


def plausible_co2(readings: pd.DataFrame) -> pd.Series[float]:
    """Give CO2 [ppm] with failed reads taken out."""
    co2 = readings["co2"]
    return co2.where((co2 >= LOWEST_CO2) & (co2 <= HIGHEST_CO2))


def counts_of(readings: pd.DataFrame) -> pd.Series[float] | None:
    """Give the head counts [people], None when there are none at all."""
    if "occupancy" not in readings.columns or readings["occupancy"].isna().all():
        return None
    return readings["occupancy"]


def runs(mask: Mask) -> list[tuple[int, int]]:
    """Give the first and the last index of every run of True.

    Examples
    --------
    >>> runs(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(int), [0]))))
    return [(int(first), int(stop) - 1) for first, stop in zip(edges[::2], edges[1::2], strict=True)]


def whole_day_spans(days: Sequence[pd.Timestamp]) -> list[Span]:
    """Give the time from midnight to midnight of every run of neighbouring days."""
    spans: list[Span] = []
    for day in days:
        if spans and spans[-1][1] == day:
            spans[-1] = (spans[-1][0], day + DAY)
        else:
            spans.append((day, day + DAY))
    return spans
