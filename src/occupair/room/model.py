"""A trained room of the default estimator, with one refinement for each lag."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from occupair.room.baseline_drift import Baseline
from occupair.room.equation import RoomEquation
from occupair.room.features import FeatureSettings
from occupair.room.inputs import Inputs
from occupair.room.linked_elm import LinkedLayer
from occupair.room.mass_balance import Balance
from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import CONFIDENCE, PredictionIntervals

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Refinement:
    """Estimator of the occupancy at one lag: how many people were present ``lag`` readings ago.

    Parameters
    ----------
    balance : Balance
        Mass balance.
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

    balance: Balance
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
    network_share : float
        Weight of the FS-ELM in the mean; the rest is the mass balance.
    hours : OpenHours
        When the room may be occupied.
    refinements : tuple of Refinement
        One for each distinct number of readings among the lags, shortest first.
    lags : tuple of float
        Lags of the estimates [min], 0 first, increasing. At long intervals several may share a refinement.
    baseline : Baseline, optional
        Daily lows of CO2 in training, to follow the drift of the sensor. None: it is not followed.
    """

    interval: float
    smoothing: float
    max_people: float
    network_share: float
    hours: OpenHours
    refinements: tuple[Refinement, ...]
    lags: tuple[float, ...]
    baseline: Baseline | None = None

    def people(self, inputs: Inputs) -> tuple[Array, Array]:
        """Estimate, for every input, the people at the reading of each refinement [people].

        Returns
        -------
        people, people_if_open : array of shape (R, N)
            Estimates, and estimates without regard to the open hours.
        """
        return self._equation.people(inputs)

    def episode_people(
        self, inputs: Inputs, lag: int, confidence: float = CONFIDENCE
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

        Returns
        -------
        people, low, high
            Estimate and prediction interval of each reading [people].
        """
        found = np.zeros((3, len(inputs)))
        for one, people, if_open in zip(self.refinements, *self.people(inputs), strict=True):
            if one.lag <= lag:
                refined = people[one.lag :]
                low, high = one.intervals.around(refined, confidence)
                found[:, : refined.size] = refined, low, np.maximum(high, if_open[one.lag :])
        return found[0], found[1], found[2]

    @cached_property
    def _equation(self) -> RoomEquation:
        return RoomEquation([self])
