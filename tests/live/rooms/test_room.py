"""One room of the service, compared with the library on the same readings."""

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

import occupair as oc
from occupair.live.messages import Co2Mean, Quality, Reading, ReadingOutcome, to_microseconds, to_time
from occupair.live.rooms.engine import run_batched
from occupair.live.rooms.restore import restore_since
from occupair.live.rooms.room import Model, Room
from occupair.live.rooms.room_models import load_model
from occupair.live.rooms.room_state import room_state
from occupair.live_rooms import LiveRooms
from occupair.model_file import dump_model

MINUTES = dt.timedelta(minutes=1)
UTC, ZONE = dt.UTC, ZoneInfo("Europe/Copenhagen")


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=5, seed=3).iloc[::5].tz_localize("Europe/Copenhagen")


@pytest.fixture(scope="module", params=["default", "paper"])
def estimator(request, office):
    paper = oc.OccupancyEstimator.paper(n_hidden=25, n_draws=1, random_state=0)
    kind = oc.OccupancyEstimator(n_hidden=15, random_state=0) if request.param == "default" else paper
    return kind.fit(office.iloc[: 3 * 288])


@pytest.fixture(scope="module")
def model(estimator):
    return Model(1, load_model(dump_model(estimator)))


def reading(time, co2=None, ventilation=None, received=None):
    time = pd.Timestamp(time).to_pydatetime().astimezone(UTC)
    return Reading("lab", time, co2, ventilation, "http", received or time)


def readings_of(frame):
    return [
        reading(time, co2, flow)
        for time, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]


def run(estimation):
    """Run one estimation and return its result."""
    result = run_batched({"lab": estimation}, LiveRooms([]))["lab"]
    if isinstance(result, Exception):
        raise result
    return result


