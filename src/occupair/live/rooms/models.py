"""Which model each room is estimated with: the newest of its file, or what was uploaded or trained since."""

from __future__ import annotations

import datetime as dt
import hashlib
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.live.rooms.engine import read_model
from occupair.live.rooms.room import Model
from occupair.live.store import DamagedModel, Store
from occupair.live_room import LiveRoom

TRIED, ONE_BY_ONE = 90, 10
"""Readings that a model is tried on before it is used, and how many of them come one by one."""
MOST_PEOPLE = 10_000.0
"""A model that says more of a room is broken [people]."""
_MIDNIGHT = dt.datetime(2024, 1, 8, tzinfo=dt.UTC)  # a Monday


class RoomModels:
    """The models of all rooms; rooms with the same file share what is read of it.

    Parameters
    ----------
    store : Store
        Where they are kept.
    tolerance : float
        How far estimates of Eq. (26) may be from the equation written out [people].
    """

    def __init__(self, store: Store, *, tolerance: float) -> None:
        self._store = store
        self._tolerance = tolerance
        self._read: WeakValueDictionary[str, LiveRoom] = WeakValueDictionary()

    def begin(self, room: str, path: Path | None) -> Model | None:
        """Give a room's model when the service starts; a file that is new or has changed goes first.

        Raises
        ------
        InputError
            When the file cannot be read, or what it or the store has is no model that works.
        """
        if path is not None:
            try:
                content = path.read_bytes()
            except OSError as error:
                raise InputError(f"{path}: {error.strerror}") from None
            of_file = [one for one in self._store.models(room) if one.origin == "file"]
            if not of_file or of_file[-1].sha256 != hashlib.sha256(content).hexdigest():
                self.check(content)
                self._store.add_model(room, content, origin="file", note=path.name, activate=True)
        return self.active(room)

    def active(self, room: str) -> Model | None:
        """Give the model that a room is estimated with now.

        Raises
        ------
        InputError
            When what the store has is no model that works.
        """
        try:
            found = self._store.active_model(room)
        except DamagedModel as error:
            raise InputError(str(error)) from None
        if found is None:
            return None
        try:
            return Model(found[0], self._room(found[1]))
        except InputError as error:
            raise InputError(f"model {found[0]} in the store {error}") from None

    def version(self, room: str, version: int | None) -> Model | None:
        """Give a model of a room, or none.

        Raises
        ------
        InputError
            When there is no such model, or it does not work.
        """
        if version is None:
            return None
        content = self._store.model(room, version)
        if content is None:
            raise InputError(f"room {room!r} has no model {version}")
        return Model(version, self._room(content))

    def of_file(self, room: str) -> int | None:
        """Give the version of the newest model that came from a room's file."""
        versions = [one.id for one in self._store.models(room) if one.origin == "file"]
        return max(versions, default=None)

    def check(self, content: bytes) -> None:
        """Refuse what is no model, or one that does not work."""
        self._room(content)

    def _room(self, content: bytes) -> LiveRoom:
        key = hashlib.sha256(content).hexdigest()
        room = self._read.get(key)
        if room is None:
            room = self._read[key] = read_and_try(content, tolerance=self._tolerance)
        return room


def read_and_try(content: bytes, *, tolerance: float) -> LiveRoom:
    """Read a model and run it on some readings, so that no stranger's file can stop the service later.

    Raises
    ------
    InputError
        In one line, whatever is wrong with it.
    """
    try:
        room = read_model(content, tolerance=tolerance)
        with np.errstate(all="ignore"):  # what overflows is seen from the people
            people = _people_of_a_try(room.anew())
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 a file can be wrong in more ways than are known
        said = " ".join(f"{type(error).__name__} {error}".split())[:200]
        raise InputError(f"is a model that cannot be run: {said}") from None
    if not np.all((people >= 0) & (people <= MOST_PEOPLE)):  # nor NaN
        worst = people[~((people >= 0) & (people <= MOST_PEOPLE))][0]
        rule = f"from 0 to {MOST_PEOPLE:.0f} people"
        raise InputError(f"is a model that does not work: it must say {rule}, on a try it said {worst:g}")
    return room


def _people_of_a_try(room: LiveRoom) -> NDArray[np.float64]:
    """Run a room from midnight on: as after a restart first, then reading by reading."""
    step = dt.timedelta(minutes=room.interval)
    number = min(TRIED, dt.timedelta(days=1) // step)
    times = [_MIDNIGHT + k * step for k in range(number)]
    co2, flow = np.linspace(450.0, 900.0, number), np.full(number, 0.5)
    known = number - ONE_BY_ONE
    room.resume(times[:known], co2[:known], flow[:known])
    said = [room.update(times[k], float(co2[k]), 0.5).people for k in range(known, number)]
    return np.append(room.people, said)
