"""Days on a regular grid, against pandas and by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from physics.simulated_rooms import CLOSED

from occupair.physics.day_grid import MARGIN, day_grid


def random_days(n=2, *, minutes=1.0, start="2024-01-08", seed=0, **columns):
    """Days of random CO2 and ventilation."""
    rng = np.random.default_rng(seed)
    times = pd.date_range(start, periods=round(n * 1440 / minutes), freq=pd.Timedelta(minutes=minutes))
    values = {"co2": rng.uniform(400, 900, times.size), "ventilation": rng.uniform(0, 1, times.size)}
    return pd.DataFrame(values | columns, index=times)


def pandas_means(column, step, n_days):
    """Means of the steps of each day, by pandas."""
    return column.resample(f"{step}min").mean().to_numpy().reshape(n_days, -1)


@pytest.mark.parametrize(("minutes", "step"), [(0.5, 5), (1, 5), (2, 5), (5, 5), (10, 10), (15, 15)])
def test_values_are_means_of_steps(minutes, step):
    readings = random_days(minutes=minutes)
    grid = day_grid(readings, CLOSED)
    assert (grid.step, grid.co2.shape) == (step, (2, 1440 // step))
    np.testing.assert_allclose(grid.co2, pandas_means(readings["co2"], step, 2))
    flow = pandas_means(readings["ventilation"], step, 2)
    assert grid.full_ventilation == pytest.approx(flow.max())
    np.testing.assert_allclose(grid.ventilation, flow / flow.max())


@settings(max_examples=20)
@given(st.data())
def test_missing_readings_are_left_out_of_the_means(data):
    readings = random_days(1)
    first = data.draw(st.integers(0, 1400))
    n_missing = data.draw(st.integers(1, 30))
    rest = readings.drop(readings.index[first : first + n_missing])
    grid = day_grid(rest, CLOSED)
    expected = (
        rest["co2"].resample("5min").mean().reindex(pd.date_range("2024-01-08", periods=288, freq="5min"))
    )
    np.testing.assert_allclose(grid.co2[0], expected)
    is_missing = np.isnan(expected.to_numpy())
    assert (grid.ventilation[0, is_missing] == 0).all()
    assert np.isfinite(grid.base).all()


def test_every_reading_has_the_value_of_its_step():
    readings = random_days(2, minutes=5).drop(pd.Timestamp("2024-01-08 12:00"))
    grid = day_grid(readings, CLOSED)
    np.testing.assert_array_equal(grid.at_readings(grid.co2), readings["co2"])


def test_interval_of_seven_and_a_half_minutes_fills_every_step():
    readings = random_days(1, minutes=7.5)
    grid = day_grid(readings, CLOSED)
    np.testing.assert_allclose(grid.co2[0], readings["co2"])


def test_day_of_23_hours_has_an_hour_without_readings():
    times = pd.date_range("2024-03-31", "2024-03-31 23:55", freq="5min", tz="Europe/Copenhagen")
    readings = pd.DataFrame({"co2": np.arange(276.0)}, index=times)
    grid = day_grid(readings, CLOSED)
    assert grid.co2.shape == (1, 288)
    assert np.flatnonzero(np.isnan(grid.co2[0])).tolist() == list(range(24, 36))  # 2:00 to 2:55
    assert grid.co2[0, [0, 23, 36, 287]].tolist() == [0, 23, 24, 275]


def test_day_of_25_hours_averages_the_repeated_hour():
    times = pd.date_range("2024-10-27", "2024-10-27 23:55", freq="5min", tz="Europe/Copenhagen")
    readings = pd.DataFrame({"co2": np.arange(300.0)}, index=times)
    grid = day_grid(readings, CLOSED)
    assert grid.co2.shape == (1, 288)
    assert grid.co2[0, 24:36].tolist() == [(24 + k + 36 + k) / 2 for k in range(12)]
    assert grid.co2[0, [23, 36, 287]].tolist() == [23, 48, 299]
    assert grid.at_readings(grid.co2)[[24, 36]].tolist() == [30, 30]


@pytest.mark.parametrize("date", ["2024-03-10", "2024-11-03"])
def test_clock_change_at_midnight_does_not_split_the_day(date):
    first = pd.Timestamp(date) - pd.Timedelta(days=1)
    times = pd.date_range(first, periods=3 * 288, freq="5min", tz="America/Havana")
    readings = pd.DataFrame(
        {"co2": 420.0}, index=times[times.tz_localize(None) < first + pd.Timedelta(days=2)]
    )
    assert day_grid(readings, CLOSED).co2.shape == (2, 288)


def test_days_are_local_days():
    times = pd.date_range("2024-01-08", periods=2 * 288, freq="5min", tz="Asia/Tokyo")
    readings = random_days(minutes=5).set_axis(times)
    aware, local = day_grid(readings, CLOSED), day_grid(readings.tz_localize(None), CLOSED)
    np.testing.assert_array_equal(aware.co2, local.co2)
    np.testing.assert_array_equal(aware.base, local.base)


def test_closed_hours_are_those_at_the_start_of_each_step():
    grid = day_grid(random_days(1, minutes=15), CLOSED)
    assert np.flatnonzero(grid.closed).tolist() == list(range(20))  # 0:00 to 5:00


def test_head_counts_are_means_of_those_with_weight():
    occupancy, weight = np.full(1440, np.nan), np.ones(1440)
    occupancy[[600, 601, 602, 700]] = [4, 5, 12, 9]
    weight[[602, 700]] = 0.0
    grid = day_grid(random_days(1, occupancy=occupancy, occupancy_weight=weight), CLOSED)
    assert grid.counts[0, 120] == 4.5
    assert np.isnan(np.delete(grid.counts[0], 120)).all()
    assert np.isnan(day_grid(random_days(1), CLOSED).counts).all()


@pytest.mark.parametrize("signal", ["missing", "always 0"])
def test_without_ventilation_signal_weekdays_are_ventilated_by_day(signal):
    readings = random_days(7, minutes=5).assign(ventilation=0.0)  # Monday to Sunday
    grid = day_grid(readings.drop(columns="ventilation") if signal == "missing" else readings, CLOSED)
    hour = np.arange(288) // 12
    by_day = ((hour >= 7) & (hour < 20)).astype(float)
    assert grid.full_ventilation is None
    np.testing.assert_array_equal(grid.ventilation, [by_day] * 5 + [0 * by_day] * 2)


@pytest.mark.parametrize("factor", [0.01, 0.3, 0.5])
def test_scaled_ventilation_gives_the_same_grid(factor):
    readings = random_days()
    grid, scaled = (
        day_grid(readings.assign(ventilation=readings["ventilation"] * one), CLOSED) for one in (1, factor)
    )
    np.testing.assert_allclose(scaled.ventilation, grid.ventilation)
    assert scaled.full_ventilation == pytest.approx(factor * grid.full_ventilation)


def reference_base(grid, outdoor=None):
    """Lowest mean of 15 min so far, within the range of the lows of all days, by pandas."""
    low = pd.DataFrame(grid.co2.T).rolling(round(15 / grid.step), min_periods=1).mean().cummin().ffill()
    lows = low.iloc[-1]
    highest = lows.max() if outdoor is None else min(lows.max(), max(outdoor, lows.min()))
    return low.fillna(lows.median()).clip(lows.min() - MARGIN, highest).to_numpy().T


@pytest.mark.parametrize("minutes", [1, 5, 15])
@pytest.mark.parametrize("outdoor", [None, 300.0, 420.0, 2000.0])
def test_base_level_is_lowest_co2_so_far(minutes, outdoor):
    readings = random_days(3, minutes=minutes)
    readings["co2"] += np.repeat([0.0, 40.0, 90.0], len(readings) // 3)
    readings = readings.drop(readings.index[:20]).drop(readings.index[len(readings) // 2 :][:30])
    grid = day_grid(readings, CLOSED, outdoor)
    np.testing.assert_allclose(grid.base, reference_base(grid, outdoor))
    assert grid.level.shape == grid.co2.shape
    np.testing.assert_allclose(grid.level + grid.base, grid.co2)


def test_base_level_by_hand():
    co2 = np.full((2, 96), 800.0)  # readings every 15 min
    co2[0, 40:] = 430.0
    co2[1, 8:10], co2[1, 50:] = 460.0, 450.0
    times = pd.date_range("2024-01-08", periods=192, freq="15min")
    base = day_grid(pd.DataFrame({"co2": co2.ravel()}, index=times), CLOSED).base
    assert set(base[0, :40]) == {450.0}  # 800 is above the lows of all days, 430 and 450
    assert set(base[0, 40:]) == {430.0}
    assert set(base[1]) == {450.0}
    known = day_grid(pd.DataFrame({"co2": co2.ravel()}, index=times), CLOSED, 440.0).base
    assert set(known[1]) == {440.0}


@settings(max_examples=20)
@given(after=st.integers(3, 287), seed=st.integers(0, 99))
def test_later_readings_do_not_change_the_base_level(after, seed):
    rng = np.random.default_rng(seed)
    lowest, highest, today = np.full(288, 380.0), np.full(288, 460.0), rng.uniform(390, 480, 288)
    today[:3] = 455.0
    changed = np.append(today[:after], rng.uniform(390, 2000, 288 - after))
    times = pd.date_range("2024-01-08", periods=3 * 288, freq="5min")
    before, later = (
        day_grid(pd.DataFrame({"co2": np.concatenate([lowest, highest, one])}, index=times), CLOSED).base
        for one in (today, changed)
    )
    np.testing.assert_array_equal(before[:2], later[:2])
    np.testing.assert_array_equal(before[2, :after], later[2, :after])


def test_some_days_of_a_grid():
    grid = day_grid(random_days(4, minutes=5), CLOSED)
    some = grid.days(np.array([3, 1]))
    for name in ("co2", "ventilation", "counts", "base"):
        np.testing.assert_array_equal(getattr(some, name), getattr(grid, name)[[3, 1]])
    assert some.place.size == 0
    assert (some.step, some.full_ventilation) == (grid.step, grid.full_ventilation)
