"""Rooms stepped together, against each of them alone."""

import datetime as dt
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import occupair as oc
from occupair import live_rooms as live_together
from occupair.errors import InputError
from occupair.live_rooms import LiveRooms, NextReading
from occupair.room.batch import batch_key

STEP = dt.timedelta(minutes=5)
EVENING = dt.datetime(2024, 1, 8, 21, 0, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.fixture(scope="module")
def estimators():
    """Rooms of two kinds of the default estimator, without ventilation, and of the paper."""
    found = []
    for seed in range(6):
        office = oc.simulate_office(days=3, seed=seed).iloc[::5]
        found.append(oc.OccupancyEstimator(n_hidden=20, random_state=seed % 2).fit(office))
        blind = office.drop(columns="ventilation")
        found.append(oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(blind))
        paper = oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, random_state=0)
        found.append(paper.fit(office))
    return found


def readings(seed, rooms, steps):
    """CO2 and ventilation that wander, of every room at every step."""
    draw = np.random.default_rng(seed)
    co2 = 500 + np.abs(np.cumsum(draw.normal(0, 15, (steps, rooms)), axis=0))
    return co2.tolist(), draw.uniform(0, 1, (steps, rooms)).tolist()


def assert_same(got, expected):
    assert (got.time, got.quality) == (expected.time, expected.quality)
    for one, other in zip(got[1:4], expected[1:4], strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_together_is_alone_over_midnight_and_gaps(estimators):
    rooms = [one.live() for one in estimators]
    others = [one.live() for one in estimators]
    together = LiveRooms(rooms)
    steps = 60  # until two in the morning
    co2, flow = readings(1, len(rooms), steps)
    skips = np.random.default_rng(2).random((steps, len(rooms))) < 0.1
    said = []
    for k in range(steps):
        time = EVENING + k * STEP
        which = np.flatnonzero(~skips[k])
        due = [NextReading(rooms[r], time, co2[k][r], flow[k][r]) for r in which]
        for r, got in zip(which, together.update(due), strict=True):
            expected = others[r].update(time, co2[k][r], flow[k][r])
            assert_same(got, expected)
            said.append(got.people)
    for room, other in zip(rooms, others, strict=True):
        np.testing.assert_allclose(room.people, other.people, rtol=0, atol=1e-9)
        assert room.co2_now == other.co2_now == other.co2_smoothed[-1]
    assert max(said) > 1


def test_default_rooms_really_go_as_one(estimators, monkeypatch):
    rooms = [one.live() for one in estimators[1::3]]
    together = LiveRooms(rooms)
    monkeypatch.setattr("occupair.room.model.RoomModel.people", None)  # what a room alone would call
    said = together.update([NextReading(room, EVENING, 600.0, None) for room in rooms])
    assert [one.quality for one in said] == ["starting"] * len(rooms)


def test_a_room_trained_later_is_estimated_alone(estimators):
    office = oc.simulate_office(days=3, seed=9).iloc[::5]
    late = oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(office)
    rooms = [one.live() for one in estimators[1::3]]
    together = LiveRooms(rooms)
    stranger, alone = late.live(), late.live()
    for k in range(10):
        time = EVENING + k * STEP
        due = [NextReading(room, time, 900.0 + 20 * k, 0.5) for room in [*rooms, stranger]]
        assert_same(together.update(due)[-1], alone.update(time, 900.0 + 20 * k, 0.5))


def test_what_is_wrong_with_one_room_stays_there(estimators):
    rooms, others = [one.live() for one in estimators], [one.live() for one in estimators]
    together = LiveRooms(rooms)
    bad = {0: float("nan"), 7: -5.0, 8: "much"}
    said = together.update(
        [NextReading(room, EVENING, bad.get(k, 600.0), 0.5) for k, room in enumerate(rooms)]
    )
    for k, (got, other) in enumerate(zip(said, others, strict=True)):
        if k in bad:
            assert isinstance(got, InputError)
            assert len(rooms[k]) == 0
        else:
            assert_same(got, other.update(EVENING, 600.0, 0.5))


def test_where_the_matrix_fails_rooms_are_estimated_alone(estimators, monkeypatch, caplog):
    rooms, others = ([one.live() for one in estimators[1::3]] for _ in range(2))
    together = LiveRooms(rooms)
    monkeypatch.setattr(live_together.StackedRooms, "people", lambda *_: 1 / 0)
    for got, other in zip(
        together.update([NextReading(room, EVENING, 600.0, None) for room in rooms]), others, strict=True
    ):
        assert_same(got, other.update(EVENING, 600.0))
    assert "together" in caplog.text


def test_nothing_due_says_nothing(estimators):
    assert LiveRooms([]).update([]) == []
    room = estimators[0].live()
    assert len(LiveRooms([]).update([NextReading(room, EVENING, 600.0, 0.5)])) == 1


def test_models_that_cannot_be_stacked_are_estimated_alone(estimators, monkeypatch, caplog):
    rooms, others = ([one.live() for one in estimators[1::3]] for _ in range(2))
    monkeypatch.setattr(live_together, "RoomBatch", lambda *_: 1 / 0)
    said = LiveRooms(rooms).update([NextReading(room, EVENING, 600.0, None) for room in rooms])
    for got, other in zip(said, others, strict=True):
        assert_same(got, other.update(EVENING, 600.0))
    assert "cannot be estimated together" in caplog.text


def test_models_are_of_one_kind_only_where_each_refinement_is(estimators):
    model = estimators[0].room_
    first, second, *rest = model.refinements
    moved = replace(first.balance, choices=first.balance.choices + second.balance.choices[:1])
    fewer = replace(second.balance, choices=second.balance.choices[1:])
    other = replace(model, refinements=(replace(first, balance=moved), replace(second, balance=fewer), *rest))
    assert (
        batch_key(model) == batch_key(estimators[6].room_) != batch_key(estimators[3].room_)
    )  # another draw
    assert batch_key(model) != batch_key(other)
