"""Data that the parts of the service exchange: readings, their outcomes, estimates, room states, labels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from occupair.errors import InputError
from occupair.live.reasons import Cause
from occupair.room.lags import PUBLISHED_FIELDS

Refined = tuple[float | None, ...]
"""The refined estimate at each of ``PUBLISHED_LAGS`` [people]; None if unknown."""
NOT_REFINED: Refined = (None,) * len(PUBLISHED_FIELDS)

FIRST_YEAR, LAST_YEAR = 2000, 2100
"""Valid years of a reading or a label; a clock that was never set shows 1970."""
MAX_CLOCK_AHEAD = dt.timedelta(minutes=2)
"""How far the time of a reading or a label may be ahead of the service's clock."""

STALE_AFTER = 15.0
"""Default time without readings after which a sensor counts as offline [min]."""

MAX_PEOPLE = 10_000
"""Largest head count of a label, and largest estimate of a usable model."""

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True)
class Reading:
    """One reading of a room's sensors. CO2, ventilation and others may come together or separately.

    Parameters
    ----------
    room : str
        Room id.
    time : datetime
        Time of measurement, in UTC.
    co2 : float, optional
        CO2 [ppm], as sent by the sensor, implausible values included.
    ventilation : float, optional
        Ventilation [0..1].
    source : str
        ``"mqtt"``, ``"bacnet"``, ``"http"`` or ``"demo"``.
    received : datetime
        Time of arrival, in UTC.
    sensors : mapping
        Values of optional sensors by name, see ``occupair.readings.other_sensors``.
    """

    room: str
    time: dt.datetime
    co2: float | None
    ventilation: float | None
    source: str
    received: dt.datetime
    sensors: Mapping[str, float] = field(default_factory=dict, hash=False)


class ReadingOutcome(StrEnum):
    """How the service handled a reading."""

    ACCEPTED = "accepted"  # stored and estimated
    LATE = "late"  # stored; today's later estimates were corrected
    TOO_LATE = "too_late"  # stored for training; its day is over, and the estimates of that day do not change
    DUPLICATE = "duplicate"  # ignored: the room already has a reading at this time
    FUTURE = "future"  # rejected: its time is in the future, so one of the clocks is wrong
    NONSENSE = "nonsense"  # rejected: a value or the time is invalid
    UNKNOWN_ROOM = "unknown_room"  # rejected: no such room


REJECTION_TEXTS = {
    ReadingOutcome.DUPLICATE: "the room already has a reading at this time, which is kept",
    ReadingOutcome.FUTURE: "the time is in the future: check the clocks of the sensor and of this machine",
    ReadingOutcome.NONSENSE: (
        "CO2 must be a number in ppm, ventilation from 0 to 1, other sensors within their ranges, "
        f"and the time in the years {FIRST_YEAR} to {LAST_YEAR}"
    ),
    ReadingOutcome.UNKNOWN_ROOM: "there is no such room",
}
"""Why a reading was not stored."""
STORED_OUTCOMES = (ReadingOutcome.ACCEPTED, ReadingOutcome.LATE, ReadingOutcome.TOO_LATE)


class Quality(StrEnum):
    """Quality flag of a room's occupancy."""

    OK = "ok"
    STARTING = "starting"  # too few readings since midnight or since the last gap
    STALE = "stale"  # sensor offline: occupancy unknown
    SUSPECT = "suspect"  # implausible sensor readings: occupancy unknown
    UNTRAINED = "untrained"  # the room has no model yet


