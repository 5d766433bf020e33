"""What counters count, made into passages: one by one, per interval, or as counts that go on counting.

A record is a time, a door and how many entered and left. Of records that come one by one each stands where it
is. Counts of an interval longer than a minute are spread over its minutes, which become unsure: how many is
known, when is not. Of a count that goes on counting the differences are taken; where it falls it has wrapped
(at 256, 65536, 100000 and so on, if it was that near) or was reset, which may have lost somebody.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.groundtruth.passages import UNSURE, check_passages, minutes_of, not_counted
from occupair.readings.grid import MINUTE, usual_interval
from occupair.readings.source import Source

Kind = Literal["single", "interval", "cumulative"]
Numbers = NDArray[np.float64]

AGAIN_WITHIN = 2.0  # s; who walks behind another is mostly further away, a sensor that fires twice is not
REGULAR = 0.6  # of the steps within a fifth of the usual one, from which records are taken as regular
RISES, FALLS = 5, 0.34  # a count that goes on counting rises so often, and falls at most for this share of it
MODULI = tuple(2**bits for bits in (8, 16, 24, 32)) + tuple(10**digits for digits in range(2, 10))
WRAPS_WITHIN = 3.0  # times the largest step seen elsewhere, or 20 people
MOST = 10_000  # people between two records; more is not a door
STILL = pd.Timedelta(minutes=30)  # without a passage before a reset: it lost nobody


def passages_of(
    records: pd.DataFrame, *, cumulative: bool | None = None, source: Source, single: bool = False
) -> pd.DataFrame:
    """Make passages of records.

    Parameters
    ----------
    records : DataFrame
        Rising times, ``door``, ``entered`` and ``left`` [people], NaN where nothing was said.
    cumulative : bool, optional
        Whether counts go on counting; None finds out for each door.
    source : Source
        What to call them in an error.
    single : bool
        Whether every record is a passage at its time, whatever the times are.
    """
    parts = []
    for door, own in records.groupby("door", sort=True):
        own = own[["entered", "left"]].dropna(how="all") if single else own[["entered", "left"]]
        kind = _kind(own, cumulative, single)
        made = {"single": _single, "interval": _intervals, "cumulative": _totals}[kind](
            own, str(door), source
        )
        parts.append(made)
    found = [part for part in parts if len(part)]
    if not found:
        raise source.error("has no passage")
    return check_passages(pd.concat(found), source=source)


def _kind(own: pd.DataFrame, cumulative: bool | None, single: bool) -> Kind:
    if single and not cumulative:
        return "single"
    if cumulative or (cumulative is None and goes_on(own[name] for name in ("entered", "left"))):
        return "cumulative"
    times = pd.DatetimeIndex(own.index)
    to_the_minute = len(times) > 1 and not np.asarray(times.second).any()
    return "interval" if to_the_minute or regular(times) else "single"


def goes_on(series: Iterable[pd.Series[float]], *, least: int = RISES) -> bool:
    """Whether counts rise ``least`` times or more, and much more often than they fall.

    Examples
    --------
    >>> goes_on([pd.Series([3.0, 4.0, None, 6.0, 0.0, 1.0])], least=3), goes_on([pd.Series([0.0, 2.0, 0.0])])
    (True, False)
    """
    steps = np.concatenate([np.diff(counts.dropna()) for counts in series])
    rises, falls = int((steps > 0).sum()), int((steps < 0).sum())
    return rises >= least and falls <= FALLS * rises


def regular(times: pd.DatetimeIndex) -> bool:
    """Whether times come at an interval rather than when something happens.

    Examples
    --------
    >>> regular(pd.date_range("2024-01-08", periods=5, freq="15min"))
    True
    >>> regular(pd.to_datetime(["2024-01-08 08:00:07", "2024-01-08 08:31:40", "2024-01-08 08:32:01"]))
    False
    """
    if len(times) < 2:
        return False
    steps = np.diff(times.as_unit("us").asi8) / 1e6
    usual = float(np.median(steps))
    return usual > 0 and float(np.mean(np.abs(steps / usual - 1) < 0.2)) >= REGULAR


def _single(own: pd.DataFrame, door: str, source: Source) -> pd.DataFrame:
    """Every record where it is; those close after another the same way are marked."""
    counts = own.fillna(0.0)
    rows = counts.assign(door=door, weight=1.0)
    for name in ("entered", "left"):
        passed = counts[counts[name] > 0]
        again = np.diff(pd.DatetimeIndex(passed.index).as_unit("us").asi8, prepend=0) <= AGAIN_WITHIN * 1e6
        marks = pd.Series(0.0, index=np.arange(len(rows)))
        marks[np.flatnonzero(counts[name] > 0)[again]] = 1.0
        rows[f"{name}_again"] = marks.to_numpy()
    return check_passages(rows, source=source)


def _intervals(own: pd.DataFrame, door: str, source: Source) -> pd.DataFrame:
    """Spread counts of intervals that begin at their times over their minutes."""
    times = pd.DatetimeIndex(own.index)
    length = pd.Timedelta(minutes=_interval(own, source))
    known = own.notna().all(axis=1).to_numpy()
    counts = own[known].to_numpy(dtype=float)
    parts = [_spread(door, times[known], times[known] + length, counts, source)]
    parts += [not_counted(door, time, time + length) for time in times[~known]]
    if (own.sum(axis=1) == 0).any():  # else intervals in which nobody passed are not written
        late = map(int, np.flatnonzero(times[1:] - times[:-1] > 1.5 * length))
        parts += [not_counted(door, times[k] + length, times[k + 1]) for k in late]
        parts += before_and_after(door, times[0], times[-1] + length)
    return check_passages(pd.concat(parts), source=source)


def _interval(own: pd.DataFrame, source: Source) -> float:
    """Length of the intervals [min]; also where those in which nobody passed are left out."""
    steps = np.diff(pd.DatetimeIndex(own.index).as_unit("us").asi8) // 1_000_000
    common = int(np.gcd.reduce(steps)) if steps.size else 0
    return common / 60 if common >= 60 else usual_interval(pd.DatetimeIndex(own.index), source)


def _totals(own: pd.DataFrame, door: str, source: Source) -> pd.DataFrame:
    """Take differences of counts that go on counting.

    Where records come at an interval somebody passed at any time since the one before; else when they came.
    """
    silent = [name for name in own.columns if own[name].isna().all()]
    own = own.assign(**dict.fromkeys(silent, 0.0)).ffill().dropna()
    times = pd.DatetimeIndex(own.index)
    if len(times) < 2:
        raise source.error(f"door {door}: a count that goes on counting needs two records, got {len(times)}")
    steps, resets = zip(*(_increments(own[name].to_numpy(dtype=float)) for name in own.columns), strict=True)
    counts, reset = np.column_stack(steps), np.logical_or(*resets)
    polled = regular(times)
    parts = [
        _spread(door, times[:-1], times[1:], counts, source)
        if polled
        else _spread(door, times[1:], times[1:], counts, source)
    ]
    lost = times[(0 if polled else 1) :][: len(reset)][reset & _moving(times, counts)]
    if len(lost):
        parts.append(pd.DataFrame({"door": door, "entered": 0, "left": 0, "weight": UNSURE}, index=lost))
    if polled:
        parts += before_and_after(door, times[0], times[-1])
    return check_passages(pd.concat(parts), source=source)


def _moving(times: pd.DatetimeIndex, counts: Numbers) -> NDArray[np.bool_]:
    """Whether somebody passed from one record to the next, or shortly before."""
    passed = counts.sum(axis=1) > 0
    at = times.as_unit("us").asi8
    last = np.maximum.accumulate(np.where(passed, at[1:], at[0] - 10**18))
    before = np.r_[at[0] - 10**18, last[:-1]]
    return np.asarray(passed | (at[:-1] - before < STILL / pd.Timedelta(microseconds=1)))


def _increments(totals: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Differences of a count that goes on counting, and where it was reset.

    Examples
    --------
    >>> [part.tolist() for part in _increments(np.array([65530.0, 65534.0, 2.0, 7.0, 1.0]))]
    [[4.0, 4.0, 5.0, 1.0], [False, False, False, True]]
    """
    steps = np.diff(totals)
    fell = steps < 0
    most = WRAPS_WITHIN * max(float(steps[~fell].max(initial=0.0)), 20.0 / WRAPS_WITHIN)
    for k in np.flatnonzero(fell):
        round_the_end = [m - totals[k] + totals[k + 1] for m in MODULI if m > totals[k]]
        near = [step for step in round_the_end if step <= most]
        steps[k] = near[0] if near else totals[k + 1]
        fell[k] = not near
    return steps, fell


