"""Logs of MQTT messages, as ``mosquitto_sub -F '%I %t %p'`` (or ``%U``, or ``%j``) writes them, as passages.

A message is about a door if its topic or its payload says in or out: ``building/north/in 1``, a JSON object
with ``in`` and ``out``, or with a ``direction``, or a bare ``in``. The door is what the topic says beside
that, or a ``door`` in the payload. Other topics, such as batteries, are passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from occupair.groundtruth.counters.counter_series import goes_on, passages_of
from occupair.groundtruth.counters.direction_words import GENERIC, direction, words_of
from occupair.readings.number_cells import MISSING
from occupair.readings.raw_table import decode
from occupair.readings.source import Source
from occupair.readings.time_column import localize, parse_times
from occupair.readings.time_zones import parse_time_zone
from occupair.wording import quoted

_STAMP = r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\S*|\d{9,10}(?:\.\d+)?|\d{13})"
_LINE = re.compile(rf"{_STAMP}\s+(?P<topic>[^\s,;]+)\s+(?P<payload>\S.*)")
_SILENT = MISSING | {"online", "offline", "on", "off", "ok"}
_DOOR_KEYS = ("door", "device", "sensor", "location", "name", "id")
_WAY_KEYS = ("direction", "dir", "event", "type", "action", "movement", "way")
_NUMBER_KEYS = ("count", "number", "people", "n", "persons")
_RISES = 3  # from which on bare numbers, of all doors together, may be counts that go on counting


class Message(NamedTuple):
    """One line of a log."""

    row: int
    time: str
    topic: str
    payload: str


class Said(NamedTuple):
    """What a message says: people [None where it does not say], at a door, and whether it is one passage."""

    door: str
    entered: float | None
    left: float | None
    single: bool


def is_mqtt_log(path: Path) -> bool:
    """Whether the first line of a file is an MQTT message with its time."""
    with path.open("rb") as content:
        first = (
            content.read(4000)
            .decode("utf-8", errors="replace")
            .lstrip("\ufeff\n\r ")
            .split("\n", 1)[0]
            .strip()
        )
    return _parsed(0, first) is not None


def read_mqtt_log(
    path: Path | str, *, timezone: str | None = None, cumulative: bool | None = None
) -> pd.DataFrame:
    r"""Read the passages in a log of MQTT messages; parameters as for ``read_passages``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "doors.log"
    >>> _ = path.write_text('2024-01-08T08:31:07+0100 office/north/door {"direction": "in"}\n'
    ...                     '2024-01-08T08:31:20+0100 office/south/door {"direction": "out"}\n')
    >>> read_mqtt_log(path)[["door", "entered", "left"]].to_dict("records")
    [{'door': 'north', 'entered': 1, 'left': 0}, {'door': 'south', 'entered': 0, 'left': 1}]
    """
    source = Source(str(path))
    text = (
        decode(Path(path).read_bytes(), source) if not _is_json(Path(path)) else Path(path).read_text("utf-8")
    )
    messages = list(_messages(text, source))
    said = [(message, _said(message, source)) for message in messages]
    told = [(message, one) for message, one in said if one is not None]
    if not told:
        raise source.error("has no message that says in or out in its topic or its payload")
    names = _door_names([one.door for _, one in told])
    rows = np.array([message.row for message, _ in told])
    cells = pd.Series([message.time for message, _ in told], name="time", dtype=str)
    zone = parse_time_zone(timezone)
    times = parse_times(cells, zone=zone, source=source, row_numbers=rows)
    times = localize(times, zone, column="time", source=source, row_numbers=rows)
    records = pd.DataFrame(
        {
            "door": [names[one.door] for _, one in told],
            "entered": [np.nan if one.entered is None else one.entered for _, one in told],
            "left": [np.nan if one.left is None else one.left for _, one in told],
        },
        index=times,
    ).sort_index(kind="stable")
    single = all(one.single for _, one in told)
    if cumulative is None and not single:
        ways = (own[way] for _, own in records.groupby("door") for way in ("entered", "left"))
        cumulative = goes_on(ways, least=_RISES)
    return passages_of(records, cumulative=cumulative, source=source, single=not cumulative)


def _is_json(path: Path) -> bool:
    with path.open("rb") as content:
        return content.read(1) == b"{"


def _messages(text: str, source: Source) -> Iterable[Message]:
    for row, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        message = _parsed(row, line.strip())
        if message is None:
            rule = "must be a time, a topic and a payload (mosquitto_sub -F '%I %t %p'), got"
            raise source.error(f"{rule} {quoted(line.strip())}", row=row)
        yield message


def _parsed(row: int, line: str) -> Message | None:
    if line.startswith("{"):
        try:
            said = json.loads(line)
            payload = said["payload"]
            text = payload if isinstance(payload, str) else json.dumps(payload)
            return Message(row, re.sub(r"Z(?=[+-])", "", str(said["tst"])), str(said["topic"]), text)
        except (ValueError, KeyError, TypeError):
            return None
    match = _LINE.fullmatch(line)
    return match and Message(row, match["time"], match["topic"], match["payload"])


def _said(message: Message, source: Source) -> Said | None:
    """Tell what a message says of a door; None if it is about something else."""
    try:
        payload = json.loads(message.payload)
    except ValueError:
        payload = message.payload.strip()
    topic_way = next((way for part in reversed(message.topic.split("/")) if (way := direction(part))), None)
    if isinstance(payload, Mapping):
        return _object_said(message, payload, topic_way, source)
    if isinstance(payload, str):
        way = direction(payload)
        if way is None and topic_way and payload.lower() not in _SILENT:
            raise source.error(
                f"must be a number or in or out, got {quoted(payload)}", row=message.row, column="payload"
            )
        return _one(message.topic, way, 1.0, single=True) if way else None
    if isinstance(payload, bool) or not isinstance(payload, int | float):
        return None
    if topic_way is None:
        return None
    return _one(message.topic, topic_way, _people(payload, message, source), single=False)


def _object_said(
    message: Message, payload: Mapping[str, object], topic_way: str | None, source: Source
) -> Said | None:
    lower = {str(key).lower(): value for key, value in payload.items()}
    door = next((str(lower[key]) for key in _DOOR_KEYS if key in lower), message.topic)
    ways = {
        way: value for key, value in payload.items() if (way := direction(str(key))) and _is_number(value)
    }
    if ways:
        people = {way: _people(value, message, source) for way, value in ways.items()}
        return Said(door, people.get("entered"), people.get("left"), single=False)
    number = next((lower[key] for key in _NUMBER_KEYS if _is_number(lower.get(key))), 1)
    told = next((direction(str(lower[key])) for key in _WAY_KEYS if key in lower), None)
    if told:
        return _one(door, told, _people(number, message, source), single=True)
    if topic_way and any(_is_number(lower.get(key)) for key in (*_NUMBER_KEYS, "value")):
        number = next(lower[key] for key in (*_NUMBER_KEYS, "value") if _is_number(lower.get(key)))
        return _one(door, topic_way, _people(number, message, source), single=False)
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _people(value: object, message: Message, source: Source) -> float:
    assert isinstance(value, int | float)
    if not (value >= 0 and value == round(value)):
        rule = f"must be a whole number of people, 0 or more, got {value:g}"
        raise source.error(rule, row=message.row, column="payload")
    return float(value)


def _one(door: str, way: str, people: float, *, single: bool) -> Said:
    return Said(door, people if way == "entered" else None, people if way == "left" else None, single)


def _door_names(doors: list[str]) -> dict[str, str]:
    """Name doors by the parts of their topics that tell them apart, without the words for in and out."""
    parts = {
        door: [part for part in door.split("/") if not (direction(part) or set(words_of(part)) <= GENERIC)]
        for door in dict.fromkeys(doors)
    }
    distinct = {tuple(own) for own in parts.values()}
    if len(distinct) == 1:
        return {door: "/".join(own[-1:]) or door for door, own in parts.items()}
    common = set.intersection(*(set(own) for own in distinct))
    return {door: "/".join(p for p in own if p not in common) or "/".join(own) for door, own in parts.items()}
