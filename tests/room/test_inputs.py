"""Inputs worked by hand, at any interval and across daylight saving changes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import occupair as oc
from dense import smooth
from occupair.room.inputs import Clock, concatenate_inputs, episode_inputs, window_length

COPENHAGEN = "Europe/Copenhagen"


def inputs_from(co2, ventilation, *, interval, smoothing=0.0, start="2024-01-08"):
    times = pd.date_range(start, periods=len(co2), freq=pd.Timedelta(minutes=interval))
    return episode_inputs(
        np.array(co2, dtype=float),
        np.array(ventilation, dtype=float),
        Clock.of(times),
        interval=interval,
        smoothing=smoothing,
        longest_lag=20.0,
    )


def test_window_before_first_reading_repeats_it():
    inputs = inputs_from(
        [400, 500, 450], [0.1, 0.2, 0.3], interval=40
    )  # 80 min are two readings and the newest
    assert inputs.ventilation.tolist() == [[0.1, 0.1, 0.1], [0.2, 0.1, 0.1], [0.3, 0.2, 0.1]]
    assert inputs.co2.tolist() == [[400, 400, 400], [500, 400, 400], [450, 500, 400]]


def test_lowest_co2_is_running_minimum_of_episode():
    assert inputs_from([500, 420, 460, 400, 480], [0] * 5, interval=5).lowest_co2.tolist() == [
        500,
        420,
        420,
        400,
        400,
    ]


@given(st.lists(st.floats(0, 3000), min_size=1, max_size=25), st.sampled_from([0.0, 0.4, 10.0]))
def test_lowest_co2_uses_co2_as_smoothed_at_the_time(co2, smoothing):
    inputs = inputs_from(co2, np.zeros(len(co2)), interval=5, smoothing=smoothing)
    newest = [smooth(np.array(co2[: k + 1]), smoothing)[-1] for k in range(len(co2))]
    np.testing.assert_allclose(
        inputs.lowest_co2, [min(newest[: k + 1]) for k in range(len(co2))], rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(
    ("interval", "width"),
    [(0.5, 161), (1, 81), (5, 17), (15, 6), (30, 4), (60, 2), (160, 2), (240, 2), (720, 2)],
)
def test_window_spans_80_minutes_and_at_least_two_readings(interval, width):
    assert window_length(interval, longest_lag=20.0) == width
    assert inputs_from([400, 410], [0, 0], interval=interval).co2.shape == (2, width)


@pytest.mark.parametrize(("interval", "steps"), [(0.5, 20), (1, 10), (5, 2), (15, 1), (30, 1), (60, 1)])
def test_period_in_readings_is_at_least_one(interval, steps):
    assert inputs_from([400, 410], [0, 0], interval=interval).n_readings(10.0) == steps


def test_concatenated_subsets_equal_original():
    inputs = inputs_from([400, 500, 450, 470], [0.1, 0.2, 0.3, 0.4], interval=40)
    both = concatenate_inputs([inputs.take(slice(0, 1)), inputs.take(np.array([1, 2, 3]))])
    for name in ("co2", "ventilation", "lowest_co2"):
        np.testing.assert_array_equal(getattr(both, name), getattr(inputs, name))
    assert both.clock.minute.tolist() == [0, 40, 80, 120]
    assert (len(both), both.interval) == (4, 40)


def test_clock_includes_seconds_and_weekends():
    friday_night = pd.date_range("2024-01-12 23:59:30", periods=2, freq="30s")
    clock = Clock.of(friday_night)
    assert clock.minute.tolist() == [1439.5, 0.0]
    assert clock.weekend.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("date", "hours"), [("2024-03-31", [0, 1, 3, 4]), ("2024-10-27", [0, 1, 2, 2, 3, 4])]
)
def test_clock_is_local_time_across_dst_change(date, hours):
    times = pd.date_range(date, periods=len(hours), freq="h", tz=COPENHAGEN)
    clock = Clock.of(times)
    assert clock.minute.tolist() == [60 * hour for hour in hours]
    assert clock.weekend.tolist() == [1.0] * len(hours)
    one_by_one = [Clock.at(time.to_pydatetime()) for time in times]
    assert [one.minute[0] for one in one_by_one] == clock.minute.tolist()
    assert [one.weekend[0] for one in one_by_one] == clock.weekend.tolist()


def at_interval(minutes):
    """Three days of a simulated office at this interval, or six days at long intervals."""
    office = oc.simulate_office(days=3 if minutes < 15 else 6, seed=5)
    if minutes >= 1:
        return office.iloc[:: int(minutes)]
    times = pd.date_range(office.index[0], periods=2 * len(office), freq="30s", name="time")
    return office.loc[office.index.repeat(2)].set_index(times)


@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
@pytest.mark.parametrize("minutes", [0.5, 1, 5, 7, 15, 20, 30, 60, 240])
def test_any_interval_trains_and_live_equals_replay(minutes):
    readings = at_interval(minutes) if minutes != 7 else at_interval(1).iloc[:1435:7]
    model = oc.OccupancyEstimator(n_hidden=8, random_state=0).fit(readings)
    part = readings.iloc[-int(8 * 60 / minutes) :] if minutes < 30 else readings
    table = model.estimate(part, interval=0.9)
    room = model.live()
    live = [room.update(time.to_pydatetime(), *row) for time, *row in part.iloc[:, :2].itertuples()]
    for name in ("people", "low", "high"):
        np.testing.assert_allclose(
            [getattr(one, name) for one in live], table[name], rtol=0, atol=1e-9, err_msg=name
        )


@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
@pytest.mark.parametrize(("date", "hours"), [("2024-03-31", 23), ("2024-10-27", 25)])
def test_dst_days_train_and_live_equals_replay(slow_office, date, hours):
    times = pd.date_range(date, periods=hours * 12 + 2 * 288, freq="5min", tz=COPENHAGEN, name="time")
    readings = slow_office.iloc[: len(times)].set_index(times)
    model = oc.OccupancyEstimator(n_hidden=8, random_state=0).fit(readings)
    people = model.estimate(readings)
    pd.testing.assert_series_equal(people.iloc[hours * 12 :], model.estimate(readings.iloc[hours * 12 :]))
    room = model.live()
    live = [
        room.update(time.to_pydatetime(), *row).people for time, *row in readings.iloc[:, :2].itertuples()
    ]
    np.testing.assert_allclose(live, people, rtol=0, atol=1e-9)
    assert room.people.size == 288
