"""Rooms, history and readings over HTTP."""

import datetime as dt
import json
import math

import pytest
from live.fake_pipeline import (
    START,
    Client,
    FakePipeline,
    error_detail,
    make_config,
    make_estimates,
    make_state,
)

from occupair.live.config import Limits, OutdoorAirTable
from occupair.live.http.app import make_app
from occupair.live.http.schemas import History, Outcomes, Room, Rooms
from occupair.live.messages import REJECTION_TEXTS, Quality, ReadingOutcome
from occupair.live.reasons import Cause, Reason
from occupair.live.room_pipeline import BacklogFull
from occupair.live.store import StoreError


@pytest.fixture
def pipeline():
    return FakePipeline(make_config())


@pytest.fixture
def ask(pipeline):
    return Client(make_app(pipeline, pipeline.config, durable_within=0.2))


def test_room_state_fields(pipeline, ask):
    pipeline.publish(make_state("lab", 3))
    assert ask("GET", "/api/rooms/lab").json() == {
        "room": "lab",
        "name": "Lab",
        "floor": "1",
        "timezone": "Europe/Copenhagen",
        "capacity": 8,
        "outdoor_air": None,
        "state": {
            "room": "lab",
            "time": "2026-03-02T08:00:00Z",
            "people": 3,
            "people_exact": 3.25,
            "low": 1.5,
            "high": 4.5,
            "occupied": True,
            "co2": 812.0,
            "co2_smoothed": 808.5,
            "ventilation": 0.5,
            "people_20": 2.75,
            "quality": "ok",
            "reason": "",
            "trend": 1,
            "baseline_shift": 42.5,
            "note": "",
            "outdoor_air": None,
            "damper": None,
            "outdoor_air_people": None,
        },
    }


def test_outdoor_air_of_a_room_has_its_settings(pipeline, ask):
    lab = pipeline.config.rooms["lab"]
    air = OutdoorAirTable(standard="EN 16798-1", area=40, category="I", confidence=0.9, maximum=150)
    rooms = {"lab": lab.model_copy(update={"outdoor_air": air})}
    pipeline.config = pipeline.config.model_copy(update={"rooms": rooms})
    pipeline.publish(make_state("lab", 3, outdoor_air=95.0, damper=0.63, outdoor_air_people=5.5))
    answer = Room.model_validate_json(ask("GET", "/api/rooms/lab").content)
    assert answer.outdoor_air.model_dump() == {
        "standard": "EN 16798-1",
        "space": None,
        "category": "I",
        "confidence": 0.9,
        "design_people": 8,
        "design_flow": 120,  # 8 seats with 10 L/s each, and 40 m2 with 1 L/s each
        "minimum": 0,
        "maximum": 150,
    }
    state = answer.state
    assert (state.outdoor_air, state.damper, state.outdoor_air_people) == (95.0, 0.63, 5.5)


def test_all_rooms_equal_single_rooms(ask):
    answer = ask("GET", "/api/rooms")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "rooms": [ask("GET", f"/api/rooms/{room}").json() for room in ("lab", "kitchen")]
    }
    Rooms.model_validate_json(answer.content)


def test_new_state_is_returned_at_once(pipeline, ask):
    for people in (4, None, 5):
        pipeline.publish(make_state("lab", people))
        assert ask("GET", "/api/rooms/lab").json()["state"]["people"] == people


def test_nan_and_infinity_are_null(pipeline, ask):
    pipeline.publish(make_state("lab", co2=math.nan, high=math.inf, time=None))
    state = ask("GET", "/api/rooms/lab").json()["state"]
    assert (state["co2"], state["high"], state["time"]) == (None, None, None)


def test_room_without_state(pipeline, ask):
    del pipeline._states["lab"]
    state = ask("GET", "/api/rooms/lab").json()["state"]
    assert (state["people"], state["quality"], state["reason"]) == (None, "stale", "no reading yet")


