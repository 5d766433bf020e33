"""Labels, models and training over HTTP."""

import datetime as dt

import pytest
from live.fake_pipeline import MODEL, START, Client, FakePipeline, error_detail, make_config, make_state

from occupair.errors import InputError
from occupair.live.config import Limits
from occupair.live.http.app import make_app
from occupair.live.http.models import MAX_MODEL_BYTES
from occupair.live.http.schemas import LabelIn
from occupair.live.messages import Label, Reading
from occupair.live.rooms.engine import is_valid_reading

OCTETS = {"Content-Type": "application/octet-stream"}


@pytest.fixture
def pipeline():
    return FakePipeline(make_config())


@pytest.fixture
def ask(pipeline):
    return Client(make_app(pipeline, pipeline.config))


# ---- labels ----


def test_labels_are_stored_replaced_and_deleted(ask):
    path = "/api/rooms/lab/labels"
    for people, time in (
        (3, "2020-03-02T08:00:00Z"),
        (5, "2020-03-02T07:00:00Z"),
        (4, "2020-03-02T09:00:00+01:00"),
    ):
        answer = ask("POST", path, json={"people": people, "time": time})
        assert answer.status_code == 201
        assert answer.json()["people"] == people
    found = ask("GET", path).json()["labels"]
    assert [(one["time"], one["people"]) for one in found] == [
        ("2020-03-02T07:00:00Z", 5),
        ("2020-03-02T08:00:00Z", 4),
    ]
    assert ask("GET", "/api/rooms/kitchen/labels").json() == {"labels": []}
    gone = ask("DELETE", path, params={"time": "2020-03-02T08:00:00"})  # 09:00 in the room
    assert (gone.status_code, gone.content) == (204, b"")
    assert [one["people"] for one in ask("GET", path).json()["labels"]] == [4]
    again = ask("DELETE", path, params={"time": "2020-03-02T07:00:00Z"})
    assert (again.status_code, error_detail(again)) == (404, "lab has no label at 2020-03-02T07:00:00Z")


def test_changed_labels_correct_the_prediction_intervals(pipeline, ask):
    path, label = "/api/rooms/lab/labels", {"people": 3, "time": "2020-03-02T08:00:00Z"}
    ask("POST", path, json=label)
    assert pipeline.tracked == ["lab"]
    ask("DELETE", path, params={"time": label["time"]})
    assert pipeline.tracked == ["lab", "lab"]
    ask("DELETE", path, params={"time": label["time"]})  # there is none any more
    ask("POST", path, json={"people": -1})
    assert pipeline.tracked == ["lab", "lab"]


@pytest.mark.parametrize("people", [0, 10_000, 3.0])
def test_valid_head_counts(ask, people):
    assert ask("POST", "/api/rooms/lab/labels", json={"people": people}).json()["people"] == int(people)


def test_label_without_time_is_now(pipeline, ask):
    before = dt.datetime.now(dt.UTC)
    ask("POST", "/api/rooms/lab/labels", json={"people": 2})
    (label,) = pipeline.store.labels("lab")
    assert before <= label.time <= label.entered <= dt.datetime.now(dt.UTC)


@pytest.mark.parametrize("source", ["typed", "confirmed", "unknown"])
def test_label_has_its_source_and_the_estimate(pipeline, ask, source):
    pipeline.publish(make_state("lab", people=7, people_exact=7.2))
    path = "/api/rooms/lab/labels"
    answer = ask("POST", path, json={"people": 7, "source": source})
    assert (answer.json()["source"], answer.json()["estimate"]) == (source, 7)
    assert ask("GET", path).json()["labels"] == [answer.json()]


def test_source_and_estimate_of_a_label_have_defaults(pipeline, ask):
    pipeline.publish(make_state("lab", people=7, people_exact=7.2))
    path, earlier = "/api/rooms/lab/labels", "2020-03-02T08:00:00Z"
    for body, expected in (
        ({"people": 6}, ("unknown", 7)),
        ({"people": 6, "time": earlier}, ("unknown", None)),  # not the estimate of that time
        ({"people": 6, "time": earlier, "source": "typed", "estimate": 5}, ("typed", 5)),
    ):
        label = ask("POST", path, json=body).json()
        assert (label["source"], label["estimate"]) == expected
    wrong = ask("POST", path, json={"people": 6, "source": "guessed"})
    assert (wrong.status_code, error_detail(wrong)) == (
        422,
        "source must be 'typed', 'confirmed' or 'unknown', got 'guessed'",
    )


