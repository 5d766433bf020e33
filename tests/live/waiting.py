"""Waiting for a condition. The time limits only keep a failing test from hanging."""

import asyncio
import time
from collections.abc import Callable

HANG_GUARD = 600.0
"""Longer than anything takes on a slow machine [s]."""


def wait_for(is_met: Callable[[], object], limit: float = HANG_GUARD) -> None:
    """Block until a condition is met."""
    end = time.monotonic() + limit
    while not is_met():
        assert time.monotonic() < end, f"condition not met within {limit:g} s"
        time.sleep(0.02)


async def until(is_met: Callable[[], object], limit: float = HANG_GUARD) -> None:
    """Wait until a condition is met while other tasks run."""
    end = time.monotonic() + limit
    while not is_met():
        assert time.monotonic() < end, f"condition not met within {limit:g} s"
        await asyncio.sleep(0.005)
