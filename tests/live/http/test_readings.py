"""Readings sent over HTTP: formats, rejected readings, limits and a slow store."""

import datetime as dt
import json

import pytest
from live.fake_pipeline import START, Client, FakePipeline, error_detail, make_config

from occupair.live.config import Limits
from occupair.live.http.app import make_app
from occupair.live.http.schemas import Outcomes
from occupair.live.messages import REJECTION_TEXTS, ReadingOutcome
from occupair.live.room_pipeline import BacklogFull


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
