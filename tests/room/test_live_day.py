"""Live updates of the default estimator equal replayed days."""

import datetime as dt
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occupair as oc
from dense import smooth


def feed(room, readings):
    columns = [name for name in ("co2", "ventilation") if name in readings]
    return [room.update(time.to_pydatetime(), *row) for time, *row in readings[columns].itertuples()]


def assert_live_equals_replay(model, readings, interval=0.9):
    table = model.estimate(readings, interval=interval)
    live = feed(model.live(interval=interval), readings)
    for name in ("people", "low", "high"):
        np.testing.assert_allclose(
            [getattr(one, name) for one in live], table[name], rtol=0, atol=1e-9, err_msg=name
        )


@pytest.mark.parametrize("interval", [0.5, 0.9])
def test_live_equals_replay(trained_room, slow_office, interval):
    assert_live_equals_replay(trained_room, slow_office.iloc[2 * 288 :], interval)


def assert_upper_ends_equal_replay(model, readings, confidence):
    room, highs = model.live(), []
    for time, *row in readings[["co2", "ventilation"]].itertuples():
        room.update(time.to_pydatetime(), *row)
        highs.append(room.upper_end(confidence))
    expected = model.estimate(readings, interval=confidence)["high"]
    np.testing.assert_allclose(highs, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("confidence", [0.0001, 0.5, 0.9, 0.98])
def test_upper_end_at_any_confidence_equals_replay(trained_room, last_day, confidence):
    assert_upper_ends_equal_replay(trained_room, last_day, confidence)


def test_upper_end_in_closed_hours_equals_replay(trained_room, slow_office):
    noon = slow_office.iloc[2 * 288 + 96 : 2 * 288 + 168]
    night = noon.set_axis(noon.index - pd.Timedelta(hours=8))
    assert_upper_ends_equal_replay(trained_room, night, 0.6)


def test_upper_end_before_the_first_reading_is_unknown(trained_room):
    assert trained_room.live().upper_end(0.5) is None


def test_upper_end_is_restored(trained_room, last_day):
    room, restored = trained_room.live(), trained_room.live()
    times = [time.to_pydatetime() for time in last_day.index]
    feed(room, last_day)
    restored.restore(times, last_day["co2"].to_numpy(), last_day["ventilation"].to_numpy())
    assert restored.upper_end(0.7) == pytest.approx(room.upper_end(0.7), abs=1e-9)


def test_closed_hours_estimate_zero_with_open_upper_bound(trained_room, slow_office):
    noon = slow_office.iloc[2 * 288 + 96 : 2 * 288 + 168]  # from 08:00 to 14:00
    night = noon.set_axis(noon.index - pd.Timedelta(hours=8))
    hours = trained_room.room_.hours.is_open
    assert not hours[0, 60:300].any()
    earlier = copy(trained_room)
    earlier.room_ = replace(trained_room.room_, evidence_thresholds=None)  # as in files of earlier versions
    by_day, by_night = (earlier.estimate(one, interval=0.9) for one in (noon, night))
    empty = by_night.iloc[12:60]
    assert (empty["people"] == 0).all()
    busy = by_day["people"].iloc[12:60].to_numpy() > 2
    assert busy.sum() > 20
    assert (empty["high"].to_numpy()[busy] > 1).mean() > 0.9
    assert_live_equals_replay(earlier, night)


def test_clear_evidence_in_closed_hours_is_reported(trained_room, slow_office):
    noon = slow_office.iloc[2 * 288 + 96 : 2 * 288 + 168]  # from 08:00 to 14:00
    night = noon.set_axis(noon.index - pd.Timedelta(hours=8))
    table = trained_room.estimate(night, interval=0.9)
    found = table["people"] > 0
    assert not found.iloc[:4].any()  # the start-up phase
    closed = ~trained_room.room_.hours.is_open[0, night.index.hour * 60 + night.index.minute]
    assert found[closed].sum() > 10
    assert (table["low"][closed] == 0).all()
    assert table["people"].between(table["low"], table["high"]).all()
    assert_live_equals_replay(trained_room, night)


@pytest.mark.parametrize(
    "change",
    [
        lambda readings: readings.drop(columns="ventilation"),
        lambda readings: readings.iloc[:288],
        lambda readings: readings.assign(occupancy=0),
        lambda readings: readings.assign(co2=412.3),
    ],
    ids=["no ventilation", "a single day", "no people", "constant CO2"],
)
@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
@pytest.mark.filterwarnings("ignore:the room is empty at every head count")
def test_live_equals_replay_in_unusual_rooms(slow_office, last_day, change):
    model = oc.OccupancyEstimator(n_hidden=10, random_state=0).fit(change(slow_office))
    assert_live_equals_replay(model, last_day if model.uses_ventilation_ else last_day[["co2"]])
    assert_live_equals_replay(model, change(slow_office).iloc[:288])


@pytest.mark.parametrize("smoothing", [0, 50])
def test_live_equals_replay_with_other_smoothing(slow_office, last_day, smoothing):
    model = oc.OccupancyEstimator(n_hidden=10, random_state=0, smoothing=smoothing).fit(slow_office)
    assert_live_equals_replay(model, last_day)


readings_of_a_day = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 10)), min_size=2, max_size=40)


