"""Fingerprints of labelled days, by which a model recognises the days it was trained on.

A fingerprint is a short hash of the date, the head counts with their times, and the deciles of the CO2 at
these times. It does not reveal the readings, and does not change when a file is converted to another format
or precision.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Set

import numpy as np
import pandas as pd

from occupair.readings.head_counts import has_label
from occupair.readings.schema import date_slices
from occupair.readings.time_zones import in_time_zone

LENGTH = 8
"""Characters of a fingerprint: 48 bits, so that two of a million pairs of days never agree by chance."""

DECILES = np.linspace(0, 1, 11)
"""CO2 levels in a fingerprint: they tell apart the empty days of two rooms."""


def day_fingerprints(readings: pd.DataFrame) -> list[str]:
    """Return a fingerprint for each day with head counts, in order.

    Parameters
    ----------
    readings : DataFrame
        Readings with ``occupancy``, in the time zone in which days are compared.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=48, freq="h")
    >>> readings = pd.DataFrame({"co2": 412.3, "occupancy": 2.0}, index=times)
    >>> first, second = day_fingerprints(readings)
    >>> first != second, day_fingerprints(readings.astype("float32")) == [first, second]
    (True, True)
    """
    labelled = readings[has_label(readings)]
    return [_fingerprint(labelled.iloc[rows]) for rows in date_slices(labelled)] if len(labelled) else []


def split_fingerprints(joined: str) -> frozenset[str]:
    """Return the fingerprints in a string of fingerprints.

    Examples
    --------
    >>> sorted(split_fingerprints("cJ5-Wm0aOQ1_9zXk"))
    ['OQ1_9zXk', 'cJ5-Wm0a']
    """
    if not re.fullmatch(rf"(?:[\w-]{{{LENGTH}}})*", joined, re.ASCII):
        raise ValueError("trained_days must be fingerprints of days")
    return frozenset(joined[k : k + LENGTH] for k in range(0, len(joined), LENGTH))


def count_known_days(readings: pd.DataFrame, known: Set[str], timezone: str | None) -> tuple[int, int]:
    """Return how many days with head counts have a known fingerprint, and how many there are.

    ``timezone`` is the time zone in which the known fingerprints were made, None for local times.
    """
    days = day_fingerprints(in_time_zone(readings, timezone))
    return sum(day in known for day in days), len(days)


def _fingerprint(day: pd.DataFrame) -> str:
    times = pd.DatetimeIndex(day.index).tz_localize(None)
    seconds = ((times - times[0].normalize()) / pd.Timedelta(seconds=1)).to_numpy().round()
    co2 = np.sort(day["co2"].to_numpy(dtype=float))
    levels = co2[np.rint(DECILES * (co2.size - 1)).astype(int)]  # readings, not means: rounding is stable
    numbers = np.concatenate([seconds, day["occupancy"].to_numpy(dtype=float), np.rint(levels)])
    digest = hashlib.sha256(f"{times[0]:%Y-%m-%d}".encode() + numbers.astype("<i8").tobytes())
    return base64.urlsafe_b64encode(digest.digest())[:LENGTH].decode()
