"""Accuracy of a new model and of the model in use on the labelled days of a room.

The new model is cross-validated over days: every labelled day is held out once and estimated by a model that
was trained on the others. The model in use is scored on those of the same days that it was not trained on.
Empty rooms are easy to estimate, so there is no score without some days with people.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.folds import day_folds
from occupair.metrics import rmse
from occupair.progress import quietly, stage
from occupair.readings.schema import interval_of
from occupair.wording import plural

FOLDS = 5
"""Folds of the cross-validation: its models are trained on about four fifths of the days."""
OCCUPIED_DAYS = 3
"""Labelled days with people that a score needs."""
LABEL_HOLD = 5.0
"""A label applies to readings up to this long before and after it, or one interval if longer [min]."""

Dates = NDArray[np.datetime64]


class LabelledRoom(NamedTuple):
    """The readings of a room and its labels."""

    readings: pd.DataFrame  # with occupancy near labels, NaN elsewhere
    labels: pd.Series[float]  # people by local time; those with a reading near
    entered: pd.Series[pd.Timestamp]  # when each label was entered, in UTC


class ModelInUse(NamedTuple):
    """The model in use, when it was added to the store, and whether it was trained by this service."""

    estimator: OccupancyEstimator
    created: dt.datetime
    trained_here: bool


class Score(NamedTuple):
    """Error of a model on labelled days."""

    rmse: float | None  # [people]; None if people were counted on fewer than ``OCCUPIED_DAYS`` days
    labels: int
    days: int
    occupied_days: int  # days on which people were counted
    independent: bool = True  # whether the model was certainly not trained on these days
    occupied_rmse: float | None = None  # on the days with people, whose error empty days dilute [people]


class Scores(NamedTuple):
    """Scores of a new model and of the model in use."""

    new: Score  # on all labelled days
    old: Score | None = None  # on the days on which the model in use was not trained; None without such days
    new_on_same_days: Score | None = None  # the new model on the days of ``old``
    better: Literal["new", "old"] | None = None  # None if the difference may be due to chance

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as nested dictionaries."""
        return {
            name: value._asdict() if isinstance(value, Score) else value
            for name, value in self._asdict().items()
        }

    def __str__(self) -> str:
        """Return the scores with the evidence behind them."""
        if self.new.rmse is None:
            counted = plural(self.new.occupied_days, "day")
            return f"no score: people were counted on {counted}, a score needs {OCCUPIED_DAYS}"
        evidence = f"{plural(self.new.days, 'day')} with {plural(self.new.labels, 'head count')}"
        text = f"RMSE {self.new.rmse:.2f} people, cross-validated on {evidence}"
        if self.new.occupied_days < self.new.days and self.new.occupied_rmse is not None:
            text += f", {self.new.occupied_rmse:.2f} on the {self.new.occupied_days} days with people"
        old, same_days = self.old, self.new_on_same_days
        if old is None or old.rmse is None or same_days is None:
            return text
        which = "these days" if old.days == self.new.days else f"{old.days} of these days"
        return f"{text}; the current model has {old.rmse:.2f} on {which}, the new one {same_days.rmse:.2f}"


def score_models(
    labelled: LabelledRoom, untrained: Callable[[], OccupancyEstimator], in_use: ModelInUse | None
) -> Scores:
    """Score the model that would be trained on all labelled days, and the model in use.

    Parameters
    ----------
    labelled : LabelledRoom
        Readings and labels.
    untrained : callable
        Returns an estimator with the settings of the new model.
    in_use : ModelInUse, optional
        The model in use.
    """
    dates = _dates_of_labels(labelled)
    new = _cross_validate(labelled, dates, untrained)
    scores = Scores(_score(labelled.labels, new, dates))
    if in_use is None:
        return scores
    unseen = ~np.isin(dates, dates[(labelled.entered <= in_use.created).to_numpy()])
    if not unseen.any():
        return scores
    labels, days = labelled.labels[unseen], dates[unseen]
    try:
        old = _estimate(in_use.estimator, labelled, np.unique(days))[unseen]
    except InputError:  # such as a model of another interval
        return scores
    is_later = in_use.trained_here or bool((labels.index > in_use.created).all())
    old_score = _score(labels, old, days)._replace(independent=is_later)
    same_days = _score(labels, new[unseen], days)
    better = _better(labels, old, new[unseen], days)
    if better == "old" and not is_later:  # it may owe that to its training on these days
        better = None
    return Scores(scores.new, old_score, same_days, better)


