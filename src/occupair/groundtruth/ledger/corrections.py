"""Proposed corrections that balance a ledger, each with its door, its minute and the reason for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.checks.prepared_readings import runs
from occupair.groundtruth.ledger.balancing import (
    COST_NO_PASSAGES,
    COST_NOT_COUNTED,
    COST_PASSAGES,
    COST_UNCERTAIN,
    CorrectionCosts,
    DayBalance,
    balance_day,
)
from occupair.groundtruth.ledger.passage_grid import Counts, PassageGrid
from occupair.groundtruth.passages import REPEATS, check_passages, sum_by_minute
from occupair.wording import plural

QUIET_SHARE = (0.01, 0.99)  # earlier and later passages are in quiet hours: quantiles of the time of day
LONG_GAP = 60  # from which passages may be missing also in quiet hours [min]


@dataclass(frozen=True)
class Correction:
    """A change of the count at a door in a minute.

    Attributes
    ----------
    time : start of the minute
    door : name of the door
    entered, left : people to add; negative to remove [people]
    reason : one sentence
    first, last : earliest and latest minute in which the change would do as well
    """

    time: pd.Timestamp
    door: str
    entered: int
    left: int
    reason: str
    first: pd.Timestamp
    last: pd.Timestamp

    def __str__(self) -> str:
        """Describe the correction in one line.

        Examples
        --------
        >>> at = pd.Timestamp("2024-01-08 17:31")
        >>> print(Correction(at, "north", 0, 1, "otherwise 1 person remains at the end of the day.", at, at))
        2024-01-08 17:31 north: 1 more exit: otherwise 1 person remains at the end of the day.
        """
        changes = [
            f"{abs(number)} {'more' if number > 0 else 'fewer'} {one if abs(number) == 1 else several}"
            for one, several, number in (
                ("entry", "entries", self.entered),
                ("exit", "exits", self.left),
            )
            if number
        ]
        return f"{self.time:%Y-%m-%d %H:%M} {self.door}: {' and '.join(changes)}: {self.reason}"


@dataclass(frozen=True)
class OccupancyPosterior:
    """Mean and variance of the true occupancy over all cheapest corrections.

    Attributes
    ----------
    mean, variance : of the occupancy at every minute [people, people squared]
    """

    mean: pd.Series[float]
    variance: pd.Series[float]

    def weight(self, occupancy: pd.Series[float]) -> pd.Series[float]:
        """Weight of an occupancy [0..1].

        1 / (1 + expected squared error): least squares weights a value by its inverse variance, and a certain
        head count is given a variance of 1 person squared. Days that cannot be balanced have weight 0.
        """
        mean, variance = (series.reindex(occupancy.index) for series in (self.mean, self.variance))
        return (1 / (1 + variance + (mean - occupancy) ** 2)).fillna(0.0)

    def mixed_with(self, other: OccupancyPosterior) -> OccupancyPosterior:
        """Mean and variance if this and another explanation of the counts are equally likely."""
        variance = (self.variance + other.variance) / 2 + (self.mean - other.mean) ** 2 / 4
        return OccupancyPosterior((self.mean + other.mean) / 2, variance)


def correction_costs(grid: PassageGrid) -> CorrectionCosts:
    """Cost of changing each minute, from its passages and their certainty.

    Costs belong to the minute rather than to a door: how its passages are split over doors has no effect.
    """
    people = (grid.entered + grid.left).sum(axis=0)
    unit = np.where(people > 0, COST_PASSAGES, COST_NO_PASSAGES)
    lowest = grid.weight.min(axis=0)
    unit = np.where((lowest > 0) & (lowest < 1), COST_UNCERTAIN, unit)
    unit = np.where(_with_missing_passages(grid), COST_NOT_COUNTED, unit)
    return CorrectionCosts(
        unit,
        cheap_removals=np.asarray(grid.entered_again.sum(axis=0)),
        cheap_additions=np.asarray(grid.left_again.sum(axis=0)),
        likelihood=np.maximum(people, 1).astype(float),
    )


def _with_missing_passages(grid: PassageGrid) -> NDArray[np.bool_]:
    """Whether passages may be missing in each minute: uncounted minutes, except for a few in quiet hours."""
    passed = (grid.entered + grid.left).sum(axis=0)
    minute = np.concatenate([np.arange(day.stop - day.start) for day in grid.days])
    first, last = np.quantile(np.repeat(minute, passed), QUIET_SHARE) if passed.any() else (0, len(minute))
    missing = np.zeros(len(minute), dtype=bool)
    for a, b in runs(~grid.is_counted):
        missing[a : b + 1] = (b + 1 - a >= LONG_GAP) | (
            (minute[a : b + 1] >= first) & (minute[a : b + 1] <= last)
        )
    return missing


def propose_corrections(
    grid: PassageGrid, *, capacity: int | None = None
) -> tuple[list[Correction], OccupancyPosterior, list[int]]:
    """Find the cheapest corrections that balance every day.

    Returns
    -------
    corrections
        In chronological order.
    posterior
        Mean and variance of the occupancy.
    beyond_correction
        Indices of the days that are too far off for a correction.
    """
    costs, occupancy = correction_costs(grid), grid.occupancy()
    mean, variance = occupancy.astype(float), np.zeros(len(grid.times))
    corrections: list[Correction] = []
    beyond_correction = []
    counted = grid.counted_days()
    for number, day in enumerate(grid.days):
        if number not in counted:  # a door is missing all day: nothing to be known
            mean[day], variance[day] = np.nan, np.nan
            continue
        balance = balance_day(occupancy[day], costs.select(day), capacity=capacity)
        if balance is None:
            beyond_correction.append(number)
            mean[day], variance[day] = np.nan, np.nan
            continue
        mean[day] += balance.mean()
        variance[day] = balance.variance()
        corrections += _corrections_of_day(grid, day, occupancy[day], balance, capacity)
    posterior = OccupancyPosterior(pd.Series(mean, index=grid.times), pd.Series(variance, index=grid.times))
    return corrections, posterior, beyond_correction


def apply_corrections(passages: pd.DataFrame, corrections: Sequence[Correction]) -> pd.DataFrame:
    """Return passages with corrections made."""
    if not corrections:
        return passages
    changes = pd.DataFrame(
        [(one.door, one.entered, one.left) for one in corrections],
        columns=["door", "entered", "left"],
        index=pd.DatetimeIndex([one.time for one in corrections]),
    )
    for name in ("entered", "left"):  # removed passages are the repeats, as far as there are any
        changes[f"{name}_again"] = changes[name].clip(upper=0)
    table = sum_by_minute(pd.concat([check_passages(passages), changes.assign(weight=1.0)]))
    table[list(REPEATS)] = table[list(REPEATS)].clip(lower=0)
    return check_passages(table)


def _corrections_of_day(
    grid: PassageGrid, day: slice, occupancy: Counts, balance: DayBalance, capacity: int | None
) -> list[Correction]:
    steps = np.diff(balance.change, prepend=0)
    found = []
    times = grid.times[day]
    for k in map(int, np.flatnonzero(steps)):
        step = int(steps[k])
        first, last = _possible_minutes(balance, k, step)
        symptom = _symptom(occupancy + balance.change, k, step, times, capacity)
        for door, entered, left, cause in _split_over_doors(grid, day.start + k, step, day):
            reason = f"otherwise {symptom}; {cause}{_possible_times(times, first, last)}."
            found.append(Correction(times[k], door, entered, left, reason, times[first], times[last]))
    return found


def _possible_minutes(balance: DayBalance, k: int, step: int) -> tuple[int, int]:
    """First and last minute around k in which a step of the change could be at the same cost."""
    after = balance.change[k]
    beyond = balance.levels >= after if step > 0 else balance.levels <= after
    done = balance.probabilities[:, beyond].sum(axis=1)  # probability that the step is made by each minute
    not_yet = np.flatnonzero(done[:k] <= 1e-9)
    first = int(not_yet[-1]) + 1 if not_yet.size else 0
    return first, k + int(np.argmax(done[k:] >= 1 - 1e-9))


def _symptom(balanced: Counts, k: int, step: int, times: pd.DatetimeIndex, capacity: int | None) -> str:
    """Describe what is wrong with the balanced occupancy without the step at minute k."""
    without = balanced - step * (np.arange(balanced.size) >= k)
    negative = without < 0
    if negative.any():
        at = int(np.argmax(negative))
        return f"the occupancy is {without[at]} at {times[at]:%H:%M}"
    if capacity is not None and (without > capacity).any():
        at = int(np.argmax(without > capacity))
        return f"the occupancy is {without[at]} at {times[at]:%H:%M}, above the capacity"
    return f"{plural(int(without[-1]), 'person remains', 'people remain')} at the end of the day"


def _possible_times(times: pd.DatetimeIndex, first: int, last: int) -> str:
    return "" if first == last else f", between {times[first]:%H:%M} and {times[last]:%H:%M}"


def _split_over_doors(grid: PassageGrid, at: int, step: int, day: slice) -> list[tuple[str, int, int, str]]:
    """Assign a step to doors: for each, its name, entries and exits to add, and the possible causes.

    The balance does not tell a missed exit from an entry counted twice, nor the door.
    """
    if step < 0:
        removable, addable, repeats = grid.entered, grid.left, grid.entered_again
        twice, missed = "entry counted twice", "exit missed"
    else:
        removable, addable, repeats = grid.left, grid.entered, grid.left_again
        twice, missed = "exit counted twice", "entry missed"
    at_any_door = "" if len(grid.doors) == 1 else " at any door"
    removed, added = np.zeros(len(grid.doors), dtype=int), np.zeros(len(grid.doors), dtype=int)
    for _ in range(abs(step)):
        remaining = removable[:, at] - removed
        repeated = np.minimum(repeats[:, at] - removed, remaining)
        uncounted = grid.weight[:, at] <= 0
        if repeated.max() > 0:
            removed[np.argmax(repeated)] += 1
        elif uncounted.any():
            added[np.argmax(uncounted)] += 1
        elif addable[:, at].max() > 0:  # where some were counted, one more may have been missed
            added[np.argmax(addable[:, at])] += 1
        elif remaining.max() > 0:
            removed[np.argmax(remaining)] += 1
        else:
            added[np.argmax(addable[:, day].sum(axis=1))] += 1
    found = []
    for k, door in enumerate(grid.doors):
        for number, is_removed in ((removed[k], True), (added[k], False)):
            if number:
                change = int(-number if is_removed else number)
                cause = f"{twice} or {missed}{at_any_door}"
                if not is_removed and grid.weight[k, at] <= 0:
                    cause = "this minute was not counted"
                elif is_removed and repeats[k, at] >= number:
                    cause = f"probably an {twice} within seconds"
                changes = (change, 0) if is_removed == (step < 0) else (0, change)
                found.append((door, *changes, cause))
    return found
