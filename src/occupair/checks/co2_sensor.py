"""Checks of the CO2 sensor from one reading to the next: failed reads, constant values, jumps, resolution."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from occupair.checks.fault import Fault, Severity, span_days
from occupair.checks.prepared_readings import (
    Array,
    Mask,
    counts_of,
    days_of,
    follows_without_gap,
    interval_minutes,
    plausible_co2,
    runs,
    spans_of,
    steps_of,
    times_of,
)
from occupair.checks.sensor_limits import (
    STUCK,
    elapsed_minutes,
    is_plausible,
    largest_step,
    resolution_of,
    stuck_limit,
)
from occupair.readings.gaps import bridged_step, default_gap
from occupair.wording import day_list, plural

STUCK_OCCUPIED_TIME = 30.0  # min with people during which constant CO2 is certainly a sensor fault
STUCK_SHARE_WRONG = 0.01  # of the occupied time; less does not affect a fit
FINE_RESOLUTION = 10.0  # ppm; a finer resolution never limits accuracy
LEVELS_NOTED, LEVELS_DOUBTFUL = 40.0, 20.0  # steps between low and high; with 20, one is 5 % of the people
FEWEST_CHANGES = 50  # of CO2, needed to judge whether the sensor is too coarse or too slow
STAIRCASE_SHARE = 0.6  # of the changes at the same distance; clock jitter affects the others
JUMPS_A_DAY = 3.0  # from which it is not a person breathing at the sensor but an eCO2 sensor
FAILED_SHARE_WRONG = 0.2  # of the readings; the other readings of such a sensor are not reliable either
NEARLY_EMPTY_SHARE = 0.05  # of the maximum occupancy
RISE_WITHOUT_PEOPLE = 200.0  # ppm; more than air from neighbouring rooms causes
SETTLING_TIME = 30.0  # min after people leave during which CO2 may still rise
LISTED_SPANS = 30  # spans in a message before the rest is only counted; JSON has all


def check_failed_reads(readings: pd.DataFrame) -> list[Fault]:
    """Find readings that are not CO2 concentrations: 0 ppm, negative, or beyond any sensor's range."""
    co2 = readings["co2"].to_numpy()
    failed = ~np.isnan(co2) & ~is_plausible(co2)
    if not failed.any():
        return []
    spans = spans_of(readings, failed)
    values = ", ".join(f"{value:g}" for value in pd.unique(co2[failed])[:3])
    read_as_missing = "failed_reads" in readings.attrs and bool((co2[failed] == 0).all())
    advice = (
        "They are read from the file as missing; check the connection of the sensor."
        if read_as_missing
        else "Delete these rows."
    )
    message = (
        f"CO2 reads {values} ppm {plural(int(failed.sum()), 'time')} "
        f"(first {spans[0][0]:%Y-%m-%d %H:%M}): failed reads."
    )
    details = {"readings": int(failed.sum()), "share": float(failed.mean()), "spans": spans}
    severity: Severity = "doubtful" if read_as_missing and failed.mean() < FAILED_SHARE_WRONG else "wrong"
    return [Fault("failed_reads", severity, message, spans[0][0], spans[-1][1], details, advice)]


def check_stuck(readings: pd.DataFrame) -> list[Fault]:
    """Find CO2 that is constant for longer than a working sensor allows; the live service finds the same."""
    known = readings[plausible_co2(readings).notna()]
    if len(known) < 2:
        return []
    co2, interval = known["co2"].to_numpy(), interval_minutes(readings)
    minutes = np.concatenate(([0.0], np.cumsum(steps_of(known))))
    elapsed = elapsed_minutes(minutes, bridged_step(interval, default_gap(interval)))
    constant = [(first - 1, last) for first, last in runs(np.diff(co2, prepend=np.nan) == 0)]
    stuck = []
    for first, last in constant:
        if (duration := elapsed[last] - elapsed[first]) < STUCK:
            continue
        is_occupied = _occupied_minutes(known, first, last) >= STUCK_OCCUPIED_TIME
        occupied = None if counts_of(known) is None else is_occupied
        if duration >= stuck_limit(elapsed, co2, first, occupied=occupied):
            stuck.append((first, last))
    minutes_stuck = [float(elapsed[last] - elapsed[first]) + interval for first, last in stuck]
    return [_stuck_fault(known, stuck, minutes_stuck)] if stuck else []


