"""What is wrong with a data set, in plain words, before anyone trains on it.

- `fault`: what a check finds, and words for it
- `cleaned`: readings as the checks want them
- `clocks`, `clock_scores`, `clock_groups`, `clock_range`: CO2 and counts stamped by clocks that disagree
- `co2`, `day_lows`: the CO2 sensor from reading to reading and from day to day
- `counts`: the head counts
- `enough`: labelled days, ventilation, holes
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from occupair.checks.baseline_drift import check_low_baseline, check_moving_baseline
from occupair.checks.cleaning import clean_readings
from occupair.checks.clock_check import check_clocks
from occupair.checks.co2_sensor import (
    check_co2_without_people,
    check_coarse,
    check_failed_reads,
    check_jumps,
    check_staircase,
    check_stuck,
)
from occupair.checks.data_completeness import check_holes, check_labels, check_ventilation
from occupair.checks.fault import (
    MEANING,
    SEVERITIES,
    Fault,
    Severity,
    fit_to_train,
    format_faults,
    verdict,
    worst_first,
)
from occupair.checks.head_count_faults import (
    check_counter_drift,
    check_midnight_resets,
    check_negative_counts,
    check_people_at_night,
    check_whole_counts,
)

__all__ = [
    "CHECKS",
    "MEANING",
    "SEVERITIES",
    "Fault",
    "Severity",
    "find_faults",
    "fit_to_train",
    "format_faults",
    "verdict",
    "worst_first",
]

Check = Callable[[pd.DataFrame], list[Fault]]

CHECKS: tuple[Check, ...] = (
    check_clocks,
    check_failed_reads,
    check_stuck,
    check_jumps,
    check_moving_baseline,
    check_low_baseline,
    check_negative_counts,
    check_whole_counts,
    check_counter_drift,
    check_people_at_night,
    check_midnight_resets,
    check_co2_without_people,
    check_labels,
    check_ventilation,
    check_holes,
    check_staircase,
    check_coarse,
)
"""Every check takes readings as `cleaned` gives them and returns what it finds."""

EXPLAINED_BY: dict[str, str] = {"co2_without_people": "clock"}
"""Findings that only repeat another: CO2 stamped hours away from the people climbs without them."""


READ_OVER: dict[str, str] = {
    "no_number": "Taken as missing here; empty these cells, fit does not read them.",
    "no_time": "Left out here; delete these rows, fit does not read them.",
    "times": "Put in order here, the first of two kept; put the rows right, fit does not read them.",
}
"""What was done about a problem with a file, and what is to be done."""


def find_faults(readings: pd.DataFrame) -> list[Fault]:
    """Find what is the matter with readings, the most severe first.

    Parameters
    ----------
    readings : DataFrame
        A DatetimeIndex, ``co2`` [ppm] and, if there are any, ``ventilation`` [0..1] and ``occupancy``
        [people]. Nothing has to be right with the values: empty cells, gaps, 0 ppm and negative counts
        are what this is for. From a file, they come with ``read_readings(path, lenient=True)``.

    Returns
    -------
    list of Fault
        Training would be wrong when one of them is ``"wrong"``, see `fit_to_train`.

    Raises
    ------
    InputError
        When there is nothing to check: no times, no CO2 column, fewer than two readings.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=1440, freq="min")
    >>> readings = pd.DataFrame({"co2": 420.0}, index=times)
    >>> [fault.kind for fault in find_faults(readings)]
    ['no_counts', 'no_ventilation']
    """
    table = clean_readings(readings)
    found = [
        *_read_over(readings),
        *_in_utc(readings),
        *(fault for check in CHECKS for fault in check(table)),
    ]
    kinds = {fault.kind for fault in found}
    return worst_first([fault for fault in found if EXPLAINED_BY.get(fault.kind) not in kinds])


def _in_utc(readings: pd.DataFrame) -> list[Fault]:
    """Note times in UTC, which few rooms live by."""
    zone = pd.DatetimeIndex(readings.index).tz
    if zone is None or str(zone) not in ("UTC", "Etc/UTC"):
        return []
    words = (
        "All times are in UTC, so midnight and the time of day are taken at UTC. "
        "Where the room's are not, give its time zone: --timezone (in Python, timezone=)."
    )
    return [Fault("utc_times", "note", words)]


def _read_over(readings: pd.DataFrame) -> list[Fault]:
    """Tell what was read over in a file, see ``occupair.readings.source``: ``fit`` would refuse it."""
    return [
        Fault(problem["kind"], "wrong", f"{problem['words']} {READ_OVER[problem['kind']]}")
        for problem in readings.attrs.get("problems", [])
    ]
