"""Pooled read-outs for the scores of a public room: pooled over the other public rooms.

The read-outs that are part of the package are pooled over all public rooms, with all of their days. A score
of a public room must not use them, because they have seen its held-out days.
"""

from __future__ import annotations

from functools import cache

from occupair.datasets.benchmark_rooms import ROOMS, read_room
from occupair.errors import InputError
from occupair.room.pooled_start import POOLED, PooledStart
from occupair.room.pooling import RoomSums, pool, sum_room


def start_without(room: str) -> PooledStart | str | None:
    """Return the read-outs over the public rooms except one; those of the package for any other room.

    Only the public rooms on this machine are pooled. Without any other, the network starts from nothing.
    """
    if room not in ROOMS:
        return POOLED
    others = {name: sums for name in ROOMS if name != room and (sums := _sums(name)) is not None}
    return pool(others) if others else None


@cache
def _sums(name: str) -> RoomSums | None:
    try:
        return sum_room(read_room(name))
    except InputError:  # not on this machine
        return None
