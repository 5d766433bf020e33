"""Estimates of one room of the service, compared with the library on the same readings."""

import dataclasses
import datetime as dt
import math
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.rooms.stored_room import (
    MINUTES,
    NOW,
    UTC,
    ZONE,
    StoredRoom,
    assert_same,
    fed,
    reading,
    readings_of,
    run,
    wavy,
)

import occupair as oc
from occupair.live.messages import Quality, ReadingOutcome, to_microseconds, to_time
from occupair.live.rooms.room import Model, Room
from occupair.live.rooms.room_models import load_model
from occupair.live.rooms.room_state import room_state
from occupair.model_file import dump_model


def people_of(lab):
    return {time: one.people for time, one in sorted(lab.estimates.items())}


def test_estimates_and_refined_estimates_match_the_library(estimator, model, office):
    two_days = office.iloc[3 * 288 :]
    lab = StoredRoom(Room("lab", ZONE, model)).add(readings_of(two_days))
    assert set(lab.outcomes) == {ReadingOutcome.ACCEPTED}
    expected = estimator.estimate(two_days)
    estimates = [one for _, one in sorted(lab.estimates.items())]
    np.testing.assert_allclose([one.people for one in estimates], expected, rtol=0, atol=1e-6)
    later = estimator.estimate(two_days, lag=20)
    whole = [k for k in range(len(estimates)) if k % 288 < 284]  # the last minutes of a day are never refined
    np.testing.assert_allclose(
        [estimates[k].people_refined[0] for k in whole], later.iloc[whole], rtol=0, atol=1e-6
    )
    assert max(expected) > 2


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_estimates_do_not_depend_on_order_duplicates_or_restarts(model, office, data):
    day = office.iloc[3 * 288 + 80 : 3 * 288 + 200]
    whole = readings_of(day)
    expected = StoredRoom(Room("lab", ZONE, model)).add(whole)
    lab = StoredRoom(Room("lab", ZONE, model))
    mixed = list(whole)
    for _ in range(data.draw(st.integers(0, 6))):  # late readings and duplicates
        place, later = data.draw(st.integers(0, len(mixed) - 2)), data.draw(st.integers(1, 40))
        mixed.insert(min(place + later, len(mixed)), mixed[place])
        if data.draw(st.booleans()):
            del mixed[place]
    kills = data.draw(st.sets(st.integers(0, len(mixed)), max_size=4))
    for k, one in enumerate(mixed):
        if k in kills:
            lab.restart(with_estimates=data.draw(st.booleans()))
        lab.add([one])
    assert_same(dict(sorted(lab.estimates.items())), dict(sorted(expected.estimates.items())))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_irregular_readings_in_any_order_match_a_replay(model, data):
    """Gaps, spikes and several readings per interval."""
    seconds = data.draw(st.lists(st.integers(0, 3 * 3600), min_size=10, max_size=60, unique=True))
    spikes = data.draw(st.lists(st.sampled_from(seconds), max_size=2))
    start = pd.Timestamp("2015-08-06 09:00", tz=ZONE)
    sent = [
        reading(start + pd.Timedelta(seconds=s), 700.0 + s % 97 + 1500.0 * (s in spikes), 0.5)
        for s in seconds
    ]
    lab = StoredRoom(Room("lab", ZONE, model))
    while sent:
        size = data.draw(st.integers(1, min(8, len(sent))))
        lab.add_batch(sent[:size])
        sent = sent[size:]
    if data.draw(st.booleans()):
        lab.restart()
    replayed = Room("lab", ZONE, model)
    estimates = run(replayed.restore(sorted(lab.readings, key=lambda one: one.time)))
    assert_same(dict(sorted(lab.estimates.items())), {one.time: one for one in estimates})
    assert lab.room.today.fault == replayed.today.fault


def test_first_value_of_a_time_is_kept_even_if_implausible(model):
    lab = StoredRoom(fed(model, 60, wavy)).add(
        [reading(NOW + MINUTES, 0.0), reading(NOW + MINUTES, 700.0, 0.5)]
    )
    lab.add([reading(NOW + 2 * MINUTES, 650.0, 0.5)])
    assert 700.0 not in lab.room.grid.co2.values


def test_second_value_after_an_implausible_one_is_a_duplicate(model):
    room = fed(model, 60, wavy)
    early, late = NOW + 1 * MINUTES, NOW + 2 * MINUTES
    together = [reading(early, 0.0), reading(late, 0.0), reading(early, 800.0), reading(late, 0.0)]
    outcomes, _ = run(room.add_readings(together))
    assert outcomes == [
        ReadingOutcome.ACCEPTED,
        ReadingOutcome.ACCEPTED,
        ReadingOutcome.DUPLICATE,
        ReadingOutcome.DUPLICATE,
    ]


