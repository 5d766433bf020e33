"""Times for which a door has no data, although other doors have.

Readers mark the holes that they know of as not counted. Two more are found here: the log of a door that
begins after or ends before the others, and silence where traffic is usual. A log with rows of zero people is
known to end with its last row. A log of single passages may also end because nobody passes any more, which
only the other doors can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.checks.prepared_readings import runs
from occupair.groundtruth.ledger.passage_grid import (
    MINUTE,
    Counts,
    PassageGrid,
    daily_imbalance,
    grid_passages,
)
from occupair.groundtruth.passages import check_passages, not_counted
from occupair.readings.schema import SATURDAY

Mask = NDArray[np.bool_]

UNUSED_MAX_PEOPLE = 12.0  # passages expected at a door from which on it cannot just be unused at a weekend
UNUSED_MAX_ON_WEEKDAYS = 4.0  # the same on weekdays, on which people come and go by their usual doors
QUIET_MAX_TRAFFIC = 0.5  # fraction of the usual traffic of the other doors on a quiet day, such as a Saturday
SILENT_MIN_GROUPS = 12.0  # groups to be expected in a silent period; by chance once in 160,000
GROUP_MINUTES = 5  # between two groups [min]
SILENT_MIN_RATIO = 3.0  # times the longest silence of a typical other day: groups leave long silences
SILENT_MIN_DAYS = 3  # fewest days from which the usual traffic of a door is known
SILENT_MIN_TRAFFIC = 0.5  # fraction of the usual traffic that must have passed at other times or doors


@dataclass(frozen=True)
class LogGap:
    """A period for which a door has no data.

    Attributes
    ----------
    door : name of the door
    first, last : first and last minute
    reason : how it shows
    expected : whether there was anything to count, so that it is worth reporting
    """

    door: str
    first: pd.Timestamp
    last: pd.Timestamp
    reason: str
    expected: bool = True


def find_log_gaps(passages: pd.DataFrame, *, reset: str) -> list[LogGap]:
    """Find times without data of a door that its own log does not mark.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-01-08 08:00", "2024-01-08 17:00", "2024-01-09 08:00"])
    >>> passages = check_passages(
    ...     pd.DataFrame({"door": ["a", "b", "a"], "entered": [1, 0, 1], "left": [0, 1, 0]}, index=times)
    ... )
    >>> [(gap.door, str(gap.first), gap.reason) for gap in find_log_gaps(passages, reset="00:00")]
    [('b', '2024-01-09 00:00:00', 'its log ends on 2024-01-08')]
    """
    found = _outside_logs(passages, grid_passages(passages, reset=reset))
    return found + _silences(grid_passages(mark_gaps(passages, found), reset=reset))


def mark_gaps(passages: pd.DataFrame, gaps: Sequence[LogGap]) -> pd.DataFrame:
    """Return passages in which gaps are marked as not counted."""
    if not gaps:
        return passages
    return check_passages(
        pd.concat([passages, *(not_counted(gap.door, gap.first, gap.last + MINUTE) for gap in gaps)])
    )


def _outside_logs(passages: pd.DataFrame, grid: PassageGrid) -> list[LogGap]:
    """Minutes before the first or after the last date of a door's log.

    A ledger day may also begin on a date without data from any door, if the reset is not at midnight.
    """
    dates = grid.dates
    row_dates = pd.DatetimeIndex(passages.index).tz_localize(None).normalize()
    logged = dates.isin(row_dates)
    day_starts = np.concatenate([np.full(day.stop - day.start, day.start) for day in grid.days])
    begun = logged | logged[day_starts]  # nobody passes after midnight: the day goes on until the reset
    passed = passages[["entered", "left"]].sum(axis=1) > 0
    found = []
    for k, door in enumerate(grid.doors):
        own = (passages["door"] == door).to_numpy()
        writes_zeros = bool((own & ~passed & (passages["weight"] > 0)).any())
        first, last = row_dates[own].min(), row_dates[own].max()
        early, late = np.asarray(dates < first), np.asarray(dates > last)
        spans = [
            (early, f"its log begins on {first:%Y-%m-%d}"),
            (late, f"its log ends on {last:%Y-%m-%d}"),
        ]
        if not writes_zeros:
            spans = [
                (outside & ~begun if _may_be_unused(grid, k, outside & logged) else outside, reason)
                for outside, reason in spans
            ]
            spans.append((~early & ~late & ~begun, "no door has data"))
        found += [
            LogGap(door, grid.times[a], grid.times[b], reason, expected=bool(logged[a : b + 1].any()))
            for outside, reason in spans
            for a, b in runs(outside)
        ]
    return found


def _may_be_unused(grid: PassageGrid, door: int, outside: Mask) -> bool:
    """Whether a door may just not have been used on quiet days, on which the other doors balance."""
    passed = grid.entered + grid.left
    own, others = passed[door], passed.sum(axis=0) - passed[door]
    inside = np.array([not outside[day].any() for day in grid.days])
    if inside.all():
        return True
    daily = np.array([others[day].sum() for day in grid.days])
    if not inside.any() or daily[~inside].mean() >= QUIET_MAX_TRAFFIC * daily[inside].mean():
        return False
    expected = own.sum() * daily[~inside].sum() / daily[inside].sum()
    most = UNUSED_MAX_PEOPLE if _is_weekend(grid)[~inside].all() else UNUSED_MAX_ON_WEEKDAYS
    balanced = not np.any(daily_imbalance(np.where(outside, grid.net, 0), grid.days))
    return bool(balanced and expected < most)


def _silences(grid: PassageGrid) -> list[LogGap]:
    """Periods without passages at a door that usually has some.

    The usual traffic is the mean of each hour over the other weekdays, or the other days at a weekend. Groups
    arrive together and leave silence in between, so a silence must exceed those of the other days. The rest
    of the day must have had about its usual traffic: on a holiday nobody passes anywhere. And something must
    be missing: the day does not balance, or the other doors are as busy as usual during a silence that no
    other day comes near.
    """
    weekend = _is_weekend(grid)
    found = []
    for kind in (weekend, ~weekend):
        numbers = np.flatnonzero(kind)
        if numbers.size >= SILENT_MIN_DAYS:
            found += _silences_among(grid, [grid.days[k] for k in numbers])
    return found


def _is_weekend(grid: PassageGrid) -> Mask:
    """Whether each day is a Saturday or Sunday."""
    return np.array([grid.times[day.start].day_of_week >= SATURDAY for day in grid.days])


def _silences_among(grid: PassageGrid, days: list[slice]) -> list[LogGap]:
    people, groups = _by_hour(grid, grid.entered + grid.left, days), _by_hour(grid, _groups(grid), days)
    usual_people, usual_groups = _mean_of_other_days(people), _mean_of_other_days(groups)
    unbalanced = np.sum(daily_imbalance(grid.net, grid.days), axis=0) > 0
    found = []
    for k, door in enumerate(grid.doors):
        silent = [
            [
                (a, b, float(usual_groups[k, d, a : b + 1].sum()))
                for a, b in runs((people[k, d] == 0) & (usual_groups[k, d] > 0))
            ]
            for d in range(len(days))
        ]
        longest = np.array([max((size for *_, size in one), default=0.0) for one in silent])
        for d, day in enumerate(days):
            others = np.delete(longest, d)
            for a, b, size in silent[d]:
                if size < max(SILENT_MIN_GROUPS, SILENT_MIN_RATIO * float(np.median(others))):
                    continue
                usual = float(usual_people[k, d, a : b + 1].sum())
                is_usual_day = np.nansum(people[:, d]) >= SILENT_MIN_TRAFFIC * (
                    usual_people[:, d].sum() - usual
                )
                elsewhere = np.delete(usual_people[:, d, a : b + 1], k, axis=0).sum()
                meanwhile = np.nansum(np.delete(people[:, d, a : b + 1], k, axis=0))
                is_missing = unbalanced[grid.days.index(day)] or (
                    elsewhere > 0
                    and meanwhile >= SILENT_MIN_TRAFFIC * elsewhere
                    and size >= SILENT_MIN_RATIO * float(others.max())
                )
                if is_usual_day and is_missing:
                    first, last = _silent_minutes(grid, k, day, a, b)
                    reason = f"no passage, when {usual:.0f} are usual"
                    found.append(LogGap(door, grid.times[first], grid.times[last], reason))
    return found


def _groups(grid: PassageGrid) -> Counts:
    """Whether a minute with passages follows some without, by door: people in a group pass together."""
    passed = np.cumsum(np.pad(grid.entered + grid.left, ((0, 0), (GROUP_MINUTES, 0))), axis=1)
    before = passed[:, GROUP_MINUTES - 1 : -1] - np.pad(passed, ((0, 0), (1, 0)))[:, : -GROUP_MINUTES - 1]
    return np.asarray((grid.entered + grid.left > 0) & (before == 0), dtype=np.int64)


def _by_hour(grid: PassageGrid, counts: Counts, days: list[slice]) -> NDArray[np.float64]:
    """Sum by door, day and hour of the day, NaN where a minute of the hour is not counted."""
    hours = np.asarray(grid.times.hour)
    hourly = np.zeros((len(grid.doors), len(days), 24))
    for d, day in enumerate(days):
        for k in range(len(grid.doors)):
            np.add.at(hourly[k, d], hours[day], counts[k, day])
            hourly[k, d, hours[day][grid.weight[k, day] <= 0]] = np.nan
    return hourly


def _mean_of_other_days(hourly: NDArray[np.float64]) -> NDArray[np.float64]:
    known = ~np.isnan(hourly)
    total = np.nansum(hourly, axis=1, keepdims=True) - np.nan_to_num(hourly)
    return np.asarray(total / np.maximum(known.sum(axis=1, keepdims=True) - known, 1))


def _silent_minutes(
    grid: PassageGrid, door: int, day: slice, first_hour: int, last_hour: int
) -> tuple[int, int]:
    """Minutes from after the previous passage to before the next, at most an hour beyond the silent hours."""
    hours = np.asarray(grid.times.hour[day])
    silent = np.flatnonzero((hours >= first_hour) & (hours <= last_hour)) + day.start
    passed = np.flatnonzero((grid.entered + grid.left)[door])
    before, after = np.split(passed, [np.searchsorted(passed, silent[0])])
    first = max([silent[0] - 60, day.start, *(before[-1:] + 1)])
    last = min([silent[-1] + 60, day.stop - 1, *(after[:1] - 1)])
    return int(first), int(last)