def test_name_defaults_to_room_id(pipeline, ask):
    lab = pipeline.config.rooms["lab"].model_copy(update={"name": ""})
    pipeline.config = pipeline.config.model_copy(update={"rooms": {"lab": lab}})
    assert [room["name"] for room in ask("GET", "/api/rooms").json()["rooms"]] == ["lab"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/history"),
        ("POST", "/readings"),
        ("GET", "/labels"),
        ("POST", "/labels"),
        ("DELETE", "/labels?time=2026-03-02T08:00:00Z"),
        ("GET", "/models"),
        ("POST", "/models"),
        ("GET", "/models/1"),
        ("POST", "/models/1/activate"),
        ("GET", "/training"),
        ("POST", "/training"),
        ("DELETE", "/training"),
        ("POST", "/training/accept"),
        ("POST", "/forget"),
    ],
)
def test_unknown_room(ask, method, path):
    answer = ask(method, f"/api/rooms/attic{path}")
    assert (answer.status_code, error_detail(answer)) == (404, "there is no room 'attic'")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", "CO2 seit 5 Stunden unverändert"),
        ("fr, de;q=0.5", "CO2 seit 5 Stunden unverändert"),
        ("en-US, de;q=0.9", "CO2 unchanged for 5 hours"),
        ("de;q=0", "CO2 unchanged for 5 hours"),
        ("de;q=x", "CO2 unchanged for 5 hours"),
        ("", "CO2 unchanged for 5 hours"),
    ],
)
def test_reason_is_in_the_accepted_language(pipeline, ask, header, reason):
    cause = Cause(Reason.STUCK, {"hours": 5})
    unknown = make_state("lab", None, quality=Quality.SUSPECT, reason=cause.text(), cause=cause)
    pipeline.publish(unknown)
    headers = {"Accept-Language": header}
    assert ask("GET", "/api/rooms/lab", headers=headers).json()["state"]["reason"] == reason
    rooms = ask("GET", "/api/rooms", headers=headers).json()["rooms"]
    assert rooms[0]["state"]["reason"] == reason


# ---- history ----


@pytest.mark.parametrize("limit", [1, 7, 49, 50, 51, 10_000])
def test_history_pages_join_to_the_whole(pipeline, ask, limit):
    pipeline.store.kept["lab"] = make_estimates("lab", 50)
    whole = ask("GET", "/api/rooms/lab/history").json()
    assert whole["next"] is None
    assert [one["people"] for one in whole["estimates"]] == [float(place) for place in range(50)]
    joined, after, pages = [], {}, 0
    while True:
        answer = ask("GET", "/api/rooms/lab/history", params={"limit": limit, **after})
        page = History.model_validate_json(answer.content)
        assert len(page.estimates) <= limit
        joined += answer.json()["estimates"]
        pages += 1
        if page.next is None:
            break
        after = {"after": page.next}
    assert joined == whole["estimates"]
    assert pages == math.ceil(50 / limit)


def test_estimate_fields(pipeline, ask):
    pipeline.store.kept["lab"] = make_estimates("lab", 1)
    assert ask("GET", "/api/rooms/lab/history").json()["estimates"] == [
        {
            "time": "2026-03-02T08:00:00Z",
            "people": 0.0,
            "low": -0.5,
            "high": 0.5,
            "people_20": None,
            "co2": 400.0,
            "co2_smoothed": 400.5,
            "ventilation": None,
            "quality": "ok",
        }
    ]


@pytest.mark.parametrize(
    ("since", "until"),
    [
        ("2026-03-02T08:10:00Z", "2026-03-02T08:20:00Z"),
        ("2026-03-02T09:10:00+01:00", "2026-03-02T09:20:00+01:00"),
        ("2026-03-02T09:10:00", "2026-03-02T09:20"),  # local time: UTC+1 in March
        ("2026-03-02 08:10:00z", "2026-03-02t08:20:00.000000000Z"),
    ],
)
def test_history_period_is_half_open(pipeline, ask, since, until):
    pipeline.store.kept["lab"] = make_estimates("lab", 50)
    found = ask("GET", "/api/rooms/lab/history", params={"from": since, "to": until}).json()["estimates"]
    assert [one["people"] for one in found] == [float(place) for place in range(10, 20)]


def test_unescaped_plus_is_accepted(pipeline, ask):
    pipeline.store.kept["lab"] = make_estimates("lab", 50)
    found = ask("GET", "/api/rooms/lab/history?from=2026-03-02T09:45:00+01:00").json()["estimates"]
    assert [one["people"] for one in found] == [45.0, 46.0, 47.0, 48.0, 49.0]


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("from=yesterday", "from must be a time such as 2026-03-02T09:00:00Z, got 'yesterday'"),
        (
            "to=2026-02-30T09:00:00Z",
            "to must be a time such as 2026-03-02T09:00:00Z, got '2026-02-30T09:00:00Z'",
        ),
        ("after=2026-03-02", "after must be a time such as 2026-03-02T09:00:00Z, got '2026-03-02'"),
        ("from=", "from must be a time such as 2026-03-02T09:00:00Z, got ''"),
        ("limit=many", "limit must be an integer, got 'many'"),
        ("limit=0", "limit must be at least 1, got '0'"),
        ("limit=10001", "limit must be at most 10000, got '10001'"),
    ],
)
def test_invalid_query_is_rejected(ask, query, line):
    answer = ask("GET", f"/api/rooms/lab/history?{query}")
    assert (answer.status_code, error_detail(answer)) == (422, line)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_times_out_of_range_are_clamped(pipeline, ask, time):
    pipeline.store.kept["lab"] = make_estimates("lab", 3)
    params = {"from" if time.startswith("0") else "to": time}
    assert len(ask("GET", "/api/rooms/lab/history", params=params).json()["estimates"]) == 3


