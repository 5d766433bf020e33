"""The definition of readings, their validation, and their interval, days and episodes.

*Readings* are a pandas DataFrame with a DatetimeIndex (local time or time zone aware) and the columns
``co2`` [ppm], ``ventilation`` [0..1, optional] and ``occupancy`` [people, optional]. They may also have the
columns of optional sensors (``occupair.readings.other_sensors``), NaN where missing. Within a local day the
times lie on a regular grid. In a gap, rows are missing; there are no rows of NaN. An *episode* is a
part of a local day without gaps. Estimators run over one episode at a time and start each from the same
initial state: nothing is carried over midnight or over a gap. ``readings.attrs`` may describe how the
readings were read and is preserved.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.gaps import is_gap
from occupair.readings.other_sensors import SENSORS, sensor_names, valid_or_missing
from occupair.readings.source import Source, missing_column
from occupair.readings.value_rules import first_violation
from occupair.wording import quoted

SATURDAY = 5
"""Day of the week, Monday being 0, from which it is the weekend."""

COLUMNS = ("co2", "ventilation", "occupancy")


def check_readings(
    readings: pd.DataFrame, *, needed: Sequence[str] = ("co2",), source: Source | str = "readings"
) -> pd.DataFrame:
    """Validate readings and return the known columns as floats.

    Parameters
    ----------
    readings : DataFrame
        Readings as defined in this module; other columns are dropped. Invalid values of optional sensors
        become NaN.
    needed : sequence of str
        Required columns.
    source : str or Source
        Name of the readings in error messages.

    Raises
    ------
    InputError
        If a required column is missing, times do not increase, the time between two readings is not a
        multiple of the interval, CO2 is negative or not finite, ventilation is outside 0..1, or a head
        count is not an integer.
    """
    source = source if isinstance(source, Source) else Source(source)
    if not isinstance(readings, pd.DataFrame) or not isinstance(readings.index, pd.DatetimeIndex):
        raise source.error(f"must be a DataFrame with a DatetimeIndex{_raw_hint(source)}")
    for name in needed:
        if name not in readings.columns:
            raise source.error(missing_column(name, readings))
    names = [name for name in COLUMNS if name in readings.columns]
    numbers = {name: to_numbers(readings[name], source) for name in names}
    numbers |= {name: _sensor_numbers(readings[name]) for name in sensor_names(readings)}
    checked = pd.DataFrame(numbers, index=readings.index, copy=False)  # copied when it is written to
    _check_times(readings.index, source)
    for name in names:
        _check_values(checked[name], source)
    checked.attrs = dict(readings.attrs)
    return checked.rename_axis("time")


def check_duplicate_columns(readings: object) -> None:
    """Raise InputError if a column occurs twice."""
    if not isinstance(readings, pd.DataFrame):
        return  # reported by ``check_readings``
    twice = [name for name in (*COLUMNS, *SENSORS) if (readings.columns == name).sum() > 1]
    if twice:
        raise InputError(f"readings: has two columns {twice[0]!r}: rename or delete one")


def interval_of(readings: pd.DataFrame) -> float:
    """Return the most common time between readings [min].

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=4, freq="5min")
    >>> interval_of(pd.DataFrame({"co2": 400.0}, index=times))
    5.0
    """
    return _interval(_index(readings), Source("readings"))


def is_same_interval(interval: float, trained: float) -> bool:
    """Whether readings have the interval [min] that a model was trained on, but for rounding.

    Examples
    --------
    >>> is_same_interval(0.1 + 0.2, 0.3), is_same_interval(1.0, 5.0)
    (True, False)
    """
    return abs(interval - trained) <= 1e-6


def exact_readings(minutes: float, interval: float, name: str, *, least: int = 1) -> int:
    """Convert minutes to readings; raise InputError unless the result is an integer of at least ``least``.

    Examples
    --------
    >>> exact_readings(20, 5.0, "lag")
    4
    """
    count = round(minutes / interval) if math.isfinite(minutes) else -1
    if count < least or abs(count * interval - minutes) > 1e-6:
        raise InputError(
            f"{name} must be a multiple of the {interval:g} min between readings, got {minutes:g} min"
        )
    return count


def episode_slices(readings: pd.DataFrame) -> list[slice]:
    """Return the rows of each episode; one starts with each local day and after each gap.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 23:56", periods=7, freq="min").delete(2)
    >>> episode_slices(pd.DataFrame({"co2": 400.0}, index=times))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 6, None)]
    """
    index = _index(readings)
    days, steps = _local_days(index), np.diff(_seconds(index))
    same_day = days[1:] == days[:-1]
    starts = ~same_day
    if same_day.any():
        starts |= is_gap(steps, _usual(steps[same_day]))
    return _slices(starts, len(index))


def date_slices(readings: pd.DataFrame) -> list[slice]:
    """Return the rows of each local day, gaps or not.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 23:56", periods=7, freq="min").delete(2)
    >>> date_slices(pd.DataFrame({"co2": 400.0}, index=times))
    [slice(0, 3, None), slice(3, 6, None)]
    """
    days = _local_days(_index(readings))
    return _slices(days[1:] != days[:-1], days.size)


def _slices(starts: NDArray[np.bool_], size: int) -> list[slice]:
    """Split ``size`` rows before each row k + 1 where ``starts[k]``."""
    edges = np.r_[0, np.flatnonzero(starts) + 1, size]
    return [slice(int(start), int(stop)) for start, stop in pairwise(edges) if stop > start]


def _index(readings: pd.DataFrame) -> pd.DatetimeIndex:
    assert isinstance(readings.index, pd.DatetimeIndex)
    return readings.index


def _local_days(index: pd.DatetimeIndex) -> NDArray[np.datetime64]:
    return index.tz_localize(None).to_numpy().astype("datetime64[D]")


def _seconds(index: pd.DatetimeIndex) -> NDArray[np.float64]:
    """Time since 1970 [s], continuous through clock changes if the time zone is known."""
    steady = index if index.tz is None else index.tz_convert("UTC").tz_localize(None)
    return steady.to_numpy().astype("datetime64[us]").astype(np.int64) / 1e6


def _interval(index: pd.DatetimeIndex, source: Source) -> float:
    days, seconds = _local_days(index), _seconds(index)
    steps = np.diff(seconds)[days[1:] == days[:-1]]
    if steps.size == 0:
        raise source.error(f"needs at least two readings in one day, got {len(index)}")
    return _usual(steps) / 60


def _usual(steps: NDArray[np.float64]) -> float:
    """Return the most common step, the shortest one in case of a tie."""
    lengths, counts = np.unique(steps, return_counts=True)
    return float(lengths[np.argmax(counts)])


def _check_times(index: pd.DatetimeIndex, source: Source) -> None:
    if index.hasnans:
        raise source.error("must be a time, got nothing", row=int(np.argmax(index.isna())), column="time")
    seconds = _seconds(index)
    wrong = np.flatnonzero(np.diff(seconds) <= 0) + 1
    if wrong.size:
        k = int(wrong[0])
        rule = times_must_increase(index[k], index[k - 1])
        raise source.error(f"{rule}{_raw_hint(source)}", row=k, column="time")
    interval = _interval(index, source)
    steps = np.diff(seconds) / 60
    odd = np.flatnonzero(steps != interval)  # usually few
    multiples = interval * np.maximum(np.rint(steps[odd] / interval), 1)
    same_day = _local_days(index[odd + 1]) == _local_days(index[odd])
    irregular = odd[same_day & (np.abs(steps[odd] - multiples) > 1e-6)]
    if irregular.size:
        k = int(irregular[0]) + 1
        rule = f"times must be a multiple of the interval of {interval:g} min apart"
        got = f"got {steps[k - 1]:g} min from {index[k - 1]} to {index[k]}"
        raise source.error(f"{rule}, {got}{_raw_hint(source)}", row=k, column="time")


def _raw_hint(source: Source) -> str:
    """Return what to do about raw readings in Python; those of files are on the grid already."""
    return ": use oc.read_readings(df) for raw readings" if source.name == "readings" else ""


def times_must_increase(time: dt.datetime, before: dt.datetime) -> str:
    """Return the message for a time that is not later than the one before."""
    got = f"{time} twice" if time == before else f"{time} after {before}"
    hint = "" if time.tzinfo is not None else " (if the clocks changed, set the time zone)"
    return f"times must increase, got {got}{hint}"


def _check_values(column: pd.Series[float], source: Source) -> None:
    name = str(column.name)
    if violation := first_violation(name, np.asarray(column, dtype=np.float64)):
        k, message = violation
        hint = _raw_hint(source) if np.isnan(column.iloc[k]) else ""
        raise source.error(f"{message} at {column.index[k]}{hint}", row=k, column=name)


def to_numbers(column: pd.Series, source: Source) -> pd.Series[float]:
    """Convert a column to floats; empty cells become NaN, other text is an error."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    text = column.where(column.astype(str).str.strip() != "", np.nan)
    numbers = pd.to_numeric(text.astype(str), errors="coerce").astype(float)
    wrong = (numbers.isna() & ~text.isna()).to_numpy()
    if wrong.any():
        k = int(np.argmax(wrong))
        raise source.error(f"must be a number, got {quoted(column.iloc[k])}", row=k, column=str(column.name))
    return numbers


def _sensor_numbers(column: pd.Series) -> pd.Series[float]:
    """Return the valid values of an optional sensor, NaN for anything else."""
    numbers = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    return pd.Series(valid_or_missing(str(column.name), numbers), index=column.index)


def ventilation_of(readings: pd.DataFrame) -> NDArray[np.float64]:
    """Return the ventilation [0..1], a constant 0 if it is unknown."""
    if "ventilation" in readings.columns:
        return readings["ventilation"].to_numpy(dtype=float)
    return np.zeros(len(readings))
