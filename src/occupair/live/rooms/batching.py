"""Rooms side by side: what they need estimated at the same time is estimated together.

The work of a room asks for an estimate where it needs one and goes on when it has it; it neither knows nor
minds whether other rooms ask at the same time.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TypeVar, cast

from occupair.live_room import Estimate
from occupair.live_rooms import Due, LiveRooms

T = TypeVar("T")
Work = Generator[Due, Estimate, T]
"""Gives readings that its room is to take next, gets what the room says, and ends with a result."""


def alone(work: Work[T]) -> T:
    """Do the work of one room."""
    try:
        due = next(work)
        while True:
            due = work.send(due.room.update(due.time, due.co2, due.ventilation))
    except StopIteration as stop:
        return cast("T", stop.value)


def side_by_side(works: Mapping[str, Work[T]], rooms: LiveRooms) -> dict[str, T | Exception]:
    """Do the work of many rooms: what came of each, or what went wrong there."""
    found: dict[str, T | Exception] = {}
    said: dict[str, Estimate | Exception | None] = dict.fromkeys(works)  # nothing was asked yet
    while said:
        due: dict[str, Due] = {}
        for room, answer in said.items():
            try:
                due[room] = _next(works[room], answer)
            except StopIteration as stop:
                found[room] = stop.value
            except Exception as error:  # noqa: BLE001 whatever is wrong with one room stays there
                found[room] = error
        said = dict(zip(due, _asked(rooms, list(due.values())), strict=True))
    return found


def _asked(rooms: LiveRooms, due: list[Due]) -> Sequence[Estimate | Exception]:
    try:
        return rooms.update(due)
    except Exception as error:  # noqa: BLE001 such as no more threads: the rooms' readings are kept
        return [error] * len(due)


def _next(work: Work[T], answer: Estimate | Exception | None) -> Due:
    if answer is None:
        return next(work)
    return work.throw(answer) if isinstance(answer, Exception) else work.send(answer)
