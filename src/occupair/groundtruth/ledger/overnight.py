"""People who stay in the room over the daily reset.

Somebody who enters at 20:00 and leaves at 03:30 is left in the room at midnight and missing the next morning.
As counting errors these would be two. A later reset, at an hour when the room is empty, explains both without
any error. Here the stay is split at the reset instead: an exit in the last minute of the day and an entry in
the first minute of the next leave the occupancy as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from occupair.groundtruth.ledger.passage_grid import (
    MINUTE,
    Counts,
    PassageGrid,
    daily_imbalance,
    parse_time_of_day,
)
from occupair.groundtruth.passages import check_passages, sum_by_minute
from occupair.wording import plural

MAX_NIGHT = 10  # a stay ends at most so long after the reset [h]
EARLY_HOURS = 5  # so long after the reset, an exit on the first day is by somebody who entered before it [h]
MAX_BEFORE_LOG = 5  # of these at most [people]; more are counting errors


@dataclass(frozen=True)
class OvernightStay:
    """People who are in the room at the reset.

    Attributes
    ----------
    time : the reset
    people : how many stay [people]
    left : minute in which the last of them leaves
    door : by which the last of them leaves
    reset : time of day at which the room is empty instead, such as 05:00
    before_log : whether they entered before the first day of the ledger
    """

    time: pd.Timestamp
    people: int
    left: pd.Timestamp
    door: str
    reset: str
    before_log: bool

    @property
    def reason(self) -> str:
        """Describe in one sentence how the stay shows."""
        who = plural(self.people, "person", "people")
        if self.before_log:
            return (
                f"{who} left by {self.left:%H:%M} without having entered: in the room since before the log."
            )
        return (
            f"{who} remained at the reset and left by {self.left:%H:%M} without having entered again: "
            f"set --reset {self.reset}, when the room is empty."
        )

    def __str__(self) -> str:
        """Describe the stay in one line."""
        return f"{self.time:%Y-%m-%d %H:%M}: overnight stay: {self.reason}"


def find_overnight_stays(grid: PassageGrid, *, reset: str) -> list[OvernightStay]:
    """Find people left at the reset who are missing the next morning.

    Examples
    --------
    >>> from occupair.groundtruth.ledger.passage_grid import grid_passages
    >>> times = pd.to_datetime(["2024-01-08 20:00", "2024-01-09 03:30"])
    >>> passages = pd.DataFrame({"door": "a", "entered": [1, 0], "left": [0, 1]}, index=times)
    >>> print(find_overnight_stays(grid_passages(passages), reset="00:00")[0])
    2024-01-09 00:00: overnight stay: 1 person remained at the reset and left by 03:30 without having entered
    again: set --reset 10:00, when the room is empty.
    """
    hours = _best_delay(grid)
    found = []
    occupancy = grid.occupancy()
    starts = {run.start for run in grid.runs_of_days()}
    clock = parse_time_of_day(reset, "reset") + pd.Timedelta(hours=hours)
    new_reset = f"{clock.components.hours:02d}:{clock.components.minutes:02d}"
    for day in grid.days:
        before_log = day.start in starts
        night = occupancy[day][: 60 * (hours or EARLY_HOURS)]
        if before_log:
            remaining = MAX_BEFORE_LOG
        people = min(remaining, int(-night.min())) if before_log or hours else 0
        if people > 0:
            left = day.start + int(np.argmin(np.maximum(night, -people)))
            door = grid.doors[int(np.argmax(grid.left[:, left]))]
            found.append(
                OvernightStay(grid.times[day.start], people, grid.times[left], door, new_reset, before_log)
            )
        remaining = int(occupancy[day.stop - 1]) + max(people, 0)
    return found


def split_stays(passages: pd.DataFrame, stays: Sequence[OvernightStay]) -> pd.DataFrame:
    """Return passages in which overnight stays end before the reset and begin again after it."""
    if not stays:
        return passages
    rows = [(one.time, one.door, one.people, 0, 1.0) for one in stays]
    rows += [  # they are still there in the last minute, which therefore has no label
        (one.time - MINUTE, one.door, 0, one.people, 0.0) for one in stays if not one.before_log
    ]
    table = pd.DataFrame(rows, columns=["time", "door", "entered", "left", "weight"]).set_index("time")
    table = table.assign(entered_again=0, left_again=0)
    return sum_by_minute(pd.concat([check_passages(passages), table]))


def _best_delay(grid: PassageGrid) -> int:
    """Hours by which a later reset balances the ledger best; 0 if none is better [h].

    Of several equally good hours, the one furthest from any passage is chosen.
    """
    cost = np.array([_imbalance_after(grid, hours) for hours in range(MAX_NIGHT + 1)])
    best = np.flatnonzero(cost == cost.min())
    if best[0] == 0:
        return 0
    return int(max(best, key=lambda hours: (_quiet_minutes(grid, int(hours)), -hours)))


def _imbalance_after(grid: PassageGrid, hours: int) -> int:
    """People to correct if the reset is some hours later."""
    edges: set[int] = {run.start for run in grid.runs_of_days()}
    edges |= {day.start + 60 * hours for day in grid.days}
    bounds = [*sorted(edges), len(grid.times)]
    days = tuple(slice(a, b) for a, b in pairwise(bounds))
    return int(np.sum(daily_imbalance(grid.net, days)))


def _quiet_minutes(grid: PassageGrid, hours: int) -> int:
    """Shortest time between the reset, some hours later, and a passage [min]."""
    passed: Counts = np.flatnonzero((grid.entered + grid.left).sum(axis=0))
    at = np.array([day.start + 60 * hours for day in grid.days])
    return int(np.abs(passed[None, :] - at[:, None]).min())
