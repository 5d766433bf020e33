"""Resampling to a regular grid, without look-ahead."""

import numpy as np
import pandas as pd

from occupair.datasets.regular_grid import artificial_dates, fill_gaps, hold, longest_parts, whole_days

MINUTE = pd.Timedelta(minutes=1)


def readings(times, co2):
    return pd.DataFrame({"co2": np.asarray(co2, float)}, index=pd.to_datetime(times))


def test_artificial_dates_have_the_weekday_and_are_not_consecutive():
    weekdays = [5, 1, 0, 4, 2, 3, 2, 6, 3, 1, 6, 2, 5, 0, 4]
    dates = artificial_dates([[day] for day in weekdays])
    assert [date.weekday() for date in dates] == weekdays
    assert min(np.diff(dates)) >= pd.Timedelta(days=2)


def test_hold_takes_the_last_reading_and_drops_long_gaps():
    jittered = readings(
        ["2024-01-08 08:00:20", "2024-01-08 08:01:10", "2024-01-08 08:03:00", "2024-01-08 08:10:30"],
        [410, 420, 430, 440],
    )
    held = hold(jittered, interval=MINUTE, longest_gap=pd.Timedelta(minutes=2))
    assert [f"{time:%H:%M}" for time in held.index] == ["08:01", "08:02", "08:03"]
    assert held["co2"].tolist() == [410.0, 420.0, 430.0]


def test_hold_does_not_look_ahead():
    rng = np.random.default_rng(0)
    times = pd.Timestamp("2024-01-08") + pd.to_timedelta(np.cumsum(rng.integers(20, 45, 200)), unit="s")
    before = readings(times, rng.normal(600, 50, 200))
    changed = before.copy()
    changed.iloc[100:] += 100
    both = [hold(r, interval=MINUTE, longest_gap=MINUTE)["co2"] for r in (before, changed)]
    same = (both[0] == both[1]).to_numpy()
    np.testing.assert_array_equal(same, both[0].index < times[100])


def test_gaps_are_filled_within_the_day_up_to_the_limit():
    times = pd.date_range("2024-01-08 23:55", periods=10, freq="min")
    empty = np.nan
    holed = readings(times, [410, empty, empty, 413, empty, empty, 416, empty, empty, empty])
    filled = fill_gaps(holed, limit=2)["co2"]
    np.testing.assert_array_equal(
        filled, [410, 410, 410, 413, 413, empty, 416, 416, 416, empty]
    )  # the sixth reading is the first of its day


def test_longest_part_of_each_day():
    first = pd.date_range("2024-01-08 08:00", periods=3, freq="min")
    second = pd.date_range("2024-01-08 09:00", periods=4, freq="min")
    other_day = pd.date_range("2024-01-09 08:00", periods=2, freq="min")
    times = first.append(second).append(other_day)
    found = longest_parts(readings(times, np.arange(9)), interval=MINUTE)
    assert found["co2"].tolist() == [3, 4, 5, 6, 7, 8]
    holed = readings(times, [0, 1, 2, 3, np.nan, 5, 6, 7, 8])
    assert longest_parts(holed, interval=MINUTE)["co2"].tolist() == [0, 1, 2, 7, 8]


def test_whole_days_are_complete():
    times = pd.date_range("2024-01-08", "2024-01-10 12:00", freq="h")
    found = whole_days(readings(times, np.arange(len(times))), interval=pd.Timedelta(hours=1))
    assert found["co2"].tolist() == list(range(48))
