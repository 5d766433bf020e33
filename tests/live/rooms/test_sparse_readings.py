"""A room whose sensor sends every 10 or 15 min and loses readings, with a model trained on every minute."""

import datetime as dt
import random
from itertools import groupby
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from live.rooms.stored_room import StoredRoom, assert_same, readings_of, run

import occupair as oc
from occupair.live.messages import Quality, ReadingOutcome
from occupair.live.rooms.room import Model, Room
from occupair.live.rooms.room_models import load_model
from occupair.live.rooms.room_state import room_state
from occupair.model_file import dump_model
from occupair.readings.gaps import default_gap

UTC, ZONE = dt.UTC, ZoneInfo("Europe/Copenhagen")
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=4, seed=3).tz_localize("Europe/Copenhagen")


@pytest.fixture(scope="module")
def estimator(office):
    return oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(office.iloc[: 2 * 1440])


@pytest.fixture(scope="module")
def model(estimator):
    return Model(1, load_model(dump_model(estimator)))


def sent(office, every, lost=0.1):
    """Return two days of uplinks: a reading about every ``every`` minutes, some seconds late, some lost."""
    draw = np.random.default_rng(0)
    kept = office.iloc[2 * 1440 + 4 :: every][["co2", "ventilation"]]
    late = pd.to_timedelta(draw.integers(1, 40, len(kept)), unit="s")
    return kept.set_axis(kept.index + late)[draw.random(len(kept)) >= lost]


def library(estimator, readings, every, **options):
    """Return the estimates of the library from the same readings, on the grid of the model."""
    grid = oc.read_readings(readings, interval=1, longest_gap=default_gap(every), ventilation_full=1.0)
    return estimator.estimate(grid, **options)


@pytest.mark.parametrize("every", [10, 15])
def test_estimates_match_the_library_on_the_same_readings(estimator, model, office, every):
    readings = sent(office, every)
    assert readings.index.diff().max() > 1.5 * every * MINUTE  # some are lost
    lab = StoredRoom(Room("lab", ZONE, model, sent_every=every)).add(readings_of(readings))
    expected, refined = (library(estimator, readings, every, lag=lag) for lag in (0, 20))
    people = {time.astimezone(UTC): value for time, value in expected.items()}
    found = {time: one.people for time, one in lab.estimates.items() if time in people}
    assert len(found) == len(people)
    known = {time: value for time, value in found.items() if value is not None}
    assert len(known) > 0.98 * len(people)
    np.testing.assert_allclose(list(known.values()), [people[time] for time in known], rtol=0, atol=1e-9)
    assert max(known.values()) > 2
    later = {time.astimezone(UTC): value for time, value in refined.items()}
    revised = {
        time: one.people_refined[0]
        for time, one in lab.estimates.items()
        if one.people_refined[0] is not None and time + 20 * MINUTE in people
    }
    assert len(revised) > 0.9 * len(people)
    np.testing.assert_allclose(list(revised.values()), [later[time] for time in revised], rtol=0, atol=1e-9)


def test_no_estimate_depends_on_later_readings(model, office):
    room, first = Room("lab", ZONE, model, sent_every=15), {}
    for one in readings_of(sent(office, 15).iloc[20:80]):
        _, estimates = run(room.add_readings([one]))
        for estimate in estimates:
            made = first.setdefault(estimate.time, estimate)
            assert (made.people, made.low, made.high) == (estimate.people, estimate.low, estimate.high)


def test_late_and_repeated_uplinks_change_no_estimate(model, office):
    readings = readings_of(sent(office, 10).iloc[30:90])
    expected = StoredRoom(Room("lab", ZONE, model, sent_every=10)).add(readings)
    draw = random.Random(1)
    mixed = sorted([*readings, *readings[::7]], key=lambda one: one.time + draw.randint(0, 50) * MINUTE)
    lab = StoredRoom(Room("lab", ZONE, model, sent_every=10)).add(mixed)
    assert {ReadingOutcome.LATE, ReadingOutcome.DUPLICATE} <= set(lab.outcomes)
    assert_same(dict(sorted(lab.estimates.items())), dict(sorted(expected.estimates.items())))


def states(room, readings, **options):
    """Return the state of a room at every minute while readings arrive."""
    waiting, found, now = readings_of(readings), [], readings.index[0].ceil("min").to_pydatetime()
    while waiting:
        while waiting and waiting[0].time <= now:
            run(room.add_readings([waiting.pop(0)]))
        found.append(room_state(room, now.astimezone(UTC), **options))
        now += MINUTE
    return found


@pytest.mark.parametrize("every", [10, 15])
def test_lost_uplinks_do_not_make_the_room_offline(model, office, every):
    readings = sent(office, every).iloc[:90]
    assert readings.index.diff().max() < default_gap(every) * MINUTE
    later = states(Room("lab", ZONE, model, sent_every=every), readings)[60:]
    assert {state.quality for state in later} <= {Quality.OK, Quality.STARTING}  # starting after midnight
    assert all(state.people is not None for state in later)
    fixed = states(Room("lab", ZONE, model, sent_every=every), readings, stale_after=every)
    flips = [quality for quality, _ in groupby(state.quality for state in fixed)]
    assert flips.count(Quality.STALE) > 5  # with a limit of one interval it would be, again and again


def test_room_is_offline_once_the_gap_is_no_longer_bridged(model, office):
    readings = sent(office, 15, lost=0.0).iloc[30:50]
    room = Room("lab", ZONE, model, sent_every=15)
    run(room.add_readings(readings_of(readings)))
    last = readings.index[-1].to_pydatetime().astimezone(UTC)
    qualities = [room_state(room, last + minutes * MINUTE).quality for minutes in (1, 16, 52, 54)]
    assert qualities == [Quality.OK, Quality.OK, Quality.OK, Quality.STALE]
    assert room_state(room, last + 16 * MINUTE, stale_after=15).quality is Quality.STALE


def test_room_without_interval_says_what_to_set(model, office):
    """With gaps of 10 min bridged, every reading of such a sensor comes after a gap."""
    readings = sent(office, 15, lost=0.0).iloc[30:50]
    room = Room("lab", ZONE, model)
    found = [state for state in states(room, readings) if state.quality is Quality.STARTING]
    assert found[0].reason == "too few readings since midnight or since the last gap"
    assert found[-1].reason == "a reading every 15 min is too few: set interval of the room"
    assert found[-1].people is None
    fast = oc.simulate_office(days=1, seed=3).tz_localize("Europe/Copenhagen").iloc[600:605]
    gap = pd.concat([readings.iloc[:3], fast.set_axis(fast.index + (readings.index[9] - fast.index[0]))])
    room = Room("lab", ZONE, model)
    run(room.add_readings(readings_of(gap)))
    state = room_state(room, gap.index[-1].to_pydatetime().astimezone(UTC))
    assert state.reason == "too few readings since midnight or since the last gap"
