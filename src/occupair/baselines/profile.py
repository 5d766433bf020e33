"""The habits of the room: the mean of each time of day, weekdays and weekends apart."""

from __future__ import annotations

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.time_of_day import alike, is_weekend, slot_of_day, slots_per_day


class ProfileBaseline(Baseline):
    """The mean number of people at this time of day in training, weekdays and weekends apart.

    It never looks at CO2. Where training has no weekend (or no weekday), the days it has stand in; a time
    of day that training never saw is an empty room.

    Parameters
    ----------
    lag : float
        Minutes that an estimate may wait for later readings [min]; it gains nothing here.
    slot : float
        Length of a time of day [min].

    Attributes
    ----------
    profile_ : dict
        Mean people of each slot [people], by whether it is a weekend.

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.date_range("2024-01-08 08:00", periods=4, freq="15min")
    >>> readings = pd.DataFrame({"co2": 400.0, "occupancy": [0, 2, 3, 5]}, index=times)
    >>> ProfileBaseline(slot=30).fit(readings).estimate(readings).tolist()
    [1.0, 1.0, 4.0, 4.0]
    """

    def __init__(self, *, lag: float = 0, slot: float = 30) -> None:
        self.lag = lag
        self.slot = slot

    def _learn(self, days: list[Day], people: list[Array]) -> None:
        chosen = {weekend: alike(days, weekend=weekend) for weekend in (False, True)}
        self.profile_ = {
            weekend: self._means([days[i] for i in kind], [people[i] for i in kind])
            for weekend, kind in chosen.items()
        }

    def _means(self, days: list[Day], people: list[Array]) -> Array:
        slots = np.concatenate([slot_of_day(day, self.slot) for day in days])
        size = slots_per_day(self.slot)
        total = np.bincount(slots, weights=np.concatenate(people), minlength=size)
        return total / np.maximum(np.bincount(slots, minlength=size), 1)

    def _people(self, day: Day) -> Array:
        return self.profile_[is_weekend(day)][slot_of_day(day, self.slot)]
