"""Rooms of known air change rate and people, from the exact solution of the mass balance."""

import numpy as np
import pandas as pd

from occupair.readings.head_counts import check_labelled
from occupair.room.closed_hours import parse_closed

CLOSED = parse_closed("00:00-05:00")
OUTDOOR = 420.0
STEPS = 288


def exact_co2(people, rate, *, rise, hours, start=0.0):
    """CO2 above outdoor air at the start of each step; people and air change rate are constant in a step."""
    level = np.empty(len(people))
    for k in range(len(people)):
        level[k] = start
        steady = rise * people[k] / rate[k]
        start = steady + (start - steady) * np.exp(-rate[k] * hours)
    return level


def simulated_room(
    days, *, leakage=0.2, full=2.0, volume=200.0, capacity=20, last=18, noise=5.0, generation=0.0187, seed=0
):
    """Readings every 5 min. People change every 30 min; the ventilation is on from 7:00 to 20:00.

    ``leakage`` and ``full`` are air change rates [1/h], one for all days or one for each; ``last`` is the
    hour at which everybody leaves.
    """
    rng = np.random.default_rng(seed)
    hour, half_hour = np.arange(STEPS) // 12, np.arange(STEPS) // 6
    usual = np.interp(np.arange(48) / 2, [8, 10.5, 12, 12.5, 13.5, 16, last], [0, 0.6, 0.6, 0.4, 0.6, 0.5, 0])
    people = capacity * usual * rng.uniform(0.7, 1.2, (days, 1)) + rng.normal(0, 1, (days, 48)) * (usual > 0)
    occupancy = np.clip(np.round(people), 0, capacity)[:, half_hour].ravel()
    ventilation = np.tile(((hour >= 7) & (hour < 20)).astype(float), days)
    leakage, full = (np.repeat(np.broadcast_to(value, days), STEPS) for value in (leakage, full))
    level = exact_co2(occupancy, leakage + full * ventilation, rise=1e6 * generation / volume, hours=1 / 12)
    return pd.DataFrame(
        {
            "co2": OUTDOOR + level + noise * rng.standard_normal(level.size),
            "ventilation": ventilation,
            "occupancy": occupancy,
        },
        index=pd.date_range("2024-01-08", periods=level.size, freq="5min", name="time"),
    )


def without_counts(readings):
    return check_labelled(readings.drop(columns="occupancy"), needs_counts=False)


def with_counts(readings, which):
    """Checked readings with the head counts of some rows only."""
    sparse = np.full(len(readings), np.nan)
    sparse[which] = readings["occupancy"].to_numpy()[which]
    return check_labelled(readings.assign(occupancy=sparse))
