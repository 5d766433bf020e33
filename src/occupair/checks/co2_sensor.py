"""What can be the matter with the CO2 sensor itself, from one reading to the next."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from occupair.checks.cleaning import (
    HIGHEST_CO2,
    LOWEST_CO2,
    Array,
    Mask,
    Span,
    counts_of,
    days_of,
    interval_minutes,
    plausible_co2,
    runs,
    times_of,
)
from occupair.checks.fault import Fault, Severity
from occupair.wording import day_list, plural

STUCK = 180.0  # min; in a room with people, or in one that airs out after them, CO2 does not stand so long
FINE = 10.0  # ppm; a sensor with larger steps stands still for longer, as their square: CO2 goes to and fro
STUCK_COARSE = 1440.0  # min; but not for a whole day
SOMEBODY = 30.0  # min with people while CO2 stands still, from which it is surely the sensor
FROZEN_WRONG = 0.01  # of the time with people; less of it does not move a fit
LEVELS_NOTED, LEVELS_DOUBTFUL = 40.0, 20.0  # steps from low to high; with 20, one is 5 % of the people
FEWEST_STEPS = 50  # to judge a sensor's steps by
AT_REST = 15.0  # ppm above its lowest level an empty room may stand still: coarse sensors step by 5 or 10
STAIR_SHARE = 0.6  # of the steps come at one same distance; a jittery clock spoils the others
JUMP = 300.0  # ppm from one reading to the next
STEEPEST = 60.0  # ppm/min that people make: a class of 30 in 150 m3, or 80 people in 400 m3
JUMPS_A_DAY = 3.0  # from which it is not somebody breathing at the sensor but a sensor that guesses (eCO2)
FAILED_WRONG = 0.2  # of the readings; a sensor that fails so often is not to be trusted when it answers
ZERO_HELP = "From a file they are read as missing and do no harm; look at the sensor's link."
FEW = 0.05  # of the most people counted: as good as nobody
RISE_ALONE = 200.0  # ppm; more than air from next door brings
SETTLED = 30.0  # min after people have left, until which CO2 may still rise


def check_failed_reads(readings: pd.DataFrame) -> list[Fault]:
    """Find readings that are no CO2 at all: 0 ppm, negative, or far beyond any sensor's range."""
    co2 = readings["co2"].to_numpy()
    failed = (co2 < LOWEST_CO2) | (co2 > HIGHEST_CO2)
    if not failed.any():
        return []
    spans = _spans(readings, failed)
    values = ", ".join(f"{value:g}" for value in pd.unique(co2[failed])[:3])
    missing = "failed_reads" in readings.attrs and bool((co2[failed] == 0).all())
    words = (
        f"CO2 reads {values} ppm {plural(int(failed.sum()), 'time')} (first {spans[0][0]:%Y-%m-%d %H:%M}): "
        f"failed reads, not air. {ZERO_HELP if missing else 'Leave these rows out.'}"
    )
    details = {"readings": int(failed.sum()), "share": float(failed.mean()), "spans": spans}
    severity: Severity = "doubtful" if missing and failed.mean() < FAILED_WRONG else "wrong"
    return [Fault("failed_reads", severity, words, spans[0][0], spans[-1][1], details)]


def check_stuck(readings: pd.DataFrame) -> list[Fault]:
    """Find hours over which CO2 stands still to the last digit, but for an empty room at its lowest level."""
    co2, interval = plausible_co2(readings).to_numpy(), interval_minutes(readings)
    least = min(STUCK * max(1.0, smallest_step(readings) / FINE) ** 2, STUCK_COARSE)
    same = np.zeros(len(co2), dtype=bool)
    same[1:] = (np.diff(co2) == 0) & _adjoining(readings)
    long = [(first - 1, last) for first, last in runs(same) if (last - first + 1) * interval >= least]
    stuck = [part for part in long if not _at_rest(readings, *part)]
    return [_stuck_fault(readings, stuck)] if stuck else []


