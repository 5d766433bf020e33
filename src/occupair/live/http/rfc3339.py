"""Times in requests and responses: RFC 3339."""

from __future__ import annotations

import datetime as dt
import re

from occupair.errors import InputError
from occupair.web.errors import describe_value

_FORMAT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[Tt ](?P<minute>\d\d:\d\d)(:(?P<second>\d\d)(?P<fraction>\.\d+)?)?"
    r"(?P<zone>[Zz]|[+-]\d\d:\d\d)?",
    re.ASCII,
)
_UNESCAPED_PLUS = re.compile(r" (\d\d:\d\d)$", re.ASCII)
FIRST = dt.datetime.min.replace(tzinfo=dt.UTC)
LAST = dt.datetime.max.replace(tzinfo=dt.UTC)


def parse_time(text: object, zone: dt.tzinfo, *, near: dt.datetime = FIRST) -> dt.datetime:
    """Parse an RFC 3339 time and return it in UTC.

    Parameters
    ----------
    text : object
        Must be a string in RFC 3339 format; seconds may be omitted. A leap second becomes the next second.
    zone : tzinfo
        Time zone of a time without an offset.
    near : datetime, optional
        When clocks are set back, a local time occurs twice: the one nearer to this time is returned, by
        default the first.

    Raises
    ------
    InputError
        ``must be a time such as 2026-03-02T09:00:00Z, got '9 am'``; the caller prepends the name.

    Examples
    --------
    >>> parse_time("2026-03-02T09:00:00+01:00", dt.UTC)
    datetime.datetime(2026, 3, 2, 8, 0, tzinfo=datetime.timezone.utc)
    """
    match = _FORMAT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise _format_error(text)
    second, fraction = match["second"] or "00", (match["fraction"] or "")[:7].ljust(2, "0")
    leap = dt.timedelta(seconds=1) if second == "60" else dt.timedelta()
    iso = (
        f"{match['day']}T{match['minute']}:{'59' if leap else second}{fraction if len(fraction) > 2 else ''}"
    )
    try:
        time = dt.datetime.fromisoformat(iso + (match["zone"] or "").upper())
    except ValueError:
        raise _format_error(text) from None
    if time.tzinfo is not None:
        return _to_utc(time, leap)
    candidates = [_to_utc(time.replace(tzinfo=zone, fold=fold), leap) for fold in (0, 1)]
    return min(candidates, key=lambda candidate: abs(candidate - near))


def parse_query_time(name: str, text: str, zone: dt.tzinfo, *, near: dt.datetime = FIRST) -> dt.datetime:
    """Parse a time in a query string, where an unescaped + arrives as a space."""
    try:
        return parse_time(_UNESCAPED_PLUS.sub(r"+\1", text), zone, near=near)
    except InputError as error:
        raise InputError(f"{name} {error}") from None


def format_time(time: dt.datetime) -> str:
    """Format a time as RFC 3339 in UTC.

    Examples
    --------
    >>> format_time(dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC))
    '2026-03-02T09:00:00Z'
    """
    return time.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"


def _to_utc(time: dt.datetime, leap: dt.timedelta) -> dt.datetime:
    """Convert to UTC; a time outside the years 1 to 9999 becomes the first or last that UTC has."""
    try:
        return time.astimezone(dt.UTC) + leap
    except OverflowError:
        return FIRST if time.year == 1 else LAST


def _format_error(got: object) -> InputError:
    return InputError(f"must be a time such as 2026-03-02T09:00:00Z, got {describe_value(got)}")
