"""Names, floors, seats and time zones of rooms, from a TOML or CSV file.

A TOML file has a table ``[rooms.ID]`` per room, as the settings of the live service; other keys are ignored.
A CSV file has a column ``room`` and, optionally, ``name``, ``floor``, ``capacity`` and ``timezone``.
"""

from __future__ import annotations

import csv
import io
import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from occupair.errors import InputError
from occupair.readings.raw_table import decode
from occupair.readings.source import Source
from occupair.readings.time_zones import parse_time_zone
from occupair.utilisation.room_usage import RoomInfo
from occupair.wording import quoted, quoted_list

SEATS = ("capacity", "seats")
MOST_SEATS = 1_000_000


class ListedRoom(NamedTuple):
    """A room in a list."""

    info: RoomInfo
    timezone: str | None = None


def read_room_list(path: str | Path) -> dict[str, ListedRoom]:
    r"""Read the rooms in a file by id.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rooms.csv"
    >>> _ = path.write_text("room,name,capacity\nlab-7,Lab 7,24\n")
    >>> read_room_list(path)["lab-7"].info
    RoomInfo(id='lab-7', name='Lab 7', floor='', capacity=24)
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    rows = _toml_rooms(content, path) if path.suffix.lower() == ".toml" else _csv_rooms(content, path)
    found: dict[str, ListedRoom] = {}
    for room, values in rows:
        if room in found:
            raise InputError(f"{path}: room {quoted(room)} is there twice: delete one")
        found[room] = _listed(room, values, path)
    if not found:
        raise InputError(f"{path}: has no rooms")
    return found


def _toml_rooms(content: bytes, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        document = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not TOML: {error}") from None
    rooms, service = document.get("rooms"), document.get("service", {})
    if not isinstance(rooms, dict) or not all(id_ and isinstance(one, dict) for id_, one in rooms.items()):
        raise InputError(f"{path}: must have a table [rooms.ID] for each room")
    default = {"timezone": service.get("timezone")} if isinstance(service, dict) else {}
    yield from ((room, default | values) for room, values in rooms.items())


def _csv_rooms(content: bytes, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = decode(content, Source(str(path)))
    try:
        table = pd.read_csv(io.StringIO(text), sep=None, engine="python", dtype=str, skipinitialspace=True)
    except (ValueError, csv.Error, pd.errors.ParserError) as error:
        raise InputError(f"{path}: is not a CSV table: {error}") from None
    table.columns = [str(name).strip().lower() for name in table.columns]
    if table.columns.has_duplicates:
        raise InputError(f"{path}: has two columns {quoted(table.columns[table.columns.duplicated()][0])}")
    if "room" not in table.columns:
        raise InputError(f"{path}: has no column 'room', only {quoted_list(table.columns)}")
    for row in table.to_dict("records"):
        values = {str(name): value.strip() for name, value in row.items() if isinstance(value, str)}
        if room := values.pop("room", ""):
            yield room, values


def _listed(room: str, values: Mapping[str, Any], path: Path) -> ListedRoom:
    stated = next((values[name] for name in SEATS if values.get(name) not in (None, "")), None)
    name, floor, timezone = (values.get(key) for key in ("name", "floor", "timezone"))
    parse_time_zone(timezone or None)
    info = RoomInfo(room, str(name or ""), str(floor or ""), _capacity(stated, room, path))
    return ListedRoom(info, timezone or None)


def _capacity(value: Any, room: str, path: Path) -> int | None:
    if value is None:
        return None
    try:
        number = float(str(value).replace(",", "."))
    except ValueError:
        number = math.nan
    if not 1 <= number <= MOST_SEATS:
        rule = f"capacity of room {quoted(room)} must be from 1 to {MOST_SEATS:,}"
        raise InputError(f"{path}: {rule}, got {quoted(value)}")
    return round(number)
