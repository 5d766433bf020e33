"""Optional sensors in the service: the estimates of the library, and a reason where one is missing."""

import datetime as dt
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import occupair as oc
from occupair.live.messages import Quality, Reading, ReadingOutcome, to_microseconds
from occupair.live.rooms.day_lows import co2_means
from occupair.live.rooms.engine import is_valid_reading, run_batched
from occupair.live.rooms.room import Model, Room
from occupair.live.rooms.room_models import load_model
from occupair.live.rooms.room_state import room_state
from occupair.live_rooms import LiveRooms
from occupair.model_file import dump_model
from occupair.readings.other_sensors import SENSOR_HOLD

UTC = dt.UTC


@pytest.fixture(scope="module")
def office():
    readings = oc.simulate_office(days=8, seed=3).iloc[::5].tz_localize("UTC")
    rng = np.random.default_rng(0)
    wifi = np.rint(0.8 * readings["occupancy"] + rng.normal(0, 0.5, len(readings)))
    return readings.assign(wifi=np.maximum(wifi, 0))


@pytest.fixture(scope="module")
def estimator(office):
    fitted = oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(office.iloc[: 7 * 288])
    assert fitted.sensor_names == ("wifi",)
    return fitted


@pytest.fixture(scope="module")
def day(office):
    return office.iloc[7 * 288 : 7 * 288 + 180]


@pytest.fixture
def room(estimator):
    return Room("lab", ZoneInfo("UTC"), Model(1, load_model(dump_model(estimator))))


def reading(time, co2=None, ventilation=None, **sensors):
    time = time.to_pydatetime()
    return Reading("lab", time, co2, ventilation, "mqtt", time, sensors)


def run(estimation):
    result = run_batched({"lab": estimation}, LiveRooms([]))["lab"]
    if isinstance(result, Exception):
        raise result
    return result


def feed(room, readings):
    """Add readings one by one and return the newest estimate of each time."""
    found = {}
    for one in readings:
        _, estimates = run(room.add_readings([one]))
        found |= {estimate.time: estimate for estimate in estimates}
    return [found[time] for time in sorted(found)]


def together(day):
    return [
        reading(t, row.co2, row.ventilation, wifi=row.wifi)
        for t, row in zip(day.index, day.itertuples(), strict=True)
    ]


def assert_same(estimates, expected):
    np.testing.assert_allclose([one.people for one in estimates], expected["people"], atol=1e-9)
    np.testing.assert_allclose([one.high for one in estimates], expected["high"], atol=1e-9)


def test_estimates_are_those_of_the_library(room, estimator, day):
    assert_same(feed(room, together(day)), estimator.estimate(day, interval=0.9))


def test_sensor_may_come_separately_before_or_after_co2(room, estimator, day):
    readings = []
    for number, (time, row) in enumerate(zip(day.index, day.itertuples(), strict=True)):
        parts = [reading(time, row.co2, row.ventilation), reading(time, wifi=row.wifi)]
        readings += parts if number % 2 else parts[::-1]
    estimates = feed(room, readings)
    assert_same(estimates, estimator.estimate(day, interval=0.9))


def test_late_sensor_reading_corrects_the_day(room, estimator, day):
    readings = together(day)
    late = readings.pop(100)
    readings.insert(100, reading(day.index[100], late.co2, late.ventilation))
    feed(room, readings)
    outcomes, estimates = run(room.add_readings([late]))
    assert outcomes == [ReadingOutcome.LATE]
    expected = estimator.estimate(day)
    assert estimates[0].time == day.index[100] - dt.timedelta(minutes=20)  # the refined one
    assert [one.people for one in estimates][4:] == pytest.approx(expected.to_numpy()[100:], abs=1e-9)
    assert run(room.add_readings([late]))[0] == [ReadingOutcome.DUPLICATE]


def test_sensor_is_held_and_then_missing(room, estimator, day):
    last = 100
    readings = together(day.iloc[:last]) + [
        reading(t, row.co2, row.ventilation)
        for t, row in zip(day.index[last:], day.iloc[last:].itertuples(), strict=True)
    ]
    estimates = feed(room, readings)
    held = day.copy()
    hold = int(SENSOR_HOLD / 5)
    held.iloc[last : last + hold, held.columns.get_loc("wifi")] = held["wifi"].iloc[last - 1]
    held.iloc[last - 1 + hold + 1 :, held.columns.get_loc("wifi")] = np.nan
    assert_same(estimates, estimator.estimate(held, interval=0.9))
    state = room_state(room, day.index[-1].to_pydatetime(), 15.0)
    assert state.quality is Quality.OK
    assert state.people is not None
    assert state.reason == "estimated without Wi-Fi clients: no recent reading"
    assert state.cause.text("de") == "ohne WLAN-Geräte geschätzt: kein aktueller Messwert"