def test_label_without_time_takes_the_time_of_the_pipeline(pipeline, ask):
    pipeline.config = pipeline.config.model_copy(update={"clock": "readings"})
    pipeline.publish(make_state("kitchen", time=START + dt.timedelta(hours=1)))
    answer = ask("POST", "/api/rooms/lab/labels", json={"people": 2})
    assert answer.json()["time"] == "2026-03-02T09:00:00Z"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"people": -1}, "people must be at least 0, got -1"),
        ({"people": 10_001}, "people must be at most 10000, got 10001"),
        ({"people": "3"}, "people must be an integer, got '3'"),
        ({"people": 2.5}, "people must be an integer, got 2.5"),
        ({"people": True}, "people must be an integer, got true"),
        ({"people": 10**60}, "people must be at most 10000, got an integer of more than 40 digits"),
        ({"people": None}, "people must be an integer, got null"),
        ({}, "people is required"),
        ({"people": 3, "time": "now"}, "time must be a time such as 2026-03-02T09:00:00Z, got 'now'"),
        ({"people": 3, "time": 5}, "time must be a string, got 5"),
        ([], "the request body must be an object, got a list"),
    ],
)
def test_invalid_label_is_rejected(pipeline, ask, body, line):
    answer = ask("POST", "/api/rooms/lab/labels", json=body)
    assert (answer.status_code, error_detail(answer)) == (422, line)
    assert pipeline.store.labels("lab") == []


def test_people_per_label_is_limited():
    pipeline = FakePipeline(make_config(limits=Limits(people_per_label=20)))
    ask = Client(make_app(pipeline, pipeline.config))
    answer = ask("POST", "/api/rooms/lab/labels", json={"people": 21})
    assert (answer.status_code, error_detail(answer)) == (422, "people must be at most 20, got 21")


def test_highest_setting_of_people_per_label_is_effective(pipeline, ask):
    """The setting, the schema of a request and the store have the same bound."""
    highest = Limits.model_json_schema()["properties"]["people_per_label"]["maximum"]
    assert highest == LabelIn.model_json_schema()["properties"]["people"]["maximum"]
    assert ask("POST", "/api/rooms/lab/labels", json={"people": highest}).status_code == 201
    assert [label.people for label in pipeline.store.labels("lab")] == [highest]


def test_label_in_the_future_is_rejected(ask):
    answer = ask("POST", "/api/rooms/lab/labels", json={"people": 3, "time": "2099-01-01T00:00:00Z"})
    assert (answer.status_code, error_detail(answer)) == (
        409,
        "time must not be in the future, got 2099-01-01T00:00:00Z",
    )


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
def test_label_of_an_impossible_year_is_rejected_like_a_reading(pipeline, ask, time):
    answer = ask("POST", "/api/rooms/lab/labels", json={"people": 3, "time": time})
    assert (answer.status_code, error_detail(answer)) == (
        422,
        f"time must be in the years 2000 to 2100, got {time}",
    )
    assert pipeline.store.labels("lab") == []
    assert not is_valid_reading(Reading("lab", dt.datetime.fromisoformat(time), 500.0, None, "http", START))


def test_stored_label_of_an_impossible_year_can_be_deleted(pipeline, ask):
    pipeline.store.add_label(Label("lab", dt.datetime(1, 1, 1, tzinfo=dt.UTC), 3, START))
    assert [one["time"] for one in ask("GET", "/api/rooms/lab/labels").json()["labels"]] == [
        "0001-01-01T00:00:00Z"
    ]
    assert ask("DELETE", "/api/rooms/lab/labels", params={"time": "0001-01-01T00:00:00Z"}).status_code == 204
    assert pipeline.store.labels("lab") == []


def test_time_of_deleted_label_is_required(ask):
    answer = ask("DELETE", "/api/rooms/lab/labels")
    assert (answer.status_code, error_detail(answer)) == (422, "time is required")


# ---- models ----


def test_model_round_trip(pipeline, ask):
    sent = ask(
        "POST", "/api/rooms/lab/models", params={"note": "Größe"}, content=MODEL + b"\n", headers=OCTETS
    )
    assert (sent.status_code, sent.json()) == (201, {"version": 1})
    (listed,) = ask("GET", "/api/rooms/lab/models").json()["models"]
    assert listed == {
        "version": 1,
        "origin": "upload",
        "note": "Größe",
        "sha256": listed["sha256"],
        "size": len(MODEL) + 1,
        "created": "2026-03-02T08:00:00Z",
        "active": True,
    }
    back = ask("GET", "/api/rooms/lab/models/1")
    assert back.content == MODEL + b"\n"
    assert back.headers["content-type"] == "application/octet-stream"
    assert back.headers["content-disposition"] == 'attachment; filename="lab-1.json"'


def test_activate_another_model(ask):
    for _ in range(2):
        ask("POST", "/api/rooms/lab/models", content=MODEL, headers=OCTETS)
    assert ask("POST", "/api/rooms/lab/models/1/activate").json() == {"version": 1}
    listed = ask("GET", "/api/rooms/lab/models").json()["models"]
    assert [(one["version"], one["active"]) for one in listed] == [(1, True), (2, False)]


def test_file_without_model_is_rejected(pipeline, ask):
    answer = ask("POST", "/api/rooms/lab/models", content=b"\x80\x04pickle", headers=OCTETS)
    assert (answer.status_code, error_detail(answer)) == (409, "the file is not an occupair model file")
    assert ask("GET", "/api/rooms/lab/models").json() == {"models": []}


