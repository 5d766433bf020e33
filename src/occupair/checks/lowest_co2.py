"""Checks of the CO2 baseline: low, reset, drifting or moving from day to day.

The baseline is the lowest CO2 of each day. Every room comes close to outdoor air at some time of the day,
or at least to the same level each day. If the baseline moves, the calibration of the sensor does.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, theilslopes

from occupair.checks.cleaning import DAY, Array, days_of, plausible_co2, times_of
from occupair.checks.fault import Fault, Severity
from occupair.wording import plural

OUTDOOR = 380.0  # ppm; outdoor air has had 400 or more since 2015, and good sensors are within 5 %
LOW_SHARE = 0.1  # of the days may be lower by chance
SPREAD_NOTED = 40.0  # ppm between low and high days; simulated offices with weekends have 50
SPREAD_DOUBTFUL = 80.0  # ppm
COMPLETE = 0.8  # of the usual number of readings; days with fewer may miss their low
DAYS_TO_JUDGE = 6
DRIFT = 50.0  # ppm over all days
RESET = 60.0  # ppm from one day to the next
RESET_WRONG = 150.0  # ppm; about five people in an office for 25
UNLIKELY = 0.01  # p-value of the trend
CLEAR = 4.0  # times the scatter around the levels before and after
SIDE = 3  # days required before and after a reset
COMPARED = 5  # days before and after a reset that are compared; others may differ by season
ABRUPT = 0.6  # of a reset that happens between two readings


def check_low_baseline(readings: pd.DataFrame) -> list[Fault]:
    """Find a sensor that reads less than the CO2 of outdoor air."""
    lows = _day_lows(readings)
    if lows.empty or lows.quantile(LOW_SHARE) >= OUTDOOR:
        return []
    lowest = float(plausible_co2(readings).min())
    message = (
        f"CO2 falls to {lowest:.0f} ppm, less than the 400 ppm of outdoor air: the sensor is not "
        "calibrated. A constant error does no harm: the estimator is fitted to the level of the room."
    )
    return [Fault("low_baseline", "doubtful", message, details={"lowest": lowest})]


def check_moving_baseline(readings: pd.DataFrame) -> list[Fault]:
    """Find a baseline that is reset, drifts, or varies from day to day."""
    lows = _day_lows(readings)
    if len(lows) < DAYS_TO_JUDGE:
        return []
    return _reset(readings, lows) or _drift(lows) or _spread(lows)


def _day_lows(readings: pd.DataFrame) -> pd.Series[float]:
    """Low of each complete day [ppm]: its 1st percentile."""
    by_day = plausible_co2(readings).groupby(days_of(readings))
    sizes = by_day.count()
    return by_day.quantile(0.01)[sizes >= COMPLETE * sizes.median()].dropna()


def _reset(readings: pd.DataFrame, lows: pd.Series[float]) -> list[Fault]:
    values: Array = np.asarray(lows, dtype=np.float64)
    if len(values) < 2 * SIDE:
        return []
    splits = range(SIDE, len(values) - SIDE + 1)
    split = min(splits, key=lambda k: _scatter(values[:k]) + _scatter(values[k:]))
    before, after = values[max(split - COMPARED, 0) : split], values[split : split + COMPARED]
    step = float(np.median(after) - np.median(before))
    left = (_scatter(values[:split]) + _scatter(values[split:])) / len(values)
    time, jump = _largest_jump(readings, pd.DatetimeIndex(lows.index), split, np.sign(step))
    if abs(step) < max(RESET, CLEAR * left) or jump < ABRUPT * abs(step):
        return []
    if _scatter_about_line(lows) < left:
        return []  # a drift
    severity: Severity = "wrong" if abs(step) >= RESET_WRONG else "doubtful"
    message = (
        f"The CO2 baseline was reset at {time:%Y-%m-%d %H:%M}: the daily lows "
        f"{'fall' if step < 0 else 'rise'} by {abs(step):.0f} ppm and stay there. "
        "Train only on the days before or after it, or correct the difference."
    )
    return [Fault("reset", severity, message, time, time, {"step": step})]


def _drift(lows: pd.Series[float]) -> list[Fault]:
    days = (pd.DatetimeIndex(lows.index) - lows.index[0]) / DAY
    values = lows.to_numpy(dtype=float)
    slope = float(theilslopes(values, days)[0])
    change = slope * float(days[-1])
    if abs(change) < DRIFT or not kendalltau(days, values).pvalue < UNLIKELY:
        return []
    message = (
        f"The CO2 baseline drifts: the daily lows {'fall' if change < 0 else 'rise'} by "
        f"{abs(change):.0f} ppm over {days[-1] + 1:.0f} days ({slope:+.1f} ppm per day). The estimator "
        "corrects this only in part: calibrate the sensor, and train again from time to time."
    )
    start, end = lows.index[0], lows.index[-1] + DAY
    return [Fault("drift", "doubtful", message, start, end, {"change": change, "a_day": slope})]


def _spread(lows: pd.Series[float]) -> list[Fault]:
    low, high = float(lows.quantile(0.1)), float(lows.quantile(0.9))
    if high - low < SPREAD_NOTED:
        return []
    certain = high - low >= SPREAD_DOUBTFUL or low < OUTDOOR
    message = (
        f"The daily lows of CO2 vary between {lows.min():.0f} and {lows.max():.0f} ppm "
        f"(over {plural(len(lows), 'day')}): automatic calibration of the sensor, or a room that is not "
        "fully aired overnight. The estimator follows the low of the day as far as this improved training."
    )
    details = {"spread": high - low, "lowest": float(lows.min()), "highest": float(lows.max())}
    return [Fault("moving_baseline", "doubtful" if certain else "note", message, details=details)]


def _scatter_about_line(lows: pd.Series[float]) -> float:
    """Mean distance of the lows from a straight line fitted to them [ppm]."""
    days = (pd.DatetimeIndex(lows.index) - lows.index[0]) / DAY
    values = lows.to_numpy(dtype=float)
    return _scatter(values - float(theilslopes(values, days)[0]) * days.to_numpy()) / len(values)


def _scatter(values: Array) -> float:
    """Sum of distances from the median [ppm]."""
    return float(np.abs(values - np.median(values)).sum())


def _largest_jump(
    readings: pd.DataFrame, days: pd.DatetimeIndex, split: int, sign: float
) -> tuple[pd.Timestamp, float]:
    """Return the time and size [ppm] of the largest step between readings in the days around a split."""
    near = plausible_co2(readings)[days[split - 1] : days[min(split + 1, len(days) - 1)]].dropna()
    steps = sign * np.diff(near.to_numpy())
    k = int(np.argmax(steps))
    return times_of(near.to_frame())[k + 1], float(steps[k])
