"""How sure an estimate is: a range that holds the true count as often as asked, by conformal prediction.

On training days left out one sees how far off estimates are. How far depends on how many are estimated:
an empty room is estimated better than a full one. So the errors are kept by level of the estimate, and a
new estimate takes the quantiles of the errors at its own level. As days differ, a range holds what it
promises on average over days, not on each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVELS = np.concatenate([[0.0, 0.005, 0.01], np.arange(0.02, 0.981, 0.01), [0.99, 0.995, 1.0]])
"""Quantiles of the errors that are kept."""

_BINS = 8
_FEWEST = 60  # errors in a bin


@dataclass(frozen=True)
class Ranges:
    """Quantiles of the error of an estimate, by its level.

    Parameters
    ----------
    edges : array of shape (B,)
        Estimates from which on each bin holds [people]; the first is 0.
    errors : array of shape (B, Q)
        Quantiles ``LEVELS`` of true minus estimated people in each bin [people].
    """

    edges: Array
    errors: Array

    @classmethod
    def unknown(cls, most: float) -> Ranges:
        """Give ranges from nobody to the most people seen [people]: no day was left out to learn from."""
        return cls(np.zeros(1), np.where(LEVELS < 0.5, -most, most)[np.newaxis])

    @classmethod
    def learn(cls, estimated: Array, true: Array) -> Ranges:
        """Keep the errors of estimates of days left out [people].

        Examples
        --------
        >>> ranges = Ranges.learn(np.full(200, 5.0), np.tile([4.0, 6.0], 100))
        >>> ranges.around(np.array([5.0]), 0.9)
        (array([4.]), array([6.]))
        """
        inside = estimated[estimated > 0]
        bins = min(_BINS, max(inside.size // _FEWEST, 1))
        cuts = np.quantile(inside, np.arange(bins) / bins) if inside.size else np.array([])
        edges = np.unique(np.concatenate([[0.0], np.ceil(cuts * 1000) / 1000]))  # up: 0 keeps its bin
        which = np.searchsorted(edges, estimated, side="right") - 1
        error = true - estimated
        quantiles = [
            np.quantile(error[which == k] if (which == k).any() else error, LEVELS) for k in range(edges.size)
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
            np.array([np.interp(level, LEVELS, errors) for errors in self.errors])
            for level in ((1 - interval) / 2, (1 + interval) / 2)
        )
        return low, high


def with_errors(people: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Give the range from so many less to so many more, not below nobody, and with the estimate in it."""
    return np.minimum(np.maximum(people + low, 0.0), people), np.maximum(people + high, people)
