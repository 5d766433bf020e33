"""Times as they are sent: RFC 3339."""

from __future__ import annotations

import datetime as dt
import re

from occupair.errors import InputError
from occupair.web.errors import describe_value

_SHAPE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[Tt ](?P<minute>\d\d:\d\d)(:(?P<second>\d\d)(?P<part>\.\d+)?)?"
    r"(?P<zone>[Zz]|[+-]\d\d:\d\d)?",
    re.ASCII,
)
_LOST_PLUS = re.compile(r" (\d\d:\d\d)$", re.ASCII)
FIRST = dt.datetime.min.replace(tzinfo=dt.UTC)
LAST = dt.datetime.max.replace(tzinfo=dt.UTC)


def parse_rfc3339(text: object, zone: dt.tzinfo, *, near: dt.datetime = FIRST) -> dt.datetime:
    """Read a time and give it in UTC.

    Parameters
    ----------
    text : object
        Must be a text of RFC 3339; seconds may be left out. A leap second is the second after it.
    zone : tzinfo
        Of a time that names none.
    near : datetime, optional
        Where clocks go back, of two such times the nearer to this one is meant; otherwise the first.

    Raises
    ------
    InputError
        ``must be a time such as 2026-03-02T09:00:00Z, got '9 am'``; the name is the caller's to put before.

    Examples
    --------
    >>> parse_rfc3339("2026-03-02T09:00:00+01:00", dt.UTC)
    datetime.datetime(2026, 3, 2, 8, 0, tzinfo=datetime.timezone.utc)
    """
    shape = _SHAPE.fullmatch(text) if isinstance(text, str) else None
    if shape is None:
        raise _no_time(text)
    second, part = shape["second"] or "00", (shape["part"] or "")[:7].ljust(2, "0")
    leap = dt.timedelta(seconds=1) if second == "60" else dt.timedelta()
    said = f"{shape['day']}T{shape['minute']}:{'59' if leap else second}{part if len(part) > 2 else ''}"
    try:
        when = dt.datetime.fromisoformat(said + (shape["zone"] or "").upper())
    except ValueError:
        raise _no_time(text) from None
    if when.tzinfo is not None:
        return _in_utc(when, leap)
    both = [_in_utc(when.replace(tzinfo=zone, fold=fold), leap) for fold in (0, 1)]
    return min(both, key=lambda one: abs(one - near))


def parse_query_time(name: str, text: str, zone: dt.tzinfo, *, near: dt.datetime = FIRST) -> dt.datetime:
    """Read a time of an address, where a + that was not escaped came as a space."""
    try:
        return parse_rfc3339(_LOST_PLUS.sub(r"+\1", text), zone, near=near)
    except InputError as problem:
        raise InputError(f"{name} {problem}") from None


def write_time(time: dt.datetime) -> str:
    """Write a time as RFC 3339 in UTC.

    Examples
    --------
    >>> write_time(dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC))
    '2026-03-02T09:00:00Z'
    """
    return time.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"


def _in_utc(when: dt.datetime, leap: dt.timedelta) -> dt.datetime:
    """Put a time in UTC; one that UTC has no year for is the first or last that it has."""
    try:
        return when.astimezone(dt.UTC) + leap
    except OverflowError:
        return FIRST if when.year == 1 else LAST


def _no_time(got: object) -> InputError:
    return InputError(f"must be a time such as 2026-03-02T09:00:00Z, got {describe_value(got)}")