def test_late_reading_corrects_later_estimates(model, office):
    day = office.iloc[3 * 288 + 100 : 3 * 288 + 160]
    whole = readings_of(day)
    lab = StoredRoom(Room("lab", ZONE, model)).add(whole[:30] + whole[31:])
    before = people_of(lab)
    assert to_time(to_microseconds(whole[30].time)) in before  # bridged by holding the value before
    lab.add([whole[30]])
    assert lab.outcomes[-1] is ReadingOutcome.LATE
    after = people_of(lab)
    assert list(after) == list(before)
    changed = [time for time in after if after[time] != pytest.approx(before[time], abs=1e-9)]
    assert changed
    assert min(changed) >= whole[30].time
    assert_same(
        dict(sorted(lab.estimates.items())),
        dict(sorted(StoredRoom(Room("lab", ZONE, model)).add(whole).estimates.items())),
    )


def test_reading_of_an_earlier_day_changes_no_estimate(model, office):
    two = office.iloc[4 * 288 - 30 : 4 * 288 + 30]
    whole = readings_of(two)
    lab = StoredRoom(Room("lab", ZONE, model)).add(whole[:5] + whole[6:])
    before = dict(lab.estimates)
    lab.add([whole[5]])
    assert lab.outcomes[-1] is ReadingOutcome.TOO_LATE
    assert lab.estimates == before


def test_ventilation_may_arrive_after_co2(model, office):
    day = office.iloc[3 * 288 + 100 : 3 * 288 + 150]
    apart = []
    for one in readings_of(day):
        apart += [replace(one, ventilation=None), replace(one, co2=None)]
    apart.insert(0, replace(apart.pop(1), ventilation=day["ventilation"].iloc[0]))
    lab = StoredRoom(Room("lab", ZONE, model)).add(apart)
    together = StoredRoom(Room("lab", ZONE, model)).add(readings_of(day))
    assert_same(dict(sorted(lab.estimates.items())), dict(sorted(together.estimates.items())))


def test_refined_estimates_match_their_times_after_missing_ventilation(office, estimator, model):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    readings = [replace(one, ventilation=None) if k < 120 else one for k, one in enumerate(readings_of(day))]
    lab = StoredRoom(Room("lab", ZONE, model)).add(readings)
    later = estimator.estimate(day.iloc[120:], lag=20).to_numpy()
    estimates = [one.people_refined[0] for _, one in sorted(lab.estimates.items())]
    assert estimates[:120] == [None] * 120
    known = [k for k in range(120, 146) if estimates[k] is not None]
    np.testing.assert_allclose([estimates[k] for k in known], [later[k - 120] for k in known], atol=1e-6)


def test_fast_sensor_is_sampled_at_grid_times(estimator, model, office):
    day = office.iloc[3 * 288 + 100 : 3 * 288 + 150]
    fast = []
    for one in readings_of(day):
        for early in (200, 100, 0):
            wrong = 35.0 if early else 0.0
            fast.append(replace(one, time=one.time - dt.timedelta(seconds=early), co2=one.co2 + wrong))
    lab = StoredRoom(Room("lab", ZONE, model)).add(fast)
    estimates = np.array(list(people_of(lab).values()), dtype=float)
    known = ~np.isnan(estimates)
    assert known.sum() > 40
    np.testing.assert_allclose(estimates[known], estimator.estimate(day)[known], rtol=0, atol=1e-6)


def test_day_starts_at_local_midnight(model, office):
    """The room is reset at 23:00 UTC."""
    day = office.iloc[3 * 288 + 200 : 4 * 288 + 12]
    lab = StoredRoom(Room("lab", ZONE, model)).add(readings_of(day))
    midnight = day.index[88]
    assert midnight == midnight.normalize()
    quality = {time: one.quality for time, one in lab.estimates.items()}
    assert quality[day.index[87].astimezone(UTC)] is Quality.OK
    assert quality[midnight.astimezone(UTC)] is Quality.STARTING


