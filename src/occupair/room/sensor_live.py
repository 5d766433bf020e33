"""Corrections of live estimates: the readings of the sensors of one room, and their correction of the newest.

Equal to ``SensorCorrections.correct`` on the same readings, without the cost of arrays for a single reading.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from occupair.room.inputs import Clock
from occupair.room.sensor_corrections import Runs, SensorCorrections

Array = NDArray[np.float64]


class LiveSensors:
    """Optional sensors of a room since its episode began.

    Parameters
    ----------
    corrections : SensorCorrections
        Corrections of the room.
    confidence : float
        Nominal coverage of the prediction interval.

    Attributes
    ----------
    missing : tuple of str
        Sensors that the newest estimate does without.
    runs : mapping
        Newest run of equal values of each sensor; it lasts longer than the episode.
    """

    def __init__(self, corrections: SensorCorrections, confidence: float) -> None:
        self._corrections, self._confidence = corrections, confidence
        self._history = corrections.new_history()
        self.missing: tuple[str, ...] = ()
        self.runs: Runs = corrections.new_runs()
        self._stuck: set[str] = set()
        self._applied, self._people = 0, 0.0  # number of sensors of the newest estimate, and the estimate

    def append(self, values: Mapping[str, float]) -> None:
        """Add the values of one reading; sensors without a value are missing."""
        known = {name: value for name, value in values.items() if value == value}
        self.runs = {name: run.then(known.get(name, math.nan)) for name, run in self.runs.items()}
        rules = zip(self._corrections.names, self._corrections.stuck, strict=False)
        interval = self._corrections.interval
        self._stuck = {
            name for name, rule in rules if rule.is_stuck(self.runs[name], interval)
        } & known.keys()
        self._history.append({name: value for name, value in known.items() if name not in self._stuck})

    def restore(self, columns: Mapping[str, Array], co2_people: Array, clock: Clock) -> Array:
        """Add the first readings of an episode, and return their corrected estimates, shape (R, N)."""
        size = co2_people.shape[1]
        columns, self.runs = self._corrections.without_stuck(columns, self.runs)
        self._history.restore(columns, size)
        return self._corrections.correct(co2_people, clock, *self._corrections.features(columns, size))[0]

    def relevant_runs(self, runs: Runs) -> Runs:
        """Return the runs of the sensors that may get stuck."""
        return self._corrections.relevant_runs(runs)

    def correct(
        self, co2_people: Sequence[float], interval: tuple[float, float], clock: Clock
    ) -> tuple[Sequence[float], tuple[float, float]]:
        """Correct the estimates of the newest reading.

        Parameters
        ----------
        co2_people : sequence of float
            Estimate of each refinement from CO2 [people].
        interval : tuple of float
            Prediction interval of the current one [people].
        clock : Clock
            Local time of the newest reading.

        Returns
        -------
        people, interval
            Corrected estimates and prediction interval [people].
        """
        sizes = self._history.usable_prefixes()
        self.missing = self._corrections.names[sizes[0] :]
        people = list(co2_people)
        if any(sizes):
            minute, is_open = float(clock.minute[0]), self._corrections.hours.is_open[int(clock.weekend[0])]
            lags = zip(self._corrections.lags, sizes, strict=True)
            before = self._corrections.interval
            sizes = [size if is_open[int((minute - lag * before) // 1) % 1440] else 0 for lag, size in lags]
        for size in set(sizes) - {0}:
            step = self._corrections.steps[size - 1]
            features = np.array(self._history.features(size))[:, np.newaxis]
            column = np.array(co2_people)[:, np.newaxis]
            corrected = step.people(column, features, self._corrections.max_people)[:, 0].tolist()
            people = [
                new if size == own else old for new, old, own in zip(corrected, people, sizes, strict=True)
            ]
        self._applied, self._people = sizes[0], people[0]
        return people, self._interval(people[0], sizes[0]) if sizes[0] else interval

    def upper_end(self, confidence: float) -> float | None:
        """Return the upper end of the newest estimate's interval at a confidence; None if not corrected."""
        if not self._applied:
            return None
        return self._corrections.steps[self._applied - 1].intervals[0].upper_end(self._people, confidence)

    @property
    def stuck(self) -> tuple[str, ...]:
        """Those of the missing sensors that are stuck."""
        return tuple(name for name in self.missing if name in self._stuck)

    def copy(self) -> LiveSensors:
        """Return an independent copy; the corrections are shared."""
        other = copy(self)
        other._history = self._history.copy()
        return other

    def _interval(self, people: float, size: int) -> tuple[float, float]:
        edges, low, high = self._tables[size - 1]
        which = bisect_right(edges, people) - 1
        return min(max(people + low[which], 0.0), people), max(people + high[which], people)

    @cached_property
    def _tables(self) -> list[tuple[list[float], list[float], list[float]]]:
        """Edges of the bins of the prediction intervals, and their lower and upper errors, for each step."""
        found = []
        for step in self._corrections.steps:
            low, high = step.intervals[0].errors_at(self._confidence)
            found.append((step.intervals[0].edges.tolist(), low.tolist(), high.tolist()))
        return found
