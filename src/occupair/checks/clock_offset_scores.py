"""How well counts and CO2 fit together on each day when their clocks are moved against each other.

A room's mass balance says how many people there must be: n = a (C - C_base + T dC/dt), with a not
negative and T the time constant of the room's air. It holds at one moment, with no memory, so it needs
no readings from before a day began; and it already has the room's slow response in it, so clocks that
agree fit best near an offset of 0. What is left is the time that breath takes to mix and to reach the
sensor, some minutes, which is averaged over. T is the same on all days: left free on each day, it would
pass for an offset.

An *offset* is how late CO2 is stamped [min]: counts at t go with CO2 at t + offset.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.checks.cleaning import DAY, Array, Mask, days_of, interval_minutes, plausible_co2, times_of

BINS = (5, 6, 10, 15, 20, 30)  # min; widths that divide the hour, of which the finest that fits is taken
FURTHEST = 720  # min; clocks half a day apart, such as am for pm
RISE = 15  # min; dC/dt is taken over twice as much, to hold its own against noise and 5-minute staircases
TIME_CONSTANTS = (0.0, 10.0, 20.0, 40.0, 60.0, 90.0, 120.0, 180.0, 240.0)
"""Of a room's air [min]: 240 is a quarter of an air change an hour."""

LAGS = {-10: 1, -5: 2, 0: 4, 5: 4, 10: 4, 15: 3, 20: 2, 25: 1}
"""How long after people CO2 may respond beyond the mass balance [min], with weights: mixing and the sensor's
own response take 0 to 25 min (the SDU 2018 rooms 20, ROBOD 5, the simulated office 10)."""

MEMORY = 60.0  # min; readings closer than this say the same thing twice: a whole day has 24 values
COUNT_NOISE = 0.05  # of the most people counted; days that vary by less tell nothing about the clocks
MOST_EXPLAINED = 0.999  # share; keeps the logarithm finite


@dataclass(frozen=True)
class ClockScores:
    """Scores of every day at every offset, for one time constant of the room.

    Attributes
    ----------
    time_constant : of the room's air [min]
    days : the days, in order
    offsets : how late CO2 is stamped [min]
    explained : sum of squares of the counts that CO2 explains, shape (days, offsets) [people squared]
    total : sum of squares of the counts about their mean, shape (days,) [people squared]
    evidence : log likelihood above "CO2 says nothing", averaged over LAGS, shape (days, offsets) [nat]
    """

    time_constant: float
    days: pd.DatetimeIndex
    offsets: Array
    explained: Array
    total: Array
    evidence: Array

    @property
    def width(self) -> float:
        """From one offset to the next [min]."""
        return float(self.offsets[1] - self.offsets[0])

    @property
    def zero(self) -> int:
        """Column of the offset 0."""
        return int(np.argmin(np.abs(self.offsets)))

    def share(self, days: Mask) -> Array:
        """Share of the counts' variance that CO2 explains on some days, at every offset [0..1]."""
        total = float(self.total[days].sum())
        return self.explained[days].sum(axis=0) / total if total > 0 else np.zeros(self.offsets.size)


