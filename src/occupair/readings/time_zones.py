"""Time zones: names and conversion."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pandas as pd

from occupair.errors import InputError


def parse_time_zone(timezone: str | None) -> ZoneInfo | None:
    """Return the time zone of a name, None for None."""
    if timezone is None:
        return None
    try:
        return ZoneInfo(timezone)
    except (KeyError, ValueError, IndexError, OSError, TypeError):
        raise InputError(
            f"timezone must be a time zone name such as Europe/Copenhagen, got {timezone!r}"
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


def is_time_zone(name: str) -> bool:
    """Whether a name identifies a time zone."""
    try:
        pd.Timestamp(0, tz=name)
    except (KeyError, ValueError, IndexError, OSError, TypeError):
        return False
    return True


def in_time_zone(readings: pd.DataFrame, timezone: str | None) -> pd.DataFrame:
    """Convert time zone aware readings to another time zone; local times are unchanged."""
    times = pd.DatetimeIndex(readings.index)
    if timezone is None or times.tz is None or str(times.tz) == timezone:
        return readings
    return readings.set_axis(times.tz_convert(timezone))
