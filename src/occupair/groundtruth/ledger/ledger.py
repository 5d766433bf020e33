"""The ledger of a room: passages added up to occupancy, what is wrong with it, and what would put it right.

Every day begins with nobody at the reset. What was counted is shown as it was counted, negative where it is;
the faults say what is wrong, and clocks and corrections are proposed, never made unless ``apply`` is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from occupair.checks.cleaning import clean_readings
from occupair.checks.clock_check import check_clocks
from occupair.errors import InputError
from occupair.groundtruth.ledger.corrections import Belief, Correction, apply_corrections, propose
from occupair.groundtruth.ledger.days import lay_out, time_of_day
from occupair.groundtruth.ledger.door_clocks import ClockShift, find_clock_shifts, move_clocks
from occupair.groundtruth.ledger.faults import Fault, doubtful_minutes, find_ledger_faults
from occupair.groundtruth.passages import check_passages, in_zone, minutes_of
from occupair.readings.head_counts import WEIGHT
from occupair.readings.source import Source

__all__ = ["ClockShift", "Correction", "Fault", "Ledger", "reckon", "to_readings"]


@dataclass(frozen=True)
class Settings:
    """What is known about a room: the most people it holds, and when it is empty."""

    capacity: int | None
    reset: str
    quiet_after: str


@dataclass(frozen=True)
class Ledger:
    """Occupancy of a room, minute by minute, with what is wrong about it.

    Attributes
    ----------
    passages : what it was added up from, with the corrections that were made
    occupancy : people in at the end of every minute, of whole days from reset to reset; may be negative
    weight : how far that is to be trusted [0..1]
    faults : what is wrong, in the order of time
    clocks : moves of doors' clocks that are proposed
    corrections : the smallest set, with the clocks moved, that makes every day close
    settings : what is known about the room
    belief : what the occupancy was, as far as closing tells
    """

    passages: pd.DataFrame
    occupancy: pd.Series[int]
    weight: pd.Series[float]
    faults: list[Fault]
    clocks: list[ClockShift]
    corrections: list[Correction]
    settings: Settings
    belief: Belief

    @property
    def closes(self) -> bool:
        """Whether every day closes as it is."""
        people = self.occupancy
        most = self.settings.capacity
        ends = lay_out(self.passages, reset=self.settings.reset).days
        return bool(
            people.min() >= 0
            and (most is None or people.max() <= most)
            and all(people.iloc[day.stop - 1] == 0 for day in ends)
        )

    def proposals(self) -> list[str]:
        """Give what is proposed, one line each: clocks first, for the corrections suppose them."""
        return [*map(str, self.clocks), *map(str, self.corrections)]

    def apply(
        self,
        corrections: Sequence[Correction] | None = None,
        *,
        clocks: Sequence[ClockShift] | None = None,
    ) -> Ledger:
        """Give the ledger with proposals made: all of them, or those that are given.

        Its weights remember what is doubtful: closing a ledger does not make it certain.
        """
        moves = list(self.clocks if clocks is None else clocks)
        made = list(self.corrections if corrections is None else corrections)
        passages = apply_corrections(move_clocks(self.passages, moves), made)
        remaining = [shift for shift in self.clocks if shift not in moves]
        return _reckoned(passages, self.settings, clocks=remaining, belief=self.belief)


def reckon(
    passages: pd.DataFrame,
    *,
    capacity: int | None = None,
    reset: str = "00:00",
    quiet_after: str = "23:30",
    timezone: str | None = None,
    readings: pd.DataFrame | None = None,
) -> Ledger:
    """Add passages up to occupancy and find what is wrong with it.

    Jiang et al. 2016, Section V-B, counted entrances and exits at two doors in every minute and added them
    up; that nobody was left after 23:30 was their check. Here what does not add up is told, and the smallest
    corrections that make it add up are proposed.

    Parameters
    ----------
    passages : DataFrame
        As ``occupair.groundtruth.passages`` describes them.
    capacity : int, optional
        The most people the room holds.
    reset : str
        Time of day at which the room is empty, every day.
    quiet_after : str
        Time of day after which, until the reset, nobody should pass.
    timezone : str, optional
        The room's; days go by its clock.
    readings : DataFrame, optional
        ``co2`` [ppm] of the room: clocks are also checked against it.

    Examples
    --------
    Three came, two were seen to leave:

    >>> times = pd.to_datetime(["2024-01-08 08:31", "2024-01-08 17:02"])
    >>> passages = pd.DataFrame({"door": "north", "entered": [3, 0], "left": [0, 2]}, index=times)
    >>> ledger = reckon(passages)
    >>> [fault.kind for fault in ledger.faults], int(ledger.occupancy.iloc[-1])
    (['left_at_reset'], 1)
    >>> print(ledger.proposals()[0])
    2024-01-08 08:31 north: 1 fewer entered: 1 person would be left at the end of the day; an entrance was
    counted twice, somewhere from 08:31 to 17:02.
    >>> int(ledger.apply().occupancy.iloc[-1])
    0
    """
    if capacity is not None and not (isinstance(capacity, int) and capacity >= 1):
        raise InputError(f"capacity must be a whole number of people, 1 or more, got {capacity!r}")
    for text, name in ((reset, "reset"), (quiet_after, "quiet_after")):
        time_of_day(text, name)
    passages = check_passages(in_zone(passages, timezone, source=Source("passages")))
    days = lay_out(passages, reset=reset)
    if readings is not None:
        _same_kind(days.times, pd.DatetimeIndex(readings.index))
    clocks = find_clock_shifts(days, readings)
    ledger = _reckoned(passages, Settings(capacity, reset, quiet_after), clocks=clocks)
    if readings is not None:
        ledger.faults.extend(_against_co2(ledger, readings))
    return ledger


def _reckoned(
    passages: pd.DataFrame, settings: Settings, *, clocks: list[ClockShift], belief: Belief | None = None
) -> Ledger:
    days = lay_out(passages, reset=settings.reset)
    moved = lay_out(move_clocks(passages, clocks), reset=settings.reset) if clocks else days
    corrections, found, hopeless = propose(moved, capacity=settings.capacity)
    belief = belief or found
    occupancy = pd.Series(days.occupancy(), index=days.times, name="occupancy")
    weight = np.minimum(belief.weight(occupancy.astype(float)).to_numpy(), doubtful_minutes(days))
    return Ledger(
        passages,
        occupancy,
        pd.Series(weight, index=days.times, name=WEIGHT),
        find_ledger_faults(
            days,
            capacity=settings.capacity,
            reset=settings.reset,
            quiet_after=settings.quiet_after,
            clocks=clocks,
            hopeless=hopeless,
        ),
        clocks,
        corrections,
        settings,
        belief,
    )


def to_readings(ledger: Ledger, readings: pd.DataFrame | None = None) -> pd.DataFrame:
    """Give occupancy and how far it is to be trusted, for ``check``, ``fit`` and ``evaluate``.

    Parameters
    ----------
    ledger : Ledger
        With its corrections applied or as it is.
    readings : DataFrame, optional
        ``co2`` [ppm] and, if there is any, ``ventilation`` [0..1]: each of their times gets the occupancy of
        its minute. Times of days that the ledger does not have get none.

    Returns
    -------
    DataFrame
        ``occupancy`` [people] and ``occupancy_weight`` [0..1], beside the columns of ``readings``. Counts
        that cannot be, below 0 or above the capacity, are kept and have the weight 0.

    Examples
    --------
    >>> times = pd.to_datetime(["2024-01-08 08:31", "2024-01-08 17:02"])
    >>> passages = pd.DataFrame({"door": "north", "entered": [2, 0], "left": [0, 2]}, index=times)
    >>> air = pd.DataFrame({"co2": 500.0}, index=pd.date_range("2024-01-08 08:25", periods=3, freq="5min"))
    >>> to_readings(reckon(passages), air)["occupancy"].tolist()
    [0.0, 0.0, 2.0]
    """
    people, weight = ledger.occupancy.astype(float), ledger.weight
    most = np.inf if ledger.settings.capacity is None else ledger.settings.capacity
    weight = weight.where((people >= 0) & (people <= most), 0.0)
    if readings is None:
        return pd.DataFrame({"occupancy": people, WEIGHT: weight}).rename_axis("time")
    days = pd.DatetimeIndex(people.index)
    _same_kind(days, pd.DatetimeIndex(readings.index))
    minutes = minutes_of(pd.DatetimeIndex(readings.index))
    minutes = minutes if days.tz is None else minutes.tz_convert(days.tz)
    labelled = readings.drop(columns=[name for name in ("occupancy", WEIGHT) if name in readings.columns])
    labelled = labelled.assign(
        **{
            "occupancy": people.reindex(minutes).to_numpy(),
            WEIGHT: weight.reindex(minutes).fillna(0.0).to_numpy(),
        }
    )
    if labelled["occupancy"].isna().all():
        span = f"{days[0]:%Y-%m-%d} to {days[-1]:%Y-%m-%d}"
        raise InputError(f"readings: none of them is on a day of the ledger, which goes from {span}")
    labelled.attrs = dict(readings.attrs)
    return labelled.rename_axis("time")


def _against_co2(ledger: Ledger, readings: pd.DataFrame) -> list[Fault]:
    """Whether CO2 rises when people come, by the clocks that stamp them (``occupair.checks.clock_check``)."""
    table = to_readings(ledger, readings)
    table = table[table["occupancy"].notna()]
    if len(table) < 2 or "co2" not in table.columns:
        return []
    found = [fault for fault in check_clocks(clean_readings(table)) if fault.kind == "clock"]
    start = pd.Timestamp(table.index[0])
    return [
        Fault("clock", fault.start or start, fault.words, abs(float(fault.details["offset"])))
        for fault in found
    ]


def _same_kind(ours: pd.DatetimeIndex, theirs: pd.DatetimeIndex) -> None:
    if (ours.tz is None) != (theirs.tz is None):
        which = "passages" if ours.tz is None else "readings"
        raise InputError(f"{which}: have local times and the others have a time zone: give it, --timezone")
