"""Time zones by name: parse, check and convert."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pandas as pd

from occupair.errors import InputError


def parse_time_zone(timezone: str | None) -> ZoneInfo | None:
    """Look up a time zone by its name."""
    if timezone is None:
        return None
    try:
        return ZoneInfo(timezone)
    except (KeyError, ValueError, IndexError, OSError, TypeError):
        raise InputError(f"timezone must be one such as Europe/Copenhagen, got {timezone!r}") from None


def time_zone_name(times: pd.DatetimeIndex) -> str | None:
    """Name the time zone of times; None for local times, and for a zone that no name brings back.

    Examples
    --------
    >>> time_zone_name(pd.DatetimeIndex(["2024-01-08 08:00+01:00"]))
    'UTC+01:00'
    """
    name = None if times.tz is None else str(times.tz)
    return name if name is not None and is_time_zone(name) else None


def is_time_zone(name: str) -> bool:
    """Whether a name brings back a time zone."""
    try:
        pd.Timestamp(0, tz=name)
    except (KeyError, ValueError, IndexError, OSError, TypeError):
        return False
    return True


def in_time_zone(readings: pd.DataFrame, timezone: str | None) -> pd.DataFrame:
    """Show times that know their zone in another; local times stay as they are."""
    times = pd.DatetimeIndex(readings.index)
    if timezone is None or times.tz is None or str(times.tz) == timezone:
        return readings
    return readings.set_axis(times.tz_convert(timezone))
