"""Times as devices tell them: ISO text with or without a zone, seconds or milliseconds since 1970."""

from __future__ import annotations

import datetime as dt
import math

from occupair.errors import InputError
from occupair.readings.time_zones import parse_time_zone
from occupair.wording import quoted

_CLOCK_WAS_SET = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_UNITS = (1.0, 1e3, 1e6, 1e9)  # of a second
_LATEST = 1e10  # [s] since 1970: the year 2286


def parse_device_time(told: object, *, timezone: str, near: dt.datetime) -> dt.datetime | None:
    """Read a time and give it in UTC; None if the clock it came from was never set.

    Parameters
    ----------
    told : object
        Text, or a number of seconds, milli-, micro- or nanoseconds since 1970 in UTC.
    timezone : str
        Of text that does not say its own. In the hour that is shown twice when the clock is put back, the
        one is taken that is nearer to ``near``.
    near : datetime
        When it was received.

    Examples
    --------
    >>> now = dt.datetime(2024, 1, 8, 7, tzinfo=dt.UTC)
    >>> str(parse_device_time("2024-01-08T08:00:00", timezone="Europe/Copenhagen", near=now))
    '2024-01-08 07:00:00+00:00'
    >>> parse_device_time(1704697200000, timezone="UTC", near=now) == now
    True
    """
    try:
        number = float(told) if isinstance(told, str | int | float) and not isinstance(told, bool) else None
    except (ValueError, OverflowError):
        number = None
    zone = parse_time_zone(timezone) or dt.UTC
    try:
        if number is not None:
            time = _since_1970(number)
        elif isinstance(told, str) and len(told) <= 40:
            time = _written(told.strip(), zone, near)
        else:
            raise ValueError
    except (ValueError, OverflowError):
        raise InputError(f"must be a time such as 2024-03-28T08:00:00+01:00, got {_shown(told)}") from None
    return time if time >= _CLOCK_WAS_SET else None


def _shown(told: object) -> str:
    """Show what was told; lists and objects may be too deep to be shown."""
    if isinstance(told, str | int | float) or told is None:
        return quoted(told[:100] if isinstance(told, str) else told)
    return "no text and no number"


def _since_1970(number: float) -> dt.datetime:
    if not math.isfinite(number) or number < 0:
        raise ValueError
    unit = next((unit for unit in _UNITS if number < _LATEST * unit), None)
    if unit is None:
        raise ValueError
    return dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(microseconds=round(number / unit * 1e6))


def _written(text: str, zone: dt.tzinfo, near: dt.datetime) -> dt.datetime:
    time = dt.datetime.fromisoformat(text)
    if time.tzinfo is not None:
        return time.astimezone(dt.UTC)
    shown_twice = [time.replace(tzinfo=zone, fold=fold).astimezone(dt.UTC) for fold in (0, 1)]
    return min(shown_twice, key=lambda moment: abs(moment - near))
