"""All rooms of the service: readings in, estimates and states out. It keeps nothing and knows no network."""

from __future__ import annotations

import datetime as dt
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from zoneinfo import ZoneInfo

from occupair.errors import InputError
from occupair.live.messages import KEPT, Estimated, Fate, Quality, Reading, RoomState, Step, unknown_state
from occupair.live.rooms.batching import Work, side_by_side
from occupair.live.rooms.room import AHEAD, Model, Track
from occupair.live_room import TOLERANCE, LiveRoom
from occupair.live_rooms import LiveRooms
from occupair.model_file import parse_model

EARLIEST, LATEST = 2000, 2100
"""Years that a reading can be of; a clock that was never set says 1970."""
NEW_MODELS = 8
"""When more than one of so many rooms has a new model, all are stacked anew; until then it goes alone."""

T = TypeVar("T")

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
        self._rooms, self._new_models = LiveRooms([]), 0
        for room, setup in rooms.items():
            self.add(room, setup)

    def __contains__(self, room: str) -> bool:
        return room in self._tracks

    def add(self, room: str, setup: RoomSetup) -> None:
        """Begin with a room, or go on with it as it is now set up; in another zone it begins anew."""
        old = self._tracks.get(room)
        if old is None or self._setups[room].timezone != setup.timezone:
            self._tracks[room] = Track(room, ZoneInfo(setup.timezone))
            if old is not None:
                self._tracks[room].inherit(old)
        self._setups[room] = setup

    def version(self, room: str) -> int | None:
        """Give the version of the model that a room is estimated with."""
        model = self._tracks[room].model
        return None if model is None else model.version

    def remove(self, room: str) -> None:
        """Forget a room."""
        self._tracks.pop(room, None)
        self._setups.pop(room, None)

    def use(self, models: Mapping[str, Model | None], now: dt.datetime) -> Step:
        """Estimate rooms with other models from now on, and anew for today."""
        works = {room: self._tracks[room].use(model) for room, model in models.items()}
        step = self._said_anew(works, models)
        for room in models:
            if self._tracks[room].broken and (today := self._tracks[room].midnight) is not None:
                step.clear(room, today)  # it is the old model's
        self._new_models += len(models)
        step.states = self.states(now, models)
        return step

    def restore(self, kept: Mapping[str, tuple[Iterable[Reading], Iterable[Estimated]]]) -> Step:
        """Take up rooms where they were; what of today had to be estimated anew for that.

        Parameters
        ----------
        kept : mapping
            By room, all its kept readings since ``window`` of ``track``, and what it last said.
        """
        works = {
            room: self._tracks[room].restore(map(self._timed, readings), said)
            for room, (readings, said) in kept.items()
        }
        return self._said_anew(works, {room: self._tracks[room].model for room in kept})

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
        taken = {
            room: [self._timed(readings[place]) for place in places] for room, places in of_rooms.items()
        }
        known = {room: [self._tracks[room].has(one) for one in some] for room, some in taken.items()}
        works = {room: self._tracks[room].take(some) for room, some in taken.items()}
        found = self._together(works, self._stacked())
        step = Step()
        for room, places in of_rooms.items():
            if room in found:
                of_room, estimates = found[room]
                step.say(room, estimates)
            else:  # it failed, and its readings are kept
                of_room = [Fate.DUPLICATE if one else Fate.ACCEPTED for one in known[room]]
            fates |= dict(zip(places, of_room, strict=True))
        step.fates = [fates[place] for place in range(len(readings))]
        step.kept = [reading for reading, fate in zip(readings, step.fates, strict=True) if fate in KEPT]
        step.states = self.states(now, dict.fromkeys(reading.room for reading in readings))
        return step

    def states(self, now: dt.datetime, rooms: Iterable[str] | None = None) -> dict[str, RoomState]:
        """Give the states of rooms, or of all; time alone changes them, too: rooms fall silent."""
        asked = self._tracks if rooms is None else [room for room in rooms if room in self._tracks]
        return {room: self._state(room, now) for room in asked}

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

    def _together(self, works: Mapping[str, Work[T]], rooms: LiveRooms) -> dict[str, T]:
        """Do the work of rooms; whatever goes wrong in one stays there."""
        done = {}
        for room, found in side_by_side(works, rooms).items():
            if isinstance(found, Exception):
                log.error("estimating room %s failed; its readings are kept", room, exc_info=found)
                self._tracks[room].broken = True
            else:
                done[room] = found
        return done

    def _stacked(self) -> LiveRooms:
        """Give all rooms, stacked."""
        if self._new_models * NEW_MODELS > len(self._tracks):
            self._rooms = _stack(track.model for track in self._tracks.values())
            self._new_models = 0
        return self._rooms

    def _said_anew(
        self, works: Mapping[str, Work[list[Estimated]]], models: Mapping[str, Model | None]
    ) -> Step:
        """Do work that estimates today anew, where it does: what was said of today is then kept no longer."""
        step = Step()
        for room, estimates in self._together(works, _stack(models.values())).items():
            if estimates and (today := self._tracks[room].midnight) is not None:
                step.clear(room, today)
                step.say(room, estimates)
        return step

    def _timed(self, reading: Reading) -> Reading:
        """Let recorded readings come in when they were measured."""
        return reading if self._follows_clock else replace(reading, received=reading.time)

    def _state(self, room: str, now: dt.datetime) -> RoomState:
        track = self._tracks[room]
        try:
            return track.state(now, self._setups[room].stale_after)
        except Exception:
            log.exception("room %s cannot say how it is", room)
            track.broken = True
            return unknown_state(room, Quality.SUSPECT, "estimating failed: see the log")


def _stack(models: Iterable[Model | None]) -> LiveRooms:
    return LiveRooms([model.room for model in models if model is not None])


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
