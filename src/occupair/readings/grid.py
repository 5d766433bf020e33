"""Readings at irregular times on a regular grid, causally: short gaps are bridged, long gaps remain.

Each grid time takes the last value at or before it. Values are never interpolated: a grid row does not
depend on later values, and the live service computes the same rows. Ventilation is held for up to a day,
since many systems log it only when it changes. Times in this module are integer
microseconds, continuous through clock changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.gaps import LONGEST_GAP, VENTILATION_HOLD, bridged_step, default_gap
from occupair.readings.head_counts import WEIGHT
from occupair.readings.other_sensors import SENSOR_HOLD, sensor_names
from occupair.readings.source import Source

Microseconds = NDArray[np.int64]

SECOND, MINUTE, DAY = 1_000_000, 60_000_000, 86_400_000_000  # µs
COMMON_INTERVALS = (10, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600)
"""Intervals for irregular readings [s]."""
HEAD_COUNTS = ("occupancy", WEIGHT)
"""Columns of head counts, which are not held over lost readings: people come and go meanwhile."""


@dataclass(frozen=True)
class Grid:
    """The grid times of a room and the number of bridged ones."""

    times: pd.DatetimeIndex
    interval: float  # [min]
    bridged: int  # grid times without a CO2 reading of their own, in short gaps


def put_on_grid(
    readings: pd.DataFrame,
    *,
    interval: float | None = None,
    longest_gap: float | None = None,
    complete: bool = True,
    source: Source,
) -> pd.DataFrame:
    """Put readings on a regular grid.

    Parameters
    ----------
    readings : DataFrame
        ``co2`` and other columns at increasing times; NaN where there is no value, and infinite ventilation
        where its read failed.
    interval : float, optional
        Interval of the grid [min]; by default the result of ``usual_interval``.
    longest_gap : float, optional
        A value is held until the next one if that follows within this time [min]; by default the result of
        ``default_gap``, and for head counts ``LONGEST_GAP``. Ventilation is held for ``VENTILATION_HOLD``,
        and optional sensors for ``SENSOR_HOLD``.
    complete : bool
        Whether to return only rows in which all columns but the optional sensors are known, or all rows
        with CO2.
    source : Source
        Name of the readings in error messages.

    Returns
    -------
    DataFrame
        The same columns at the grid times. ``attrs`` gains ``interval`` [min] and ``bridged`` [rows].

    Examples
    --------
    >>> times = pd.Timestamp("2024-01-08 08:00") + pd.to_timedelta([0, 5, 14, 60], unit="min")
    >>> jittered = pd.DataFrame({"co2": [400.0, 410.0, 420.0, 430.0]}, index=times)
    >>> put_on_grid(jittered, interval=5, source=Source("room.csv"))["co2"].to_dict()
    {Timestamp('2024-01-08 08:00:00'): 400.0, Timestamp('2024-01-08 08:05:00'): 410.0,
     Timestamp('2024-01-08 08:10:00'): 410.0, Timestamp('2024-01-08 08:15:00'): 420.0,
     Timestamp('2024-01-08 09:00:00'): 430.0}
    """
    index, known = pd.DatetimeIndex(readings.index), readings["co2"].notna().to_numpy()
    if interval is None:  # rows without CO2 count unless they are the majority
        interval = usual_interval(index if known.mean() >= 0.5 else index[known], source)
    count_gap = LONGEST_GAP if longest_gap is None else longest_gap
    longest_gap = default_gap(interval) if longest_gap is None else longest_gap
    grid = grid_of(index[known], interval=interval, longest_gap=longest_gap)
    held = {name: _held(readings[name], grid, longest_gap) for name in readings.columns}
    held |= {name: _held(readings[name], grid, count_gap) for name in HEAD_COUNTS if name in held}
    if "ventilation" in held:
        held["ventilation"] = _held_ventilation(readings["ventilation"], grid, longest_gap)
    sensors = sensor_names(readings)
    held |= {name: _held_sensor(readings[name], grid) for name in sensors}
    needed = [name for name in held if name not in sensors] if complete else ["co2"]
    rows = pd.DataFrame(held, index=grid.times).dropna(subset=needed)
    rows.attrs = {**readings.attrs, "interval": grid.interval, "bridged": grid.bridged}
    return rows


def check_grid_options(interval: float | None, longest_gap: float | None) -> None:
    """Raise InputError if the interval or the longest gap [min] is invalid."""
    if interval is not None and not (_is_number(interval) and 1 / 60 <= interval <= 1440):
        raise InputError(f"interval must be from 1/60 to 1440 min, got {interval!r}")
    if longest_gap is not None and not (_is_number(longest_gap) and 0 <= longest_gap <= 1440):
        raise InputError(f"longest_gap must be from 0 to 1440 min, got {longest_gap!r}")


def usual_interval(index: pd.DatetimeIndex, source: Source) -> float:
    """Return the interval of readings at irregular times [min].

    This is the most common step within days if at least half of the steps have that length and all
    others are multiples of it, else the median step, rounded to one of ``COMMON_INTERVALS``.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-01-08 08:00:00", "2024-01-08 08:00:59", "2024-01-08 08:02:01"])
    >>> usual_interval(times, Source("room.csv"))
    1.0
    """
    at, days = _microseconds(index), _local(index) // DAY
    steps = np.diff(at)[days[1:] == days[:-1]]
    if steps.size == 0:
        raise source.error(f"needs at least two readings in one day, got {len(index)}")
    lengths, counts = np.unique(steps, return_counts=True)
    common = int(lengths[np.argmax(counts)])
    if counts.max() >= steps.size / 2 and common >= SECOND and not (steps % common).any():
        return common / MINUTE
    common_intervals = np.array(COMMON_INTERVALS)
    ratio = max(float(np.median(steps)), 1.0) / SECOND / common_intervals
    return float(common_intervals[np.argmin(np.abs(np.log(ratio)))] / 60)


def grid_of(index: pd.DatetimeIndex, *, interval: float, longest_gap: float) -> Grid:
    """Return the grid times for readings at the times ``index``.

    Regular readings keep their times. For others, grid times are multiples of the ``interval`` [min]
    after local midnight. Gaps longer than ``longest_gap`` [min] have no grid times.
    """
    step = round(interval * MINUTE)
    if _is_on_grid(index, step, longest_gap):  # usual, and the steps below need ten times its memory
        return Grid(index.as_unit("us").rename(None), step / MINUTE, 0)
    at = _microseconds(index)
    phase = _phases(index, step)
    start = at + (phase - at) % step  # the first grid time at or after each reading
    until = np.append(at[1:], at[-1] + 1)
    short = until - at <= bridged_step(step, longest_gap * MINUTE)
    stop = np.where(short, until, np.minimum(until, at + step))
    counts = np.maximum(-((start - stop) // step), 0)
    row = np.repeat(np.arange(at.size), counts)
    number = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
    ticks = start[row] + number * step
    times = _as_index(ticks, index)
    same_grid = phase[row] == phase[np.minimum(row + 1, at.size - 1)]
    valid = same_grid | (_local(times) // DAY == (_local(index) // DAY)[row])
    late = ticks[valid] - at[row[valid]] >= step
    return Grid(times[valid], step / MINUTE, int(late.sum()))


def _is_on_grid(index: pd.DatetimeIndex, step: int, longest_gap: float) -> bool:
    """Whether readings have one grid time each, their own: regular within days, and no gap to bridge."""
    at = _microseconds(index)
    late = np.flatnonzero(np.diff(at) != step)
    steps, local = at[late + 1] - at[late], _local(index)
    same_day = local[late + 1] // DAY == local[late] // DAY
    is_long = steps > bridged_step(step, longest_gap * MINUTE)
    return bool(np.all(is_long & ((steps % step == 0) | ~same_day)))


def _phases(index: pd.DatetimeIndex, step: int) -> Microseconds:
    """Phase of the grid within an interval, for the day of each reading [µs]."""
    at, local = _microseconds(index), _local(index)
    _, first, day = np.unique(local // DAY, return_index=True, return_inverse=True)
    since_first = at - at[first][day]
    midnight = np.where((since_first % step).any(), local[first] % DAY, 0)
    return ((at[first] - midnight) % step)[day]


def _held(column: pd.Series[float], grid: Grid, longest_gap: float) -> NDArray[np.float64]:
    """Return the last value at each grid time; NaN if it is older than an interval and not bridged."""
    known = column.dropna()
    if known.empty:
        return np.full(len(grid.times), np.nan)
    at, ticks, step = (
        _microseconds(pd.DatetimeIndex(known.index)),
        _microseconds(grid.times),
        round(grid.interval * MINUTE),
    )
    if np.array_equal(at, ticks):
        return np.asarray(known, dtype=np.float64)
    row = np.searchsorted(at, ticks, side="right") - 1
    near = np.append(np.diff(at) <= bridged_step(step, longest_gap * MINUTE), False)
    there = (row >= 0) & (near[row] | (ticks - at[row] < step))
    return np.where(there, known.to_numpy(dtype=np.float64)[row], np.nan)


def _held_ventilation(column: pd.Series[float], grid: Grid, longest_gap: float) -> NDArray[np.float64]:
    """Return the last ventilation at each grid time; a failed read that is not bridged ends the holding."""
    logged = column.dropna()
    bridged = _held(logged[np.isfinite(logged)], grid, longest_gap)
    last = hold_last(
        _microseconds(grid.times),
        _microseconds(pd.DatetimeIndex(logged.index)),
        np.asarray(logged, dtype=np.float64),
    )
    return np.where(np.isnan(bridged) & np.isfinite(last), last, bridged)


def _held_sensor(column: pd.Series[float], grid: Grid) -> NDArray[np.float64]:
    """Return the last value of an optional sensor at each grid time, NaN if it is too old."""
    known = column.dropna()
    return hold_last(
        _microseconds(grid.times),
        _microseconds(pd.DatetimeIndex(known.index)),
        np.asarray(known, dtype=np.float64),
        SENSOR_HOLD,
    )


def hold_last(
    ticks: Microseconds, times: Microseconds, values: NDArray[np.float64], hold: float = VENTILATION_HOLD
) -> NDArray[np.float64]:
    """Return the last value at or before each grid time, NaN if it is older than ``hold`` [min].

    Examples
    --------
    >>> hours = np.array([0, 1, 23, 25, 26]) * 60 * MINUTE
    >>> hold_last(hours, hours[[1, 4]], np.array([0.5, 1.0])).tolist()
    [nan, 0.5, 0.5, 0.5, 1.0]
    """
    if times.size == 0:
        return np.full(ticks.size, np.nan)
    row = np.searchsorted(times, ticks, side="right") - 1
    fresh = (row >= 0) & (ticks - times[row] <= hold * MINUTE)
    return np.where(fresh, values[row], np.nan)


def _microseconds(index: pd.DatetimeIndex) -> Microseconds:
    return np.asarray(index.as_unit("us").asi8)


def _local(index: pd.DatetimeIndex) -> Microseconds:
    return _microseconds(index.tz_localize(None))


def _as_index(at: Microseconds, like: pd.DatetimeIndex) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(at.view("datetime64[us]")).tz_localize("UTC").tz_convert(like.tz)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
