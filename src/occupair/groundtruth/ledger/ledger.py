"""The occupancy ledger of a room: cumulative passages, the issues found in them, and proposed corrections.

Every ledger day starts with zero occupancy at the reset time. The occupancy is the plain running balance of
entries and exits, including negative values. Issues are reported; clock corrections and corrections of the
counts are proposed and only made by ``Ledger.apply``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from occupair.checks.clock_check import check_clocks
from occupair.checks.prepared_readings import prepare_readings
from occupair.errors import InputError
from occupair.groundtruth.ledger.clock_offsets import ClockCorrection, correct_clocks, find_clock_corrections
from occupair.groundtruth.ledger.corrections import (
    Correction,
    OccupancyPosterior,
    apply_corrections,
    propose_corrections,
)
from occupair.groundtruth.ledger.coverage import LogGap, find_log_gaps, mark_gaps
from occupair.groundtruth.ledger.directions import SwappedDoor, find_swapped_doors, swap_directions
from occupair.groundtruth.ledger.door_balance import DoorBalance, door_balances
from occupair.groundtruth.ledger.issues import LedgerIssue, find_issues
from occupair.groundtruth.ledger.overnight import OvernightStay, find_overnight_stays, split_stays
from occupair.groundtruth.ledger.passage_grid import PassageGrid, grid_passages, parse_time_of_day
from occupair.groundtruth.passages import check_passages, in_zone, minutes_of
from occupair.readings.head_counts import WEIGHT
from occupair.readings.source import Source


@dataclass(frozen=True)
class LedgerSettings:
    """Capacity of a room [people], and the times of day at which it is empty and quiet."""

    capacity: int | None
    reset: str
    quiet_after: str


@dataclass(frozen=True)
class Ledger:
    """Occupancy of a room by minute, with the issues found in it.

    Attributes
    ----------
    passages : the passages it was built from, including applied corrections
    occupancy : occupancy at the end of every minute, for complete days from reset to reset [people]; may be
        negative
    weight : confidence in the occupancy [0..1]
    issues : what is wrong, in chronological order
    swapped_doors : doors whose entries and exits are probably swapped
    clock_corrections : proposed corrections of door counter clocks
    overnight_stays : people who were probably in the room at the reset
    corrections : the smallest set of corrections that balances every day once the above are made
    settings : capacity, reset time and quiet time
    posterior : mean and variance of the occupancy over all smallest sets of corrections
    """

    passages: pd.DataFrame
    occupancy: pd.Series[int]
    weight: pd.Series[float]
    issues: list[LedgerIssue]
    swapped_doors: list[SwappedDoor]
    clock_corrections: list[ClockCorrection]
    overnight_stays: list[OvernightStay]
    corrections: list[Correction]
    settings: LedgerSettings
    posterior: OccupancyPosterior

    @property
    def is_balanced(self) -> bool:
        """Whether every counted day stays between 0 and the capacity and ends with an empty room."""
        grid = grid_passages(self.passages, reset=self.settings.reset)
        days = [self.occupancy.iloc[grid.days[number]] for number in grid.counted_days()]
        capacity = np.inf if self.settings.capacity is None else self.settings.capacity
        return all(day.min() >= 0 and day.max() <= capacity and day.iloc[-1] == 0 for day in days)

    def door_balances(self) -> list[DoorBalance]:
        """Entries and exits of each door while all doors were counted."""
        return door_balances(grid_passages(self.passages))

    def proposals(self) -> list[str]:
        """Describe every proposed correction in one line.

        Each assumes that those before it are made: swapped doors, clocks, overnight stays, counts.
        """
        found = (self.swapped_doors, self.clock_corrections, self.overnight_stays, self.corrections)
        return [str(one) for kind in found for one in kind]

    def apply(
        self,
        corrections: Sequence[Correction] | None = None,
        *,
        swapped_doors: Sequence[SwappedDoor] | None = None,
        clock_corrections: Sequence[ClockCorrection] | None = None,
        overnight_stays: Sequence[OvernightStay] | None = None,
    ) -> Ledger:
        """Return the ledger with all proposals applied, or of a kind only those given.

        The weights still reflect the original doubt: a balanced ledger is not a certain one.
        """
        swaps = self.swapped_doors if swapped_doors is None else swapped_doors
        clocks = self.clock_corrections if clock_corrections is None else clock_corrections
        stays = self.overnight_stays if overnight_stays is None else overnight_stays
        counts = self.corrections if corrections is None else corrections
        passages = _adjusted(self.passages, self.settings, swaps, clocks, stays)
        return _assemble(
            apply_corrections(passages, counts),
            self.settings,
            swapped_doors=[one for one in self.swapped_doors if one not in swaps],
            clock_corrections=[one for one in self.clock_corrections if one not in clocks],
            overnight_stays=[one for one in self.overnight_stays if one not in stays],
            posterior=self.posterior,
        )


def build_ledger(
    passages: pd.DataFrame,
    *,
    capacity: int | None = None,
    reset: str = "00:00",
    quiet_after: str = "23:30",
    timezone: str | None = None,
    readings: pd.DataFrame | None = None,
) -> Ledger:
    """Compute the occupancy balance from passages and find its issues.

    Jiang et al. 2016, Section V-B, counted entries and exits at two doors in every minute, added them up and
    checked that the room was empty after 23:30. Here every inconsistency is reported, and the smallest
    corrections that balance the ledger are proposed.

    Parameters
    ----------
    passages : DataFrame
        As described in ``occupair.groundtruth.passages``.
    capacity : int, optional
        Maximum occupancy of the room [people].
    reset : str
        Time of day at which the room is empty, every day.
    quiet_after : str
        Time of day from which nobody is expected to pass until the reset.
    timezone : str, optional
        Time zone of the room; days follow its local clock.
    readings : DataFrame, optional
        ``co2`` [ppm] of the room, used as a second check of the clocks.

    Examples
    --------
    Three people entered, two were counted leaving:

    >>> times = pd.to_datetime(["2024-01-08 08:31", "2024-01-08 17:02"])
    >>> passages = pd.DataFrame({"door": "north", "entered": [3, 0], "left": [0, 2]}, index=times)
    >>> ledger = build_ledger(passages)
    >>> [issue.kind for issue in ledger.issues], int(ledger.occupancy.iloc[-1])
    (['left_at_reset'], 1)
    >>> print(ledger.proposals()[0])
    2024-01-08 08:31 north: 1 fewer entry: otherwise 1 person remains at the end of the day; entry counted
    twice or exit missed, between 08:31 and 17:02.
    >>> int(ledger.apply().occupancy.iloc[-1])
    0
    """
    if capacity is not None and not (isinstance(capacity, int) and capacity >= 1):
        raise InputError(f"capacity must be a positive integer, got {capacity!r}")
    for text, name in ((reset, "reset"), (quiet_after, "quiet_after")):
        parse_time_of_day(text, name)
    passages = check_passages(in_zone(passages, timezone, source=Source("passages")))
    settings = LedgerSettings(capacity, reset, quiet_after)
    gaps = find_log_gaps(passages, reset=reset)
    passages = mark_gaps(passages, gaps)
    grid = grid_passages(passages, reset=reset)
    if readings is not None:
        _check_same_time_kind(grid.times, pd.DatetimeIndex(readings.index))
    swaps = find_swapped_doors(grid)
    clocks = find_clock_corrections(
        grid_passages(swap_directions(passages, swaps), reset=reset) if swaps else grid, readings
    )
    agreed = grid_passages(_adjusted(passages, settings, swaps, clocks), reset=reset)
    ledger = _assemble(
        passages,
        settings,
        swapped_doors=swaps,
        clock_corrections=clocks,
        overnight_stays=find_overnight_stays(agreed, reset=reset),
        gaps=gaps,
    )
    if readings is not None:
        ledger.issues.extend(_clock_issues_from_co2(ledger, readings))
    return ledger


def _adjusted(
    passages: pd.DataFrame,
    settings: LedgerSettings,
    swaps: Sequence[SwappedDoor],
    clocks: Sequence[ClockCorrection],
    stays: Sequence[OvernightStay] = (),
) -> pd.DataFrame:
    """Return passages with swapped doors, clocks and overnight stays taken into account, in this order."""
    passages = correct_clocks(swap_directions(passages, swaps), clocks, reset=settings.reset)
    return split_stays(passages, stays)


def _assemble(
    passages: pd.DataFrame,
    settings: LedgerSettings,
    *,
    swapped_doors: list[SwappedDoor],
    clock_corrections: list[ClockCorrection],
    overnight_stays: list[OvernightStay],
    gaps: Sequence[LogGap] = (),
    posterior: OccupancyPosterior | None = None,
) -> Ledger:
    def grid_with(clocks: Sequence[ClockCorrection] = (), stays: Sequence[OvernightStay] = ()) -> PassageGrid:
        adjusted = _adjusted(passages, settings, swapped_doors, clocks, stays)
        return grid_passages(adjusted, reset=settings.reset)

    grid = grid_passages(passages, reset=settings.reset)
    corrected = grid_with(clock_corrections, overnight_stays)
    corrections, found, beyond_correction = propose_corrections(corrected, capacity=settings.capacity)
    if posterior is None:
        posterior = found
        if overnight_stays:  # or two counting errors each, which cannot be told from the counts
            errors = propose_corrections(grid_with(clock_corrections), capacity=settings.capacity)[1]
            posterior = found.mixed_with(errors)
    occupancy = pd.Series(grid.occupancy(), index=grid.times, name="occupancy")
    weight = np.minimum(posterior.weight(occupancy.astype(float)).to_numpy(), grid.weight.min(axis=0))
    return Ledger(
        passages,
        occupancy,
        pd.Series(weight, index=grid.times, name=WEIGHT),
        find_issues(
            grid,
            capacity=settings.capacity,
            reset=settings.reset,
            quiet_after=settings.quiet_after,
            explained=grid_with(stays=overnight_stays),
            swapped_doors=swapped_doors,
            clock_corrections=clock_corrections,
            overnight_stays=overnight_stays,
            gaps=gaps,
            beyond_correction=beyond_correction,
        ),
        swapped_doors,
        clock_corrections,
        overnight_stays,
        corrections,
        settings,
        posterior,
    )


def label_readings(ledger: Ledger, readings: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return occupancy and its weight as labels, ready for ``check``, ``fit`` and ``evaluate``.

    Parameters
    ----------
    ledger : Ledger
        With or without its corrections applied.
    readings : DataFrame, optional
        ``co2`` [ppm] and optionally ``ventilation`` [0..1]. Each reading gets the occupancy of its minute;
        readings on days that are not in the ledger get none.

    Returns
    -------
    DataFrame
        ``occupancy`` [people] and ``occupancy_weight`` [0..1] beside the columns of ``readings``. Impossible
        values, below 0 or above the capacity, are included with weight 0.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-01-08 08:31", "2024-01-08 17:02"])
    >>> passages = pd.DataFrame({"door": "north", "entered": [2, 0], "left": [0, 2]}, index=times)
    >>> air = pd.DataFrame({"co2": 500.0}, index=pd.date_range("2024-01-08 08:25", periods=3, freq="5min"))
    >>> label_readings(build_ledger(passages), air)["occupancy"].tolist()
    [0.0, 0.0, 2.0]
    """
    people, weight = ledger.occupancy.astype(float), ledger.weight
    capacity = np.inf if ledger.settings.capacity is None else ledger.settings.capacity
    weight = weight.where((people >= 0) & (people <= capacity), 0.0)
    if readings is None:
        return pd.DataFrame({"occupancy": people, WEIGHT: weight}).rename_axis("time")
    times = pd.DatetimeIndex(people.index)
    _check_same_time_kind(times, pd.DatetimeIndex(readings.index))
    minutes = minutes_of(pd.DatetimeIndex(readings.index))
    labelled = readings.drop(columns=[name for name in ("occupancy", WEIGHT) if name in readings.columns])
    labelled = labelled.assign(
        **{
            "occupancy": people.reindex(minutes).to_numpy(),
            WEIGHT: weight.reindex(minutes).fillna(0.0).to_numpy(),
        }
    )
    if labelled["occupancy"].isna().all():
        span = f"{times[0]:%Y-%m-%d} to {times[-1]:%Y-%m-%d}"
        raise InputError(f"readings: no reading falls on a day of the ledger, which covers {span}")
    labelled.attrs = dict(readings.attrs)
    return labelled.rename_axis("time")


def _clock_issues_from_co2(ledger: Ledger, readings: pd.DataFrame) -> list[LedgerIssue]:
    """Check the clocks against CO2, which rises when people arrive; see ``occupair.checks.clock_check``."""
    table = label_readings(ledger, readings)
    table = table[table["occupancy"].notna()]
    if len(table) < 2 or "co2" not in table.columns:
        return []
    found = [fault for fault in check_clocks(prepare_readings(table)) if fault.kind == "clock"]
    start = pd.Timestamp(table.index[0])
    return [
        LedgerIssue("clock", fault.start or start, fault.message, abs(float(fault.details["offset"])))
        for fault in found
    ]


def _check_same_time_kind(ledger: pd.DatetimeIndex, readings: pd.DatetimeIndex) -> None:
    if (ledger.tz is None) != (readings.tz is None):
        local, aware = ("passages", "readings") if ledger.tz is None else ("readings", "passages")
        raise InputError(f"{local}: times have no time zone but those of the {aware} do: set --timezone")
