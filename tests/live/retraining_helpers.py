"""Helpers for tests of retraining: days and interval of the rooms, labels, the end of a training."""

import asyncio
import datetime as dt

from occupair.live.messages import Label

DAYS, HALL_DAYS = 6, 4  # of the lab: one more than folds; of the hall: the fewest to train on
INTERVAL = 15  # [min]
PER_DAY = 1440 // INTERVAL


def add_labels(store, people, room="lab", source="typed"):
    for when, count in people.items():
        store.add_label(Label(room, when.to_pydatetime(), int(count), dt.datetime.now(dt.UTC), source))


async def ended(trainer, room):
    """Wait for the end of a training and return its status."""
    while (status := await trainer.status(room))["status"] == "running":
        await asyncio.sleep(0.01)
    return status