# ---- readings ----


def outcomes(answer):
    assert answer.status_code == 200, answer.text
    Outcomes.model_validate_json(answer.content)
    return [one["outcome"] for one in answer.json()["outcomes"]]


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: [one], lambda one: {"readings": [one]}])
def test_reading_formats_and_duplicates(pipeline, ask, wrap):
    reading = {"time": "2026-03-02T08:00:00Z", "co2": 612, "ventilation": 0.5, "temperature": 21.5}
    first = ask("POST", "/api/rooms/lab/readings", json=wrap(reading))
    assert first.json() == {"outcomes": [{"time": "2026-03-02T08:00:00Z", "outcome": "accepted"}]}
    assert outcomes(ask("POST", "/api/rooms/lab/readings", json=wrap(reading))) == ["duplicate"]
    ((key, kept),) = pipeline.taken.items()
    assert key == ("lab", START)
    assert (kept.co2, kept.ventilation, kept.source) == (612.0, 0.5, "http")
    assert abs(kept.received - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)


def test_reading_without_time_is_now(pipeline, ask):
    before = dt.datetime.now(dt.UTC)
    assert outcomes(ask("POST", "/api/rooms/lab/readings", json={"co2": 500})) == ["accepted"]
    (kept,) = pipeline.taken.values()
    assert before <= kept.time <= dt.datetime.now(dt.UTC)


@pytest.mark.parametrize(
    ("time", "utc"),
    [
        ("2026-03-02T09:00:00", "2026-03-02T08:00:00Z"),
        ("2026-07-02T09:00:00", "2026-07-02T07:00:00Z"),
        ("2026-03-02T09:00:00.25+05:30", "2026-03-02T03:30:00.250000Z"),
        ("2026-03-02T09:00:00.123456789Z", "2026-03-02T09:00:00.123456Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("2019-10-27T02:30:00", "2019-10-27T01:30:00Z"),  # occurs twice: the one nearer to now
        ("2019-03-31T02:30:00", "2019-03-31T01:30:00Z"),  # does not exist
    ],
)
def test_reading_time_formats(ask, time, utc):
    answer = ask("POST", "/api/rooms/lab/readings", json={"co2": 500, "time": time})
    assert answer.json()["outcomes"][0]["time"] == utc


def test_noise_of_ventilation_is_off_or_full(pipeline, ask):
    sent = [
        {"time": "2026-03-02T08:00:00Z", "co2": 500, "ventilation": 1.0023},
        {"time": "2026-03-02T08:01:00Z", "co2": 500, "ventilation": -0.01},
    ]
    assert outcomes(ask("POST", "/api/rooms/lab/readings", json=sent)) == ["accepted"] * 2
    assert [reading.ventilation for reading in pipeline.taken.values()] == [1.0, 0.0]


def test_invalid_reading_does_not_affect_others(pipeline, ask):
    sent = [
        {"time": "2026-03-02T08:00:00Z", "co2": 500},
        {"time": "2026-03-02T08:01:00Z", "co2": "x"},
        {"time": "9 am", "co2": 500},
        5,
        None,
        {"time": "2026-03-02T08:02:00Z"},
        {"co2": True},
        {"time": "2026-03-02T08:03:00Z", "co2": 10**400},
        {"time": "2026-03-02T08:04:00Z", "ventilation": 7},
        {"time": "2026-03-02T08:05:00Z", "ventilation": 1},
        {"time": 1772438400, "co2": 500},
    ]
    answer = ask("POST", "/api/rooms/lab/readings", json={"readings": sent})
    outcome_list = answer.json()["outcomes"]
    assert outcomes(answer) == ["accepted", *["nonsense"] * 8, "accepted", "nonsense"]
    assert outcome_list[1] == {
        "time": "2026-03-02T08:01:00Z",
        "outcome": "nonsense",
        "detail": "readings[1].co2 must be a number, got 'x'",
    }
    assert [one.get("detail") for one in outcome_list[2:]] == [
        "readings[2].time must be a time such as 2026-03-02T09:00:00Z, got '9 am'",
        "readings[3] must be an object, got 5",
        "readings[4] must be an object, got null",
        "readings[5] must have co2, ventilation or another sensor",
        "readings[6].co2 must be a number, got true",
        REJECTION_TEXTS[ReadingOutcome.NONSENSE],
        REJECTION_TEXTS[ReadingOutcome.NONSENSE],
        None,
        "readings[10].time must be a time such as 2026-03-02T09:00:00Z, got 1772438400",
    ]
    assert pipeline.counters == {("http", ReadingOutcome.ACCEPTED): 2, ("http", ReadingOutcome.NONSENSE): 9}


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('{"co2": "x"}', "co2 must be a number, got 'x'"),
        ('{"co2": [1]}', "co2 must be a number, got a list"),
        ('{"ventilation": {}}', "ventilation must be a number, got an object"),
        ("{}", "the reading must have co2, ventilation or another sensor"),
        ('{"co2": 5, "time": 5}', "time must be a time such as 2026-03-02T09:00:00Z, got 5"),
        ('{"readings": 5}', "readings must be a list, got 5"),
        ("5", "the request body must be a reading or a list of readings, got 5"),
        ('"x"', "the request body must be a reading or a list of readings, got 'x'"),
        ("", "the request body must be valid JSON: EOF while parsing a value at line 1 column 0"),
        ('{"co2": NaN}', "the request body must be valid JSON: expected value at line 1 column 9"),
        ("{", "the request body must be valid JSON: EOF while parsing an object at line 1 column 1"),
        ("\xff", "the request body must be valid JSON: "),
        ("[" * 100_000, "the request body must be valid JSON: recursion limit exceeded"),
    ],
)
def test_invalid_body_is_rejected(pipeline, ask, body, line):
    headers = {"Content-Type": "application/json"}
    answer = ask("POST", "/api/rooms/lab/readings", content=body.encode("latin-1"), headers=headers)
    assert answer.status_code == 422
    assert error_detail(answer).startswith(line)
    assert not pipeline.taken


