"""Passages of all doors on a one-minute grid of complete days, from one reset to the next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError

Counts = NDArray[np.int64]
MINUTE = pd.Timedelta(minutes=1)


@dataclass(frozen=True)
class PassageGrid:
    """Passages by door and minute.

    Attributes
    ----------
    times : start of every minute of the days that have data from at least one door
    days : slice of the minutes of each day
    doors : names of the doors, sorted
    entered, left : shape (doors, minutes) [people]
    entered_again, left_again : those that may be one person counted twice, same shape [people]
    weight : 1 certain, 0 not counted, same shape [0..1]
    """

    times: pd.DatetimeIndex
    days: tuple[slice, ...]
    doors: tuple[str, ...]
    entered: Counts
    left: Counts
    entered_again: Counts
    left_again: Counts
    weight: NDArray[np.float64]

    @property
    def net(self) -> Counts:
        """Entries minus exits over all doors, by minute [people]."""
        return np.asarray((self.entered - self.left).sum(axis=0))

    @property
    def dates(self) -> pd.DatetimeIndex:
        """Local date of every minute."""
        return self.times.tz_localize(None).normalize()

    @property
    def is_counted(self) -> NDArray[np.bool_]:
        """Whether every door is counted, by minute."""
        return np.asarray((self.weight > 0).all(axis=0))

    def counted_days(self) -> list[int]:
        """Return the indices of the days with at least one minute in which every door is counted."""
        counted = self.is_counted
        return [number for number, day in enumerate(self.days) if counted[day].any()]

    def runs_of_days(self) -> list[slice]:
        """Return the minutes of each series of days without a day missing in between."""
        if not self.days:
            return []
        step = np.diff(self.times.asi8)
        cuts = [0, *(np.flatnonzero(step > step.min()) + 1).tolist(), len(self.times)]
        return [slice(first, stop) for first, stop in pairwise(cuts)]

    def occupancy(self) -> Counts:
        """Occupancy at the end of every minute if each day starts with an empty room [people]."""
        return daily_cumsum(self.net, self.days)


def daily_cumsum(net: Counts, days: tuple[slice, ...]) -> Counts:
    """Cumulative sum that restarts from 0 on each day.

    Examples
    --------
    >>> daily_cumsum(np.array([1, 2, -3, 4, 1]), (slice(0, 3), slice(3, 5))).tolist()
    [1, 3, 0, 4, 5]
    """
    return np.concatenate([np.cumsum(net[day]) for day in days])


def daily_imbalance(net: Counts, days: tuple[slice, ...]) -> tuple[Counts, Counts]:
    """People missing and people in excess on each day, the smallest numbers that balance it.

    Missing people entered uncounted, or their exits were counted twice: the occupancy is negative without
    them. Those in excess remain at the end of the day.

    Examples
    --------
    >>> missing, excess = daily_imbalance(np.array([-2, 5, 1, -1]), (slice(0, 2), slice(2, 4)))
    >>> missing.tolist(), excess.tolist()
    ([2, 0], [5, 0])
    """
    starts = np.array([day.start for day in days])
    total = np.cumsum(net)
    base = np.where(starts > 0, total[starts - 1], 0)
    lowest = np.minimum(np.minimum.reduceat(total, starts) - base, 0)
    end = total[[day.stop - 1 for day in days]] - base
    return np.asarray(-lowest), np.asarray(end - lowest)


def grid_passages(passages: pd.DataFrame, *, reset: str = "00:00") -> PassageGrid:
    """Put passages on a one-minute grid of days from reset to reset, by the local clock.

    Examples
    --------
    The day on which daylight saving time starts has 23 hours:

    >>> times = pd.DatetimeIndex(["2024-03-31 08:00"], tz="Europe/Paris")
    >>> passages = pd.DataFrame({"door": "a", "entered": 1, "left": 0, "weight": 1.0}, index=times)
    >>> grid = grid_passages(passages)
    >>> len(grid.times) / 60, str(grid.times[0])
    (23.0, '2024-03-31 00:00:00+01:00')
    """
    times = pd.DatetimeIndex(passages.index).as_unit("us")
    if len(times) == 0:
        raise InputError("passages: the table is empty")
    resets = _reset_times(times, parse_time_of_day(reset, "reset")).as_unit("us")
    day_of = np.searchsorted(resets.asi8, times.asi8, side="right") - 1
    used, day_rank = np.unique(day_of, return_inverse=True)
    spans = [pd.date_range(resets[d], resets[d + 1], freq="min", inclusive="left", unit="us") for d in used]
    starts = np.cumsum([0, *map(len, spans)])
    minute_of_day = (times.asi8 - resets.asi8[day_of]) // 60_000_000
    at = starts[day_rank] + minute_of_day
    doors = tuple(sorted(map(str, passages["door"].unique())))
    door_of = np.searchsorted(np.array(doors), passages["door"].to_numpy(dtype=str))

    def on_grid(name: str) -> Counts:
        people = np.zeros((len(doors), starts[-1]), dtype=np.int64)
        if name in passages.columns:
            np.add.at(people, (door_of, at), passages[name].to_numpy(dtype=np.int64))
        return people

    weight = np.ones((len(doors), starts[-1]))
    if "weight" in passages.columns:
        np.minimum.at(weight, (door_of, at), passages["weight"].to_numpy(dtype=float))
    index = pd.DatetimeIndex(np.concatenate([span.asi8 for span in spans]).view("datetime64[us]"))
    if times.tz is not None:
        index = index.tz_localize("UTC").tz_convert(times.tz)
    return PassageGrid(
        index.rename("time"),
        tuple(slice(int(first), int(stop)) for first, stop in pairwise(starts)),
        doors,
        on_grid("entered"),
        on_grid("left"),
        on_grid("entered_again"),
        on_grid("left_again"),
        weight,
    )


def parse_time_of_day(text: str, name: str) -> pd.Timedelta:
    """Parse a time of day such as 23:30.

    Examples
    --------
    >>> parse_time_of_day("23:30", "quiet_after")
    Timedelta('0 days 23:30:00')
    """
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", str(text).strip())
    if not match:
        raise InputError(f"{name} must be a time of day such as 00:00 or 23:30, got {text!r}")
    return pd.Timedelta(hours=int(match[1]), minutes=int(match[2]))


def _reset_times(times: pd.DatetimeIndex, reset: pd.Timedelta) -> pd.DatetimeIndex:
    """Daily resets from before the first time until after the last."""
    local = times.tz_localize(None)
    days = pd.date_range(
        local.min().normalize() - MINUTE * 1440, local.max().normalize() + MINUTE * 2880, unit="us"
    )
    resets = days + reset
    if times.tz is None:
        return resets
    first_occurrence = np.ones(len(resets), dtype=bool)
    return resets.tz_localize(times.tz, ambiguous=first_occurrence, nonexistent="shift_forward")
