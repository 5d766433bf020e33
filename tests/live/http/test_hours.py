"""Hours of a room, all rooms today, and both as CSV."""

import asyncio
import csv
import datetime as dt
import io
import threading
from dataclasses import replace

import pytest
from live.fake_pipeline import START, Client, FakePipeline, error_detail, make_config, make_estimates

from occupair.live.config import RoomConfig
from occupair.live.http import today
from occupair.live.http.app import make_app
from occupair.live.messages import Quality
from occupair.live.store import StoreError

WEEK = "from=2026-03-02T00:00&to=2026-03-09T00:00"


@pytest.fixture
def pipeline():
    """Two rooms in Copenhagen; the clock is that of the readings, on a Monday."""
    pipeline = FakePipeline(make_config(clock="readings"))
    pipeline.store.kept["lab"] = make_estimates("lab", 120)  # k people after k minutes, from 9:00 local time
    return pipeline


@pytest.fixture
def client(pipeline):
    return Client(make_app(pipeline, pipeline.config))


def test_week_by_local_hour(client):
    hours = client("GET", f"/api/rooms/lab/hours?{WEEK}").json()["hours"]
    assert len(hours) == 7 * 24
    assert hours[0]["start"] == "2026-03-02T00:00:00+01:00"
    assert hours[9] == {
        "start": "2026-03-02T09:00:00+01:00",
        "minutes": 60,
        "people": 29.5,  # mean of 0 to 59
        "peak": 59.0,
        "low": 29.0,
        "high": 30.0,
        "known": 1.0,
        "in_use": 59.0,
    }
    assert hours[10]["people"] == 89.5
    unknown = {"people": None, "peak": None, "low": None, "high": None, "known": 0.0, "in_use": 0.0}
    assert {name: hours[11][name] for name in unknown} == unknown
    assert client("GET", "/api/rooms/lab/hours").json()["hours"] == hours  # this week is the default


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ("from=2026-03-29T00:00&to=2026-03-30T00:00", 23),
        ("from=2026-10-25T00:00&to=2026-10-26T00:00", 25),
        ("from=2026-03-23T00:00", 167),
        ("from=2026-10-19T00:00", 169),
        ("from=2026-03-02T00:00Z&to=2026-03-02T02:00:00%2B00:00", 2),
        ("from=2026-03-02T00:10&to=2026-03-02T02:20", 3),  # rounded down: 0:00 to 2:15
        ("from=2026-03-03T00:00&to=2026-03-02T00:00", 0),
        ("from=2026-01-01T00:00&to=2026-03-04T00:00", 62 * 24),
    ],
)
def test_period(client, query, n):
    assert len(client("GET", f"/api/rooms/kitchen/hours?{query}").json()["hours"]) == n
    text = client("GET", f"/api/rooms/kitchen/hours.csv?{query}").text
    assert len(text.splitlines()) == n + 1


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("attic/hours", 404, "there is no room 'attic'"),
        ("lab/hours?from=9am", 422, "from must be a time such as 2026-03-02T09:00:00Z, got '9am'"),
        ("lab/hours?from=1999-12-31T00:00Z", 422, "from must be in the years 2000 to 2100"),
        ("lab/hours?to=9999-12-31T23:59:59Z", 422, "to must be in the years 2000 to 2100"),
        ("lab/hours?to=2026-05-05T00:00", 422, "from and to must be at most 62 days apart"),
        ("lab/hours.csv?to=2027-05-05T00:00", 422, "from and to must be at most 400 days apart"),
    ],
)
def test_invalid_period_is_rejected(client, path, status, detail):
    response = client("GET", f"/api/rooms/{path}")
    assert (response.status_code, error_detail(response)) == (status, detail)


def parse(response):
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.content.startswith(b"\xef\xbb\xbf")  # spreadsheets recognise UTF-8 by it
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))


def test_week_as_csv(client):
    response = client("GET", f"/api/rooms/lab/hours.csv?{WEEK}")
    assert response.headers["content-disposition"] == 'attachment; filename="lab-2026-03-02.csv"'
    rows = parse(response)
    assert len(rows) == 7 * 24
    assert rows[9] == {
        "room": "lab",
        "name": "Lab",
        "floor": "1",
        "capacity [people]": "8",
        "start": "2026-03-02T09:00:00+01:00",
        "duration [min]": "60",
        "people mean [people]": "29.50",
        "people peak [people]": "59.00",
        "people low [people]": "29.00",
        "people high [people]": "30.00",
        "in use [min]": "59",
        "known [%]": "100",
    }
    unknown = ("people mean [people]", "people peak [people]", "people low [people]", "in use [min]")
    assert [rows[11][name] for name in unknown] == [""] * 4
    assert rows[11]["known [%]"] == "0"


def test_export_of_a_year_comes_week_by_week(client, pipeline):
    lengths = []
    pipeline.store.quarter_hours = lambda rooms, since, until: lengths.append(until - since) or []
    text = client("GET", "/api/rooms/lab/hours.csv?from=2025-03-02T00:00&to=2026-03-02T00:00").text
    assert len(text.splitlines()) == 365 * 24 + 1
    assert max(lengths) == dt.timedelta(days=7)


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "  =1+1", '=HYPERLINK("http://x")'])
def test_names_are_not_formulas(name):
    config = make_config(clock="readings")
    room = RoomConfig(id="lab", name=name, floor=name, timezone="UTC")
    pipeline = FakePipeline(config.model_copy(update={"rooms": {"lab": room}}))
    pipeline.store.kept["lab"] = make_estimates("lab", 5)
    rows = parse(Client(make_app(pipeline, pipeline.config))("GET", "/api/today.csv"))
    assert {(row["name"], row["floor"]) for row in rows} == {(f"'{name}", f"'{name}")}


