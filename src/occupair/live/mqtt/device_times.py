"""Times in device payloads: ISO 8601 with or without an offset, or seconds to nanoseconds since 1970."""

from __future__ import annotations

import datetime as dt
import math

from occupair.errors import InputError
from occupair.live.messages import FIRST_YEAR
from occupair.readings.epochs import MAX_SECONDS, TICKS_PER_SECOND
from occupair.readings.time_zones import parse_time_zone
from occupair.wording import quoted

_MAX_LENGTH = 40  # characters


def parse_device_time(value: object, *, timezone: str, received: dt.datetime) -> dt.datetime | None:
    """Parse a device time and return it in UTC, or None if the clock of the device was never set.

    Parameters
    ----------
    value : object
        ISO 8601 string, or seconds, milliseconds, microseconds or nanoseconds since 1970 in UTC.
    timezone : str
        Time zone of strings without an offset. In the hour that is repeated at the end of daylight saving
        time, the time closer to ``received`` is used.
    received : datetime
        Time of arrival.

    Examples
    --------
    >>> now = dt.datetime(2024, 1, 8, 7, tzinfo=dt.UTC)
    >>> str(parse_device_time("2024-01-08T08:00:00", timezone="Europe/Copenhagen", received=now))
    '2024-01-08 07:00:00+00:00'
    >>> parse_device_time(1704697200000, timezone="UTC", received=now) == now
    True
    """
    zone = parse_time_zone(timezone) or dt.UTC
    try:
        if (number := _parse_number(value)) is not None:
            time = _from_epoch(number)
        elif isinstance(value, str) and len(value) <= _MAX_LENGTH:
            time = _from_iso(value.strip(), zone, received)
        else:
            raise ValueError
    except (ValueError, OverflowError):
        raise InputError(f"must be a time such as 2024-03-28T08:00:00+01:00, got {_show(value)}") from None
    return time if time.year >= FIRST_YEAR else None


def _parse_number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None


def _from_epoch(number: float) -> dt.datetime:
    if not math.isfinite(number) or number < 0:
        raise ValueError
    ticks = next((ticks for ticks in TICKS_PER_SECOND.values() if number < MAX_SECONDS * ticks), None)
    if ticks is None:
        raise ValueError
    return dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=round(number / ticks * 1e6))


def _from_iso(text: str, zone: dt.tzinfo, received: dt.datetime) -> dt.datetime:
    time = dt.datetime.fromisoformat(text)
    if time.tzinfo is not None:
        return time.astimezone(dt.UTC)
    candidates = [time.replace(tzinfo=zone, fold=fold).astimezone(dt.UTC) for fold in (0, 1)]
    return min(candidates, key=lambda candidate: abs(candidate - received))


def _show(value: object) -> str:
    """Format a value for an error message; lists and objects may be nested too deeply to be formatted."""
    if isinstance(value, str | int | float) or value is None:
        return quoted(value[:100] if isinstance(value, str) else value)
    return "neither a string nor a number"
