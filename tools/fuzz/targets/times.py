"""Times in requests, device payloads, files and file names."""

from __future__ import annotations

import datetime as dt
from random import Random
from zoneinfo import ZoneInfo

from occupair.errors import InputError
from occupair.live.http.rfc3339 import format_time, parse_query_time, parse_time
from occupair.live.mqtt.device_times import parse_device_time
from occupair.readings.time_strings import (
    date_order,
    parse_date,
    parse_time_of_day,
    split_stamp,
    time_string_kind,
)
from occupair.room.closed_hours import parse_closed
from tools.fuzz.byte_mutations import mutate_bytes
from tools.fuzz.interesting import NUMBERS, TIMES
from tools.fuzz.trial import check

_NOW = dt.datetime(2026, 3, 2, 8, 0, 2, tzinfo=dt.UTC)
_ZONES = ("UTC", "Europe/Copenhagen", "America/New_York")
_WORDS = tuple(
    word.encode()
    for word in (
        "T",
        "Z",
        "+14:00",
        "-23:59",
        ":60",
        ".5",
        " PM",
        " AM",
        "/",
        "0001",
        "9999",
        "24",
        "-",
        "22:00-06:00",
    )
)


def generate(random: Random) -> bytes:
    chance = random.random()
    if chance < 0.15:
        return random.choice(NUMBERS).encode()
    if chance < 0.3:
        time = dt.datetime(1, 1, 1) + dt.timedelta(seconds=random.random() * 315537897599)
        return mutate_bytes(time.isoformat().encode(), random, _WORDS)
    return mutate_bytes(random.choice(TIMES).encode(), random, _WORDS)


def run(data: bytes) -> None:
    """Parse a time in all ways; it is accepted if any of them accepts it."""
    text = data.decode("utf-8", "surrogateescape")
    zone = _ZONES[len(data) % len(_ZONES)]
    errors: list[InputError] = []
    for parse in (
        lambda: _utc(parse_time(text, ZoneInfo(zone), near=_NOW)),
        lambda: _utc(parse_query_time("since", text, ZoneInfo(zone))),
        lambda: _utc(parse_device_time(text, timezone=zone, received=_NOW)),
        lambda: parse_closed(text),
    ):
        try:
            parse()
        except InputError as error:
            errors.append(error)
    for first in ("year", "month", "day"):
        check(isinstance(parse_date(text, first), dt.date | None), "must be a date or None")
    parse_time_of_day(text)
    time_string_kind(text)
    date_order([split_stamp(text)[0], "2024-01-08"])
    if len(errors) == 4:
        raise errors[len(data) % 4]


def _utc(time: dt.datetime | None) -> None:
    if time is not None:
        check(time.utcoffset() == dt.timedelta(0), "time must be in UTC")
        check(
            parse_time(format_time(time), dt.UTC) == time, "time must be the same after writing and reading"
        )
