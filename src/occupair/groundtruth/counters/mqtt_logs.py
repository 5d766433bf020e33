"""Read MQTT logs of door counters, as written by ``mosquitto_sub -F '%I %t %p'`` (or ``%U``, or ``%j``).

A message is about a door if its topic or payload contains a direction: ``building/north/in 1``, a JSON
object with ``in`` and ``out`` or with a ``direction``, or a bare ``in``. The door is the rest of the topic,
or ``door`` in the payload. Other topics, such as battery levels, are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from occupair.errors import plain_line
from occupair.groundtruth.counters.counter_records import is_cumulative, is_regular, passages_from_records
from occupair.groundtruth.counters.direction_vocabulary import GENERIC, direction, split_words
from occupair.groundtruth.passages import minutes_of
from occupair.readings.number_column import MISSING
from occupair.readings.raw_table import decode
from occupair.readings.source import Source
from occupair.readings.time_column import localize, parse_times
from occupair.readings.time_zones import parse_time_zone
from occupair.wording import quoted

_STAMP = r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\S*|\d{9,10}(?:\.\d+)?|\d{13})"
_LINE = re.compile(rf"{_STAMP}\s+(?P<topic>[^\s,;]+)\s+(?P<payload>\S.*)")
_STATUS = MISSING | {"online", "offline", "on", "off", "ok"}
_DOOR_KEYS = ("door", "device", "sensor", "location", "name", "id")
_DIRECTION_KEYS = ("direction", "dir", "event", "type", "action", "movement", "way")
_NUMBER_KEYS = ("count", "number", "people", "n", "persons")
_MIN_INTERVAL = 120  # of messages from which their counts are spread over the time since the previous one [s]
_MOST_PEOPLE = 10**12  # in one message, which may be a running total
_MIN_RISES = 3  # of bare numbers at all doors, from which they may be running totals


class Message(NamedTuple):
    """One line of a log."""

    row: int
    time: str
    topic: str
    payload: str


class DoorCount(NamedTuple):
    """Content of a message: people at a door [None if not given], and whether it is a single passage."""

    door: str
    entered: float | None
    left: float | None
    single: bool


def is_mqtt_log(path: Path) -> bool:
    """Whether the first line of a file is an MQTT message with its time."""
    with path.open("rb") as content:
        start = content.read(4000).decode("utf-8", errors="replace")
    return _parse_line(0, start.lstrip("\ufeff\n\r ").split("\n", 1)[0].strip()) is not None


def read_mqtt_log(
    path: Path | str, *, timezone: str | None = None, cumulative: bool | None = None
) -> pd.DataFrame:
    r"""Read passages from an MQTT log; for the parameters see ``read_passages``.

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
        _read_json_lines(Path(path), source)
        if _is_json(Path(path))
        else decode(Path(path).read_bytes(), source)
    )
    parsed = [(message, _parse_message(message, source)) for message in _messages(text, source)]
    counts = [(message, count) for message, count in parsed if count is not None]
    if not counts:
        raise source.error("contains no message with a direction (in or out) in its topic or payload")
    names = _door_names([count.door for _, count in counts])
    rows = np.array([message.row for message, _ in counts])
    stamps = pd.Series([plain_line(message.time) for message, _ in counts], name="time", dtype=str)
    zone = parse_time_zone(timezone)
    times = parse_times(stamps, zone=zone, source=source, row_numbers=rows)
    times = localize(times, zone, column="time", source=source, row_numbers=rows)
    records = pd.DataFrame(
        {
            "door": [plain_line(names[count.door]) for _, count in counts],
            "entered": [np.nan if count.entered is None else count.entered for _, count in counts],
            "left": [np.nan if count.left is None else count.left for _, count in counts],
        },
        index=times,
    ).sort_index(kind="stable")
    single = all(count.single for _, count in counts)
    if cumulative is None and not single:
        series = (own[name] for _, own in records.groupby("door") for name in ("entered", "left"))
        cumulative = is_cumulative(series, min_rises=_MIN_RISES)
    if not single and not cumulative:
        intervals = [_by_interval(own) for _, own in records.groupby("door")]
        if all(own is not None for own in intervals):
            return passages_from_records(pd.concat(intervals), cumulative=False, source=source)
    return passages_from_records(records, cumulative=cumulative, source=source, single=not cumulative)


def _by_interval(own: pd.DataFrame) -> pd.DataFrame | None:
    """Return the counts of a door at the start of their intervals; None if they are not sent regularly.

    A counter that sends every 5 minutes reports the passages since its previous message.
    """
    counts = own[["entered", "left"]].groupby(minutes_of(pd.DatetimeIndex(own.index))).sum()
    steps = np.diff(pd.DatetimeIndex(counts.index).as_unit("s").asi8)
    if not is_regular(pd.DatetimeIndex(counts.index)) or np.median(steps) < _MIN_INTERVAL:
        return None
    length = int(np.median(steps))
    seconds = pd.DatetimeIndex(counts.index).as_unit("s").asi8
    start = np.round((seconds - seconds[0]) / length).astype(np.int64) * length + seconds[0] - length
    times = pd.DatetimeIndex(start.view("datetime64[s]"))
    zone = pd.DatetimeIndex(own.index).tz
    times = times if zone is None else times.tz_localize("UTC").tz_convert(zone)
    return counts.groupby(times).sum().assign(door=own["door"].iloc[0])