def last_before(column: pd.Series[float], times: pd.Index) -> pd.Series[float]:
    """Return the last value at or before the time of each label, NaN if it is older than a label applies."""
    hold = max(LABEL_HOLD, interval_of(column.to_frame()))
    return column.reindex(times, method="ffill", tolerance=pd.Timedelta(minutes=hold))


def _dates_of(times: pd.Index) -> Dates:
    return pd.DatetimeIndex(times).tz_localize(None).to_numpy().astype("datetime64[D]")


def _dates_of_labels(labelled: LabelledRoom) -> Dates:
    """Return the date of the reading that each label belongs to."""
    times = labelled.readings.index
    return _dates_of(times[times.get_indexer(labelled.labels.index, method="ffill")])


def _occupied_dates(labels: pd.Series[float], dates: Dates) -> Dates:
    return np.unique(dates[labels.to_numpy() > 0])


def _cross_validate(
    labelled: LabelledRoom, dates: Dates, untrained: Callable[[], OccupancyEstimator]
) -> pd.Series[float]:
    """Return the estimate of each label by a model that was not trained on its day.

    Days with people are distributed over the folds first, so that each model is trained on some. NaN if there
    are too few of them.
    """
    occupied = _occupied_dates(labelled.labels, dates)
    people = pd.Series(np.nan, labelled.labels.index)
    if occupied.size < OCCUPIED_DAYS:
        return people
    days = np.concatenate([occupied, np.setdiff1d(dates, occupied)])
    of_reading = _dates_of(labelled.readings.index)
    folds = day_folds(days.size, FOLDS)
    for number, fold in enumerate(folds):
        training = labelled.readings[np.isin(of_reading, days[fold.train])]
        held_out = days[fold.held_out]
        with stage("cross-validation", number / len(folds), (number + 1) / len(folds)):
            model = untrained().fit(training)
        people = people.where(~np.isin(dates, held_out), _estimate(model, labelled, held_out))
    return people


def _estimate(model: OccupancyEstimator, labelled: LabelledRoom, days: Dates) -> pd.Series[float]:
    """Return the live estimate of a model at each label on some days, NaN on others."""
    readings = labelled.readings[np.isin(_dates_of(labelled.readings.index), days)]
    with quietly():
        people = model.estimate(readings.drop(columns="occupancy"))
    return last_before(people, labelled.labels.index)


def _score(labels: pd.Series[float], people: pd.Series[float], dates: Dates) -> Score:
    occupied = _occupied_dates(labels, dates)
    score = Score(None, len(labels), np.unique(dates).size, occupied.size)
    if occupied.size < OCCUPIED_DAYS:
        return score
    with_people = np.isin(dates, occupied)
    errors = rmse(labels, people), rmse(labels[with_people], people[with_people])
    return score._replace(rmse=errors[0], occupied_rmse=errors[1])


def _better(
    labels: pd.Series[float], old: pd.Series[float], new: pd.Series[float], dates: Dates
) -> Literal["new", "old"] | None:
    """Return the better model, or None if the difference is within its standard error over days.

    A model that is better on empty days only is not better.
    """
    occupied = np.isin(dates, _occupied_dates(labels, dates))
    gains = ((old - labels) ** 2 - (new - labels) ** 2).to_numpy()
    by_day = pd.Series(gains).groupby(dates).mean().to_numpy()
    standard_error = by_day.std(ddof=1) / np.sqrt(by_day.size)
    if np.unique(dates[occupied]).size < OCCUPIED_DAYS or abs(by_day.mean()) <= standard_error:
        return None
    signs = {np.sign(gain) for gain in (by_day.mean(), gains.mean(), gains[occupied].mean())}
    return None if len(signs) > 1 else "new" if signs == {1.0} else "old"
