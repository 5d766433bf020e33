"""LiveRoom: live equals replay, and an invalid reading does not change the state."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import occupair as oc


def feed(room, readings):
    rows = zip(readings.index, readings["co2"], readings["ventilation"], strict=True)
    return [room.update(time.to_pydatetime(), co2, ventilation) for time, co2, ventilation in rows]


def test_live_equals_replay(estimator, slow_office):
    two_days = slow_office.iloc[2 * 288 :]
    live = [estimate.people for estimate in feed(estimator.live(), two_days)]
    np.testing.assert_allclose(live, estimator.estimate(two_days, mode="live"), rtol=0, atol=1e-9)


def test_live_equals_replay_at_one_minute_without_smoothing(office):
    model = oc.OccupancyEstimator(smoothing=0, n_hidden=20, random_state=0).fit(office)
    live = [estimate.people for estimate in feed(model.live(), office.iloc[-1440:])]
    np.testing.assert_allclose(live, model.estimate(office.iloc[-1440:]), rtol=0, atol=1e-9)


def test_rooms_of_one_model_are_independent(estimator, last_day):
    alone = [estimate.people for estimate in feed(estimator.live(), last_day)]
    left, right = estimator.live(), estimator.live()
    with_other = []
    for time, row in last_day.iterrows():
        with_other.append(left.update(time, row["co2"], row["ventilation"]).people)
        right.update(time, 5000.0, 1.0)
    assert with_other == alone


def test_estimate_has_time_and_quality(estimator, last_day):
    estimates = feed(estimator.live(), last_day)
    assert [estimate.quality for estimate in estimates] == ["starting"] * 6 + ["ok"] * 282
    assert estimates[7].time == last_day.index[7]
    assert estimates[7].low is None
    assert estimates[7].high is None
    assert all(estimate.people == 0 for estimate in estimates[:6])


def test_people_of_the_day_equal_hindsight(estimator, last_day):
    room = estimator.live()
    feed(room, last_day)
    np.testing.assert_allclose(room.people, estimator.estimate(last_day, mode="hindsight"), atol=1e-6)
    np.testing.assert_allclose(room.co2_smoothed, oc.smooth(last_day["co2"], smoothing=2.0), rtol=1e-12)


def test_late_start_and_missing_days_are_accepted(estimator, slow_office):
    room = estimator.live()
    feed(room, slow_office.iloc[100:200])
    later = feed(room, slow_office.iloc[3 * 288 + 50 : 3 * 288 + 90])
    assert [estimate.quality for estimate in later[:7]] == ["starting"] * 6 + ["ok"]


NOON = dt.datetime(2024, 1, 8, 12, 0)


@pytest.mark.parametrize(
    ("minutes", "co2", "ventilation", "message"),
    [
        (0, 420.0, 1.0, "times must increase, got 2024-01-08 12:00:00 twice"),
        (-5, 420.0, 1.0, "times must increase, got 2024-01-08 11:55:00 after 2024-01-08 12:00:00"),
        (
            1,
            420.0,
            1.0,
            "time must be a multiple of the 5 min interval of training after 2024-01-08 12:00:00, got",
        ),
        (
            5,
            float("nan"),
            1.0,
            "co2 must be from 0 to 1000000 ppm, got nan at 2024-01-08 12:05:00",
        ),
        (5, -1.0, 1.0, r"co2 must be from 0 to 1000000 ppm, got -1\.0"),
        (5, "high", 1.0, "co2 must be from 0 to 1000000 ppm, got 'high'"),
        (5, 420.0, "on", r"ventilation must be from 0 to 1 \(80 % is 0\.8\), got 'on'"),
        (5, 420.0, None, "ventilation is missing at 2024-01-08 12:05:00, and this model was trained with it"),
        (5, 420.0, 80.0, r"ventilation must be from 0 to 1 \(80 % is 0\.8\), got 80\.0"),
        (5, 420.0, float("nan"), r"ventilation must be from 0 to 1 \(80 % is 0\.8\), got nan"),
    ],
)
def test_invalid_reading_does_not_change_the_room(estimator, minutes, co2, ventilation, message):
    room, twin = estimator.live(), estimator.live()
    for one in (room, twin):
        one.update(NOON, 420.0, 1.0)
    with pytest.raises(oc.InputError, match=message):
        room.update(NOON + dt.timedelta(minutes=minutes), co2, ventilation)
    for k in range(1, 20):
        time = NOON + dt.timedelta(minutes=5 * k)
        assert room.update(time, 400.0 + 20 * k, 1.0) == twin.update(time, 400.0 + 20 * k, 1.0)


def test_live_restarts_after_a_gap_like_replay(estimator, last_day):
    with_gap = last_day.drop(last_day.index[150:157])
    estimates = feed(estimator.live(), with_gap)
    np.testing.assert_allclose([e.people for e in estimates], estimator.estimate(with_gap), rtol=0, atol=1e-9)
    assert [e.quality for e in estimates[149:157]] == ["ok"] + ["starting"] * 6 + ["ok"]


def test_mixed_naive_and_aware_times_are_rejected(estimator):
    room = estimator.live()
    room.update(NOON, 420.0, 1.0)
    with pytest.raises(
        oc.InputError, match=r"times must all have a time zone or all have none, got .* use the same kind"
    ):
        room.update((NOON + dt.timedelta(minutes=5)).replace(tzinfo=ZoneInfo("Asia/Tokyo")), 420.0, 1.0)


@pytest.mark.parametrize("time", [None, pd.NaT, "2024-01-08", 5])
def test_time_must_be_a_datetime(estimator, time):
    with pytest.raises(oc.InputError, match="time must be a datetime, got"):
        estimator.live().update(time, 420.0, 1.0)


def test_day_of_26_hours_is_accepted(estimator):
    """Antarctica/Troll sets the clock back by two hours, so one day has 26."""
    times = pd.date_range("2024-10-27", periods=26 * 12, freq="5min", tz="Antarctica/Troll")
    assert times[-1].date() == times[0].date()
    room = estimator.live()
    assert [room.update(time, 450.0, 1.0).quality for time in times][-1] == "ok"


def test_arrays_grow_on_days_with_many_readings(office):
    fast = office.iloc[500:900].set_index(pd.date_range("2024-01-08", periods=400, freq="10s"))
    model = oc.OccupancyEstimator(horizon=1, stride=1, smoothing=1, n_hidden=5, random_state=0).fit(fast)
    times = pd.date_range("2024-01-08", periods=2500, freq="10s")
    room = model.live()
    live = [room.update(time, 450.0 + k % 7, 1.0).people for k, time in enumerate(times)]
    batch = pd.DataFrame({"co2": 450.0 + np.arange(2500) % 7, "ventilation": 1.0}, index=times)
    np.testing.assert_allclose(live, model.estimate(batch), atol=1e-9)


def test_state_of_the_day_is_reached_through_the_room(trained_room, last_day):
    """A room without optional sensors has none missing; the 90 % interval ends at ``high``."""
    rows = list(
        zip(last_day.index[90:130], last_day["co2"][90:130], last_day["ventilation"][90:130], strict=True)
    )
    room, restored = trained_room.live(), trained_room.live()
    restored.restore_lows([])
    estimates = [room.update(*row) for row in rows]
    assert [restored.update(*row).people for row in rows] == [estimate.people for estimate in estimates]
    assert room.missing_sensors == room.stuck_sensors == ()
    restored.restore_runs({"humidity": (40.0, 500)})
    assert room.relevant_runs({"humidity": (40.0, 500)}) == {}
    assert room.upper_end(0.5) <= room.upper_end(0.9) == estimates[-1].high <= room.upper_end(0.98)


def test_lags_of_refined_estimates(trained_room, estimator):
    """The default estimator refines after 10 and 20 min, Eq. (26) of the paper with every reading."""
    assert [trained_room.live().refines_after(lag) for lag in (0, 10, 20, 25)] == [True, True, True, False]
    assert [estimator.live().refines_after(lag) for lag in (0, 20, 25)] == [True] * 3


def test_single_reading_is_restored(trained_room, last_day):
    time, co2, ventilation = last_day.index[100], last_day["co2"].iloc[100], last_day["ventilation"].iloc[100]
    room, restored = trained_room.live(), trained_room.live()
    restored.restore([time.to_pydatetime()], np.array([co2]), np.array([ventilation]))
    assert restored.people.tolist() == [room.update(time, co2, ventilation).people]
