"""Settings for the rooms of a portfolio, with the models that were trained for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from occupair.errors import InputError
from occupair.live.config.room_ids import make_room_id
from occupair.live.semantic.rooms_toml import Draft, RoomDraft

FULL = "full of every ventilation topic: its value at full ventilation, such as 100 for a percentage"


@dataclass(frozen=True)
class FleetRoom:
    """A room of a portfolio.

    Parameters
    ----------
    name : str
    model : str
        Its model file, relative to the settings; empty if it has none.
    reason : str
        Why it has none.
    capacity, volume : float
        Seats [people] and air volume [m3]; NaN if unknown.
    timezone : str
        Time zone of its model; empty if unknown.
    uses_ventilation : bool
        Whether its model uses the ventilation.
    """

    name: str
    model: str
    reason: str = ""
    capacity: float = math.nan
    volume: float = math.nan
    timezone: str = ""
    uses_ventilation: bool = False


def import_fleet(
    rooms: Sequence[FleetRoom], *, co2: str, ventilation: str | None = None, timezone: str | None = None
) -> Draft:
    """Return the settings of the rooms of a portfolio.

    Parameters
    ----------
    rooms : sequence of FleetRoom
    co2, ventilation : str
        Topics, with ``{room}`` for the name of the room, ``{id}`` for its id.
    timezone : str, optional
        Time zone of the service, and so of rooms without their own.

    Examples
    --------
    >>> draft = import_fleet([FleetRoom("Lab 7", "models/rooms/Lab 7.occupair")], co2="bms/{id}/co2")
    >>> draft.rooms[0].settings
    {'name': 'Lab 7', 'model': 'models/rooms/Lab 7.occupair', 'co2': 'bms/lab-7/co2'}
    """
    for option, pattern in (("--co2", co2), ("--ventilation", ventilation)):
        if pattern is not None and "{room}" not in pattern and "{id}" not in pattern:
            raise InputError(
                f"{option} must contain {{room}} or {{id}}, so that rooms differ, got {pattern!r}"
            )
    draft = Draft()
    if timezone is not None:
        draft.tables["service"] = {"timezone": timezone}
    draft.tables["mqtt"] = {"host": "localhost"}
    draft.checks["mqtt"] = ["the address of the broker"]
    taken: set[str] = set()
    for room in rooms:
        id_ = make_room_id(room.name, taken)
        taken.add(id_)
        draft.rooms.append(_draft(room, id_, co2, ventilation, timezone))
    if any("ventilation" in room.settings for room in draft.rooms):
        draft.checks[""] = [FULL]
    return draft


def _draft(room: FleetRoom, id_: str, co2: str, ventilation: str | None, timezone: str | None) -> RoomDraft:
    made = RoomDraft(id_, {} if room.name == id_ else {"name": room.name})
    settings = made.settings
    if room.model:
        settings["model"] = room.model
    else:
        made.checks.append(f"no model: {room.reason}")
    settings["co2"] = _topic(co2, room.name, id_)
    if room.uses_ventilation and ventilation is not None:
        settings["ventilation"] = {"topic": _topic(ventilation, room.name, id_), "full": 1}
    elif room.uses_ventilation:
        made.checks.append("the model uses the ventilation: add its topic")
    if room.timezone and room.timezone != timezone:
        settings["timezone"] = room.timezone
    if room.capacity >= 1:
        settings["capacity"] = round(room.capacity)
    if not room.model and room.volume > 0:
        settings["volume"] = room.volume
    return made


def _topic(pattern: str, name: str, id_: str) -> str:
    return pattern.replace("{room}", name).replace("{id}", id_)
