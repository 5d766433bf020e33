"""The check of clock offsets between CO2 and head counts, and of whether they are related at all."""

from __future__ import annotations

import numpy as np
import pandas as pd

from occupair.checks.clock_offset_groups import ClockGroup, clock_groups, is_supported
from occupair.checks.clock_offset_range import MAX_OFFSET_ERROR, OffsetRange
from occupair.checks.clock_offset_scores import ClockScores, clock_scores
from occupair.checks.fault import Fault, Severity
from occupair.checks.prepared_readings import Array, Mask, counts_of, runs, whole_day_spans
from occupair.wording import day_list, plural

MAX_RUNS = 3  # runs of days reported separately; more are reported as one set of days
MIN_CONFIDENCE = 0.9  # fraction of resampled offsets beyond any response lag for a fault to be wrong
MIN_DAY_PROBABILITY = 0.9  # probability of a day to be called clear
MIN_EXPLAINED_VARIANCE = 0.1  # fraction of variance; a daily rhythm alone explains about as much
MIN_OCCUPIED_DAYS = 3  # occupied days


def check_clocks(readings: pd.DataFrame) -> list[Fault]:
    """Find days with CO2 timestamps early or late relative to head counts, or CO2 unrelated to them."""
    counts = counts_of(readings)
    if counts is None or not counts.max() > 0:
        return []
    every = clock_scores(readings)
    if not every:
        return []
    scores, groups = clock_groups(every)
    found = [_clock_fault(scores, group, days) for group in groups for days in _separate_runs(scores, group)]
    return found or _unrelated(scores)


def _unrelated(scores: ClockScores) -> list[Fault]:
    """Report CO2 that explains almost none of the head counts at any clock offset."""
    share = float(scores.share(np.ones(len(scores.days), dtype=bool)).max())
    if share >= MIN_EXPLAINED_VARIANCE or int((scores.total > 0).sum()) < MIN_OCCUPIED_DAYS:
        return []
    message = (
        f"CO2 explains only {share:.0%} of the variance of the head counts at any clock offset: "
        "are both from the same room, and does the sensor measure the room air?"
    )
    fix = "Use the CO2 and the head counts of one room, and the same clock for both."
    return [Fault("unrelated", "wrong", message, details={"explained": share}, fix=fix)]


def _separate_runs(scores: ClockScores, group: ClockGroup) -> list[Mask]:
    """Split the days of a group into runs with enough evidence each, or return them as one set."""
    found = runs(group.days)
    if len(found) == 1 or len(found) > MAX_RUNS:
        return [group.days]
    separate = [_only(group.days, first, last) for first, last in found]
    return [days for days in separate if is_supported(scores, group.state, days)] or [group.days]


def _only(days: Mask, first: int, last: int) -> Mask:
    run = np.zeros_like(days)
    run[first : last + 1] = True
    return run


def _clock_fault(scores: ClockScores, group: ClockGroup, days: Mask) -> Fault:
    share = scores.share(days)
    before = float(share[scores.zero])
    offset = group.offset
    after = float(share[np.argmin(np.abs(scores.offsets - offset.rounded))])
    severity: Severity = "wrong" if offset.beyond_response >= MIN_CONFIDENCE else "doubtful"
    dates = list(scores.days[days])
    spans = whole_day_spans(dates)
    message = (
        f"{_which_days(days, dates, group.probability)} CO2 is timestamped about {_amount(offset.rounded)} "
        f"relative to the head counts ({_uncertainty(offset)}): shifted, it explains {after:.0%} of their "
        f"variance instead of {before:.0%}."
    )
    details = {
        "offset": offset.rounded,
        "measured": offset.measured,
        "range": (offset.low, offset.high),
        "confidence": offset.confidence,
        "explained_as_it_is": before,
        "explained_when_moved": after,
        "probability": [round(float(p), 3) for p in group.probability[days]],
        "of_days": len(scores.days),
        "spans": spans,
        "offsets": scores.offsets.tolist(),
        "explained": np.round(share, 4).tolist(),
    }
    fix = _advice(offset.rounded)
    return Fault("clock", severity, message, spans[0][0], spans[-1][1], details, fix)


def _which_days(days: Mask, dates: list[pd.Timestamp], probability: Array) -> str:
    if days.all():
        return f"On all {plural(days.size, 'day')}"
    if len(runs(days)) == 1 and len(dates) > 1:
        return f"From {dates[0]:%Y-%m-%d} to {dates[-1]:%Y-%m-%d} ({len(dates)} of {days.size} days)"
    sure = int((probability[days] >= MIN_DAY_PROBABILITY).sum())
    clearly = "all clearly" if sure == len(dates) else f"{sure} of them clearly, the others less so"
    return f"On about {len(dates)} of {days.size} days ({clearly}; {day_list(dates)})"


def _amount(offset: float) -> str:
    """Describe an offset [min].

    Examples
    --------
    >>> _amount(-480.0), _amount(60.0), _amount(90.0)
    ('8 h early', '60 min late', '90 min late')
    """
    size = abs(offset)
    amount = f"{size / 60:g} h" if size >= 120 and size % 30 == 0 else f"{size:.0f} min"
    return f"{amount} {'late' if offset > 0 else 'early'}"


def _uncertainty(offset: OffsetRange) -> str:
    """Describe the interval and the confidence of an offset."""
    near, far = sorted((offset.low, offset.high), key=abs)
    return (
        f"between {abs(near):.0f} and {abs(far):.0f} min; within ±{MAX_OFFSET_ERROR:.0f} min "
        f"with a confidence of {min(offset.confidence, 0.99):.0%}"
    )


def _advice(offset: float) -> str:
    """Describe what to do about an offset, and its most likely cause."""
    move = f"Shift CO2 {abs(offset):.0f} min {'earlier' if offset > 0 else 'later'} on these days"
    if abs(offset) == 60:
        return f"{move}; one of the clocks probably uses daylight saving time and the other does not."
    if abs(offset) == 720:
        return f"{move}; one of the clocks probably confuses am and pm."
    if abs(offset) >= 120 and offset % 30 == 0:
        return f"{move}; one is probably in UTC and the other in local time."
    return f"{move}; one of the clocks is probably wrong."
