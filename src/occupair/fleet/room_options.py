"""Options of the rooms of a portfolio: size, time zone and columns, from a CSV or TOML file.

A CSV file has a column ``room`` and one for each option; ``columns.co2`` is the name of the CO2 column in the
data of the room. A TOML file has a table ``[rooms.NAME]`` per room, with ``columns = {co2 = "Raum 7"}``.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from occupair.errors import InputError, plain_line
from occupair.physics.room_properties import PROPERTIES
from occupair.readings.raw_table import decode
from occupair.readings.source import Source
from occupair.wording import quoted, quoted_list

OPTIONS_FILES = ("rooms.toml", "rooms.csv")
"""Names of the file with the options, in the folder of the data."""

NUMBERS = tuple(name for name in PROPERTIES if name != "activity")
NAMES = ("file", "timezone", "dayfirst", "closed", *PROPERTIES)
"""Options of a room besides ``columns``."""

_COLUMN = "columns."
_YES_OR_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class RoomOptions:
    """Options of one room.

    Parameters
    ----------
    file : tuple of str
        Files of the room, relative to the data, with wildcards; empty: found by the name of the room.
    timezone, dayfirst, columns
        See ``occupair.read_readings``; columns as pairs of our name and theirs.
    closed : tuple of str
        Times of day at which the room is empty.
    properties : mapping
        Properties of the room, see ``occupair.physics.room_properties``, that are given.
    problem : str
        Why the options of this room are invalid; empty if they are valid.
    """

    file: tuple[str, ...] = ()
    timezone: str | None = None
    dayfirst: bool | None = None
    closed: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments of ``read_readings``."""
        return {"timezone": self.timezone, "dayfirst": self.dayfirst, "columns": dict(self.columns)}

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the estimator."""
        return dict(self.properties) | ({"closed": self.closed} if self.closed else {})

    def over(self, defaults: RoomOptions) -> RoomOptions:
        """Return these options, and those of ``defaults`` that are not given."""
        given = {
            one.name: getattr(self, one.name) or getattr(defaults, one.name)
            for one in fields(self)
            if one.name not in ("dayfirst", "columns", "properties")
        }
        dayfirst = defaults.dayfirst if self.dayfirst is None else self.dayfirst
        columns = tuple((dict(defaults.columns) | dict(self.columns)).items())
        properties = {**defaults.properties, **self.properties}
        return replace(self, **given, dayfirst=dayfirst, columns=columns, properties=properties)


def parse_options(content: bytes, name: str) -> dict[str, RoomOptions]:
    r"""Return the options by room; ``name`` is that of the file, which ends in ``.toml`` or ``.csv``.

    An invalid value is a problem of its room only. A file that is not a table, or has an unknown option, is
    an error.

    Examples
    --------
    >>> options = parse_options(b"room,capacity,columns.co2\nlab,24,Raum 7\n", "rooms.csv")
    >>> options["lab"].properties, options["lab"].columns
    ({'capacity': 24.0}, (('co2', 'Raum 7'),))
    """
    is_toml = name.lower().endswith(".toml")
    rooms = _toml_rooms(content, name) if is_toml else _csv_rooms(content, name)
    found: dict[str, RoomOptions] = {}
    for room, values in rooms:
        if room in found:
            raise InputError(f"{name}: room {quoted(room)} is there twice: delete one")
        found[room] = _options(room, values, name)
    return found


def _toml_rooms(content: bytes, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        document = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: is not TOML: {error}") from None
    rooms = document.get("rooms")
    if not isinstance(rooms, dict) or not all(id_ and isinstance(one, dict) for id_, one in rooms.items()):
        raise InputError(f"{name}: must have a table [rooms.NAME] for each room")
    for room, table in rooms.items():
        columns = table.pop("columns", {})
        if not isinstance(columns, dict):
            raise InputError(f'{name}: columns of room {room!r} must be like {{co2 = "Raum 7"}}')
        _check_names(table, name)
        yield room, table | {f"{_COLUMN}{ours}": theirs for ours, theirs in columns.items()}


def _csv_rooms(content: bytes, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    text = decode(content, Source(name)).lstrip(" \n")
    if not text:
        raise InputError(f"{name}: is empty")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    lines = csv.DictReader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    names = [one.strip() for one in lines.fieldnames or []]
    if "room" not in names:
        raise InputError(f"{name}: has no column 'room', only {quoted_list(names)}")
    _check_names([one for one in names if one != "room" and not one.startswith(_COLUMN)], name)
    lines.fieldnames = names
    try:
        for line in lines:
            values = {key: value.strip() for key, value in line.items() if key and value and value.strip()}
            if room := values.pop("room", ""):
                yield room, values
    except csv.Error as error:
        raise InputError(f"{name}: is not a CSV table: {error}") from None


def _check_names(names: Any, file: str) -> None:
    unknown = [one for one in names if one not in NAMES]
    if unknown:
        known = quoted_list([*NAMES, "columns.co2"])
        raise InputError(f"{file}: {quoted(unknown[0])} is not a room option; the options are {known}")


def _options(room: str, values: Mapping[str, Any], name: str) -> RoomOptions:
    columns = {key.removeprefix(_COLUMN): str(v) for key, v in values.items() if key.startswith(_COLUMN)}
    try:
        return RoomOptions(
            file=_texts(values.get("file")),
            timezone=values.get("timezone"),
            dayfirst=_flag(values.get("dayfirst")),
            closed=_texts(values.get("closed")),
            columns=tuple(columns.items()),
            properties={key: _property(key, values[key]) for key in PROPERTIES if key in values},
        )
    except InputError as error:
        return RoomOptions(problem=plain_line(f"{name}: {error}"))


def _texts(value: Any) -> tuple[str, ...]:
    """Return texts from a list, or from one text with semicolons."""
    parts = value if isinstance(value, list | tuple) else str(value or "").split(";")
    return tuple(part.strip() for part in map(str, parts) if part.strip())


def _flag(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if str(value).lower() not in _YES_OR_NO:
        raise InputError(f"dayfirst must be true or false, got {quoted(value)}")
    return _YES_OR_NO[str(value).lower()]


def _property(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{name} must be a number, got {quoted(value)}")
    try:
        return float(str(value).replace(",", "."))
    except ValueError:
        if name in NUMBERS:
            raise InputError(f"{name} must be a number, got {quoted(value)}") from None
        return str(value)
