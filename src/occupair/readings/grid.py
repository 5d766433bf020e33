"""Readings at any times onto one regular grid: short gaps bridged, long ones left as gaps, nothing foreseen.

Every grid time takes the last value at or before it. Values are never interpolated, so what a grid row
says does not depend on the values that come later, and a live service that waits for the next reading
has the same rows. Times are whole microseconds here, steady through changes of the clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.gaps import bridged_step
from occupair.readings.source import Source

Whole = NDArray[np.int64]

SECOND, MINUTE, DAY = 1_000_000, 60_000_000, 86_400_000_000  # µs
SENSIBLE = (10, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600)
"""Intervals that irregular readings are put on [s]."""


@dataclass(frozen=True)
class Grid:
    """The grid times of a room."""

    times: pd.DatetimeIndex
    interval: float  # [min]
    bridged: int  # grid times that no CO2 reading fell to, held through a short gap


def put_on_grid(
    readings: pd.DataFrame,
    *,
    interval: float | None = None,
    longest_gap: float = 10.0,
    complete: bool = True,
    source: Source,
) -> pd.DataFrame:
    """Put readings on a regular grid.

    Parameters
    ----------
    readings : DataFrame
        ``co2`` and other columns at rising times; NaN where there was no value.
    interval : float, optional
        Interval of the grid [min]; None takes the usual one, see ``usual_interval``.
    longest_gap : float
        Values are held from one reading to the next if that comes within this time [min].
    complete : bool
        Whether only rows are kept in which all columns are known; else those in which CO2 is.

    Returns
    -------
    DataFrame
        The same columns, with a row at every grid time where all of them (or CO2) are known. ``attrs`` gains
        ``interval`` [min] and ``bridged`` [rows].

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
    if interval is None:  # of all rows, but of CO2 where most rows are only there for other columns
        interval = usual_interval(index if known.mean() >= 0.5 else index[known], source)
    grid = grid_of(index[known], interval=interval, longest_gap=longest_gap)
    held = {name: _held(readings[name], grid, longest_gap) for name in readings.columns}
    rows = pd.DataFrame(held, index=grid.times).dropna(subset=None if complete else ["co2"])
    rows.attrs = {**readings.attrs, "interval": grid.interval, "bridged": grid.bridged}
    return rows


def check_grid_options(interval: float | None, longest_gap: float) -> None:
    """Check what the caller says about the grid."""
    if interval is not None and not (_is_number(interval) and 1 / 60 <= interval <= 1440):
        raise InputError(f"interval must be from 1/60 to 1440 min, got {interval!r}")
    if not (_is_number(longest_gap) and 0 <= longest_gap <= 1440):
        raise InputError(f"longest_gap must be from 0 to 1440 min, got {longest_gap!r}")


def usual_interval(index: pd.DatetimeIndex, source: Source) -> float:
    """Find the interval of readings [min].

    The most common step inside the days, if at least half of the steps are that and all others are
    multiples of it. Else the median step, rounded to one of ``SENSIBLE``.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-01-08 08:00:00", "2024-01-08 08:00:59", "2024-01-08 08:02:01"])
    >>> usual_interval(times, Source("room.csv"))
    1.0
    """
    at, days = _steady(index), _local(index) // DAY
    steps = np.diff(at)[days[1:] == days[:-1]]
    if steps.size == 0:
        raise source.error(f"needs at least two readings in one day, got {len(index)} in all")
    lengths, counts = np.unique(steps, return_counts=True)
    common = int(lengths[np.argmax(counts)])
    if counts.max() >= steps.size / 2 and common >= SECOND and not (steps % common).any():
        return common / MINUTE
    sensible = np.array(SENSIBLE)
    return float(sensible[np.argmin(np.abs(np.log(np.median(steps) / SECOND / sensible)))] / 60)


def grid_of(index: pd.DatetimeIndex, *, interval: float, longest_gap: float) -> Grid:
    """Find the grid times for readings at the times ``index``.

    Readings that are regular already keep their times. Others get times that the clock shows as
    multiples of the ``interval`` [min]. In a gap longer than ``longest_gap`` [min] there are none.
    """
    step = round(interval * MINUTE)
    at = _steady(index)
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
    kept = same_grid | (_local(times) // DAY == (_local(index) // DAY)[row])
    late = ticks[kept] - at[row[kept]] >= step
    return Grid(times[kept], step / MINUTE, int(late.sum()))


def _phases(index: pd.DatetimeIndex, step: int) -> Whole:
    """Where the grid of each reading's day lies within a step [µs]."""
    at, local = _steady(index), _local(index)
    _, first, day = np.unique(local // DAY, return_index=True, return_inverse=True)
    since_first = at - at[first][day]
    midnight = np.where((since_first % step).any(), local[first] % DAY, 0)
    return ((at[first] - midnight) % step)[day]


def _held(column: pd.Series[float], grid: Grid, longest_gap: float) -> NDArray[np.float64]:
    """Give the last value at each grid time: fresh, or held to the next one if that is near; else NaN."""
    known = column.dropna()
    if known.empty:
        return np.full(len(grid.times), np.nan)
    at, ticks, step = (
        _steady(pd.DatetimeIndex(known.index)),
        _steady(grid.times),
        round(grid.interval * MINUTE),
    )
    row = np.searchsorted(at, ticks, side="right") - 1
    near = np.append(np.diff(at) <= bridged_step(step, longest_gap * MINUTE), False)
    there = (row >= 0) & (near[row] | (ticks - at[row] < step))
    return np.where(there, known.to_numpy(dtype=np.float64)[row], np.nan)


def _steady(index: pd.DatetimeIndex) -> Whole:
    return np.asarray(index.as_unit("us").asi8)


def _local(index: pd.DatetimeIndex) -> Whole:
    return _steady(index.tz_localize(None))


def _as_index(at: Whole, like: pd.DatetimeIndex) -> pd.DatetimeIndex:
    naive = pd.DatetimeIndex(at.view("datetime64[us]"))
    return naive if like.tz is None else naive.tz_localize("UTC").tz_convert(like.tz)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
