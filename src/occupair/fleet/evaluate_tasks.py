"""The work of one task of ``fleet evaluate``: models of some rooms scored on readings with head counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from occupair import metrics
from occupair.errors import InputError
from occupair.fleet.estimate_tasks import model_of, scale_of_model
from occupair.fleet.fit_tasks import model_name
from occupair.fleet.read_room import UnavailableError, open_room
from occupair.fleet.room_sources import RoomSource
from occupair.fleet.storage import Storage, describe_error, one_line
from occupair.fleet.task_report import TaskReport, report
from occupair.fleet.task_runner import Batch
from occupair.progress import quietly
from occupair.readings.day_fingerprints import count_known_days
from occupair.readings.files import read_labelled
from occupair.readings.head_counts import has_label
from occupair.room.prediction_intervals import CONFIDENCE


@dataclass(frozen=True)
class EvaluateSettings:
    """Settings of all rooms: folder or URL of the models, and the lag of the estimates [min]."""

    models: str
    lag: float = 0.0


@dataclass(frozen=True)
class EvaluateResult:
    """The scores of one room.

    Parameters
    ----------
    room, status, reason : str
        Name of the room, ``"evaluated"`` or ``"failed"``, and why it failed.
    readings, days, days_trained_on : int
        Readings with a head count, their days, and how many of these the model was trained on.
    rmse : float
        Root mean square error [people].
    nrmse : float
        RMSE divided by the standard deviation of the head counts; NaN if they are constant.
    bias : float
        Mean of estimate minus head count [people].
    coverage : float
        Share of the readings within the 90 % prediction interval [0..1].
    fpr, fnr, fdr : float
        Shares of empty readings estimated as occupied, occupied as empty, and both [0..1].
    within_1, within_2, within_4 : float
        Shares of the readings within ±1, 2 and 4 people, rounded to whole people [0..1].
    """

    room: str
    status: str
    reason: str = ""
    readings: int = 0
    days: int = 0
    days_trained_on: int = 0
    rmse: float = math.nan
    nrmse: float = math.nan
    bias: float = math.nan
    coverage: float = math.nan
    fpr: float = math.nan
    fnr: float = math.nan
    fdr: float = math.nan
    within_1: float = math.nan
    within_2: float = math.nan
    within_4: float = math.nan


def evaluate_rooms(batch: Batch, settings: EvaluateSettings) -> TaskReport[EvaluateResult]:
    """Score the rooms of a batch, and return their results."""
    return report((_evaluate(source, settings), True) for source in batch)


def _evaluate(source: RoomSource, settings: EvaluateSettings) -> EvaluateResult:
    try:
        return EvaluateResult(source.room, "evaluated", **_scores(source, settings))
    except (InputError, UnavailableError) as error:
        return EvaluateResult(source.room, "failed", one_line(str(error)))
    except Exception as error:  # noqa: BLE001  # one room must not end the run of all
        reason = f"unexpected error, please report it: {type(error).__name__}: {describe_error(error)}"
        return EvaluateResult(source.room, "failed", reason)


def _scores(source: RoomSource, settings: EvaluateSettings) -> dict[str, Any]:
    content = Storage(settings.models).read(model_name(source.room))
    if content is None:
        raise InputError("has no model: see the reason in rooms.parquet of the models")
    estimator = model_of(content, source.options)
    with open_room(source) as raw, quietly():
        readings = raw.read(read_labelled, **source.options.reading, **scale_of_model(estimator))
        table = estimator.estimate(readings, lag=settings.lag, interval=CONFIDENCE)
    known = has_label(readings)
    truth, people = readings["occupancy"][known], table["people"][known]
    spread, whole = float(truth.std(ddof=0)), metrics.whole_people(people)
    trained, days = count_known_days(readings, estimator.trained_days_ or frozenset(), estimator.timezone_)
    scores = metrics.scores(truth, people)
    inside = (table["low"][known] <= truth) & (truth <= table["high"][known])
    return {
        "readings": len(truth),
        "days": days,
        "days_trained_on": trained,
        "nrmse": scores["rmse"] / spread if spread > 0 else math.nan,
        "bias": float((people - truth).mean()),
        "coverage": float(inside.mean()),
        **{
            name: math.nan if scores[name] is None else scores[name] for name in ("rmse", "fpr", "fnr", "fdr")
        },
        **{f"within_{x}": metrics.tolerance_accuracy(truth, whole, tolerance=x) for x in (1, 2, 4)},
    }
