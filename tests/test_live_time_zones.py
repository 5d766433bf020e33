"""Live estimates agree with ``estimate`` in every time zone, also when the clock changes, or both refuse."""

import datetime as dt
from copy import copy
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occupair as oc
from occupair.live_rooms import LiveRooms, NextReading
from occupair.model_file import dump_model, parse_model

ZONES = ["UTC", "Europe/Copenhagen", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Etc/GMT+5"]
STARTS = ["2024-03-30", "2024-10-26", "2024-03-09", "2024-11-02", "2024-04-06", "2024-10-05", "2024-01-12"]
STEPS = 2 * 144  # two days, every ten minutes
REFUSED = (
    r"times are in UTC, but the model was trained on local times: convert them to the time zone of the room"
)


@pytest.fixture(scope="module")
def models(office):
    """Models with and without prediction intervals, trained on local times."""
    train = office.iloc[: 3 * 1440 : 10]
    room = oc.OccupancyEstimator(n_hidden=15, random_state=0)
    paper = oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, random_state=0)
    return [room.fit(train), paper.fit(train)]


def trained_in(model, zone):
    """Return the model as if trained in a time zone, through a model file."""
    model = copy(model)
    model.timezone_ = zone
    return parse_model(dump_model(model))


def air(times, seed=0):
    rng = np.random.default_rng(seed)
    hour = np.arange(len(times)) / 6
    co2 = 600 + 250 * np.sin(2 * np.pi * hour / 11) + rng.normal(0, 5, len(times))
    return pd.DataFrame({"co2": co2, "ventilation": np.round(rng.random(len(times)), 1)}, index=times)


def live(model, readings, convert=lambda time: time):
    room = model.live()
    rows = zip(readings.index, readings["co2"], readings["ventilation"], strict=True)
    return [room.update(convert(time), co2, ventilation).people for time, co2, ventilation in rows]


@given(
    trained=st.sampled_from([*ZONES, "UTC+01:00"]),
    given_in=st.sampled_from([*ZONES, "+02:00"]),
    start=st.sampled_from(STARTS),
    paper=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=15, deadline=None, derandomize=True)
def test_live_agrees_with_estimate_in_any_zone(models, trained, given_in, start, paper, seed):
    model = trained_in(models[paper], trained)
    times = pd.date_range(start, periods=STEPS, freq="10min", tz=trained)
    local = air(times.delete(range(100, 104)), seed)  # with a gap
    zone = dt.timezone(dt.timedelta(hours=2)) if given_in == "+02:00" else ZoneInfo(given_in)
    expected = model.estimate(local)
    other = local.tz_convert(zone)
    np.testing.assert_allclose(model.estimate(other), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(live(model, other), expected, rtol=0, atol=1e-9)
    plain = live(model, other, lambda time: time.to_pydatetime())
    np.testing.assert_allclose(plain, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("zone", ["Europe/Copenhagen", "America/New_York"])
def test_midnight_is_that_of_training(models, zone):
    """At midnight in the time zone of training the room starts empty, whatever zone the times are in."""
    model = trained_in(models[0], zone)
    times = pd.date_range("2024-01-08 20:00", periods=36, freq="10min", tz=zone)
    room = model.live()
    for time in times.tz_convert("UTC"):
        room.update(time, 900.0, 0.5)
    assert len(room) == 12  # readings since midnight at 00:00 there


def test_estimate_has_the_time_as_given(models):
    noon = dt.datetime(2024, 1, 8, 12, tzinfo=dt.UTC)
    assert trained_in(models[0], "Asia/Tokyo").live().update(noon, 500.0, 0.5).time is noon


@pytest.mark.parametrize("zone", [None, "Europe/Copenhagen"])
@pytest.mark.parametrize("start", ["2024-01-12", "2024-03-30"])
def test_times_without_zone_are_local_times(models, zone, start):
    """In spring the local clock skips an hour, which is a gap for both."""
    aware = pd.date_range(start, periods=STEPS, freq="10min", tz="Europe/Copenhagen")
    readings = air(aware.tz_localize(None))
    for model in models:
        model = trained_in(model, zone)
        np.testing.assert_allclose(live(model, readings), model.estimate(readings), rtol=0, atol=1e-9)


def test_repeated_hour_without_zone_is_refused_by_both(models):
    aware = pd.date_range("2024-10-26", periods=STEPS, freq="10min", tz="Europe/Copenhagen")
    readings = air(aware.tz_localize(None))
    model = trained_in(models[0], "Europe/Copenhagen")
    message = (
        r"times must increase, got 2024-10-27 02:00:00 after 2024-10-27 02:50:00 \(if the clocks changed,"
    )
    with pytest.raises(oc.InputError, match=message):
        model.estimate(readings)
    with pytest.raises(oc.InputError, match=message):
        live(model, readings)


@pytest.mark.parametrize("utc", [dt.UTC, ZoneInfo("UTC"), ZoneInfo("Etc/UTC"), dt.timezone(dt.timedelta(0))])
def test_utc_is_refused_by_both_if_the_zone_of_training_is_unknown(models, utc):
    readings = air(pd.date_range("2024-01-12", periods=STEPS, freq="10min", tz=utc))
    for model in models:
        with pytest.raises(oc.InputError, match=f"^readings: {REFUSED}"):
            model.estimate(readings)
        with pytest.raises(oc.InputError, match=f"^time: {REFUSED}"):
            live(model, readings)
        assert model.live(local=True).update(readings.index[0], 500.0, 0.5).quality == "starting"


@pytest.mark.parametrize("zone", ["Europe/Copenhagen", "America/New_York"])
@pytest.mark.parametrize("start", ["2024-03-30", "2024-10-26", "2024-11-02"])
def test_zone_of_the_room_completes_a_model_without_one(models, zone, start):
    readings = air(pd.date_range(start, periods=STEPS, freq="10min", tz=zone))
    for model in models:
        np.testing.assert_allclose(live(model, readings), model.estimate(readings), rtol=0, atol=1e-9)


def test_batch_of_rooms_agrees_with_estimate_in_another_zone(models):
    times = pd.date_range("2024-03-30", periods=STEPS, freq="10min", tz="Europe/Copenhagen")
    for model in models:
        model = trained_in(model, "Europe/Copenhagen")
        tables = [air(times, seed) for seed in range(5)]
        rooms = [model.live() for _ in tables]
        batch = LiveRooms(rooms)
        people = [
            [
                one.people
                for one in batch.update(
                    [
                        NextReading(
                            room, time, float(table["co2"].iloc[k]), float(table["ventilation"].iloc[k])
                        )
                        for room, table in zip(rooms, tables, strict=True)
                    ]
                )
            ]
            for k, time in enumerate(times.tz_convert("Asia/Tokyo"))
        ]
        expected = np.column_stack([model.estimate(table) for table in tables])
        np.testing.assert_allclose(people, expected, rtol=0, atol=1e-9)
