"""Days as priors expect them, for a room without any reading yet.

People come and go in steps at random, CO2 follows the mass balance with the air change rate to expect, and
the sensor has noise. A model trained on such days estimates from the first reading on, with wide intervals.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from occupair.physics.air_change import AirChange
from occupair.physics.calibration import (
    KNOWN_FLOW_SPREAD,
    NO_SIGNAL_SPREAD,
    PRIOR_SPREAD,
    prior_logarithms,
)
from occupair.physics.day_grid import ASSUMED_HOURS, Mask
from occupair.physics.room_air import BASE_SPREAD, CONFIDENT, AirChangeRate, RoomAir
from occupair.physics.room_properties import RoomProperties

DAYS = 6
OUTDOOR_CO2 = 420.0
"""Outdoor CO2 unless it is known [ppm]."""

NOISE = 5.0
"""Noise of the CO2 readings [ppm]."""

STAY = 60.0
"""Mean time between changes of the occupancy [min]."""

UNKNOWN_SENSOR_SPREAD = 0.8
"""Standard deviation of the logarithm of the people that is due to a sensor whose base level is unknown."""

FLOWS = (0.5, 0.7, 1.0)
"""Ventilation by day, relative to its highest value."""

_MONDAY = "2024-01-08"


def prior_days(
    room: RoomProperties, closed: Mask, *, interval: float, uses_ventilation: bool
) -> pd.DataFrame:
    """Return readings with head counts of weekdays, the same for the same room.

    Parameters
    ----------
    room : RoomProperties
        The room.
    closed : array of bool of shape (1440,)
        Minutes of the day at which the room is empty.
    interval : float
        Time between readings [min].
    uses_ventilation : bool
        Whether the room has a ventilation signal.
    """
    random = np.random.default_rng(0)
    air = AirChange(prior_logarithms(room, has_signal=uses_ventilation)[np.newaxis])
    n, hours = round(1440 / interval), interval / 60
    minute = np.arange(n) * interval
    is_day = (minute >= 60 * ASSUMED_HOURS[0]) & (minute < 60 * ASSUMED_HOURS[1])
    is_open = is_day & ~closed[minute.astype(int)]
    days = []
    for date in pd.bdate_range(_MONDAY, periods=DAYS):
        changes = is_open & (random.random(n) < interval / STAY)
        level = np.where(random.random(n) < 0.25, 0, random.integers(0, round(room.capacity) + 1, n))
        people = np.where(is_open, level[np.maximum.accumulate(np.where(changes, np.arange(n), 0))], 0)
        flow = np.where(is_day, random.choice(FLOWS), 0.0)
        keeps = np.exp(-air.at(flow)[0] * hours)
        gains = room.rise * (1 - keeps) / air.at(flow)[0]
        above = np.zeros(n)
        for k in range(1, n):
            above[k] = keeps[k] * above[k - 1] + gains[k] * people[k - 1]
        co2 = (room.outdoor_co2 or OUTDOOR_CO2) + above + random.normal(0.0, NOISE, n)
        times = date + pd.to_timedelta(minute, unit="min")
        days.append(
            pd.DataFrame({"co2": co2, "ventilation": flow, "occupancy": people.astype(float)}, index=times)
        )
    readings = pd.concat(days)
    return readings if uses_ventilation else readings.drop(columns="ventilation")


def prior_air(room: RoomProperties, *, uses_ventilation: bool) -> RoomAir:
    """Return what is expected of the air of a room before its first reading."""
    air = AirChange(prior_logarithms(room, has_signal=uses_ventilation)[np.newaxis])
    ventilated = PRIOR_SPREAD[1] if room.air_flow is None else KNOWN_FLOW_SPREAD
    spread = ventilated if uses_ventilation else NO_SIGNAL_SPREAD
    rates = []
    for level, own in ((0.0, PRIOR_SPREAD[0]), (1.0, spread)):
        rate, factor = float(air.at(np.array([level]))[0, 0]), float(np.exp(CONFIDENT * own))
        shown = None if level and not uses_ventilation else level
        rates.append(AirChangeRate(shown, rate, rate / factor, rate * factor))
    return RoomAir(
        rates=tuple(rates),
        base_level=room.outdoor_co2 or OUTDOOR_CO2,
        volume=room.volume,
        capacity=room.capacity,
        n_days=0,
        n_counts=0,
        inferred_share=1.0,
        spread=math.hypot(spread, room.size_spread, UNKNOWN_SENSOR_SPREAD),
        offset=BASE_SPREAD * rates[-1].rate / room.rise,
    )