def test_infinite_number_is_nonsense(ask):
    headers = {"Content-Type": "application/json; charset=utf-8"}
    answer = ask("POST", "/api/rooms/lab/readings", content=b'{"co2": 1e999}', headers=headers)
    assert outcomes(answer) == ["nonsense"]


def test_empty_list_of_readings(ask):
    assert ask("POST", "/api/rooms/lab/readings", json=[]).json() == {"outcomes": []}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"])
def test_unsupported_media_type(ask, kind):
    answer = ask("POST", "/api/rooms/lab/readings", content=b'{"co2": 5}', headers={"Content-Type": kind})
    assert (answer.status_code, error_detail(answer)) == (
        415,
        f"Content-Type must be application/json, got '{kind}'",
    )


def test_number_of_readings_is_limited():
    pipeline = FakePipeline(make_config(limits=Limits(readings_per_post=5_000)))
    ask = Client(make_app(pipeline, pipeline.config))
    times = [(START + dt.timedelta(seconds=place)).isoformat() for place in range(5_001)]
    sent = [{"time": time, "co2": 500} for time in times]
    assert outcomes(ask("POST", "/api/rooms/lab/readings", json=sent[:-1])) == ["accepted"] * 5_000
    answer = ask("POST", "/api/rooms/lab/readings", json=sent)
    assert (answer.status_code, error_detail(answer)) == (
        413,
        "a request must have at most 5000 readings, got 5001",
    )


def test_body_size_is_limited():
    pipeline = FakePipeline(make_config(limits=Limits.model_construct(body_bytes=100)))
    ask = Client(make_app(pipeline, pipeline.config))
    fits = json.dumps({"co2": 5}).encode().ljust(100)
    headers = {"Content-Type": "application/json"}
    assert ask("POST", "/api/rooms/lab/readings", content=fits, headers=headers).status_code == 200

    async def pieces():  # has no Content-Length
        for _ in range(11):
            yield b" " * 10

    for body in (fits + b" ", pieces()):
        answer = ask("POST", "/api/rooms/lab/readings", content=body, headers=headers)
        assert (answer.status_code, error_detail(answer)) == (
            413,
            "the request body must be at most 100 bytes",
        )


