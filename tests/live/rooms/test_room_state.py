"""The state of a room: quality, reasons for an unknown occupancy, clocks and old readings."""

import datetime as dt
import math
from dataclasses import replace

import pytest
from live.rooms.stored_room import MINUTES, NOW, UTC, ZONE, StoredRoom, fed, reading, readings_of, run, wavy

import occupair as oc
from occupair.live.messages import Quality, ReadingOutcome
from occupair.live.rooms.room import Model, Room
from occupair.live.rooms.room_models import load_model
from occupair.live.rooms.room_state import room_state
from occupair.model_file import dump_model


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
