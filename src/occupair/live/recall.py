"""What is kept of rooms and still matters to them: their model, today's readings, what they last said."""

from __future__ import annotations

import datetime as dt
import logging
from zoneinfo import ZoneInfo

from occupair.errors import InputError
from occupair.live.config import RoomConfig
from occupair.live.messages import Estimated, Reading
from occupair.live.room_models import RoomModels
from occupair.live.store import Store
from occupair.live.track import Model, window

log = logging.getLogger("occupair.live")

LAST_SAID = dt.timedelta(minutes=90)
"""What was said that long before a restart is taken up again."""


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

    def readings(self, newest: Reading, timezone: str) -> list[Reading]:
        """Give the readings of a room that still matter."""
        return self._store.readings(newest.room, window(newest.time, ZoneInfo(timezone)), None)

    def said_last(self, newest: Reading) -> list[Estimated]:
        """Give what a room said in the last minutes before its newest reading, and after."""
        return self._store.estimates(newest.room, newest.time - LAST_SAID, None, limit=10_000)