def test_slow_store_responds_503(pipeline, ask):
    pipeline.durable_after = 60.0
    answer = ask("POST", "/api/rooms/lab/readings", json={"co2": 500})
    line = "the readings were not stored within 0.2 s; it is safe to send them again"
    assert (answer.status_code, error_detail(answer)) == (503, line)
    assert int(answer.headers["retry-after"]) >= 1


def test_full_backlog_responds_503(pipeline, ask, monkeypatch):
    async def full(readings):
        raise BacklogFull("200000 readings are waiting for the store: it is slow")

    monkeypatch.setattr(pipeline, "submit", full)
    answer = ask("POST", "/api/rooms/lab/readings", json={"co2": 500})
    assert (answer.status_code, error_detail(answer)) == (503, "the database is not available, retry later")
    assert int(answer.headers["retry-after"]) >= 1


def test_store_error_responds_503(pipeline, ask):
    pipeline.store.error = StoreError("store postgresql://db: gone")
    for path in ("history", "labels", "models", "models/1"):
        answer = ask("GET", f"/api/rooms/lab/{path}")
        assert (answer.status_code, error_detail(answer)) == (
            503,
            "the database is not available, retry later",
        )
    assert ask("GET", "/api/rooms").status_code == 200, "states need no store"


# ---- errors ----


def test_unknown_path(ask):
    for path in ("/nothing", "/api", "/api/rooms/", "/docs", "/api/rooms/lab/nothing"):
        answer = ask("GET", path)
        assert (answer.status_code, error_detail(answer)) == (404, "path not found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/api/rooms/lab/labels", "DELETE, GET, POST"),
        ("DELETE", "/api/rooms", "GET"),
        ("OPTIONS", "/api/rooms/lab/models", "GET, POST"),
        ("POST", "/", "GET, HEAD"),
        ("PATCH", "/api/login", "GET, POST"),
    ],
)
def test_method_not_allowed(ask, method, path, allowed):
    answer = ask(method, path)
    assert (answer.status_code, error_detail(answer)) == (405, f"method not allowed, use {allowed}")
    assert answer.headers["allow"] == allowed


def test_internal_error_reveals_nothing(pipeline, ask):
    pipeline.store.error = ZeroDivisionError("secret")
    answer = ask("GET", "/api/rooms/lab/labels")
    assert (answer.status_code, error_detail(answer)) == (
        500,
        "internal error; see the service log for details",
    )
    assert answer.headers["x-content-type-options"] == "nosniff"


# ---- health ----


@pytest.mark.parametrize(
    ("parts", "status", "word"),
    [
        ({"store": "ok", "mqtt": "connected", "engine": "ok"}, 200, "ok"),
        ({"store": "ok", "mqtt": "off", "engine": "ok"}, 200, "ok"),
        ({"store": "disk is full", "mqtt": "connected", "engine": "ok"}, 503, "failing"),
        ({"store": "ok", "mqtt": "connected", "engine": "stopped"}, 503, "failing"),
        ({"store": "ok", "mqtt": "connecting", "engine": "ok"}, 200, "degraded"),
        ({"store": "ok", "mqtt": "no link: Connection refused", "engine": "ok"}, 200, "degraded"),
        ({"store": "disk is full", "mqtt": "connecting", "engine": "ok"}, 503, "failing"),
        ({"store": "ok", "mqtt": "connecting", "bacnet": "no link"}, 200, "degraded"),
        ({"store": "ok", "mqtt": "off", "bacnet": "no link"}, 200, "degraded"),
    ],
)
def test_health(pipeline, ask, parts, status, word):
    pipeline.part_status = parts
    answer = ask("GET", "/healthz")
    assert (answer.status_code, answer.json()) == (status, {"status": word, "parts": parts})


def test_health_hides_parts_without_token():
    pipeline = FakePipeline(make_config(tokens=True))
    pipeline.part_status = {"store": "postgresql://db.intern is gone"}
    app = make_app(pipeline, pipeline.config)
    assert Client(app)("GET", "/healthz").json() == {"status": "failing"}
    assert Client(app, "read")("GET", "/healthz").json() == {
        "status": "failing",
        "parts": pipeline.part_status,
    }


def test_quality_values(pipeline, ask):
    for quality in Quality:
        pipeline.publish(make_state("lab", None, quality=quality, reason="why"))
        assert ask("GET", "/api/rooms/lab").json()["state"]["quality"] == quality.value
