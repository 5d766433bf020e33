"""Time zones: names and conversion."""

from __future__ import annotations

import datetime as dt
import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pandas as pd

from occupair.errors import InputError
from occupair.wording import quoted

ABBREVIATIONS = {
    "z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 60, "cet": 60, "cest": 120, "mez": 60, "mesz": 120,
    "eet": 120, "eest": 180, "sgt": 480, "hkt": 480, "jst": 540, "est": -300, "edt": -240, "cdt": -300,
    "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
}  # fmt: skip
"""UTC offsets [min] of unambiguous abbreviations; CST, IST and BST are ambiguous."""

STATED_OFFSET = re.compile(r"(?:utc|gmt) *[+-] *\d{1,2}(?::?\d{2})?|[+-]\d{1,2}:\d{2}", re.IGNORECASE)
"""A UTC offset in a column name, such as ``GMT+08:00``."""


def parse_time_zone(timezone: str | None) -> ZoneInfo | None:
    """Return the time zone of a name, None for None."""
    if timezone is None:
        return None
    try:
        return ZoneInfo(timezone)
    except (KeyError, ValueError, IndexError, OSError, TypeError):
        raise InputError(
            f"timezone must be a time zone name such as Europe/Copenhagen, got {quoted(timezone)}"
        ) from None


def time_zone_name(times: pd.DatetimeIndex) -> str | None:
    """Return the name of the time zone, None for local times and for a zone without a usable name.

    Examples
    --------
    >>> time_zone_name(pd.DatetimeIndex(["2024-01-08 08:00+01:00"]))
    'UTC+01:00'
    """
    name = None if times.tz is None else str(times.tz)
    return name if name is not None and is_time_zone(name) else None


def is_utc(times: pd.DatetimeIndex) -> bool:
    """Whether times are in UTC, which is rarely the time zone of a room.

    Examples
    --------
    >>> is_utc(pd.DatetimeIndex(["2024-01-08 08:00Z"])), is_utc(pd.DatetimeIndex(["2024-01-08 08:00"]))
    (True, False)
    """
    return str(times.tz) in ("UTC", "Etc/UTC")


def zoned_name(name: str, times: pd.DatetimeIndex) -> str:
    """Return a column name with the time zone of its times, which UTC offsets do not identify.

    Examples
    --------
    >>> zoned_name("time", pd.date_range("2024-01-08", periods=1, tz="Europe/Copenhagen"))
    'time [Europe/Copenhagen]'
    """
    zone = time_zone_name(times)
    stated = f"{name} [{zone}]"
    return name if zone_in_name(stated) is None else stated


def zone_in_name(name: str) -> ZoneInfo | None:
    """Return the time zone that a column name states, None if there is none.

    Examples
    --------
    >>> zone_in_name("time [Europe/Copenhagen]"), zone_in_name("time [UTC]"), zone_in_name("Time (local)")
    (zoneinfo.ZoneInfo(key='Europe/Copenhagen'), None, None)
    """
    stated = re.search(r"\[(\w+/[\w/+-]+)\]$", name)  # a region, unlike UTC or CET
    return ZoneInfo(stated[1]) if stated is not None and is_time_zone(stated[1]) else None


def offset_in_name(name: str) -> int | None:
    """Return the UTC offset that a column name states for all its times [min], None if there is none.

    Examples
    --------
    >>> [offset_in_name(name) for name in ("Date Time, GMT+08:00", "Date-Time (EDT)", "time (UTC)", "Time")]
    [480, -240, 0, None]

    Two abbreviations mean daylight saving time, so the times are local; in lower case it is a word:

    >>> offset_in_name("Date-Time (EST/EDT)"), offset_in_name("Time, west wing")
    (None, None)
    """
    if zone_in_name(name) is not None:
        return None
    name = name.replace("\N{MINUS SIGN}", "-")
    offsets = {parse_offset(stated.lower()) for stated in STATED_OFFSET.findall(name)}
    words = re.findall(r"[^\W\d_]{2,}", STATED_OFFSET.sub(" ", name))
    stated = {word.lower() for word in words if word.isupper() or word.lower() in ("utc", "gmt")}
    offsets |= {ABBREVIATIONS[word] for word in stated & set(ABBREVIATIONS)}
    return offsets.pop() if len(offsets) == 1 else None


def parse_offset(text: str) -> int | None:
    """Parse a UTC offset or an abbreviation in lower case [min]; None if it is unknown.

    Examples
    --------
    >>> parse_offset("gmt +08:00"), parse_offset("-0330"), parse_offset("edt"), parse_offset("utc+25")
    (480, -210, -240, None)
    """
    match = re.fullmatch(r"(?:utc|gmt)?([+-])(\d{1,2}):?(\d{2})?", text.replace(" ", ""))
    if not match:
        return ABBREVIATIONS.get(text)
    minutes = int(match[2]) * 60 + int(match[3] or 0)
    return None if minutes > 14 * 60 else minutes if match[1] == "+" else -minutes


def is_time_zone(name: str) -> bool:
    """Whether a name identifies a time zone."""
    try:
        pd.Timestamp(0, tz=name)
    except (KeyError, ValueError, IndexError, OSError, TypeError):
        return False
    return True


def time_zone_of(name: str) -> dt.tzinfo:
    """Return the time zone that ``time_zone_name`` names, such as ``"UTC+01:00"``.

    A named zone is a ``ZoneInfo``. pandas before version 3 would return a zone of pytz, which must not be
    combined with ``datetime``.
    """
    if name == "UTC":
        return dt.UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        zone = pd.Timestamp(0, tz=name).tzinfo
    assert zone is not None
    return zone


def standard_zone(zone: dt.tzinfo) -> dt.tzinfo:
    """Return the same time zone as an object of the standard library, if it has one.

    Examples
    --------
    >>> standard_zone(pd.Timestamp("2024-01-08", tz="Europe/Copenhagen").tz)
    zoneinfo.ZoneInfo(key='Europe/Copenhagen')
    """
    if is_time_zone(str(zone)):
        return time_zone_of(str(zone))
    offset = zone.utcoffset(None)
    return zone if offset is None else dt.timezone(offset)


def check_zone_stated(time: dt.datetime, timezone: str | None, *, what: str) -> None:
    """Raise InputError for a time in UTC if the model was trained on local times, whose zone is unknown.

    Examples
    --------
    >>> check_zone_stated(dt.datetime(2024, 1, 8, tzinfo=dt.UTC), None, what="readings")
    Traceback (most recent call last):
    occupair.errors.InputError: readings: times are in UTC, but the model was trained on local times: convert
    them to the time zone of the room (--timezone; in Python, tz_convert), got 2024-01-08 00:00:00+00:00
    """
    if timezone is None and time.tzname() == "UTC":
        advice = "convert them to the time zone of the room (--timezone; in Python, tz_convert)"
        rule = "times are in UTC, but the model was trained on local times"
        raise InputError(f"{what}: {rule}: {advice}, got {time}")


def in_time_zone(readings: pd.DataFrame, timezone: str | None) -> pd.DataFrame:
    """Convert time zone aware readings to another time zone; local times are unchanged."""
    times = pd.DatetimeIndex(readings.index)
    if timezone is None or times.tz is None or str(times.tz) == timezone:
        return readings
    return readings.set_axis(times.tz_convert(time_zone_of(timezone)))
