"""What is kept of rooms and still matters to them: their model, today's readings, what they last said."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Iterable, Mapping
from zoneinfo import ZoneInfo

from occupair.errors import InputError
from occupair.live.config import RoomConfig
from occupair.live.messages import Estimated, Reading
from occupair.live.rooms.models import RoomModels
from occupair.live.rooms.room import Model, window
from occupair.live.store import Store, StoreError

log = logging.getLogger("occupair.live")

LAST_SAID = dt.timedelta(minutes=90)
"""What was said that long before a restart is taken up again."""

Kept = dict[str, tuple[list[Reading], list[Estimated]]]
"""By room, its readings that still matter, and what it last said."""


class Recall:
    """Asks the store.

    Parameters
    ----------
    store : Store
        Where all is kept.
    models : RoomModels
        What it has of models, read.
    """

    def __init__(self, store: Store, models: RoomModels) -> None:
        self._store = store
        self._models = models

    def model(self, room: RoomConfig) -> Model | None:
        """Give the model that a room begins with; where its file cannot be used, that of the last time."""
        try:
            return self._models.begin(room.id, room.model)
        except InputError as error:
            log.error("room %s: its model file cannot be used: %s", room.id, error)
        try:
            return self._models.active(room.id)
        except InputError as error:
            log.error("room %s: the model it had cannot be used either: %s", room.id, error)
            return None

    def models(self, rooms: Iterable[RoomConfig]) -> tuple[dict[str, Model | None], StoreError | None]:
        """Give the models that rooms begin with, up to where the store fails."""
        found: dict[str, Model | None] = {}
        for room in rooms:
            try:
                found[room.id] = self.model(room)
            except StoreError as error:
                return found, error
        return found, None

    def kept(
        self, rooms: Iterable[RoomConfig], newest: Mapping[str, Reading], zones: Mapping[str, str]
    ) -> Kept:
        """Give what rooms are taken up with.

        Parameters
        ----------
        rooms : iterable of RoomConfig
        newest : mapping
            The newest reading of each that has one.
        zones : mapping
            The zone that each was last estimated in: what it said in another is of other days.
        """
        found: Kept = {}
        for room in rooms:
            if (last := newest.get(room.id)) is None:
                continue
            readings = self._store.readings(room.id, window(last.time, ZoneInfo(room.timezone)), None)
            said: list[Estimated] = []
            if zones.get(room.id, room.timezone) == room.timezone:
                said = self._store.estimates(room.id, last.time - LAST_SAID, None, limit=10_000)
            found[room.id] = readings, said
        return found