@dataclass(frozen=True)
class EstimateRecord:
    """One estimate as it is stored: one room at one grid time.

    Parameters
    ----------
    room : str
        Room id.
    time : datetime
        Grid time, in UTC.
    people : float, optional
        Occupancy as estimated at that time, unrounded [people]; None if unknown.
    low, high : float, optional
        Prediction interval [people], if the model has one.
    people_refined : tuple of (float or None)
        Refined estimates for this time, made each of ``PUBLISHED_LAGS`` later [people].
    co2, co2_smoothed : float
        CO2 at the grid time, measured and smoothed with the readings up to then [ppm].
    ventilation : float, optional
        Ventilation [0..1].
    quality : Quality
        Quality flag.
    """

    room: str
    time: dt.datetime
    people: float | None
    low: float | None
    high: float | None
    people_refined: Refined
    co2: float
    co2_smoothed: float
    ventilation: float | None
    quality: Quality


class Co2Mean(NamedTuple):
    """Mean CO2 at the grid times within a quarter of an hour."""

    time: int  # of the first [us] since 1970
    co2: float  # [ppm]


@dataclass(frozen=True)
class RoomState:
    """Current state of a room, as reported to clients.

    Parameters
    ----------
    room : str
        Room id.
    time : datetime, optional
        Time of the newest estimate, in UTC; None before the first reading.
    people : int, optional
        Occupancy, rounded [people]; None if unknown.
    people_exact, low, high : float, optional
        Unrounded occupancy and its prediction interval [people].
    occupied : bool, optional
        Whether anybody is in the room; None if unknown.
    co2, co2_smoothed : float, optional
        CO2, measured and smoothed [ppm].
    ventilation : float, optional
        Ventilation [0..1].
    people_refined : tuple of (float or None)
        Refined estimates for each of ``PUBLISHED_LAGS`` before ``time`` [people].
    quality : Quality
        Quality flag.
    reason : str
        Why the occupancy is unknown, unusual, or estimated without optional sensors, in English; else empty.
    note : str
        What else to know about the sensor, in English; mostly empty.
    trend : int
        1 if the occupancy rises, -1 if it falls, else 0; compared with ten minutes ago.
    cause, note_cause : Cause, optional
        ``reason`` and ``note`` as codes with values, for texts in other languages. Not part of the
        interfaces.
    baseline_shift : float, optional
        Shift of the CO2 baseline since training that the occupancy is corrected for [ppm].
    outdoor_air, damper : float, optional
        Recommended outdoor air [L/s] and damper position [0..1]; None if the room has no settings for them.
    outdoor_air_people : float, optional
        Count that the outdoor air is planned for [people]; None if it is unknown.
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
    people_refined: Refined
    quality: Quality
    reason: str
    trend: int = 0
    cause: Cause | None = None
    baseline_shift: float | None = None
    note: str = ""
    note_cause: Cause | None = None
    outdoor_air: float | None = None
    damper: float | None = None
    outdoor_air_people: float | None = None


def unknown_state(room: str, quality: Quality, cause: Cause) -> RoomState:
    """Return the state of a room without any estimate."""
    empty = dict.fromkeys(one.name for one in fields(RoomState)) | {"people_refined": NOT_REFINED}
    known = {"room": room, "quality": quality, "reason": cause.text(), "trend": 0, "cause": cause, "note": ""}
    return RoomState(**{**empty, **known})  # type: ignore[arg-type]


def interface_values(message: EstimateRecord | RoomState, attributes: Iterable[str]) -> dict[str, Any]:
    """Return attributes of an estimate or a state by their names in JSON and in the store.

    Refined estimates have a name for each lag, see ``PUBLISHED_FIELDS``.
    """
    values: dict[str, Any] = {}
    for name in attributes:
        if name == "people_refined":
            values.update(zip(PUBLISHED_FIELDS, message.people_refined, strict=True))
        else:
            values[name] = getattr(message, name)
    return values


@dataclass
class EngineResult:
    """Result of one operation of the engine: what to store and what to report.

    Parameters
    ----------
    outcomes : list of ReadingOutcome
        One per submitted reading.
    readings : list of Reading
        Readings to store.
    estimates : dict
        Estimates to store, new and corrected ones, by room and time.
    cleared : dict
        By room, the time from which on all estimates stored earlier are to be deleted.
    activated : dict
        By room, the version of the model in use from now on; None for no model.
    states : dict
        States that may have changed, by room.
    """

    outcomes: list[ReadingOutcome] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    estimates: dict[str, dict[dt.datetime, EstimateRecord]] = field(default_factory=dict)
    cleared: dict[str, dt.datetime] = field(default_factory=dict)
    activated: dict[str, int | None] = field(default_factory=dict)
    states: dict[str, RoomState] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of changes to store."""
        n_estimates = sum(map(len, self.estimates.values()))
        return len(self.readings) + n_estimates + len(self.cleared) + len(self.activated)

    @property
    def estimate_records(self) -> list[EstimateRecord]:
        """All estimates to store."""
        return [one for of_room in self.estimates.values() for one in of_room.values()]

    def add_estimates(self, room: str, estimates: Iterable[EstimateRecord]) -> None:
        """Add estimates of a room; the last one of a time counts."""
        self.estimates.setdefault(room, {}).update({one.time: one for one in estimates})

    def clear_from(self, room: str, since: dt.datetime) -> None:
        """Delete all estimates of a room from a time on, here and in the store."""
        self.cleared[room] = min(since, self.cleared.get(room, since))
        estimates = self.estimates.pop(room, {})
        self.estimates[room] = {time: one for time, one in estimates.items() if time < since}

    def append(self, later: EngineResult) -> None:
        """Append a later result: storing the sum is the same as storing one after the other."""
        self.readings += later.readings
        for room, since in later.cleared.items():
            self.clear_from(room, since)
        for room, estimates in later.estimates.items():
            self.estimates.setdefault(room, {}).update(estimates)
        self.activated |= later.activated
        self.states |= later.states