@given(readings_of_a_day, st.integers(0, 23 * 12))
@settings(max_examples=20, deadline=None)
def test_live_equals_replay_for_any_readings(trained_room, rows, first):
    times = pd.date_range("2015-08-07", periods=288, freq="5min")[first : first + len(rows)]
    co2, tenths = np.array(rows[: len(times)]).T
    assert_live_equals_replay(
        trained_room, pd.DataFrame({"co2": co2, "ventilation": tenths / 10}, index=times)
    )


def test_estimates_of_the_day_are_refined(trained_room, last_day):
    room, now, later = trained_room.live(), [], trained_room.estimate(last_day, lag=20)
    for k, (time, *row) in enumerate(last_day.iloc[:, :2].itertuples()):
        now.append(room.update(time, *row).people)
        assert room.people.size == k + 1
        if k >= 4:  # estimates at the longest lag are final
            np.testing.assert_allclose(room.people[: k - 3], later.iloc[: k - 3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(room.people, later, rtol=0, atol=1e-9)
    assert np.abs(room.people - now).max() > 0.5
    np.testing.assert_allclose(room.co2_smoothed, smooth(last_day["co2"].to_numpy(), 10 / 25), rtol=1e-12)


def test_people_of_live_room_is_a_copy(trained_room, last_day):
    room = trained_room.live()
    feed(room, last_day.iloc[100:110])
    room.people[:] = 99.0
    assert room.people.max() < 99


def test_live_restarts_after_gap_and_at_midnight_like_replay(trained_room, slow_office):
    days = slow_office.iloc[2 * 288 :]
    with_gap = days.drop(days.index[150:157])
    assert_live_equals_replay(trained_room, with_gap)
    room = trained_room.live()
    estimates = feed(room, with_gap)
    quality = [estimate.quality for estimate in estimates]
    starting = [k for k, one in enumerate(quality) if one == "starting"]
    assert starting == [0, 1, 2, 3, 150, 151, 152, 153, 281, 282, 283, 284]  # the first 20 min
    assert room.people.size == 288


def test_live_prediction_interval_contains_estimate(trained_room, last_day):
    estimates = feed(trained_room.live(interval=0.9), last_day)
    narrow = feed(trained_room.live(interval=0.5), last_day)
    for wide, less in zip(estimates, narrow, strict=True):
        assert 0 <= wide.low <= less.low <= less.people <= less.high <= wide.high
    assert any(wide.low < less.low for wide, less in zip(estimates, narrow, strict=True))


def test_rooms_of_one_model_are_independent(trained_room, last_day):
    alone = feed(trained_room.live(), last_day.iloc[:150])
    left, right = trained_room.live(), trained_room.live()
    for expected, (time, *row) in zip(alone, last_day.iloc[:150, :2].itertuples(), strict=True):
        assert left.update(time, *row) == expected
        right.update(time, 5000.0, 1.0)


NOON = dt.datetime(2024, 1, 8, 12, 0)


@pytest.mark.parametrize(
    ("minutes", "co2", "ventilation", "message"),
    [
        (0, 420.0, 1.0, "times must increase"),
        (1, 420.0, 1.0, "time must be a multiple of the 5 min interval"),
        (5, float("nan"), 1.0, "co2 must be from 0 to 1000000 ppm, got nan"),
        (5, -1.0, 1.0, r"co2 must be from 0 to 1000000 ppm, got -1\.0"),
        (5, 420.0, None, "ventilation is missing"),
        (5, 420.0, 80.0, r"ventilation must be from 0 to 1 \(80 % is 0\.8\), got 80\.0"),
    ],
)
def test_invalid_reading_leaves_room_unchanged(trained_room, minutes, co2, ventilation, message):
    room, twin = trained_room.live(), trained_room.live()
    for one in (room, twin):
        one.update(NOON, 420.0, 1.0)
    with pytest.raises(oc.InputError, match=message):
        room.update(NOON + dt.timedelta(minutes=minutes), co2, ventilation)
    for k in range(1, 12):
        time = NOON + dt.timedelta(minutes=5 * k)
        assert room.update(time, 400.0 + 20 * k, 1.0) == twin.update(time, 400.0 + 20 * k, 1.0)


def test_extreme_readings_stay_within_limit(trained_room):
    room, rng = trained_room.live(), np.random.default_rng(0)
    for k in range(100):
        estimate = room.update(NOON + dt.timedelta(minutes=5 * k), rng.uniform(0, 1e6), rng.uniform())
        assert 0 <= estimate.low <= estimate.people <= trained_room.room_.people_limit
        assert estimate.people <= estimate.high