def check_coarse(readings: pd.DataFrame) -> list[Fault]:
    """Find a sensor or logger whose resolution is too coarse to tell numbers of people apart."""
    co2 = plausible_co2(readings).dropna()
    if np.count_nonzero(np.diff(co2)) < FEWEST_CHANGES:
        return []
    step = resolution_of(np.asarray(co2, dtype=np.float64))
    low, high = co2.quantile([0.01, 0.99])
    levels = (high - low) / step
    if step <= FINE_RESOLUTION or levels >= LEVELS_NOTED:
        return []
    severity: Severity = "doubtful" if levels < LEVELS_DOUBTFUL else "note"
    message = (
        f"CO2 changes in steps of {step:.0f} ppm or more, {levels:.0f} of them between empty and full: "
        "numbers of people that cause less than one step are not detected."
    )
    fix = "Configure the sensor or the logger to a resolution of 1 ppm."
    return [Fault("coarse", severity, message, details={"step": step, "levels": float(levels)}, fix=fix)]


def check_staircase(readings: pd.DataFrame) -> list[Fault]:
    """Find a sensor that updates less often than it is read."""
    co2 = plausible_co2(readings).to_numpy()
    changed = np.flatnonzero(np.diff(co2) != 0)
    spacing = np.diff(changed)
    if spacing.size < FEWEST_CHANGES:
        return []
    usual = int(np.argmax(np.bincount(spacing)))
    share = float(np.mean(spacing == usual))
    if usual < 2 or share < STAIRCASE_SHARE:
        return []
    interval = interval_minutes(readings)
    message = (
        f"CO2 is read every {interval:g} min but updated only every {usual * interval:g} min. "
        "This is sufficient for training, but changes are seen no sooner than that."
    )
    return [Fault("staircase", "note", message, details={"step": usual * interval, "share": share})]


def check_jumps(readings: pd.DataFrame) -> list[Fault]:
    """Find changes faster than room air allows, as reported by eCO2 sensors."""
    step = np.abs(np.diff(plausible_co2(readings).to_numpy()))
    limit = largest_step(interval_minutes(readings))
    jumps = np.flatnonzero((np.nan_to_num(step) > limit) & follows_without_gap(readings)) + 1
    if not jumps.size:
        return []
    times = times_of(readings)[jumps]
    a_day = jumps.size / days_of(readings).nunique()
    severity: Severity = "wrong" if a_day >= JUMPS_A_DAY else "doubtful"
    fix = (
        "Room air cannot change this fast: is this an eCO2 sensor, which infers CO2 from other gases?"
        if severity == "wrong"
        else "Check these times: did somebody breathe at the sensor, or is it an eCO2 sensor?"
    )
    message = (
        f"CO2 jumps by more than {limit:.0f} ppm between two readings {plural(jumps.size, 'time')} "
        f"(by up to {np.nanmax(step):.0f} ppm, first {times[0]:%Y-%m-%d %H:%M})."
    )
    details = {
        "jumps": int(jumps.size),
        "a_day": a_day,
        "largest": float(np.nanmax(step)),
        "spans": [(time, time) for time in times],
    }
    return [Fault("jumps", severity, message, times[0], times[-1], details, fix)]


