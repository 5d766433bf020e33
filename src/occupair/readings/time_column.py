"""The time column of a file: parsing, UTC offsets and time zones."""

from __future__ import annotations

import datetime as dt
import re
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.epochs import MAX_SECONDS, TICKS_PER_SECOND
from occupair.readings.number_column import as_text, blocks
from occupair.readings.source import Source
from occupair.readings.time_strings import (
    DateStart,
    date_order,
    is_date,
    parse_date,
    parse_time_of_day,
    split_stamp,
)
from occupair.readings.time_zones import standard_zone
from occupair.wording import quoted

RowNumbers = NDArray[np.int64]
_DAY_NUMBER = " (a spreadsheet day number? format the column as date and time there)"
_RULE = "must be a time such as 2024-03-28 08:00 or 2024-03-28T08:00+01:00"


def parse_times(
    column: pd.Series,
    *,
    zone: ZoneInfo | None,
    offset: int | None = None,
    dayfirst: bool | None = None,
    source: Source,
    row_numbers: RowNumbers,
) -> pd.DatetimeIndex:
    """Parse a time column; times without UTC offset stay local (see ``localize``).

    Parameters
    ----------
    column : Series
        Strings, times, or seconds, milli-, micro- or nanoseconds since 1970 in UTC. Other values are an
        error, or NaT if the source is lenient.
    zone : ZoneInfo, optional
        Time zone to which times with a UTC offset are converted.
    offset : int, optional
        UTC offset of times that state none [min].
    dayfirst : bool, optional
        Whether 01/02/2024 is 1 February; by default inferred.
    source, row_numbers :
        Name of the file and position of each value in it, for error messages.
    """
    if pd.api.types.is_datetime64_any_dtype(column):
        index = pd.DatetimeIndex(column)
        index = index if index.tz is None else index.tz_convert(standard_zone(index.tz))
        _reject(np.asarray(index.isna()), column, source, row_numbers)
    elif (since := _parse_epoch(column)) is not None:
        _reject(np.asarray(since.isna()), column, source, row_numbers)
        return since.tz_convert(zone or "UTC")
    else:
        index = _parse_strings(column, zone=zone, dayfirst=dayfirst, source=source, row_numbers=row_numbers)
    index = index.as_unit("us")
    if offset is not None and index.tz is None:
        index = index.tz_localize(_fixed_zone(offset))
    return index if zone is None or index.tz is None else index.tz_convert(zone)


def _reject(invalid: NDArray[np.bool_], column: pd.Series, source: Source, row_numbers: RowNumbers) -> None:
    def message(k: int) -> str:
        text = str(column.iloc[k])
        return f"{_RULE}, got {quoted(text)}{_DAY_NUMBER if _is_day_number(text) else ''}"

    source.reject(invalid, message, row_numbers=row_numbers, column=str(column.name), kind="no_time")


def _is_day_number(text: str) -> bool:
    """Whether a text may be a spreadsheet time, in days since 1900."""
    return re.fullmatch(r"[3-6]\d{4}([.,]\d*)?", text.strip()) is not None


def _parse_epoch(column: pd.Series) -> pd.DatetimeIndex | None:
    """Parse seconds, or fractions of them, since 1970; None if the first value is not such a number."""
    first = pd.to_numeric(as_text(column.iloc[:1]), errors="coerce").to_numpy(dtype=float)[0]
    seconds = {unit: first / ticks for unit, ticks in TICKS_PER_SECOND.items()}
    unit = next((unit for unit, number in seconds.items() if 3e8 <= number < MAX_SECONDS), None)
    if unit is None or (len(str(column.iloc[0]).strip()) in (12, 14) and unit == "ms"):  # 202401080800
        return None
    numbers = pd.to_numeric(column, errors="coerce")
    likely = numbers.where((numbers / TICKS_PER_SECOND[unit]).between(3e8, 1e10))
    microseconds = (likely.astype(float) if unit != "ns" else likely) * (1e6 / TICKS_PER_SECOND[unit])
    rounded = np.rint(microseconds.to_numpy(dtype=float, na_value=np.nan))
    stamps = np.where(np.isnan(rounded), np.datetime64("NaT", "us").astype(np.int64), rounded)
    return pd.DatetimeIndex(stamps.astype(np.int64).view("datetime64[us]")).tz_localize("UTC")


def _parse_strings(
    column: pd.Series,
    *,
    zone: ZoneInfo | None,
    dayfirst: bool | None,
    source: Source,
    row_numbers: RowNumbers,
) -> pd.DatetimeIndex:
    codes: dict[str, int] = {}  # of the distinct dates, in the order of the file
    date_codes, bad_time = np.empty(len(column), dtype=np.int32), np.empty(len(column), dtype=bool)
    since, ahead = np.empty(len(column), dtype="timedelta64[us]"), np.empty(len(column))
    stop = 0
    for block in blocks(column):
        start, stop = stop, stop + len(block)
        rows = slice(start, stop)
        date_codes[rows], since[rows], ahead[rows], bad_time[rows] = _parse_block(block, codes)
    dates = list(codes)
    first = _date_start(dates, dayfirst)
    if first is None:
        option = "--dayfirst or --monthfirst (in Python, dayfirst=True or False)"
        rule = f"{dates[0]} may start with the day or the month: use {option}"
        raise source.error(rule, row=int(row_numbers[0]), column=str(column.name))
    midnight = np.array([parse_date(date, first) for date in dates], dtype="datetime64[us]")
    invalid = np.isnat(midnight)[date_codes] | bad_time
    _reject(invalid, column, source, row_numbers)
    local = midnight[date_codes]
    local += since
    local[invalid] = np.datetime64("NaT", "us")
    return _apply_offsets(local, ahead, zone, column, source, row_numbers)


