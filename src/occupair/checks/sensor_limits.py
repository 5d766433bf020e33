"""Limits beyond which a CO2 sensor is considered faulty, for files and for the live service.

Each limit states its reason. The false-alarm figures are from the eight published rooms
(``occupair.datasets``): 175,000 readings over 169 days, at intervals of 0.5 to 5 min.
"""

from __future__ import annotations

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


def is_plausible(co2: float) -> bool:
    """Whether a room can have this CO2 concentration [ppm].

    Examples
    --------
    >>> is_plausible(0.0), is_plausible(420.0), is_plausible(65535.0)
    (False, True, False)
    """
    return LOWEST_CO2 <= co2 <= HIGHEST_CO2


def stuck_limit(resolution: float) -> float:
    """Return how long a sensor of this resolution [ppm] may report the same value [min].

    Examples
    --------
    >>> stuck_limit(1.0), stuck_limit(10.0)
    (180.0, 1440.0)
    """
    return STUCK_COARSE if resolution >= COARSE_STEP else STUCK


def largest_step(minutes: float) -> float:
    """Return the largest plausible change of CO2 [ppm] between readings ``minutes`` apart.

    Examples
    --------
    >>> largest_step(1.0), largest_step(15.0)
    (400.0, 900.0)
    """
    return max(JUMP, STEEPEST * minutes)
