"""Batched updates of live rooms equal separate updates."""

import datetime as dt
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import occupair as oc
from occupair import live_rooms
from occupair.errors import InputError
from occupair.live_rooms import LiveRooms, NextReading
from occupair.room.batch import RoomBatch, batch_key
from occupair.room.inputs import concatenate_inputs
from occupair.room.live_day import RoomDay

STEP = dt.timedelta(minutes=5)
EVENING = dt.datetime(2024, 1, 8, 21, 0, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.fixture(scope="module")
def estimators():
    """Default rooms with two random layers, default rooms without ventilation, and rooms of the paper."""
    found = []
    for seed in range(5):
        office = oc.simulate_office(days=2, seed=seed).iloc[::5]
        found.append(oc.OccupancyEstimator(n_hidden=20, random_state=seed % 2).fit(office))
        without_ventilation = office.drop(columns="ventilation")
        found.append(oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(without_ventilation))
        paper = oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, random_state=0)
        found.append(paper.fit(office))
    return found


def readings(seed, rooms, steps):
    """Random walks of CO2 and ventilation, for every room and step."""
    draw = np.random.default_rng(seed)
    co2 = 500 + np.abs(np.cumsum(draw.normal(0, 15, (steps, rooms)), axis=0))
    return co2.tolist(), draw.uniform(0, 1, (steps, rooms)).tolist()


