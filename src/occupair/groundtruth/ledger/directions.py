"""Doors whose entries and exits are swapped.

A counter mounted the wrong way round counts entries as exits. The counts of each door alone look normal, but
the room does not balance on any day. Swapping the door back balances all days at once, which no other error
explains. A swap is therefore looked for before clock offsets and counting errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import pandas as pd

from occupair.groundtruth.ledger.passage_grid import Counts, PassageGrid, daily_imbalance
from occupair.groundtruth.passages import check_passages

MIN_GAIN = 6  # people fewer to correct
MAX_REMAINING = 0.4  # fraction of the imbalance that may remain
MIN_DAYS = 2  # on a single day people may have been in the room before its first passage
MAX_DOORS = 6  # up to which every combination is tried; beyond, one door or all
DAYTIME = (7, 19)  # hours of most passages; the doors of a room used at night only seem to be swapped


@dataclass(frozen=True)
class SwappedDoor:
    """A door whose entries and exits are swapped, with the reason in one sentence."""

    door: str
    reason: str

    def __str__(self) -> str:
        """Describe the correction in one line."""
        return f"{self.door}: swap entries and exits: {self.reason}"


def find_swapped_doors(grid: PassageGrid) -> list[SwappedDoor]:
    """Find the doors that balance the ledger if their entries and exits are swapped.

    Examples
    --------
    >>> from occupair.groundtruth.ledger.passage_grid import grid_passages
    >>> times = pd.date_range("2024-01-08 08:00", periods=6, freq="12h")
    >>> counts = {"door": ["a", "b"] * 3, "entered": [5, 4] * 3, "left": [1, 0] * 3}
    >>> passages = pd.DataFrame(counts, index=times)
    >>> print(find_swapped_doors(grid_passages(passages))[0])
    b: swap entries and exits: 16 people remain or are missing on 2 days as counted, 0 once swapped.
    """
    days = grid.counted_days()
    if len(days) < MIN_DAYS:
        return []
    net = grid.entered - grid.left
    as_counted = _imbalance(net.sum(axis=0), grid)
    if as_counted.sum() < MIN_GAIN:
        return []
    swapped = {
        doors: _imbalance(_net_with_swaps(net, doors), grid) for doors in _combinations(len(grid.doors))
    }
    doors = min(swapped, key=lambda one: (swapped[one].sum(), len(one), one))
    found = swapped[doors]
    gain = as_counted - found
    if (
        gain.sum() < MIN_GAIN
        or found.sum() > MAX_REMAINING * as_counted.sum()
        or (gain > 0).sum() < max(MIN_DAYS, (as_counted > 0).sum() / 2)
        or (len(doors) == len(grid.doors) and not _mostly_by_day(grid))
    ):
        return []
    reason = (
        f"{as_counted.sum()} people remain or are missing on {(as_counted > 0).sum()} days as counted, "
        f"{found.sum()} once swapped."
    )
    return [SwappedDoor(grid.doors[k], reason) for k in doors]


def swap_directions(passages: pd.DataFrame, swapped: Sequence[SwappedDoor]) -> pd.DataFrame:
    """Return passages with the entries and exits of some doors swapped."""
    if not swapped:
        return passages
    passages = check_passages(passages)
    there = passages["door"].isin([one.door for one in swapped]).to_numpy()
    table = passages.copy()
    for one, other in (("entered", "left"), ("entered_again", "left_again")):
        table[one] = passages[one].where(~there, passages[other])
        table[other] = passages[other].where(~there, passages[one])
    return table


def _combinations(doors: int) -> list[tuple[int, ...]]:
    sizes = range(1, doors + 1) if doors <= MAX_DOORS else (1, doors)
    return list(chain.from_iterable(combinations(range(doors), size) for size in sizes))


def _net_with_swaps(net: Counts, doors: Sequence[int]) -> Counts:
    return np.asarray(net.sum(axis=0) - 2 * net[list(doors)].sum(axis=0))


def _imbalance(net: Counts, grid: PassageGrid) -> Counts:
    """People to correct on each day; people may be in the room when a log begins and when it ends."""
    missing, excess = daily_imbalance(net, grid.days)
    counted = np.isin(np.arange(len(grid.days)), grid.counted_days())
    ends = {run.stop for run in grid.runs_of_days()}
    starts = {run.start for run in grid.runs_of_days()}
    missing = np.where([day.start in starts for day in grid.days], 0, missing)
    excess = np.where([day.stop in ends for day in grid.days], 0, excess)
    return np.asarray(np.where(counted, missing + excess, 0))


def _mostly_by_day(grid: PassageGrid) -> bool:
    passed = (grid.entered + grid.left).sum(axis=0)
    by_day = (grid.times.hour >= DAYTIME[0]) & (grid.times.hour < DAYTIME[1])
    return bool(passed[by_day].sum() > passed.sum() / 2)
