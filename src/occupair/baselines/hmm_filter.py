"""Gaussian observation densities, forward filter and fixed-lag smoother of a hidden Markov model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.baselines.baseline import Array


@dataclass(frozen=True)
class Emissions:
    """Gaussian observation densities of S states in D dimensions.

    Parameters
    ----------
    mean : array of shape (S, D)
        Means.
    covariance : array of shape (S, D, D)
        Covariances.
    """

    mean: Array
    covariance: Array

    @classmethod
    def learn(cls, seen: Array, states: NDArray[np.intp], people: Array, *, weight: float = 100) -> Emissions:
        """Estimate the densities from observations with known states.

        Each mean is regularised, with the weight of ``weight`` readings, towards a straight line through
        the occupied states, and each covariance towards the pooled covariance of the occupied (or all)
        states, because states observed for a few minutes would otherwise be overconfident.

        Parameters
        ----------
        seen : array of shape (N, D)
            Observations.
        states : array of shape (N,)
            State at each observation.
        people : array of shape (S,)
            Head count of each state [people].
        """
        line = np.column_stack([np.ones_like(people), people, people > 0])
        typical = line @ np.linalg.lstsq(line[states], seen, rcond=None)[0]
        number = np.bincount(states, minlength=people.size)[:, None]
        total = np.zeros_like(typical)
        np.add.at(total, states, seen)
        mean = (total + weight * typical) / (number + weight)
        return cls(mean, _covariances(seen - mean[states], states, people.size, weight))

    def log_likelihood(self, seen: Array) -> Array:
        """Return the log-likelihood of each state at each reading, relative to the most likely state.

        Examples
        --------
        >>> two = Emissions(np.array([[0.0], [2.0]]), np.ones((2, 1, 1)))
        >>> two.log_likelihood(np.array([[0.0], [1.0]]))
        array([[ 0., -2.],
               [ 0.,  0.]])
        """
        away = seen[:, None, :] - self.mean
        precision, size = np.linalg.inv(self.covariance), np.linalg.slogdet(self.covariance)[1]
        log = -(np.einsum("nsi,sij,nsj->ns", away, precision, away) + size) / 2
        return np.asarray(log - log.max(axis=1, keepdims=True))


def _covariances(residuals: Array, states: NDArray[np.intp], size: int, weight: float) -> Array:
    occupied = residuals[states > 0] if (states > 0).any() else residuals
    tiny = 1e-6 * np.eye(residuals.shape[1])
    pooled = [second_moment(residuals) + tiny, second_moment(occupied) + tiny]
    each = [residuals[states == state] for state in range(size)]
    return np.array(
        [(m.T @ m + weight * pooled[state > 0]) / (len(m) + weight) for state, m in enumerate(each)]
    )


def second_moment(residuals: Array) -> Array:
    """Return the mean outer product of the rows.

    Examples
    --------
    >>> second_moment(np.array([[1.0, 2.0], [-1.0, 0.0]]))
    array([[1., 1.],
           [1., 2.]])
    """
    return residuals.T @ residuals / len(residuals)


def forward(start: Array, matrices: Array, likelihood: Array) -> Array:
    """Return the filtered state probabilities, given the readings up to each reading.

    Parameters
    ----------
    start : array of shape (S,)
        Initial state probabilities.
    matrices : array of shape (N, S, S)
        Transition matrices; ``matrices[k]`` is from reading k-1 to k, the first is unused.
    likelihood : array of shape (N, S)
        Likelihood of each state at each reading, up to a factor per reading.

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
    probabilities = np.empty_like(likelihood)
    belief = start
    for k in range(len(likelihood)):
        belief = (belief @ matrices[k] if k else belief) * likelihood[k]
        belief = belief / belief.sum()
        probabilities[k] = belief
    return probabilities


def fixed_lag(probabilities: Array, matrices: Array, likelihood: Array, older: int) -> Array:
    """Return the state probabilities given also the ``older`` later readings, as far as available.

    Parameters
    ----------
    probabilities : array of shape (N, S)
        Result of ``forward``.
    matrices, likelihood
        See ``forward``.
    older : int
        Number of later readings to use.

    Returns
    -------
    array of shape (N, S)
    """
    n = len(probabilities)
    later = np.ones_like(probabilities)  # likelihood of the readings after k, given the state at k
    for j in range(min(older, n - 1), 0, -1):
        reached = slice(j, n)
        step = (matrices[reached] @ (likelihood[reached] * later[: n - j])[:, :, None])[:, :, 0]
        later[: n - j] = step / step.sum(axis=1, keepdims=True)
    smoothed = probabilities * later
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))
