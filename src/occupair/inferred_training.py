"""Training of the room layer on people that are inferred from CO2 where there are no head counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.physics.inferred_counts import MOST
from occupair.physics.prior_days import prior_air, prior_days
from occupair.physics.room_air import RoomAir
from occupair.physics.room_properties import PROPERTIES, RoomProperties, guessed_properties, room_properties
from occupair.physics.training_readings import with_inferred_counts
from occupair.readings.head_counts import check_labelled, has_label
from occupair.readings.schema import date_slices
from occupair.room.closed_hours import parse_closed

if TYPE_CHECKING:
    from occupair.estimator import OccupancyEstimator

CLOSED = ("00:00", "05:00")
"""Times of day at which nobody is in a room of which only volume and capacity are known."""

MOSTLY = 0.5
"""Share of inferred people in training above which held-out days do not tell the accuracy."""


def guess_properties(readings: pd.DataFrame) -> RoomProperties | None:
    """Return the properties of a room of unknown size that has head counts at some readings only.

    The head counts then tell how much CO2 a person adds. None if all readings have a head count, or if nobody
    was ever counted.
    """
    known = has_label(readings)
    most = float(readings["occupancy"][known].max())
    if known.all() or most == 0:
        return None
    return guessed_properties(most, len(date_slices(readings[known])))


def infer_readings(readings: pd.DataFrame, room: RoomProperties, closed: Any) -> tuple[pd.DataFrame, RoomAir]:
    """Return checked readings with a count at every reading, and what they tell about the air of the room.

    ``closed`` are the closed hours as given; None: ``CLOSED``.
    """
    minutes = parse_closed(CLOSED if closed is None else closed)
    assert minutes is not None
    return with_inferred_counts(readings, room, minutes)


def identify_air(readings: pd.DataFrame, room: RoomProperties, closed: Any = None) -> RoomAir:
    """Return what readings, with or without head counts, tell about the air of a room."""
    columns = [name for name in ("co2", "ventilation") if name in readings.columns]
    checked = check_labelled(readings.dropna(subset=columns), needs_counts=False)
    return infer_readings(checked, room, closed)[1]


def fit_before_readings(
    estimator: OccupancyEstimator, *, interval: float, uses_ventilation: bool
) -> OccupancyEstimator:
    """Train an estimator with volume and capacity for a room that has no reading yet.

    Parameters
    ----------
    estimator : OccupancyEstimator
        The estimator.
    interval : float
        Time between the readings to come [min].
    uses_ventilation : bool
        Whether they will have a ventilation signal.
    """
    room = room_properties(**{name: getattr(estimator, name) for name in PROPERTIES})
    minutes = parse_closed(CLOSED if estimator.closed is None else estimator.closed)
    if room is None or minutes is None:
        raise InputError("a room without readings needs volume and capacity")
    days = prior_days(room, minutes, interval=interval, uses_ventilation=uses_ventilation)
    estimator.fit(days)
    air = prior_air(room, uses_ventilation=uses_ventilation)
    estimator.__dict__.update(
        with_doubt(dict(vars(estimator)), air, days), air_=air, trained_days_=frozenset()
    )
    return estimator


def with_doubt(learned: dict[str, Any], air: RoomAir, readings: pd.DataFrame) -> dict[str, Any]:
    """Return what changes if a model was trained on inferred people: intervals, and expected accuracy.

    Parameters
    ----------
    learned : dict
        Attributes of the trained estimator.
    air : RoomAir
        How well the inferred people are known.
    readings : DataFrame
        Readings of training, with inferred people.
    """
    people = float(np.sqrt(np.mean(readings["occupancy"] ** 2)))
    changed: dict[str, Any] = {
        "room_": learned["room_"].with_wider_intervals(air.spread, MOST * air.capacity),
        "training_error_": math.hypot(learned["training_error_"], air.spread * people),
    }
    if air.inferred_share > MOSTLY:  # compared with inferred people, accuracy would look better than it is
        changed |= {"comparison_": None, "expectation_": None}
    return changed