class StoredRoom:
    """A room and what a store would hold of it: its readings and the newest estimate of every time."""

    def __init__(self, room):
        self.room, self.estimates, self.outcomes, self.readings = room, {}, [], []

    def add(self, readings):
        for one in readings:
            self.add_batch([one])
        return self

    def add_batch(self, readings):
        outcomes, estimates = run(self.room.add_readings(readings))
        self.outcomes += outcomes
        self.estimates.update({estimate.time: estimate for estimate in estimates})
        self.readings += [
            one
            for one, outcome in zip(readings, outcomes, strict=True)
            if outcome is not ReadingOutcome.DUPLICATE
        ]

    def restart(self, with_estimates=True):
        """Restore a new room from what is stored."""
        old = self.room
        self.room = Room(old.id, old.zone, old.model)
        if self.readings:
            newest = max(one.time for one in self.readings)
            since = restore_since(newest, self.room.zone)
            readings = sorted((r for r in self.readings if r.time >= since), key=lambda r: r.time)
            estimates = self.estimates.values() if with_estimates else ()
            newest_estimates = [one for one in estimates if one.time > newest - 40 * MINUTES]
            run(self.room.restore(readings, newest_estimates, self.co2_means()))
        return self

    def co2_means(self):
        """The mean CO2 of each quarter of an hour, as a store returns it."""
        valid = [one for one in self.estimates.values() if one.quality is not Quality.SUSPECT]
        table = pd.DataFrame({"time": [to_microseconds(one.time) for one in valid]})
        table["co2"] = [one.co2 for one in valid]
        means = table.sort_values("time").groupby(table["time"] // 900_000_000)
        return [Co2Mean(*row) for row in zip(means["time"].min(), means["co2"].mean(), strict=True)]


def people_of(lab):
    return {time: one.people for time, one in sorted(lab.estimates.items())}


def assert_same(one, other):
    assert list(one) == list(other)
    for time, expected in other.items():
        got = one[time]
        for name in ("people", "low", "high", "people_refined", "co2_smoothed"):
            assert getattr(got, name) == pytest.approx(getattr(expected, name), abs=1e-6), (time, name)
        assert (got.co2, got.ventilation, got.quality) == (
            expected.co2,
            expected.ventilation,
            expected.quality,
        )


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


NOW = dt.datetime(2024, 1, 11, 12, tzinfo=UTC)


def fed(model, minutes, co2, ventilation=0.5):
    """Return a room with a reading every five minutes until now."""
    room = Room("lab", ZONE, model)
    values = co2 if callable(co2) else (lambda _: co2)
    for k in range(minutes // 5, -1, -1):
        run(room.add_readings([reading(NOW - dt.timedelta(minutes=5 * k), values(k), ventilation)]))
    return room


def wavy(k):
    return 600.0 + 3 * (k % 7)


def test_state_of_a_healthy_room_is_complete(model):
    state = room_state(fed(model, 300, wavy), NOW, 15)
    assert state.quality is Quality.OK
    assert state.reason == ""
    assert state.time == NOW
    assert state.people == round(state.people_exact)
    assert state.occupied == (state.people > 0)
    assert state.co2 == 600.0
    assert 595 < state.co2_smoothed < 620
    assert state.ventilation == 0.5
    assert None not in state.people_refined


def test_people_outside_the_usual_hours_have_a_reason(model, monkeypatch):
    room = fed(model, 300, wavy)
    newest = room.today.newest
    for people, usual, reason in [
        (4.0, False, "people detected outside the usual hours"),
        (4.0, True, ""),
        (0.4, False, ""),
    ]:
        room.today._recent[-1] = replace(newest, people=people)
        monkeypatch.setattr(type(room.today.live.day), "is_usual_time", lambda self, time, usual=usual: usual)
        state = room_state(room, NOW, 15)
        assert (state.quality, state.people_exact, state.reason) == (Quality.OK, people, reason)


def test_usual_hours_are_those_of_the_room(office):
    """Open hours are in the local time of the room: 00:30 in Copenhagen is 23:30 in UTC."""
    trained = oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(office.iloc[: 3 * 288])
    room = fed(Model(1, load_model(dump_model(trained))), 300, wavy)
    is_open = trained.room_.hours.is_open[0]
    for hour in range(24):
        time = dt.datetime(2024, 1, 11, hour, 30, tzinfo=ZONE)
        assert room.today.is_usual_time(time.astimezone(UTC)) == is_open[60 * hour + 30]
    assert not is_open[180]
    assert is_open[720]


@pytest.mark.parametrize(
    ("make_room", "later", "quality", "reason"),
    [
        (lambda m: fed(m, 300, wavy), 16, "stale", "no reading since 13:00"),
        (lambda m: fed(m, 300, wavy), 900, "stale", "no reading since 11 January 2024"),
        (lambda m: Room("lab", ZONE, m), 0, "stale", "no reading yet"),
        (lambda m: fed(m, 300, 612.0), 0, "suspect", "CO2 unchanged for 5 hours"),
        (
            lambda m: fed(m, 300, lambda k: wavy(k) if k else 0.0),
            0,
            "suspect",
            "implausible sensor reading: 0 ppm",
        ),
        (lambda m: fed(m, 300, lambda k: wavy(k) if k else 65535.0), 0, "suspect", "reading: 65535 ppm"),
        (lambda m: fed(m, 300, lambda k: wavy(k) + 900 * (k < 2)), 0, "suspect", "CO2 jumped"),
        (lambda m: fed(m, 300, wavy, None), 0, "suspect", "ventilation is unknown"),
        (lambda m: fed(m, 10, wavy), 0, "starting", "too few readings"),
        (lambda m: fed(None, 300, wavy), 0, "untrained", "the room has no model yet"),
    ],
)
def test_unknown_occupancy_has_a_reason(model, make_room, later, quality, reason):
    state = room_state(make_room(model), NOW + dt.timedelta(minutes=later), 15)
    assert state.quality == quality
    assert reason in state.reason
    assert (state.people, state.people_exact, state.occupied, state.low, state.high) == (None,) * 5


@pytest.mark.parametrize(
    "co2",
    [
        lambda k: wavy(k) if k != 1 else 0.0,  # a failed read, then a good one
        lambda k: wavy(k) + 900 * (k == 5),  # breath on the sensor half an hour ago
        lambda k: 612.0 if k > 3 else wavy(k),  # stuck, then moving again
        lambda k: 600.0 + 10 * (k > 70),  # a coarse sensor with hours without a step
    ],
)
def test_past_faults_do_not_affect_the_state(model, co2):
    state = room_state(fed(model, 420, co2), NOW, 15)
    assert state.quality is Quality.OK
    assert state.people is not None


def test_new_model_estimates_today_again(model, office, estimator):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    room = Room("lab", ZONE)
    lab = StoredRoom(room).add(readings_of(day))
    assert {one.quality for one in lab.estimates.values()} == {Quality.UNTRAINED}
    estimates = run(room.use_model(model))
    np.testing.assert_allclose([one.people for one in estimates], estimator.estimate(day), rtol=0, atol=1e-6)


def test_restart_does_not_repeat_stored_estimates(model, office, monkeypatch):
    lab = StoredRoom(Room("lab", ZONE, model)).add(readings_of(office.iloc[3 * 288 : 3 * 288 + 150]))
    before = room_state(lab.room, NOW, math.inf)
    replays = []
    monkeypatch.setattr(Room, "_replay", lambda *given: replays.append(given) or [])
    after = room_state(lab.restart().room, NOW, math.inf)
    assert after.people_exact == before.people_exact
    assert after.people_refined == pytest.approx(before.people_refined, abs=1e-6)
    assert replace(after, people_refined=before.people_refined) == before
    assert replays == []


def lagging(model, behind, readings=60, pace=5.0):
    """Return a room whose readings arrived ``behind`` minutes late, ``pace`` minutes apart."""
    room = Room("lab", ZONE, model)
    for k in range(readings - 1, -1, -1):
        received = NOW - dt.timedelta(minutes=pace * k)
        measured = NOW - dt.timedelta(minutes=5 * k + behind)
        run(room.add_readings([reading(measured, wavy(k), 0.5, received)]))
    return room


def test_slow_sensor_clock_is_reported(model):
    state = room_state(lagging(model, 60), NOW, 15)
    assert (state.quality, state.reason) == ("suspect", "the sensor's clock is 60 minutes behind")
    assert room_state(lagging(model, 3), NOW, 15).quality is Quality.OK


def test_backlog_counts_as_current_only_while_it_arrives(model):
    room = lagging(model, 600, pace=0.001)
    assert room_state(room, NOW, 15).quality is Quality.OK
    later = room_state(room, NOW + dt.timedelta(seconds=6), 15)
    assert (later.quality, later.reason, later.people) == ("stale", "no reading since 03:00", None)


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


def test_refined_estimates_match_their_times_after_missing_ventilation(office, estimator, model):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    readings = [replace(one, ventilation=None) if k < 120 else one for k, one in enumerate(readings_of(day))]
    lab = StoredRoom(Room("lab", ZONE, model)).add(readings)
    later = estimator.estimate(day.iloc[120:], lag=20).to_numpy()
    estimates = [one.people_refined[0] for _, one in sorted(lab.estimates.items())]
    assert estimates[:120] == [None] * 120
    known = [k for k in range(120, 146) if estimates[k] is not None]
    np.testing.assert_allclose([estimates[k] for k in known], [later[k - 120] for k in known], atol=1e-6)


def test_very_old_readings_do_not_change_the_state(model):
    room = fed(model, 300, wavy)
    before = room_state(room, NOW, 15)
    old = [reading(NOW - dt.timedelta(days=90, minutes=k), 500.0 + 0.001 * k, 0.5) for k in range(50)]
    outcomes, estimates = run(room.add_readings(old))
    assert (set(outcomes), estimates) == ({ReadingOutcome.TOO_LATE}, [])
    assert room_state(room, NOW, 15) == before


def test_old_readings_arriving_slowly_do_not_count_as_current(model):
    """After six hours offline, a backlog that arrives reading by reading leaves the occupancy unknown."""
    room = fed(model, 300, wavy)
    evening = NOW + dt.timedelta(hours=6)
    run(room.add_readings([reading(NOW + 3 * MINUTES, 640.0, 0.5, evening)]))
    assert room_state(room, evening, 15).quality is Quality.STALE
    for k in range(1, 40):
        came = evening + 20 * k * MINUTES / 60
        run(room.add_readings([reading(NOW + (3 + 5 * k) * MINUTES, 640.0 + k, 0.5, came)]))
        assert room_state(room, came, 15).people is None


def test_readings_from_the_future_make_the_state_suspect(model):
    """The clock of the service was ten hours ahead for a while."""
    room = fed(model, 300, wavy)
    ahead = NOW + dt.timedelta(hours=10)
    run(room.add_readings([reading(ahead, 640.0, 0.5, ahead)]))
    assert room_state(room, NOW + 5 * MINUTES, 15).quality is Quality.SUSPECT


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
