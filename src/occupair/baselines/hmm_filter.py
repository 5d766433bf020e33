"""What a hidden state looks like from outside: a Gaussian for each state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.baselines.baseline import Array


@dataclass(frozen=True)
class Emissions:
    """Gaussians of what is seen, one for each of S states, in D dimensions.

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
        """Estimate the Gaussians from what was seen in known states.

        Each mean leans, with ``weight`` readings, on a straight line through the occupied states, and each
        covariance on that of all occupied (or all) states around their means: a state seen for a few
        minutes would otherwise be sure of itself.

        Parameters
        ----------
        seen : array of shape (N, D)
            What was seen.
        states : array of shape (N,)
            The state at the time.
        people : array of shape (S,)
            What each state stands for [people].
        """
        line = np.column_stack([np.ones_like(people), people, people > 0])
        typical = line @ np.linalg.lstsq(line[states], seen, rcond=None)[0]
        number = np.bincount(states, minlength=people.size)[:, None]
        total = np.zeros_like(typical)
        np.add.at(total, states, seen)
        mean = (total + weight * typical) / (number + weight)
        return cls(mean, _covariances(seen - mean[states], states, people.size, weight))

    def log_likelihood(self, seen: Array) -> Array:
        """Logarithm of each state's likelihood at each reading, less that of the likeliest state.

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


def _covariances(misses: Array, states: NDArray[np.intp], size: int, weight: float) -> Array:
    occupied = misses[states > 0] if (states > 0).any() else misses
    tiny = 1e-6 * np.eye(misses.shape[1])
    lean = [second_moment(misses) + tiny, second_moment(occupied) + tiny]
    each = [misses[states == state] for state in range(size)]
    return np.array(
        [(m.T @ m + weight * lean[state > 0]) / (len(m) + weight) for state, m in enumerate(each)]
    )


def second_moment(misses: Array) -> Array:
    """Mean of the outer products of the rows.

    Examples
    --------
    >>> second_moment(np.array([[1.0, 2.0], [-1.0, 0.0]]))
    array([[1., 1.],
           [1., 2.]])
    """
    return misses.T @ misses / len(misses)


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
