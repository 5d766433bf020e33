"""Times as numbers: microseconds since 1970, which both databases and compact arrays keep exactly."""

from __future__ import annotations

import datetime as dt

from occupair.errors import InputError

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


def to_microseconds(time: dt.datetime) -> int:
    """Give the microseconds since 1970 of a time that knows its zone [us].

    Examples
    --------
    >>> to_microseconds(dt.datetime(1970, 1, 1, 1, 0, 0, 5, tzinfo=dt.timezone(dt.timedelta(hours=1))))
    5
    """
    if time.tzinfo is None:
        raise InputError(f"time must know its zone, got {time.isoformat()}")
    return (time - EPOCH) // _MICROSECOND


def to_time(microseconds: int) -> dt.datetime:
    """Give the time in UTC, ``microseconds`` after 1970 began.

    Examples
    --------
    >>> to_time(1_704_700_800_000_000).isoformat()
    '2024-01-08T08:00:00+00:00'
    """
    return EPOCH + dt.timedelta(microseconds=microseconds)
