"""The check of the soak test: equal after an undisturbed run, unequal after a change of the store."""

import datetime as dt

import pytest
from live.pipeline_helpers import with_pipeline
from sqlalchemy import delete, text

from occupair.live.config import read_config
from occupair.live.messages import Reading
from occupair.live.store import Store, schema
from tools.soak.__main__ import memory_growth
from tools.soak.comparison import compare
from tools.soak.rooms import Rooms
from tools.soak.schedule import faults_of

START = dt.datetime(2026, 3, 2, 6, tzinfo=dt.UTC)
N_READINGS = 2 * 20 * 4  # a slot every 15 min


@pytest.fixture(scope="module")
def rooms():
    return Rooms(2, START, hours=20, every=15)


@pytest.fixture(scope="module")
def models(rooms, tmp_path_factory):
    return rooms.train(tmp_path_factory.mktemp("models"))


@pytest.fixture
def store(rooms, models, tmp_path):
    """A store after an undisturbed run across midnight."""
    path = models[0].parent / "rooms.toml"
    path.write_text('[service]\nclock = "readings"\n[mqtt]\nhost = "localhost"\n' + rooms.settings(models))
    store = Store(f"sqlite:///{tmp_path}/rooms.db")
    store.migrate()

    async def send(pipeline):
        messages = [one for room in range(2) for one in rooms.messages(room)]
        for one in sorted(messages, key=lambda one: one.slot):
            reading = Reading(rooms.name(one.room), one.time, one.co2, one.ventilation, "mqtt", one.time)
            await pipeline.submit([reading])

    with_pipeline(read_config(path, {}), store, send)
    yield store
    store.close()


def test_undisturbed_run_equals_the_replay(store, rooms, models):
    found = compare(store, rooms, models)
    assert found.is_equal
    assert (found.readings, found.estimates, found.lost, found.missing) == (N_READINGS, N_READINGS, 0, 0)
    assert found.unknown == 2 * 2  # 6:00 and 6:15 of both rooms
    _check_faults_are_found(store, rooms, models)


def _check_faults_are_found(store, rooms, models):
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE estimates SET people = people + 1e-8 WHERE people > 2"))
    found = compare(store, rooms, models)
    assert not found.is_equal
    assert found.largest_difference == pytest.approx(1e-8, rel=0.01)
    last = rooms.time_of(79)
    with store.engine.begin() as connection:
        for table in (schema.readings, schema.estimates):
            time = int(last.timestamp()) * 1_000_000
            connection.execute(delete(table).where(table.c.time == time, table.c.room == rooms.name(1)))
    found = compare(store, rooms, models)
    assert (found.lost, found.missing) == (1, 1)


def test_late_and_duplicate_messages_and_wrong_clocks():
    rooms = Rooms(60, START, hours=24, every=15)
    late = list(rooms.messages(4))
    assert [one.slot for one in late] == sorted(one.slot for one in late)
    assert len({one.time for one in late}) == 96
    assert any(one.time == rooms.time_of(one.slot - 2) for one in late)
    duplicate = list(rooms.messages(6))
    assert len(duplicate) == 96 + 19  # slots 1, 6, ..., 91
    assert len(rooms.stored(6)) == 96
    wrong = rooms.stored(9)
    ahead, behind = rooms.time_of(8 * 4), rooms.time_of(15 * 4)
    assert not any(ahead <= time < ahead + dt.timedelta(hours=1) for time in wrong)
    # two messages repeat earlier times, the next two arrive half an hour behind
    assert [behind + k * rooms.step in wrong for k in range(5)] == [True, True, False, False, True]


def test_every_hour_with_faults_starts_with_a_kill():
    assert str(faults_of(2, fault_hours=24)) == "kill -9, disk full"
    assert str(faults_of(5, fault_hours=24)) == "kill -9"


def test_quiet_hours_have_no_faults():
    assert {str(faults_of(hour, fault_hours=2)) for hour in range(2, 24)} == {"none"}


def test_memory_growth_compares_the_last_two_days():
    rising_by_day = [300.0 + hour for hour in range(24)]  # empty at midnight
    assert memory_growth([*[200.0] * 24, *rising_by_day, *rising_by_day]) == pytest.approx(0)
    assert memory_growth([*[400.0] * 24, *[404.0] * 24]) == pytest.approx(0.01)


def test_memory_growth_needs_two_days():
    assert memory_growth([300.0] * 47) is None
