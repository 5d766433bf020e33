"""Prediction intervals of the estimates, by conformal prediction.

The intervals are quantiles of the errors on held-out training days. Errors depend on the level of the
estimate: an empty room is estimated more accurately than a full one. They are therefore binned by estimate,
and a new estimate uses the quantiles of its own bin. Since days differ, the nominal coverage is reached on
average over days, not on each day.

With sparse head counts there may be few errors. The next error exceeds all n observed errors with
probability 1 / (n + 1), so an interval with a higher confidence than n errors support spans all possible
occupancies.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from occupair.room.error_scale import ErrorScale, scale_features
from occupair.room.inputs import Inputs

Array = NDArray[np.float64]

QUANTILES = np.concatenate([[0.0, 0.005, 0.01], np.arange(0.02, 0.981, 0.01), [0.99, 0.995, 1.0]])
"""Quantiles of the errors that a model stores."""

CONFIDENCE = 0.9
"""Default confidence of prediction intervals."""

_LEAST_TAIL = 0.002  # smallest tail probability of an unknown factor
_BINS = 8
_MIN_ERRORS = 60  # per bin
_MIN_EFFECTIVE_ERRORS = 20  # per bin, sum of weights; a confidence of 0.9 needs 19


@dataclass(frozen=True)
class PredictionIntervals:
    """Quantiles of the estimation error, binned by estimate.

    Parameters
    ----------
    edges : array of shape (B,)
        Lower edge of each bin [people]; the first is 0.
    errors : array of shape (B, Q)
        ``QUANTILES`` of true minus estimated people in each bin [people], or in units of ``scale``.
    scale : ErrorScale, optional
        Expected size of the errors, which the errors are multiples of; None: they are in people.
    highest : float
        Largest upper limit of an interval, except where the estimate itself is larger [people].
    """

    edges: Array
    errors: Array
    scale: ErrorScale | None = None
    highest: float = np.inf

    @classmethod
    def unknown(cls, max_people: float) -> PredictionIntervals:
        """Return intervals from 0 to the maximum occupancy [people], for use without held-out days."""
        return cls(np.zeros(1), np.where(QUANTILES < 0.5, -max_people, max_people)[np.newaxis])

    @classmethod
    def fit(
        cls, estimated: Array, true: Array, weight: Array | None = None, max_error: float = np.inf
    ) -> PredictionIntervals:
        """Fit the intervals to estimates on held-out days.

        Parameters
        ----------
        estimated, true : array of shape (N,)
            Estimates and head counts [people].
        weight : array of shape (N,), optional
            Weight of each error when head counts are sparse, scaled so that n independent errors sum to n.
            None: head counts are complete.
        max_error : float
            Largest possible error [people].

        Examples
        --------
        >>> intervals = PredictionIntervals.fit(np.full(200, 5.0), np.tile([4.0, 6.0], 100))
        >>> intervals.around(np.array([5.0]), 0.9)
        (array([4.]), array([6.]))
        """
        occupied = estimated[estimated > 0]
        supported = occupied.size // _MIN_ERRORS
        if weight is not None:
            supported = min(supported, int(weight[estimated > 0].sum() / _MIN_EFFECTIVE_ERRORS))
        bins = min(_BINS, max(supported, 1))
        cuts = np.quantile(occupied, np.arange(bins) / bins) if occupied.size else np.array([])
        edges = np.unique(np.concatenate([[0.0], np.ceil(cuts * 1000) / 1000]))  # up: 0 keeps its own bin
        which = np.searchsorted(edges, estimated, side="right") - 1
        error = true - estimated
        if weight is not None:
            quantiles = [_sparse_quantiles(error, weight, which == k, max_error) for k in range(edges.size)]
            return cls(edges, np.array(quantiles))
        by_bin = [error[which == k] if (which == k).any() else error for k in range(edges.size)]
        return cls(edges, np.round([np.quantile(one, QUANTILES) for one in by_bin], 3))

    def widened(self, spread: float, offset: float, highest: float) -> PredictionIntervals:
        """Return intervals for estimates that are also wrong by an unknown factor and an unknown offset.

        Parameters
        ----------
        spread : float
            Standard deviation of the logarithm of the factor, which is log-normal.
        offset : float
            Standard deviation of the offset, which is normal [people].
        highest : float
            Largest upper limit of an interval [people].

        Examples
        --------
        >>> exact = PredictionIntervals(np.array([0.0, 4.0]), np.zeros((2, QUANTILES.size)), highest=6.0)
        >>> low, high = exact.widened(0.3, 0.0, 8.0).around(np.array([0.0, 5.0]), 0.9)
        >>> low.round(1).tolist(), high.round(1).tolist()
        ([0.0, 2.7], [1.3, 8.0])
        >>> exact.widened(0.0, 1.0, 8.0).around(np.array([2.0]), 0.9)[1].round(2)
        array([3.64])
        """
        top = max(highest, self.highest if np.isfinite(self.highest) else 0.0)
        people = (self.edges + np.append(self.edges[1:], max(top, self.edges[-1]))) / 2
        unit = 1.0 if self.scale is None else self.scale.max_people
        multiple = ndtri(np.clip(QUANTILES, _LEAST_TAIL, 1 - _LEAST_TAIL))
        by_factor = people[:, np.newaxis] * np.expm1(spread * multiple)
        unknown = np.hypot(by_factor, offset * multiple) / unit
        wider = np.hypot(self.errors, unknown) - np.abs(self.errors)
        errors = self.errors + np.sign(multiple) * wider
        return replace(self, errors=np.round(errors, 5), highest=top)

    def around(self, people: Array, confidence: float, scales: Array | None = None) -> tuple[Array, Array]:
        """Return the prediction intervals (low, high) of estimates at a nominal coverage [people]."""
        return self.with_errors(people, *self.errors_at(confidence), scales)

    def with_errors(
        self, people: Array, low: Array, high: Array, scales: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the prediction intervals of estimates for given errors of each bin, see ``errors_at``.

        ``scales`` are those of ``scales_at``.
        """
        which = self.edges.searchsorted(people, side="right") - 1
        return add_errors(people, low[which], high[which], scales, self.highest)

    def upper_end(self, people: float, confidence: float, scale: float = 1.0) -> float:
        """Return the upper end of the prediction interval of one estimate, faster than ``around`` [people].

        ``scale`` is the unit of errors above the estimate, see ``scales_at``.
        """
        which = bisect_right(self._edge_list, people) - 1
        if confidence not in self._upper_errors:
            self._upper_errors[confidence] = self.errors_at(confidence)[1].tolist()
        high = people + scale * self._upper_errors[confidence][which]
        return max(min(high, self.highest), people)

    @cached_property
    def _edge_list(self) -> list[float]:
        return [float(edge) for edge in self.edges]

    @cached_property
    def _upper_errors(self) -> dict[float, list[float]]:
        """Upper error of each bin, by confidence [people]."""
        return {}

    def scales_at(self, inputs: Inputs, before: float = 0.0) -> Array | None:
        """Return the unit of the errors below and above N estimates, shape (2, N) [people].

        ``before`` is the time from the reading that is estimated to the newest one of each input [min].
        """
        return None if self.scale is None else self.scale.at(scale_features(inputs, before))

    def errors_at(self, confidence: float) -> tuple[Array, Array]:
        """Return the lower and upper error of each bin that enclose the share ``confidence`` [people]."""
        low, high = (
            np.array([np.interp(quantile, QUANTILES, errors) for errors in self.errors])
            for quantile in ((1 - confidence) / 2, (1 + confidence) / 2)
        )
        return low, high


