"""How many labelled days are enough: one rule for ``check``, ``fit``, ``plan`` and the documents.

A day is labelled if it has head counts in six of its hours or more; only days with people count. The numbers
of days are from the learning curve on seven public rooms (``docs/validation.md``): the nRMSE is 0.601 with 3
days, 0.568 with 5, 0.509 with 10 and 0.485 with all. Five days, a working week, thus remove more than a
quarter of the error that more days can remove, and a second week half of it. Beyond five, ``groundtruth
plan`` decides by the learning curve of the room itself.
"""

from __future__ import annotations

import pandas as pd

LABELLED_HOURS = 6
"""Hours of a day with at least one head count that make it a labelled day; one hour tells little of a day."""

FEWEST_DAYS = 3
"""Labelled days with people without which no model should be trained: none can be held out to assess it."""

ENOUGH_DAYS = 5
"""Labelled days with people that are enough for a first model."""

WANTED = f"on {ENOUGH_DAYS} days with people or more (a working week)"
"""What to ask a user for."""


def labelled_days(counts: pd.Series[float]) -> pd.Series[bool]:
    """Return whether people were counted on each labelled day.

    Parameters
    ----------
    counts : Series
        Head counts [people] over time, NaN where there is none.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=40, freq="h")
    >>> labelled_days(pd.Series([3.0] * 10 + [0.0] * 30, index=times)).tolist()
    [True, False]
    >>> labelled_days(pd.Series(3.0, index=times[:5])).tolist()
    []
    """
    known = counts.dropna()
    times = pd.DatetimeIndex(known.index).tz_localize(None)
    days = times.normalize()
    hours = pd.Series(times.hour, index=days).groupby(level=0).nunique()
    occupied = pd.Series(known.to_numpy() > 0, index=days).groupby(level=0).any()
    return occupied[hours >= LABELLED_HOURS]
