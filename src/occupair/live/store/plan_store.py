"""Floor plans, and the places of rooms on them."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Engine, Table, delete, select

from occupair.errors import InputError
from occupair.live.messages import to_microseconds, to_time
from occupair.live.store import schema
from occupair.live.store.database import check_texts, snapshot, transaction, upsert
from occupair.live.wall_clock import utc_now


@dataclass(frozen=True)
class Plan:
    """The plan of a floor, without its content.

    Parameters
    ----------
    floor : str
        Name of the floor.
    media_type : str
        ``"image/svg+xml"`` or ``"image/png"``.
    width, height : float
        Size; only their ratio matters.
    sha256 : str
        Checksum of the content, in hexadecimal.
    size : int
        Size of the content [bytes].
    created : datetime
        Time of the upload, in UTC.
    """

    floor: str
    media_type: str
    width: float
    height: float
    sha256: str
    size: int
    created: dt.datetime


class Place(NamedTuple):
    """Place of a room on the plan of its floor, from the left and from the top [0..1]."""

    x: float
    y: float


class PlanStore:
    """The part of a store that holds floor plans. A place belongs to its room: a new plan keeps it."""

    engine: Engine

    def plans(self) -> list[Plan]:
        """Return the plans of all floors, by name."""
        columns = [column for column in schema.plans.c if column.name != "data"]
        with snapshot(self.engine) as connection:
            rows = connection.execute(select(*columns).order_by(schema.plans.c.floor)).all()
        return [_to_plan(row) for row in rows]

    def plan(self, floor: str) -> tuple[Plan, bytes] | None:
        """Return the plan of a floor and its content."""
        check_texts("floor", [floor])
        with snapshot(self.engine) as connection:
            row = connection.execute(select(schema.plans).where(schema.plans.c.floor == floor)).first()
        return None if row is None else (_to_plan(row), bytes(row.data))

    def set_plan(self, floor: str, data: bytes, *, media_type: str, width: float, height: float) -> Plan:
        """Store the plan of a floor, in place of an earlier one, and return what is stored of it."""
        check_texts("floor", [floor])
        plan = Plan(
            floor=floor,
            media_type=media_type,
            width=float(width),
            height=float(height),
            sha256=hashlib.sha256(data).hexdigest(),
            size=len(data),
            created=utc_now(),
        )
        self._write(
            schema.plans, vars(plan) | {"created": to_microseconds(plan.created), "data": bytes(data)}
        )
        return plan

    def remove_plan(self, floor: str) -> bool:
        """Delete the plan of a floor and return whether it existed. Rooms keep their places."""
        check_texts("floor", [floor])
        with transaction(self.engine) as connection:
            deleted = connection.execute(delete(schema.plans).where(schema.plans.c.floor == floor))
            return deleted.rowcount > 0

    def places(self) -> dict[str, Place]:
        """Return the place of every room that has one."""
        with snapshot(self.engine) as connection:
            return {row.room: Place(row.x, row.y) for row in connection.execute(select(schema.places))}

    def set_place(self, room: str, place: Place) -> None:
        """Place a room."""
        check_texts("room", [room])
        for name, value in zip("xy", place, strict=True):
            if not 0 <= value <= 1:
                raise InputError(f"{name} must be from 0 to 1, got {value:g}")
        self._write(schema.places, {"room": room, "x": place.x, "y": place.y})

    def remove_place(self, room: str) -> bool:
        """Remove the place of a room and return whether it had one."""
        check_texts("room", [room])
        with transaction(self.engine) as connection:
            return connection.execute(delete(schema.places).where(schema.places.c.room == room)).rowcount > 0

    def _write(self, table: Table, row: Mapping[str, Any]) -> None:
        with transaction(self.engine) as connection:
            connection.execute(upsert(table, self.engine.name), [dict(row)])


def _to_plan(row: Any) -> Plan:
    return Plan(row.floor, row.media_type, row.width, row.height, row.sha256, row.size, to_time(row.created))