def check_co2_without_people(readings: pd.DataFrame) -> list[Fault]:
    """Find periods in which CO2 rises while almost nobody is counted."""
    counts = counts_of(readings)
    if counts is None or not counts.max() > 0:
        return []
    empty = _empty_and_settled(readings, counts)
    co2 = plausible_co2(readings).rolling(5, center=True, min_periods=1).median().to_numpy()
    rises = [_largest_rise(co2, first, last) for first, last in runs(empty)]
    rises = [found for found in rises if found[2] > RISE_WITHOUT_PEOPLE]
    if not rises:
        return []
    times = times_of(readings)
    low, high, rise = max(rises, key=lambda found: found[2])
    spans = [(times[start], times[end]) for start, end, _ in rises]
    most = counts.iloc[low : high + 1].max()
    counted = "nobody" if most == 0 else f"no more than {most:.0f}"
    message = (
        f"CO2 rises by up to {rise:.0f} ppm (to {co2[high]:.0f} ppm) with {counted} counted, on "
        f"{day_list(span_days(spans))}: did the counter miss people?"
    )
    fix = "Exclude these days, or check the counter."
    details = {"climb": rise, "spans": spans}
    return [Fault("co2_without_people", "doubtful", message, spans[0][0], spans[-1][1], details, fix)]


def _occupied_minutes(readings: pd.DataFrame, first: int, last: int) -> float:
    """Time with people counted between two readings [min]."""
    counts = counts_of(readings)
    if counts is None:
        return 0.0
    return float((counts.iloc[first : last + 1] > 0).sum()) * interval_minutes(readings)


def _stuck_fault(readings: pd.DataFrame, stuck: list[tuple[int, int]], minutes: list[float]) -> Fault:
    times = times_of(readings)
    spans = [(times[first], times[last]) for first, last in stuck]
    occupied = [_occupied_minutes(readings, *run) for run in stuck]
    share = sum(occupied) / max(_occupied_minutes(readings, 0, len(readings) - 1), 1.0)
    certain = max(occupied) >= STUCK_OCCUPIED_TIME and share >= STUCK_SHARE_WRONG
    severity: Severity = "wrong" if certain else "doubtful"
    listed = "; ".join(
        f"{length:.0f} min from {start:%Y-%m-%d %H:%M}"
        for (start, _), length in list(zip(spans, minutes, strict=True))[:LISTED_SPANS]
    )
    with_people = f", {sum(occupied):.0f} min of it with people present" if sum(occupied) else ""
    more = f" and {len(stuck) - LISTED_SPANS} more, see --json" if len(stuck) > LISTED_SPANS else ""
    message = (
        f"CO2 is stuck at one value {plural(len(stuck), 'time')} ({listed}{more}){with_people}: "
        "the sensor or its connection hung."
    )
    details = {"minutes": minutes, "occupied": occupied, "spans": spans}
    return Fault("stuck", severity, message, spans[0][0], spans[-1][1], details, "Delete these times.")


def _empty_and_settled(readings: pd.DataFrame, counts: pd.Series[float]) -> Mask:
    """Whether almost nobody was counted during the last SETTLING_TIME, without a gap."""
    few = (counts <= NEARLY_EMPTY_SHARE * counts.max()).to_numpy()
    settle = round(SETTLING_TIME / interval_minutes(readings))
    empty = np.zeros(len(few), dtype=bool)
    after_gap = np.concatenate(([True], ~follows_without_gap(readings)))
    for first, last in runs(few):
        breaks = [first, *(first + 1 + np.flatnonzero(after_gap[first + 1 : last + 1])), last + 1]
        for start, stop in pairwise(breaks):
            empty[start + settle : stop] = True
    return empty


def _largest_rise(co2: Array, first: int, last: int) -> tuple[int, int, float]:
    """Return where the largest rise between two readings starts and ends, and its size [ppm]."""
    part = np.where(np.isfinite(co2[first : last + 1]), co2[first : last + 1], np.inf)
    above = np.where(np.isfinite(part), part, -np.inf) - np.minimum.accumulate(part)
    high = int(np.argmax(np.nan_to_num(above, nan=-np.inf)))
    low = int(np.argmin(part[: high + 1]))
    return first + low, first + high, float(above[high]) if np.isfinite(above[high]) else 0.0