def test_quotes_and_line_breaks_in_names_are_kept():
    name = 'Lab "A", north\nwing; Büro'
    room = RoomConfig(id="lab", name=name, timezone="UTC")
    pipeline = FakePipeline(make_config(clock="readings").model_copy(update={"rooms": {"lab": room}}))
    rows = parse(Client(make_app(pipeline, pipeline.config))("GET", "/api/today.csv"))
    assert {row["name"] for row in rows} == {name}


def test_today_of_all_rooms(client, pipeline):
    unknown = {"people": None, "low": None, "high": None, "quality": Quality.STALE}
    pipeline.store.kept["kitchen"] = [replace(one, **unknown) for one in make_estimates("kitchen", 45)]
    found = client("GET", "/api/today").json()
    assert found["minutes"] == 30
    (day,) = found["days"]
    assert (day["timezone"], day["day"], day["start"], day["slots"]) == (
        "Europe/Copenhagen",
        "2026-03-02",
        "2026-03-01T23:00:00Z",
        48,
    )
    assert day["rooms"] == {"kitchen": [], "lab": [None] * 18 + [14.5, 44.5, 74.5, 104.5]}


def test_each_zone_has_its_own_day(pipeline):
    rooms = {
        name: RoomConfig(id=name, timezone=zone)
        for name, zone in (("east", "Asia/Tokyo"), ("west", "America/Los_Angeles"))
    }
    config = pipeline.config.model_copy(update={"rooms": rooms})
    pipeline = FakePipeline(config)
    for name in rooms:
        pipeline.store.kept[name] = make_estimates(name, 30)
    days = Client(make_app(pipeline, config))("GET", "/api/today").json()["days"]
    assert {day["timezone"]: (day["day"], day["start"]) for day in days} == {
        "Asia/Tokyo": ("2026-03-02", "2026-03-01T15:00:00Z"),
        "America/Los_Angeles": ("2026-03-02", "2026-03-02T08:00:00Z"),
    }
    assert {name: len(values) for day in days for name, values in day["rooms"].items()} == {
        "east": 35,  # 17:00 to 17:30
        "west": 1,
    }


def test_today_as_csv_ends_at_the_current_hour(client):
    rows = parse(client("GET", "/api/today.csv"))
    assert [row["start"][11:13] for row in rows if row["room"] == "lab"] == [f"{k:02d}" for k in range(10)]
    assert next(row for row in rows if row["people mean [people]"])["people mean [people]"] == "29.50"


def test_today_is_read_once_for_many_clients(client, pipeline, monkeypatch):
    asked = []
    read = pipeline.store.quarter_hours
    pipeline.store.quarter_hours = lambda *period: asked.append(period) or read(*period)
    first = client("GET", "/api/today").json()
    client("GET", "/api/today.csv")
    assert client("GET", "/api/today").json() == first
    assert len(asked) == 1
    monkeypatch.setattr(today, "SHORTEST_AGE", 0.0)
    assert client("GET", "/api/today").json() == first  # the clock of the service has not moved
    assert len(asked) == 1
    pipeline.publish(replace(pipeline.state("lab"), time=START + dt.timedelta(hours=2)))
    pipeline.store.kept["lab"] += make_estimates("lab", 150)[120:]
    again = client("GET", "/api/today").json()["days"][0]["rooms"]["lab"]
    assert again[18:] == [14.5, 44.5, 74.5, 104.5, 134.5]
    assert asked[1][1] == START - dt.timedelta(minutes=45)  # what may still be refined
    monkeypatch.setattr(today, "LONGEST_AGE", 0.0)
    monkeypatch.setattr(today, "READ_ALL_EVERY", 0.0)
    client("GET", "/api/today")
    assert asked[2][1] == asked[0][1]  # all of the day, for late readings


def test_slow_read_delays_one_request_only(pipeline, monkeypatch):
    """While one request reads the store again, others get what was read before."""
    use, rooms, now = today.TodayUse(), list(pipeline.config.rooms.values()), pipeline.now()
    reading, done = threading.Event(), threading.Event()
    read = pipeline.store.quarter_hours

    def slow(*period):
        reading.set()
        assert done.wait(60)
        return read(*period)

    async def ask():
        first = await use.days(pipeline.store, rooms, now)
        pipeline.store.quarter_hours = slow
        monkeypatch.setattr(today, "LONGEST_AGE", 0.0)
        monkeypatch.setattr(today, "SHORTEST_AGE", 0.0)
        again = asyncio.create_task(use.days(pipeline.store, rooms, now))
        await asyncio.to_thread(reading.wait, 60)
        meanwhile = await use.days(pipeline.store, rooms, now)
        done.set()
        return first, meanwhile, await again

    first, meanwhile, again = asyncio.run(ask())
    assert meanwhile[0] is first[0]
    assert again[0] is not first[0]


def test_new_day_starts_empty(client, pipeline, monkeypatch):
    monkeypatch.setattr(today, "SHORTEST_AGE", 0.0)
    client("GET", "/api/today")
    pipeline.publish(replace(pipeline.state("lab"), time=START + dt.timedelta(days=1)))
    (day,) = client("GET", "/api/today").json()["days"]
    assert (day["day"], day["rooms"]["lab"]) == ("2026-03-03", [])


@pytest.mark.parametrize(
    "path", ["/api/today", "/api/today.csv", "/api/rooms/lab/hours", "/api/rooms/lab/hours.csv"]
)
def test_database_error_is_a_status(client, pipeline, path):
    pipeline.store.error = StoreError("store: gone")
    assert client("GET", path).status_code == 503
