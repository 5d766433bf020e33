"""Issues in an occupancy ledger as counted: each finding with its kind, time and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from occupair.checks.prepared_readings import runs
from occupair.groundtruth.ledger.clock_offsets import ClockCorrection
from occupair.groundtruth.ledger.coverage import LogGap
from occupair.groundtruth.ledger.directions import SwappedDoor
from occupair.groundtruth.ledger.door_balance import door_balances
from occupair.groundtruth.ledger.overnight import OvernightStay
from occupair.groundtruth.ledger.passage_grid import (
    MINUTE,
    Counts,
    PassageGrid,
    daily_imbalance,
    parse_time_of_day,
)
from occupair.readings.schema import SATURDAY
from occupair.wording import day_list, plural

DRIFT_MIN_DAYS = 3  # fewest days that can show counter drift
DRIFT_DEVIATIONS = 2.5  # standard deviations above the imbalance of as many random errors
DRIFT_MIN_FRACTION = 0.01  # of the passages
REPEATS_MIN, REPEATS_MIN_FRACTION = 3, 0.03  # quick repeats worth reporting: number, fraction at a door
REPEATS_MIN_SURPLUS = 0.3  # fraction of the quick repeats that the balance has in excess
BOTH_MIN_FRACTION, BOTH_DEVIATIONS = 0.1, 5.0  # coincidences: fraction, deviations
BOTH_LAGS = 15  # lags on either side that the same minute is compared with [min]


@dataclass(frozen=True)
class LedgerIssue:
    """Something that is wrong with a ledger.

    Attributes
    ----------
    kind : ``negative``, ``left_at_reset``, ``overnight``, ``after_hours``, ``over_capacity``, ``direction``,
        ``clock``, ``doubles``, ``drift``, ``gap`` or ``hopeless``
    time : when it first shows
    message : one or two sentences
    size : extent in people; in minutes for clocks and gaps
    """

    kind: str
    time: pd.Timestamp
    message: str
    size: float


def find_issues(
    grid: PassageGrid,
    *,
    capacity: int | None,
    reset: str,
    quiet_after: str,
    explained: PassageGrid | None = None,
    swapped_doors: Sequence[SwappedDoor] = (),
    clock_corrections: Sequence[ClockCorrection] = (),
    overnight_stays: Sequence[OvernightStay] = (),
    gaps: Sequence[LogGap] = (),
    beyond_correction: Sequence[int] = (),
) -> list[LedgerIssue]:
    """Find all issues of a ledger as counted, in chronological order.

    ``explained`` are the passages once swapped doors and overnight stays are taken into account. The balance
    is judged by these: one finding instead of its consequences.
    """
    start = grid.times[0]
    explained = explained or grid
    occupancy = explained.occupancy()
    found = [
        *[
            LedgerIssue(
                "direction", start, f"{one.door}: entries and exits seem to be swapped: {one.reason}", 1.0
            )
            for one in swapped_doors
        ],
        *[LedgerIssue("overnight", one.time, str(one), float(one.people)) for one in overnight_stays],
        *_negative_occupancy(explained, occupancy),
        *_left_at_reset(explained, occupancy),
        *_after_hours(grid, reset, quiet_after),
        *_over_capacity(explained, occupancy, capacity),
        *[
            LedgerIssue("clock", start, f"{one.door}: {one.reason}", float(abs(one.minutes)))
            for one in clock_corrections
        ],
        *_quick_repeats(explained),
        *_counted_at_both_doors(explained),
        *_counter_drift(explained, occupancy),
        *_uncounted(grid, gaps),
        *[_log_gap(one) for one in gaps if one.expected],
        *_missing_days(grid),
        *[_beyond_correction(grid, occupancy, number) for number in beyond_correction],
    ]
    return sorted(found, key=lambda issue: (issue.time, issue.kind))


def _negative_occupancy(grid: PassageGrid, occupancy: Counts) -> list[LedgerIssue]:
    found = []
    for day in _counted_days(grid):
        below = runs(occupancy[day] < 0)
        if below:
            first, minutes = below[0][0], sum(last - first + 1 for first, last in below)
            lowest = int(occupancy[day].min())
            message = (
                f"{_at(grid, day.start + first)}: occupancy is negative, down to {lowest}, for "
                f"{plural(minutes, 'minute')} of the day: missed entries or exits counted twice."
            )
            found.append(LedgerIssue("negative", grid.times[day.start + first], message, float(-lowest)))
    return found


def _left_at_reset(grid: PassageGrid, occupancy: Counts) -> list[LedgerIssue]:
    found = []
    for day in _counted_days(grid):
        left = int(occupancy[day.stop - 1])
        if left > 0:
            message = (
                f"{_at(grid, day.start)[:10]}: {plural(left, 'person', 'people')} left in the room at the "
                "end of the day: missed exits or entries counted twice."
            )
            found.append(LedgerIssue("left_at_reset", grid.times[day.stop - 1], message, float(left)))
    return found


def _after_hours(grid: PassageGrid, reset: str, quiet_after: str) -> list[LedgerIssue]:
    """Passages in quiet hours; the office of Jiang et al. 2016, Section V-B, was empty after 23:30."""
    begin, end = (
        parse_time_of_day(text, name) for text, name in ((quiet_after, "quiet_after"), (reset, "reset"))
    )
    length = (end - begin) % pd.Timedelta(days=1)
    clock = pd.to_timedelta(grid.times.hour * 60 + grid.times.minute, unit="min")
    quiet = np.asarray((clock - begin) % pd.Timedelta(days=1) < length)
    moving = ((grid.entered + grid.left).sum(axis=0) > 0) & quiet
    found = []
    for day in grid.days:
        at = np.flatnonzero(moving[day]) + day.start
        if at.size:
            people = int((grid.entered + grid.left)[:, at].sum())
            message = (
                f"{_at(grid, at[0])}: {plural(people, 'passage')} after {quiet_after}, the last at "
                f"{grid.times[at[-1]]:%H:%M}: late workers, cleaners or a wrong clock?"
            )
            found.append(LedgerIssue("after_hours", grid.times[at[0]], message, float(people)))
    return found


def _over_capacity(grid: PassageGrid, occupancy: Counts, capacity: int | None) -> list[LedgerIssue]:
    found: list[LedgerIssue] = []
    if capacity is None:
        return found
    for day in grid.days:
        over = np.flatnonzero(occupancy[day] > capacity)
        if over.size:
            highest = int(occupancy[day].max())
            first = day.start + int(over[0])
            message = (
                f"{_at(grid, first)}: up to {highest} people, above the capacity of {capacity}, for "
                f"{plural(over.size, 'minute')}: missed exits or entries counted twice."
            )
            found.append(LedgerIssue("over_capacity", grid.times[first], message, float(highest - capacity)))
    return found


def _quick_repeats(grid: PassageGrid) -> list[LedgerIssue]:
    """Passages within seconds of another in the same direction, at one door.

    In a group they are normal. They are reported if the balance has as many people in excess: removing
    entries that were counted twice leaves fewer people at the end of a day, removing exits makes up for
    missing ones.
    """
    missing, excess = (int(people.sum()) for people in daily_imbalance(grid.net, grid.days))
    found = []
    for k, door in enumerate(grid.doors):
        for what, repeats, passages, surplus in (
            ("entries", grid.entered_again[k], grid.entered[k], excess),
            ("exits", grid.left_again[k], grid.left[k], missing),
        ):
            number, total = int(repeats.sum()), int(passages.sum())
            explains = min(number, surplus) >= max(REPEATS_MIN, REPEATS_MIN_SURPLUS * number)
            if explains and number >= REPEATS_MIN_FRACTION * total:
                message = (
                    f"{door}: {number} of {total} {what} came within seconds of the previous one: a group, "
                    "or one person counted twice."
                )
                time = grid.times[int(np.argmax(repeats > 0))]
                found.append(LedgerIssue("doubles", time, message, float(number)))
    return found


def _counted_at_both_doors(grid: PassageGrid) -> list[LedgerIssue]:
    """Single passages at two doors in the same minute and direction, more often than at any other lag.

    Counters that report every 5 or 15 minutes coincide at these lags, too. Passages whose minute is not known
    are left out.
    """
    certain = grid.weight >= 1
    found = []
    for one in range(len(grid.doors)):
        for other in range(one + 1, len(grid.doors)):
            coincidences = np.zeros(2 * BOTH_LAGS + 1)
            for passed in (grid.entered, grid.left):
                first, second = (certain[k] & (passed[k] == 1) for k in (one, other))
                coincidences += [
                    np.sum(first & np.roll(second, lag)) for lag in range(-BOTH_LAGS, BOTH_LAGS + 1)
                ]
            # walking from one door to the other may take a minute: leave the neighbouring lags out
            background = np.delete(coincidences, slice(BOTH_LAGS - 1, BOTH_LAGS + 2))
            usual = float(background.max())
            excess = float(coincidences[BOTH_LAGS]) - usual
            fewest = min(int((grid.entered[k] + grid.left[k]).sum()) for k in (one, other))
            if excess >= max(BOTH_MIN_FRACTION * fewest, BOTH_DEVIATIONS * np.sqrt(usual + 1)):
                both = ((grid.entered[one] > 0) & (grid.entered[other] > 0)) | (
                    (grid.left[one] > 0) & (grid.left[other] > 0)
                )
                message = (
                    f"{grid.doors[one]} and {grid.doors[other]}: both counted one person in the same "
                    f"direction and minute {coincidences[BOTH_LAGS]:.0f} times; {usual:.0f} would be "
                    "expected: one person counted at both?"
                )
                time = grid.times[int(np.argmax(both))]
                found.append(LedgerIssue("doubles", time, message, round(excess)))
    return found


def _counter_drift(grid: PassageGrid, occupancy: Counts) -> list[LedgerIssue]:
    """Find counters that err in one direction: the daily imbalance has the same sign day after day."""
    days = [day for day in grid.days if _is_complete(grid, day)]
    imbalance = np.array([occupancy[day.stop - 1] for day in days])
    people = sum(int((grid.entered + grid.left)[:, day].sum()) for day in days)
    total, errors = int(imbalance.sum()), int(np.abs(imbalance).sum())
    if (
        len(imbalance) < DRIFT_MIN_DAYS
        or abs(total) < DRIFT_DEVIATIONS * np.sqrt(errors)
        or abs(total) < DRIFT_MIN_FRACTION * people / 2
    ):
        return []
    more, fewer = ("entries", "exits") if total > 0 else ("exits", "entries")
    message = (
        f"Counter drift: {abs(total)} more {more} than {fewer} in {len(imbalance)} days, "
        f"{abs(total) / len(imbalance):.1f} per day or {200 * abs(total) / people:.1f} %, in the same "
        f"direction on {int((imbalance * np.sign(total) > 0).sum())} of {len(imbalance)} days. By door: "
        f"{'; '.join(map(str, door_balances(grid)))}."
    )
    return [LedgerIssue("drift", grid.times[0], message, abs(total) / len(imbalance))]


def _uncounted(grid: PassageGrid, gaps: Sequence[LogGap]) -> list[LedgerIssue]:
    """Minutes that a log itself marks as not counted."""
    found = []
    for k, door in enumerate(grid.doors):
        marked = grid.weight[k] <= 0
        for gap in gaps:
            if gap.door == door:
                marked &= ~((grid.times >= gap.first) & (grid.times <= gap.last))
        for first, last in runs(marked):
            message = f"{door}: not counted {_span(grid.times[first], grid.times[last], last - first + 1)}."
            found.append(LedgerIssue("gap", grid.times[first], message, float(last - first + 1)))
    return found


def _log_gap(gap: LogGap) -> LedgerIssue:
    length = int((gap.last - gap.first) / MINUTE) + 1
    message = f"{gap.door}: {gap.reason}: not counted {_span(gap.first, gap.last, length)}."
    return LedgerIssue("gap", gap.first, message, float(length))


def _span(first: pd.Timestamp, last: pd.Timestamp, minutes: int) -> str:
    when = (
        f"from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"
        if minutes > 1
        else f"at {first:%Y-%m-%d %H:%M}"
    )
    return f"{when} ({plural(minutes, 'minute')}): passages in this time are missing"


def _missing_days(grid: PassageGrid) -> list[LedgerIssue]:
    """Working days between the first and the last without data from any door."""
    dates = pd.DatetimeIndex([grid.times[day.start].tz_localize(None).normalize() for day in grid.days])
    missing = pd.date_range(dates[0], dates[-1]).difference(dates)
    missing = missing[missing.day_of_week < SATURDAY]
    if not len(missing):
        return []
    message = (
        f"No data from any door on {plural(len(missing), 'day')} ({day_list(list(missing))}): "
        "room unused or not counted? Excluded."
    )
    at = int(dates.searchsorted(missing[0]))
    return [LedgerIssue("gap", grid.times[grid.days[at].start], message, len(missing) * 1440.0)]


def _beyond_correction(grid: PassageGrid, occupancy: Counts, number: int) -> LedgerIssue:
    day = grid.days[number]
    size = float(np.abs(occupancy[day]).max())
    message = (
        f"{_at(grid, day.start)[:10]}: the balance is off by hundreds of people; no correction is proposed "
        "and the day has weight 0: is a door or a direction missing?"
    )
    return LedgerIssue("hopeless", grid.times[day.start], message, size)


def _at(grid: PassageGrid, minute: int) -> str:
    return f"{grid.times[minute]:%Y-%m-%d %H:%M}"


def _is_complete(grid: PassageGrid, day: slice) -> bool:
    """Whether all doors are counted from the first passage of a day to the last."""
    passed = np.flatnonzero((grid.entered + grid.left)[:, day].sum(axis=0)) + day.start
    return passed.size > 0 and bool(grid.is_counted[passed[0] : passed[-1] + 1].all())


def _counted_days(grid: PassageGrid) -> list[slice]:
    return [grid.days[number] for number in grid.counted_days()]
