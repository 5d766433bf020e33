"""Readings to train on when head counts are few or missing: inferred counts where nobody counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.physics.day_grid import Mask
from occupair.physics.inferred_counts import infer_counts
from occupair.physics.room_air import RoomAir, room_air
from occupair.physics.room_properties import RoomProperties
from occupair.readings.head_counts import INFERRED, WEIGHT
from occupair.readings.schema import date_slices

Array = NDArray[np.float64]

RECENT_DAYS = 28
"""Most recent days without head counts that are used: rooms and their use change."""

INFERRED_DAYS = 2.0
"""Labelled days at which inferred counts have half the weight of head counts."""


def with_inferred_counts(
    readings: pd.DataFrame, room: RoomProperties, closed: Mask
) -> tuple[pd.DataFrame, RoomAir]:
    """Return the recent readings with a count at every reading, and what they show about the air of the room.

    Parameters
    ----------
    readings : DataFrame
        Readings as returned by ``check_labelled``, with or without head counts.
    room : RoomProperties
        The room.
    closed : array of bool of shape (1440,)
        Minutes of the day at which the room is empty.
    """
    readings = recent_days(readings)
    inferred = infer_counts(readings, room, closed)
    filled, share = fill_in(readings, inferred.people)
    return filled, room_air(inferred, share)


def fill_in(readings: pd.DataFrame, people: Array) -> tuple[pd.DataFrame, float]:
    """Return readings with inferred counts where there is no head count, and their share of the weight.

    Head counts stay as they are. The weight of inferred counts decreases with the number of labelled days. If
    there are both, the column ``INFERRED`` distinguishes them.

    Parameters
    ----------
    readings : DataFrame
        Readings as returned by ``check_labelled``.
    people : array of shape (n_readings,)
        Inferred counts [people].
    """
    weight = _weights(readings)
    known = weight > 0
    if known.all():
        return readings, 0.0
    counts = np.where(known, readings["occupancy"], np.round(people, 3))
    if not known.any():
        return readings.assign(occupancy=counts).drop(columns=WEIGHT), 1.0
    own = INFERRED_DAYS / (INFERRED_DAYS + labelled_days(known, readings))
    weight = np.where(known, weight, own)
    filled = readings.assign(**{"occupancy": counts, WEIGHT: weight, INFERRED: ~known})
    return filled, float(weight[~known].sum() / weight.sum())


def labelled_days(known: Mask, readings: pd.DataFrame) -> float:
    """Return the number of fully labelled days that the head counts amount to: the sum of labelled shares."""
    return float(sum(known[day].mean() for day in date_slices(readings)))


def recent_days(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the days with head counts, and the most recent days without."""
    days = date_slices(readings)
    known = _weights(readings) > 0
    without = [k for k, day in enumerate(days) if not known[day].any()]
    if len(without) <= RECENT_DAYS:
        return readings
    dropped = set(without[:-RECENT_DAYS])
    kept = [np.arange(day.start, day.stop) for k, day in enumerate(days) if k not in dropped]
    return readings.iloc[np.concatenate(kept)]


def _weights(readings: pd.DataFrame) -> Array:
    if WEIGHT in readings.columns:
        return readings[WEIGHT].to_numpy()
    return np.ones(len(readings))
