"""Rooms, their states, and stored estimates over HTTP."""

import math

import pytest
from live.fake_pipeline import error_detail, make_estimates, make_state

from occupair.live.config import OutdoorAirTable
from occupair.live.http.schemas import History, Room, Rooms
from occupair.live.messages import Quality
from occupair.live.reasons import Cause, Reason


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


def test_quality_values(pipeline, ask):
    for quality in Quality:
        pipeline.publish(make_state("lab", None, quality=quality, reason="why"))
        assert ask("GET", "/api/rooms/lab").json()["state"]["quality"] == quality.value


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
