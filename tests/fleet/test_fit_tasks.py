"""Tasks of training: fingerprints, what is written when, and what is done again."""

import json
from dataclasses import replace

import pytest
from fleet.portfolio import plant_faults, room_readings
from fleet.trained_rooms import model_of_room

import occupair as oc
from occupair.errors import InputError
from occupair.fleet import fit_tasks
from occupair.fleet.fit_tasks import (
    FitSettings,
    fingerprint,
    fit_rooms,
    model_name,
    result_name,
    stored_result,
)
from occupair.fleet.portfolio_start import FILE as START
from occupair.fleet.read_room import UnavailableError
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_result import RoomResult, result_from_json, result_to_json
from occupair.fleet.room_sources import Part, RoomSource, find_rooms
from occupair.fleet.storage import Storage
from occupair.model_file import dump_model, parse_model
from occupair.readings.files import read_labelled, write_readings


class Room:
    """A room whose training is replaced by a finished model; ``trained`` counts how often it is trained."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.trained, self.error = folder, 0, None
        self.storage = Storage(str(folder / "out"))
        self.settings = FitSettings(self.storage.url)
        self.source = RoomSource("lab", (Part(str(folder / "lab.csv")),))
        self.write(room_readings(3))
        monkeypatch.setattr(fit_tasks, "train_room", self.train)

    def write(self, readings):
        write_readings(readings, self.folder / "lab.csv")

    def train(self, raw, room, options, settings):
        self.trained += 1
        if self.error is not None:
            raise self.error
        self.settings_used = settings
        return parse_model(model_of_room(3)), RoomResult(room, "trained", "head counts")

    def fit(self, **changes):
        report = fit_rooms((replace(self.source, **changes),), self.settings)
        (result,) = report.results
        assert report.n_unchanged in (0, 1)
        return result

    @property
    def model(self):
        return self.storage.read(model_name("lab"))


@pytest.fixture
def room(tmp_path, monkeypatch):
    return Room(tmp_path, monkeypatch)


def test_trained_room_has_a_model_and_a_result(room):
    result = room.fit()
    assert room.model == model_of_room(3)
    assert (result.model, result.model_bytes) == ("rooms/lab.occupair", len(room.model))
    assert result.seconds > 0
    read = result_from_json(room.storage.read("rooms/lab.json"))
    assert repr(read) == repr(stored_result(room.storage, "lab"))  # NaN is not equal to itself
    stored = json.loads(room.storage.read("rooms/lab.json"))
    assert (stored["room"], stored["status"], stored["error"]) == ("lab", "trained", None)
    assert stored["fingerprint"] == result.fingerprint != ""


def test_model_is_written_before_its_result(room, monkeypatch):
    written, write = [], Storage.write

    def record(storage, name, content):
        written.append(name)
        write(storage, name, content)

    monkeypatch.setattr(Storage, "write", record)
    room.fit()
    assert written == ["rooms/lab.occupair", "rooms/lab.json"]


def test_room_killed_between_model_and_result_is_trained_again(room, monkeypatch):
    write = Storage.write

    def write_models_only(storage, name, content):
        if name.endswith(".json"):
            raise KeyboardInterrupt
        write(storage, name, content)

    with monkeypatch.context() as patch:
        patch.setattr(Storage, "write", write_models_only)
        with pytest.raises(KeyboardInterrupt):
            room.fit()
    assert room.model is not None
    assert stored_result(room.storage, "lab") is None
    room.fit()
    assert room.trained == 2
    assert stored_result(room.storage, "lab").status == "trained"


def test_unchanged_room_is_not_trained_again(room):
    first = room.fit()
    again = fit_rooms((room.source,), room.settings)
    assert again.n_unchanged == 1
    assert repr(again.results) == repr((stored_result(room.storage, "lab"),))
    assert again.results[0].fingerprint == first.fingerprint
    assert room.trained == 1


@pytest.mark.parametrize("change", ["data", "option", "default", "seed", "start", "version", "format"])
def test_changed_room_is_trained_again(room, monkeypatch, change):
    first, changes = room.fit(), {}
    if change == "data":
        room.write(room_readings(3).iloc[:-1])
    elif change == "option":
        changes = {"options": RoomOptions(properties={"volume": 90.0, "capacity": 4.0})}
    elif change == "default":
        changes = {"options": RoomOptions().over(RoomOptions(timezone="Europe/Berlin"))}
    elif change == "seed":
        room.settings = replace(room.settings, seed=1)
    elif change == "start":
        room.settings = replace(room.settings, start="0123")
    elif change == "version":
        monkeypatch.setattr(fit_tasks, "__version__", "99.0")
    else:
        monkeypatch.setattr(fit_tasks, "VERSION", 99)
    second = room.fit(**changes)
    assert room.trained == 2
    assert second.fingerprint != first.fingerprint
    assert room.fit(**changes).fingerprint == second.fingerprint
    assert room.trained == 2


def test_moved_files_have_the_same_fingerprint(room):
    settings = FitSettings("out")
    named = replace(room.source, options=RoomOptions(file=("x.csv",)))
    moved = RoomSource("lab", (Part("elsewhere/x.csv"),))
    marks = {fingerprint(source, settings, "0") for source in (room.source, named, moved)}
    assert len(marks) == 1
    assert fingerprint(room.source, FitSettings("other", retry=True), "0") in marks
    assert fingerprint(room.source, settings, "1") not in marks


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"room": "lab"}', b'{"room": "lab", "sta', b"\xff\xfe"]
)
def test_damaged_result_is_replaced(room, content):
    room.fit()
    room.storage.write(result_name("lab"), content)
    assert stored_result(room.storage, "lab") is None
    room.fit()
    assert room.trained == 2
    assert stored_result(room.storage, "lab").status == "trained"


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_damaged_model_is_trained_again(room, damage):
    room.fit()
    if damage == "missing":
        room.storage.delete(model_name("lab"))
    else:
        room.storage.write(model_name("lab"), room.model[:-1])
    room.fit()
    assert room.trained == 2
    assert room.model == model_of_room(3)


@pytest.mark.parametrize("how", ["reading", "training", "result"])
def test_room_that_fails_now_loses_its_model(room, monkeypatch, how):
    room.fit()
    if how == "reading":
        (room.folder / "lab.csv").write_text("")
        expected = "lab.csv: is empty"
        monkeypatch.undo()
    elif how == "training":
        room.write(room_readings(4))
        room.error, expected = InputError("cannot be trained"), "cannot be trained"
    else:
        room.write(room_readings(4).assign(occupancy=0))
        expected = "nobody was in the room at any head count"
        monkeypatch.undo()
    result = room.fit()
    assert result.status == "failed"
    assert result.reason.startswith(expected)
    assert (result.model, result.model_bytes) == ("", 0)
    assert room.model is None
    assert stored_result(room.storage, "lab").reason == result.reason


def test_failure_of_the_data_is_not_tried_again_unless_asked(room):
    room.error = InputError("too few readings")
    room.fit()
    assert fit_rooms((room.source,), room.settings).n_unchanged == 1
    assert room.trained == 1
    room.settings = replace(room.settings, retry=True)
    assert room.fit().reason == "too few readings"
    assert room.trained == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UnavailableError("lab.csv: cannot be fetched: timeout"), "lab.csv: cannot be fetched: timeout"),
        (MemoryError(), "out of memory: give the workers more, or fewer readings"),
        (KeyError("x"), "unexpected error, please report it: KeyError: 'x'"),
    ],
)
def test_failure_that_may_pass_is_tried_again_and_keeps_the_model(room, error, reason):
    room.fit()
    room.write(room_readings(4))
    room.error = error
    result = room.fit()
    assert (result.status, result.reason, result.fingerprint) == ("failed", reason, "")
    assert room.model == model_of_room(3)
    room.error = None
    assert room.fit().status == "trained"
    assert room.trained == 3


def test_start_is_read_for_rooms_that_need_it(room):
    room.fit()
    assert room.settings_used.start is None
    room.settings = replace(room.settings, start="0123", seed=5)
    room.fit()
    assert room.settings_used.seed == 5
    with pytest.raises(UnavailableError, match=rf"^{START} has changed during the run$"):
        room.settings_used.start(15.0)


def test_reason_is_one_line_of_limited_length(room):
    room.error = InputError("has no column 'co2', only " + "'a\nb', " * 1000)
    reason = room.fit().reason
    assert reason.startswith(r"has no column 'co2', only 'a\nb', 'a\nb'")
    assert reason.endswith("...")
    assert len(reason) == 500


def test_names_of_files():
    assert model_name("north/2.04") == "rooms/north%2F2.04.occupair"
    assert result_name("..") == "rooms/%2E..json"


def test_models_are_those_of_single_fits_and_faults_are_rows(tmp_path):
    """A batch with a good room between rooms with planted faults, in one task."""
    plant_faults(tmp_path / "data")
    write_readings(room_readings(5), tmp_path / "data/good.csv")
    (tmp_path / "data/dir.csv").mkdir()
    (tmp_path / "data/zero.parquet").write_bytes(b"")
    sources = [one for one in find_rooms(str(tmp_path / "data")) if one.room != "sparse"]
    report = fit_rooms(tuple(sources), FitSettings(str(tmp_path / "out"), seed=3))
    alone = oc.OccupancyEstimator(random_state=3).fit(read_labelled(tmp_path / "data/good.csv"))
    assert (tmp_path / "out/rooms/good.occupair").read_bytes() == dump_model(alone)
    results = {result.room: result for result in report.results}
    assert [result.room for result in report.results] == [source.room for source in sources]
    reasons = {room: result.reason for room, result in results.items() if result.status == "failed"}
    assert sorted(reasons) == [
        "clock", "columns", "duplicates", "empty", "nan", "nobody", "parquet", "uncounted", "zero",
    ]  # fmt: skip
    assert all(text and "unexpected" not in text and "\n" not in text for text in reasons.values())
    assert reasons["zero"] == "zero.parquet: is not a Parquet file, or is damaged"
    assert len(list((tmp_path / "out/rooms").glob("*.occupair"))) == 1
    assert len(list((tmp_path / "out/rooms").glob("*.json"))) == 10


def test_results_survive_json():
    result = RoomResult("Büro/2", "fallback", "few head counts", "a reason", missing=0.25, ventilation=True)
    again = result_from_json(result_to_json(result))
    assert result_to_json(again) == result_to_json(result)
    assert (again.room, again.missing, again.ventilation) == ("Büro/2", 0.25, True)
