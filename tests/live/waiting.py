"""Wait until something is so, but not for ever."""

import asyncio
import time
from collections.abc import Callable


def wait_for(met: Callable[[], object], patience: float = 40.0) -> None:
    """Wait some time [s] at the most."""
    end = time.monotonic() + patience
    while not met():
        assert time.monotonic() < end, f"it never came within {patience:g} s"
        time.sleep(0.02)


async def until(met: Callable[[], object], patience: float = 15.0) -> None:
    """Wait the same while other tasks go on."""
    end = time.monotonic() + patience
    while not met():
        assert time.monotonic() < end, f"it never came within {patience:g} s"
        await asyncio.sleep(0.005)
