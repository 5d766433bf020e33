"""What is wrong with a ledger as it was counted, in plain words: each finding with its time and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.checks.cleaning import runs
from occupair.groundtruth.ledger.days import LedgerDays, Whole, time_of_day
from occupair.groundtruth.ledger.door_clocks import ClockShift
from occupair.groundtruth.passages import UNSURE
from occupair.wording import day_list, plural

DRIFT_DAYS = 3  # fewest that can tell a counter that drifts
DRIFT_ODDS = 2.5  # standard deviations of what as many errors that go either way would leave
DRIFT_SHARE = 0.01  # of the passages
AGAIN_LEAST, AGAIN_SHARE = 3, 0.03  # passages, and share of all at a door, from which second counts are told
BOTH_LEAST, BOTH_SHARE, BOTH_ODDS = 5, 0.1, 5.0  # minutes, share of a door's, and standard deviations
BOTH_LAGS = 15  # min to either side with which the same minute is compared
SILENT = 12.0  # people who would have passed while a door says nothing: by chance once in 160,000
SILENT_DAYS = 3  # fewest that tell what is usual at a door
ALIVE = 0.5  # of what is usual must have passed elsewhere on that day for a silent door to be told


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with a ledger.

    Attributes
    ----------
    kind : ``negative``, ``left_at_reset``, ``after_hours``, ``over_capacity``, ``clock``, ``doubles``,
        ``drift``, ``gap`` or ``hopeless``
    time : when it begins to show
    words : one plain sentence or two
    size : how much, in people, or in minutes where it is a clock or a gap
    """

    kind: str
    time: pd.Timestamp
    words: str
    size: float


def find_ledger_faults(
    days: LedgerDays,
    *,
    capacity: int | None,
    reset: str,
    quiet_after: str,
    clocks: Sequence[ClockShift] = (),
    hopeless: Sequence[int] = (),
) -> list[Fault]:
    """Find all that is wrong with a ledger as it was counted, in the order of time."""
    occupancy = days.occupancy()
    found = [
        *_negative(days, occupancy),
        *_left_at_reset(days, occupancy),
        *_after_hours(days, reset, quiet_after),
        *_over_capacity(days, occupancy, capacity),
        *[_clock(days, shift) for shift in clocks],
        *_second_counts(days),
        *_both_doors(days),
        *_drift(days, occupancy),
        *_not_counted(days),
        *_silent(days),
        *_empty_days(days),
        *[_hopeless(days, occupancy, number) for number in hopeless],
    ]
    return sorted(found, key=lambda fault: (fault.time, fault.kind))


def _negative(days: LedgerDays, occupancy: Whole) -> list[Fault]:
    found = []
    for day in days.days:
        below = runs(occupancy[day] < 0)
        if below:
            first, minutes = below[0][0], sum(last - first + 1 for first, last in below)
            least = int(occupancy[day].min())
            words = (
                f"{_at(days, day.start + first)}: occupancy falls below 0, down to {least}, for "
                f"{plural(minutes, 'minute')} of the day: entrances were missed, or exits counted twice."
            )
            found.append(Fault("negative", days.times[day.start + first], words, float(-least)))
    return found


def _left_at_reset(days: LedgerDays, occupancy: Whole) -> list[Fault]:
    found = []
    for day in days.days:
        left = int(occupancy[day.stop - 1])
        if left > 0:
            words = (
                f"{_at(days, day.start)[:10]}: {left} {'person' if left == 1 else 'people'} left in the room "
                "at the end of the day: exits were missed, or entrances counted twice."
            )
            found.append(Fault("left_at_reset", days.times[day.stop - 1], words, float(left)))
    return found


def _after_hours(days: LedgerDays, reset: str, quiet_after: str) -> list[Fault]:
    """Movement when nobody should be about: Jiang et al. 2016, Section V-B, had nobody in after 23:30."""
    begin, end = (time_of_day(text, name) for text, name in ((quiet_after, "quiet_after"), (reset, "reset")))
    length = (end - begin) % pd.Timedelta(days=1)
    clock = pd.to_timedelta(days.times.hour * 60 + days.times.minute, unit="min")
    quiet = np.asarray((clock - begin) % pd.Timedelta(days=1) < length)
    moving = ((days.entered + days.left).sum(axis=0) > 0) & quiet
    found = []
    for day in days.days:
        at = np.flatnonzero(moving[day]) + day.start
        if at.size:
            people = int((days.entered + days.left)[:, at].sum())
            words = (
                f"{_at(days, at[0])}: {plural(people, 'passage')} after {quiet_after}, the last at "
                f"{days.times[at[-1]]:%H:%M}: somebody late, cleaners, or a clock that is off?"
            )
            found.append(Fault("after_hours", days.times[at[0]], words, float(people)))
    return found


