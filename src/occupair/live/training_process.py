"""Training of a new model for a room in a process of its own.

The new model is trained on all labelled days and scored by cross-validation (`training_scores`). The process
reads the store itself and runs at low priority.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any, Literal, NamedTuple

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.live.logs import secrets_in_url, start_logging
from occupair.live.messages import Label, is_valid_time
from occupair.live.store import Store, StoreError
from occupair.live.training_scores import (
    LABEL_HOLD,
    LabelledRoom,
    ModelInUse,
    Scores,
    last_before,
    score_models,
)
from occupair.model_file import dump_model, parse_model
from occupair.progress import progress_to, stage
from occupair.readings.schema import interval_of
from occupair.readings.time_zones import time_zone_of

log = logging.getLogger("occupair.live")

MIN_LABELS, MIN_DAYS = 20, 4
"""Labels, and days with labels, needed to train a room."""
NICENESS = 10
"""Added to the niceness of the process, so that training does not delay estimation."""
STARTED, READ, FITTED = 0.1, 0.2, 0.35
"""Progress when the process runs, when it has read the store, and when the model is fitted [0..1]."""


class TrainingOrder(NamedTuple):
    """Which room to train."""

    store: str  # URL
    room: str
    timezone: str
    log: Literal["json", "text"] = "text"
    log_level: str = "info"
    closed: tuple[str, ...] | None = None  # closed hours of the room; None: as usual
    properties: dict[str, Any] | None = None  # size and capacity of the room, if known


class TrainedModel(NamedTuple):
    """A new model, its score, and that of the model in use."""

    model: bytes
    scores: Scores


def run_training(sending: Connection, order: TrainingOrder) -> None:
    """Train a room in a child process; send the progress [0..1], then the result or an error message."""
    os.nice(NICENESS)
    start_logging(order.log, order.log_level, secrets=secrets_in_url(order.store))
    warnings.simplefilter("ignore", UserWarning)  # a weak CO2 signal shows in the score
    sending.send(STARTED)
    try:
        with threadpool_limits(1), progress_to(lambda _, done, total: sending.send(float(done / total))):
            sending.send(_train_from_store(order))
    except (InputError, StoreError) as error:
        sending.send(str(error))
    except Exception:
        log.exception("room %s: training failed unexpectedly", order.room)
        sending.send("training failed, see the log")


def _train_from_store(order: TrainingOrder) -> TrainedModel:
    store = Store(order.store)
    try:
        in_use = _model_in_use(store, order.room, order.timezone)
        interval = None if in_use is None else in_use.estimator.interval_
        labelled = read_labelled_room(store, order.room, order.timezone, interval)
        check_labels(labelled.labels)
        start = _starting_point(store, order.room, labelled)
        return train(labelled, in_use, start, order.closed, order.properties)
    finally:
        store.close()


def _model_in_use(store: Store, room: str, timezone: str) -> ModelInUse | None:
    """Return the active model of a room; one trained on local times gets the time zone of the room."""
    active = store.active_model(room)
    if active is None:
        return None
    version, data = active
    (about,) = (one for one in store.models(room) if one.id == version)
    estimator = parse_model(data)
    estimator.timezone_ = estimator.timezone_ or timezone
    return ModelInUse(estimator, about.created, trained_here=about.origin == "trained")


def _starting_point(store: Store, room: str, labelled: LabelledRoom) -> OccupancyEstimator | None:
    """Return the newest model that cannot have been trained on any of the labels.

    A model that was would carry the held-out days of the cross-validation into its training.
    """
    earlier = [one for one in store.models(room) if one.created < labelled.entered.min()]
    data = store.model(room, earlier[-1].id) if earlier else None
    return None if data is None else parse_model(data)


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
    labels = tabulate_labels(store.training_labels(room), timezone)
    labels = labels[last_before(readings["co2"], labels.index).notna().to_numpy()]
    return LabelledRoom(readings, labels["people"], labels["entered"])


def check_labels(labels: pd.Series[float]) -> None:
    """Raise an InputError if there are too few labels to train on."""
    days = len(set(pd.DatetimeIndex(labels.index).date))
    if len(labels) < MIN_LABELS or days < MIN_DAYS:
        rule = f"training needs {MIN_LABELS} head counts on {MIN_DAYS} days, with readings"
        raise InputError(f"{rule}: got {len(labels)} on {days}")


def train(
    labelled: LabelledRoom,
    in_use: ModelInUse | None = None,
    start: OccupancyEstimator | None = None,
    closed: tuple[str, ...] | None = None,
    properties: dict[str, Any] | None = None,
) -> TrainedModel:
    """Train a model on all labelled days, and score it and the model in use.

    Parameters
    ----------
    labelled : LabelledRoom
        Readings and labels.
    in_use : ModelInUse, optional
        The model in use.
    start : OccupancyEstimator, optional
        A model of the default kind is the starting point of training.
    closed : tuple of str, optional
        Closed hours of the room; None: as usual.
    properties : dict, optional
        Size and capacity of the room, if known.
    """

    def untrained() -> OccupancyEstimator:
        if properties is not None:
            return OccupancyEstimator(random_state=0, verbose=False, closed=closed, **properties)
        return _untrained(start, "ventilation" in labelled.readings.columns, closed)

    with stage("training", READ, FITTED):
        new = untrained().fit(labelled.readings)
    with stage("cross-validation", FITTED, 1.0):
        return TrainedModel(dump_model(new), score_models(labelled, untrained, in_use))


def _untrained(
    start: OccupancyEstimator | None, has_ventilation: bool, closed: tuple[str, ...] | None
) -> OccupancyEstimator:
    settings: dict[str, Any] = {"random_state": 0, "verbose": False, "closed": closed}
    if start is None or not hasattr(start, "room_") or start.uses_ventilation_ != has_ventilation:
        return OccupancyEstimator(**settings)
    return OccupancyEstimator.transfer([start], **settings)


def tabulate_labels(labels: Sequence[Label], timezone: str) -> pd.DataFrame:
    """Return ``people`` and ``entered`` of labels by local time, without those whose time cannot be right."""
    valid = sorted((label for label in labels if is_valid_time(label.time)), key=lambda label: label.time)
    stamps = pd.DatetimeIndex(pd.to_datetime([label.time for label in valid], utc=True))
    times = stamps.tz_convert(time_zone_of(timezone))
    people = [float(label.people) for label in valid]
    entered = pd.to_datetime([label.entered for label in valid], utc=True)
    return pd.DataFrame({"people": people, "entered": entered}, index=times)
