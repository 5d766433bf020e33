"""Seats of a room that are never used, and how much of its capacity is used."""

from __future__ import annotations

import math
from typing import NamedTuple

import pandas as pd

from occupair.metrics import whole_people
from occupair.utilisation.days import GOOD


class UnusedSeats(NamedTuple):
    """Seats that nobody used on any good day.

    Attributes
    ----------
    least : capacity minus the upper end of the highest daily peak, in whole people; without intervals, the
        same as ``likely``
    likely : capacity minus the highest daily peak, in whole people
    """

    least: int
    likely: int


def unused_seats(days: pd.DataFrame, capacity: int) -> UnusedSeats | None:
    """Return the seats that were never used; None if there is no good day.

    Parameters
    ----------
    days : DataFrame
        Days, see ``room_days``.
    capacity : int
        Number of seats.

    Examples
    --------
    >>> days = pd.DataFrame({"status": "", "peak": [6.2, 9.0], "peak_high": [8.0, 11.6]})
    >>> unused_seats(days, 20)
    UnusedSeats(least=8, likely=11)
    """
    good = days[days["status"] == GOOD]
    peak, high = float(good["peak"].max()), float(good["peak_high"].max())
    if math.isnan(peak):
        return None
    likely, least = (
        max(0, capacity - int(whole_people([value])[0]))
        for value in (peak, peak if math.isnan(high) else high)
    )
    return UnusedSeats(min(least, likely), likely)
