"""Limits beyond which a CO2 sensor is considered faulty, for files and for the live service.

Each limit states its reason. The false-alarm figures are from the eight published rooms
(``occupair.datasets``): 175,000 readings over 169 days, at intervals of 0.5 to 5 min.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LOWEST_CO2 = 150.0
"""Lowest plausible CO2 [ppm]; below it, a read failed.

Outdoor air has about 420 ppm. Automatic calibration that takes a poorly aired room for outdoor air shifts
a sensor down: the SDU 2018 rooms read as low as 268 ppm. Failed reads are 0 or negative.
"""

HIGHEST_CO2 = 20_000.0
"""Highest plausible CO2 [ppm]; above it, a read failed.

NDIR room sensors are specified to 2,000, 5,000 or 10,000 ppm, and rooms in use stay below that. Failed
reads are full-scale values: 32,767 or 65,535, or 40,000 for a saturated wide-range sensor.
"""

STUCK = 180.0
"""Time for which a working sensor may report the same value [min].

The longest such time in the published rooms is 105 min (ROBOD room 3, at the lower end of the sensor's
range). The two faults in SDU 2019 last 347 and 1,016 min.
"""

COARSE_STEP = 5.0
"""Resolution from which the longer limit ``STUCK_COARSE`` applies [ppm]."""

STUCK_COARSE = 1440.0
"""Time for which a working sensor of coarse resolution may report the same value [min].

The UCI 864 sensor, with a resolution of 5 ppm, is constant for up to 605 min in an empty room, and others
stay constant from evening to morning. Over a whole day, any room in use moves by more than one step.
"""

FEWEST_STEPS = 10
"""Changes of CO2 within a day from which the resolution of a sensor is known.

Fewer, such as one person entering a room, say nothing about it. On its quietest day with a change, the
coarse UCI 864 sensor changes 25 times.
"""

AT_REST = 15.0
"""Height above its lowest level up to which the CO2 of a room counts as at rest [ppm].

An empty room settles at the outdoor level, and many sensors do not report less than 400 ppm, so that a
working sensor may be constant all night: the limit ``STUCK_COARSE`` applies. It is not exempt for longer,
because a sensor that hangs at this level would report an empty room for ever.
"""

REST_KNOWN = 60.0
"""Time with readings from which the lowest level of a room is known [min]."""

STEEPEST = 60.0
"""Highest plausible rate of change over more than a few minutes [ppm/min].

30 people seated in 150 m3 exhale 0.3 l/min of CO2 each, which raises the room by 60 ppm/min; so do 80
people in 400 m3.
"""

JUMP = 400.0
"""Highest plausible change between two readings, however short the interval [ppm].

Opening windows (six air changes per hour) lowers a room at 1,450 ppm by 400 ppm in five minutes, and many
sensors update only every five minutes, so the whole change may show at once. The largest change between
two readings of the published rooms is 234 ppm (SDU 2019). eCO2 sensors, and anyone breathing at a sensor,
cause changes of 500 ppm and more.
"""

SETTLES = 20.0
"""Time after a jump during which estimates are still affected by it [min]."""


@overload
def is_plausible(co2: float) -> bool: ...


@overload
def is_plausible(co2: Array) -> NDArray[np.bool_]: ...


def is_plausible(co2: float | Array) -> bool | NDArray[np.bool_]:
    """Whether a room can have this CO2 concentration [ppm]; NaN is not plausible.

    Examples
    --------
    >>> is_plausible(0.0), is_plausible(420.0), is_plausible(65535.0)
    (False, True, False)
    """
    return (co2 >= LOWEST_CO2) & (co2 <= HIGHEST_CO2)


def resolution_of(co2: Array) -> float:
    """Return the smallest usual change of CO2 [ppm], 0 if there are too few changes to tell.

    It is large if values are rounded, or sent only once they have changed by a certain amount (COV). Up to
    one change in 20 may be smaller, such as the odd step of a rounded average.

    Examples
    --------
    >>> resolution_of(np.array([410.0, 420.0] * 10)), resolution_of(np.array([400.0, 650.0]))
    (10.0, 0.0)
    """
    steps = np.abs(np.diff(co2))
    steps = steps[steps > 0]
    return float(np.quantile(steps, 0.05)) if steps.size >= FEWEST_STEPS else 0.0


def elapsed_minutes(minutes: Array, longest_step: float) -> Array:
    """Return the time since the first reading that is not in gaps [min].

    Examples
    --------
    >>> elapsed_minutes(np.array([0.0, 5.0, 65.0, 70.0]), 10.0).tolist()
    [0.0, 5.0, 5.0, 10.0]
    """
    steps = np.diff(minutes)
    return np.concatenate(([0.0], np.cumsum(np.where(steps > longest_step, 0.0, steps))))


def is_at_rest(value: float, recent: Array) -> bool:
    """Whether a CO2 value is near the lowest level of the recent readings [ppm], as in an empty room."""
    lowest = float(np.quantile(recent, 0.01))
    return bool(recent.max() > value) and value <= lowest + max(AT_REST, resolution_of(recent))


def stuck_limit(elapsed: Array, co2: Array, start: int, *, occupied: bool | None = None) -> float:
    """Return how long a sensor may report the value at an index without a change [min].

    The limit is judged from the day of readings before it. If they do not go back a whole day, what there
    is of the first day is used; the live service has only the readings up to ``start``.

    Parameters
    ----------
    elapsed : array
        Times of the readings without gaps [min], see ``elapsed_minutes``.
    co2 : array
        Plausible CO2 [ppm].
    start : int
        Index of the first reading with the value.
    occupied : bool, optional
        Whether people are counted while CO2 is constant, if it is known. A room that is known to be empty
        may be at rest for days; an occupied one is not at rest.

    Examples
    --------
    >>> minutes = np.arange(300.0)
    >>> stuck_limit(minutes, 700.0 + minutes % 2, 299), stuck_limit(minutes, 700.0 - minutes, 299)
    (180.0, 1440.0)
    """
    first = int(np.searchsorted(elapsed, elapsed[start] - STUCK_COARSE))
    stop = max(start + 1, int(np.searchsorted(elapsed, elapsed[first] + STUCK_COARSE, side="right")))
    recent, is_known = co2[first:stop], elapsed[stop - 1] - elapsed[first] >= REST_KNOWN
    if not occupied and is_known and is_at_rest(float(co2[start]), recent):
        return STUCK_COARSE if occupied is None else np.inf
    return STUCK_COARSE if resolution_of(recent) >= COARSE_STEP else STUCK


def largest_step(minutes: float) -> float:
    """Return the largest plausible change of CO2 [ppm] between readings ``minutes`` apart.

    Examples
    --------
    >>> largest_step(1.0), largest_step(15.0)
    (400.0, 900.0)
    """
    return max(JUMP, STEEPEST * minutes)
