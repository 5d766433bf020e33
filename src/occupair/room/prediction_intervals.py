"""How sure an estimate is: a range that holds the true count as often as asked, by conformal prediction.

On training days left out one sees how far off estimates are. How far depends on how many are estimated:
an empty room is estimated better than a full one. So the errors are kept by level of the estimate, and a
new estimate takes the quantiles of the errors at its own level. As days differ, a range holds what it
promises on average over days, not on each.

Where counts are known only here and there, they may be few. The next error lies beyond all n of them with the
probability 1 / (n + 1): a range that has to hold more often than that tells is as wide as the room is large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

QUANTILES = np.concatenate([[0.0, 0.005, 0.01], np.arange(0.02, 0.981, 0.01), [0.99, 0.995, 1.0]])
"""Quantiles of the errors that are kept."""

_BINS = 8
_FEWEST = 60  # errors in a bin
_FEWEST_APART = 20  # errors in a bin that are not much the same: for nine of ten it takes 19


@dataclass(frozen=True)
class PredictionIntervals:
    """Quantiles of the error of an estimate, by its level.

    Parameters
    ----------
    edges : array of shape (B,)
        Estimates from which on each bin holds [people]; the first is 0.
    errors : array of shape (B, Q)
        Quantiles ``QUANTILES`` of true minus estimated people in each bin [people].
    """

    edges: Array
    errors: Array

    @classmethod
    def unknown(cls, most: float) -> PredictionIntervals:
        """Give ranges from nobody to the most people seen [people]: no day was left out to learn from."""
        return cls(np.zeros(1), np.where(QUANTILES < 0.5, -most, most)[np.newaxis])

    @classmethod
    def learn(
        cls, estimated: Array, true: Array, weight: Array | None = None, most: float = np.inf
    ) -> PredictionIntervals:
        """Keep the errors of estimates of days left out [people].

        Parameters
        ----------
        estimated, true : array of shape (N,)
            What was said, and how many were in [people].
        weight : array of shape (N,), optional
            How much each error counts where they are few, such that n of them that have nothing to do with
            each other have the sum n. None: they are many.
        most : float
            How far off an estimate can be at most [people].

        Examples
        --------
        >>> ranges = PredictionIntervals.learn(np.full(200, 5.0), np.tile([4.0, 6.0], 100))
        >>> ranges.around(np.array([5.0]), 0.9)
        (array([4.]), array([6.]))
        """
        inside = estimated[estimated > 0]
        fewest = inside.size // _FEWEST
        if weight is not None:
            fewest = min(fewest, int(weight[estimated > 0].sum() / _FEWEST_APART))
        bins = min(_BINS, max(fewest, 1))
        cuts = np.quantile(inside, np.arange(bins) / bins) if inside.size else np.array([])
        edges = np.unique(np.concatenate([[0.0], np.ceil(cuts * 1000) / 1000]))  # up: 0 keeps its bin
        which = np.searchsorted(edges, estimated, side="right") - 1
        error = true - estimated
        if weight is not None:
            return cls(edges, np.array([_few(error, weight, which == k, most) for k in range(edges.size)]))
        quantiles = [
            np.quantile(error[which == k] if (which == k).any() else error, QUANTILES)
            for k in range(edges.size)
        ]
        return cls(edges, np.round(quantiles, 3))

    def around(self, people: Array, interval: float) -> tuple[Array, Array]:
        """Give the range that holds the true count with probability ``interval`` [people]."""
        return self.between(people, *self.errors_at(interval))

    def between(self, people: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Give the range between two errors of each bin: those of ``errors_at`` [people]."""
        which = self.edges.searchsorted(people, side="right") - 1
        return with_errors(people, low[which], high[which])

    def errors_at(self, interval: float) -> tuple[Array, Array]:
        """Give the errors between which the share ``interval`` lies, in each bin [people]."""
        low, high = (
            np.array([np.interp(level, QUANTILES, errors) for errors in self.errors])
            for level in ((1 - interval) / 2, (1 + interval) / 2)
        )
        return low, high


def _few(error: Array, weight: Array, which: NDArray[np.bool_], most: float) -> Array:
    """Give quantiles of some errors such that the next error lies beyond them no more often than they say.

    Of all errors where those are too few; the next error may be anything and has the weight 1.
    """
    if weight[which].sum() >= _FEWEST_APART:
        error, weight = error[which], weight[which]
    low, high = -_beyond(-error, weight, 1 - QUANTILES, most), _beyond(error, weight, QUANTILES, most)
    return np.asarray(np.round(np.where(QUANTILES < 0.5, low, high), 3))


def _beyond(error: Array, weight: Array, levels: Array, most: float) -> Array:
    """Give the smallest errors up to which lie so large shares of all and the next; ``most`` if none does."""
    order = np.argsort(error, kind="stable")
    share = np.cumsum(weight[order]) / (weight.sum() + 1)
    return np.asarray(np.append(error[order], most)[np.searchsorted(share, levels - 1e-9)])


def with_errors(people: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Give the range from so many less to so many more, not below nobody, and with the estimate in it."""
    return np.minimum(np.maximum(people + low, 0.0), people), np.maximum(people + high, people)
