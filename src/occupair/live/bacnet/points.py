"""The BACnet points of all rooms, by device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bacpypes3.pdu import Address

from occupair.live.bacnet.device_poller import RoomPoint

if TYPE_CHECKING:
    from occupair.live.config import RoomConfig


def points_by_device(rooms: Mapping[str, RoomConfig]) -> dict[Address, list[RoomPoint]]:
    """Return the points of rooms by the address of their device."""
    devices: dict[Address, list[RoomPoint]] = {}
    for room in rooms.values():
        for quantity, point in room.points.items():
            devices.setdefault(Address(point.bacnet), []).append(RoomPoint(room.id, quantity, point))
    return devices
