"""Estimates of the default estimator: reference implementation, later readings, accuracy and limits."""

from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from room.small_estimator import small

import occupair as oc
from dense import RoomReference
from occupair.metrics import rmse
from occupair.room.stack import MEMBERS
from occupair.room.time_profile import TimeProfile

EARLIER = Path(__file__).parents[1] / "compatibility"


def with_refinements(model, **changes):
    """Return a trained model with changed refinements; ``weights`` are those of the members."""
    changed = copy(model)
    refinements = tuple(replace(one, **changes) for one in model.room_.refinements)
    changed.room_ = replace(model.room_, refinements=refinements)
    return changed


def only(model, member):
    """Return a trained model that uses a single member."""
    return with_refinements(model, weights=tuple(float(name == member) for name in MEMBERS))


def expected_at(model, readings, k, wait):
    """The reference implementation's estimate of reading k with ``wait`` later readings at most."""
    last = max(one for one in (0, 2, 4) if one <= wait and k + one < len(readings))
    refinement = next(one for one in model.room_.refinements if one.lag == last)
    known = readings.iloc[: k + last + 1]
    columns = (known[name].to_numpy() for name in ("co2", "ventilation"))
    return RoomReference(model, *columns, known.index).people(refinement)


@pytest.mark.parametrize("lag", [0, 10, 15, 20])
def test_estimates_match_reference_implementation(trained_room, last_day, lag):
    people = trained_room.estimate(last_day, lag=lag)
    wait = {0: 0, 10: 2, 15: 2, 20: 4}[lag]  # readings
    for k in [0, 1, 3, *range(85, 270, 12), 283, 284, 285, 286, 287]:
        assert people.iloc[k] == pytest.approx(expected_at(trained_room, last_day, k, wait), abs=1e-9), k
    assert people.max() > 5


@pytest.mark.parametrize("member", MEMBERS)
def test_estimates_of_each_member_match_reference_implementation(trained_room, last_day, member):
    model = only(trained_room, member)
    people = model.estimate(last_day, lag=20)
    for k in range(85, 270, 12):
        assert people.iloc[k] == pytest.approx(expected_at(model, last_day, k, 4), abs=1e-9), k
    assert people.max() > 5


@pytest.mark.parametrize(
    ("version", "column_set", "used"),
    [("2026-11", 1, ["network", "balance"]), ("2026-11-17", 2, ["network", "balance", "trees"])],
)
def test_estimates_of_earlier_models_match_reference_implementation(version, column_set, used):
    """Models with the first column set and without trees, and models without kernel and profile."""
    day = oc.read_readings(EARLIER / version / "day.csv", timezone="Europe/Copenhagen")
    model = oc.OccupancyEstimator.load(EARLIER / version / "room.occupair")
    assert model.room_.column_set == column_set
    weights = model.room_.refinements[0].weights
    assert [name for name, weight in zip(MEMBERS, weights, strict=True) if weight] == used
    people = model.estimate(day, lag=20)
    for k in range(85, 270, 12):
        assert people.iloc[k] == pytest.approx(expected_at(model, day, k, 4), abs=1e-9), k


def test_estimates_at_one_minute_match_reference_implementation(office):
    model = small().fit(office.iloc[: 2 * 1440])
    part = office.iloc[3 * 1440 + 480 : 3 * 1440 + 600]  # 8:00 to 10:00
    people = model.estimate(part)
    for k in (0, 5, 30, 119):
        columns = (part[name].to_numpy()[: k + 1] for name in ("co2", "ventilation"))
        reference = RoomReference(model, *columns, part.index[: k + 1])
        assert people.iloc[k] == pytest.approx(reference.people(model.room_.refinements[0]), abs=1e-9)


@pytest.mark.parametrize("member", [None, *MEMBERS])
@pytest.mark.parametrize("lag", [0, 10, 20])
def test_estimates_do_not_depend_on_later_readings(trained_room, last_day, lag, member):
    model = trained_room if member is None else only(trained_room, member)
    changed = last_day.copy()
    first = 150
    changed.iloc[first:, changed.columns.get_loc("co2")] += 500.0
    changed.iloc[first:, changed.columns.get_loc("ventilation")] = 0.5
    before, after = (model.estimate(readings, lag=lag, interval=0.9) for readings in (last_day, changed))
    untouched = first - lag // 5
    pd.testing.assert_frame_equal(after.iloc[:untouched], before.iloc[:untouched], check_exact=True)
    if member == "profile":  # it uses no reading at all; presence does
        assert after["people"].iloc[untouched] == before["people"].iloc[untouched]
    else:
        assert after["people"].iloc[untouched] != before["people"].iloc[untouched]


def test_refinement_reduces_error_and_beats_profile():
    readings = oc.simulate_office(days=9, seed=3).iloc[::5]
    model = small(n_hidden=30).fit(readings.iloc[: 6 * 288])
    test = readings.iloc[6 * 288 :]
    now, later = (rmse(test["occupancy"], model.estimate(test, lag=lag)) for lag in (0, 20))
    assert later < now < model.comparison_.profile_error


