"""Weights of the members of the default estimator, from their errors on held-out days.

The weights are not negative and sum to 1. They minimise the squared error of the weighted mean on held-out
days plus a penalty on their distance from prior weights, which did well over many rooms. A dozen days say
little about which member is best, so the penalty is strong with few days and fades with more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MEMBERS = ("network", "balance", "trees")
"""Members of the default estimator: FS-ELM, mass balance and boosted trees."""

PRIOR_WEIGHTS = (1 / 3, 1 / 3, 1 / 3)
"""Prior weight of each member: none of them leads over many rooms."""

PRIOR_DAYS = 6.0
"""Number of labelled days to which the prior weights are equivalent."""


def member_weights(
    errors: Array,
    prior: Array,
    n_days: float,
    weight: Array | None = None,
    *,
    prior_days: float = PRIOR_DAYS,
) -> Array:
    """Return the weights of the members.

    Parameters
    ----------
    errors : array of shape (n_members, N)
        Error of each member on held-out days [people].
    prior : array of shape (n_members,)
        Prior weights, which sum to 1; a member with prior weight 0 is not used.
    n_days : float
        Number of fully labelled days that the errors stand for.
    weight : array of shape (N,), optional
        Sample weights; None: all 1.
    prior_days : float
        Number of labelled days to which the prior weights are equivalent.

    Examples
    --------
    >>> errors = np.array([[2.0, -2.0], [1.0, 1.0]])
    >>> member_weights(errors, np.array([0.5, 0.5]), n_days=1e9).round(3)
    array([0.2, 0.8])
    >>> member_weights(errors, np.array([0.5, 0.5]), n_days=1e-9).round(3)
    array([0.5, 0.5])
    """
    used = np.flatnonzero(prior > 0)
    weighted = errors[used] if weight is None else errors[used] * weight
    gram = weighted @ errors[used].T
    penalty = prior_days / n_days * np.trace(gram) / used.size
    found = np.zeros(prior.size)
    found[used] = _minimise(gram, prior[used], penalty) if penalty > 0 else prior[used]
    return found


def _minimise(gram: Array, prior: Array, penalty: float) -> Array:
    """Minimise w'Gw + penalty |w - prior|^2 over the simplex, trying every set of members with weight.

    Three members have seven such sets; the best feasible solution is the minimum.
    """
    n = prior.size
    matrix = gram + penalty * np.eye(n)
    best, least = prior, np.inf
    for code in range(1, 2**n):
        some = [k for k in range(n) if code >> k & 1]
        system = np.ones((len(some) + 1, len(some) + 1))
        system[:-1, :-1], system[-1, -1] = matrix[np.ix_(some, some)], 0.0
        solution = np.linalg.solve(system, np.append(penalty * prior[some], 1.0))[:-1]
        candidate = np.zeros(n)
        candidate[some] = solution
        value = float(candidate @ gram @ candidate + penalty * np.sum((candidate - prior) ** 2))
        if (solution >= 0).all() and value < least:
            best, least = candidate, value
    return best
