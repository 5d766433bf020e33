"""A schedule of outdoor air from the head counts of some weeks."""

from __future__ import annotations

import pandas as pd

from occupair.savings.building import OfficeVentilation
from occupair.savings.policies import ScheduledFlow


def scheduled_flow(
    readings: pd.DataFrame, ventilation: OfficeVentilation, *, quantile: float
) -> ScheduledFlow:
    """Return hourly flows for a quantile of the counts in each hour of the day.

    Parameters
    ----------
    readings
        Readings of weekdays with ``occupancy``, from which the schedule is made.
    ventilation
        The standard.
    quantile
        Share of readings of an hour at or below the count that the hour is scheduled for [0..1].

    Examples
    --------
    >>> import numpy as np
    >>> times = pd.date_range("2024-01-08", periods=48, freq="30min")
    >>> readings = pd.DataFrame({"occupancy": np.where(times.hour == 9, 10.0, 0.0)}, index=times)
    >>> flows = scheduled_flow(readings, OfficeVentilation("ASHRAE 62.1"), quantile=0.95).flows
    >>> [round(flows[hour], 1) for hour in (8, 9)]  # 186 m2 * 0.3 L/s, and 10 * 2.5 L/s more
    [55.8, 80.8]
    """
    hours = pd.DatetimeIndex(readings.index).hour
    counts = readings["occupancy"].groupby(hours).quantile(quantile).reindex(range(24), fill_value=0.0)
    return ScheduledFlow(tuple(float(ventilation.control.demand.flow(count)) for count in counts))