def _sparse_quantiles(error: Array, weight: Array, which: NDArray[np.bool_], max_error: float) -> Array:
    """Return conservative quantiles of the errors in a bin, or of all errors if the bin has too few.

    The unknown next error is included with weight 1 and may take any value.
    """
    if weight[which].sum() >= _MIN_EFFECTIVE_ERRORS:
        error, weight = error[which], weight[which]
    low = -_conservative_quantile(-error, weight, 1 - QUANTILES, max_error)
    high = _conservative_quantile(error, weight, QUANTILES, max_error)
    return np.asarray(np.round(np.where(QUANTILES < 0.5, low, high), 3))


def _conservative_quantile(error: Array, weight: Array, quantiles: Array, max_error: float) -> Array:
    """Return the smallest errors that reach the quantiles of all errors and the next; else ``max_error``."""
    order = np.argsort(error, kind="stable")
    share = np.cumsum(weight[order]) / (weight.sum() + 1)
    return np.asarray(np.append(error[order], max_error)[np.searchsorted(share, quantiles - 1e-9)])


def add_errors(
    people: Array,
    low: Array,
    high: Array,
    scales: Array | None = None,
    highest: float | Array = np.inf,
) -> tuple[Array, Array]:
    """Return the interval of each estimate: at least 0, and always containing the estimate [people]."""
    if scales is not None:
        low, high = low * scales[0], high * scales[1]
    return (
        np.minimum(np.maximum(people + low, 0.0), people),
        np.maximum(np.minimum(people + high, highest), people),
    )
