"""Clear evidence of people from CO2 alone, for the hours at which the room is usually empty.

In closed hours the estimate is 0 unless the mass balance, which does not depend on the time of day, clearly
finds more people than it ever did in the empty room, at two successive lags: its estimates for now and for 10
min ago, for instance, both exceed the threshold of the room. The threshold is learned in the closed hours of
held-out training days, so a room with noisy nights has a high one.

Falling CO2 is not evidence: with the ventilation off, the balance hardly depends on the slope of CO2, so
people who left would be reported until CO2 is back at its base. Neither is CO2 that fell abruptly within the
last 80 min: a window was opened or the sensor jumps, and the mass balance does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Clock, Inputs
from occupair.room.mass_balance import Balance, BalanceEvaluator
from occupair.room.open_hours import START_UP, OpenHours

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

MIN_PEOPLE = 2.0
"""Smallest threshold [people]: the balance of an empty room is often off by one person."""

MIN_SHARE = 0.05
"""Smallest threshold, relative to the maximum occupancy."""

MARGIN, FEW_DAYS_MARGIN = 0.5, 3.0
"""Margin above the highest balance of the empty room, relative to its height above the median.

The second is divided by the number of days: a few nights do not include the noisiest one.
"""

MIN_FALL, MIN_AIRING_FALL = 10.0, 80.0
"""Smallest falls of CO2 that are not taken for noise, and for somebody who passed the sensor [ppm]."""

AIRING_TIME, AIRING_SHARE = 10.0, 0.3
"""A fall of CO2 in this time [min], relative to its height, that no closed room shows.

It takes more than two air changes per hour: a window is open, or the sensor jumps.
"""

DECAY_TIME, DECAY_SHARE, VENTILATED_SHARE = 40.0, 0.05, 0.3
"""A fall of CO2 in this time [min], relative to its height, of a room without people.

Even a tight room, with an air change in eight hours, loses 8 % in that time. The last is added per unit of
ventilation: CO2 may then fall with people in the room, and the mass balance shows when they leave.
"""


def pair_minimum(balance: Array) -> Array:
    """Return the people that the balances of two successive lags agree on, shape (n_lags - 1, N) [people].

    Parameters
    ----------
    balance : array of shape (n_lags, N)
        Mass balance at each lag, not clamped [people]. A single lag is a pair with itself.

    Examples
    --------
    >>> pair_minimum(np.array([[5.0], [3.0], [4.0]])).tolist()
    [[3.0], [3.0]]
    """
    return np.asarray(balance if len(balance) == 1 else np.minimum(balance[:-1], balance[1:]))


def fit_thresholds(
    folds: Sequence[tuple[Sequence[Balance], Sequence[Inputs]]], hours: OpenHours, max_people: float
) -> tuple[float, ...] | None:
    """Return the threshold of each pair of successive lags [people]; None if the room has no closed hours.

    Parameters
    ----------
    folds : sequence of (balances, days)
        Mass balances at each lag, and inputs of days that they were not fitted to.
    hours : OpenHours
        When the room may be occupied.
    max_people : float
        Maximum occupancy in training [people].
    """
    found, n_days = [], 0
    for balances, days in folds:
        evaluator = BalanceEvaluator([balances])
        for day in days:
            closed = np.flatnonzero(~hours.at(day.clock) & is_started(day.clock))
            if closed.size:
                found.append(pair_minimum(evaluator.people(day.take(closed))))
                n_days += 1
    if not found:
        return None
    empty = np.concatenate(found, axis=1)
    highest, median = empty.max(axis=1), np.median(empty, axis=1)
    learned = highest + (MARGIN + FEW_DAYS_MARGIN / n_days) * (highest - median)
    least = max(MIN_PEOPLE, MIN_SHARE * max_people)
    return tuple(np.round(np.maximum(learned, least), 3).tolist())


def is_started(clock: Clock, before: float | Array = 0.0) -> Flags:
    """Whether the start-up phase after midnight was over ``before`` minutes before each time."""
    return np.asarray(clock.minute - before >= START_UP)


class ClearEvidence:
    """Clear evidence of people, with the parameters of one or many rooms.

    Parameters
    ----------
    thresholds : sequence of (tuple of float or None)
        Thresholds of each room [people]; None: nothing is clear evidence in this room.
    n_lags : int
        Number of lags.
    """

    def __init__(self, thresholds: Sequence[tuple[float, ...] | None], n_lags: int) -> None:
        never = (np.inf,) * max(n_lags - 1, 1)
        self._thresholds = np.array([never if one is None else one for one in thresholds]).T

    def at_lags(self, balance: Array, inputs: Inputs, rooms: slice | Indices | None = None) -> Flags:
        """Whether there is clear evidence of people at each lag, shape (n_lags, N).

        Parameters
        ----------
        balance : array of shape (n_lags, N)
            Mass balance at each lag, not clamped [people].
        inputs : Inputs
            N inputs.
        rooms : slice or array of int, optional
            Room of each input. None: all inputs are of the only room.
        """
        thresholds = self._thresholds if rooms is None else self._thresholds[:, rooms]
        clear = pair_minimum(balance) > thresholds
        candidates = np.flatnonzero(clear.any(axis=0))
        if candidates.size:
            clear[:, candidates[has_fallen(inputs.take(candidates))]] = False
        if len(balance) == 1:
            return np.asarray(clear)
        found = np.zeros(balance.shape, dtype=bool)
        found[:-1] |= clear
        found[1:] |= clear
        return found


def has_fallen(inputs: Inputs) -> Flags:
    """Whether CO2 has fallen like that of a room that empties or is aired, shape (N,)."""
    co2 = inputs.co2 - inputs.lowest_co2[:, np.newaxis]  # newest first
    ventilation = inputs.ventilation.mean(axis=1)
    short, long = inputs.n_readings(AIRING_TIME), inputs.n_readings(DECAY_TIME)
    airing = co2[:, short:] - co2[:, :-short] > np.maximum(AIRING_SHARE * co2[:, short:], MIN_AIRING_FALL)
    share = DECAY_SHARE + VENTILATED_SHARE * ventilation
    decay = co2[:, long] - co2[:, 0] > np.maximum(share * co2[:, long], MIN_FALL)
    return np.asarray(airing.any(axis=1) | (decay & (co2[:, short] > co2[:, 0])))