def test_coverage_on_unseen_days():
    """Intervals of a few days are rather too wide, because other days may have errors that these have not."""
    readings = oc.simulate_office(days=16, seed=4).iloc[::5]
    model = small().fit(readings.iloc[: 8 * 288])
    test = readings.iloc[8 * 288 :]
    for when in ({"lag": 0}, {"lag": 20}, {"mode": "hindsight"}):
        table = model.estimate(test, **when, interval=0.9)
        covered = test["occupancy"].between(table["low"], table["high"])
        assert 0.88 < covered.mean() < 0.98
        assert 0.85 < covered[test["occupancy"] > 0].mean() < 0.98


def test_no_lag_is_longer_than_the_longest_and_drifting_equals_live(trained_room, last_day):
    waited = trained_room.estimate(last_day, lag=20)
    pd.testing.assert_series_equal(
        trained_room.estimate(last_day, mode="drifting"), trained_room.estimate(last_day)
    )
    for lag in (25, 3000, 1e308):  # no longer wait gains anything
        pd.testing.assert_series_equal(trained_room.estimate(last_day, lag=lag), waited)


def test_estimates_restart_each_day_and_after_gaps(trained_room, slow_office):
    with_gaps = slow_office.iloc[2 * 288 :].drop(slow_office.index[3 * 288 + 150 : 3 * 288 + 156])
    parts = [with_gaps.iloc[:288], with_gaps.iloc[288 : 288 + 150], with_gaps.iloc[288 + 150 :]]
    for lag in (0, 20):
        combined = trained_room.estimate(with_gaps, lag=lag, interval=0.5)
        alone = [trained_room.estimate(part, lag=lag, interval=0.5) for part in parts]
        pd.testing.assert_frame_equal(combined, pd.concat(alone))


def test_estimates_are_clamped_to_limit(trained_room, last_day):
    rng, limit = np.random.default_rng(0), trained_room.room_.people_limit
    for most in (9000, 1e6):
        wild = last_day.assign(co2=rng.uniform(0, most, 288), ventilation=rng.uniform(0, 1, 288))
        for lag in (0, 10, 20):
            table = trained_room.estimate(wild, lag=lag, interval=0.9)
            assert table["people"].between(0, limit).all()
            assert (table["low"] >= 0).all()
            assert table["people"].between(table["low"], table["high"]).all()


@pytest.mark.parametrize("lag", [0, 10, 20])
def test_closed_hours_decide_whatever_the_members_estimate(trained_room, last_day, lag):
    """Five people by the profile at any time, and always present: nobody in closed hours."""
    model = with_refinements(only(trained_room, "profile"), threshold=-1e9)
    model.room_ = replace(model.room_, profile=TimeProfile(np.full((2, 96), 5.0)), evidence_thresholds=None)
    people = model.estimate(last_day, lag=lag)
    minute = last_day.index.hour * 60 + last_day.index.minute
    is_open = model.room_.hours.is_open[0, minute]
    assert 50 < is_open.sum() < 250
    np.testing.assert_array_equal(people, np.where(is_open, 5.0, 0.0))


@pytest.mark.parametrize("member", MEMBERS)
def test_every_member_is_clamped_to_limit(trained_room, last_day, member):
    rng, limit = np.random.default_rng(0), trained_room.room_.people_limit
    wild = last_day.assign(co2=rng.uniform(0, 9000, 288), ventilation=rng.uniform(0, 1, 288))
    model = only(trained_room, member)
    one = trained_room.room_.refinements[0]
    if member == "trees":  # their values are averages of head counts, which never exceed the maximum
        model = with_refinements(model, trees=replace(one.trees, value=100 * one.trees.value))
    if member == "kernel":  # bounded as well
        model = with_refinements(model, kernel=replace(one.kernel, coef=100 * one.kernel.coef))
    if member == "profile":
        profile = TimeProfile(100 * trained_room.room_.profile.people)
        model.room_ = replace(model.room_, profile=profile)
    for lag in (0, 10, 20):
        people = model.estimate(wild, lag=lag)
        assert people.between(0, limit).all()
        assert people.max() == pytest.approx(limit)


def test_episodes_of_one_and_two_readings(trained_room, slow_office, last_day):
    for n in (2, 3):
        assert trained_room.estimate(last_day.iloc[120 : 120 + n], lag=20).size == n
    short = pd.concat([slow_office.iloc[: 2 * 288], slow_office.iloc[2 * 288 + 120 : 2 * 288 + 121]])
    shorter = pd.concat([short, slow_office.iloc[3 * 288 + 120 : 3 * 288 + 122]])
    model = small().fit(shorter)
    assert model.estimate(shorter, lag=20, interval=0.9).notna().all(axis=None)