@pytest.mark.parametrize("zone", ["Europe/Copenhagen", "Australia/Lord_Howe", "Asia/Kathmandu"])
@pytest.mark.parametrize("interval", [7, 10, 25])
def test_every_local_day_has_its_own_grid_across_dst(zone, interval):
    """Every midnight is a grid time, also for intervals that do not divide a day."""
    office = oc.simulate_office(days=5, seed=3).iloc[::interval]
    office.index = pd.date_range("2024-01-08", periods=len(office), freq=f"{interval}min")
    estimator = oc.OccupancyEstimator(n_hidden=5, ridge=1.0, random_state=0).fit(office)
    trained = Model(1, load_model(dump_model(estimator)))
    for begin in ("2024-03-30 12:00", "2024-04-06 12:00", "2024-10-05 12:00", "2024-10-26 12:00"):
        times = pd.date_range(begin, periods=60 * 60 // interval, freq=f"{interval}min", tz=zone)
        lab = StoredRoom(Room("lab", ZoneInfo(zone), trained))
        lab.add([reading(times[0] - pd.Timedelta(hours=1), ventilation=0.5)])
        lab.add([reading(t, 500.0 + k % 9, 0.5) for k, t in enumerate(times)])
        assert set(lab.outcomes) == {ReadingOutcome.ACCEPTED}
        local = [time.astimezone(ZoneInfo(zone)) for time in lab.estimates]
        midnights = {time.date() for time in local if (time.hour, time.minute) == (0, 0)}
        assert midnights == {time.date() for time in local} - {times[0].date()}
        before = room_state(lab.room, times[-1], math.inf)
        assert room_state(lab.restart().room, times[-1], math.inf) == before


def test_new_model_estimates_today_again(model, office, estimator):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    room = Room("lab", ZONE)
    lab = StoredRoom(room).add(readings_of(day))
    assert {one.quality for one in lab.estimates.values()} == {Quality.UNTRAINED}
    estimates = run(room.use_model(model))
    np.testing.assert_allclose([one.people for one in estimates], estimator.estimate(day), rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def drifting(office):
    """Four days after training whose CO2 is 90 ppm higher, with a gap in a night."""
    days = office.iloc[3 * 288 :]
    days = pd.concat([days, days.set_axis(days.index + pd.Timedelta(days=2))])
    return days.assign(co2=days["co2"] + 90).drop(index=days.index[2 * 288 + 20 : 2 * 288 + 45])


def test_drift_is_followed_as_in_the_library(estimator, model, drifting):
    lab = StoredRoom(Room("lab", ZONE, model)).add(readings_of(drifting))
    expected = estimator.estimate(drifting)
    got = {time: one.people for time, one in lab.estimates.items() if one.people is not None}
    known = expected[[time.to_pydatetime().astimezone(UTC) in got for time in expected.index]]
    assert len(known) > 1000
    np.testing.assert_allclose([got[time] for time in known.index.tz_convert(UTC)], known, rtol=0, atol=1e-6)


@pytest.mark.parametrize("stops", [[30], [288], [300, 301], [400, 600, 640], [2 * 288 + 60, 3 * 288 + 10]])
def test_drift_is_followed_across_restarts(model, drifting, stops):
    readings = readings_of(drifting)
    readings[150] = dataclasses.replace(readings[150], co2=2500.0)  # a jump: not part of the low
    expected = StoredRoom(Room("lab", ZONE, model)).add(readings)
    lab = StoredRoom(Room("lab", ZONE, model))
    for k, one in enumerate(readings):
        if k in stops:
            lab.restart(with_estimates=k % 2 == 0)
        lab.add_batch([one])
    assert_same(lab.estimates, expected.estimates)
    assert lab.room.today.baseline_shift == pytest.approx(expected.room.today.baseline_shift, abs=1e-9)


@pytest.mark.parametrize(
    ("shift", "note"),
    [
        (90.0, "baseline drift: CO2 reads {} ppm higher than in training (corrected)"),
        (-90.0, "baseline drift: CO2 reads {} ppm lower than in training (corrected)"),
        (0.0, ""),
    ],
)
def test_followed_drift_is_named_and_keeps_the_count(office, drifting, shift, note):
    estimator = oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(office)
    room = Room("lab", ZONE, Model(1, load_model(dump_model(estimator))))
    days = drifting.iloc[:-140].assign(co2=drifting["co2"] - 90 + shift)
    lab = StoredRoom(room).add(readings_of(days))
    state = room_state(lab.room, days.index[-1].to_pydatetime(), math.inf)
    assert (state.quality, state.reason) == (Quality.OK, "")
    assert state.people is not None
    assert state.baseline_shift == pytest.approx(shift, abs=25)
    assert state.note == note.format(abs(round(state.baseline_shift)))
    if shift > 0:
        assert state.note_cause.text("de").startswith("Sensordrift: CO2 ")
