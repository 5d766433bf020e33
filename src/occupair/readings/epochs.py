"""Times written as numbers since 1970, in files and by devices."""

from __future__ import annotations

TICKS_PER_SECOND = {"s": 1e0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Units of the time since 1970, the coarsest first."""

MAX_SECONDS = 1e10
"""Numbers below this are seconds since 1970: they reach the year 2286."""
