"""Checks of the times of readings: in the future, far from the others, too far apart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from occupair.checks.fault import Fault
from occupair.checks.prepared_readings import DAY, Mask, interval_minutes, spans_of, times_of
from occupair.wording import plural

STRAY_GAP = pd.Timedelta(days=365)
"""Time from the other readings at which a few are stray; longer than any holiday or repair."""
STRAY_SHARE = 0.01
"""Share of the readings up to which a part of a file is stray rather than another measurement."""
SLOWEST = 15.0
"""Longest interval without a finding [min], usual in BMS trends; a meeting may last half an hour."""


def check_dates(readings: pd.DataFrame, *, now: pd.Timestamp | None = None) -> list[Fault]:
    """Find readings that are far from the others or after ``now`` (UTC)."""
    stray = _stray(times_of(readings))
    now = pd.Timestamp.now("UTC").tz_localize(None) if now is None else now
    future = np.asarray(times_of(readings) > now + DAY) & ~stray  # a day, as local times may be ahead of UTC
    return [*_stray_fault(readings, stray), *_future_fault(readings, future)]


def check_interval(readings: pd.DataFrame) -> list[Fault]:
    """Find readings that are too far apart to follow people."""
    interval = interval_minutes(readings)
    if interval <= SLOWEST:
        return []
    finding = (
        f"Readings are {interval:g} min apart: shorter visits are missed, and a live estimate is up to "
        f"{interval:g} min old."
    )
    fix = "Log CO2 and head counts every 5 min or more often."
    return [Fault("slow_readings", "doubtful", finding, details={"interval": interval}, fix=fix)]


def _stray(times: pd.DatetimeIndex) -> Mask:
    """Whether each reading belongs to a small part of the file that is far from all others."""
    part = np.concatenate(([0], np.cumsum(np.diff(times) > STRAY_GAP)))
    sizes = np.bincount(part)
    return np.asarray((sizes < sizes.max()) & (sizes <= max(1, STRAY_SHARE * len(times))))[part]


def _stray_fault(readings: pd.DataFrame, stray: Mask) -> list[Fault]:
    if not stray.any():
        return []
    rest, spans = times_of(readings)[~stray], spans_of(readings, stray)
    years = max(
        (rest[0] - start if start < rest[0] else start - rest[-1]) / pd.Timedelta(days=365.25)
        for start, _ in spans
    )
    count = "1 reading is" if stray.sum() == 1 else f"{int(stray.sum())} readings are up to"
    others = f"which are from {rest[0]:%Y-%m-%d} to {rest[-1]:%Y-%m-%d}"
    finding = f"{count} {years:.0f} years from all others, {others} (first {spans[0][0]:%Y-%m-%d %H:%M})."
    details = {"readings": int(stray.sum()), "years": float(years), "spans": spans}
    fix = "Delete these rows, or correct their times."
    return [Fault("stray_times", "wrong", finding, spans[0][0], spans[-1][1], details, fix)]


def _future_fault(readings: pd.DataFrame, future: Mask) -> list[Fault]:
    if not future.any():
        return []
    spans = spans_of(readings, future)
    count = plural(int(future.sum()), "reading") if not future.all() else f"All {future.size} readings"
    are = "is" if future.sum() == 1 else "are"
    finding = f"{count} {are} in the future, up to {spans[-1][1]:%Y-%m-%d %H:%M}: the clock is wrong."
    details = {"readings": int(future.sum()), "spans": spans}
    fix = "Correct the times: the model learns weekends and times of day."
    return [Fault("future_times", "wrong", finding, spans[0][0], spans[-1][1], details, fix)]
