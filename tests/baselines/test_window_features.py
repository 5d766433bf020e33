"""Rolling windows at the edges of a day, the background CO2 and the window features."""

import numpy as np
import pandas as pd

from occupair.baselines.background_co2 import BackgroundCO2
from occupair.baselines.baseline import Day
from occupair.baselines.rolling import running_mean, running_slope, shifted
from occupair.baselines.window_features import window_features


def make_day(co2, ventilation=None, interval=5.0, start="2024-01-08"):
    co2 = np.asarray(co2, dtype=float)
    times = pd.date_range(start, periods=co2.size, freq=f"{round(interval * 60)}s")
    return Day(times, co2, np.zeros(co2.size) if ventilation is None else np.asarray(ventilation), interval)


def test_windows_repeat_the_first_and_last_reading():
    series = np.array([1.0, 4.0, 2.0])
    assert shifted(series, 5).tolist() == [1.0, 1.0, 1.0]
    assert shifted(series, -1).tolist() == [4.0, 2.0, 2.0]
    assert running_mean(series, 5).tolist() == [1.0, 1.6, 1.8]


def test_slope_is_that_of_the_least_squares_line():
    series = np.random.default_rng(0).normal(size=30)
    fitted = [np.polyfit(range(7), series[k - 6 : k + 1], 1)[0] for k in range(6, 30)]
    np.testing.assert_allclose(running_slope(series, 7)[6:], fitted, atol=1e-12)


def test_background_is_the_minimum_so_far_within_limits():
    base = BackgroundCO2(lowest=380.0, highest=420.0)
    assert base.at(make_day([500, 410, 450, 0, 600])).tolist() == [420.0, 410.0, 410.0, 380.0, 380.0]
    assert base.at(make_day([500, 410, 450]), ahead=1).tolist() == [410.0, 410.0, 410.0]


def test_features_of_a_linear_rise():
    day = make_day(400 + 2.0 * np.arange(0, 120, 5), ventilation=np.full(24, 0.5))
    last = window_features(day, BackgroundCO2(lowest=350.0, highest=400.0), time_of_day=False)[-1]
    levels = [230.0 - 2 * lag for lag in (0, 0, 5, 10, 15, 20, 30, 40, 60)]
    np.testing.assert_allclose(last, [*levels, 2, 2, 2, 2, 0.5, 0.5, 0.5, 115.0, 57.5])


def test_lag_shifts_co2_features_but_not_the_clock():
    day = make_day(np.linspace(400, 900, 288), start="2024-01-13")
    base = BackgroundCO2(lowest=350.0, highest=400.0)
    now, later = window_features(day, base), window_features(day, base, ahead=4)
    np.testing.assert_array_equal(later[:-4, :18], now[4:, :18])
    np.testing.assert_array_equal(later[-4:, :18], now[[-1] * 4, :18])
    np.testing.assert_array_equal(later[:, 18:], now[:, 18:])
    np.testing.assert_allclose(now[72, 18:], [1, 0, 0, -1, 1], atol=1e-12)  # 6 h on a Saturday