def check_coarse(readings: pd.DataFrame) -> list[Fault]:
    """Find a sensor or a logger whose steps are too large to tell people apart."""
    step = smallest_step(readings)
    low, high = plausible_co2(readings).quantile([0.01, 0.99])
    levels = (high - low) / step if step else np.inf
    if step <= FINE or levels >= LEVELS_NOTED:
        return []
    severity: Severity = "doubtful" if levels < LEVELS_DOUBTFUL else "note"
    words = (
        f"CO2 moves only in steps of {step:.0f} ppm or more, {levels:.0f} of them between empty and full: "
        "fewer people than one step makes are not seen. Have the sensor or the logger give every ppm."
    )
    return [Fault("coarse", severity, words, details={"step": step, "levels": float(levels)})]


def smallest_step(readings: pd.DataFrame) -> float:
    """Give what CO2 moves by at least when it moves [ppm]; 0 when that cannot be told.

    Large where values are rounded, and where they are only written once they have changed by so much.
    """
    steps = np.abs(np.diff(plausible_co2(readings).dropna().to_numpy()))
    steps = steps[steps > 0]
    return float(np.quantile(steps, 0.05)) if steps.size >= FEWEST_STEPS else 0.0


def check_staircase(readings: pd.DataFrame) -> list[Fault]:
    """Find a sensor that gives a new value less often than it is read."""
    co2 = plausible_co2(readings).to_numpy()
    moved = np.flatnonzero(np.diff(co2) != 0)
    spacing = np.diff(moved)
    if spacing.size < 50:
        return []
    usual = int(np.argmax(np.bincount(spacing)))
    share = float(np.mean(spacing == usual))
    if usual < 2 or share < STAIR_SHARE:
        return []
    interval = interval_minutes(readings)
    words = (
        f"CO2 is a staircase: read every {interval:g} min it gives a new value only every "
        f"{usual * interval:g} min. It is good enough to train on, but no faster than that."
    )
    return [Fault("staircase", "note", words, details={"step": usual * interval, "share": share})]


def check_jumps(readings: pd.DataFrame) -> list[Fault]:
    """Find leaps that no room's air makes, as sensors make them that guess CO2 from other gases."""
    step = np.abs(np.diff(plausible_co2(readings).to_numpy()))
    most = max(JUMP, STEEPEST * interval_minutes(readings))
    leaps = np.flatnonzero((np.nan_to_num(step) > most) & _adjoining(readings)) + 1
    if not leaps.size:
        return []
    times = times_of(readings)[leaps]
    a_day = leaps.size / days_of(readings).nunique()
    severity: Severity = "wrong" if a_day >= JUMPS_A_DAY else "doubtful"
    cause = (
        "Room air cannot do that: is this an eCO2 sensor, which guesses CO2 from other gases?"
        if severity == "wrong"
        else "Somebody breathing at the sensor, or an eCO2 sensor that guesses? Look at these times."
    )
    words = (
        f"CO2 leaps by more than {most:.0f} ppm from one reading to the next {plural(leaps.size, 'time')} "
        f"(by up to {np.nanmax(step):.0f} ppm, first {times[0]:%Y-%m-%d %H:%M}). {cause}"
    )
    details = {
        "jumps": int(leaps.size),
        "a_day": a_day,
        "largest": float(np.nanmax(step)),
        "spans": [(time, time) for time in times],
    }
    return [Fault("jumps", severity, words, times[0], times[-1], details)]


def check_co2_without_people(readings: pd.DataFrame) -> list[Fault]:
    """Find spells in which CO2 climbs while as good as nobody is counted."""
    counts = counts_of(readings)
    if counts is None or not counts.max() > 0:
        return []
    quiet = _long_quiet(readings, counts)
    co2 = plausible_co2(readings).rolling(5, center=True, min_periods=1).median().to_numpy()
    climbs = [_climb(co2, first, last) for first, last in runs(quiet)]
    climbs = [climb for climb in climbs if climb[2] > RISE_ALONE]
    if not climbs:
        return []
    times = times_of(readings)
    low, high, climb = max(climbs, key=lambda found: found[2])
    spans = [(times[start], times[end]) for start, end, _ in climbs]
    days = sorted({end.normalize() for _, end in spans})
    words = (
        f"CO2 climbs by up to {climb:.0f} ppm (to {co2[high]:.0f} ppm) with at most "
        f"{counts.iloc[low : high + 1].max():.0f} counted, on {day_list(days)}: "
        "people the counter missed? Leave these days out, or look at the counter."
    )
    details = {"climb": climb, "days": [f"{day:%Y-%m-%d}" for day in days], "spans": spans}
    return [Fault("co2_without_people", "doubtful", words, spans[0][0], spans[-1][1], details)]


