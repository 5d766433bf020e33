"""One day of one room with the paper's live estimator, one reading at a time: Eqs. (24) and (26)."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Never

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.paper.network import Network
from occupair.readings.daily_lows import DailyLow
from occupair.smoothing import LocalSmoother

if TYPE_CHECKING:
    from occupair.paper.revised_day import RevisedDay

Array = NDArray[np.float64]

TOLERANCE = 1e-6
"""Largest difference between a live estimate and the exact Eq. (26) [people]."""


class LiveDay:
    """A room since midnight: takes one reading at a time and holds all estimates of the day.

    Parameters
    ----------
    network : Network
        The trained estimator.
    revise : bool
        True runs the three steps of Jiang et al. 2016, Eq. (26): every reading updates all estimates of the
        day from the newly smoothed CO2, see ``occupair.paper.live_kernel``. False is Eq. (24): estimates are
        never updated, and their errors accumulate.
    tolerance : float
        Largest difference from the exact Eq. (26) [people]. 0 recomputes every estimate that changes at all;
        larger values are faster (docs/speed.md).
    """

    def __init__(self, network: Network, *, revise: bool = True, tolerance: float = TOLERANCE) -> None:
        if not (isinstance(tolerance, int | float | np.number) and 0 <= tolerance < math.inf):
            raise InputError(f"tolerance must be a number of people, 0 or more, got {tolerance!r}")
        self._horizon = network.layer.horizon
        self._day: _RerunDay | RevisedDay
        if revise and network.feeds_back:
            from occupair.paper.revised_day import RevisedDay, warm_up  # loads numba, which is slow

            warm_up()
            self._day = RevisedDay(network, tolerance=tolerance)
        else:
            self._day = _RerunDay(network, revise=revise)

    def append(
        self,
        co2: float,
        ventilation: float,
        time: dt.datetime | None = None,
        sensors: Mapping[str, float] | None = None,
    ) -> None:
        """Add a reading [ppm], [0..1] and update the estimates it changes; time and sensors are not used."""
        self._day.append(co2, ventilation)

    def __len__(self) -> int:
        return len(self._day)

    @property
    def started(self) -> bool:
        """Whether the day is longer than the horizon."""
        return len(self) > self._horizon

    @property
    def missing_sensors(self) -> tuple[str, ...]:
        """Empty: the paper's estimators use no optional sensors."""
        return ()

    @property
    def stuck_sensors(self) -> tuple[str, ...]:
        """Empty: the paper's estimators use no optional sensors."""
        return ()

    @property
    def prediction_interval(self) -> None:
        """None: the paper's estimators have no prediction interval."""
        return

    def upper_end(self, confidence: float) -> None:
        """Return None: the paper's estimators have no prediction interval."""

    def restore(
        self,
        co2: Array,
        ventilation: Array,
        times: Sequence[dt.datetime],
        sensors: Mapping[str, Array] | None = None,
    ) -> None:
        """Set the state of a new day to that after these readings, faster than appending them one by one."""
        self._day.restore(co2, ventilation)

    def is_usual_time(self, time: dt.datetime) -> bool:
        """Whether the room may be occupied at a local time: always, as the paper has no open hours."""
        return True

    def copy(self) -> LiveDay:
        """Return an independent copy of the day; the trained network is shared."""
        other = copy(self)
        other._day = self._day.copy()
        return other

    def continue_from(self, earlier: LiveDay) -> None:
        """Do nothing: no state is carried over from an earlier day."""

    def restore_lows(self, lows: Iterable[DailyLow]) -> None:
        """Ignore the lows of earlier days: this estimator does not follow the baseline."""

    def restore_runs(self, runs: Mapping[str, tuple[float, int]]) -> None:
        """Ignore the runs of optional sensors: this estimator does not use any."""

    def relevant_runs(self, runs: Mapping[str, tuple[float, int]]) -> Mapping[str, Never]:
        """Empty: no run of an optional sensor affects the estimates."""
        return {}

    @property
    def baseline_shift(self) -> float:
        """0: the baseline is not followed [ppm]."""
        return 0.0

    @property
    def people(self) -> Array:
        """Current estimates of all readings of the day [people]: Eq. (26), step 2. Do not modify."""
        return self._day.people

    @property
    def co2_smoothed(self) -> Array:
        """Locally smoothed CO2 of the day [ppm]: Eq. (25)."""
        return self._day.co2_smoothed

    @property
    def co2_now(self) -> float:
        """Smoothed CO2 of the newest reading [ppm]."""
        return self._day.co2_now


class _RerunDay:
    """A day on which updated estimates are never fed back: Eq. (24), or a network without feedback."""

    def __init__(self, network: Network, *, revise: bool) -> None:
        self._network = network
        self._revise = revise
        self._smoother = LocalSmoother(network.smoothing)
        self._ventilation = np.zeros(1024)
        self._people = np.zeros(1024)  # the room is empty for the first horizon of the day

    def append(self, co2: float, ventilation: float) -> None:
        """Add a reading and run the network over the readings it changes, or over itself only."""
        changed = self._smoother.append(co2)
        last = len(self._smoother) - 1
        if last == self._people.size:
            self._ventilation = np.append(self._ventilation, np.zeros(last))
            self._people = np.append(self._people, np.zeros(last))
        self._ventilation[last] = ventilation
        horizon = self._network.layer.horizon
        if last >= horizon:
            start = max(changed, horizon) if self._revise else last
            first = start - horizon
            self._network.run(
                self._smoother.since(first),
                self._ventilation[first : last + 1],
                self._people[first : last + 1],
                start=horizon,
            )

    def __len__(self) -> int:
        return len(self._smoother)

    def restore(self, co2: Array, ventilation: Array) -> None:
        for reading in zip(co2.tolist(), ventilation.tolist(), strict=True):
            self.append(*reading)

    def copy(self) -> _RerunDay:
        other = copy(self)
        other._smoother = deepcopy(self._smoother)
        other._ventilation, other._people = self._ventilation.copy(), self._people.copy()
        return other

    @property
    def people(self) -> Array:
        return self._people[: len(self)]

    @property
    def co2_smoothed(self) -> Array:
        return self._smoother.values

    @property
    def co2_now(self) -> float:
        return self._smoother.newest
