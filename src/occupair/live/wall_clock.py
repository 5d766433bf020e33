"""The system clock, and the latest time it has shown, for a clock that is set back while readings arrive."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable

CLOCK_STEP = dt.timedelta(seconds=5)
"""A time of arrival that is further behind the one before means that the system clock was set back."""
MAX_STEP_BACK = dt.timedelta(days=1)
"""If the clock is set back by more than this, it was wrong before."""


def utc_now() -> dt.datetime:
    """Return the time of the system clock, in UTC."""
    return dt.datetime.now(dt.UTC)


def elapsed() -> float:
    """Return the time since some moment [s]; unlike the system clock, it cannot be set."""
    return time.monotonic()


class LatestTime:
    """The latest time that a clock has shown, advanced by the time elapsed since.

    A reading ahead of the clock is rejected as one with a wrong time. If the clock itself was set back, by up
    to ``MAX_STEP_BACK``, readings with the right time are ahead of it and must not be lost.

    Parameters
    ----------
    clock : callable
        Returns the current time in UTC.

    Examples
    --------
    >>> times = [dt.datetime(2024, 1, 8, hour, tzinfo=dt.UTC) for hour in (12, 11)]
    >>> latest = LatestTime(iter(times).__next__)
    >>> latest.now().hour, latest.now().hour
    (12, 12)
    """

    def __init__(self, clock: Callable[[], dt.datetime]) -> None:
        self._clock = clock
        self._latest, self._elapsed = dt.datetime.min.replace(tzinfo=dt.UTC), elapsed()
        self._behind: dt.timedelta | None = None  # clock less time elapsed, if it was set back

    def add_stored(self, time: dt.datetime) -> None:
        """Take into account, after a restart, that the clock has shown a time before."""
        now = self._clock()
        if now < time <= now + MAX_STEP_BACK:
            self._behind = self._offset(now)

    def now(self) -> dt.datetime:
        """Return the latest time that it may be now.

        If the clock was set back before a restart, the time since then is unknown, up to ``MAX_STEP_BACK``,
        until the clock is set forward again.
        """
        now, at = self._clock(), elapsed()
        latest = self._latest + dt.timedelta(seconds=at - self._elapsed)
        self._latest, self._elapsed = (latest if now < latest <= now + MAX_STEP_BACK else now), at
        if self._behind is not None and self._offset(now) - self._behind > CLOCK_STEP:
            self._behind = None
        return self._latest if self._behind is None else now + MAX_STEP_BACK

    @staticmethod
    def _offset(now: dt.datetime) -> dt.timedelta:
        return now - dt.datetime.min.replace(tzinfo=dt.UTC) - dt.timedelta(seconds=elapsed())
