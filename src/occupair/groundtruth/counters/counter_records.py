"""Convert door counter records to passages: single events, counts per interval, or running totals.

A record has a time, a door, and the number of people who entered and left. Single events are used as they
are. Counts of an interval longer than a minute are spread evenly over its minutes, which become uncertain:
the number is known, the minute is not. Running totals are differenced; where a total falls, it has either
wrapped around (at 256, 65536, 100000 and so on, if it was close) or been reset, which may have lost
passages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.groundtruth.passages import UNCERTAIN_WEIGHT, check_passages, minutes_of, not_counted
from occupair.readings.gaps import GAP_INTERVALS
from occupair.readings.grid import MINUTE, usual_interval
from occupair.readings.source import Source

Kind = Literal["single", "interval", "cumulative"]
Floats = NDArray[np.float64]

MAX_REPEAT_SECONDS = 2.0  # people walking behind one another are mostly further apart, double triggers not
REPEAT_DEVIATIONS = 2.0  # standard deviations by which there must be more repeats than by chance
MIN_REGULAR_SHARE = 0.6  # fraction of steps within 20 % of the median from which records count as regular
MIN_RISES, MAX_FALLS = 5, 0.34  # a running total rises at least this often; falls per rise at most
MODULI = tuple(2**bits for bits in (8, 16, 24, 32)) + tuple(10**digits for digits in range(2, 10))
MAX_WRAP_STEP = 3.0  # times the largest step seen elsewhere, or 20 people
MAX_PEOPLE = 10_000  # between two records; more is implausible for a door
LONGEST_EXPORT = pd.Timedelta(days=3_653)  # ten years; each minute of a door takes memory
QUIET_PERIOD = pd.Timedelta(minutes=30)  # after so long without passages, a reset loses none


def passages_from_records(
    records: pd.DataFrame, *, cumulative: bool | None = None, source: Source, single: bool = False
) -> pd.DataFrame:
    """Convert records to passages.

    Parameters
    ----------
    records : DataFrame
        Increasing times, ``door``, ``entered`` and ``left`` [people], NaN where a value is missing.
    cumulative : bool, optional
        Whether counts are running totals; None to detect for each door.
    source : Source
        Name of the data in error messages.
    single : bool
        Whether every record is a passage at its time, however regular the times.
    """
    tables = []
    first, last = records.index.min(), records.index.max()
    if last - first > LONGEST_EXPORT:
        raise source.error(f"times must be within {LONGEST_EXPORT.days} days, got {first} to {last}")
    for door, own in records.groupby("door", sort=True):
        own = own[["entered", "left"]].dropna(how="all") if single else own[["entered", "left"]]
        kind = _kind(own, cumulative, single)
        convert = {"single": _from_single, "interval": _from_intervals, "cumulative": _from_totals}[kind]
        tables.append(convert(own, str(door), source))
    found = [table for table in tables if len(table)]
    if not found:
        raise source.error("contains no passages")
    return check_passages(pd.concat(found), source=source)


def _kind(own: pd.DataFrame, cumulative: bool | None, single: bool) -> Kind:
    if single and not cumulative:
        return "single"
    if cumulative or (cumulative is None and is_cumulative(own[name] for name in ("entered", "left"))):
        return "cumulative"
    times = pd.DatetimeIndex(own.index)
    to_the_minute = len(times) > 1 and not np.asarray(times.second).any()
    return "interval" if to_the_minute or is_regular(times) else "single"


def is_cumulative(series: Iterable[pd.Series[float]], *, min_rises: int = MIN_RISES) -> bool:
    """Whether counts look like running totals: at least ``min_rises`` rises, and few falls.

    Examples
    --------
    >>> is_cumulative([pd.Series([3.0, 4.0, None, 6.0, 0.0, 1.0])], min_rises=3)
    True
    >>> is_cumulative([pd.Series([0.0, 2.0, 0.0])])
    False
    """
    steps = np.concatenate([np.diff(counts.dropna()) for counts in series])
    rises, falls = int((steps > 0).sum()), int((steps < 0).sum())
    return rises >= min_rises and falls <= MAX_FALLS * rises


def is_regular(times: pd.DatetimeIndex) -> bool:
    """Whether times are regularly spaced, as opposed to times of events.

    Examples
    --------
    >>> is_regular(pd.date_range("2024-01-08", periods=5, freq="15min"))
    True
    >>> is_regular(pd.to_datetime(["2024-01-08 08:00:07", "2024-01-08 08:31:40", "2024-01-08 08:32:01"]))
    False
    """
    if len(times) < 2:
        return False
    steps = np.diff(times.as_unit("us").asi8) / 1e6
    usual = float(np.median(steps))
    return usual > 0 and float(np.mean(np.abs(steps / usual - 1) < 0.2)) >= MIN_REGULAR_SHARE


def _from_single(own: pd.DataFrame, door: str, source: Source) -> pd.DataFrame:
    """Use every record as it is; mark those soon after another in the same direction as repeats.

    People walking behind one another are as often a little further apart. Only if there are clearly more of
    the former are they marked, by door and direction.
    """
    counts = own.fillna(0.0)
    table = counts.assign(door=door, weight=1.0)
    for name in ("entered", "left"):
        passed = counts[counts[name] > 0]
        steps = np.diff(pd.DatetimeIndex(passed.index).as_unit("us").asi8, prepend=0)
        repeat = steps <= MAX_REPEAT_SECONDS * 1e6
        number, by_chance = (
            int(repeat.sum()),
            int((steps <= 2 * MAX_REPEAT_SECONDS * 1e6).sum() - repeat.sum()),
        )
        marks = pd.Series(0.0, index=np.arange(len(table)))
        if number - by_chance > REPEAT_DEVIATIONS * np.sqrt(number + by_chance):
            marks[np.flatnonzero(counts[name] > 0)[repeat]] = 1.0
        table[f"{name}_again"] = marks.to_numpy()
    return check_passages(table, source=source)


def _from_intervals(own: pd.DataFrame, door: str, source: Source) -> pd.DataFrame:
    """Spread counts over the minutes of their intervals, which start at the record times."""
    times = pd.DatetimeIndex(own.index)
    length = pd.Timedelta(minutes=_interval_length(own, source))
    known = own.notna().all(axis=1).to_numpy()
    counts = own[known].to_numpy(dtype=float)
    tables = [_spread(door, times[known], times[known] + length, counts, source)]
    tables += [not_counted(door, time, time + length) for time in times[~known]]
    if _writes_zeros(own, length):
        late = map(int, np.flatnonzero(times[1:] - times[:-1] > GAP_INTERVALS * length))
        tables += [not_counted(door, times[k] + length, times[k + 1]) for k in late]
        tables += uncovered_minutes(door, times[0], times[-1] + length)
    return check_passages(pd.concat(tables), source=source)


def _writes_zeros(own: pd.DataFrame, length: pd.Timedelta) -> bool:
    """Whether a counter writes every interval: one without passages is mostly followed by the next."""
    steps = np.diff(pd.DatetimeIndex(own.index))
    after_zero = steps[(own.sum(axis=1) == 0).to_numpy()[:-1]]
    return after_zero.size > 0 and float(np.mean(after_zero <= GAP_INTERVALS * length)) > 0.5


def _interval_length(own: pd.DataFrame, source: Source) -> float:
    """Length of the intervals [min], also if those without passages are omitted."""
    steps = np.diff(pd.DatetimeIndex(own.index).as_unit("us").asi8) // 1_000_000
    common = int(np.gcd.reduce(steps)) if steps.size else 0
    return common / 60 if common >= 60 else usual_interval(pd.DatetimeIndex(own.index), source)


def _from_totals(own: pd.DataFrame, door: str, source: Source) -> pd.DataFrame:
    """Difference running totals.

    If the records are regular, the passages happened at any time since the previous record; otherwise at the
    time of the record.
    """
    absent = [name for name in own.columns if own[name].isna().all()]
    own = own.assign(**dict.fromkeys(absent, 0.0)).ffill().dropna()
    times = pd.DatetimeIndex(own.index)
    if len(times) < 2:
        raise source.error(f"door {door}: a running total needs at least two records, got {len(times)}")
    steps, resets = zip(*(_increments(own[name].to_numpy(dtype=float)) for name in own.columns), strict=True)
    counts, reset = np.column_stack(steps), np.logical_or(*resets)
    regular = is_regular(times)
    starts = times[:-1] if regular else times[1:]
    tables = [_spread(door, starts, times[1:], counts, source)]
    lossy = starts[reset & _has_traffic(times, counts)]
    if len(lossy):
        tables.append(
            pd.DataFrame({"door": door, "entered": 0, "left": 0, "weight": UNCERTAIN_WEIGHT}, index=lossy)
        )
    if regular:
        tables += uncovered_minutes(door, times[0], times[-1])
    return check_passages(pd.concat(tables), source=source)


def _has_traffic(times: pd.DatetimeIndex, counts: Floats) -> NDArray[np.bool_]:
    """Whether somebody passed between one record and the next, or shortly before."""
    passed = counts.sum(axis=1) > 0
    at = times.as_unit("us").asi8
    last = np.maximum.accumulate(np.where(passed, at[1:], at[0] - 10**18))
    before = np.r_[at[0] - 10**18, last[:-1]]
    return np.asarray(passed | (at[:-1] - before < QUIET_PERIOD / pd.Timedelta(microseconds=1)))


def _increments(totals: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Increments of a running total, and where it was reset.

    Examples
    --------
    >>> [array.tolist() for array in _increments(np.array([65530.0, 65534.0, 2.0, 7.0, 1.0]))]
    [[4.0, 4.0, 5.0, 1.0], [False, False, False, True]]
    """
    steps = np.diff(totals)
    reset = steps < 0
    largest = MAX_WRAP_STEP * max(float(steps[~reset].max(initial=0.0)), 20.0 / MAX_WRAP_STEP)
    for k in np.flatnonzero(reset):
        wrapped = [m - totals[k] + totals[k + 1] for m in MODULI if m > totals[k]]
        plausible = [step for step in wrapped if step <= largest]
        steps[k] = plausible[0] if plausible else totals[k + 1]
        reset[k] = not plausible
    return steps, reset


