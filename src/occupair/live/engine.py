"""All rooms of the service: readings in, estimates and states out. It keeps nothing and knows no network."""

from __future__ import annotations

import datetime as dt
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from occupair.errors import InputError
from occupair.live.messages import KEPT, Estimated, Fate, Quality, Reading, RoomState, unknown_state
from occupair.live.track import AHEAD, Model, Track
from occupair.live_room import TOLERANCE, LiveRoom
from occupair.model_file import parse_model

EARLIEST, LATEST = 2000, 2100
"""Years that a reading can be of; a clock that was never set says 1970."""


log = logging.getLogger("occupair.live")


@dataclass(frozen=True)
class RoomSetup:
    """What the service is told of a room.

    Parameters
    ----------
    timezone : str
        Where midnight is.
    stale_after : float
        Silence after which its count is not known [min].
    """

    timezone: str
    stale_after: float


@dataclass
class Step:
    """What came of some readings.

    Parameters
    ----------
    fates : list of Fate
        Of each.
    kept : list of Reading
        Those to keep.
    estimates : dict
        By room and time, to keep: new ones, and old ones that are not what they were.
    states : dict
        By room, of those whose state may have changed.
    activated : dict
        By room, the version of the model that it is estimated with from now on; None: without.
    """

    fates: list[Fate] = field(default_factory=list)
    kept: list[Reading] = field(default_factory=list)
    estimates: dict[tuple[str, dt.datetime], Estimated] = field(default_factory=dict)
    states: dict[str, RoomState] = field(default_factory=dict)
    activated: dict[str, int | None] = field(default_factory=dict)

    def add(self, estimates: Iterable[Estimated]) -> None:
        """Note estimates; the last of a time counts."""
        self.estimates.update({(one.room, one.time): one for one in estimates})


class Engine:
    """All rooms. One thread at a time.

    Parameters
    ----------
    rooms : mapping
        What is known of each, by id.
    follows_clock : bool
        Whether readings come as they are measured; False takes any times, for recorded days.
    """

    def __init__(self, rooms: Mapping[str, RoomSetup], *, follows_clock: bool = True) -> None:
        self._follows_clock = follows_clock
        self._tracks: dict[str, Track] = {}
        self._setups: dict[str, RoomSetup] = {}
        self._states: dict[str, RoomState] = {}
        for room, setup in rooms.items():
            self.add(room, setup)

    def __contains__(self, room: str) -> bool:
        return room in self._tracks

    def add(self, room: str, setup: RoomSetup) -> bool:
        """Begin with a room, or go on with it as it is now set up; whether it begins, as in another zone."""
        begins = room not in self._tracks or self._setups[room].timezone != setup.timezone
        if begins:
            self._tracks[room] = Track(room, ZoneInfo(setup.timezone))
        self._setups[room] = setup
        return begins

    def version(self, room: str) -> int | None:
        """Give the version of the model that a room is estimated with."""
        model = self._tracks[room].model
        return None if model is None else model.version

    def remove(self, room: str) -> None:
        """Forget a room."""
        for of_rooms in (self._tracks, self._setups, self._states):
            of_rooms.pop(room, None)

    def restore(self, room: str, readings: Iterable[Reading], said: Iterable[Estimated] = ()) -> None:
        """Take up a room where it was: with all its kept readings since ``window``, and what it last said."""
        self._tracks[room].restore(map(self._timed, readings), said)

    def use(self, room: str, model: Model | None, now: dt.datetime) -> Step:
        """Estimate a room with a model from now on, and anew for today."""
        step = Step()
        step.add(self._tracks[room].use(model))
        step.states[room] = self._state(room, now)
        return step

    def take(self, readings: Sequence[Reading], now: dt.datetime) -> Step:
        """Take readings of any rooms, in the order they came."""
        fates: dict[int, Fate] = {}
        of_rooms: dict[str, list[int]] = {}
        for place, reading in enumerate(readings):
            refused = self._refused(reading, now)
            if refused is None:
                of_rooms.setdefault(reading.room, []).append(place)
            else:
                fates[place] = refused
        step = Step()
        for room, places in of_rooms.items():
            found, estimates = self._take_of(room, [self._timed(readings[place]) for place in places])
            fates |= dict(zip(places, found, strict=True))
            step.add(estimates)
        step.fates = [fates[place] for place in range(len(readings))]
        step.kept = [reading for reading, fate in zip(readings, step.fates, strict=True) if fate in KEPT]
        touched = {reading.room: True for reading in readings if reading.room in self._tracks}
        step.states = {room: self._state(room, now) for room in touched}
        return step

    def look(self, now: dt.datetime) -> dict[str, RoomState]:
        """Give the states that time alone has changed: rooms that have fallen silent."""
        before = dict(self._states)
        after = {room: self._state(room, now) for room in self._tracks}
        return {room: state for room, state in after.items() if before.get(room) != state}

    def states(self, now: dt.datetime) -> dict[str, RoomState]:
        """Give the states of all rooms."""
        return {room: self._state(room, now) for room in self._tracks}

    def _refused(self, reading: Reading, now: dt.datetime) -> Fate | None:
        track = self._tracks.get(reading.room)
        if track is None:
            return Fate.UNKNOWN_ROOM
        if not is_sound(reading):
            return Fate.NONSENSE
        if self._follows_clock and reading.time > now + AHEAD:
            if reading.co2 is not None:
                track.clock.is_ahead(reading.time - now)
            return Fate.FUTURE
        return None

    def _take_of(self, room: str, readings: Sequence[Reading]) -> tuple[list[Fate], list[Estimated]]:
        """Take readings of one room; whatever goes wrong there stays there, and the readings are kept."""
        track = self._tracks[room]
        known = [track.has(reading) for reading in readings]
        try:
            return track.take(readings)
        except Exception:
            log.exception("estimating room %s failed; its readings are kept", room)
            track.broken = True
            return [Fate.DUPLICATE if one else Fate.ACCEPTED for one in known], []

    def _timed(self, reading: Reading) -> Reading:
        """Let recorded readings come in when they were measured."""
        return reading if self._follows_clock else replace(reading, received=reading.time)

    def _state(self, room: str, now: dt.datetime) -> RoomState:
        track = self._tracks[room]
        try:
            state = track.state(now, self._setups[room].stale_after)
        except Exception:
            log.exception("room %s cannot say how it is", room)
            track.broken = True
            state = unknown_state(room, Quality.SUSPECT, "estimating failed: see the log")
        self._states[room] = state
        return state


def is_sound(reading: Reading) -> bool:
    """Tell whether a reading has numbers that can be kept: CO2 may be wrong, but has to be a number."""
    values = [value for value in (reading.co2, reading.ventilation) if value is not None]
    if not values or not all(math.isfinite(value) for value in values):
        return False
    if reading.ventilation is not None and not 0 <= reading.ventilation <= 1:
        return False
    return (reading.co2 is None or abs(reading.co2) <= 1e6) and EARLIEST <= reading.time.year <= LATEST


def read_model(content: bytes, *, tolerance: float = TOLERANCE) -> LiveRoom:
    """Read a model file: the room before its first reading, without what only training needs.

    Raises
    ------
    InputError
        When it is no model, or one that cannot be run live.
    """
    estimator = parse_model(content)
    if not 1 / 60 <= estimator.interval_ <= 60:
        rule = "a live room takes one every second to every hour"
        raise InputError(f"has readings every {estimator.interval_:g} min, {rule}")
    return estimator.live(tolerance=tolerance, lean=True)