def _spread(
    door: str, starts: pd.DatetimeIndex, ends: pd.DatetimeIndex, counts: Numbers, source: Source
) -> pd.DataFrame:
    """Spread people over the minutes from each start until before its end; several minutes are unsure."""
    first, stop = (minutes_of(times).as_unit("us").asi8 // MINUTE for times in (starts, ends))
    number = np.maximum(stop - first, 1)
    if counts.size and counts.max() > MOST:
        k = int(counts.max(axis=1).argmax())
        raise source.error(f"door {door}: {counts.max():.0f} people from {starts[k]} to {ends[k]}?")
    several = (counts.sum(axis=1) > 0) & (number > 1)
    at = [first[~several]]
    people = [counts[~several].astype(np.int64)]
    for k in map(int, np.flatnonzero(several)):
        at.append(np.arange(first[k], first[k] + number[k]))
        people.append(np.column_stack([_evenly(int(one), int(number[k])) for one in counts[k]]))
    minutes, rows = np.concatenate(at), np.concatenate(people)
    index = pd.DatetimeIndex((minutes * MINUTE).view("datetime64[us]"))
    if starts.tz is not None:
        index = index.tz_localize("UTC").tz_convert(starts.tz)
    sure = np.arange(len(minutes)) < len(at[0])
    weight = np.where(sure, 1.0, UNSURE)
    return pd.DataFrame(
        {"door": door, "entered": rows[:, 0], "left": rows[:, 1], "weight": weight}, index=index
    )


def _evenly(people: int, places: int) -> NDArray[np.int64]:
    """Put people on places, evenly.

    Examples
    --------
    >>> _evenly(2, 6).tolist(), _evenly(3, 2).tolist()
    ([0, 1, 0, 0, 1, 0], [1, 2])
    """
    at = ((np.arange(people) + 0.5) * places / max(people, 1)).astype(np.int64)
    return np.bincount(at, minlength=places)


def before_and_after(door: str, first: pd.Timestamp, last: pd.Timestamp) -> list[pd.DataFrame]:
    """Minutes of the first and the last day that a regular series does not cover."""
    begin = _midnight(first, 0)
    after = _midnight(last, 1) if _midnight(last, 0) != last else last
    return [not_counted(door, *span) for span in ((begin, first), (last, after)) if span[0] < span[1]]


def _midnight(time: pd.Timestamp, days: int) -> pd.Timestamp:
    local = time.tz_localize(None).normalize() + pd.Timedelta(days=days)
    if time.tz is None:
        return local
    return local.tz_localize(time.tz, ambiguous=True, nonexistent="shift_forward")
