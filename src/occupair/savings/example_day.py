"""One day of some policies side by side, for a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from occupair.savings.building import OfficeVentilation, is_weekday, time_of
from occupair.savings.closed_loop import DayOutcome, Period
from occupair.simulation.presence import DAY


@dataclass(frozen=True)
class ExampleDay:
    """One day, with a row per reading.

    Parameters
    ----------
    people : Series
        True count [people].
    flow, co2, estimate, high : DataFrame
        By policy: outdoor air flow [L/s], CO2 in the zone of the sensor as read [ppm], estimate and upper end
        of its interval [people].
    """

    people: pd.Series[float]
    flow: pd.DataFrame
    co2: pd.DataFrame
    estimate: pd.DataFrame
    high: pd.DataFrame


class ExampleRecorder:
    """Keeps one weekday in the middle of the evaluated days.

    Parameters
    ----------
    runs : mapping
        Number of the run of each policy to show.
    ventilation : OfficeVentilation
        The standard.
    period : Period
        Evaluated days.
    """

    def __init__(self, runs: Mapping[str, int], ventilation: OfficeVentilation, period: Period) -> None:
        self._runs, self._ventilation, self._interval = runs, ventilation, period.interval
        days = range(period.first_day, period.first_day + period.n_days)
        weekdays = [day for day in days if is_weekday(day)]
        self._chosen = weekdays[len(weekdays) // 2]
        self.day: ExampleDay | None = None

    def add(self, outcome: DayOutcome) -> None:
        """Keep the day if it is the chosen one."""
        if outcome.day != self._chosen:
            return
        every = slice(None, None, self._interval)
        times = [time_of(outcome.day, minute) for minute in range(0, DAY, self._interval)]
        index = pd.DatetimeIndex(times, name="time")

        def table(values: np.ndarray) -> pd.DataFrame:
            return pd.DataFrame({key: values[:, run] for key, run in self._runs.items()}, index=index)

        first = next(iter(self._runs.values()))
        self.day = ExampleDay(
            pd.Series(outcome.people[every, first], index=index),
            table(outcome.damper[every] * self._ventilation.design_flow),
            table(outcome.record.readings[every]),
            table(outcome.estimates[:, :, 0]),
            table(outcome.estimates[:, :, 1]),
        )
