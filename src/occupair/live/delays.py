"""Delays from the arrival of readings to their estimates, counted by length."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the bins [s]; one more bin holds longer delays."""


class DelayCounts:
    """Number of delays by length, in constant memory.

    Attributes
    ----------
    counts : list of int
        Number of delays in each bin.
    total : float
        Sum of all delays [s].

    Examples
    --------
    >>> delays = DelayCounts()
    >>> delays.add([0.07, 0.1, 90.0])
    >>> delays.counts
    [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    """

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def add(self, delays: Iterable[float]) -> None:
        """Count delays [s]."""
        for delay in delays:
            self.counts[bisect_left(BOUNDS, delay)] += 1
            self.total += delay
