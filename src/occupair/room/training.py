"""Training of the default estimator, with cross-validation over days.

In each fold everything is trained on the other days, starting with the mass balance, so no information about
a held-out day reaches its estimates. The weights of ridges and members, presence thresholds and prediction
intervals come from the held-out estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from occupair.elm.cores import each_on_a_core
from occupair.progress import track
from occupair.room.day_conformal import fit_intervals
from occupair.room.equation import is_present
from occupair.room.evidence import fit_thresholds
from occupair.room.features import feature_settings
from occupair.room.fitted_balances import (
    BalanceFold,
    BalanceStart,
    FittedBalances,
    fit_balances,
    fold_balances,
)
from occupair.room.hindsight_training import fit_hindsight
from occupair.room.inputs import Clock
from occupair.room.members import (
    TrainingSettings,
    Validation,
    best_validation,
    stack_weights,
    train_members,
)
from occupair.room.model import Refinement, RoomModel
from occupair.room.open_hours import OpenHours, fit_open_hours
from occupair.room.prediction_intervals import PredictionIntervals
from occupair.room.time_profile import TimeProfile
from occupair.room.training_days import HEADROOM, LabelledEpisode, TrainingDays, prepare_training_days

Array = NDArray[np.float64]

THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Candidate thresholds of presence."""


@dataclass(frozen=True)
class HeldOutEstimates:
    """Cross-validated estimates of the training days, at lag 0.

    Parameters
    ----------
    clock : list of Clock
        Local times of each day.
    people, estimated : list of array
        Head counts and held-out estimates [people].
    weights : list of array, optional
        Weight of each head count, 0 where there is none; None: all 1.
    effective_days : float
        Number of fully labelled days that the head counts are equivalent to.
    training : TrainingDays
        The training samples.
    by_lag : dict
        By lag [readings], the held-out estimates of all days concatenated [people].
    hours : list of OpenHours
        For each day the open hours learned from the other days.
    in_hindsight : array, optional
        Held-out estimates in hindsight of all days concatenated [people]; None for a single day.
    """

    clock: list[Clock]
    people: list[Array]
    estimated: list[Array]
    weights: list[Array] | None
    effective_days: float
    training: TrainingDays
    by_lag: dict[int, Array]
    hours: list[OpenHours]
    in_hindsight: Array | None = None

    @property
    def error(self) -> float:
        """RMSE [people]."""
        difference = np.concatenate(self.people) - np.concatenate(self.estimated)
        weight = None if self.weights is None else np.concatenate(self.weights)
        return float(np.sqrt(np.average(difference**2, weights=weight)))


def fit_room(
    dates: Sequence[Sequence[LabelledEpisode]], settings: TrainingSettings, prior: BalanceStart | None = None
) -> tuple[RoomModel, HeldOutEstimates]:
    """Train a room.

    Parameters
    ----------
    dates : sequence of sequence of LabelledEpisode
        Episodes of each local day.
    settings : TrainingSettings
        Settings of the training.
    prior : BalanceStart, optional
        Mass balances of other rooms to start from.

    Returns
    -------
    model, held_out
        The trained room, and its cross-validated estimates.
    """
    import sklearn.ensemble  # noqa: F401 before threads train with it, see `each_on_a_core`

    training = prepare_training_days(
        dates, interval=settings.interval, smoothing=settings.smoothing, lags=settings.lags
    )
    if prior is not None:
        training = replace(training, headroom=HEADROOM)
    fitted, folds = fit_balances(training, prior), fold_balances(training, prior)
    unobserved = None if training.sparse is None else training.sparse.unobserved
    hours, held_out_hours = fit_open_hours(
        training.clocks, training.people[0], training.weights(0), unobserved
    )
    validations = {
        lag: best_validation(folds, training, lag, settings)
        for lag in track(list(training.people), "training", show=settings.verbose)
    }

    def refine(lag: int) -> tuple[Refinement, Array]:
        return _refine(fitted, folds, lag, validations[lag], held_out_hours, settings)

    trained = each_on_a_core(refine, list(validations))
    refinements = tuple(refinement for refinement, _ in trained)
    hindsight, smoothed = (
        fit_hindsight(dates, training, trained[-1][1], held_out_hours) if folds else (None, None)
    )
    model = RoomModel(
        settings.interval,
        settings.smoothing,
        training.max_people,
        hours,
        refinements,
        settings.lags,
        profile=TimeProfile.fit(training.clocks, training.people[0], training.weights(0)),
        people_limit=training.people_limit,
        evidence_thresholds=fit_thresholds(
            [fold.held_out_balances for fold in folds], hours, training.max_people
        ),
        hindsight=hindsight,
    )
    held_out = HeldOutEstimates(
        training.clocks,
        training.people[0],
        training.split(trained[0][1]),
        training.counted_weights(0),
        effective_days=training.effective_days,
        training=training,
        by_lag={one.lag: estimated for one, estimated in trained},
        hours=held_out_hours,
        in_hindsight=smoothed,
    )
    return model, held_out


def _refine(
    fitted: FittedBalances,
    folds: Sequence[BalanceFold],
    lag: int,
    validation: Validation,
    held_out_hours: Sequence[OpenHours],
    settings: TrainingSettings,
) -> tuple[Refinement, Array]:
    """Train the refinement of one lag; also return its held-out estimates [people]."""
    training, target = fitted.training, fitted.training.target(lag)
    network, trees, kernel, _ = train_members(fitted, lag, validation.seed, settings)
    weights = stack_weights(training, validation.people - target, training.weight(lag), settings.stack_prior)
    estimated = weights @ validation.people
    threshold = _best_threshold(
        estimated, validation.presence, target, training.max_people, training.weight(lag)
    )
    present = is_present(estimated, validation.presence, threshold, training.max_people)
    before = lag * settings.interval
    is_open = np.concatenate(
        [hours.at(clock, before) for hours, clock in zip(held_out_hours, training.clocks, strict=True)]
    )
    estimated = np.where(present & is_open, estimated, 0.0)
    intervals = (
        fit_intervals(training, lag, estimated)
        if folds
        else PredictionIntervals.unknown(training.people_limit)
    )
    balance = fitted.balances[lag]
    refinement = Refinement(
        weights=tuple(weights.tolist()),
        balance=balance,
        trees=trees,
        kernel=kernel,
        features=feature_settings(balance, lag),
        layer=network.layer,
        coef=np.tensordot(validation.candidates[:, 0], network.read_outs, 1)[:, 0] * network.unit,
        presence=np.tensordot(validation.candidates[:, 1], network.read_outs, 1)[:, 1],
        threshold=threshold,
        intervals=intervals,
    )
    return refinement, estimated


def _best_threshold(
    estimated: Array, presence: Array, people: Array, max_people: float, weight: Array | None = None
) -> float:
    """Return the threshold of presence with the smallest squared error; of equals, the highest."""

    def error(threshold: float) -> float:
        present = is_present(estimated, presence, threshold, max_people)
        squares = (np.where(present, estimated, 0.0) - people) ** 2
        return float(np.sum(squares if weight is None else weight * squares))

    errors = [error(threshold) for threshold in THRESHOLDS]
    return THRESHOLDS[len(errors) - 1 - int(np.argmin(errors[::-1]))]
