"""All rooms of the service: readings in, estimates and room states out. No store and no network.

Each room says which readings it needs estimated next; the engine passes those of all rooms to ``LiveRooms``
as one batch, and the estimates back to the rooms, until no room needs any more.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from occupair.control import AirControl
from occupair.live.messages import (
    MAX_CLOCK_AHEAD,
    STALE_AFTER,
    STORED_OUTCOMES,
    Co2Mean,
    EngineResult,
    EstimateRecord,
    LabelledInterval,
    Quality,
    Reading,
    ReadingOutcome,
    RoomState,
    is_valid_time,
    unknown_state,
)
from occupair.live.reasons import Cause, Reason
from occupair.live.rooms.air_recommendation import AirRecommendation
from occupair.live.rooms.day_estimates import Estimation
from occupair.live.rooms.interval_correction import UNCORRECTED, IntervalCorrection
from occupair.live.rooms.room import UNTRAINED_INTERVAL, Model, Room
from occupair.live.rooms.room_state import room_state
from occupair.live_room import Estimate
from occupair.live_rooms import LiveRooms, NextReading
from occupair.readings.grid import MINUTE
from occupair.readings.other_sensors import SENSORS
from occupair.readings.value_rules import VALUE_RULES

RESTACK_SHARE = 8
"""All models are stacked again once more than one room in this many has a new one; until then those rooms are
estimated one by one."""

T = TypeVar("T")

log = logging.getLogger("occupair.live")


@dataclass(frozen=True)
class RoomSetup:
    """Settings of a room that matter for estimation.

    Parameters
    ----------
    timezone : str
        Time zone; days start at local midnight.
    stale_after : float, optional
        Time without readings after which the occupancy is unknown [min]. Default: ``STALE_AFTER``, or as long
        as gaps are bridged.
    interval : float, optional
        Time between the readings of the CO2 sensor, if that is longer than the interval of models [min].
    air : AirControl, optional
        How the recommended outdoor air follows the count; None recommends nothing.
    """

    timezone: str
    stale_after: float | None = None
    interval: float | None = None
    air: AirControl | None = None

    def is_same_grid(self, other: RoomSetup) -> bool:
        """Whether readings are put on the same grid with other settings."""
        return (self.timezone, self.interval) == (other.timezone, other.interval)


class StoredRoom(NamedTuple):
    """What the store has of a room and the room needs after a restart."""

    readings: Sequence[Reading]  # all since ``restore_since``
    estimates: Sequence[EstimateRecord]  # the newest ones
    labelled: Sequence[LabelledInterval] = ()  # since the model is in use
    co2_means: Sequence[Co2Mean] = ()  # of the days before


class Engine:
    """All rooms. Not thread-safe.

    Parameters
    ----------
    rooms : mapping
        Settings of each room by id.
    follows_clock : bool
        Whether readings arrive as they are measured; False accepts any times, for recorded days.
    """

    def __init__(self, rooms: Mapping[str, RoomSetup], *, follows_clock: bool = True) -> None:
        self.follows_clock = follows_clock
        self._rooms: dict[str, Room] = {}
        self._setups: dict[str, RoomSetup] = {}
        self._air: dict[str, AirRecommendation] = {}
        self._live_rooms, self._n_new_models = LiveRooms([]), 0
        for room, setup in rooms.items():
            self._set_up(room, setup)

    def __contains__(self, room: str) -> bool:
        return room in self._rooms

    def model_version(self, room: str) -> int | None:
        """Return the version of a room's model in use."""
        model = self._rooms[room].model
        return None if model is None else model.version

    # ---- rooms and models ----

    def change_rooms(
        self, removed: Iterable[str], setups: Mapping[str, RoomSetup], now: dt.datetime
    ) -> EngineResult:
        """Remove rooms and apply the settings of others."""
        for room in removed:
            for known in (self._rooms, self._setups, self._air):
                known.pop(room, None)
        for room, setup in setups.items():
            self._set_up(room, setup)
        return EngineResult(states=self.states(now))

    def start_rooms(
        self,
        setups: Mapping[str, RoomSetup],
        models: Mapping[str, Model | None],
        stored: Mapping[str, StoredRoom],
        now: dt.datetime,
    ) -> EngineResult:
        """Start rooms that are new or have another time zone or interval."""
        for room, setup in setups.items():
            self._set_up(room, setup)
        result = self.use_models(models, now)
        result.append(self.restore(stored))
        result.states = self.states(now, setups)
        return result

    def use_models(self, models: Mapping[str, Model | None], now: dt.datetime) -> EngineResult:
        """Switch rooms to other models and estimate today again."""
        estimations = {room: self._rooms[room].use_model(model) for room, model in models.items()}
        result = self._estimate_today(estimations, models)
        for room in models:
            if self._rooms[room].broken and (today := self._rooms[room].midnight) is not None:
                result.clear_from(room, today)  # estimates of the old model
        self._n_new_models += len(models)
        result.states = self.states(now, models)
        return result

    def use_changed_models(self, models: Mapping[str, Model | None], now: dt.datetime) -> EngineResult:
        """Switch rooms to those models that are not in use yet."""
        changed = {
            room: model
            for room, model in models.items()
            if model is not None and model.version != self.model_version(room)
        }
        return self.use_models(changed, now)

    def restore(self, stored: Mapping[str, StoredRoom]) -> EngineResult:
        """Restore rooms after a restart and return the estimates of today that had to be computed again."""
        for room, found in stored.items():
            self._rooms[room].track_labels(found.labelled)
            if room in self._air:
                self._air[room].restore(found.estimates, self._setups[room].stale_after or STALE_AFTER)
        estimations = {
            room: self._rooms[room].restore(
                map(self._with_arrival, found.readings), found.estimates, found.co2_means
            )
            for room, found in stored.items()
        }
        return self._estimate_today(estimations, {room: self._rooms[room].model for room in stored})

    def track_labels(self, room: str, labelled: Sequence[LabelledInterval]) -> EngineResult:
        """Correct the prediction intervals of a room from now on; it may have been removed meanwhile."""
        if room in self._rooms:
            self._rooms[room].track_labels(labelled)
        return EngineResult()

    def correction(self, room: str) -> IntervalCorrection:
        """Return the correction of a room's prediction intervals. Thread-safe."""
        found = self._rooms.get(room)
        return UNCORRECTED if found is None else found.correction

    def interval(self, room: str) -> float:
        """Return the interval of the grid of a room [min]. Thread-safe."""
        found = self._rooms.get(room)
        return UNTRAINED_INTERVAL if found is None else found.grid.step / MINUTE

    def _set_up(self, room: str, setup: RoomSetup) -> None:
        """Add a room or change its settings; with another time zone or interval its day starts again."""
        old = self._rooms.get(room)
        if old is None or not self._setups[room].is_same_grid(setup):
            self._rooms[room] = Room(room, ZoneInfo(setup.timezone), sent_every=setup.interval)
            if old is not None:
                self._rooms[room].take_readings_of(old)
        self._setups[room] = setup
        if setup.air is None:
            self._air.pop(room, None)
        else:
            self._air.setdefault(room, AirRecommendation(setup.air)).use_control(setup.air)

    def _estimate_today(
        self, estimations: Mapping[str, Estimation[list[EstimateRecord]]], models: Mapping[str, Model | None]
    ) -> EngineResult:
        """Run estimations of the whole day; their results replace the stored estimates of today."""
        result = EngineResult()
        for room, estimates in self._run(estimations, _stack(models.values())).items():
            if estimates and (today := self._rooms[room].midnight) is not None:
                result.clear_from(room, today)
                result.add_estimates(room, estimates)
        return result

    # ---- readings ----

    def add_readings(
        self, readings: Sequence[Reading], now: dt.datetime, *, latest: dt.datetime | None = None
    ) -> EngineResult:
        """Add readings of any rooms, in the order of arrival.

        Parameters
        ----------
        readings : sequence of Reading
        now : datetime
            Current time, in UTC.
        latest : datetime, optional
            Latest time that it may be if the clock was set back; later readings are rejected. Default: now.
        """
        latest = now if latest is None else max(now, latest)
        outcomes: dict[int, ReadingOutcome] = {}
        numbers: dict[str, list[int]] = {}  # of the valid readings, by room
        for number, reading in enumerate(readings):
            rejection = self._rejection(reading, latest)
            if rejection is None:
                numbers.setdefault(reading.room, []).append(number)
            else:
                outcomes[number] = rejection
        valid = {
            room: [self._with_arrival(readings[k]) for k in of_room] for room, of_room in numbers.items()
        }
        duplicates = {room: [self._rooms[room].has(one) for one in some] for room, some in valid.items()}
        estimations = {room: self._rooms[room].add_readings(some) for room, some in valid.items()}
        done = self._run(estimations, self._stacked_rooms())
        result = EngineResult()
        for room, of_room in numbers.items():
            if room in done:
                room_outcomes, estimates = done[room]
                result.add_estimates(room, estimates)
            else:  # estimation failed, and the readings are stored
                room_outcomes = [
                    ReadingOutcome.DUPLICATE if one else ReadingOutcome.ACCEPTED for one in duplicates[room]
                ]
            outcomes |= dict(zip(of_room, room_outcomes, strict=True))
        result.outcomes = [outcomes[number] for number in range(len(readings))]
        result.readings = [
            reading
            for reading, outcome in zip(readings, result.outcomes, strict=True)
            if outcome in STORED_OUTCOMES
        ]
        result.states = self.states(now, dict.fromkeys(reading.room for reading in readings))
        return result

    def _rejection(self, reading: Reading, latest: dt.datetime) -> ReadingOutcome | None:
        room = self._rooms.get(reading.room)
        if room is None:
            return ReadingOutcome.UNKNOWN_ROOM
        if not is_valid_reading(reading):
            return ReadingOutcome.NONSENSE
        if self.follows_clock and reading.time > latest + MAX_CLOCK_AHEAD:
            if reading.co2 is not None:
                room.clock.set_ahead(reading.time - latest)
            return ReadingOutcome.FUTURE
        return None

    def _with_arrival(self, reading: Reading) -> Reading:
        """Return a recorded reading as if it had arrived when it was measured."""
        return reading if self.follows_clock else replace(reading, received=reading.time)

    # ---- estimation ----

    def _run(self, estimations: Mapping[str, Estimation[T]], live_rooms: LiveRooms) -> dict[str, T]:
        """Run the estimations of rooms and return the results of those that succeeded."""
        results = {}
        for room, result in run_batched(estimations, live_rooms).items():
            if isinstance(result, Exception):
                log.error("room %s: estimation failed; its readings are stored", room, exc_info=result)
                self._rooms[room].broken = True
            else:
                results[room] = result
        return results

    def _stacked_rooms(self) -> LiveRooms:
        """Return all rooms, stacked for estimation in batches."""
        if self._n_new_models * RESTACK_SHARE > len(self._rooms):
            self._live_rooms = _stack(room.model for room in self._rooms.values())
            self._n_new_models = 0
        return self._live_rooms

    # ---- states ----

    def states(self, now: dt.datetime, rooms: Iterable[str] | None = None) -> dict[str, RoomState]:
        """Return the states of some or all rooms. They change with time alone, too: sensors go offline."""
        asked = self._rooms if rooms is None else [room for room in rooms if room in self._rooms]
        return {room: self._state(room, now) for room in asked}

    def _state(self, room: str, now: dt.datetime) -> RoomState:
        try:
            state = room_state(self._rooms[room], now, self._setups[room].stale_after)
            high = self._planned_end(room)
        except Exception:
            log.exception("room %s: its state cannot be determined", room)
            self._rooms[room].broken = True
            state, high = unknown_state(room, Quality.SUSPECT, Cause(Reason.ESTIMATION_FAILED)), None
        air = self._air.get(room)
        return state if air is None else air.follow(state, high, now)

    def _planned_end(self, room: str) -> float | None:
        """Return the upper end of the prediction interval for which outdoor air is planned [people]."""
        if (air := self._air.get(room)) is None:
            return None
        return self._rooms[room].today.upper_end(air.confidence, self._rooms[room].correction)


