"""The minutes of a ledger: passages of all doors laid out over whole days, from one reset to the next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError

Whole = NDArray[np.int64]
MINUTE = pd.Timedelta(minutes=1)


@dataclass(frozen=True)
class LedgerDays:
    """Passages by door and minute.

    Attributes
    ----------
    times : start of every minute, of those days that have a row at any door
    days : where each day begins and ends among them
    doors : their names, sorted
    entered, left : shape (doors, minutes) [people]
    entered_again, left_again : those of them that may be one person counted twice, the same shape [people]
    weight : 1 sure or nothing said, 0 not counted, the same shape [0..1]
    """

    times: pd.DatetimeIndex
    days: tuple[slice, ...]
    doors: tuple[str, ...]
    entered: Whole
    left: Whole
    entered_again: Whole
    left_again: Whole
    weight: NDArray[np.float64]

    @property
    def net(self) -> Whole:
        """People gained in every minute, through all doors."""
        return np.asarray((self.entered - self.left).sum(axis=0))

    def occupancy(self) -> Whole:
        """People in at the end of every minute when every day begins with nobody."""
        return cumulated(self.net, self.days)


def cumulated(net: Whole, days: tuple[slice, ...]) -> Whole:
    """Add up what is gained, from 0 every day.

    Examples
    --------
    >>> cumulated(np.array([1, 2, -3, 4, 1]), (slice(0, 3), slice(3, 5))).tolist()
    [1, 3, 0, 4, 5]
    """
    return np.concatenate([np.cumsum(net[day]) for day in days])


def lay_out(passages: pd.DataFrame, *, reset: str = "00:00") -> LedgerDays:
    """Lay passages out over days from reset to reset, as the local clock shows it.

    Examples
    --------
    A day on which the clock is put forward has 23 hours:

    >>> times = pd.DatetimeIndex(["2024-03-31 08:00"], tz="Europe/Paris")
    >>> passages = pd.DataFrame({"door": "a", "entered": 1, "left": 0, "weight": 1.0}, index=times)
    >>> days = lay_out(passages)
    >>> len(days.times) / 60, str(days.times[0])
    (23.0, '2024-03-31 00:00:00+01:00')
    """
    times = pd.DatetimeIndex(passages.index).as_unit("us")
    if len(times) == 0:
        raise InputError("passages: there are none")
    edges = _resets(times, time_of_day(reset, "reset"))
    day_of = np.searchsorted(edges.asi8, times.asi8, side="right") - 1
    used, day_rank = np.unique(day_of, return_inverse=True)
    spans = [pd.date_range(edges[d], edges[d + 1], freq="min", inclusive="left", unit="us") for d in used]
    starts = np.cumsum([0, *map(len, spans)])
    since = (times.asi8 - edges.asi8[day_of]) // 60_000_000
    at = starts[day_rank] + since
    doors = tuple(sorted(map(str, passages["door"].unique())))
    door_of = np.searchsorted(np.array(doors), passages["door"].to_numpy(dtype=str))

    def laid(name: str) -> Whole:
        cells = np.zeros((len(doors), starts[-1]), dtype=np.int64)
        if name in passages.columns:
            np.add.at(cells, (door_of, at), passages[name].to_numpy(dtype=np.int64))
        return cells

    weight = np.ones((len(doors), starts[-1]))
    if "weight" in passages.columns:
        np.minimum.at(weight, (door_of, at), passages["weight"].to_numpy(dtype=float))
    index = pd.DatetimeIndex(np.concatenate([span.asi8 for span in spans]).view("datetime64[us]"))
    if times.tz is not None:
        index = index.tz_localize("UTC").tz_convert(times.tz)
    return LedgerDays(
        index.rename("time"),
        tuple(slice(int(first), int(stop)) for first, stop in pairwise(starts)),
        doors,
        laid("entered"),
        laid("left"),
        laid("entered_again"),
        laid("left_again"),
        weight,
    )


def time_of_day(text: str, name: str) -> pd.Timedelta:
    """Read a time of day such as 23:30.

    Examples
    --------
    >>> time_of_day("23:30", "quiet_after")
    Timedelta('0 days 23:30:00')
    """
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", str(text).strip())
    if not match:
        raise InputError(f"{name} must be a time of day such as 00:00 or 23:30, got {text!r}")
    return pd.Timedelta(hours=int(match[1]), minutes=int(match[2]))


def _resets(times: pd.DatetimeIndex, reset: pd.Timedelta) -> pd.DatetimeIndex:
    """Give the resets from before the first time until after the last."""
    local = times.tz_localize(None)
    days = pd.date_range(
        local.min().normalize() - MINUTE * 1440, local.max().normalize() + MINUTE * 2880, unit="us"
    )
    edges = days + reset
    if times.tz is None:
        return edges
    shown_first = np.ones(len(edges), dtype=bool)
    return edges.tz_localize(times.tz, ambiguous=shown_first, nonexistent="shift_forward")