def _parse_block(
    column: pd.Series, date_codes: dict[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.timedelta64], NDArray[np.float64], NDArray[np.bool_]]:
    """Split times into date and time of day.

    Returns the code of each date, which is added to ``date_codes``; the time since midnight; the UTC offset
    [min], NaN if there is none; and whether the time of day is invalid.
    """
    stamps = [split_stamp(text) for text in as_text(column).str.strip()]
    dates = [date_codes.setdefault(date, len(date_codes)) for date, _ in stamps]
    codes, clocks = pd.factorize(np.array([clock for _, clock in stamps], dtype=object))
    times = [parse_time_of_day(str(clock)) for clock in clocks]
    since = np.array([t.microseconds if t else 0 for t in times], dtype="timedelta64[us]")
    ahead = np.array([np.nan if t is None or t.offset is None else t.offset for t in times])
    bad = np.array([t is None for t in times])
    return np.array(dates, dtype=np.int32), since[codes], ahead[codes], bad[codes]


def _date_start(dates: list[str], dayfirst: bool | None) -> DateStart | None:
    """Return what dates start with; ``dayfirst`` decides unless that is the year."""
    dates = [date for date in dates if is_date(date)] or dates
    if dayfirst is None or parse_date(dates[0], "year"):
        return date_order(dates)
    return "day" if dayfirst else "month"


def _apply_offsets(
    local: NDArray[np.datetime64],
    ahead: NDArray[np.float64],
    zone: ZoneInfo | None,
    column: pd.Series,
    source: Source,
    row_numbers: RowNumbers,
) -> pd.DatetimeIndex:
    """Return times from local times and their UTC offsets [min]."""
    read = ~np.isnat(local)
    first = int(np.argmax(read))
    none = np.isnan(ahead)
    different = read & (ahead != ahead[first]) & ~(none & none[first])
    if different.any() and (zone is None or none[read].any()):
        mixed = none[read].any()
        rule = "UTC offsets must be stated at all times or at none" if mixed else "UTC offsets must be equal"
        advice = "give the time zone of the room, such as --timezone Europe/Copenhagen"
        row = int(row_numbers[int(np.argmax(different))])
        raise source.error(f"{rule}: {advice}", row=row, column=str(column.name))
    if none[first]:
        return pd.DatetimeIndex(local)
    utc = local - (np.where(read, ahead, 0.0) * 60e6).astype("timedelta64[us]")
    own_zone = zone or _fixed_zone(float(ahead[first]))
    return pd.DatetimeIndex(utc).tz_localize("UTC").tz_convert(own_zone)


def _fixed_zone(minutes: float) -> dt.timezone:
    """Return the time zone with a UTC offset [min]."""
    return dt.timezone(dt.timedelta(minutes=minutes))


def newest_first(index: pd.DatetimeIndex) -> bool:
    """Whether times are in descending order: most steps are negative."""
    steps = np.diff(index.asi8)
    return bool((steps < 0).sum() > (steps > 0).sum())


def in_order(index: pd.DatetimeIndex, zone: ZoneInfo | None) -> bool:
    """Whether times never decrease, except local times when the clock is set back."""
    back = np.flatnonzero(np.diff(index.asi8) < 0)
    if not back.size or zone is None or index.tz is not None:
        return not back.size
    repeated = np.asarray(index.tz_localize(zone, ambiguous="NaT", nonexistent="shift_forward").isna())
    return bool(repeated[back].all() and repeated[back + 1].all())


def localize(
    index: pd.DatetimeIndex, zone: ZoneInfo | None, *, column: str, source: Source, row_numbers: RowNumbers
) -> pd.DatetimeIndex:
    """Return local times, in the order of the file, as times in their time zone.

    When the clock is set back, one hour occurs twice. Its second occurrence starts where times decrease
    or repeat; if they do not, the hour is in daylight saving time.
    """
    if zone is None or index.tz is not None:
        return index
    back = np.r_[False, np.diff(index.asi8) <= 0]
    summer = pd.Series(back).groupby(index.to_numpy().astype("datetime64[D]")).cumsum().to_numpy() == 0
    aware = index.tz_localize(zone, ambiguous=summer, nonexistent="NaT")
    if aware.hasnans:
        k = int(np.argmax(aware.isna()))
        rule = f"{index[k]} does not exist in the time zone {zone.key} (clock change)"
        raise source.error(rule, row=int(row_numbers[k]), column=column)
    return aware
