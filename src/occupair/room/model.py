"""A trained room of the default estimator, with one refinement for each lag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from occupair.room.baseline_drift import Baseline
from occupair.room.boosted_trees import BoostedTrees
from occupair.room.equation import RoomEquation
from occupair.room.features import COLUMN_SET, FeatureSettings
from occupair.room.hindsight import Hindsight
from occupair.room.inputs import Inputs
from occupair.room.kernel_regression import KernelRegression
from occupair.room.linked_elm import LinkedLayer
from occupair.room.mass_balance import Balance
from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import CONFIDENCE, PredictionIntervals
from occupair.room.time_profile import TimeProfile

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Refinement:
    """Estimator of the occupancy at one lag: how many people were present ``lag`` readings ago.

    Parameters
    ----------
    weights : tuple of float
        Weight of each of ``MEMBERS`` in the estimate.
    balance : Balance
        Mass balance.
    trees : BoostedTrees or None
        Boosted trees; None in models of earlier versions.
    kernel : KernelRegression or None
        Kernel regression; None in models of earlier versions.
    features : FeatureSettings
        Settings of the network's features.
    layer : LinkedLayer
        Random layer of the network.
    coef : array
        Read-out of people.
    presence : array
        Read-out of presence: near 1 when anybody is present, near 0 otherwise.
    threshold : float
        Presence at or above which the room counts as occupied.
    intervals : PredictionIntervals
        Prediction intervals of the estimates.
    """

    weights: tuple[float, ...]
    balance: Balance
    trees: BoostedTrees | None
    kernel: KernelRegression | None
    features: FeatureSettings
    layer: LinkedLayer
    coef: Array
    presence: Array
    threshold: float
    intervals: PredictionIntervals

    @property
    def lag(self) -> int:
        """Readings between the reading that is estimated and the newest one."""
        return int(self.features.lag)


@dataclass(frozen=True)
class RoomModel:
    """Parameters of a trained room.

    Parameters
    ----------
    interval : float
        Time between readings [min].
    smoothing : float
        Weight of the CO2 smoothing [readings squared].
    max_people : float
        Maximum occupancy in training [people].
    hours : OpenHours
        When the room may be occupied.
    refinements : tuple of Refinement
        One for each distinct number of readings among the lags, shortest first.
    lags : tuple of float
        Lags of the estimates [min], 0 first, increasing. At long intervals several may share a refinement.
    column_set : int
        Columns of the features, a key of ``COLUMN_SETS``.
    profile : TimeProfile, optional
        Time-of-day profile; None in models of earlier versions.
    people_limit : float, optional
        Upper limit of the estimates [people]; None: ``max_people``.
    evidence_thresholds : tuple of float, optional
        Thresholds of clear evidence of people in closed hours [people], see ``occupair.room.evidence``; None:
        estimates in closed hours are always 0.
    baseline : Baseline, optional
        Daily lows of CO2 in training, to follow the drift of the sensor. None: it is not followed.
    hindsight : Hindsight, optional
        Estimates with all readings of a day. None: those of the longest lag; in models of earlier versions
        and of a single training day.
    """

    interval: float
    smoothing: float
    max_people: float
    hours: OpenHours
    refinements: tuple[Refinement, ...]
    lags: tuple[float, ...]
    column_set: int = COLUMN_SET
    profile: TimeProfile | None = None
    people_limit: float | None = None
    evidence_thresholds: tuple[float, ...] | None = None
    baseline: Baseline | None = None
    hindsight: Hindsight | None = None

    def with_wider_intervals(self, spread: float, offset: float, highest: float) -> RoomModel:
        """Return the room with intervals that allow for an unknown factor and offset, see ``widened``."""
        refinements = tuple(
            replace(one, intervals=one.intervals.widened(spread, offset, highest)) for one in self.refinements
        )
        hindsight = self.hindsight and self.hindsight.with_wider_intervals(spread, offset, highest)
        return replace(self, refinements=refinements, hindsight=hindsight)

    def people(self, inputs: Inputs) -> tuple[Array, Array]:
        """Estimate, for every input, the people at the reading of each refinement [people].

        Returns
        -------
        people, people_if_open : array of shape (R, N)
            Estimates, and estimates without regard to the open hours.
        """
        return self._equation.people(inputs)

    def episode_people(
        self, inputs: Inputs, lag: int, confidence: float = CONFIDENCE, *, hindsight: bool = False
    ) -> tuple[Array, Array, Array]:
        """Estimate every reading of an episode with the readings up to ``lag`` readings later.

        Parameters
        ----------
        inputs : Inputs
            Inputs of the episode. Its last readings are refined as far as the episode goes.
        lag : int
            Lag of the refined estimates [readings].
        confidence : float
            Nominal coverage of the prediction interval.
        hindsight : bool
            Whether to use the whole episode, see ``in_hindsight``; ``lag`` is then the longest one.

        Returns
        -------
        people, low, high
            Estimate and prediction interval of each reading [people].
        """
        found = np.zeros((3, len(inputs)))
        people, if_open = self.people(inputs)
        for k, one in enumerate(self.refinements):
            if one.lag <= lag:
                refined = people[k, one.lag :]
                found[:, : refined.size] = (
                    refined,
                    *self.episode_intervals(k, inputs, refined, if_open[k, one.lag :], confidence),
                )
        if hindsight and self.hindsight is not None:
            smoothed, before = self.in_hindsight(found[0], inputs), self.refinements[-1].lag
            found[:, : smoothed.size] = (
                smoothed,
                *self.episode_intervals(
                    -1, inputs, smoothed, if_open[-1, before:], confidence, self.hindsight.intervals
                ),
            )
        return found[0], found[1], found[2]

    def in_hindsight(self, refined: Array, inputs: Inputs) -> Array:
        """Return the estimates in hindsight of an episode, except of its last readings [people].

        The last readings, within the longest lag of the end of the episode, have no refined estimate of that
        lag. In closed hours nothing is smoothed.

        Parameters
        ----------
        refined : array of shape (N,)
            Estimates of the episode, refined as far as possible [people].
        inputs : Inputs
            Inputs of the episode.
        """
        lag = self.refinements[-1].lag
        n = max(len(inputs) - lag, 0)
        if self.hindsight is None or n == 0:
            return refined[:n]
        smoothed = self.hindsight.people(refined, self.interval)[:n]
        return np.where(self.is_open(inputs)[-1, lag:], smoothed, refined[:n])

    def episode_intervals(
        self,
        k: int,
        inputs: Inputs,
        refined: Array,
        if_open: Array,
        confidence: float,
        intervals: PredictionIntervals | None = None,
    ) -> tuple[Array, Array]:
        """Return the prediction intervals of the estimates of an episode by refinement ``k``.

        Parameters
        ----------
        k : int
            Number of the refinement.
        inputs : Inputs
            Inputs of the episode.
        refined, if_open : array
            Estimates of the readings that are refined, and without regard to the open hours [people].
        confidence : float
            Nominal coverage.
        intervals : PredictionIntervals, optional
            Intervals to use instead of those of the refinement.
        """
        one = self.refinements[k]
        intervals = one.intervals if intervals is None else intervals
        rest = inputs.take(slice(one.lag, None))
        scales = intervals.scales_at(rest, one.lag * self.interval)
        low, high = intervals.around(refined, confidence, scales)
        low = np.where(self.is_open(inputs)[k, one.lag :], low, 0.0)
        return low, np.maximum(high, if_open)

    def is_open(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Whether the estimate of each refinement is for a time in the open hours, shape (R, N)."""
        return self._equation.is_open(inputs)

    @cached_property
    def _equation(self) -> RoomEquation:
        return RoomEquation([self])
