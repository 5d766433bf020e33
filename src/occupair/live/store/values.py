"""Values as a store keeps them: times as microseconds, the unknown as NULL, text that both take."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

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


def to_number(value: float | None) -> float | None:
    """Give a number, or None for what is not known, NaN included."""
    return None if value is None or value != value else float(value)


def check_texts(name: str, texts: Iterable[str]) -> None:
    r"""Refuse text that PostgreSQL cannot keep.

    Examples
    --------
    >>> check_texts("room", ["lab", "kitchen\0"])
    Traceback (most recent call last):
        ...
    occupair.errors.InputError: room must be text of real characters, got 'kitchen\x00'
    """
    for text in texts:
        try:
            text.encode()
            real = "\0" not in text
        except UnicodeEncodeError:
            real = False
        if not real:
            raise InputError(f"{name} must be text of real characters, got {text!r}")
