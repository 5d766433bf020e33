"""The fit of head counts to CO2 on each day, for every offset between their clocks.

The mass balance of a room gives the number of people: n = a (C - C_base + T dC/dt), with a >= 0 and T the
time constant of the room air. It has no memory, so no readings from before the day are needed, and it
accounts for the slow response of the room, so clocks that agree fit best near an offset of 0. The
remaining lag, the time that exhaled air takes to mix and to reach the sensor, is a few minutes and is
averaged over. T is the same on all days: fitted to each day, it could compensate for an offset.

An *offset* is how late CO2 is timestamped [min]: head counts at t belong to CO2 at t + offset.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.checks.prepared_readings import (
    DAY,
    Array,
    Mask,
    days_of,
    interval_minutes,
    plausible_co2,
    times_of,
)

BIN_WIDTHS = (5, 6, 10, 15, 20, 30)  # min; they divide the hour, and the finest that fits is used
LARGEST_OFFSET = 720  # min; half a day, such as am for pm
SLOPE_TIME = 15  # min; dC/dt is taken over twice this, to suppress noise and 5-minute staircases
TIME_CONSTANTS = (0.0, 10.0, 20.0, 40.0, 60.0, 90.0, 120.0, 180.0, 240.0)
"""Time constants of room air [min]; 240 min is 0.25 air changes per hour."""

RESPONSE_LAGS = {-10: 1, -5: 2, 0: 4, 5: 4, 10: 4, 15: 3, 20: 2, 25: 1}
"""Lags of CO2 behind the mass balance [min] and their weights: mixing and sensor response take 0 to 25 min
(20 in the SDU 2018 rooms, 5 in ROBOD, 10 in the simulated office)."""

CORRELATION_TIME = 60.0  # min; closer readings are not independent: a day has 24 independent values
COUNT_NOISE = 0.05  # of the maximum count; days that vary by less carry no information
MAX_EXPLAINED = 0.999  # fraction; keeps the logarithm finite


@dataclass(frozen=True)
class ClockScores:
    """Scores of each day at each offset, for one time constant of the room.

    Attributes
    ----------
    time_constant : time constant of the room air [min]
    days : the days, in order
    offsets : how late CO2 is timestamped [min]
    explained : sum of squares of the counts explained by CO2, shape (days, offsets) [people squared]
    total : sum of squares of the counts about their mean, shape (days,) [people squared]
    evidence : log-likelihood relative to no relation, over RESPONSE_LAGS, shape (days, offsets) [nat]
    """

    time_constant: float
    days: pd.DatetimeIndex
    offsets: Array
    explained: Array
    total: Array
    evidence: Array

    @property
    def width(self) -> float:
        """Difference between neighbouring offsets [min]."""
        return float(self.offsets[1] - self.offsets[0])

    @property
    def zero(self) -> int:
        """Column of offset 0."""
        return int(np.argmin(np.abs(self.offsets)))

    def share(self, days: Mask) -> Array:
        """Fraction of the variance of the counts explained by CO2 on some days, at each offset [0..1]."""
        total = float(self.total[days].sum())
        return self.explained[days].sum(axis=0) / total if total > 0 else np.zeros(self.offsets.size)


def clock_scores(readings: pd.DataFrame) -> list[ClockScores]:
    """Score each day at offsets up to half a day, for each time constant; empty if too sparse."""
    width = next((width for width in BIN_WIDTHS if width >= interval_minutes(readings) - 1e-6), None)
    if width is None:
        return []
    days, co2, counts = _binned(readings, width)
    offsets = np.arange(-(LARGEST_OFFSET // width), LARGEST_OFFSET // width + 1, dtype=np.int64)
    total = np.asarray((_centred(counts, np.isfinite(counts)) ** 2).sum(axis=1))
    fits = _explained(_with_neighbours(days, co2), counts, offsets, width)
    np.minimum(fits, total[:, None], out=fits)
    return [
        ClockScores(
            time_constant,
            days,
            offsets.astype(np.float64) * width,
            explained,
            total,
            _over_lags(_evidence(explained, total, counts), width),
        )
        for time_constant, explained in zip(TIME_CONSTANTS, fits, strict=True)
    ]


def circular(minutes: Array) -> Array:
    """Return differences of offsets wrapped to half a day, [-720, 720) [min].

    Examples
    --------
    >>> circular(np.array([30.0, 720.0, -1410.0])).tolist()
    [30.0, -720.0, 30.0]
    """
    return np.asarray((minutes + 720) % 1440 - 720)


def _binned(readings: pd.DataFrame, width: int) -> tuple[pd.DatetimeIndex, Array, Array]:
    """CO2 and counts of each day as rows of means over ``width`` minutes."""
    table = pd.DataFrame({"co2": plausible_co2(readings), "occupancy": readings["occupancy"].clip(lower=0)})
    table = table.groupby(times_of(readings).floor(f"{width}min")).mean()
    days = days_of(readings).unique()
    per_day = 1440 // width
    grid = (days.to_numpy()[:, None] + np.arange(per_day) * np.timedelta64(width, "m")).ravel()
    table = table.reindex(pd.DatetimeIndex(grid))
    co2, counts = (table[name].to_numpy(dtype=float).reshape(-1, per_day) for name in ("co2", "occupancy"))
    return days, co2, counts


def _with_neighbours(days: pd.DatetimeIndex, co2: Array) -> Array:
    """Each day's row with those of the day before and after, NaN if these are missing."""
    nothing = np.full_like(co2[:1], np.nan)
    follows = np.asarray(days[1:] - days[:-1] == DAY)[:, None]
    before = np.vstack([nothing, np.where(follows, co2[:-1], np.nan)])
    after = np.vstack([np.where(follows, co2[1:], np.nan), nothing])
    return np.hstack([before, co2, after])


