"""Corrections: what would make a ledger close, one line for each, with its door and why it is proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from occupair.groundtruth.ledger.closing import EMPTY, NOT_COUNTED, PASSED, UNSURE, Closing, Prices, close_day
from occupair.groundtruth.ledger.days import LedgerDays, Whole
from occupair.groundtruth.passages import AGAIN, check_passages, summed


@dataclass(frozen=True)
class Correction:
    """A change of what was counted at a door in a minute.

    Attributes
    ----------
    time : start of the minute
    door : its name
    entered, left : how many more are to be counted, fewer when negative [people]
    why : one plain sentence
    first, last : the minutes between which it may as well be
    """

    time: pd.Timestamp
    door: str
    entered: int
    left: int
    why: str
    first: pd.Timestamp
    last: pd.Timestamp

    def __str__(self) -> str:
        """Give the correction as one line.

        Examples
        --------
        >>> at = pd.Timestamp("2024-01-08 17:31")
        >>> print(Correction(at, "north", 0, 1, "one person is left at the end of the day.", at, at))
        2024-01-08 17:31 north: 1 more left: one person is left at the end of the day.
        """
        changes = [
            f"{abs(number)} {'more' if number > 0 else 'fewer'} {what}"
            for what, number in (("entered", self.entered), ("left", self.left))
            if number
        ]
        return f"{self.time:%Y-%m-%d %H:%M} {self.door}: {' and '.join(changes)}: {self.why}"


@dataclass(frozen=True)
class Belief:
    """What the occupancy of a ledger really was, as far as closing tells.

    Attributes
    ----------
    mean, variance : of the people in at every minute [people, people squared]
    """

    mean: pd.Series[float]
    variance: pd.Series[float]

    def weight(self, occupancy: pd.Series[float]) -> pd.Series[float]:
        """How far an occupancy is to be trusted [0..1].

        1 / (1 + its expected squared error): least squares weigh a value by the inverse of its variance, and
        a head count that is sure is taken to have that of one person. Days that cannot be closed have 0.
        """
        mean, variance = (part.reindex(occupancy.index) for part in (self.mean, self.variance))
        return (1 / (1 + variance + (mean - occupancy) ** 2)).fillna(0.0)


def prices_of(days: LedgerDays) -> Prices:
    """Give what it costs to change a minute, from what was counted in it and how sure that is.

    Prices are of the minute, not of a door, so that it does not matter how its passages are split over doors.
    """
    people = (days.entered + days.left).sum(axis=0)
    each = np.where(people > 0, PASSED, EMPTY)
    lowest = days.weight.min(axis=0)
    each = np.where(lowest < 1, UNSURE, each)
    each = np.where(lowest <= 0, NOT_COUNTED, each)
    return Prices(
        each,
        fewer_cheap=np.asarray(days.entered_again.sum(axis=0)),
        more_cheap=np.asarray(days.left_again.sum(axis=0)),
        places=np.maximum(people, 1).astype(float),
    )


def propose(days: LedgerDays, *, capacity: int | None = None) -> tuple[list[Correction], Belief, list[int]]:
    """Find the smallest corrections that make every day close.

    Returns
    -------
    corrections
        In the order of time.
    belief
        What the occupancy was and how sure that is.
    hopeless
        Numbers of the days that are off by so much that nothing is proposed.
    """
    prices, occupancy = prices_of(days), days.occupancy()
    mean, variance = occupancy.astype(float), np.zeros(len(days.times))
    corrections: list[Correction] = []
    hopeless = []
    for number, day in enumerate(days.days):
        closing = close_day(occupancy[day], _slice(prices, day), capacity=capacity)
        if closing is None:
            hopeless.append(number)
            mean[day], variance[day] = np.nan, np.nan
            continue
        mean[day] += closing.mean()
        variance[day] = closing.variance()
        corrections += _of_day(days, day, occupancy[day], closing, capacity)
    belief = Belief(pd.Series(mean, index=days.times), pd.Series(variance, index=days.times))
    return corrections, belief, hopeless


def apply_corrections(passages: pd.DataFrame, corrections: Sequence[Correction]) -> pd.DataFrame:
    """Give passages with corrections made."""
    if not corrections:
        return passages
    changes = pd.DataFrame(
        [(one.door, one.entered, one.left) for one in corrections],
        columns=["door", "entered", "left"],
        index=pd.DatetimeIndex([one.time for one in corrections]),
    )
    for way in ("entered", "left"):  # of those counted twice as many are gone as were taken off
        changes[f"{way}_again"] = changes[way].clip(upper=0)
    rows = summed(pd.concat([check_passages(passages), changes.assign(weight=1.0)]))
    rows[list(AGAIN)] = rows[list(AGAIN)].clip(lower=0)
    return check_passages(rows)


def _slice(prices: Prices, day: slice) -> Prices:
    return Prices(prices.each[day], prices.fewer_cheap[day], prices.more_cheap[day], prices.places[day])


def _of_day(
    days: LedgerDays, day: slice, raw: Whole, closing: Closing, capacity: int | None
) -> list[Correction]:
    steps = np.diff(closing.change, prepend=0)
    found = []
    times = days.times[day]
    for k in map(int, np.flatnonzero(steps)):
        first, last = _stretch(closing, k)
        shows = _shows(raw, closing.change, k, times, capacity)
        for door, entered, left, what in _split(days, day.start + k, int(steps[k]), day):
            why = f"{shows}; {what}{_where(times, first, last)}."
            found.append(Correction(times[k], door, entered, left, why, times[first], times[last]))
    return found


def _stretch(closing: Closing, k: int) -> tuple[int, int]:
    """First and last minute at which a step of the change could as well be, going out from where it is."""
    before = int(closing.change[k - 1]) if k else 0
    after = int(closing.change[k])
    over = closing.levels >= max(before, after) if after > before else closing.levels <= min(before, after)
    done = closing.chances[:, over].sum(axis=1)  # chance that the step has been made after each minute
    unsure = (done > 1e-9) & (done < 1 - 1e-9)
    first = last = k
    while first > 0 and unsure[first - 1]:
        first -= 1
    while last < len(done) - 1 and done[last] < 1 - 1e-9:
        last += 1
    return first, last


def _shows(raw: Whole, change: Whole, k: int, times: pd.DatetimeIndex, capacity: int | None) -> str:
    """Say what is wrong without the step at minute k: where it shows, and how."""
    step = int(change[k] - (change[k - 1] if k else 0))
    without = raw + change - step * (np.arange(raw.size) >= k)
    negative = without < 0
    if negative.any():
        at = int(np.argmax(negative))
        return f"occupancy would be {without[at]} at {times[at]:%H:%M}"
    if capacity is not None and (without > capacity).any():
        at = int(np.argmax(without > capacity))
        return f"{without[at]} people would be in at {times[at]:%H:%M}, above the capacity"
    return f"{_people(int(without[-1]))} would be left at the end of the day"


def _where(times: pd.DatetimeIndex, first: int, last: int) -> str:
    return "" if first == last else f", somewhere from {times[first]:%H:%M} to {times[last]:%H:%M}"


def _people(number: int) -> str:
    return f"{number} {'person' if number == 1 else 'people'}"


def _split(days: LedgerDays, at: int, step: int, day: slice) -> list[tuple[str, int, int, str]]:
    """Say at which doors people are to be counted more or less: door, entered, left and what happened."""
    if step < 0:
        fewer, more, again = days.entered, days.left, days.entered_again
        words = ("an entrance was counted twice", "an exit was missed")
    else:
        fewer, more, again = days.left, days.entered, days.left_again
        words = ("an exit was counted twice", "an entrance was missed")
    removed, added = np.zeros(len(days.doors), dtype=int), np.zeros(len(days.doors), dtype=int)
    for _ in range(abs(step)):
        left_over = fewer[:, at] - removed
        twice = np.minimum(again[:, at] - removed, left_over)
        unknown = days.weight[:, at] <= 0
        if twice.max() > 0:
            removed[np.argmax(twice)] += 1
        elif unknown.any():
            added[np.argmax(unknown)] += 1
        elif more[:, at].max() > 0:  # where some were counted one more may have been missed
            added[np.argmax(more[:, at])] += 1
        elif left_over.max() > 0:
            removed[np.argmax(left_over)] += 1
        else:
            added[np.argmax(more[:, day].sum(axis=1))] += 1
    found = []
    for k, door in enumerate(days.doors):
        for number, sign, what in ((removed[k], -1, words[0]), (added[k], 1, words[1])):
            if number:
                change = int(sign * number)
                inward = (step < 0) == (sign < 0)
                skipped = sign > 0 and days.weight[k, at] <= 0
                said = "this minute was not counted" if skipped else what
                found.append((door, change if inward else 0, 0 if inward else change, said))
    return found
