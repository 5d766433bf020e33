"""Submission of readings by links: until they are stored, also while the store is unavailable."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Sequence

from occupair.live.messages import Reading
from occupair.live.room_pipeline import BacklogFull, RoomPipeline

MAX_TRIES = 3
"""Submits of a single reading that fails although the store works, before it is dropped."""
FIRST_PAUSE, MAX_PAUSE = 0.5, 10.0
"""Pause between submits, which doubles from the first to the maximum [s]."""
WARN_EVERY = 60.0
"""Shortest time between two warnings about failed submits [s]."""


class Submitter:
    """Submits readings of one link to the pipeline.

    Parameters
    ----------
    pipeline : RoomPipeline
    log : Logger
        Logger of the link.
    """

    def __init__(self, pipeline: RoomPipeline, log: logging.Logger) -> None:
        self._pipeline, self._log = pipeline, log
        self._last_warning = -math.inf

    async def store(self, readings: Sequence[Reading]) -> None:
        """Submit readings until all are stored: as one batch, then one by one if that fails."""
        batches: list[Sequence[Reading]] = [readings] if readings else []
        tries, pause = 0, FIRST_PAUSE
        while batches:
            errors = [(batch, await self._submit(batch)) for batch in batches]
            batches = [batch for batch, error in errors if error is not None]
            tries += not any(self._is_temporary(error) for _, error in errors if error is not None)
            if batches and tries >= MAX_TRIES and all(len(batch) == 1 for batch in batches):
                self._log.error("dropped %d readings that cannot be stored: %s", len(batches), batches[0][0])
                return
            if batches:
                await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)
            batches = [[reading] for batch in batches for reading in batch]

    def _is_temporary(self, error: Exception) -> bool:
        """Whether a submit failed for a reason other than its readings."""
        return isinstance(error, BacklogFull) or self._pipeline.part_status.get("store") != "ok"

    async def _submit(self, readings: Sequence[Reading]) -> Exception | None:
        """Submit readings and return the error, or None if they are stored."""
        try:
            await self._pipeline.submit(readings)
        except Exception as error:  # noqa: BLE001 any failure is tried again
            if time.monotonic() - self._last_warning > WARN_EVERY:
                self._log.exception("could not store %d readings, retrying", len(readings))
                self._last_warning = time.monotonic()
            return error
        return None
