"""One room of the default estimator between two readings."""

from __future__ import annotations

import datetime as dt

import numpy as np
from numpy.typing import NDArray

from occupair.room.hours import START
from occupair.room.model import RoomModel
from occupair.room.rows import Clock, Rows, width_at
from occupair.smoothing import LocalSmoother

Array = NDArray[np.float64]


class RoomDay:
    """A room from midnight, or from the end of a gap, on: takes readings one by one.

    Parameters
    ----------
    model : RoomModel
        The trained room.
    interval : float
        Probability that the range holds the true count.
    """

    def __init__(self, model: RoomModel, *, interval: float = 0.9) -> None:
        self._model = model
        self._interval = interval
        self._smoother = LocalSmoother(model.smoothing)
        self._ventilation: list[float] = []
        self._low = np.inf
        self._people: list[float] = []
        self.range: tuple[float, float] | None = None

    def append(self, co2: float, ventilation: float, time: dt.datetime) -> None:
        """Take the next reading [ppm], [0..1] and estimate anew what it refines."""
        self._smoother.append(co2)
        self._ventilation.append(ventilation)
        row = self._row(time)
        self._people.append(0.0)
        last = len(self._people) - 1
        for one, people in zip(self._model.refinements, self._model.people(row), strict=True):
            if one.lag <= last:
                self._people[last - one.lag] = float(people[0])
            if one.lag == 0:
                low, high = one.ranges.around(people, self._interval)
                self.range = float(low[0]), float(high[0])

    def _row(self, time: dt.datetime) -> Rows:
        """Give what is known now; before the first reading the first is repeated."""
        width = width_at(self._model.interval)
        back = np.maximum(np.arange(width)[::-1] + len(self) - width, 0)
        first = int(back[-1])
        co2 = self._smoother.since(first)[back - first]
        self._low = min(self._low, float(co2[0]))
        flow = np.array(self._ventilation[first:])[back - first]
        return Rows(co2[None], flow[None], np.array([self._low]), Clock.at(time), self._model.interval)

    def __len__(self) -> int:
        return len(self._ventilation)

    @property
    def started(self) -> bool:
        """Whether the rise of CO2 is known: two readings that are twenty minutes apart."""
        return (len(self) - 1) * self._model.interval >= START

    @property
    def people(self) -> Array:
        """What is now thought of every reading of the day [people]."""
        return np.array(self._people)

    @property
    def co2_smoothed(self) -> Array:
        """The locally smoothed CO2 of the day [ppm]: Eq. (25)."""
        return self._smoother.values
