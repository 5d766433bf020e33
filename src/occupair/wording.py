"""Text helpers: plurals, quoted values, lists of names and days, and texts in spreadsheets."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

QUOTE_LENGTH = 60  # characters of a quoted value before it is cut
LISTED_NAMES = 20  # names in a list before the rest is only counted
SHORTEST_RANGE = 3  # consecutive days in a list that are written as a range

_FORMULA = ("=", "+", "-", "@")


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    Examples
    --------
    >>> plural(1, "day"), plural(3, "day"), plural(2, "person", "people")
    ('1 day', '3 days', '2 people')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours.

    Examples
    --------
    >>> duration(4.2), duration(192), duration(5400)
    ('4 s', '3.2 min', '1.5 h')
    """
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3597 else f"{seconds / 3600:.1f} h"


def quoted(value: object) -> str:
    """Return the ``repr`` of a value, cut to 60 characters.

    Examples
    --------
    >>> quoted("12 ppm"), len(quoted("x" * 100))
    ("'12 ppm'", 60)
    """
    text = repr(value)
    return text if len(text) <= QUOTE_LENGTH else f"{text[: QUOTE_LENGTH - 3]}..."


def quoted_list(names: Iterable[object]) -> str:
    """Return quoted names separated by commas, cut to 20 names.

    Examples
    --------
    >>> quoted_list(["time", "co2"])
    "'time', 'co2'"
    """
    quotes = [quoted(name) for name in names]
    more = len(quotes) - LISTED_NAMES
    return ", ".join(quotes[:LISTED_NAMES]) + (f" and {more} more" if more > 0 else "")


def day_list(days: Sequence[dt.datetime]) -> str:
    """Return the dates of all days, in ascending order, with three or more consecutive ones as a range.

    Examples
    --------
    >>> day_list([dt.datetime(2024, 1, day) for day in (8, 9, 10, 15)])
    '2024-01-08 to 2024-01-10 and 2024-01-15'
    """
    ranges: list[list[dt.datetime]] = []
    for day in days:
        if ranges and day - ranges[-1][-1] == dt.timedelta(days=1):
            ranges[-1].append(day)
        else:
            ranges.append([day])
    return listed([text for one in ranges for text in _range_texts(one)])


def listed(items: Sequence[str]) -> str:
    """Join items with commas and "and".

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _range_texts(days: Sequence[dt.datetime]) -> list[str]:
    dates = [f"{day:%Y-%m-%d}" for day in days]
    return dates if len(dates) < SHORTEST_RANGE else [f"{dates[0]} to {dates[-1]}"]


def spreadsheet_text(text: str) -> str:
    """Return text that a spreadsheet does not take for a formula (CSV injection).

    Examples
    --------
    >>> spreadsheet_text("Lab 1"), spreadsheet_text("=HYPERLINK(1)"), spreadsheet_text(" @x")
    ('Lab 1', "'=HYPERLINK(1)", "' @x")
    """
    is_risky = text.lstrip().startswith(_FORMULA) or text.startswith(("\t", "\r", "\n"))
    return f"'{text}" if is_risky else text
