"""Issues in an occupancy ledger as counted: each finding with its kind, time and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.checks.prepared_readings import runs
from occupair.groundtruth.ledger.clock_offsets import ClockCorrection
from occupair.groundtruth.ledger.passage_grid import Counts, PassageGrid, parse_time_of_day
from occupair.groundtruth.passages import UNCERTAIN_WEIGHT
from occupair.wording import day_list, plural

DRIFT_MIN_DAYS = 3  # fewest days that can show counter drift
DRIFT_DEVIATIONS = 2.5  # standard deviations above the imbalance of as many random errors
DRIFT_MIN_FRACTION = 0.01  # of the passages
REPEATS_MIN, REPEATS_MIN_FRACTION = 3, 0.03  # quick repeats worth reporting: number, fraction at a door
BOTH_MIN, BOTH_MIN_FRACTION, BOTH_DEVIATIONS = 5, 0.1, 5.0  # coincidences: minutes, fraction, deviations
BOTH_LAGS = 15  # lags on either side that the same minute is compared with [min]
SILENT_MIN_PEOPLE = 12.0  # usual passages in a silent period; by chance once in 160,000
SILENT_MIN_DAYS = 3  # fewest days from which the usual traffic of a door is known
SILENT_MIN_TRAFFIC = 0.5  # fraction of the usual traffic that must have passed elsewhere on that day


@dataclass(frozen=True)
class LedgerIssue:
    """Something that is wrong with a ledger.

    Attributes
    ----------
    kind : ``negative``, ``left_at_reset``, ``after_hours``, ``over_capacity``, ``clock``, ``doubles``,
        ``drift``, ``gap`` or ``hopeless``
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
    clock_corrections: Sequence[ClockCorrection] = (),
    beyond_correction: Sequence[int] = (),
) -> list[LedgerIssue]:
    """Find all issues of a ledger as counted, in chronological order."""
    occupancy = grid.occupancy()
    found = [
        *_negative_occupancy(grid, occupancy),
        *_left_at_reset(grid, occupancy),
        *_after_hours(grid, reset, quiet_after),
        *_over_capacity(grid, occupancy, capacity),
        *[_clock_offset(grid, correction) for correction in clock_corrections],
        *_quick_repeats(grid),
        *_counted_at_both_doors(grid),
        *_counter_drift(grid, occupancy),
        *_uncounted(grid),
        *_silent_doors(grid),
        *_missing_days(grid),
        *[_beyond_correction(grid, occupancy, number) for number in beyond_correction],
    ]
    return sorted(found, key=lambda issue: (issue.time, issue.kind))


