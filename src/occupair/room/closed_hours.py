"""Closed hours of a room: times of day at which the room is empty."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from occupair.errors import InputError
from occupair.room.open_hours import Minutes
from occupair.wording import quoted

_PERIOD = re.compile(r"(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)")


def parse_closed(closed: Any) -> Minutes | None:
    """Return the minutes of the day at which the room is closed; None: they are not given.

    Parameters
    ----------
    closed : None, str or sequence of str
        None, a period such as ``"22:00-06:00"``, several of them, or a pair of times of day. An empty
        sequence means that the room has no closed hours.

    Examples
    --------
    >>> np.flatnonzero(parse_closed("12:00-12:03")).tolist()
    [720, 721, 722]
    >>> int(parse_closed(("22:00", "06:00")).sum()), parse_closed(()).any()
    (480, np.False_)
    """
    return None if closed is None else parse_periods(closed, name="closed")


def parse_periods(value: Any, *, name: str) -> Minutes:
    """Return the minutes of the day that are in periods, written as for ``parse_closed``.

    ``name`` is that of the setting, for error messages.

    Examples
    --------
    >>> parse_periods("8 to 18", name="hours")
    Traceback (most recent call last):
    ...
    occupair.errors.InputError: hours must be a period of the day such as '22:00-06:00', got '8 to 18'
    """
    periods = [value] if isinstance(value, str) else value
    if not isinstance(periods, list | tuple) or not all(isinstance(one, str) for one in periods):
        raise _not_a_period(value, name)
    if len(periods) == 2 and not any("-" in one for one in periods):
        periods = ["-".join(periods)]
    minutes = np.zeros(1440, dtype=bool)
    for period in periods:
        first, last = _ends(period, name)
        minutes |= np.roll(np.arange(1440) < ((last - first) % 1440 or 1440), first)
    return minutes


def _ends(period: str, name: str) -> tuple[int, int]:
    """Return the first minute of a period, and the first after it, since midnight [min]."""
    match = _PERIOD.fullmatch(period.strip())
    if match is None:
        raise _not_a_period(period, name)
    hours, minutes = [int(one) for one in match.groups()[::2]], [int(one) for one in match.groups()[1::2]]
    first, last = (60 * hour + minute for hour, minute in zip(hours, minutes, strict=True))
    if max(minutes) > 59 or first >= 1440 or last > 1440 or first == last:
        raise _not_a_period(period, name)
    return first, last


def _not_a_period(value: Any, name: str) -> InputError:
    return InputError(f"{name} must be a period of the day such as '22:00-06:00', got {quoted(value)}")
