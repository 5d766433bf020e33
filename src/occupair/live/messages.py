"""What the parts of the service tell each other: readings, what became of them, estimates, states."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import StrEnum

from occupair.room.lags import PUBLISHED_FIELD

INTERFACE_NAMES = {"people_refined": PUBLISHED_FIELD}
"""Names in JSON and in the store of attributes that are called differently here."""


@dataclass(frozen=True)
class Reading:
    """What a sensor said, or part of it: CO2 and ventilation may come one by one.

    Parameters
    ----------
    room : str
        Whose it is.
    time : datetime
        When it was measured, in UTC.
    co2 : float, optional
        CO2 [ppm], as it was sent: 0 and other nonsense included.
    ventilation : float, optional
        Ventilation [0..1].
    source : str
        Where it came from: ``"mqtt"``, ``"http"``, ``"demo"``.
    received : datetime
        When it came in, in UTC.
    """

    room: str
    time: dt.datetime
    co2: float | None
    ventilation: float | None
    source: str
    received: dt.datetime


class Fate(StrEnum):
    """What became of a reading."""

    ACCEPTED = "accepted"  # kept and estimated
    LATE = "late"  # kept; what was estimated after it today was corrected
    TOO_LATE = "too_late"  # kept for training; its day was over, and its estimates stay
    DUPLICATE = "duplicate"  # this room has a reading of this time, which stays
    FUTURE = "future"  # refused: its time has not come yet, some clock is wrong
    NONSENSE = "nonsense"  # refused: no number, or none that a time or a ventilation can have
    UNKNOWN_ROOM = "unknown_room"  # refused: no such room


REFUSED = {
    Fate.DUPLICATE: "this room has a reading of this time, which stays",
    Fate.FUTURE: "its time has not come yet: some clock is wrong",
    Fate.NONSENSE: "CO2 must be a number of ppm, ventilation from 0 to 1, and the time of this century",
    Fate.UNKNOWN_ROOM: "there is no such room",
}
"""Why a reading was not kept, in plain words."""
KEPT = (Fate.ACCEPTED, Fate.LATE, Fate.TOO_LATE)


class Quality(StrEnum):
    """What a room's count is worth."""

    OK = "ok"
    STARTING = "starting"  # little was seen of the day, or since a gap
    STALE = "stale"  # the sensor is silent: how many are in is not known
    SUSPECT = "suspect"  # the sensor says what cannot be: how many are in is not known
    UNTRAINED = "untrained"  # the room has no model yet


@dataclass(frozen=True)
class Estimated:
    """One estimate as it is kept: of one room at one grid time.

    Parameters
    ----------
    room : str
    time : datetime
        Grid time, in UTC.
    people : float, optional
        What was said then, unrounded [people]; None: not known.
    low, high : float, optional
        Its range [people], where the model gives one.
    people_refined : float, optional
        Refined estimate for this time, made ``PUBLISHED_LAG`` later [people].
    co2, co2_smoothed : float
        CO2 at the grid time, and smoothed by what was known then [ppm].
    ventilation : float, optional
        [0..1]
    quality : Quality
    """

    room: str
    time: dt.datetime
    people: float | None
    low: float | None
    high: float | None
    people_refined: float | None
    co2: float
    co2_smoothed: float
    ventilation: float | None
    quality: Quality


@dataclass(frozen=True)
class RoomState:
    """What a room says now.

    Parameters
    ----------
    room : str
    time : datetime, optional
        Of the newest estimate, in UTC; None before the first reading.
    people : int, optional
        How many are in, rounded [people]; None: not known.
    people_exact, low, high : float, optional
        The same unrounded, and its range [people].
    occupied : bool, optional
        Whether anybody is in; None: not known.
    co2, co2_smoothed : float, optional
        [ppm]
    ventilation : float, optional
        [0..1]
    people_refined : float, optional
        Refined estimate for ``PUBLISHED_LAG`` before ``time`` [people]; published as ``PUBLISHED_FIELD``.
    quality : Quality
    reason : str
        Why the count is not known, in plain words; empty when it is.
    trend : int
        1 when the count rises, -1 when it falls, 0 else; compared with ten minutes ago.
    """

    room: str
    time: dt.datetime | None
    people: int | None
    people_exact: float | None
    low: float | None
    high: float | None
    occupied: bool | None
    co2: float | None
    co2_smoothed: float | None
    ventilation: float | None
    people_refined: float | None
    quality: Quality
    reason: str
    trend: int = 0


def unknown_state(room: str, quality: Quality, reason: str) -> RoomState:
    """Give the state of a room of which nothing can be said."""
    nothing = dict.fromkeys(one.name for one in fields(RoomState))
    return RoomState(**{**nothing, "room": room, "quality": quality, "reason": reason, "trend": 0})  # type: ignore[arg-type]


@dataclass
class Step:
    """What came of something that the rooms did.

    Parameters
    ----------
    fates : list of Fate
        Of each reading that they took.
    kept : list of Reading
        Those to keep.
    estimates : dict
        By room and time, to keep: new ones, and old ones that are not what they were.
    cleared : dict
        By room, the time from which on what was said before is to be kept no longer.
    activated : dict
        By room, the version of the model that it is estimated with from now on; None: without.
    states : dict
        By room, of those whose state may have changed.
    """

    fates: list[Fate] = field(default_factory=list)
    kept: list[Reading] = field(default_factory=list)
    estimates: dict[str, dict[dt.datetime, Estimated]] = field(default_factory=dict)
    cleared: dict[str, dt.datetime] = field(default_factory=dict)
    activated: dict[str, int | None] = field(default_factory=dict)
    states: dict[str, RoomState] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count what is to be kept."""
        said = sum(map(len, self.estimates.values()))
        return len(self.kept) + said + len(self.cleared) + len(self.activated)

    @property
    def said(self) -> list[Estimated]:
        """All estimates to keep."""
        return [one for of_room in self.estimates.values() for one in of_room.values()]

    def say(self, room: str, estimates: Iterable[Estimated]) -> None:
        """Note estimates of a room; the last of a time counts."""
        self.estimates.setdefault(room, {}).update({one.time: one for one in estimates})

    def clear(self, room: str, since: dt.datetime) -> None:
        """Keep nothing of what was said of a room from some time on."""
        self.cleared[room] = min(since, self.cleared.get(room, since))
        said = self.estimates.pop(room, {})
        self.estimates[room] = {time: one for time, one in said.items() if time < since}

    def follow(self, later: Step) -> None:
        """Go on with what came later: both are then kept as if one after the other."""
        self.kept += later.kept
        for room, since in later.cleared.items():
            self.clear(room, since)
        for room, said in later.estimates.items():
            self.estimates.setdefault(room, {}).update(said)
        self.activated |= later.activated
        self.states |= later.states


@dataclass(frozen=True)
class Label:
    """How many were in, as a person entered it."""

    room: str
    time: dt.datetime  # UTC
    people: int
    entered: dt.datetime  # UTC
