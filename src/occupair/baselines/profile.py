"""The time-of-day profile: mean head count by time of day and day type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.baselines.baseline import Array, Baseline, Day
from occupair.baselines.time_of_day import days_of_kind, is_weekend, slot_of_day, slots_per_day
from occupair.room.time_profile import mean_by_bin


@dataclass(kw_only=True, eq=False, repr=False)
class ProfileBaseline(Baseline):
    """The mean head count at the same time of day in training, separately for weekdays and weekends.

    CO2 is not used. If training has no weekends (or no weekdays), all days are used. At times of day without
    training data the room is taken as empty.

    Parameters
    ----------
    lag : float
        Lag of the estimates [min]; has no effect here.
    slot : float
        Length of a time slot [min].

    Attributes
    ----------
    profile_ : dict
        Mean head count of each slot [people], keyed by whether the day is on a weekend.

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.date_range("2024-01-08 08:00", periods=4, freq="15min")
    >>> readings = pd.DataFrame({"co2": 400.0, "occupancy": [0, 2, 3, 5]}, index=times)
    >>> ProfileBaseline(slot=30).fit(readings).estimate(readings).tolist()
    [1.0, 1.0, 4.0, 4.0]
    """

    slot: float = 30

    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        chosen = {weekend: days_of_kind(days, weekend=weekend) for weekend in (False, True)}
        self.profile_ = {
            weekend: self._means([days[i] for i in kind], [people[i] for i in kind])
            for weekend, kind in chosen.items()
        }

    def _means(self, days: list[Day], people: list[Array]) -> Array:
        slots = np.concatenate([slot_of_day(day, self.slot) for day in days])
        counts = np.concatenate(people)
        means = mean_by_bin(slots, counts, np.ones(counts.size), n_bins=slots_per_day(self.slot))
        return np.nan_to_num(means)

    def _estimate_day(self, day: Day) -> Array:
        return self.profile_[is_weekend(day)][slot_of_day(day, self.slot)]
