"""A batch of rooms with the paper's estimator against single rooms."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import occupair as oc
from tools.speed.many_paper_rooms import ManyPaperRooms


@pytest.fixture(scope="module")
def offices():
    return [oc.simulate_office(days=3, seed=seed).iloc[::5] for seed in (1, 2, 3)]


def trained(offices, **changes):
    paper = oc.OccupancyEstimator.paper(**({"n_hidden": 40, "n_draws": 1, "random_state": 0} | changes))
    return [clone(paper).fit(office.iloc[: (1 + k % 2) * 288]) for k, office in enumerate(offices)]


@pytest.mark.parametrize(
    "changes", [{}, {"smoothing": 0}, {"smoothing": 500}, {"layer": "elm", "smoothing": 0}, {"horizon": 60}]
)
def test_batch_matches_single_rooms_over_two_days(offices, changes):
    estimators = trained(offices, **changes)
    days = [office.iloc[-288 - 60 :] for office in offices]
    rooms = ManyPaperRooms(estimators)
    batch = [
        rooms.update(
            pd.DatetimeIndex([day.index[k] for day in days]),
            np.array([day["co2"].iloc[k] for day in days]),
            np.array([day["ventilation"].iloc[k] for day in days]),
        )
        for k in range(288 + 60)
    ]
    for k, (estimator, day) in enumerate(zip(estimators, days, strict=True)):
        people = np.array(batch)[:, k]
        np.testing.assert_allclose(people, estimator.estimate(day), atol=1e-6)
        room = estimator.live()
        for time, co2, flow in zip(day.index, day["co2"], day["ventilation"], strict=True):
            room.update(time.to_pydatetime(), co2, flow)
        recent = rooms.people()[k, -20:]
        np.testing.assert_allclose(recent, room.people[-recent.size :], atol=1e-6)
    assert np.max(batch) > 3


def test_subsets_of_rooms_with_gaps(offices, monkeypatch):
    monkeypatch.setattr("tools.speed.many_paper_rooms._BLOCK", 2)
    estimators = trained(offices)
    day, rng = offices[0].iloc[-288:], np.random.default_rng(0)
    rooms = ManyPaperRooms(estimators)
    estimates, positions = [[], [], []], [[], [], []]
    for k, (time, row) in enumerate(day.iterrows()):
        which = np.flatnonzero(rng.random(3) < 0.97)[::-1]
        if which.size:
            people = rooms.update(time, row["co2"] + which, np.full(which.size, row["ventilation"]), which)
            for room, estimate in zip(which, people, strict=True):
                estimates[room].append(estimate)
                positions[room].append(k)
    for room, estimator in enumerate(estimators):
        own = day.iloc[positions[room]]
        expected = estimator.estimate(own.assign(co2=own["co2"] + room))
        np.testing.assert_allclose(estimates[room], expected, atol=1e-6)


def test_taken_rooms_continue_unchanged(offices):
    day, rooms = offices[0].iloc[-288:], ManyPaperRooms(trained(offices))
    spread = np.array([0.0, 50.0, 100.0])
    for time, row in day.iloc[:150].iterrows():
        rooms.update(time, row["co2"] + spread, np.full(3, row["ventilation"]))
    which = np.array([2, 0, 2])
    taken = rooms.take(which)
    for time, row in day.iloc[150:].iterrows():
        expected = rooms.update(time, row["co2"] + spread, np.full(3, row["ventilation"]))
        got = taken.update(time, row["co2"] + spread[which], np.full(3, row["ventilation"]))
        np.testing.assert_allclose(got, expected[which], rtol=0, atol=1e-12)
    with pytest.raises(oc.InputError, match="times must be increasing"):
        taken.update(day.index[200], np.full(3, 500.0), np.ones(3))


def test_spikes_steps_and_clamps_stay_within_tolerance(offices):
    estimators = trained(offices)
    rng = np.random.default_rng(1)
    co2 = 450 + 400 * (np.arange(288) // 40 % 2) + 3000 * (rng.random(288) < 0.02) + rng.normal(size=288)
    times = offices[0].index[-288:]
    for still, tolerance in ((1e-7, 1e-6), (1e-4, 1e-3)):
        rooms = ManyPaperRooms(estimators, still=still)
        people = np.array(
            [rooms.update(t, np.full(3, c), np.ones(3)) for t, c in zip(times, co2, strict=True)]
        )
        wild = pd.DataFrame({"co2": co2, "ventilation": 1.0}, index=times)
        for k, estimator in enumerate(estimators):
            np.testing.assert_allclose(people[:, k], estimator.estimate(wild), atol=tolerance)
    assert people.min() == 0
    assert people.max() == max(estimator.most_people_ for estimator in estimators)


def test_incompatible_estimators_are_rejected(offices):
    estimators = trained(offices)
    for others, message in [
        ([], "estimators must contain at least one trained estimator"),
        (trained(offices, random_state=1)[:1], "estimators must share one random layer"),
        (
            trained(offices, smoothing=10)[:1],
            "estimators must have the same interval, layer and smoothing",
        ),
        (
            [oc.OccupancyEstimator(n_hidden=5).fit(offices[0])],
            "estimators must have one of the paper's layers",
        ),
    ]:
        with pytest.raises(oc.InputError, match=message):
            ManyPaperRooms(others and [estimators[0], *others])
