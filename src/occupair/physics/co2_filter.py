r"""Kalman filter and smoother of the CO2 mass balance: CO2 above base and people as hidden states.

.. math::

    \dot x = g n - k(v)\, x + w_x, \qquad \dot n = w_n, \qquad y = x + e

x [ppm] is CO2 above the base level, n the people, g [ppm/h] the rise of CO2 per person, k(v) [1/h] the air
change rate and y the reading. Over a step dt with constant n and k the balance has the exact solution

.. math:: x(t + dt) = a x(t) + g \frac{1 - a}{k} n, \qquad a = e^{-k\,dt}

People are a random walk. Readings have Student-t errors, so that a draught is not mistaken for people
leaving: each update uses the weight that the error of the reading suggests. In closed hours n is observed to
be 0.

The filter runs through D days and P sets of parameters at once. With a step of 5 min a day has 288 updates of
arrays of shape (P, D).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.physics.air_change import AirChange
from occupair.physics.day_grid import DayGrid
from occupair.physics.room_properties import RoomProperties

Array = NDArray[np.float64]

WALK = 0.1
"""Random walk of the people [capacity per square root of an hour]."""

AIR_NOISE = 20.0
"""Process noise of CO2: draughts and imperfect mixing [ppm per square root of an hour]."""

SENSOR_NOISE = 8.0
"""Error of a reading, mean of one step [ppm]."""

FREEDOM = 4.0
"""Degrees of freedom of the Student-t errors."""

EMPTY = 0.3
"""Uncertainty of nobody being in during closed hours [people]."""

NEGATIVE = (0.2, 0.012)
"""Negative people that are as unlikely as one standard deviation [people], [share of the capacity]."""

COUNT_ERROR = (0.5, 0.05)
"""Error of a head count at the time of a grid step [people], [share of the count]."""


class _State(NamedTuple):
    """Mean and covariance of CO2 above base and people, each of shape (P, D)."""

    co2: Array
    people: Array
    co2_variance: Array
    covariance: Array
    people_variance: Array

    def observe_people(self, error: Array, variance: Array | float) -> _State:
        """Return the state after an observation of the people; ``error`` is observed minus expected."""
        total = self.people_variance + variance
        co2_gain, people_gain = self.covariance / total, self.people_variance / total
        return _State(
            self.co2 + co2_gain * error,
            self.people + people_gain * error,
            self.co2_variance - co2_gain * self.covariance,
            self.covariance - co2_gain * self.people_variance,
            self.people_variance - people_gain * self.people_variance,
        )


class _Step(NamedTuple):
    """One step of the filter."""

    after: _State
    before: _State
    keeps: Array  # a
    response: Array  # CO2 per person after one step [ppm]


@dataclass(frozen=True)
class FilteredDays:
    """Result of the filter.

    Parameters
    ----------
    log_likelihood : array of shape (P,)
        Log-likelihood of the readings, the closed hours, and people not being negative.
    steps : list
        States at every step, empty unless kept.
    """

    log_likelihood: Array
    steps: list[_Step]


def filter_days(
    grid: DayGrid,
    air: AirChange,
    room: RoomProperties,
    *,
    counts: Array | None = None,
    keep: bool = False,
) -> FilteredDays:
    """Run the filter through all days.

    Parameters
    ----------
    grid : DayGrid
        The days.
    air : AirChange
        P sets of parameters.
    room : RoomProperties
        The room.
    counts : array of shape (D, N), optional
        Head counts that the filter observes [people]; NaN where there is none.
    keep : bool
        Whether to keep all states, for ``smooth_people``.
    """
    hours = grid.step / 60
    rise = room.rise * air.scale
    negative = NEGATIVE[0] + NEGATIVE[1] * room.capacity
    walk, air_noise, sensor_noise = (
        (WALK * room.capacity) ** 2 * hours,
        AIR_NOISE**2 * hours,
        SENSOR_NOISE**2,
    )
    level, is_known = np.nan_to_num(grid.level), ~np.isnan(grid.co2)
    flow = grid.ventilation.copy()
    flow[:, 1:] = (grid.ventilation[:, 1:] + grid.ventilation[:, :-1]) / 2
    rates = air.at(flow.ravel()).reshape(-1, *flow.shape)
    keeps = np.exp(-rates * hours)
    responses = rise[:, :, np.newaxis] * (1 - keeps) / rates
    shifts = np.diff(grid.base, axis=1, prepend=grid.base[:, :1])
    state = _start(level[:, 0], len(rates), is_closed=bool(grid.closed[0]), capacity=room.capacity)
    total, steps = np.zeros(state.people.shape), []
    for t in range(level.shape[1]):
        keep_share, response = keeps[:, :, t], responses[:, :, t]
        before = state
        if t > 0:
            x, n, xx, xn, nn = state
            x = x - shifts[:, t]
            before = _State(
                keep_share * x + response * n,
                n,
                keep_share**2 * xx + 2 * keep_share * response * xn + response**2 * nn + air_noise,
                keep_share * xn + response * nn,
                nn + walk,
            )
        known = is_known[:, t]
        error = np.where(known, level[:, t] - before.co2, 0.0)
        variance = before.co2_variance + sensor_noise
        ratio = error**2 / variance / FREEDOM
        total += np.where(known, -(FREEDOM + 1) / 2 * np.log1p(ratio) - np.log(variance) / 2, 0.0)
        weight = (1 + 1 / FREEDOM) / (1 + ratio)
        spread = before.co2_variance + sensor_noise / weight
        co2_gain = np.where(known, before.co2_variance / spread, 0.0)
        people_gain = np.where(known, before.covariance / spread, 0.0)
        state = _State(
            before.co2 + co2_gain * error,
            before.people + people_gain * error,
            (1 - co2_gain) * before.co2_variance,
            (1 - co2_gain) * before.covariance,
            before.people_variance - people_gain * before.covariance,
        )
        if grid.closed[t]:
            spread = state.people_variance + EMPTY**2
            total -= state.people**2 / spread / 2 + np.log(spread / EMPTY**2) / 2
            state = state.observe_people(-state.people, EMPTY**2)
        if counts is not None:
            state = _with_counts(state, counts[:, t])
        total -= (np.minimum(state.people, 0.0) / negative) ** 2 / 2
        if keep:
            steps.append(_Step(state, before, keep_share, response))
    return FilteredDays(total.sum(axis=1), steps)


def _start(level: Array, n_sets: int, *, is_closed: bool, capacity: float) -> _State:
    """Return the state at the first step of each day: empty if the room is closed, else unknown."""
    shape = (n_sets, level.size)
    spread = EMPTY if is_closed else 0.3 * capacity
    return _State(
        np.broadcast_to(level, shape),
        np.zeros(shape),
        np.full(shape, SENSOR_NOISE**2),
        np.zeros(shape),
        np.full(shape, spread**2),
    )


def _with_counts(state: _State, counts: Array) -> _State:
    known = ~np.isnan(counts)
    if not known.any():
        return state
    count = np.where(known, counts, 0.0)
    observed = state.observe_people(count - state.people, (COUNT_ERROR[0] + COUNT_ERROR[1] * count) ** 2)
    return _State(*(np.where(known, new, old) for new, old in zip(observed, state, strict=True)))


def smooth_people(filtered: FilteredDays) -> Array:
    """Return the people given all readings of their day, not clamped, shape (P, D, N) [people].

    Rauch-Tung-Striebel smoother of the states that ``filter_days`` kept.
    """
    co2, people = filtered.steps[-1].after.co2, filtered.steps[-1].after.people
    found = [people]
    for now, following in zip(filtered.steps[-2::-1], filtered.steps[:0:-1], strict=True):
        state, expected, keeps, response = now.after, following.before, following.keeps, following.response
        of_co2 = _gains(state.co2_variance * keeps + state.covariance * response, state.covariance, expected)
        of_people = _gains(
            state.covariance * keeps + state.people_variance * response, state.people_variance, expected
        )
        co2_error, people_error = co2 - expected.co2, people - expected.people
        co2 = state.co2 + of_co2[0] * co2_error + of_co2[1] * people_error
        people = state.people + of_people[0] * co2_error + of_people[1] * people_error
        found.append(people)
    return np.stack(found[::-1], axis=2)


def _gains(with_co2: Array, with_people: Array, expected: _State) -> tuple[Array, Array]:
    """Return the gains of a state for the errors of the next CO2 and people, from its covariances."""
    co2, both, people = expected.co2_variance, expected.covariance, expected.people_variance
    determinant = co2 * people - both**2
    return (
        (with_co2 * people - with_people * both) / determinant,
        (with_people * co2 - with_co2 * both) / determinant,
    )