def _adjoining(readings: pd.DataFrame) -> Mask:
    """Whether each reading but the first comes right after the one before."""
    steps = np.diff(times_of(readings)) / np.timedelta64(1, "m")
    return np.asarray(steps <= 1.5 * interval_minutes(readings))


def _spans(readings: pd.DataFrame, mask: Mask) -> list[Span]:
    times = times_of(readings)
    return [(times[first], times[last]) for first, last in runs(mask)]


def _occupied(readings: pd.DataFrame, first: int, last: int) -> float:
    """Time with somebody counted, from one reading to another [min]."""
    counts = counts_of(readings)
    if counts is None:
        return 0.0
    return float((counts.iloc[first : last + 1] > 0).sum()) * interval_minutes(readings)


def _at_rest(readings: pd.DataFrame, first: int, last: int) -> bool:
    lowest = float(plausible_co2(readings).quantile(0.01))
    rest = lowest + max(AT_REST, smallest_step(readings))
    return readings["co2"].iloc[first] <= rest and _occupied(readings, first, last) < SOMEBODY


def _stuck_fault(readings: pd.DataFrame, stuck: list[tuple[int, int]]) -> Fault:
    times, interval = times_of(readings), interval_minutes(readings)
    spans = [(times[first], times[last]) for first, last in stuck]
    minutes = [(last - first + 1) * interval for first, last in stuck]
    occupied = [_occupied(readings, *part) for part in stuck]
    share = sum(occupied) / max(_occupied(readings, 0, len(readings) - 1), 1.0)
    frozen = max(occupied) >= SOMEBODY and share >= FROZEN_WRONG
    severity: Severity = "wrong" if frozen else "doubtful"
    parts = "; ".join(
        f"{length:.0f} min from {start:%Y-%m-%d %H:%M}"
        for (start, _), length in list(zip(spans, minutes, strict=True))[:4]
    )
    with_people = f", {sum(occupied):.0f} min of it with people in" if sum(occupied) else ""
    more = f" and {len(stuck) - 4} more" if len(stuck) > 4 else ""
    words = (
        f"CO2 is frozen to the last digit {plural(len(stuck), 'time')} ({parts}{more}){with_people}: "
        "the sensor or its link hung. Leave these times out."
    )
    details = {"minutes": minutes, "occupied": occupied, "spans": spans}
    return Fault("stuck", severity, words, spans[0][0], spans[-1][1], details)


def _long_quiet(readings: pd.DataFrame, counts: pd.Series[float]) -> Mask:
    """Whether as good as nobody was counted for the last SETTLED minutes, without a break."""
    few = (counts <= FEW * counts.max()).to_numpy()
    settle = round(SETTLED / interval_minutes(readings))
    quiet = np.zeros(len(few), dtype=bool)
    broken = np.concatenate(([True], ~_adjoining(readings)))
    for first, last in runs(few):
        breaks = [first, *(first + 1 + np.flatnonzero(broken[first + 1 : last + 1])), last + 1]
        for start, stop in pairwise(breaks):
            quiet[start + settle : stop] = True
    return quiet


def _climb(co2: Array, first: int, last: int) -> tuple[int, int, float]:
    """Where CO2 climbs most between two readings: from which, to which, and by how much [ppm]."""
    part = np.where(np.isfinite(co2[first : last + 1]), co2[first : last + 1], np.inf)
    above = np.where(np.isfinite(part), part, -np.inf) - np.minimum.accumulate(part)
    high = int(np.argmax(np.nan_to_num(above, nan=-np.inf)))
    low = int(np.argmin(part[: high + 1]))
    return first + low, first + high, float(above[high]) if np.isfinite(above[high]) else 0.0