def _spread(
    door: str, starts: pd.DatetimeIndex, ends: pd.DatetimeIndex, counts: Floats, source: Source
) -> pd.DataFrame:
    """Spread people over the minutes from each start up to its end; several minutes make them uncertain."""
    first, stop = (minutes_of(times).as_unit("us").asi8 // MINUTE for times in (starts, ends))
    number = np.maximum(stop - first, 1)
    if counts.size and counts.max() > MAX_PEOPLE:
        k = int(counts.max(axis=1).argmax())
        raise source.error(
            f"door {door}: must be at most {MAX_PEOPLE} people between two records, got {counts.max():.0f} "
            f"from {starts[k]} to {ends[k]}"
        )
    several = (counts.sum(axis=1) > 0) & (number > 1)
    at = [first[~several]]
    people = [counts[~several].astype(np.int64)]
    for k in map(int, np.flatnonzero(several)):
        at.append(np.arange(first[k], first[k] + number[k]))
        people.append(np.column_stack([_spread_evenly(int(one), int(number[k])) for one in counts[k]]))
    minutes, passed = np.concatenate(at), np.concatenate(people)
    index = pd.DatetimeIndex((minutes * MINUTE).view("datetime64[us]"))
    if starts.tz is not None:
        index = index.tz_localize("UTC").tz_convert(starts.tz)
    certain = np.arange(len(minutes)) < len(at[0])
    weight = np.where(certain, 1.0, UNCERTAIN_WEIGHT)
    return pd.DataFrame(
        {"door": door, "entered": passed[:, 0], "left": passed[:, 1], "weight": weight}, index=index
    )


def _spread_evenly(people: int, minutes: int) -> NDArray[np.int64]:
    """Spread people evenly over minutes.

    Examples
    --------
    >>> _spread_evenly(2, 6).tolist(), _spread_evenly(3, 2).tolist()
    ([0, 1, 0, 0, 1, 0], [1, 2])
    """
    at = ((np.arange(people) + 0.5) * minutes / max(people, 1)).astype(np.int64)
    return np.bincount(at, minlength=minutes)


def uncovered_minutes(door: str, first: pd.Timestamp, last: pd.Timestamp) -> list[pd.DataFrame]:
    """Return the minutes of the first and last day outside a regular series, as not counted."""
    begin = _midnight(first, 0)
    after = _midnight(last, 1) if _midnight(last, 0) != last else last
    return [not_counted(door, *span) for span in ((begin, first), (last, after)) if span[0] < span[1]]


def _midnight(time: pd.Timestamp, days: int) -> pd.Timestamp:
    local = time.tz_localize(None).normalize() + pd.Timedelta(days=days)
    if time.tz is None:
        return local
    return local.tz_localize(time.tz, ambiguous=True, nonexistent="shift_forward")