def run_batched(estimations: Mapping[str, Estimation[T]], live_rooms: LiveRooms) -> dict[str, T | Exception]:
    """Run the estimations of many rooms side by side and return the result or the error of each.

    Readings that several rooms need estimated at the same time are estimated as one batch.
    """
    results: dict[str, T | Exception] = {}
    answers: dict[str, Estimate | Exception | None] = dict.fromkeys(estimations)  # None: not started yet
    while answers:
        due: dict[str, NextReading] = {}
        for room, answer in answers.items():
            try:
                due[room] = _advance(estimations[room], answer)
            except StopIteration as stop:
                results[room] = stop.value
            except Exception as error:  # noqa: BLE001 an error in one room must not affect the others
                results[room] = error
        answers = dict(zip(due, _estimate_batch(live_rooms, list(due.values())), strict=True))
    return results


def _estimate_batch(live_rooms: LiveRooms, due: list[NextReading]) -> Sequence[Estimate | Exception]:
    try:
        return live_rooms.update(due)
    except Exception as error:  # noqa: BLE001 such as no more threads: the readings are still stored
        return [error] * len(due)


def _advance(estimation: Estimation[T], answer: Estimate | Exception | None) -> NextReading:
    if answer is None:
        return next(estimation)
    return estimation.throw(answer) if isinstance(answer, Exception) else estimation.send(answer)


def _stack(models: Iterable[Model | None]) -> LiveRooms:
    return LiveRooms([model.room for model in models if model is not None])


def is_valid_reading(reading: Reading) -> bool:
    """Whether the values and the time of a reading can be stored. Implausible CO2 is valid."""
    if reading.co2 is None and reading.ventilation is None and not reading.sensors:
        return False
    if not all(name in SENSORS and SENSORS[name].allows(value) for name, value in reading.sensors.items()):
        return False
    if reading.co2 is not None and not VALUE_RULES["co2"].allows(abs(reading.co2)):  # negative: a failed read
        return False
    if reading.ventilation is not None and not VALUE_RULES["ventilation"].allows(reading.ventilation):
        return False
    return is_valid_time(reading.time)
