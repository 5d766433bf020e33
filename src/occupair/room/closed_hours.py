"""Closed hours as head counts of 0, for rooms with few head counts.

Nobody enters a head count at night, yet an empty room shows what CO2 does without people. The closed hours
are given, or found as the times of day at which nobody was counted and CO2 rests near its low or decays on
nearly all days. Days that are labelled throughout are not affected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.room.open_hours import MARGIN, Minutes, within
from occupair.room.training_days import LabelledEpisode

Array = NDArray[np.float64]
Date = Sequence[LabelledEpisode]

BIN = 15
"""Resolution at which closed hours are found, and time between the counts of 0 in them [min]."""

GIVEN_WEIGHT, FOUND_WEIGHT = 1.0, 0.5
"""Largest weight of a count of 0 in closed hours that are given, and in closed hours that are found."""

MAX_SHARE = 3.0
"""Largest total weight of the counts of 0, relative to that of the head counts."""

MAX_DAYS = 30
"""Number of days without head counts whose closed hours are used; more of them add little."""

MIN_DAYS = 5
"""Number of days without which no closed hours are found."""

QUIET_SHARE = 0.9
"""Share of the days on which CO2 rests or decays at a time of day that is found to be closed.

It is averaged over 75 min, so that one noisy quarter of an hour does not divide a night.
"""

MIN_LENGTH = 240
"""Length of the shortest period that is found to be closed [min]: longer than a break or a free morning."""

ARRIVAL_MARGIN = 60
"""End of a quiet period that is not found to be closed: people are in before CO2 shows it [min]."""

MAX_RISE = 15.0
"""Rise of CO2 in an hour that an empty room can have [ppm]: outdoor air, neighbouring rooms, sensor noise."""

LOW_LEVEL = 0.3
"""Height of CO2 above the low of its day up to which it is near its low, relative to the usual range."""

MIN_DECAY = 0.05
"""Share of its height above the low that CO2 loses in an hour when the room is empty, even if it is tight."""

MIN_RANGE = 60.0
"""Usual daily range of CO2 below which the room shows no difference between empty and occupied [ppm]."""

_BINS, _HOUR = 1440 // BIN, 60 // BIN
_PERIOD = re.compile(r"(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)")


def parse_closed(closed: Any) -> Minutes | None:
    """Return the minutes of the day at which the room is closed; None: they are to be found.

    Parameters
    ----------
    closed : None, str or sequence of str
        None, a period such as ``"22:00-06:00"``, several of them, or a pair of times of day. An empty
        sequence means that the room has no closed hours.

    Examples
    --------
    >>> np.flatnonzero(parse_closed("12:00-12:03")).tolist()
    [720, 721, 722]
    >>> int(parse_closed(("22:00", "06:00")).sum()), parse_closed(()).any()
    (480, np.False_)
    """
    if closed is None:
        return None
    periods = [closed] if isinstance(closed, str) else closed
    if not isinstance(periods, list | tuple) or not all(isinstance(one, str) for one in periods):
        raise _not_a_period(closed)
    if len(periods) == 2 and not any("-" in one for one in periods):
        periods = ["-".join(periods)]
    minutes = np.zeros(1440, dtype=bool)
    for period in periods:
        first, last = _ends(period)
        minutes |= np.roll(np.arange(1440) < (last - first) % 1440, first)
    return minutes


def _ends(period: str) -> tuple[int, int]:
    """Return the first minute of a period, and the first after it, since midnight [min]."""
    match = _PERIOD.fullmatch(period.strip())
    if match is None:
        raise _not_a_period(period)
    hours, minutes = [int(one) for one in match.groups()[::2]], [int(one) for one in match.groups()[1::2]]
    first, last = (60 * hour + minute for hour, minute in zip(hours, minutes, strict=True))
    if max(minutes) > 59 or first >= 1440 or last > 1440 or first == last:
        raise _not_a_period(period)
    return first, last


def _not_a_period(value: Any) -> InputError:
    return InputError(f"closed must be a period of the day such as '22:00-06:00', got {value!r}")


def count_closed_hours(dates: Sequence[Date], closed: Minutes | None) -> list[list[LabelledEpisode]]:
    """Add counts of 0 in the closed hours to sparse head counts.

    They have a weight of at most ``GIVEN_WEIGHT`` or ``FOUND_WEIGHT`` each, and of ``MAX_SHARE`` times the
    head counts together. On a day with people in its closed hours the head counts prevail and nothing is
    added. Up to ``MAX_DAYS`` days without any head count take part.

    Parameters
    ----------
    dates : sequence of sequence of LabelledEpisode
        Episodes of each local day.
    closed : array of bool of shape (1440,), optional
        Minutes of the day at which the room is closed; None: find them.
    """
    given = [list(date) for date in dates]
    if all(episode.weight is None for date in given for episode in date):
        return given
    if closed is None:
        hours, weight = find_closed_hours(given), FOUND_WEIGHT
    else:
        hours, weight = [closed] * len(given), GIVEN_WEIGHT
    used = _spread_days(given, hours)
    added = [
        [_closed_readings(episode, hours[k]) for episode in date] if k in used else None
        for k, date in enumerate(given)
    ]
    total = sum(int(one.sum()) for date in added if date for one in date)
    weight = min(weight, MAX_SHARE * _n_counts(given) / max(total, 1))
    return [
        date
        if which is None
        else [_add_zeros(one, here, weight) for one, here in zip(date, which, strict=True)]
        for date, which in zip(given, added, strict=True)
    ]


def _spread_days(dates: Sequence[Date], hours: Sequence[Minutes]) -> set[int]:
    """Return the days whose closed hours are used: those with head counts, and some of the others."""
    usable = [k for k, date in enumerate(dates) if hours[k].any() and not _occupied(date)[hours[k]].any()]
    labelled = [k for k in usable if any(one.known.any() for one in dates[k])]
    others = [k for k in usable if k not in set(labelled)]
    if len(others) > MAX_DAYS:
        others = [others[int(k)] for k in np.linspace(0, len(others) - 1, MAX_DAYS)]
    return {*labelled, *others}


def _closed_readings(episode: LabelledEpisode, closed: Minutes) -> NDArray[np.bool_]:
    """Return the readings that become counts of 0: the first unlabelled one of each bin in closed hours."""
    minute = np.floor(episode.clock.minute).astype(int)
    candidates = np.flatnonzero(closed[minute] & ~episode.known)
    which = np.zeros(minute.size, dtype=bool)
    which[candidates[np.unique(minute[candidates] // BIN, return_index=True)[1]]] = True
    return which


def _add_zeros(episode: LabelledEpisode, which: NDArray[np.bool_], weight: float) -> LabelledEpisode:
    assert episode.weight is not None
    return replace(
        episode,
        people=np.where(which, 0.0, episode.people),
        weight=np.where(which, weight, episode.weight),
        assumed=which if episode.assumed is None else which | episode.assumed,
    )


def _n_counts(dates: Sequence[Date]) -> float:
    """Return the total weight of the head counts, those within one bin of a day counted once."""
    total = 0.0
    for date in dates:
        largest = np.zeros(_BINS)
        for episode in date:
            assert episode.weight is not None
            np.maximum.at(largest, (episode.clock.minute // BIN).astype(int), episode.weight)
        total += float(largest.sum())
    return total


def _occupied(date: Date) -> Minutes:
    """Return the minutes of a day at which people were counted."""
    occupied = np.zeros(1440, dtype=bool)
    for episode in date:
        minute = np.floor(episode.clock.minute).astype(int)
        occupied[minute[episode.known & (episode.people > 0)]] = True
    return occupied


def find_closed_hours(dates: Sequence[Date]) -> list[Minutes]:
    """Return the minutes of each day at which the room is found to be closed.

    These are periods of the day of ``MIN_LENGTH`` or more in which nobody was counted within an hour on any
    day, and in which CO2 rests near its low or decays on ``QUIET_SHARE`` of all days. Days on which it does
    not are left out.

    Parameters
    ----------
    dates : sequence of sequence of LabelledEpisode
        Episodes of each local day.
    """
    nothing = [np.zeros(1440, dtype=bool) for _ in dates]
    if len(dates) < MIN_DAYS:
        return nothing
    levels = np.array([_bin_levels(date) for date in dates])
    lows = np.nanmin(levels, axis=1, keepdims=True)
    usual_range = float(np.quantile(np.nanmax(levels, axis=1, keepdims=True) - lows, QUIET_SHARE))
    if usual_range < MIN_RANGE:
        return nothing
    height = levels - lows
    rise = np.full(levels.shape, np.nan)
    rise[:, _HOUR:] = levels[:, _HOUR:] - levels[:, :-_HOUR]
    known = ~np.isnan(levels)
    is_low = height <= LOW_LEVEL * usual_range
    with np.errstate(invalid="ignore"):
        quiet = np.where(
            np.isnan(rise), is_low, (rise <= MAX_RISE) & (is_low | (rise <= -MIN_DECAY * height))
        )
    n_days = known.sum(axis=0)
    share = np.where(n_days >= MIN_DAYS, (quiet & known).sum(axis=0) / np.maximum(n_days, 1), 0.0)
    share = np.mean(
        [np.roll(share, k) for k in range(-(_HOUR // 2), _HOUR // 2 + 1)], axis=0
    )  # within 75 min
    occupied = np.flatnonzero(np.any([_occupied(date) for date in dates], axis=0)).astype(float)
    free = np.repeat(share >= QUIET_SHARE, BIN) & ~within(occupied, MARGIN)
    closed = _long_periods(free)
    return [closed & np.repeat(day, BIN) for day in quiet & known]


def _bin_levels(date: Date) -> Array:
    """Return the mean CO2 in each bin of a day [ppm]; NaN without readings."""
    bins = np.concatenate([(episode.clock.minute // BIN).astype(int) for episode in date])
    total = np.bincount(bins, weights=np.concatenate([episode.co2 for episode in date]), minlength=_BINS)
    count = np.bincount(bins, minlength=_BINS)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _long_periods(free: Minutes) -> Minutes:
    """Return the periods of ``MIN_LENGTH`` or more, also over midnight, without their ``ARRIVAL_MARGIN``."""
    if free.all():  # no time of day shows people
        return np.zeros_like(free)
    first = int(np.argmin(free))
    turned = np.concatenate([[False], np.roll(free, -first), [False]]).astype(
        int
    )  # starts with an open minute
    starts, ends = np.flatnonzero(np.diff(turned) == 1), np.flatnonzero(np.diff(turned) == -1)
    closed = np.zeros_like(free)
    for start, end in zip(starts, ends, strict=True):
        if end - start >= MIN_LENGTH:
            closed[start : end - ARRIVAL_MARGIN] = True
    return np.roll(closed, first)
