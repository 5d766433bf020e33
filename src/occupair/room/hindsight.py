"""Estimates in hindsight: the refined estimates of a whole day, smoothed.

When all readings of a day are known, an estimate is compared with those before and after it. The estimates of
the longest lag are smoothed in several ways (``occupair.room.day_smoothing``), and the results are averaged
with weights from held-out days (``occupair.room.hindsight_training``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.room.day_smoothing import DaySmoother, smooth_people
from occupair.room.prediction_intervals import PredictionIntervals

Array = NDArray[np.float64]


NOBODY = 0.1
"""Smoothed estimates below this are 0 [people]: smoothing leaves traces of people in empty hours."""


class WeightedSmoother(NamedTuple):
    """A smoothing and its weight in the average."""

    smoother: DaySmoother
    weight: float


@dataclass(frozen=True)
class Hindsight:
    """How a room is estimated in hindsight.

    Parameters
    ----------
    smoothers : tuple of WeightedSmoother
        Smoothings of the estimates; their weights sum to 1.
    intervals : PredictionIntervals
        Prediction intervals of the smoothed estimates.
    """

    smoothers: tuple[WeightedSmoother, ...]
    intervals: PredictionIntervals

    def people(self, refined: Array, interval: float) -> Array:
        """Smooth the refined estimates of an episode [people], with readings every ``interval`` minutes.

        Examples
        --------
        >>> smoothers = WeightedSmoother(DaySmoother(), 0.5), WeightedSmoother(DaySmoother(median=5.0), 0.5)
        >>> room = Hindsight(smoothers, PredictionIntervals.unknown(10.0))
        >>> room.people(np.array([4.0, 4.0, 8.0, 4.0, 4.0]), 5.0).tolist()
        [4.0, 4.0, 6.0, 4.0, 4.0]
        """
        if not refined.any():
            return refined
        smoothed = smooth_in_ways(refined, [one.smoother for one in self.smoothers], interval)
        return average(smoothed, np.array([one.weight for one in self.smoothers]))

    def with_wider_intervals(self, spread: float, offset: float, highest: float) -> Hindsight:
        """Return it with intervals that allow for an unknown factor and offset, see ``widened``."""
        return replace(self, intervals=self.intervals.widened(spread, offset, highest))


def average(smoothed: Array, weights: Array) -> Array:
    """Average smoothed estimates, shape (n_smoothers, N), with weights; few people are nobody [people]."""
    people = weights @ smoothed
    return np.where(people < NOBODY, 0.0, people)


def smooth_in_ways(people: Array, smoothers: Sequence[DaySmoother], interval: float) -> Array:
    """Smooth the estimates of an episode in several ways, shape (n_smoothers, N) [people].

    Median filters that several have in common are applied once.
    """
    medians: dict[float, Array] = {}
    in_place: dict[DaySmoother, Array] = {}
    found = np.empty((len(smoothers), people.size))
    for k, one in enumerate(smoothers):
        if one.median not in medians:
            medians[one.median] = smooth_people(people, DaySmoother(median=one.median), interval)
        rest, late = one._replace(late=0.0), DaySmoother(late=one.late)
        if rest not in in_place:
            in_place[rest] = smooth_people(medians[one.median], rest._replace(median=0.0), interval)
        found[k] = smooth_people(in_place[rest], late, interval)
    return found
