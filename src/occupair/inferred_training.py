"""Training of the room layer on people that are inferred from CO2 where there are no head counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.physics.inferred_counts import MOST, infer_counts
from occupair.physics.prior_days import prior_air, prior_days
from occupair.physics.room_air import RoomAir
from occupair.physics.room_properties import PROPERTIES, RoomProperties, guessed_properties, room_properties
from occupair.physics.training_readings import fill_in, recent_days, with_inferred_counts
from occupair.readings.head_counts import INFERRED, check_labelled, has_label
from occupair.readings.schema import date_slices
from occupair.room.closed_hours import parse_closed

if TYPE_CHECKING:
    from occupair.estimator import OccupancyEstimator

CLOSED = ("00:00", "05:00")
"""Times of day at which a room is empty unless closed hours are given."""

MOSTLY = 0.5
"""Share of inferred people in training above which held-out days do not tell the accuracy."""


def infer_readings(readings: pd.DataFrame, room: RoomProperties, closed: Any) -> tuple[pd.DataFrame, RoomAir]:
    """Return checked readings with a count at every reading, and what they show about the air of the room.

    ``closed`` are the closed hours as given; None: ``CLOSED``, unless people were counted in them.
    """
    readings, air = with_inferred_counts(readings, room, _closed_minutes(readings, closed))
    return readings.drop(columns=INFERRED, errors="ignore"), air


def infer_between_counts(readings: pd.DataFrame, closed: Any) -> pd.DataFrame:
    """Return checked readings of a room of unknown size with inferred counts between its head counts.

    The head counts tell how much CO2 a person adds. Readings stay as they are if all have a head count, or if
    nobody was ever counted. Unlike those of ``infer_readings``, inferred counts are marked as such, so that
    only head counts tell the accuracy.
    """
    known, minutes = has_label(readings), _closed_minutes(readings, closed)
    most = float(readings["occupancy"][known].max())
    if known.all() or most == 0:
        return readings
    room, recent = guessed_properties(most, len(date_slices(readings[known]))), recent_days(readings)
    inferred = infer_counts(recent, room, minutes)
    if inferred.peak > room.capacity:  # the head counts missed the fullest hours
        inferred = infer_counts(recent, guessed_properties(inferred.peak, math.inf), minutes)
    return fill_in(recent, inferred.people)[0]


def _closed_minutes(readings: pd.DataFrame, closed: Any) -> NDArray[np.bool_]:
    """Return the minutes of the day at which the room is empty; none if people were counted in ``CLOSED``."""
    minutes = parse_closed(CLOSED if closed is None else closed)
    assert minutes is not None
    if closed is None and minutes[_occupied_minutes(readings)].any():
        return np.zeros_like(minutes)
    return minutes


def _occupied_minutes(readings: pd.DataFrame) -> NDArray[np.int64]:
    """Return the minutes of the day at which people were counted."""
    occupied = pd.DatetimeIndex(readings.index[has_label(readings) & (readings["occupancy"] > 0)])
    return (occupied.hour * 60 + occupied.minute).to_numpy()


def identify_air(readings: pd.DataFrame, room: RoomProperties, closed: Any = None) -> RoomAir:
    """Return what readings, with or without head counts, show about the air of a room."""
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
        "room_": learned["room_"].with_wider_intervals(air.spread, air.offset, MOST * air.capacity),
        "training_error_": math.hypot(learned["training_error_"], air.spread * people),
    }
    if air.inferred_share > MOSTLY:  # compared with inferred people, accuracy would look better than it is
        changed |= {"comparison_": None, "expectation_": None}
    return changed
