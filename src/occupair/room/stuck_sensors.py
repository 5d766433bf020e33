"""Stuck optional sensors: those that repeat one value for longer than they do when they work.

A stuck sensor counts as missing. The rule of each sensor is found in training and stored in the model:

- A sensor is stuck once it has repeated exactly the same value for longer than its limit: twice its longest
  such run in training, at least ``SHORTEST`` and at most ``LONGEST``.
- Resting levels are exempt, because a working sensor may rest for days, over weekends and holidays: the
  lowest and the most frequent value in training, such as motion 0, light 0, no Wi-Fi clients or standby
  power, if the sensor has it for at least ``MIN_SHARE`` of the time. Temperature and humidity have none: they
  move in an empty room, too. Hence a sensor that stops at a resting level is not detected.
- Runs in training that exceed ``LONGEST`` are faults. They neither raise the limit nor become a resting
  level, and the corrections are not trained on them.

Runs are counted in readings and continue over midnight. Missing readings and gaps neither count nor end them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

SHORTEST = 360.0
"""Shortest limit [min]. In the ROBOD rooms, working sensors stay on a value that is not a resting level for
up to 2 h, except the number of Wi-Fi clients: up to 16.5 h, overnight.
"""

LONGEST = 1200.0
"""Longest limit [min]: longer than a night, over which a coarse sensor may be constant, and shorter than the
day before midnight from which the live service continues runs (23 h when the clock changes, less
``SENSOR_HOLD``).
"""

MARGIN = 2.0
"""Ratio of the limit to the longest run in training."""

MIN_SHARE = 0.05
"""Share of the readings in training from which on a value is a resting level: more than an hour a day."""

ALWAYS_MOVING = frozenset({"temperature", "humidity"})
"""Sensors without a resting level."""


class Run(NamedTuple):
    """The newest readings of a sensor that all have the same value.

    Examples
    --------
    >>> Run().then(17.0).then(math.nan).then(17.0), Run(17.0, 9).then(16.0)
    (Run(value=17.0, size=2), Run(value=16.0, size=1))
    """

    value: float = math.nan
    size: int = 0  # [readings]

    def then(self, value: float) -> Run:
        """Return the run after one more reading; NaN if missing."""
        if value == self.value:
            return Run(value, self.size + 1)
        return self if value != value else Run(value, 1)


NO_RUN = Run()
"""The run before the first reading."""


@dataclass(frozen=True)
class StuckRule:
    """When a sensor is stuck.

    Parameters
    ----------
    limit : float
        Time for which a working sensor may repeat a value [min].
    rest : tuple of float
        Resting levels, which it may repeat for ever.
    """

    limit: float
    rest: tuple[float, ...] = ()

    @classmethod
    def fit(cls, name: str, values: Array, interval: float) -> StuckRule:
        """Find the rule of a sensor.

        Parameters
        ----------
        name : str
            One of ``SENSORS``.
        values : array of shape (N,)
            Its readings in training; NaN if missing.
        interval : float
            Time between readings [min].

        Examples
        --------
        >>> StuckRule.fit("wifi", np.repeat([0.0, 4.0, 0.0, 5.0], [14, 4, 300, 2]), 60.0)
        StuckRule(limit=360.0, rest=(0.0,))
        """
        value, size = _runs(values[~np.isnan(values)])
        length = (size - 1) * interval
        works = length <= LONGEST
        value, size, length = value[works], size[works], length[works]
        rest: tuple[float, ...] = ()
        if value.size and name not in ALWAYS_MOVING:
            levels, which = np.unique(value, return_inverse=True)
            count = np.bincount(which, weights=size)
            places = np.unique([0, np.argmax(count)])
            rest = tuple(levels[places[count[places] >= MIN_SHARE * count.sum()]].tolist())
        longest = float(length[~np.isin(value, rest)].max(initial=0.0))
        return cls(min(max(MARGIN * longest, SHORTEST), LONGEST), rest)

    def is_stuck(self, run: Run, interval: float) -> bool:
        """Whether the sensor is stuck after a run of readings every ``interval`` minutes.

        Examples
        --------
        >>> rule = StuckRule(360.0, rest=(0.0,))
        >>> [rule.is_stuck(run, 60.0) for run in (Run(17.0, 7), Run(17.0, 8), Run(0.0, 99))]
        [False, True, False]
        """
        return (run.size - 1) * interval > self.limit and run.value not in self.rest

    def stuck_readings(self, values: Array, interval: float, before: Run) -> Bools:
        """Whether the sensor is stuck at each of some readings; False where one is missing.

        Parameters
        ----------
        values : array of shape (N,)
            Readings; NaN if missing.
        interval : float
            Time between readings [min].
        before : Run
            Run up to the reading before them.
        """
        known = np.flatnonzero(~np.isnan(values))
        sizes = _run_sizes(values[known], before)
        stuck = np.zeros(values.size, dtype=bool)
        stuck[known] = self._are_stuck(values[known], sizes, interval)
        return stuck

    def stuck_in_training(self, values: Array, interval: float) -> Bools:
        """Whether each reading belongs to a run in which the sensor gets stuck, from its first reading on."""
        known = np.flatnonzero(~np.isnan(values))
        value, size = _runs(values[known])
        stuck = np.zeros(values.size, dtype=bool)
        stuck[known] = np.repeat(self._are_stuck(value, size, interval), size)
        return stuck

    def _are_stuck(self, value: Array, size: NDArray[np.int64], interval: float) -> Bools:
        return np.asarray(((size - 1) * interval > self.limit) & ~np.isin(value, self.rest))


def last_run(values: Array, before: Run = NO_RUN) -> Run:
    """Return the run at the end of some readings, NaN if missing, given the one before them.

    Examples
    --------
    >>> last_run(np.array([3.0, 4.0, math.nan, 4.0])), last_run(np.array([3.0]), Run(3.0, 9))
    (Run(value=4.0, size=2), Run(value=3.0, size=10))
    """
    known = values[~np.isnan(values)]
    return Run(float(known[-1]), int(_run_sizes(known, before)[-1])) if known.size else before


def _run_sizes(values: Array, before: Run) -> NDArray[np.int64]:
    """Return how many readings up to each one have its value; none is missing."""
    place = np.arange(values.size)
    is_first = np.append(False, values[1:] != values[:-1])[: values.size]
    starts = np.maximum.accumulate(np.where(is_first, place, 0))
    sizes = place - starts + 1
    if values.size and values[0] == before.value:
        sizes[starts == 0] += before.size
    return sizes


def _runs(values: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return value and size of each run of equal values; none is missing."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: values.size])
    return values[starts], np.diff(starts, append=values.size)