def _negative_occupancy(grid: PassageGrid, occupancy: Counts) -> list[LedgerIssue]:
    found = []
    for day in grid.days:
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
    for day in grid.days:
        left = int(occupancy[day.stop - 1])
        if left > 0:
            message = (
                f"{_at(grid, day.start)[:10]}: {left} {'person' if left == 1 else 'people'} left in the room "
                "at the end of the day: missed exits or entries counted twice."
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


def _clock_offset(grid: PassageGrid, correction: ClockCorrection) -> LedgerIssue:
    message = f"{correction.door}: {correction.reason}"
    return LedgerIssue("clock", grid.times[0], message, float(abs(correction.minutes)))


def _quick_repeats(grid: PassageGrid) -> list[LedgerIssue]:
    """Passages within seconds of another in the same direction, at one door."""
    found = []
    for k, door in enumerate(grid.doors):
        for what, repeats, passages in (
            ("entries", grid.entered_again[k], grid.entered[k]),
            ("exits", grid.left_again[k], grid.left[k]),
        ):
            number, total = int(repeats.sum()), int(passages.sum())
            if number >= max(REPEATS_MIN, REPEATS_MIN_FRACTION * total):
                message = (
                    f"{door}: {number} of {total} {what} came within seconds of the previous one: a group, "
                    "or one person counted twice."
                )
                time = grid.times[int(np.argmax(repeats > 0))]
                found.append(LedgerIssue("doubles", time, message, float(number)))
    return found


def _counted_at_both_doors(grid: PassageGrid) -> list[LedgerIssue]:
    """Single passages at two doors in the same minute and direction, more often than at other lags."""
    found = []
    for one in range(len(grid.doors)):
        for other in range(one + 1, len(grid.doors)):
            coincidences = np.zeros(2 * BOTH_LAGS + 1)
            for passed in (grid.entered, grid.left):
                first, second = passed[one] == 1, passed[other] == 1
                coincidences += [
                    np.sum(first & np.roll(second, lag)) for lag in range(-BOTH_LAGS, BOTH_LAGS + 1)
                ]
            # walking from one door to the other may take a minute: leave the neighbouring lags out
            background = np.delete(coincidences, slice(BOTH_LAGS - 1, BOTH_LAGS + 2))
            usual = float(background.mean())
            excess = float(coincidences[BOTH_LAGS]) - usual
            fewest = min(int((grid.entered[k] + grid.left[k]).sum()) for k in (one, other))
            if excess >= max(BOTH_MIN, BOTH_MIN_FRACTION * fewest, BOTH_DEVIATIONS * np.sqrt(usual + 1)):
                both = ((grid.entered[one] > 0) & (grid.entered[other] > 0)) | (
                    (grid.left[one] > 0) & (grid.left[other] > 0)
                )
                message = (
                    f"{grid.doors[one]} and {grid.doors[other]}: both counted one person in the same "
                    f"direction and minute {coincidences[BOTH_LAGS]:.0f} times; {usual:.0f} would be "
                    "expected by chance: one person counted at both?"
                )
                time = grid.times[int(np.argmax(both))]
                found.append(LedgerIssue("doubles", time, message, round(excess)))
    return found


def _counter_drift(grid: PassageGrid, occupancy: Counts) -> list[LedgerIssue]:
    """Find counters that err in one direction: the daily imbalance has the same sign day after day."""
    imbalance = np.array([occupancy[day.stop - 1] for day in grid.days])
    people = int((grid.entered + grid.left).sum())
    total, errors = int(imbalance.sum()), int(np.abs(imbalance).sum())
    if (
        len(imbalance) < DRIFT_MIN_DAYS
        or abs(total) < DRIFT_MIN_DAYS
        or abs(total) < DRIFT_DEVIATIONS * np.sqrt(errors)
        or abs(total) < DRIFT_MIN_FRACTION * people / 2
    ):
        return []
    more, fewer = ("entries", "exits") if total > 0 else ("exits", "entries")
    message = (
        f"Counter drift: {abs(total)} more {more} than {fewer} in {len(imbalance)} days, "
        f"{abs(total) / len(imbalance):.1f} per day or {200 * abs(total) / people:.1f} %, in the same "
        f"direction on {int((imbalance * np.sign(total) > 0).sum())} of {len(imbalance)} days."
    )
    return [LedgerIssue("drift", grid.times[0], message, abs(total) / len(imbalance))]


def _uncounted(grid: PassageGrid) -> list[LedgerIssue]:
    found = []
    for k, door in enumerate(grid.doors):
        for first, last in runs(grid.weight[k] <= 0):
            length = last - first + 1
            when = f"from {_at(grid, first)} to {_at(grid, last)}" if length > 1 else f"at {_at(grid, first)}"
            message = (
                f"{door}: not counted {when} ({plural(length, 'minute')}): passages in this time are missing."
            )
            found.append(LedgerIssue("gap", grid.times[first], message, float(length)))
    return found


def find_silent_periods(grid: PassageGrid) -> list[tuple[int, int, int, float]]:
    """Find periods without passages at a door that usually has some.

    The usual traffic is the mean of each hour over the other days. The rest of the day must have had about
    its usual traffic, at this door or at others: on a holiday nobody passes anywhere.

    Returns
    -------
    list of (door, first minute, last minute, usual passages)
    """
    if len(grid.days) < SILENT_MIN_DAYS:
        return []
    hours = np.asarray(grid.times.hour)
    passed = (grid.entered + grid.left).astype(float)
    day_number = np.concatenate([np.full(day.stop - day.start, k) for k, day in enumerate(grid.days)])
    hourly = np.zeros((len(grid.doors), len(grid.days), 24))
    for k in range(len(grid.doors)):
        np.add.at(hourly[k], (day_number, hours), passed[k])
    usual = (hourly.sum(axis=1, keepdims=True) - hourly) / (len(grid.days) - 1)
    found = []
    for k in range(len(grid.doors)):
        for d, day in enumerate(grid.days):
            for first, last in runs((hourly[k, d] == 0) & (usual[k, d] > 0)):
                people = float(usual[k, d, first : last + 1].sum())
                traffic, usual_traffic = hourly[:, d].sum(), usual[:, d].sum() - people
                if people >= SILENT_MIN_PEOPLE and traffic >= SILENT_MIN_TRAFFIC * usual_traffic:
                    minutes = np.flatnonzero((hours[day] >= first) & (hours[day] <= last)) + day.start
                    found.append((k, int(minutes[0]), int(minutes[-1]), people))
    return found


def _silent_doors(grid: PassageGrid) -> list[LedgerIssue]:
    return [
        LedgerIssue(
            "gap",
            grid.times[first],
            f"{grid.doors[k]}: no passage from {_at(grid, first)} to {grid.times[last]:%H:%M}, when "
            f"{people:.0f} are usual and people passed elsewhere or later: was the counter working?",
            float(last - first + 1),
        )
        for k, first, last, people in find_silent_periods(grid)
    ]


def _missing_days(grid: PassageGrid) -> list[LedgerIssue]:
    """Days between the first and the last without data from any door."""
    dates = pd.DatetimeIndex([grid.times[day.start].tz_localize(None).normalize() for day in grid.days])
    missing = pd.date_range(dates[0], dates[-1]).difference(dates)
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


def minute_weights(grid: PassageGrid) -> NDArray[np.float64]:
    """Weight of each minute [0..1], lower for uncertain and uncounted minutes and for silent doors."""
    weight = np.asarray(grid.weight.min(axis=0))
    for _, first, last, _ in find_silent_periods(grid):
        weight[first : last + 1] = np.minimum(weight[first : last + 1], UNCERTAIN_WEIGHT)
    return weight
