"""Filtering a hidden Markov chain forward, and back again over a fixed lag."""

from __future__ import annotations

import numpy as np

from occupair.baselines.episodes import Array


def forward(start: Array, matrices: Array, likelihood: Array) -> Array:
    """Chances of each state after each reading, given the readings up to it.

    Parameters
    ----------
    start : array of shape (S,)
        Chances before the first reading.
    matrices : array of shape (N, S, S)
        ``matrices[k]`` leads from reading k-1 to reading k; the first is not used.
    likelihood : array of shape (N, S)
        How likely each state makes each reading, up to a factor per reading.

    Returns
    -------
    array of shape (N, S)

    Examples
    --------
    >>> stay = np.array([[[1.0, 0.0], [0.0, 1.0]]] * 2)
    >>> forward(np.array([0.5, 0.5]), stay, np.array([[1.0, 3.0], [1.0, 1.0]]))
    array([[0.25, 0.75],
           [0.25, 0.75]])
    """
    chances = np.empty_like(likelihood)
    belief = start
    for k in range(len(likelihood)):
        belief = (belief @ matrices[k] if k else belief) * likelihood[k]
        belief = belief / belief.sum()
        chances[k] = belief
    return chances


def fixed_lag(chances: Array, matrices: Array, likelihood: Array, older: int) -> Array:
    """Chances of each state given also the ``older`` readings after it, or those there are.

    Parameters
    ----------
    chances : array of shape (N, S)
        What ``forward`` gives.
    matrices, likelihood
        See ``forward``.
    older : int
        Later readings to take into account.

    Returns
    -------
    array of shape (N, S)
    """
    n = len(chances)
    later = np.ones_like(chances)  # how likely the readings after k are, from each state at k
    for j in range(min(older, n - 1), 0, -1):
        reached = slice(j, n)
        step = (matrices[reached] @ (likelihood[reached] * later[: n - j])[:, :, None])[:, :, 0]
        later[: n - j] = step / step.sum(axis=1, keepdims=True)
    smoothed = chances * later
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))
