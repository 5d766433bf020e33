"""Dates and times of day as strings: ISO, day or month first, am and pm, UTC offsets, zone names."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from occupair.readings.column_names import fold_text
from occupair.readings.time_zones import parse_offset

_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{4})(\d{2})(\d{2})")
_TWO_FIRST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})")
_NAMED = re.compile(r"(\d{1,2})[-/.]?([a-z]{3})[a-z]*[-/.]?(\d{4}|\d{2})")
_CLOCK = re.compile(
    r"(?P<h>\d{1,2})(?:[:.h](?P<m>\d{2})(?:[:.](?P<s>\d{2})(?:[.,](?P<f>\d{1,9}))?)?)?"
    r"\s*(?P<half>[ap]\.?m\.?)?\s*(?P<zone>z|[a-z]{3,4}|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?)?(?:\[.*\])?"
)
_PACKED = re.compile(r"(\d{2})(\d{2})(\d{2})?(?:z|[+-]\d{2}(?::?\d{2})?)?")

MONTHS = {
    "jan": 1, "ene": 1, "feb": 2, "fev": 2, "mar": 3, "mrz": 3, "apr": 4, "abr": 4, "avr": 4,
    "may": 5, "mai": 5, "maj": 5, "mei": 5, "jun": 6, "jul": 7, "aug": 8, "ago": 8, "aou": 8,
    "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12, "dic": 12,
}  # fmt: skip
DateStart = Literal["year", "day", "month"]
"""What a date starts with."""


class TimeOfDay(NamedTuple):
    """A time of day [µs since midnight] and its UTC offset [min], if stated."""

    microseconds: int
    offset: int | None


def parse_date(text: str, first: DateStart) -> dt.date | None:
    """Parse a date that starts with the year, the day or the month; None if it is not one.

    Examples
    --------
    >>> parse_date("2024-01-08", "year"), parse_date("08-Jan-24", "day")
    (datetime.date(2024, 1, 8), datetime.date(2024, 1, 8))
    >>> parse_date("8/1/2024", "day"), parse_date("8/1/2024", "month")
    (datetime.date(2024, 1, 8), datetime.date(2024, 8, 1))
    """
    text = fold_text(text).strip(" ,")
    if first == "year":
        match = _ISO.fullmatch(text)
        return _date(*(match.group(1, 3, 4) if match[1] else match.group(5, 6, 7))) if match else None
    if match := _TWO_FIRST.fullmatch(text):
        one, two, year = match.group(1, 3, 4)
        return _date(year, two, one) if first == "day" else _date(year, one, two)
    if (match := _NAMED.fullmatch(text)) and match[2] in MONTHS:
        return _date(match[3], str(MONTHS[match[2]]), match[1])
    return None


def _date(year: str, month: str, day: str) -> dt.date | None:
    try:
        date = dt.date(int(year) + (2000 if len(year) == 2 else 0), int(month), int(day))
    except ValueError:
        return None
    return date if 1970 <= date.year < 2200 else None


def parse_time_of_day(text: str) -> TimeOfDay | None:
    """Parse a time of day; an empty string is midnight, other text gives None.

    Examples
    --------
    >>> parse_time_of_day("08:00 +08:00").offset, parse_time_of_day("12:30 AM").microseconds // 60_000_000
    (480, 30)
    >>> parse_time_of_day("25:00"), parse_time_of_day("8 o'clock")
    (None, None)
    """
    text = text.strip().lower()
    if not text:
        return TimeOfDay(0, None)
    if match := _PACKED.fullmatch(text):
        text = f"{match[1]}:{match[2]}:{match[3] or '00'}{text[4 + len(match[3] or '') :]}"
    match = _CLOCK.fullmatch(text)
    offset = parse_offset(match["zone"] or "") if match else None
    if not match or (match["zone"] and offset is None):
        return None
    hour = _hour(int(match["h"]), match["half"])
    minute, second = int(match["m"] or 0), int(match["s"] or 0)
    fraction = int((match["f"] or "0").ljust(6, "0")[:6])
    total = (hour * 3600 + minute * 60 + second) * 1_000_000 + fraction
    inside = minute < 60 and second < 60 and 0 <= total <= 86_400_000_000
    return TimeOfDay(total, offset) if inside else None


def _hour(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        return -1000
    return hour % 12 + (12 if half.startswith("p") else 0)


def split_stamp(text: str) -> tuple[str, str]:
    """Split a time into its date and its time of day.

    Examples
    --------
    >>> split_stamp("2024-01-08T08:00Z"), split_stamp("8.1.2024, 08:00"), split_stamp("202401080800")
    (('2024-01-08', '08:00Z'), ('8.1.2024,', '08:00'), ('20240108', '0800'))
    """
    if text[10:11] == "T":
        return text[:10], text[11:]
    if len(text) in (12, 14) and text.isdecimal():
        return text[:8], text[8:]
    if text[8:9] == "T" and text[:8].isdecimal():
        return text[:8], text[9:]
    date, _, clock = text.partition(" ")
    return date, clock


def time_string_kind(text: str) -> str:
    """Return whether a text is a ``date``, a ``clock`` (time of day) or a ``stamp`` (both or neither).

    Examples
    --------
    >>> [time_string_kind(text) for text in ("2024-01-08", "08:00", "8.1.2024 08:00", "1704700800")]
    ['date', 'clock', 'stamp', 'stamp']
    """
    text = text.strip()
    if re.match(r"\d{1,2}[:h]\d{2}", text) or re.fullmatch(r"\d{1,2}\.\d{2}(\.\d{2})?", text):
        return "clock"
    date, clock = split_stamp(text)
    return "date" if is_date(date) and not clock.strip() else "stamp"


def is_date(text: str) -> bool:
    """Whether a text is a date in any order of day, month and year.

    Examples
    --------
    >>> is_date("13/01/2024"), is_date("Total")
    (True, False)
    """
    return any(parse_date(text, first) for first in ("year", "day", "month"))


def date_order(dates: Sequence[str]) -> DateStart | None:
    """Return whether the dates of a file start with the year, the day or the month; None if ambiguous.

    ``dates`` are the distinct dates in the order of the file. They start with the year if the first one
    does, and with the day if points separate the parts. Otherwise the order is the one in which all are
    valid dates, in which they increase or decrease, or in which they are consecutive days.

    Examples
    --------
    >>> date_order(["2024-01-08"]), date_order(["13/01/2024"]), date_order(["01/13/2024"])
    ('year', 'day', 'month')
    >>> date_order(["31/01/2024", "01/02/2024"]), date_order(["01/02/2024"])
    ('day', None)
    """
    if parse_date(dates[0], "year"):
        return "year"
    read = {first: [parse_date(date, first) for date in dates] for first in ("day", "month")}
    if read["day"] == read["month"] or all("." in date for date in dates):
        return "day"
    day, month = ([date for date in read[first] if date] for first in ("day", "month"))
    if min(len(day), len(month)) < len(dates):
        return "day" if len(day) >= len(month) else "month"
    for test in (_one_way, _day_by_day):
        if test(day) != test(month):
            return "day" if test(day) else "month"
    return None


def _one_way(days: list[dt.date]) -> bool:
    return len({later > earlier for earlier, later in pairwise(days)}) == 1


def _day_by_day(days: list[dt.date]) -> bool:
    return {abs((later - earlier).days) for earlier, later in pairwise(days)} == {1}
