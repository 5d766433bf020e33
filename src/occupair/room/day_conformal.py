"""Prediction intervals that follow the expected size of the errors, calibrated on held-out days.

Errors are divided by their scale (``occupair.room.error_scale``) and binned by estimate; a new estimate uses
the quantiles of its bin. Few days have no example of most errors that occur later, so each bin also has a
prior: errors with a Laplace distribution, whose scale grows with the square root of the estimate as that of a
count does, and with the weight of ``PRIOR_ERRORS`` independent errors.

Readings of one day are alike, and days differ, so quantiles of the same days are too optimistic. Scale and
quantiles are therefore fitted again without the days of each fold, and the tail probabilities are chosen such
that these days miss the interval as rarely as they should: conformalized quantile regression (Romano et al.
2019) with folds of days, as in the CV+ of Barber et al. (2021).

Few days tell little about how often rare errors occur, so the misses are averaged with the usual ones, which
count as much as ``USUAL_DAYS`` days.

With few days fewer misses are allowed (``MORE_DAYS``), since the next day may be unlike all of them.

The count of an empty room never lies above an interval, so calibration on all readings alone leaves too many
misses for occupied ones. With ``LIMITS`` about the nominal number of misses remains, of all readings and of
the occupied ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.folds import day_folds
from occupair.room.error_scale import ErrorScale, fit_error_scale, scale_features, scale_unit
from occupair.room.prediction_intervals import QUANTILES, PredictionIntervals
from occupair.room.training_days import TrainingDays

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

MAX_FOLDS = 10
"""Maximum number of folds of days in the calibration."""

MIN_DAYS, MIN_ERRORS = 5, 200
"""Days, and independent errors, from which on sparse head counts are enough for this method."""

INDEPENDENCE_TIME = 15
"""Head counts of a day within one period of this length count as one independent error [min]."""

MAX_SAMPLES = 6000
"""Maximum number of errors used; more readings of the same days add little."""

PRIOR_ERRORS = 20.0
"""Weight of the prior in each bin, in independent errors; a day has 96 of them in all bins."""

PRIOR_SCALE = (0.02, 0.25)
"""Scale of the prior errors: a constant, and a factor of the square root of the estimate.