def test_model_of_other_media_type_is_rejected(ask):
    answer = ask("POST", "/api/rooms/lab/models", content=MODEL, headers={"Content-Type": "text/plain"})
    line = "Content-Type must be application/octet-stream or application/json, got 'text/plain'"
    assert (answer.status_code, error_detail(answer)) == (415, line)


def test_model_size_is_limited(ask):
    large = MODEL.ljust(MAX_MODEL_BYTES)
    assert ask("POST", "/api/rooms/lab/models", content=large, headers=OCTETS).status_code == 201
    answer = ask("POST", "/api/rooms/lab/models", content=large + b" ", headers=OCTETS)
    assert (answer.status_code, error_detail(answer)) == (
        413,
        "the request body must be at most 20000000 bytes",
    )


@pytest.mark.parametrize(
    ("note", "line"),
    [
        ("a\nb", "note must have printable characters only, got 'a\\nb'"),
        ("x\0", "note must have printable characters only, got 'x\\x00'"),
        ("x" * 201, f"note must have at most 200 characters, got '{'x' * 37}..."),
    ],
)
def test_invalid_note_is_rejected(ask, note, line):
    answer = ask("POST", "/api/rooms/lab/models", params={"note": note}, content=MODEL, headers=OCTETS)
    assert (answer.status_code, error_detail(answer)) == (422, line)


def test_unknown_model(ask):
    ask("POST", "/api/rooms/lab/models", content=MODEL, headers=OCTETS)
    for method, path in (("GET", "kitchen/models/1"), ("POST", "kitchen/models/1/activate")):
        answer = ask(method, f"/api/rooms/{path}")
        assert (answer.status_code, error_detail(answer)) == (404, "kitchen has no model 1")
    answer = ask("GET", "/api/rooms/lab/models/99")
    assert (answer.status_code, error_detail(answer)) == (404, "lab has no model 99")


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("first", "version must be an integer, got 'first'"),
        ("0", "version must be at least 1, got '0'"),
        ("2147483648", "version must be at most 2147483647, got '2147483648'"),
        ("1" * 5000, f"version must be a smaller integer, got '{'1' * 37}..."),
    ],
)
def test_invalid_model_version_is_rejected(ask, version, line):
    answer = ask("GET", f"/api/rooms/lab/models/{version}")
    assert (answer.status_code, error_detail(answer)) == (422, line)


def test_incompatible_model_is_a_conflict(pipeline, ask, monkeypatch):
    ask("POST", "/api/rooms/lab/models", content=MODEL, headers=OCTETS)

    async def cannot(room, version):
        raise InputError("the model is of a newer version")

    monkeypatch.setattr(pipeline, "activate", cannot)
    answer = ask("POST", "/api/rooms/lab/models/1/activate")
    assert (answer.status_code, error_detail(answer)) == (409, "the model is of a newer version")


# ---- training ----


def test_training_cycle(ask):
    path = "/api/rooms/lab/training"
    idle = {"status": "idle", "progress": 0.0, "message": ""}
    evidence = {"labels": 4, "days": 4, "occupied_days": 3, "independent": True, "occupied_rmse": None}
    scores = {
        "old": {"rmse": 2.5} | evidence,
        "new": {"rmse": None} | evidence,
        "new_on_same_days": {"rmse": 3.0} | evidence,
        "better": "old",
    }
    assert ask("GET", path).json() == idle | scores
    too_early = ask("POST", path)
    assert (too_early.status_code, error_detail(too_early)) == (409, "lab has no labels to train from")
    ask("POST", "/api/rooms/lab/labels", json={"people": 2})
    started = ask("POST", path)
    assert (started.status_code, started.json()["status"]) == (202, "done")
    assert ask("POST", f"{path}/accept").json() == idle | scores
    nothing = ask("POST", f"{path}/accept")
    assert (nothing.status_code, error_detail(nothing)) == (409, "lab has no new model")
    nothing = ask("DELETE", path)
    assert (nothing.status_code, error_detail(nothing)) == (
        409,
        "lab is not being trained and has no new model",
    )
    ask("POST", path)
    assert ask("DELETE", path).status_code == 204


def test_training_unavailable(pipeline, ask):
    pipeline.trainer = None
    answer = ask("POST", "/api/rooms/lab/training")
    assert (answer.status_code, error_detail(answer)) == (503, "training is not available in this service")


def test_forget_deletes_labels_of_one_room(ask):
    for room in ("lab", "kitchen"):
        ask("POST", f"/api/rooms/{room}/labels", json={"people": 2})
    assert ask("POST", "/api/rooms/lab/forget").status_code == 204
    assert ask("GET", "/api/rooms/lab/labels").json() == {"labels": []}
    assert len(ask("GET", "/api/rooms/kitchen/labels").json()["labels"]) == 1
