"""The model of each room: that of its model file, or one uploaded or trained since."""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
from collections.abc import Iterable
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.live.config import RoomConfig
from occupair.live.messages import MAX_PEOPLE
from occupair.live.rooms.room import Model
from occupair.live.store import DamagedModel, Store, StoreError
from occupair.live_room import LiveRoom
from occupair.model_file import parse_model
from occupair.paper.live_day import TOLERANCE

log = logging.getLogger("occupair.live")

TEST_READINGS, TEST_LIVE_READINGS = 90, 10
"""Readings that a model is tested on before use, and how many of them one at a time."""
_MIDNIGHT = dt.datetime(2024, 1, 8)  # a Monday, in the time zone of the model


class RoomModels:
    """The models of all rooms. Rooms with the same model share one copy in memory.

    Parameters
    ----------
    store : Store
        Where models are stored.
    tolerance : float
        Maximum deviation of estimates from those of Eq. (26) [people].
    """

    def __init__(self, store: Store, *, tolerance: float) -> None:
        self._store = store
        self._tolerance = tolerance
        self._loaded: WeakValueDictionary[str, LiveRoom] = WeakValueDictionary()

    def initial_models(
        self, rooms: Iterable[RoomConfig]
    ) -> tuple[dict[str, Model | None], StoreError | None]:
        """Return the models that rooms start with, up to where the store fails, and that failure."""
        found: dict[str, Model | None] = {}
        for room in rooms:
            try:
                found[room.id] = self.initial_model(room)
            except StoreError as error:
                return found, error
        return found, None

    def initial_model(self, room: RoomConfig) -> Model | None:
        """Return the model a room starts with; if its file cannot be used, the last model that could."""
        try:
            return self.from_file(room.id, room.model)
        except InputError as error:
            log.error("room %s: the model file cannot be used: %s", room.id, error)
        try:
            return self.active(room.id)
        except InputError as error:
            log.error("room %s: the stored model cannot be used either: %s", room.id, error)
            return None

    def from_file(self, room: str, path: Path | None) -> Model | None:
        """Activate a room's model file if it is new or has changed, and return the active model.

        Raises
        ------
        InputError
            If the file cannot be read, or the model in it or in the store does not work.
        """
        if path is not None:
            try:
                content = path.read_bytes()
            except OSError as error:
                raise InputError(f"{path}: {error.strerror}") from None
            from_files = [one for one in self._store.models(room) if one.origin == "file"]
            if not from_files or from_files[-1].sha256 != hashlib.sha256(content).hexdigest():
                self.check(content)
                self._store.add_model(room, content, origin="file", note=path.name, activate=True)
        return self.active(room)

    def active(self, room: str) -> Model | None:
        """Return the active model of a room.

        Raises
        ------
        InputError
            If the stored model does not work.
        """
        try:
            found = self._store.active_model(room)
        except DamagedModel as error:
            raise InputError(str(error)) from None
        if found is None:
            return None
        try:
            return Model(found[0], self._load(found[1]))
        except InputError as error:
            raise InputError(f"model {found[0]} in the store {error}") from None

    def version(self, room: str, version: int | None) -> Model | None:
        """Return a version of a room's model; None for no model.

        Raises
        ------
        InputError
            If there is no such version, or it does not work.
        """
        if version is None:
            return None
        content = self._store.model(room, version)
        if content is None:
            raise InputError(f"room {room!r} has no model {version}")
        return Model(version, self._load(content))

    def newest_file_version(self, room: str) -> int | None:
        """Return the version of the newest model that came from a room's model file."""
        versions = [one.id for one in self._store.models(room) if one.origin == "file"]
        return max(versions, default=None)

    def check(self, content: bytes) -> None:
        """Raise an InputError if this is not a model file, or its model does not work."""
        self._load(content)

    def _load(self, content: bytes) -> LiveRoom:
        key = hashlib.sha256(content).hexdigest()
        room = self._loaded.get(key)
        if room is None:
            room = self._loaded[key] = load_tested_model(content, tolerance=self._tolerance)
        return room


def load_tested_model(content: bytes, *, tolerance: float) -> LiveRoom:
    """Load a model and run it on test readings: no uploaded file may stop the service later.

    Raises
    ------
    InputError
        One line on what is wrong with the model.
    """
    try:
        room = load_model(content, tolerance=tolerance)
        with np.errstate(all="ignore"):  # an overflow shows in the estimates
            people = _estimate_test_readings(room.fresh_copy())
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 a file can be wrong in more ways than are known
        message = " ".join(f"{type(error).__name__} {error}".split())[:200]
        raise InputError(f"is a model that cannot be run: {message}") from None
    if not np.all((people >= 0) & (people <= MAX_PEOPLE)):  # nor NaN
        worst = people[~((people >= 0) & (people <= MAX_PEOPLE))][0]
        rule = f"estimates must be from 0 to {MAX_PEOPLE} people"
        raise InputError(f"is a model that does not work: {rule}, got {worst:g} on test readings")
    return room


def load_model(content: bytes, *, tolerance: float = TOLERANCE) -> LiveRoom:
    """Load a model file as a room before its first reading, without the parts only training needs.

    Raises
    ------
    InputError
        If it is not a model file, or its model cannot be run live.
    """
    estimator = parse_model(content)
    if not 1 / 60 <= estimator.interval_ <= 60:
        rule = "a live room takes readings every second to every hour"
        raise InputError(f"has an interval of {estimator.interval_:g} min, {rule}")
    return estimator.live(tolerance=tolerance, lean=True, local=True)


def _estimate_test_readings(room: LiveRoom) -> NDArray[np.float64]:
    """Run a room from midnight on: first as after a restart, then reading by reading."""
    step = dt.timedelta(minutes=room.interval)
    number = min(TEST_READINGS, dt.timedelta(days=1) // step)
    times = [_MIDNIGHT + k * step for k in range(number)]
    co2, flow = np.linspace(450.0, 900.0, number), np.full(number, 0.5)
    resumed = number - TEST_LIVE_READINGS
    room.restore(times[:resumed], co2[:resumed], flow[:resumed])
    live = [room.update(times[k], float(co2[k]), 0.5).people for k in range(resumed, number)]
    return np.append(room.people, live)
