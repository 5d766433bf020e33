"""Checks of the lowest CO2 of each day, the baseline: too low, reset, drifting or moving from day to day.

Every room comes close to outdoor air at some time of the day,
or at least to the same level each day. If the baseline moves, the calibration of the sensor does.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, theilslopes

from occupair.checks.fault import Fault, Severity
from occupair.checks.prepared_readings import DAY, Array, days_of, plausible_co2, times_of
from occupair.wording import plural

OUTDOOR_CO2 = 380.0
"""Lowest plausible daily low [ppm]: outdoor air has had over 400 since 2015, good sensors are within 5 %."""
LOW_DAYS_SHARE = 0.1
"""Share of the days that may be lower by chance."""
SPREAD_NOTED = 40.0
"""Difference between low and high days that is reported [ppm]; simulated offices with weekends have 50."""
SPREAD_DOUBTFUL = 80.0
"""Difference between low and high days that is doubtful [ppm]."""
COMPLETE_DAY_SHARE = 0.8
"""Share of the usual number of readings that makes a day complete; other days may miss their low."""
MIN_DRIFT = 25.0
"""Smallest drift that is reported, over all days of a file or live since training [ppm]. CO2 outdoors varies
by some 10 ppm over a year."""
DRIFT_DOUBTFUL = 50.0
"""Drift over all days that is doubtful [ppm]."""
MONTH = 30.44
"""Mean length of a month [days]."""
MAX_DRIFT_P_VALUE = 0.01
"""Largest p-value of a trend that is a drift."""
MIN_RESET = 40.0
"""Smallest reset from one day to the next that is reported [ppm]."""
RESET_WRONG = 150.0
"""Reset that makes the readings wrong [ppm]; about five people in an office for 25."""
MIN_RESET_TO_SCATTER = 3.0
"""Smallest ratio of a reset to the scatter around the levels before and after."""
MIN_DAYS_EACH_SIDE = 3
"""Number of days needed before and after a reset."""
MIN_DAYS = 2 * MIN_DAYS_EACH_SIDE
"""Number of days needed to judge a moving baseline."""
DAYS_COMPARED = 5
"""Number of days before and after a reset that are compared; others may differ by season."""
MIN_JUMP_SHARE = 0.6
"""Share of a reset that must happen between two readings."""


def check_low_baseline(readings: pd.DataFrame) -> list[Fault]:
    """Find a sensor that reads less than the CO2 of outdoor air."""
    lows = _day_lows(readings)
    if lows.empty or lows.quantile(LOW_DAYS_SHARE) >= OUTDOOR_CO2:
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
    if len(lows) < MIN_DAYS:
        return []
    return _reset(readings, lows) or _drift(lows) or _spread(lows)


def _day_lows(readings: pd.DataFrame) -> pd.Series[float]:
    """Low of each complete day [ppm]: its 1st percentile."""
    by_day = plausible_co2(readings).groupby(days_of(readings))
    sizes = by_day.count()
    return by_day.quantile(0.01)[sizes >= COMPLETE_DAY_SHARE * sizes.median()].dropna()


def _reset(readings: pd.DataFrame, lows: pd.Series[float]) -> list[Fault]:
    values: Array = np.asarray(lows, dtype=np.float64)
    splits = range(MIN_DAYS_EACH_SIDE, len(values) - MIN_DAYS_EACH_SIDE + 1)
    split = min(splits, key=lambda k: _scatter(values[:k]) + _scatter(values[k:]))
    before, after = values[max(split - DAYS_COMPARED, 0) : split], values[split : split + DAYS_COMPARED]
    step = float(np.median(after) - np.median(before))
    left = (_scatter(values[:split]) + _scatter(values[split:])) / len(values)
    time, jump = _largest_jump(readings, pd.DatetimeIndex(lows.index), split, np.sign(step))
    if abs(step) < max(MIN_RESET, MIN_RESET_TO_SCATTER * left) or jump < MIN_JUMP_SHARE * abs(step):
        return []
    if _scatter_about_line(lows) < left:
        return []  # a drift
    severity: Severity = "wrong" if abs(step) >= RESET_WRONG else "doubtful"
    message = (
        f"The CO2 baseline was reset at {time:%Y-%m-%d %H:%M}: the daily lows "
        f"{'fall' if step < 0 else 'rise'} by {abs(step):.0f} ppm and stay there."
    )
    fix = "Train only on the days before or after it, or correct the difference."
    return [Fault("reset", severity, message, time, time, {"step": step}, fix)]


def _drift(lows: pd.Series[float]) -> list[Fault]:
    days = (pd.DatetimeIndex(lows.index) - lows.index[0]) / DAY
    values = lows.to_numpy(dtype=float)
    slope = float(theilslopes(values, days)[0])
    change = slope * float(days[-1])
    if abs(change) < MIN_DRIFT or not kendalltau(days, values).pvalue < MAX_DRIFT_P_VALUE:
        return []
    message = (
        f"The CO2 baseline drifts: the daily lows {'fall' if change < 0 else 'rise'} by "
        f"{abs(change):.0f} ppm over {days[-1] + 1:.0f} days ({slope * MONTH:+.0f} ppm per month). A trained "
        "model follows this, but training does not correct for it."
    )
    fix = "Calibrate the sensor; train on days close to each other."
    severity: Severity = "doubtful" if abs(change) >= DRIFT_DOUBTFUL else "note"
    start, end = lows.index[0], lows.index[-1] + DAY
    details = {"change": change, "a_day": slope, "a_month": slope * MONTH}
    return [Fault("drift", severity, message, start, end, details, fix)]


def _spread(lows: pd.Series[float]) -> list[Fault]:
    low, high = float(lows.quantile(0.1)), float(lows.quantile(0.9))
    if high - low < SPREAD_NOTED:
        return []
    certain = high - low >= SPREAD_DOUBTFUL or low < OUTDOOR_CO2
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