Errors and estimates are relative to the maximum occupancy. Half of the prior errors exceed 0.7 of this scale.
"""

USUAL_DAYS = 40
"""Number of days from which on the misses on the days themselves count more than the usual ones."""


MORE_DAYS = 2
"""With n days, n / (n + ``MORE_DAYS``) of the misses are allowed, as the next day may be unlike them all."""


class Limit(NamedTuple):
    """Limit on the misses of a kind."""

    above: bool  # whether the count lies above the interval, or below
    occupied: bool  # whether shares are of occupied readings, or of all
    allowed: float  # ratio to the nominal misses, if those are few; a little less if they are many
    usual: float  # usual ratio of such misses on held-out days to the tail probability of the quantiles


LIMITS = (
    Limit(above=False, occupied=False, allowed=0.74, usual=0.58),
    Limit(above=False, occupied=True, allowed=0.37, usual=0.28),
    Limit(above=True, occupied=True, allowed=1.0, usual=2.1),
)
"""Limits on the misses. The usual ratio above 1 is due to empty rooms, which have no error above."""

EDGES = np.array([0.0, 1e-6, 0.03, 0.07, 0.12, 0.2, 0.3, 0.45, 0.65, 0.85])
"""Lower edges of the bins relative to the maximum occupancy; an estimate of 0 has its own bin."""

_TAILS = np.array(
    [0.0, *np.arange(0.0025, 0.02, 0.0025), *np.arange(0.02, 0.1, 0.01), *np.arange(0.1, 0.501, 0.025)]
)
_PRIOR_QUANTILES = (np.arange(100) + 0.5) / 100


class HeldOutErrors(NamedTuple):
    """Estimates of held-out days.

    Parameters
    ----------
    features : array of shape (N_FEATURES, N)
        Features of the expected errors, see ``scale_features``.
    estimated, true : array of shape (N,)
        Estimates and head counts [people].
    day : array of int of shape (N,)
        Number of the day of each estimate.
    weight : array of shape (N,)
        Weight of each error, scaled so that n independent errors sum to n.
    """

    features: Array
    estimated: Array
    true: Array
    day: Indices
    weight: Array

    @property
    def error(self) -> Array:
        """True minus estimated people [people]."""
        return self.true - self.estimated

    @classmethod
    def of(cls, training: TrainingDays, lag: int, estimated: Array) -> HeldOutErrors:
        """Return the errors of training days; those of a day within ``INDEPENDENCE_TIME`` weigh as one.

        Parameters
        ----------
        training : TrainingDays
            Training days.
        lag : int
            Lag of the estimates [readings].
        estimated : array of shape (N,)
            Estimates of all days, each by a model that was not trained on that day [people].
        """
        counted = training.counted_weights(lag)
        weights = counted or [np.ones(len(inputs)) for inputs in training.days]
        features, independent = [], []
        for inputs, weight in zip(training.days, weights, strict=True):
            features.append(scale_features(inputs, lag * training.interval))
            period = (inputs.clock.minute // INDEPENDENCE_TIME).astype(int)
            counts = np.bincount(period, weights=weight > 0)[period]
            independent.append(weight / np.maximum(counts, 1))
        day = np.repeat(np.arange(len(training)), [len(inputs) for inputs in training.days])
        target = training.target(lag)
        errors = cls(np.hstack(features), estimated, target, day, np.concatenate(independent))
        return errors if counted is None else errors.take(errors.weight > 0)

    def take(self, which: slice | Flags | Indices) -> HeldOutErrors:
        """Return some of the errors."""
        return HeldOutErrors(
            self.features[:, which],
            self.estimated[which],
            self.true[which],
            self.day[which],
            self.weight[which],
        )

    def fit_scale(self, max_people: float, start: Array | None = None) -> tuple[ErrorScale, Array]:
        """Fit the scale of the errors, see ``fit_error_scale``."""
        return fit_error_scale(self.features, self.estimated, self.true, self.weight, max_people, start)

    def thinned(self) -> HeldOutErrors:
        """Return every n-th error, with n times its weight, if there are very many."""
        every = -(-self.true.size // MAX_SAMPLES)
        some = self.take(slice(None, None, every))
        return some._replace(weight=some.weight * every)


def fit_intervals(training: TrainingDays, lag: int, estimated: Array) -> PredictionIntervals:
    """Fit prediction intervals to the errors on two or more held-out days; see ``HeldOutErrors.of``.

    Few sparse head counts only support intervals that depend on the estimate alone.
    """
    held_out = HeldOutErrors.of(training, lag, estimated)
    if training.sparse is None or supports_scale(held_out):
        return fit_scaled_intervals(held_out, training.max_people)
    return PredictionIntervals.fit(held_out.estimated, held_out.true, held_out.weight, training.people_limit)


def fit_unscaled_intervals(
    training: TrainingDays, lag: int, estimated: Array, which: Indices
) -> PredictionIntervals:
    """Fit prediction intervals that depend on the estimate alone, to estimates of some samples.

    Parameters
    ----------
    training : TrainingDays
        Training days.
    lag : int
        Lag of the estimates [readings].
    estimated : array of shape (n,)
        Held-out estimates of the samples [people].
    which : array of int of shape (n,)
        Numbers of the samples.
    """
    if training.sparse is None:
        return PredictionIntervals.fit(estimated, training.target(lag)[which])
    all_samples = np.full(training.target(lag).size, np.nan)
    all_samples[which] = estimated
    held_out = HeldOutErrors.of(training, lag, all_samples)
    held_out = held_out.take(np.isfinite(held_out.estimated))
    return PredictionIntervals.fit(held_out.estimated, held_out.true, held_out.weight, training.people_limit)


def supports_scale(held_out: HeldOutErrors) -> bool:
    """Whether sparse head counts are enough for intervals that follow the expected errors."""
    labelled = held_out.day[held_out.weight > 0]
    return np.unique(labelled).size >= MIN_DAYS and float(held_out.weight.sum()) >= MIN_ERRORS


def fit_scaled_intervals(held_out: HeldOutErrors, max_people: float) -> PredictionIntervals:
    """Fit prediction intervals to the errors on two or more held-out days.

    Parameters
    ----------
    held_out : HeldOutErrors
        Errors on held-out days.
    max_people : float
        Maximum occupancy [people].
    """
    data = held_out.thinned()
    _, day = np.unique(data.day, return_inverse=True)
    n_days, unit = int(day.max()) + 1, scale_unit(max_people)
    which = EDGES.searchsorted(data.estimated / unit, side="right") - 1
    scale, coef = data.fit_scale(max_people)
    exceeded = np.zeros((2, data.true.size, _TAILS.size), dtype=bool)
    for fold in day_folds(n_days, MAX_FOLDS):
        inside = np.isin(day, fold.train)
        train, test = data.take(inside), data.take(~inside)
        refitted, _ = train.fit_scale(max_people, coef)
        quantiles = _bin_quantiles(_multiples(refitted, train), which[inside], train.weight)
        exceeded[:, ~inside] = _multiples(refitted, test)[..., np.newaxis] > quantiles[:, which[~inside]]
    tails = _calibrated_tails(exceeded, data, n_days)
    quantiles = _bin_quantiles(_multiples(scale, data), which, data.weight)
    errors = [
        np.concatenate([-np.interp(tails[0], _TAILS, low), np.interp(tails[1], _TAILS, high)])
        for low, high in zip(*quantiles, strict=True)
    ]
    return PredictionIntervals(EDGES * unit, np.round(errors, 5), scale, max_people * (1 + 1 / n_days))


def prior_errors() -> Array:
    """Return quantiles of the prior errors in each bin, as shares of the maximum occupancy."""
    middle = np.append((EDGES[:-1] + EDGES[1:]) / 2, (EDGES[-1] + 1) / 2)[:, np.newaxis]
    scale = PRIOR_SCALE[0] + PRIOR_SCALE[1] * np.sqrt(middle)
    tail = np.minimum(_PRIOR_QUANTILES, 1 - _PRIOR_QUANTILES)
    laplace = np.sign(_PRIOR_QUANTILES - 0.5) * -np.log(2 * tail)
    return np.asarray(np.clip(scale * laplace, -middle, 1 - middle))


def _multiples(scale: ErrorScale, data: HeldOutErrors) -> Array:
    """Return the errors below and above the estimate in units of their scale, shape (2, N)."""
    return np.stack([-data.error, data.error]) / scale.at(data.features)


def _bin_quantiles(multiples: Array, which: Indices, weight: Array) -> Array:
    """Return the quantiles 1 - ``_TAILS`` in each bin, at least 0; shape (2, n_bins, n_tails)."""
    found = np.zeros((2, EDGES.size, _TAILS.size))
    for k, prior in enumerate(prior_errors()):
        inside = which == k
        weights = np.append(weight[inside], np.full(prior.size, PRIOR_ERRORS / prior.size))
        for side, sign in enumerate((-1.0, 1.0)):
            found[side, k] = upper_quantiles(
                np.append(multiples[side][inside], sign * prior), weights, _TAILS
            )
    return np.maximum(found, 0.0)


def _calibrated_tails(exceeded: Flags, data: HeldOutErrors, n_days: int) -> tuple[Array, Array]:
    """Return the tail probabilities below and above the estimate, at ``QUANTILES``, that keep ``LIMITS``.

    ``exceeded`` tells which held-out errors exceed the quantiles of ``_TAILS``, shape (2, N, n_tails).
    """
    occupied, own_share = data.true > 0, n_days / (n_days + USUAL_DAYS)
    is_low = QUANTILES < 0.5
    nominal = 2 * QUANTILES[is_low], 2 * (1 - QUANTILES[~is_low])
    low, high = (np.full(one.size, 0.5) for one in nominal)
    for limit in LIMITS:
        chosen = occupied if limit.occupied else np.ones(occupied.size, dtype=bool)
        weight, missed = data.weight[chosen], limit.usual * _TAILS
        if weight.sum() > 0:
            own = weight @ exceeded[int(limit.above)][chosen] / weight.sum()
            missed = own_share * own + (1 - own_share) * missed
        misses = nominal[int(limit.above)]
        allowed = limit.allowed * misses * (1 - misses / 2) * n_days / (n_days + MORE_DAYS)
        tails, found = high if limit.above else low, np.interp(allowed, np.maximum.accumulate(missed), _TAILS)
        np.minimum(tails, found, out=tails)
    return low, high


def upper_quantiles(values: Array, weight: Array, tails: Array) -> Array:
    """Return the smallest values that at most the shares ``tails`` of the weight exceed.

    Examples
    --------
    >>> upper_quantiles(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), np.array([0.0, 0.25, 0.6]))
    array([4., 3., 2.])
    """
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weight[order])
    place = np.searchsorted(share, (1 - tails - 1e-9) * share[-1])
    return np.asarray(values[order][np.minimum(place, values.size - 1)])