def assert_same(got, expected):
    assert (got.time, got.quality) == (expected.time, expected.quality)
    for one, other in zip(got[1:4], expected[1:4], strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_batched_updates_equal_single_updates_across_midnight_and_gaps(estimators):
    rooms = [one.live() for one in estimators]
    others = [one.live() for one in estimators]
    batched = LiveRooms(rooms)
    steps = 60  # until two in the morning
    co2, flow = readings(1, len(rooms), steps)
    skips = np.random.default_rng(2).random((steps, len(rooms))) < 0.1
    estimates = []
    for k in range(steps):
        time = EVENING + k * STEP
        which = np.flatnonzero(~skips[k])
        due = [NextReading(rooms[r], time, co2[k][r], flow[k][r]) for r in which]
        for r, got in zip(which, batched.update(due), strict=True):
            expected = others[r].update(time, co2[k][r], flow[k][r])
            assert_same(got, expected)
            assert rooms[r].upper_end(0.6) == pytest.approx(others[r].upper_end(0.6), abs=1e-9)
            estimates.append(got.people)
    for room, other in zip(rooms, others, strict=True):
        np.testing.assert_allclose(room.people, other.people, rtol=0, atol=1e-9)
        assert room.co2_now == other.co2_now == other.co2_smoothed[-1]
    assert max(estimates) > 1


def test_default_rooms_are_evaluated_as_one_batch(estimators, monkeypatch):
    rooms = [one.live() for one in estimators[1::3]]
    batched = LiveRooms(rooms)
    monkeypatch.setattr("occupair.room.model.RoomModel.people", None)  # used by single updates
    estimates = batched.update([NextReading(room, EVENING, 600.0, None) for room in rooms])
    assert [one.quality for one in estimates] == ["starting"] * len(rooms)


def test_room_with_unknown_model_is_updated_alone(estimators):
    office = oc.simulate_office(days=3, seed=9).iloc[::5]
    late = oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(office)
    rooms = [one.live() for one in estimators[1::3]]
    batched = LiveRooms(rooms)
    unknown, alone = late.live(), late.live()
    for k in range(10):
        time = EVENING + k * STEP
        due = [NextReading(room, time, 900.0 + 20 * k, 0.5) for room in [*rooms, unknown]]
        assert_same(batched.update(due)[-1], alone.update(time, 900.0 + 20 * k, 0.5))


def test_error_in_one_room_does_not_affect_others(estimators):
    rooms, others = [one.live() for one in estimators], [one.live() for one in estimators]
    batched = LiveRooms(rooms)
    bad = {0: float("nan"), 7: -5.0, 8: "much"}
    estimates = batched.update(
        [NextReading(room, EVENING, bad.get(k, 600.0), 0.5) for k, room in enumerate(rooms)]
    )
    for k, (got, other) in enumerate(zip(estimates, others, strict=True)):
        if k in bad:
            assert isinstance(got, InputError)
            assert len(rooms[k]) == 0
        else:
            assert_same(got, other.update(EVENING, 600.0, 0.5))


def test_failed_batch_falls_back_to_single_updates(estimators, monkeypatch, caplog):
    rooms, others = ([one.live() for one in estimators[1::3]] for _ in range(2))
    batched = LiveRooms(rooms)
    monkeypatch.setattr(live_rooms.RoomBatch, "people", lambda *_: 1 / 0)
    for got, other in zip(
        batched.update([NextReading(room, EVENING, 600.0, None) for room in rooms]), others, strict=True
    ):
        assert_same(got, other.update(EVENING, 600.0))
    assert "batch update of 5 rooms failed" in caplog.text


def test_failure_of_one_day_is_returned_for_its_room_only(estimators, monkeypatch):
    rooms, others = ([one.live() for one in estimators[2::3]] for _ in range(2))
    failure = ZeroDivisionError("division by zero")

    def fail(*_):
        raise failure

    monkeypatch.setattr(rooms[2].day, "append", fail)
    estimates = LiveRooms(rooms).update([NextReading(room, EVENING, 600.0, 0.5) for room in rooms])
    assert estimates[2] is failure
    for k in (0, 1, 3, 4):
        assert_same(estimates[k], others[k].update(EVENING, 600.0, 0.5))


def test_no_readings_give_no_estimates(estimators):
    assert LiveRooms([]).update([]) == []
    room = estimators[0].live()
    assert len(LiveRooms([]).update([NextReading(room, EVENING, 600.0, 0.5)])) == 1


def test_models_that_cannot_be_batched_are_updated_alone(estimators, monkeypatch, caplog):
    rooms, others = ([one.live() for one in estimators[1::3]] for _ in range(2))
    monkeypatch.setattr(live_rooms, "RoomBatch", lambda *_: 1 / 0)
    estimates = LiveRooms(rooms).update([NextReading(room, EVENING, 600.0, None) for room in rooms])
    for got, other in zip(estimates, others, strict=True):
        assert_same(got, other.update(EVENING, 600.0))
    assert "cannot batch 5 rooms" in caplog.text


def test_batch_key_differs_between_random_layers(estimators):
    model, same_layer, other_layer = (estimators[k].room_ for k in (0, 6, 3))
    assert batch_key(model) == batch_key(same_layer) != batch_key(other_layer)
    with pytest.raises(InputError, match=r"models must share one random layer: train .* same random_state"):
        RoomBatch([model, other_layer], 0.9)


def test_models_with_different_balance_variants_are_batched(estimators):
    models = [estimators[k].room_ for k in (0, 6, 12)]
    first, *rest = models[0].refinements
    variants = tuple(replace(one, weight=one.weight / 2) for one in first.balance.variants)
    other = replace(first, balance=replace(first.balance, variants=variants[:-1] + 2 * variants[-1:]))
    models[0] = replace(models[0], refinements=(other, *rest))
    co2, ventilation = readings(3, len(models), 40)
    alone, batched = ([RoomDay(model) for model in models] for _ in range(2))
    batch = RoomBatch(models, 0.9)
    for k in range(40):
        time = EVENING - (40 - k) * STEP
        inputs = []
        for n, (day, other_day) in enumerate(zip(alone, batched, strict=True)):
            day.append(co2[k][n], ventilation[k][n], time)
            inputs.append(other_day.add_reading(co2[k][n], ventilation[k][n], time))
        seen = np.full(len(models), k + 1)
        found = batch.people(concatenate_inputs(inputs), np.arange(len(models)), seen)
        assert found.people == pytest.approx([day.people[-1] for day in alone], abs=1e-9)


def test_models_with_different_lags_are_not_batched(estimators):
    model = estimators[0].room_
    other = replace(model, lags=(0.0, 10.0, 24.0))  # in readings the same
    assert batch_key(model) != batch_key(other)
    with pytest.raises(InputError, match="models must all have the same lags"):
        RoomBatch([model, other], 0.9)
