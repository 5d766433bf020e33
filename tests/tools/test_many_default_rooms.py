"""Many default rooms in shared arrays equal separate rooms."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from tools.speed.many_default_rooms import ManyDefaultRooms


@pytest.fixture(scope="module")
def offices():
    return [oc.simulate_office(days=5, seed=seed).iloc[::5] for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def estimators(offices):
    """Trained rooms that do not follow drift, which takes more than one reading."""
    fitted = [
        oc.OccupancyEstimator(random_state=0, n_hidden=20).fit(office.iloc[: (2 + k) * 288])
        for k, office in enumerate(offices)
    ]
    for one in fitted:
        one.room_ = replace(one.room_, baseline=None)
    return fitted


def alone(estimators, readings):
    """People, low and high of each room on its own, one array per room."""
    rooms = [estimator.live() for estimator in estimators]
    estimates = [
        [room.update(time.to_pydatetime(), co2, flow) for time, co2, flow in zip(*columns, strict=True)]
        for room, columns in zip(rooms, readings, strict=True)
    ]
    return np.array([[(one.people, one.low, one.high) for one in room] for room in estimates])


def test_equals_separate_rooms_over_two_days(offices, estimators):
    days = [office.iloc[-2 * 288 :] for office in offices]
    rooms = ManyDefaultRooms([estimator.room_ for estimator in estimators])
    steps = [
        rooms.update(
            pd.DatetimeIndex([day.index[k] for day in days]),
            np.array([day["co2"].iloc[k] for day in days]),
            np.array([day["ventilation"].iloc[k] for day in days]),
        )
        for k in range(2 * 288)
    ]
    batched = np.array([(step.people, step.low, step.high) for step in steps]).transpose(2, 0, 1)
    expected = alone(estimators, [(day.index, day["co2"], day["ventilation"]) for day in days])
    np.testing.assert_allclose(batched, expected, atol=1e-9)
    assert batched.max() > 3
    for k, estimator in enumerate(estimators):
        later = estimator.estimate(days[k], lag=20).to_numpy()
        refined = np.array([step.refined[4][k] for step in steps])
        np.testing.assert_allclose(refined[4:288], later[: 288 - 4], atol=1e-9)
        assert np.isnan(refined[:4]).all()
        assert np.isnan(refined[288 : 288 + 4]).all()


def test_rooms_with_different_times_and_gaps(offices, estimators):
    day = offices[0].iloc[-288:]
    rng = np.random.default_rng(0)
    rooms = ManyDefaultRooms([estimator.room_ for estimator in estimators])
    estimates = [[] for _ in estimators]
    taken = [[] for _ in estimators]
    for k, (time, row) in enumerate(day.iterrows()):
        which = np.flatnonzero(rng.random(3) < 0.9)[::-1]
        if which.size:
            step = rooms.update(time, row["co2"] + which, np.full(which.size, row["ventilation"]), which)
            for room, people in zip(which, step.people, strict=True):
                estimates[room].append(people)
                taken[room].append(k)
    for room, estimator in enumerate(estimators):
        own = day.iloc[taken[room]]
        expected = estimator.estimate(own.assign(co2=own["co2"] + room))
        np.testing.assert_allclose(estimates[room], expected, atol=1e-9)


def test_more_rooms_than_a_chunk(estimators, monkeypatch):
    monkeypatch.setattr("tools.speed.many_default_rooms._CHUNK", 4)
    rooms = ManyDefaultRooms([estimators[k % 3].room_ for k in range(10)])
    co2 = np.linspace(400, 1500, 10)
    for minute in range(0, 60, 5):
        step = rooms.update(pd.Timestamp("2024-01-08 10:00") + pd.Timedelta(minutes=minute), co2 + minute)
    for k in range(10):
        one = ManyDefaultRooms([estimators[k % 3].room_])
        for minute in range(0, 60, 5):
            time = pd.Timestamp("2024-01-08 10:00") + pd.Timedelta(minutes=minute)
            own = one.update(time, co2[k : k + 1] + minute)
        assert own.people[0] == pytest.approx(step.people[k], abs=1e-9)
    assert step.started.all()


def test_dst_change(offices, estimators):
    times = pd.date_range("2024-03-31", periods=23 * 12, freq="5min", tz="Europe/Copenhagen")
    co2 = offices[0]["co2"].to_numpy()[-23 * 12 :]
    rooms = ManyDefaultRooms([estimators[0].room_])
    people = [
        rooms.update(time, np.array([c]), np.ones(1)).people[0] for time, c in zip(times, co2, strict=True)
    ]
    day = pd.DataFrame({"co2": co2, "ventilation": 1.0}, index=times)
    np.testing.assert_allclose(people, estimators[0].estimate(day), atol=1e-9)


def test_incompatible_models_raise(offices, estimators):
    with pytest.raises(oc.InputError, match="models must contain at least one trained room"):
        ManyDefaultRooms([])
    other = oc.OccupancyEstimator(random_state=1, n_hidden=20).fit(offices[0].iloc[:288])
    with pytest.raises(
        oc.InputError, match="must share one random layer: train them with the same random_state"
    ):
        ManyDefaultRooms([estimators[0].room_, other.room_])
    rough = oc.OccupancyEstimator(random_state=0, n_hidden=20, smoothing=50).fit(offices[0].iloc[:288])
    with pytest.raises(oc.InputError, match="models must all have the same interval and the same smoothing"):
        ManyDefaultRooms([estimators[0].room_, rough.room_])


def test_invalid_readings_raise_and_change_nothing(estimators):
    rooms = ManyDefaultRooms([estimators[0].room_, estimators[1].room_])
    time, co2 = pd.Timestamp("2024-01-08 10:00"), np.array([500.0, 600.0])
    rooms.update(time, co2)
    for arguments, message in [
        ((time, co2), "times must be increasing, room 0 already has a reading at this time or later"),
        ((time + pd.Timedelta("5min"), co2[:1]), "co2 and ventilation must have 2 values, one per room"),
        ((time + pd.Timedelta("5min"), co2 * np.nan), "co2 and ventilation must be finite numbers"),
        ((pd.DatetimeIndex([time] * 3), co2), "time must be one for all rooms or one per room, 2, got 3"),
    ]:
        with pytest.raises(oc.InputError, match=message):
            rooms.update(*arguments)
    fresh = ManyDefaultRooms([estimators[0].room_, estimators[1].room_])
    fresh.update(time, co2)
    later = time + pd.Timedelta("5min")
    np.testing.assert_array_equal(rooms.update(later, co2).people, fresh.update(later, co2).people)
