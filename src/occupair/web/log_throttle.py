"""Limit on how often the same message is logged, for messages that clients can cause at will."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

LOGGED_AT_ONCE = 5
"""Repetitions of a message that are logged..."""
PERIOD = 60.0
"""...within this time [s]."""
MAX_MESSAGES = 1_000
"""Messages that are tracked; all are forgotten when there are more."""


class LogThrottle(logging.Filter):
    """Logging filter that drops repeated messages and logs their number with the next one.

    Messages are the same if the first lines of their formats are, whatever their arguments.

    Parameters
    ----------
    clock : callable
        Monotonic time [s].
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._counts: dict[str, tuple[float, int]] = {}  # by message: start of its period, number in it

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log a record."""
        key, now = str(record.msg).partition("\n")[0], self._clock()
        start, count = self._counts.get(key, (now, 0))
        dropped = 0
        if now - start >= PERIOD:
            dropped, start, count = max(0, count - LOGGED_AT_ONCE), now, 0
        if len(self._counts) >= MAX_MESSAGES:
            self._counts.clear()
        self._counts[key] = (start, count + 1)
        if dropped:
            record.msg = f"{record.getMessage()} ({dropped} more of these since the last one)"
            record.args = ()
        return count < LOGGED_AT_ONCE

    @classmethod
    def install(cls, logger: logging.Logger | str) -> None:
        """Throttle the messages of a logger, once."""
        logger = logging.getLogger(logger) if isinstance(logger, str) else logger
        if not any(isinstance(one, cls) for one in logger.filters):
            logger.addFilter(cls())