def _over_capacity(days: LedgerDays, occupancy: Whole, capacity: int | None) -> list[Fault]:
    found: list[Fault] = []
    if capacity is None:
        return found
    for day in days.days:
        over = np.flatnonzero(occupancy[day] > capacity)
        if over.size:
            most = int(occupancy[day].max())
            words = (
                f"{_at(days, day.start + int(over[0]))}: up to {most} people in a room for {capacity}, for "
                f"{plural(over.size, 'minute')}: exits were missed, or entrances counted twice."
            )
            found.append(
                Fault("over_capacity", days.times[day.start + over[0]], words, float(most - capacity))
            )
    return found


def _clock(days: LedgerDays, shift: ClockShift) -> Fault:
    return Fault("clock", days.times[0], f"{shift.door}: {shift.why}", float(abs(shift.minutes)))


def _second_counts(days: LedgerDays) -> list[Fault]:
    """Passages within seconds of another the same way, at one door."""
    found = []
    for k, door in enumerate(days.doors):
        for what, again, all_ in (
            ("entrances", days.entered_again[k], days.entered[k]),
            ("exits", days.left_again[k], days.left[k]),
        ):
            number, total = int(again.sum()), int(all_.sum())
            if number >= max(AGAIN_LEAST, AGAIN_SHARE * total):
                words = (
                    f"{door}: {number} of {total} {what} came within seconds of the one before: people close "
                    "together, or one person counted twice."
                )
                found.append(Fault("doubles", days.times[int(np.argmax(again > 0))], words, float(number)))
    return found


def _both_doors(days: LedgerDays) -> list[Fault]:
    """Single passages the same way at two doors in the same minute, more often than minutes apart."""
    found = []
    for one in range(len(days.doors)):
        for other in range(one + 1, len(days.doors)):
            same = np.zeros(2 * BOTH_LAGS + 1)
            for passed in (days.entered, days.left):
                first, second = passed[one] == 1, passed[other] == 1
                same += [np.sum(first & np.roll(second, lag)) for lag in range(-BOTH_LAGS, BOTH_LAGS + 1)]
            # a person may be a minute on the way
            apart = np.delete(same, slice(BOTH_LAGS - 1, BOTH_LAGS + 2))
            usual = float(apart.mean())
            more = float(same[BOTH_LAGS]) - usual
            fewest = min(int((days.entered[k] + days.left[k]).sum()) for k in (one, other))
            if more >= max(BOTH_LEAST, BOTH_SHARE * fewest, BOTH_ODDS * np.sqrt(usual + 1)):
                both = ((days.entered[one] > 0) & (days.entered[other] > 0)) | (
                    (days.left[one] > 0) & (days.left[other] > 0)
                )
                words = (
                    f"{days.doors[one]} and {days.doors[other]}: both count one person the same way in the "
                    f"same minute {same[BOTH_LAGS]:.0f} times, {usual:.0f} would be chance: one person "
                    "counted at both?"
                )
                found.append(Fault("doubles", days.times[int(np.argmax(both))], words, round(more)))
    return found


def _drift(days: LedgerDays, occupancy: Whole) -> list[Fault]:
    """Find a counter that errs one way: what is left over has the same sign day by day."""
    over = np.array([occupancy[day.stop - 1] for day in days.days])
    people = int((days.entered + days.left).sum())
    total, errors = int(over.sum()), int(np.abs(over).sum())
    if (
        len(over) < DRIFT_DAYS
        or abs(total) < DRIFT_DAYS
        or abs(total) < DRIFT_ODDS * np.sqrt(errors)
        or abs(total) < DRIFT_SHARE * people / 2
    ):
        return []
    more, fewer = ("entrances", "exits") if total > 0 else ("exits", "entrances")
    words = (
        f"The counters drift: {abs(total)} more {more} than {fewer} in {len(over)} days, "
        f"{abs(total) / len(over):.1f} a day or {200 * abs(total) / people:.1f} % of them, on "
        f"{int((over * np.sign(total) > 0).sum())} of {len(over)} days the same way."
    )
    return [Fault("drift", days.times[0], words, abs(total) / len(over))]


