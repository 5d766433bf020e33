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
from occupair.groundtruth.ledger.issues import LedgerIssue, find_issues, minute_weights
from occupair.groundtruth.ledger.passage_grid import grid_passages, parse_time_of_day
from occupair.groundtruth.passages import check_passages, in_zone, minutes_of
from occupair.readings.head_counts import WEIGHT
from occupair.readings.source import Source

__all__ = ["ClockCorrection", "Correction", "Ledger", "LedgerIssue", "build_ledger", "label_readings"]


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
    clock_corrections : proposed corrections of door counter clocks
    corrections : the smallest set of corrections that balances every day once the clocks are corrected
    settings : capacity, reset time and quiet time
    posterior : mean and variance of the occupancy over all smallest sets of corrections
    """

    passages: pd.DataFrame
    occupancy: pd.Series[int]
    weight: pd.Series[float]
    issues: list[LedgerIssue]
    clock_corrections: list[ClockCorrection]
    corrections: list[Correction]
    settings: LedgerSettings
    posterior: OccupancyPosterior

    @property
    def is_balanced(self) -> bool:
        """Whether every day stays between 0 and the capacity and ends with an empty room."""
        people = self.occupancy
        capacity = self.settings.capacity
        days = grid_passages(self.passages, reset=self.settings.reset).days
        return bool(
            people.min() >= 0
            and (capacity is None or people.max() <= capacity)
            and all(people.iloc[day.stop - 1] == 0 for day in days)
        )

    def proposals(self) -> list[str]:
        """Describe every proposed correction in one line, clock corrections first.

        Corrections of counts assume that the clock corrections are made.
        """
        return [*map(str, self.clock_corrections), *map(str, self.corrections)]

    def apply(
        self,
        corrections: Sequence[Correction] | None = None,
        *,
        clock_corrections: Sequence[ClockCorrection] | None = None,
    ) -> Ledger:
        """Return the ledger with all proposals applied, or only with those given.

        The weights still reflect the original doubt: a balanced ledger is not a certain one.
        """
        clocks = list(self.clock_corrections if clock_corrections is None else clock_corrections)
        counts = list(self.corrections if corrections is None else corrections)
        passages = apply_corrections(correct_clocks(self.passages, clocks), counts)
        remaining = [clock for clock in self.clock_corrections if clock not in clocks]
        return _assemble(passages, self.settings, clock_corrections=remaining, posterior=self.posterior)


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
    twice, between 08:31 and 17:02.
    >>> int(ledger.apply().occupancy.iloc[-1])
    0
    """
    if capacity is not None and not (isinstance(capacity, int) and capacity >= 1):
        raise InputError(f"capacity must be a positive integer, got {capacity!r}")
    for text, name in ((reset, "reset"), (quiet_after, "quiet_after")):
        parse_time_of_day(text, name)
    passages = check_passages(in_zone(passages, timezone, source=Source("passages")))
    grid = grid_passages(passages, reset=reset)
    if readings is not None:
        _check_same_time_kind(grid.times, pd.DatetimeIndex(readings.index))
    clocks = find_clock_corrections(grid, readings)
    ledger = _assemble(passages, LedgerSettings(capacity, reset, quiet_after), clock_corrections=clocks)
    if readings is not None:
        ledger.issues.extend(_clock_issues_from_co2(ledger, readings))
    return ledger


def _assemble(
    passages: pd.DataFrame,
    settings: LedgerSettings,
    *,
    clock_corrections: list[ClockCorrection],
    posterior: OccupancyPosterior | None = None,
) -> Ledger:
    grid = grid_passages(passages, reset=settings.reset)
    corrected = grid
    if clock_corrections:
        corrected = grid_passages(correct_clocks(passages, clock_corrections), reset=settings.reset)
    corrections, found, beyond_correction = propose_corrections(corrected, capacity=settings.capacity)
    posterior = posterior or found
    occupancy = pd.Series(grid.occupancy(), index=grid.times, name="occupancy")
    weight = np.minimum(posterior.weight(occupancy.astype(float)).to_numpy(), minute_weights(grid))
    return Ledger(
        passages,
        occupancy,
        pd.Series(weight, index=grid.times, name=WEIGHT),
        find_issues(
            grid,
            capacity=settings.capacity,
            reset=settings.reset,
            quiet_after=settings.quiet_after,
            clock_corrections=clock_corrections,
            beyond_correction=beyond_correction,
        ),
        clock_corrections,
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
    minutes = minutes if times.tz is None else minutes.tz_convert(times.tz)
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
