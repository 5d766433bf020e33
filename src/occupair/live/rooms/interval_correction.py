"""Adaptive prediction intervals: head counts widen or narrow the intervals that follow.

A room may change after training: other people, a moved sensor, a repaired fan. Its intervals then cover fewer
head counts than they should. Each bound has a factor for its distance from the estimate. If a is the nominal
share of head counts beyond a bound, the logarithm of its factor grows by ``STEP * (1 - a)`` when one lies
beyond the bound, and shrinks by ``STEP * a`` when it does not. In the long run the share is a, however the
room changes, unless a factor is at its limit (adaptive conformal inference, Gibbs and Candes 2021; on factors
instead of a level, as in Angelopoulos et al. 2023).

The factors of an estimate follow from the head counts before it and the intervals published at their times.
Both are stored, so a restart does not change them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from occupair.live.messages import LabelledInterval, to_microseconds
from occupair.readings.grid import MINUTE
from occupair.room.day_conformal import INDEPENDENCE_TIME
from occupair.room.prediction_intervals import CONFIDENCE

STEP = 0.2
"""Step of the logarithm of a factor: a head count beyond a bound moves that bound a fifth further away."""
MIN_FACTOR, MAX_FACTOR = 0.5, 4.0
"""Limits of the factors; beyond them the model has to be trained again."""
LEAST_DISTANCE = 0.5
"""Distance of a bound that factors above 1 add to, so that they also widen intervals of width 0 [people]."""
RECENT = 50
"""Number of newest head counts that the running coverage is of."""
LABEL_HOLD = 5.0
"""A head count is compared with an interval published up to this long before it, or one grid step [min]."""


@dataclass(frozen=True)
class IntervalCorrection:
    """Factors of the prediction intervals of a room over time.

    Parameters
    ----------
    times : tuple of int
        Times of the head counts, increasing [us].
    factors : tuple of (float, float)
        Factors of the lower and upper bound before the first head count and after each.
    covered, labels : int
        How many of the ``RECENT`` newest head counts lie within the published interval, and their number.
    """

    times: tuple[int, ...] = ()
    factors: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    covered: int = 0
    labels: int = 0

    @property
    def coverage(self) -> float | None:
        """Share of recent head counts within the published interval [0..1]; None without head counts."""
        return self.covered / self.labels if self.labels else None

    def factors_at(self, time: int) -> tuple[float, float]:
        """Return the factors of the lower and upper bound of an estimate at a time [us]."""
        return self.factors[bisect_left(self.times, time)]

    def corrected(
        self, people: float, low: float | None, high: float | None, time: int
    ) -> tuple[float | None, float | None]:
        """Return the corrected interval of an estimate at a time [us]; one without bounds stays so."""
        below, above = self.factors_at(time)
        if low is not None:
            low = max(people - _moved(people - low, below), 0.0) if below != 1.0 else low
        if high is not None:
            high = people + _moved(high - people, above) if above != 1.0 else high
        return low, high


UNCORRECTED = IntervalCorrection()
"""The correction of a room without head counts."""


def track_labels(labelled: Sequence[LabelledInterval], step: int) -> IntervalCorrection:
    """Return the correction that follows from head counts and the intervals published at their times.

    Head counts within ``INDEPENDENCE_TIME`` after one that changed the factors do not change them again.

    Parameters
    ----------
    labelled : sequence of LabelledInterval
        Head counts, oldest first, each with the last interval before it.
    step : int
        Step of the time grid [us].
    """
    hold = max(round(LABEL_HOLD * MINUTE), step)
    beyond = (1 - CONFIDENCE) / 2
    times: list[int] = []
    factors = [(1.0, 1.0)]
    covered: list[bool] = []
    for one in labelled:
        time = to_microseconds(one.time)
        if time - to_microseconds(one.published) > hold:
            continue
        is_below, is_above = one.people < one.low, one.people > one.high
        covered.append(not (is_below or is_above))
        if times and time - times[-1] < INDEPENDENCE_TIME * MINUTE:
            continue
        below, above = factors[-1]
        times.append(time)
        factors.append((_updated(below, is_below, beyond), _updated(above, is_above, beyond)))
    recent = covered[-RECENT:]
    return IntervalCorrection(tuple(times), tuple(factors), sum(recent), len(recent))


def _updated(factor: float, is_beyond: bool, nominal: float) -> float:
    """Return the factor of a bound after a head count."""
    return min(max(factor * math.exp(STEP * (is_beyond - nominal)), MIN_FACTOR), MAX_FACTOR)


def _moved(distance: float, factor: float) -> float:
    """Return the distance of a bound from the estimate, multiplied by its factor [people]."""
    return factor * distance + max(factor - 1, 0.0) * LEAST_DISTANCE
