"""Data quality checks: faults in readings that affect training, with what to do about each.

- `fault`: a fault, its severity and the report of faults; `faults_json`: the report as JSON
- `prepared_readings`: readings prepared for the checks
- `sensor_limits`: when a CO2 sensor is faulty, for files and for the live service
- `co2_sensor`: failed reads, constant values, jumps, resolution, CO2 without people
- `lowest_co2`: lowest CO2 of each day that is too low, reset, drifting or moving
- `clock_check`: different clocks of CO2 and head counts, with `clock_offset_scores`,
  `clock_offset_groups` and `clock_offset_range`
- `head_count_faults`: negative, fractional, drifting and nightly head counts
- `reading_times`: readings in the future, far from the others or too far apart
- `data_completeness`: labelled days, ventilation, missing readings
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from occupair.checks.clock_check import check_clocks
from occupair.checks.co2_sensor import (
    check_co2_without_people,
    check_coarse,
    check_failed_reads,
    check_jumps,
    check_staircase,
    check_stuck,
)
from occupair.checks.data_completeness import (
    check_holes,
    check_labels,
    check_ventilation,
    check_ventilation_reads,
)
from occupair.checks.fault import (
    MEANING,
    SEVERITIES,
    Fault,
    Severity,
    format_faults,
    is_trainable,
    verdict,
    worst_first,
)
from occupair.checks.faults_json import faults_document
from occupair.checks.head_count_faults import (
    check_counter_drift,
    check_midnight_resets,
    check_negative_counts,
    check_people_at_night,
    check_what_is_counted,
    check_whole_counts,
)
from occupair.checks.lowest_co2 import check_low_baseline, check_moving_baseline
from occupair.checks.prepared_readings import prepare_readings
from occupair.checks.reading_times import check_dates, check_interval
from occupair.readings.time_zones import is_utc

__all__ = [
    "CHECKS",
    "MEANING",
    "SEVERITIES",
    "Fault",
    "Severity",
    "faults_document",
    "find_faults",
    "format_faults",
    "is_trainable",
    "verdict",
    "worst_first",
]

Check = Callable[[pd.DataFrame], list[Fault]]

CHECKS: tuple[Check, ...] = (
    check_dates,
    check_clocks,
    check_failed_reads,
    check_stuck,
    check_jumps,
    check_moving_baseline,
    check_low_baseline,
    check_negative_counts,
    check_whole_counts,
    check_what_is_counted,
    check_counter_drift,
    check_people_at_night,
    check_midnight_resets,
    check_co2_without_people,
    check_labels,
    check_ventilation,
    check_ventilation_reads,
    check_holes,
    check_interval,
    check_staircase,
    check_coarse,
)
"""The checks; each takes the result of `prepare_readings` and returns the faults it finds."""

EXPLAINED_BY: dict[str, str] = {"co2_without_people": "clock", "midnight_reset": "slow_readings"}
"""Faults implied by another: with a clock offset of hours, CO2 rises without people; between hourly readings,
people leave before midnight."""


PROBLEM_ADVICE: dict[str, str] = {
    "no_number": "Treated as missing here, but rejected by fit: empty these cells.",
    "no_time": "Skipped here, but rejected by fit: delete these rows.",
    "times": "Sorted here, using the first of duplicates, but rejected by fit: correct these rows.",
}
"""How a problem of a file was handled, and what to do about it."""


def find_faults(readings: pd.DataFrame) -> list[Fault]:
    """Return the faults in readings, the most severe first.

    Parameters
    ----------
    readings : DataFrame
        A DatetimeIndex, ``co2`` [ppm] and, optionally, ``ventilation`` [0..1] and ``occupancy`` [people].
        Values may be invalid or missing. Use ``read_readings(path, lenient=True)`` to read a file.

    Returns
    -------
    list of Fault
        If the severity of any fault is ``"wrong"``, do not train before it is fixed (`is_trainable`).

    Raises
    ------
    InputError
        If there are no times, no CO2 column, or fewer than two readings.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=1440, freq="min")
    >>> readings = pd.DataFrame({"co2": 420.0}, index=times)
    >>> [fault.kind for fault in find_faults(readings)]
    ['no_counts', 'stuck', 'no_ventilation']
    """
    table = prepare_readings(readings)
    found = [
        *_file_problems(readings),
        *_utc_times(readings),
        *(fault for check in CHECKS for fault in check(table)),
    ]
    kinds = {fault.kind for fault in found}
    return worst_first([fault for fault in found if EXPLAINED_BY.get(fault.kind) not in kinds])


def _utc_times(readings: pd.DataFrame) -> list[Fault]:
    """Note times in UTC, whose days rarely are those of the room."""
    if not is_utc(pd.DatetimeIndex(readings.index)):
        return []
    fix = "If the room is in another time zone, state it: --timezone (in Python, timezone=)."
    finding = "All times are in UTC, and days start at midnight UTC."
    return [Fault("utc_times", "note", finding, fix=fix)]


def _file_problems(readings: pd.DataFrame) -> list[Fault]:
    """Return the problems recorded by a ``LenientSource``; ``fit`` would reject the file."""
    return [
        Fault(
            problem["kind"],
            "wrong",
            problem["message"],
            details={name: problem[name] for name in ("column", "row", "rows")},
            fix=PROBLEM_ADVICE[problem["kind"]],
        )
        for problem in readings.attrs.get("problems", [])
    ]
