"""Which model each room is estimated with: the newest of its file, or what was uploaded or trained since."""

from __future__ import annotations

import hashlib
from pathlib import Path
from weakref import WeakValueDictionary

from occupair.errors import InputError
from occupair.live.engine import read_model
from occupair.live.store import Store
from occupair.live.track import Model
from occupair.live_room import LiveRoom


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
            When the file cannot be read.
        """
        if path is not None:
            try:
                content = path.read_bytes()
            except OSError as error:
                raise InputError(f"{path}: {error.strerror}") from None
            of_file = [one for one in self._store.models(room) if one.origin == "file"]
            if not of_file or of_file[-1].sha256 != hashlib.sha256(content).hexdigest():
                self.check(content)
                version = self._store.add_model(room, content, origin="file", note=path.name)
                self._store.activate(room, version)
        return self.active(room)

    def active(self, room: str) -> Model | None:
        """Give the model that a room is estimated with now."""
        found = self._store.active_model(room)
        return None if found is None else Model(found[0], self._room(found[1]))

    def check(self, content: bytes) -> None:
        """Refuse what is no model."""
        self._room(content)

    def _room(self, content: bytes) -> LiveRoom:
        key = hashlib.sha256(content).hexdigest()
        room = self._read.get(key)
        if room is None:
            room = self._read[key] = read_model(content, tolerance=self._tolerance)
        return room
