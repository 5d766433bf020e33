"""Long records: which labelled days to train on when there are more than enough.

The error on new days stops improving long before five years of head counts, while the cost of training grows
with every day. Training therefore uses at most ``MAX_DAYS`` days' worth of head counts. Whole local days are
dropped, because readings within a day depend on each other and cross-validation holds out whole days. All
estimators train on the same days.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.head_counts import has_label
from occupair.readings.schema import date_slices, interval_of

Indices = NDArray[np.int64]

MAX_DAYS = 180
"""Number of completely labelled days that is enough for training."""

MAX_LABELS = 500_000
"""Number of head counts that is enough at intervals below half a minute; limits the memory of training."""

RECENT = np.timedelta64(365, "D")
"""The most recent part of a record: one year, so that every season is in it."""

RECENT_SHARE = 0.5
"""Share of the head counts that come from the recent part, if it has that many, because rooms change."""


def thin_days(readings: pd.DataFrame) -> pd.DataFrame:
    """Return the readings of the days to train on; all readings unless there are more labels than needed.

    Of a longer record, labelled days are chosen such that

    - half of the head counts are from the last 365 days and the rest from before, if both have that many;
    - in each of these parts every day of the week is represented in proportion and its days are evenly
      spread, because the days are sorted by day of the week, then by date, and picked at regular intervals;
    - the day with the highest head count is included, so the upper limit of the estimates does not change.

    The choice is deterministic and does not depend on CO2.

    Parameters
    ----------
    readings : DataFrame
        Readings as returned by ``check_labelled``.
    """
    labelled = has_label(readings)
    limit = min(MAX_DAYS * 1440 / interval_of(readings), MAX_LABELS)
    if labelled.sum() <= limit:
        return readings
    days = date_slices(readings)
    counts = np.add.reduceat(labelled, [day.start for day in days], dtype=np.int64)
    people = readings["occupancy"].where(labelled, -np.inf).to_numpy()
    index = pd.DatetimeIndex(readings.index).tz_localize(None)
    dates = index[[day.start for day in days]].to_numpy().astype("datetime64[D]")
    known = np.flatnonzero(counts)
    fullest = np.searchsorted([days[k].stop for k in known], people.argmax(), side="right")
    chosen = known[choose_days(dates[known], counts[known], limit, keep=int(fullest))]
    return readings.iloc[np.concatenate([np.arange(days[k].start, days[k].stop) for k in chosen])]


def choose_days(dates: NDArray[np.datetime64], counts: Indices, limit: float, *, keep: int) -> Indices:
    """Return the positions of the days to train on, in order of time.

    Parameters
    ----------
    dates : array of datetime64[D]
        Labelled days, increasing.
    counts : array of int
        Head counts on each day, 1 or more.
    limit : float
        Head counts to choose; reached approximately, as days are not divided.
    keep : int
        Position of a day that has to be among them.

    Examples
    --------
    Two weeks with two head counts a day, of which half are enough: each day of the week once.

    >>> fortnight = np.arange("2024-01-01", "2024-01-15", dtype="datetime64[D]")
    >>> choose_days(fortnight, np.full(14, 2), limit=14.0, keep=3)
    array([ 3,  7,  8,  9, 11, 12, 13])
    """
    recent = dates > dates[-1] - RECENT
    total, total_recent = counts.sum(), counts[recent].sum()
    from_recent = min(total_recent, max(RECENT_SHARE * limit, limit - (total - total_recent)))
    parts = [(np.flatnonzero(~recent), limit - from_recent), (np.flatnonzero(recent), from_recent)]
    chosen = np.concatenate(
        [part[_spread(dates[part], share / counts[part].sum())] for part, share in parts if part.size]
    )
    if keep not in chosen:  # in place of the nearest, of the same part and weekday if possible
        distance = np.abs(dates[chosen] - dates[keep]).astype(np.int64)
        other_part, other_weekday = recent[chosen] != recent[keep], distance % 7 > 0
        chosen[np.lexsort((distance, other_weekday, other_part))[0]] = keep
    return np.sort(chosen)


def _spread(dates: NDArray[np.datetime64], share: float) -> Indices:
    """Return the positions of a share of the days, spread evenly over time for each day of the week."""
    weekday = (dates.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    order = np.lexsort((dates, weekday))
    n = max(int(min(share, 1.0) * dates.size), 1)
    return order[((np.arange(n) + 0.5) * dates.size / n).astype(np.int64)]
