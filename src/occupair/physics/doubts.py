"""Reasons not to trust people that are inferred from CO2, each in plain words with what to do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from occupair.physics.calibration import calibrate
from occupair.physics.day_grid import DayGrid
from occupair.physics.inferred_counts import InferredCounts

Array = NDArray[np.float64]

MAX_PEAK = 1.1
"""Largest plausible peak of the inferred people, relative to the capacity."""

MAX_RATIO = 2.0
"""Largest plausible ratio of the air change rates that two halves of the days suggest."""

MAX_DECAY_RATIO = 3.0
"""Ratio of the decay rates of an empty room at one ventilation level above which windows are suspected."""

LOW_VENTILATION = 0.2
"""Ventilation below this share of its maximum most of the time makes the maximum suspect."""

MIN_LEVEL, DECAY_TIME, MIN_DECAYS = 60.0, 30.0, 8
"""CO2 above base of a decay [ppm], its length [min], and number of nights with a decay to compare them."""

SPREAD_PER_DOUBT = 1.5
"""Factor by which each doubt increases the uncertainty of the inferred people."""

_HALF_DAYS = 4  # days of each half without which the halves are not compared


def find_doubts(inferred: InferredCounts) -> tuple[str, ...]:
    """Return the reasons not to trust inferred people; none if all is plausible."""
    grid = inferred.grid
    return tuple(
        doubt
        for doubt in (
            _peak(inferred),
            _halves(inferred),
            _decays(grid),
            _ventilation(grid) if grid.full_ventilation is not None else None,
        )
        if doubt is not None
    )


def _peak(inferred: InferredCounts) -> str | None:
    """Compare the peak with the capacity."""
    peak, capacity = inferred.peak, inferred.room.capacity
    if peak <= MAX_PEAK * capacity:
        return None
    return (
        f"CO2 suggests up to {peak:.0f} people in a room for {capacity:g}: "
        "check volume and capacity, or enter a head count when the room is full"
    )


def _halves(inferred: InferredCounts) -> str | None:
    """Compare the air change rates that every other day suggests with those of the other days."""
    grid = inferred.grid
    days = np.flatnonzero((~np.isnan(grid.co2)).any(axis=1))
    if days.size < 2 * _HALF_DAYS:
        return None
    rates = [calibrate(grid.days(days[first::2]), inferred.room) for first in (0, 1)]
    busy = float(np.quantile(grid.ventilation, 0.95))
    ratio = max(rates[0].rate(busy) / rates[1].rate(busy), rates[1].rate(busy) / rates[0].rate(busy))
    if ratio <= MAX_RATIO:
        return None
    low, high = sorted(one.rate(busy) for one in rates)
    return (
        f"the air change rate is {low:.1f} per hour on some days and {high:.1f} on others: "
        "windows may be open at times, or the ventilation signal is incomplete"
    )


def _decays(grid: DayGrid) -> str | None:
    """Compare the decay rates of nights, with ventilation that is about the same."""
    rates = night_decays(grid)
    if rates.size < MIN_DECAYS:
        return None
    low, high = np.quantile(rates, [0.1, 0.9])
    if high <= MAX_DECAY_RATIO * max(low, 0.02):
        return None
    what = (
        "windows may be open at times"
        if grid.full_ventilation is not None
        else "windows or a ventilation without signal: add the ventilation signal"
    )
    return (
        f"CO2 of the empty room decays by {low:.2g} per hour in some nights and {high:.2g} in others: {what}"
    )


def night_decays(grid: DayGrid) -> Array:
    """Return decay rates of CO2 in closed hours, one for each night with clear decay [1/h]."""
    n = max(round(DECAY_TIME / grid.step), 1)
    level, found = grid.level, []
    start, end = level[:, :-n], level[:, n:]
    steady = np.abs(grid.ventilation[:, n:] - grid.ventilation[:, :-n]) < LOW_VENTILATION
    has_signal = grid.full_ventilation is not None
    off = steady & (grid.ventilation[:, :-n] < LOW_VENTILATION) if has_signal else steady
    closed = (grid.closed[:-n] & grid.closed[n:])[np.newaxis] & off & (start > MIN_LEVEL) & ~np.isnan(end)
    for day in range(len(level)):
        which = closed[day]
        if which.any():
            ratio = np.maximum(end[day, which], 1.0) / start[day, which]
            found.append(float(np.median(-np.log(ratio))) * 60 / (n * grid.step))
    return np.array(found)


def _ventilation(grid: DayGrid) -> str | None:
    on = grid.ventilation[grid.ventilation > 0.02]
    if on.size == 0 or float(np.median(on)) >= LOW_VENTILATION:
        return None
    return (
        f"ventilation is mostly below {100 * LOW_VENTILATION:.0f} % of its highest value: "
        "check its unit, or remove the outlier"
    )
