"""Weights of the members of the default estimator, from their errors on held-out days.

The weight of a member is its prior weight times a power of its mean squared error on held-out days. A member
that does badly in a room has next to no weight there, and members that do about equally well are averaged,
since a dozen days cannot tell which of them is best. Weights that minimise the error of the weighted mean
itself, by least squares, fit the few days at hand too closely and were worse on other days. The power grows
with the number of days, so with few of them the weights are close to the prior ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MEMBERS = ("network", "balance", "trees", "kernel", "profile")
"""Members of the default estimator: FS-ELM, mass balance, boosted trees, kernel regression and time-of-day
profile."""

EXPONENT = 6.0
"""Power of the squared error with many days: 10 % more RMSE than another member is a third of its weight."""


class StackPrior(NamedTuple):
    """What is known about the weights before a room has held-out days.

    Parameters
    ----------
    weights : tuple of float
        Prior weight of each of ``MEMBERS``, up to a common factor; a member with weight 0 is not used.
    days : float
        Number of labelled days at which half of ``EXPONENT`` is reached.
    """

    weights: tuple[float, ...] = (1.0,) * len(MEMBERS)  # no member leads over many rooms
    days: float = 5.0


STACK_PRIOR = StackPrior()
"""Prior of the default estimator."""


def member_weights(
    errors: Array, prior: Array, n_days: float, weight: Array | None = None, *, prior_days: float
) -> Array:
    """Return the weights of the members, which sum to 1.

    Parameters
    ----------
    errors : array of shape (n_members, N)
        Error of each member on held-out days [people].
    prior : array of shape (n_members,)
        Prior weights up to a common factor; a member with prior weight 0 is not used.
    n_days : float
        Number of fully labelled days that the errors stand for.
    weight : array of shape (N,), optional
        Sample weights; None: all 1.
    prior_days : float
        Number of days at which half of ``EXPONENT`` is reached.

    Examples
    --------
    A member with twice the mean squared error of another one, after many days and after one:

    >>> errors = np.array([[1.0, -1.0], [2.0**0.5, 2.0**0.5]])
    >>> member_weights(errors, np.ones(2), n_days=1e9, prior_days=5.0).round(3)
    array([0.985, 0.015])
    >>> member_weights(errors, np.ones(2), n_days=1.0, prior_days=5.0).round(3)
    array([0.667, 0.333])
    """
    squares = errors**2 if weight is None else weight * errors**2
    size = np.where(prior > 0, squares.sum(axis=1), np.inf)
    least = size.min()
    if least > 0:
        found = prior * (size / least) ** (-EXPONENT * n_days / (n_days + prior_days))
    else:  # members without any error share the weight
        found = prior * (size == 0)
    return np.asarray(found / found.sum())
