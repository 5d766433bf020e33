"""Times at which the CO2 sensor of a room was faulty, by the checks that files and the live service share.

Readings at these times are removed before people are estimated. A day on which too much is missing is left
out of all means (`days`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from occupair.checks.co2_sensor import check_failed_reads, check_jumps, check_stuck
from occupair.checks.fault import Fault
from occupair.checks.lowest_co2 import check_moving_baseline
from occupair.checks.prepared_readings import Span, prepare_readings
from occupair.checks.sensor_limits import SETTLES
from occupair.utilisation.counts import Mask

NAMES = {"failed_reads": "implausible readings", "stuck": "sensor stuck", "jumps": "CO2 jumps"}
"""Faults that make readings unusable, by kind."""
NOTED = ("reset", "drift")
"""Kinds of faults of the baseline that are mentioned, because estimates follow the baseline."""

_CHECKS: tuple[Callable[[pd.DataFrame], list[Fault]], ...] = (check_failed_reads, check_stuck, check_jumps)
_AFTER = {"jumps": pd.Timedelta(minutes=SETTLES)}


class SensorFaults(NamedTuple):
    """Faults of a sensor.

    Attributes
    ----------
    hours : faulty time [h] by local day and kind of fault, see ``NAMES``
    is_faulty : whether each reading is faulty
    spans : faulty times in local time, from the first to the last faulty reading
    notes : what else to know about the sensor, as sentences
    """

    hours: pd.DataFrame
    is_faulty: Mask
    spans: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()


def sensor_faults(readings: pd.DataFrame) -> SensorFaults:
    """Find the faulty readings of a CO2 sensor.

    Parameters
    ----------
    readings : DataFrame
        ``co2`` [ppm] as sent by the sensor, at increasing times in the time zone of the room.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=288, freq="5min")
    >>> co2 = 420.0 + 300 * np.sin(np.arange(288) / 20) ** 2
    >>> co2[96:216] = 800.0  # stuck from 8:00 to 18:00
    >>> faults = sensor_faults(pd.DataFrame({"co2": co2}, index=times))
    >>> faults.hours.round(1).to_dict("index")
    {Timestamp('2024-01-08 00:00:00'): {'sensor stuck': 10.0}}
    """
    nothing = pd.DataFrame(index=pd.DatetimeIndex([]), dtype=float)
    if len(readings) < 2:
        return SensorFaults(nothing, np.zeros(len(readings), dtype=bool))
    table = prepare_readings(readings[["co2"]])
    times = pd.DatetimeIndex(readings.index).tz_localize(None)
    steps = np.append(np.diff(times) / pd.Timedelta(hours=1), 0.0)
    usual = float(np.median(steps[:-1]))
    steps = np.where((steps > 2 * usual) | (steps <= 0), usual, steps)  # a gap is not a fault of its own
    is_faulty, hours, spans = np.zeros(len(times), dtype=bool), {}, []
    for fault in (fault for check in _CHECKS for fault in check(table)):
        found = np.zeros(len(times), dtype=bool)
        for start, last in fault.spans:
            end = last + _AFTER.get(fault.kind, pd.Timedelta(0))
            spans.append((start, end))
            found |= (times >= start) & (times <= end)
        hours[NAMES[fault.kind]] = pd.Series(np.where(found, steps, 0.0)).groupby(times.normalize()).sum()
        is_faulty |= found
    notes = tuple(fault.finding for fault in check_moving_baseline(table) if fault.kind in NOTED)
    by_day = pd.DataFrame(hours) if hours else nothing
    return SensorFaults(by_day[by_day.sum(axis=1) > 0], is_faulty, tuple(spans), notes)
