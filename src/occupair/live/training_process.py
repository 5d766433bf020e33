"""Training of a new model for a room in a process of its own, and its score on held-out days.

Some labelled days are held out, always the same ones. The new model is never trained on them; it and the
model in use are scored on them. The process reads the store itself and runs at low priority.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.live.messages import Label
from occupair.live.store import Store, StoreError
from occupair.metrics import rmse
from occupair.model_file import dump_model, parse_model
from occupair.progress import progress_to, stage
from occupair.readings.schema import interval_of

MIN_LABELS, MIN_DAYS = 20, 4
"""Labels, and days with labels, needed to train a room and to score the result."""
HELD_OUT = 4
"""One labelled day in this many is held out."""
LABEL_HOLD = 5.0
"""A label applies to readings up to this long before and after it, or one interval if longer [min]."""
NICENESS = 10
"""Added to the niceness of the process, so that training does not delay estimation."""
STARTED, READ, FITTED = 0.1, 0.2, 0.9
"""Progress when the process runs, when it has read the store, and when the model is fitted [0..1]."""


class TrainingOrder(NamedTuple):
    """Which room to train."""

    store: str  # URL
    room: str
    timezone: str


class LabelledRoom(NamedTuple):
    """The readings of a room and its labels."""

    readings: pd.DataFrame  # with occupancy near labels, NaN elsewhere
    labels: pd.Series[float]  # people by local time; those with a reading near


class Score(NamedTuple):
    """Error of a model on held-out labels."""

    rmse: float  # [people]
    labels: int


class TrainedModel(NamedTuple):
    """A new model, its score, and that of the model in use."""

    model: bytes
    old: Score | None
    new: Score


def run_training(sending: Connection, order: TrainingOrder) -> None:
    """Train a room in a child process; send the progress [0..1], then the result or an error message."""
    os.nice(NICENESS)
    warnings.simplefilter("ignore")  # a weak CO2 signal shows in the score
    sending.send(STARTED)
    try:
        with threadpool_limits(1), progress_to(lambda _, done, total: sending.send(float(done / total))):
            sending.send(_train_from_store(order))
    except (InputError, StoreError) as error:
        sending.send(str(error))


def _train_from_store(order: TrainingOrder) -> TrainedModel:
    store = Store(order.store)
    active = store.active_model(order.room)
    old = None if active is None else parse_model(active[1])
    labelled = read_labelled_room(store, order.room, order.timezone, None if old is None else old.interval_)
    store.close()
    check_labels(labelled.labels)
    return train(labelled, old)


def read_labelled_room(store: Store, room: str, timezone: str, interval: float | None = None) -> LabelledRoom:
    """Read the readings and labels of a room.

    Parameters
    ----------
    store : Store
        The store.
    room, timezone : str
        Room id and its time zone.
    interval : float, optional
        Time between readings [min]: that of the model in use, so that both models can be compared; None takes
        the most common one of the readings.
    """
    readings = store.training_readings(room, timezone, hold=LABEL_HOLD, interval=interval)
    step = interval_of(readings)
    if step > LABEL_HOLD:
        readings = store.training_readings(room, timezone, hold=step, interval=interval)
    labels = people_by_time(store.labels(room), timezone)
    return LabelledRoom(readings, labels[_last_before(readings["co2"], labels).notna().to_numpy()])


def check_labels(labels: pd.Series[float]) -> None:
    """Raise an InputError if there are too few labels to train on and to score."""
    days = len(set(pd.DatetimeIndex(labels.index).date))
    if len(labels) < MIN_LABELS or days < MIN_DAYS:
        rule = f"training needs {MIN_LABELS} head counts on {MIN_DAYS} days, with readings"
        raise InputError(f"{rule}: got {len(labels)} on {days}")


def choose_held_out_days(dates: Sequence[Any]) -> list[Any]:
    """Choose the labelled days to hold out: one in four, at most half of them.

    The choice of a date does not depend on the others. If none is chosen that way, it is the newest.

    Examples
    --------
    >>> import datetime as dt
    >>> [date.day for date in choose_held_out_days([dt.date(2024, 1, day) for day in range(8, 18)])]
    [11, 15]
    """
    chosen = [date for date in sorted(dates) if date.toordinal() % HELD_OUT == 0]
    return chosen[: len(dates) // 2] or sorted(dates)[-1:]


def train(labelled: LabelledRoom, old: OccupancyEstimator | None) -> TrainedModel:
    """Train a model without the held-out days, and score it and the model in use on them.

    Parameters
    ----------
    labelled : LabelledRoom
        Readings and labels.
    old : OccupancyEstimator, optional
        The model in use. One of the default kind is the starting point of training.
    """
    readings, labels = labelled
    dates = pd.DatetimeIndex(labels.index).date
    held_out = choose_held_out_days(sorted(set(dates)))
    is_held_out = np.isin(pd.DatetimeIndex(readings.index).date, held_out)
    with stage("training", READ, FITTED):
        new = _untrained(old, "ventilation" in readings.columns).fit(readings[~is_held_out])
    test_labels = labels[np.isin(dates, held_out)]
    test_readings = readings[is_held_out].drop(columns="occupancy")
    with stage("scoring", FITTED, 1.0):
        return TrainedModel(
            dump_model(new),
            _score_old(old, test_readings, test_labels),
            score(new, test_readings, test_labels),
        )


def _untrained(old: OccupancyEstimator | None, has_ventilation: bool) -> OccupancyEstimator:
    settings: dict[str, Any] = {"random_state": 0, "verbose": False}
    if old is None or not hasattr(old, "room_") or old.uses_ventilation_ != has_ventilation:
        return OccupancyEstimator(**settings)
    return OccupancyEstimator.transfer([old], **settings)


def _score_old(
    old: OccupancyEstimator | None, readings: pd.DataFrame, labels: pd.Series[float]
) -> Score | None:
    """Score the model in use; None if there is none or it cannot process these readings."""
    try:
        return None if old is None else score(old, readings, labels)
    except InputError:
        return None


def score(model: OccupancyEstimator, readings: pd.DataFrame, labels: pd.Series[float]) -> Score:
    """Score the live estimates of a model against labels."""
    estimates = _last_before(model.estimate(readings), labels)
    return Score(rmse(labels, estimates), len(labels))


def _last_before(column: pd.Series[float], labels: pd.Series[float]) -> pd.Series[float]:
    """Return the last value at or before each label, NaN if it is older than a label applies."""
    hold = max(LABEL_HOLD, interval_of(column.to_frame()))
    return column.reindex(labels.index, method="ffill", tolerance=pd.Timedelta(minutes=hold))


def people_by_time(labels: Sequence[Label], timezone: str) -> pd.Series[float]:
    """Return the head counts of labels by local time."""
    times = pd.to_datetime([label.time for label in labels], utc=True).tz_convert(timezone)
    people = pd.Series([float(label.people) for label in labels], index=pd.DatetimeIndex(times), dtype=float)
    return people.sort_index()