def _not_counted(days: LedgerDays) -> list[Fault]:
    found = []
    for k, door in enumerate(days.doors):
        for first, last in runs(days.weight[k] <= 0):
            length = last - first + 1
            words = (
                f"{door}: not counted at {_at(days, first)}"
                + (f" until {_at(days, last)}" if length > 1 else "")
                + f" ({plural(length, 'minute')}): whoever passed is missing."
            )
            found.append(Fault("gap", days.times[first], words, float(length)))
    return found


def silent_spans(days: LedgerDays) -> list[tuple[int, int, int, float]]:
    """Stretches in which a door says nothing while it usually would: door, first, last minute, people usual.

    What is usual is the mean of each hour over the other days. The rest of the day must have been about as
    usual, at this door or at others: on a holiday nobody passes anywhere.
    """
    if len(days.days) < SILENT_DAYS:
        return []
    hours = np.asarray(days.times.hour)
    passed = (days.entered + days.left).astype(float)
    number = np.concatenate([np.full(day.stop - day.start, k) for k, day in enumerate(days.days)])
    table = np.zeros((len(days.doors), len(days.days), 24))
    for k in range(len(days.doors)):
        np.add.at(table[k], (number, hours), passed[k])
    usual = (table.sum(axis=1, keepdims=True) - table) / (len(days.days) - 1)
    found = []
    for k in range(len(days.doors)):
        for d, day in enumerate(days.days):
            for first, last in runs((table[k, d] == 0) & (usual[k, d] > 0)):
                people = float(usual[k, d, first : last + 1].sum())
                others = table[:, d].sum(), usual[:, d].sum() - people
                if people >= SILENT and others[0] >= ALIVE * others[1]:
                    there = np.flatnonzero((hours[day] >= first) & (hours[day] <= last)) + day.start
                    found.append((k, int(there[0]), int(there[-1]), people))
    return found


def _silent(days: LedgerDays) -> list[Fault]:
    return [
        Fault(
            "gap",
            days.times[first],
            f"{days.doors[k]}: no passage from {_at(days, first)} until {days.times[last]:%H:%M}, while "
            f"{people:.0f} are usual then and others passed on that day: was it counting?",
            float(last - first + 1),
        )
        for k, first, last, people in silent_spans(days)
    ]


def _empty_days(days: LedgerDays) -> list[Fault]:
    """Days between the first and the last of which nothing is said at any door."""
    dates = pd.DatetimeIndex([days.times[day.start].tz_localize(None).normalize() for day in days.days])
    missing = pd.date_range(dates[0], dates[-1]).difference(dates)
    if not len(missing):
        return []
    words = (
        f"No door says anything on {plural(len(missing), 'day')} ({day_list(list(missing))}): "
        "nobody there, or nothing counted? Left out."
    )
    at = int(dates.searchsorted(missing[0]))
    return [Fault("gap", days.times[days.days[at].start], words, len(missing) * 1440.0)]


def _hopeless(days: LedgerDays, occupancy: Whole, number: int) -> Fault:
    day = days.days[number]
    size = float(np.abs(occupancy[day]).max())
    words = (
        f"{_at(days, day.start)[:10]}: the ledger is off by hundreds of people, so no correction is proposed "
        "and the day has the weight 0: is a door or a direction missing?"
    )
    return Fault("hopeless", days.times[day.start], words, size)


def _at(days: LedgerDays, minute: int) -> str:
    return f"{days.times[minute]:%Y-%m-%d %H:%M}"


def doubtful_minutes(days: LedgerDays) -> NDArray[np.float64]:
    """Weight of every minute by itself [0..1]: what was unsure or not counted, and doors that were silent."""
    weight = np.asarray(days.weight.min(axis=0))
    for _, first, last, _ in silent_spans(days):
        weight[first : last + 1] = np.minimum(weight[first : last + 1], UNSURE)
    return weight