def _read_json_lines(path: Path, source: Source) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise source.error("must be UTF-8 text") from None


def _is_json(path: Path) -> bool:
    with path.open("rb") as content:
        return content.read(1) == b"{"


def _messages(text: str, source: Source) -> Iterable[Message]:
    for row, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        message = _parse_line(row, line.strip())
        if message is None:
            rule = "must be a time, a topic and a payload (mosquitto_sub -F '%I %t %p'), got"
            raise source.error(f"{rule} {quoted(line.strip())}", row=row)
        yield message


def _parse_line(row: int, line: str) -> Message | None:
    if line.startswith("{"):
        try:
            fields = json.loads(line)
            payload = fields["payload"]
            text = payload if isinstance(payload, str) else json.dumps(payload)
            return Message(row, re.sub(r"Z(?=[+-])", "", str(fields["tst"])), str(fields["topic"]), text)
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
    match = _LINE.fullmatch(line)
    return match and Message(row, match["time"], match["topic"], match["payload"])


def _parse_message(message: Message, source: Source) -> DoorCount | None:
    """Parse the count in a message; None if it is about something else."""
    try:
        payload = json.loads(message.payload)
    except (ValueError, RecursionError):
        payload = message.payload.strip()
    topic_direction = next(
        (found for level in reversed(message.topic.split("/")) if (found := direction(level))), None
    )
    if isinstance(payload, Mapping):
        return _parse_object(message, payload, topic_direction, source)
    if isinstance(payload, str):
        found = direction(payload)
        if found is None and topic_direction and payload.lower() not in _STATUS:
            raise source.error(
                f"must be a number, in or out, got {quoted(payload)}", row=message.row, column="payload"
            )
        return _one_direction(message.topic, found, 1.0, single=True) if found else None
    if isinstance(payload, bool) or not isinstance(payload, int | float):
        return None
    if topic_direction is None:
        return None
    people = _check_people(payload, message, source)
    return _one_direction(message.topic, topic_direction, people, single=False)


def _parse_object(
    message: Message, payload: Mapping[str, object], topic_direction: str | None, source: Source
) -> DoorCount | None:
    lower = {str(key).lower(): value for key, value in payload.items()}
    door = next((str(lower[key]) for key in _DOOR_KEYS if key in lower), message.topic)
    numbers = {
        found: value for key, value in payload.items() if (found := direction(str(key))) and _is_number(value)
    }
    if numbers:
        people = {found: _check_people(value, message, source) for found, value in numbers.items()}
        return DoorCount(door, people.get("entered"), people.get("left"), single=False)
    number = next((lower[key] for key in _NUMBER_KEYS if _is_number(lower.get(key))), 1)
    named = next((direction(str(lower[key])) for key in _DIRECTION_KEYS if key in lower), None)
    if named:
        return _one_direction(door, named, _check_people(number, message, source), single=True)
    if topic_direction and any(_is_number(lower.get(key)) for key in (*_NUMBER_KEYS, "value")):
        number = next(lower[key] for key in (*_NUMBER_KEYS, "value") if _is_number(lower.get(key)))
        return _one_direction(door, topic_direction, _check_people(number, message, source), single=False)
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_people(value: object, message: Message, source: Source) -> float:
    assert isinstance(value, int | float)
    if not (0 <= value <= _MOST_PEOPLE and value == round(value)):
        rule = f"must be an integer from 0 to {_MOST_PEOPLE}, got {quoted(value)}"
        raise source.error(rule, row=message.row, column="payload")
    return float(value)


def _one_direction(door: str, meaning: str, people: float, *, single: bool) -> DoorCount:
    entered, left = (people, None) if meaning == "entered" else (None, people)
    return DoorCount(door, entered, left, single)


def _door_names(doors: list[str]) -> dict[str, str]:
    """Name doors by the topic levels that distinguish them, without words for directions."""
    levels = {
        door: [
            level for level in door.split("/") if not (direction(level) or set(split_words(level)) <= GENERIC)
        ]
        for door in dict.fromkeys(doors)
    }
    distinct = {tuple(own) for own in levels.values()}
    if len(distinct) == 1:
        return {door: "/".join(own[-1:]) or door or "door" for door, own in levels.items()}
    common = set.intersection(*(set(own) for own in distinct))
    return {
        door: "/".join(level for level in own if level not in common) or "/".join(own) or door or "door"
        for door, own in levels.items()
    }