def _explained(co2: Array, counts: Array, offsets: NDArray[np.int64], width: int) -> Array:
    """Sum of squares explained by the mass balance, shape (time constants, days, offsets)."""
    per_day, rise = counts.shape[1], max(1, round(SLOPE_TIME / width))
    slope = np.full_like(co2, np.nan)
    slope[:, rise:-rise] = (co2[:, 2 * rise :] - co2[:, : -2 * rise]) / (2 * rise * width)  # ppm/min
    explained = np.empty((len(TIME_CONSTANTS), len(counts), len(offsets)))
    for k, offset in enumerate(offsets):
        window = slice(per_day + offset, 2 * per_day + offset)
        explained[:, :, k] = _mass_balance_fits(co2[:, window], slope[:, window], counts)
    return explained


def _mass_balance_fits(co2: Array, slope: Array, counts: Array) -> Array:
    """Sum of squares of each row of ``counts`` explained by a (CO2 + T slope) with a >= 0, for each T."""
    known = np.isfinite(co2) & np.isfinite(slope) & np.isfinite(counts)
    c, s, n = (_centred(values, known) for values in (co2, slope, counts))
    cc, ss, cs = ((x * y).sum(axis=1) for x, y in ((c, c), (s, s), (c, s)))
    cn, sn = (c * n).sum(axis=1), (s * n).sum(axis=1)
    t = np.array(TIME_CONSTANTS)[:, None]
    return _ratio(np.maximum(cn + t * sn, 0) ** 2, cc + 2 * t * cs + t**2 * ss)


def _centred(values: Array, known: Mask) -> Array:
    """Rows minus their mean over known values; 0 at unknown values."""
    number = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = np.where(known, values, 0.0).sum(axis=1, keepdims=True) / number
    return np.where(known, values - mean, 0.0)


def _ratio(above: Array, below: Array) -> Array:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 1e-9)


def _evidence(explained: Array, total: Array, counts: Array) -> Array:
    """Log-likelihood of each offset relative to no relation [nat], one value per CORRELATION_TIME."""
    known = np.isfinite(counts).sum(axis=1)
    noise = known * (COUNT_NOISE * np.nanmax(counts)) ** 2
    share = np.divide(explained, (total + noise)[:, None], out=np.zeros_like(explained), where=explained > 0)
    independent = known / counts.shape[1] * 1440 / CORRELATION_TIME
    return np.asarray(-0.5 * independent[:, None] * np.log1p(-share.clip(0, MAX_EXPLAINED)))


def _over_lags(evidence: Array, width: int) -> Array:
    """Average the likelihood over the response lags a room may have in addition to a clock offset."""
    lags = {lag: weight for lag, weight in RESPONSE_LAGS.items() if lag % width == 0}
    widest = max(map(abs, lags)) // width
    padded = np.pad(evidence, ((0, 0), (widest, widest)), mode="edge")
    size, weights = evidence.shape[1], sum(lags.values())
    shifted = [
        np.log(weight / weights) + padded[:, widest + lag // width : widest + lag // width + size]
        for lag, weight in lags.items()
    ]
    return np.asarray(np.logaddexp.reduce(shifted, axis=0))