LabelSource = Literal["typed", "confirmed", "unknown"]
"""How a label was entered: as a number, by confirming the estimate that was shown, or not known."""
UNTRAINED_SOURCE: LabelSource = "confirmed"
"""Labels not to train on: trained on confirmed estimates, a model would learn its own errors."""


@dataclass(frozen=True)
class Label:
    """A head count entered by a person, used for training unless it only confirms an estimate.

    A typed label is as good if it happens to equal the estimate as if it does not.
    """

    room: str
    time: dt.datetime  # UTC
    people: int
    entered: dt.datetime  # UTC
    source: LabelSource = "unknown"
    estimate: int | None = None  # of the service when it was entered [people]


@dataclass(frozen=True)
class LabelledInterval:
    """A head count, and the last prediction interval published before it."""

    time: dt.datetime  # of the head count, UTC
    people: int
    published: dt.datetime  # time of the estimate, UTC
    low: float  # [people]
    high: float


def is_valid_time(time: dt.datetime) -> bool:
    """Whether a time can be that of a reading or a label.

    Examples
    --------
    >>> is_valid_time(dt.datetime(1970, 1, 1, tzinfo=dt.UTC))
    False
    """
    return FIRST_YEAR <= time.year <= LAST_YEAR


def to_microseconds(time: dt.datetime) -> int:
    """Return the microseconds since 1970 of a time with a time zone [us].

    Databases and compact arrays hold times as integers, which are exact in both.

    Examples
    --------
    >>> to_microseconds(dt.datetime(1970, 1, 1, 1, 0, 0, 5, tzinfo=dt.timezone(dt.timedelta(hours=1))))
    5
    """
    if time.tzinfo is None:
        raise InputError(f"time must have a time zone, got {time.isoformat()}")
    return (time - EPOCH) // _MICROSECOND


def to_time(microseconds: int) -> dt.datetime:
    """Return the UTC time that is ``microseconds`` after 1970-01-01.

    Examples
    --------
    >>> to_time(1_704_700_800_000_000).isoformat()
    '2024-01-08T08:00:00+00:00'
    """
    return EPOCH + dt.timedelta(microseconds=microseconds)
