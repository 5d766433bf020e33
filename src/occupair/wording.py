"""Text helpers for messages: plurals, quoted values and lists of names and days."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

QUOTE_LENGTH = 60  # characters of a quoted value before it is cut
LISTED_NAMES = 20  # names in a list before the rest is only counted
LISTED_DAYS = 4  # days in a list before the rest is only counted


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    Examples
    --------
    >>> plural(1, "day"), plural(3, "day")
    ('1 day', '3 days')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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


def day_list(days: Sequence[pd.Timestamp]) -> str:
    """Return the dates of days separated by commas, cut to 4 days.

    Examples
    --------
    >>> day_list(list(pd.date_range("2024-01-08", periods=6)))
    '2024-01-08, 2024-01-09, 2024-01-10, 2024-01-11 and 2 more'
    """
    dates = [f"{day:%Y-%m-%d}" for day in days[:LISTED_DAYS]]
    more = len(days) - len(dates)
    if more:
        return f"{', '.join(dates)} and {more} more"
    return dates[0] if len(dates) == 1 else f"{', '.join(dates[:-1])} and {dates[-1]}"
