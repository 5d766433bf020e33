"""Whether CO2 and counts are stamped by the same clock, and have to do with each other at all."""

from __future__ import annotations

import numpy as np
import pandas as pd

from occupair.checks.cleaning import Array, Mask, counts_of, runs, whole_day_spans
from occupair.checks.clock_offset_groups import ClockGroup, clock_groups, holds
from occupair.checks.clock_offset_range import WITHIN, OffsetRange
from occupair.checks.clock_offset_scores import ClockScores, clock_scores
from occupair.checks.fault import Fault, Severity
from occupair.wording import day_list, plural

MOST_STRETCHES = 3  # runs of days told one by one; more are told as a set of days
CONFIDENT = 0.9  # share of resamplings beyond any room's response, from which a clock is called wrong
SURE = 0.9  # probability from which a day speaks for itself
RELATED = 0.1  # share of variance; chance alone explains about as much in rooms with a daily rhythm
DAYS_TO_JUDGE = 3  # occupied days


def check_clocks(readings: pd.DataFrame) -> list[Fault]:
    """Find days on which CO2 is stamped early or late against the counts, or follows them at no offset."""
    counts = counts_of(readings)
    if counts is None or not counts.max() > 0:
        return []
    every = clock_scores(readings)
    if not every:
        return []
    scores, groups = clock_groups(every)
    found = [_clock_fault(scores, group, days) for group in groups for days in _stretches(scores, group)]
    return found or _unrelated(scores)


def _unrelated(scores: ClockScores) -> list[Fault]:
    """Say so when CO2 explains next to nothing of the counts, however the clocks are moved."""
    share = float(scores.share(np.ones(len(scores.days), dtype=bool)).max())
    if share >= RELATED or int((scores.total > 0).sum()) < DAYS_TO_JUDGE:
        return []
    words = (
        f"CO2 explains only {share:.0%} of the counts' variation, however the clocks are moved: "
        "are both from the same room, and is that sensor in the room's air?"
    )
    return [Fault("unrelated", "wrong", words, details={"explained": share})]


def _stretches(scores: ClockScores, group: ClockGroup) -> list[Mask]:
    """Split the days of a group into runs that speak for themselves, or keep them as one set if scattered."""
    parts = runs(group.days)
    if len(parts) == 1 or len(parts) > MOST_STRETCHES:
        return [group.days]
    stretches = [_only(group.days, first, last) for first, last in parts]
    return [days for days in stretches if holds(scores, group.state, days)] or [group.days]


def _only(days: Mask, first: int, last: int) -> Mask:
    stretch = np.zeros_like(days)
    stretch[first : last + 1] = True
    return stretch


def _clock_fault(scores: ClockScores, group: ClockGroup, days: Mask) -> Fault:
    share = scores.share(days)
    before = float(share[scores.zero])
    offset = group.offset
    after = float(share[np.argmin(np.abs(scores.offsets - offset.told))])
    severity: Severity = "wrong" if offset.beyond_response >= CONFIDENT else "doubtful"
    named = list(scores.days[days])
    spans = whole_day_spans(named)
    words = (
        f"{_where(days, named, group.probability)} CO2 is stamped about {_amount(offset.told)} "
        f"against the counts ({_between(offset)}): moved, it explains {after:.0%} of their variation instead "
        f"of {before:.0%}. {_remedy(offset.told)}"
    )
    details = {
        "offset": offset.told,
        "measured": offset.measured,
        "range": (offset.low, offset.high),
        "confidence": offset.confidence,
        "explained_as_it_is": before,
        "explained_when_moved": after,
        "days": [f"{day:%Y-%m-%d}" for day in named],
        "probability": [round(float(p), 3) for p in group.probability[days]],
        "of_days": len(scores.days),
        "spans": spans,
        "offsets": scores.offsets.tolist(),
        "explained": np.round(share, 4).tolist(),
    }
    return Fault("clock", severity, words, spans[0][0], spans[-1][1], details)


def _where(days: Mask, named: list[pd.Timestamp], probability: Array) -> str:
    if days.all():
        return f"On all {plural(days.size, 'day')}"
    if len(runs(days)) == 1 and len(named) > 1:
        return f"From {named[0]:%Y-%m-%d} to {named[-1]:%Y-%m-%d} ({len(named)} of {days.size} days)"
    sure = int((probability[days] >= SURE).sum())
    return (
        f"On about {len(named)} of {days.size} days ({sure} of them clearly, the others less so; "
        f"{day_list(named)})"
    )


def _amount(offset: float) -> str:
    """Say how early or late.

    Examples
    --------
    >>> _amount(-480.0), _amount(60.0), _amount(90.0)
    ('8 h early', '60 min late', '90 min late')
    """
    size = abs(offset)
    amount = f"{size / 60:g} h" if size >= 120 and size % 30 == 0 else f"{size:.0f} min"
    return f"{amount} {'late' if offset > 0 else 'early'}"


def _between(offset: OffsetRange) -> str:
    """Say from which to which offset it may be, and how sure the one told is."""
    near, far = sorted((offset.low, offset.high), key=abs)
    return (
        f"between {abs(near):.0f} and {abs(far):.0f} min; right to {WITHIN:.0f} min with a confidence of "
        f"{min(offset.confidence, 0.99):.0%}"
    )


def _remedy(offset: float) -> str:
    """Say what to do, and what such an offset mostly comes from."""
    move = f"Move CO2 {abs(offset):.0f} min {'earlier' if offset > 0 else 'later'} on these days"
    if abs(offset) == 60:
        return f"{move}; most likely one of the clocks keeps summer time and the other does not."
    if abs(offset) == 720:
        return f"{move}; most likely one of them mixes up morning and afternoon."
    if abs(offset) >= 120 and offset % 30 == 0:
        return f"{move}; most likely one is in UTC and the other in local time."
    return f"{move}; most likely one of the clocks is set wrong."