def test_reason_is_empty_with_all_sensors(room, day):
    feed(room, together(day))
    assert room_state(room, day.index[-1].to_pydatetime(), 15.0).reason == ""


def test_restored_room_continues_with_its_sensors(room, estimator, day):
    readings = together(day)
    run(room.restore(readings[:150]))
    estimates = feed(room, readings[150:])[-30:]
    assert_same(estimates, estimator.estimate(day, interval=0.9).iloc[150:])


def test_sensors_that_the_model_does_not_use_change_nothing(room, day):
    feed(room, together(day.iloc[:50]))
    outcomes, estimates = run(room.add_readings([reading(day.index[20], humidity=40.0)]))
    assert outcomes == [ReadingOutcome.LATE]
    assert estimates == []


def test_validity_of_sensor_values(day):
    assert is_valid_reading(reading(day.index[0], humidity=40.0))
    assert not is_valid_reading(reading(day.index[0], co2=500.0, humidity=140.0))
    assert not is_valid_reading(reading(day.index[0], co2=500.0, pressure=1013.0))
    assert not is_valid_reading(reading(day.index[0]))


@pytest.fixture(scope="module")
def frozen(office):
    """The last two days, with Wi-Fi clients stuck from 12:30 on the first one to 15:00 on the second."""
    days = office.iloc[6 * 288 :].copy()
    days.iloc[150 : 288 + 180, days.columns.get_loc("wifi")] = 17.0
    return days


def test_sensor_stays_stuck_over_midnight(room, estimator, frozen):
    (rule,) = estimator.sensors_.stuck
    assert rule.limit < 10 * 60  # detected before midnight
    estimates = feed(room, together(frozen.iloc[: 288 + 100]))
    expected = estimator.estimate(frozen, interval=0.9)
    assert_same(estimates, expected.iloc[: 288 + 100])
    state = room_state(room, frozen.index[288 + 99].to_pydatetime(), 15.0)
    assert state.people is not None
    assert state.quality is Quality.OK
    assert state.reason == "estimated without Wi-Fi clients: Wi-Fi clients unchanged for too long"
    assert state.cause.text("de") == "ohne WLAN-Geräte geschätzt: WLAN-Geräte zu lange unverändert"
    assert_same(feed(room, together(frozen.iloc[288 + 100 :]))[-188:], expected.iloc[288 + 100 :])
    assert room_state(room, frozen.index[-1].to_pydatetime(), 15.0).reason == ""


@pytest.mark.parametrize("stop", [200, 285, 288, 289, 400, 480])
def test_restart_keeps_a_stuck_sensor(room, estimator, frozen, stop):
    readings = together(frozen)
    times = [to_microseconds(one.time) for one in readings[:stop]]
    means = list(co2_means(times, [one.co2 for one in readings[:stop]], np.ones(stop, dtype=bool)))
    run(room.restore(readings[:stop], (), means))
    estimates = feed(room, readings[stop:])[stop - len(readings) :]
    assert_same(estimates, estimator.estimate(frozen, interval=0.9).iloc[stop:])


def test_late_reading_of_the_day_before_ends_a_run(room, estimator, frozen):
    """Without the late reading, the sensor is stuck from midnight on; with it, later or never."""
    readings = together(frozen.iloc[: 288 + 60])
    place = 280
    late, readings[place] = readings[place], replace(readings[place], sensors={})
    late = replace(late, co2=None, ventilation=None, sensors={"wifi": 3.0})
    feed(room, readings)
    assert room.today.stuck_sensors == ("wifi",)
    outcomes, estimates = run(room.add_readings([late]))
    assert outcomes == [ReadingOutcome.TOO_LATE]
    corrected = frozen.iloc[: 288 + 60].copy()
    corrected.iloc[place, corrected.columns.get_loc("wifi")] = 3.0
    assert_same(estimates, estimator.estimate(corrected, interval=0.9).iloc[288:])
    assert room.today.stuck_sensors == ()
    assert run(room.add_readings([replace(late, time=late.time - dt.timedelta(hours=9))]))[1] == []