def clock_scores(readings: pd.DataFrame) -> list[ClockScores]:
    """Score every day at offsets of up to half a day, for each time constant; none if too coarse."""
    width = next((width for width in BINS if width >= interval_minutes(readings) - 1e-6), None)
    if width is None:
        return []
    days, co2, counts = _binned(readings, width)
    offsets = np.arange(-(FURTHEST // width), FURTHEST // width + 1, dtype=np.int64)
    total = np.asarray((_centred(counts, np.isfinite(counts)) ** 2).sum(axis=1))
    fits = _explained(_with_neighbours(days, co2), counts, offsets, width)
    return [
        ClockScores(
            time_constant,
            days,
            offsets.astype(np.float64) * width,
            explained,
            total,
            _over_lags(_evidence(explained, total, counts), width),
        )
        for time_constant, explained in zip(TIME_CONSTANTS, np.minimum(fits, total[:, None]), strict=True)
    ]


def circular(minutes: Array) -> Array:
    """Give differences of offsets round the clock: half a day late is half a day early [min].

    Examples
    --------
    >>> circular(np.array([30.0, 720.0, -1410.0])).tolist()
    [30.0, -720.0, 30.0]
    """
    return np.asarray((minutes + 720) % 1440 - 720)


def _binned(readings: pd.DataFrame, width: int) -> tuple[pd.DatetimeIndex, Array, Array]:
    """CO2 and counts of each day as rows, means over ``width`` minutes."""
    table = pd.DataFrame({"co2": plausible_co2(readings), "occupancy": readings["occupancy"].clip(lower=0)})
    table = table.groupby(times_of(readings).floor(f"{width}min")).mean()
    days = days_of(readings).unique()
    per_day = 1440 // width
    grid = (days.to_numpy()[:, None] + np.arange(per_day) * np.timedelta64(width, "m")).ravel()
    table = table.reindex(pd.DatetimeIndex(grid))
    co2, counts = (table[name].to_numpy(dtype=float).reshape(-1, per_day) for name in ("co2", "occupancy"))
    return days, co2, counts


def _with_neighbours(days: pd.DatetimeIndex, co2: Array) -> Array:
    """Each day's row between those of the day before and after, where the calendar has them."""
    nothing = np.full_like(co2[:1], np.nan)
    follows = np.asarray(days[1:] - days[:-1] == DAY)[:, None]
    before = np.vstack([nothing, np.where(follows, co2[:-1], np.nan)])
    after = np.vstack([np.where(follows, co2[1:], np.nan), nothing])
    return np.hstack([before, co2, after])


def _explained(co2: Array, counts: Array, offsets: NDArray[np.int64], width: int) -> Array:
    """Sum of squares that the mass balance explains, shape (time constants, days, offsets)."""
    per_day, rise = counts.shape[1], max(1, round(RISE / width))
    slope = np.full_like(co2, np.nan)
    slope[:, rise:-rise] = (co2[:, 2 * rise :] - co2[:, : -2 * rise]) / (2 * rise * width)  # ppm/min
    explained = np.empty((len(TIME_CONSTANTS), len(counts), len(offsets)))
    for k, offset in enumerate(offsets):
        window = slice(per_day + offset, 2 * per_day + offset)
        explained[:, :, k] = _mass_balance_fits(co2[:, window], slope[:, window], counts)
    return explained


def _mass_balance_fits(co2: Array, slope: Array, counts: Array) -> Array:
    """Sum of squares of each row of ``counts`` that a (CO2 + T slope) explains, a >= 0, for every T."""
    known = np.isfinite(co2) & np.isfinite(slope) & np.isfinite(counts)
    c, s, n = (_centred(values, known) for values in (co2, slope, counts))
    cc, ss, cs = ((x * y).sum(axis=1) for x, y in ((c, c), (s, s), (c, s)))
    cn, sn = (c * n).sum(axis=1), (s * n).sum(axis=1)
    t = np.array(TIME_CONSTANTS)[:, None]
    return _ratio(np.maximum(cn + t * sn, 0) ** 2, cc + 2 * t * cs + t**2 * ss)


def _centred(values: Array, known: Mask) -> Array:
    """Rows less their mean over what is known; 0 where it is not."""
    number = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = np.where(known, values, 0.0).sum(axis=1, keepdims=True) / number
    return np.where(known, values - mean, 0.0)


def _ratio(above: Array, below: Array) -> Array:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 1e-9)


def _evidence(explained: Array, total: Array, counts: Array) -> Array:
    """Log likelihood of each offset above that of no relation [nat], counting one value per MEMORY."""
    known = np.isfinite(counts).sum(axis=1)
    noise = known * (COUNT_NOISE * np.nanmax(counts)) ** 2
    share = np.divide(explained, (total + noise)[:, None], out=np.zeros_like(explained), where=explained > 0)
    independent = known / counts.shape[1] * 1440 / MEMORY
    return np.asarray(-0.5 * independent[:, None] * np.log1p(-share.clip(0, MOST_EXPLAINED)))


def _over_lags(evidence: Array, width: int) -> Array:
    """Average the likelihood over the lags that a room may have on top of its clock's offset."""
    lags = {lag: weight for lag, weight in LAGS.items() if lag % width == 0}
    most = max(map(abs, lags)) // width
    padded = np.pad(evidence, ((0, 0), (most, most)), mode="edge")
    size, weights = evidence.shape[1], sum(lags.values())
    parts = [
        np.log(weight / weights) + padded[:, most + lag // width : most + lag // width + size]
        for lag, weight in lags.items()
    ]
    return np.asarray(np.logaddexp.reduce(parts, axis=0))
