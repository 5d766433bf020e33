"""One room of the default estimator between two readings."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from copy import copy, deepcopy
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.room.inputs import Clock, Inputs, episode_inputs, window_length
from occupair.room.model import RoomModel
from occupair.room.open_hours import START
from occupair.smoothing import LocalSmoother

Array = NDArray[np.float64]


class RoomDay:
    """A room from midnight, or from the end of a gap, on: takes readings one by one.

    Parameters
    ----------
    model : RoomModel
        The trained room.
    confidence : float
        Nominal coverage of the prediction interval.
    """

    def __init__(self, model: RoomModel, *, confidence: float = 0.9) -> None:
        self.model = model
        self.confidence = confidence
        self._smoother = LocalSmoother(model.smoothing)
        self._ventilation: list[float] = []
        self._low = np.inf
        self._people = np.zeros(1024)  # room for more than is seen yet
        self.prediction_interval: tuple[float, float] | None = None

    def append(self, co2: float, ventilation: float, time: dt.datetime) -> None:
        """Take the next reading [ppm], [0..1] and estimate anew what it refines."""
        self.estimate(self.note(co2, ventilation, time))

    def note(self, co2: float, ventilation: float, time: dt.datetime) -> Inputs:
        """Take the next reading [ppm], [0..1]; what is known now, to be estimated from."""
        self._smoother.append(co2)
        self._ventilation.append(ventilation)
        return self._row(time)

    def estimate(self, row: Inputs) -> None:
        """Estimate and keep what follows from the newest reading."""
        people, if_open = self.model.people(row)
        low, high = self.model.refinements[0].ranges.between(people[0], *self._errors)  # its lag is 0
        self.keep(people[:, 0].tolist(), (float(low[0]), float(max(high[0], if_open[0, 0]))))

    def keep(self, people: Sequence[float], between: tuple[float, float]) -> None:
        """Keep what each refinement says of the reading that it is for, and the range now [people]."""
        last = len(self) - 1
        if last == self._people.size:
            self._people = np.append(self._people, np.zeros(last))
        for one, refined in zip(self.model.refinements, people, strict=True):
            if one.lag <= last:
                self._people[last - one.lag] = refined
        self.prediction_interval = between

    def _row(self, time: dt.datetime) -> Inputs:
        """Give what is known now; before the first reading the first is repeated."""
        width = window_length(self.model.interval)
        first = max(len(self) - width, 0)
        co2 = _newest_first(self._smoother.since(first), width)
        self._low = min(self._low, float(co2[0, 0]))
        flow = _newest_first(np.array(self._ventilation[first:]), width)
        return Inputs(co2, flow, np.array([self._low]), Clock.at(time), self.model.interval)

    @cached_property
    def _errors(self) -> tuple[Array, Array]:
        """Errors between which the estimate of now lies as often as asked [people]."""
        return self.model.refinements[0].ranges.errors_at(self.confidence)

    def restore(self, co2: Array, ventilation: Array, times: Sequence[dt.datetime]) -> None:
        """Take the first readings of the day all at once."""
        clock = Clock.of(pd.DatetimeIndex(list(times[:-1])))
        if len(clock.minute):
            rows = episode_inputs(
                co2[:-1],
                ventilation[:-1],
                clock,
                interval=self.model.interval,
                smoothing=self.model.smoothing,
            )
            self._people = np.zeros(max(1024, 2 * co2.size))
            for one, people in zip(self.model.refinements, self.model.people(rows)[0], strict=True):
                self._people[: max(people.size - one.lag, 0)] = people[one.lag :]
            self._low = float(rows.low[-1])
            self._smoother.extend(co2[:-1].tolist())
            self._ventilation = ventilation[:-1].tolist()
        self.append(float(co2[-1]), float(ventilation[-1]), times[-1])

    def copy(self) -> RoomDay:
        """Give the day as it is now, to go on with on its own; what was trained is shared."""
        other = copy(self)
        other._smoother = deepcopy(self._smoother)
        other._ventilation, other._people = self._ventilation.copy(), self._people.copy()
        return other

    def __len__(self) -> int:
        return len(self._ventilation)

    @property
    def started(self) -> bool:
        """Whether the rise of CO2 is known: two readings that are twenty minutes apart."""
        return (len(self) - 1) * self.model.interval >= START

    @property
    def people(self) -> Array:
        """What is now thought of every reading of the day [people]. Read, do not write."""
        return self._people[: len(self)]

    @property
    def co2_smoothed(self) -> Array:
        """The locally smoothed CO2 of the day [ppm]: Eq. (25)."""
        return self._smoother.values

    @property
    def co2_now(self) -> float:
        """The last of them [ppm]."""
        return self._smoother.newest


def _newest_first(values: Array, width: int) -> Array:
    """Turn values around, and repeat the first of them until they are ``width``; as one row."""
    if values.size < width:
        values = np.concatenate([np.full(width - values.size, values[0]), values])
    return values[np.newaxis, ::-1]
