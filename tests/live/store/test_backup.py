"""Backup and restore between SQLite and PostgreSQL; an invalid backup changes nothing."""

import datetime as dt
import hashlib
import importlib
import json
import os
import random
import threading
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from live.postgres import empty_database
from live.store_helpers import at, estimate, newer_version, reading
from sqlalchemy import select, text

from occupair.errors import InputError
from occupair.live.messages import Label, Quality
from occupair.live.store import Place, Store, StoreError, backup, database, restore, schema, service_lock

KINDS = ["sqlite", "postgresql"]
backup_module = importlib.import_module("occupair.live.store.backup")  # not the function of this name


@pytest.fixture(params=KINDS)
def source(request, tmp_path):
    """URL of a store with rows in every table."""
    (tmp_path / "source").mkdir()
    url = empty_database(request.param, tmp_path / "source")
    fill(url)
    return url


@pytest.fixture(params=KINDS)
def target(request, tmp_path):
    """URL of an empty store, without tables."""
    (tmp_path / "target").mkdir()
    return empty_database(request.param, tmp_path / "target")


@pytest.fixture
def file(tmp_path):
    """A backup of a store with rows in every table."""
    (tmp_path / "first").mkdir()
    url = f"sqlite:///{tmp_path / 'first/rooms.db'}"
    fill(url)
    backup(url, tmp_path / "rooms.zip")
    return tmp_path / "rooms.zip"


def fill(url: str) -> None:
    with closing(Store(url)) as store:
        store.migrate()
        store.write(
            [
                reading(room, k / 3, co2=400 + k / 7, ventilation=k % 2 or None)
                for room in "ab"
                for k in range(50)
            ]
            + [reading("büro\n½", 0, co2=float("inf")), reading("c", 1)],
            [estimate("a", k, people=k / 9 if k else None, quality=Quality.STALE) for k in range(40)],
        )
        store.add_label(Label("a", at(0), 3, at(1)))
        store.set_zones({"a": "Europe/Berlin"})
        store.room_numbers(["b", "a"])
        store.set_plan("1", bytes(range(256)) * 20, media_type="image/png", width=4, height=3)
        store.set_place("a", Place(0.25, 0.75))
        for origin in ("file", "upload", "trained"):
            version = store.add_model("a", bytes(range(256)) * 100, origin=origin, note=f"naïve {origin}")
        store.activate("a", version - 1)
        store.add_model("b", b"", origin="file")


def contents(url: str) -> dict:
    """Return all rows of all tables."""
    with closing(Store(url)) as store:
        return contents_of(store)


def contents_of(store: Store) -> dict:
    with store.engine.connect() as connection:
        return {
            name: connection.execute(select(table).order_by(*table.primary_key.columns)).all()
            for name, table in schema.metadata.tables.items()
        }


def test_restore_equals_the_original_in_either_database(source, target, tmp_path):
    before = contents(source)
    backup(source, tmp_path / "rooms.zip")
    restore(tmp_path / "rooms.zip", target)
    assert contents(target) == before == contents(source)
    with closing(Store(target)) as store:
        store.migrate()
        assert store.active_model("a")[1] == bytes(range(256)) * 100
        highest = max(row.id for row in before["models"])
        assert store.add_model("a", b"new", origin="file") == highest + 1
        assert store.room_numbers(["a", "new"]) == {"a": 2, "new": 3}
        store.write([reading("a", 999, co2=1.0)], [])


def test_large_plan_is_restored(target, tmp_path):
    data = random.Random(0).randbytes(3_000_000)
    url = f"sqlite:///{tmp_path}/plans.db"
    with closing(Store(url)) as store:
        store.migrate()
        store.set_plan("1", data, media_type="image/png", width=4, height=3)
    backup(url, tmp_path / "rooms.zip")
    restore(tmp_path / "rooms.zip", target)
    with closing(Store(target)) as store:
        assert store.plan("1")[1] == data


def test_backup_is_readable_without_occupair(source, tmp_path):
    backup(source, tmp_path / "rooms.zip")
    with zipfile.ZipFile(tmp_path / "rooms.zip") as archive:
        assert archive.testzip() is None
        about = json.loads(archive.read("manifest.json"))
        lines = archive.read("labels.jsonl")
    assert (about["format"], about["version"], about["revision"]) == ("occupair-backup", 1, "0007")
    assert dt.datetime.fromisoformat(about["created"]).tzinfo is not None
    time = 1_704_700_800_000_000  # 2024-01-08 08:00 in UTC [us]
    assert [json.loads(line) for line in lines.splitlines()] == [
        ["a", time, 3, time + 60_000_000, "unknown", None]
    ]
    assert about["tables"]["labels"] == {
        "columns": ["room", "time", "people", "entered", "source", "estimate"],
        "rows": 1,
        "sha256": hashlib.sha256(lines).hexdigest(),
    }


def test_backup_during_writes_is_a_snapshot(target, tmp_path):
    with closing(Store(target)) as store:
        store.migrate()
        started, stop, written = threading.Event(), threading.Event(), []

        def write():
            k = 0
            while not stop.is_set():
                store.write([reading("a", k + n / 100, co2=1.0) for n in range(50)], [estimate("z", k)])
                written.append(k)
                k += 1
                if k == 5:
                    started.set()

        writer = threading.Thread(target=write)
        writer.start()
        started.wait()
        try:
            for _ in range(3):
                before = len(written)
                backup(target, tmp_path / "rooms.zip")
                after = len(written) + 1
                rows = lines_of(tmp_path / "rooms.zip")
                assert rows["readings"] == 50 * rows["estimates"]
                assert before <= rows["estimates"] <= after
        finally:
            stop.set()
            writer.join()


def lines_of(path: Path) -> dict[str, int]:
    with zipfile.ZipFile(path) as archive:
        return {name: len(archive.read(f"{name}.jsonl").splitlines()) for name in schema.metadata.tables}


def test_store_with_rows_is_replaced_only_on_request(file, target):
    with closing(Store(target)) as store:
        store.migrate()
        store.add_label(Label("mine", at(0), 1, at(0)))
    before = contents(target)
    with pytest.raises(
        InputError, match=r"^store \S+: is not empty, it has labels: use an empty store or --replace"
    ):
        restore(file, target)
    assert contents(target) == before
    restore(file, target, replace=True)
    assert contents(target) == contents(f"sqlite:///{file.parent / 'first/rooms.db'}")


def test_open_store_sees_the_restored_rows(file, target):
    with closing(Store(target)) as store:
        store.migrate()
        for _ in range(8):  # until PostgreSQL uses prepared statements
            store.write([reading("a", 500, co2=1.0)], [])
            store.readings("a", None, None)
        restore(file, target, replace=True)
        assert len(store.readings("a", None, None)) == 50
        store.write([reading("a", 500, co2=1.0)], [])
        assert len(store.readings("a", None, None)) == 51


def test_older_backup_is_upgraded(file, target, tmp_path, monkeypatch):
    newer_version(monkeypatch, tmp_path / "newer")
    restore(file, target)
    with closing(Store(target)) as store:
        with store.engine.connect() as connection:
            assert connection.execute(text("SELECT people, by FROM labels")).all() == [(3, "unknown")]
        assert len(store.readings("a", None, None)) == 50
    backup(target, tmp_path / "newer.zip")
    monkeypatch.undo()
    with pytest.raises(
        InputError, match=r"newer.zip: made by a newer version of occupair: .*revision '9999'"
    ):
        restore(tmp_path / "newer.zip", target, replace=True)


def test_damaged_backup_is_detected_and_changes_nothing(file, tmp_path):
    target = f"sqlite:///{tmp_path / 'target.db'}"
    whole, draw = file.read_bytes(), random.Random(8)
    damaged = tmp_path / "damaged.zip"
    expected = contents(f"sqlite:///{tmp_path / 'first/rooms.db'}")
    survived = 0
    for k in range(120):
        data = bytearray(whole)
        if k % 3 == 0:
            del data[draw.randrange(len(data)) :]
        elif k % 3 == 1:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        else:  # in the directory of the zip file
            data[draw.randrange(len(data) - 400, len(data))] = draw.randrange(256)
        damaged.write_bytes(data)
        message = rejection(damaged, target)
        if message is None:  # a bit without effect, such as in the date of a member
            survived += 1
            assert contents(target) == expected
            (tmp_path / "target.db").unlink()
        else:
            assert message.startswith(f"{damaged}: ")
            assert "\n" not in message
            assert not (tmp_path / "target.db").exists()
    assert survived < 30


def rejection(path: Path, url: str) -> str | None:
    """Return the error of a restore, None if it succeeds."""
    try:
        restore(path, url)
    except InputError as error:
        return str(error)
    return None


def modified(file: Path, name: str = "labels", **changes) -> Path:
    """Write a modified backup with correct checksums."""
    with zipfile.ZipFile(file) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    about = json.loads(members["manifest.json"])
    if "row" in changes:
        line = (
            changes["row"]
            if isinstance(changes["row"], bytes)
            else json.dumps(changes["row"]).encode() + b"\n"
        )
        members[f"{name}.jsonl"] = line
        about["tables"][name].update(rows=1, sha256=hashlib.sha256(line).hexdigest())
    about["tables"][name].update(changes.get("entry", {}))
    for extra in changes.get("extra", []):
        about["tables"][extra] = about["tables"]["labels"]
        members[f"{extra}.jsonl"] = members["labels.jsonl"]
    for gone in changes.get("gone", []):
        del members[gone]
    members["manifest.json"] = json.dumps({**about, **changes.get("about", {})}).encode()
    path = file.parent / "changed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return path


REST = ["typed", None]  # source and estimate of a label
ESTIMATE = ["a", 1, *[None] * 7]
MODEL = [1, "a", "file", "", "0" * 64, 1, 0, True]
INVALID = [
    ({"row": ["a", 1, 3]}, "invalid row"),
    ({"row": b"{\n"}, "invalid row"),
    ({"row": b"[" * 100_000}, "invalid row"),
    ({"row": ["a", "noon", 3, 0, *REST]}, "invalid time of labels: 'noon'"),
    ({"row": ["a", 1.5, 3, 0, *REST]}, "invalid time of labels: 1.5"),
    ({"row": ["a", 1, True, 0, *REST]}, "invalid people of labels: True"),
    ({"row": ["a", 1, None, 0, *REST]}, "invalid people of labels: None"),
    ({"row": [7, 1, 3, 0, *REST]}, "invalid room of labels: 7"),
    ({"row": ["a", 1, 3, 0, None, None]}, "invalid source of labels: None"),
    ({"row": ["a", 1, 3, 0, "typed", 1.5]}, "invalid estimate of labels: 1.5"),
    ({"name": "models", "row": [*MODEL, "%%%"]}, "invalid data of models: '%%%'"),
    ({"name": "models", "row": [*MODEL, 5]}, "invalid data of models: 5"),
    (
        {"name": "readings", "row": ["a", 1, [400], None, "x", 0, *[None] * 7]},
        r"invalid co2 of readings: \[400\]",
    ),
    ({"row": ["a", 2**63, 3, 0, *REST]}, "invalid time of labels: 9223372036854775808"),
    ({"row": ["\ud800", 1, 3, 0, *REST]}, "invalid room of labels"),
    (
        {"row": 2 * (json.dumps(["a", 1, 3, 0, *REST]).encode() + b"\n"), "entry": {"rows": 2}},
        "rows of labels contradict each other",
    ),
    ({"name": "estimates", "row": [*ESTIMATE, "fine"]}, "invalid quality of estimates: 'fine'"),
    ({"name": "estimates", "row": [*ESTIMATE, ["ok"]]}, r"invalid quality of estimates: \['ok'\]"),
    ({"entry": {"rows": 2}}, "the rows or the checksum of labels do not match the manifest"),
    ({"entry": {"columns": ["room", "time", "people", "by"]}}, "unexpected columns of labels"),
    ({"entry": {"columns": None}}, "missing or invalid manifest"),
    (
        {"extra": ["passwords"]},
        "unexpected tables: readings, estimates, labels, models, zones, bacnet_rooms, shards, "
        "room_states, plans, places, passwords",
    ),
    ({"gone": ["models.jsonl"]}, "files named in the manifest are missing"),
    ({"about": {"format": "else"}}, "files named in the manifest are missing"),
    ({"about": {"tables": []}}, "missing or invalid manifest"),
    ({"about": {"version": 2}}, "made by a newer version of occupair: format 2, revision '0007'"),
    ({"about": {"revision": "x"}}, "made by a newer version of occupair: format 1, revision 'x'"),
    ({"about": {"revision": ["0003"]}}, "made by a newer version of occupair"),
]


def test_modified_backup_is_rejected(file, target):
    with closing(Store(target)) as store:
        store.migrate()
        store.add_label(Label("mine", at(0), 1, at(0)))
        before = contents_of(store)
        for changes, message in INVALID:
            path = modified(file, **changes)
            with pytest.raises(InputError, match=f"^{path}: .*{message}"):
                restore(path, target, replace=True)
            assert contents_of(store) == before


def test_other_files_are_rejected(tmp_path):
    target = f"sqlite:///{tmp_path / 'target.db'}"
    (tmp_path / "empty.zip").write_bytes(b"")
    (tmp_path / "notes.zip").write_text("not a zip file")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("photo.jpg", b"")
    for name in ("empty.zip", "notes.zip", "other.zip"):
        with pytest.raises(InputError, match=f"{name}: not an occupair backup, or damaged: "):
            restore(tmp_path / name, target)
    with pytest.raises(FileNotFoundError, match=r"none\.zip"):
        restore(tmp_path / "none.zip", target)
    with pytest.raises(IsADirectoryError):
        restore(tmp_path, target)
    assert not (tmp_path / "target.db").exists()


def test_database_of_another_program_is_not_changed(file, target):
    with closing(Store(target)) as store:
        with store.engine.begin() as connection:
            connection.execute(text("CREATE TABLE models (name text)"))
            connection.execute(text("INSERT INTO models VALUES ('a car')"))
        with pytest.raises(InputError, match=r"^store \S+: table models was not created by occupair"):
            restore(file, target, replace=True)
        with store.engine.connect() as connection:
            assert connection.execute(text("SELECT name FROM models")).scalar() == "a car"
        with pytest.raises(StoreError, match=r"models"):
            store.migrate()


def test_interrupted_restore_changes_nothing(file, target, monkeypatch):
    with closing(Store(target)) as store:
        store.migrate()
        store.add_label(Label("mine", at(0), 1, at(0)))
    before = contents(target)
    fill_table, filled = backup_module._fill, []

    def interrupted(connection, table, *others):
        if len(filled) == 3:
            raise KeyboardInterrupt
        filled.append(table.name)
        fill_table(connection, table, *others)

    monkeypatch.setattr(backup_module, "_fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        restore(file, target, replace=True)
    assert len(filled) == 3
    assert contents(target) == before


def test_backup_of_nothing_is_rejected(target, tmp_path):
    path = tmp_path / "rooms.zip"
    path.write_text("the last backup")
    message = "no such file" if target.startswith("sqlite") else "has no occupair tables"
    with pytest.raises(InputError, match=f"^store \\S+: {message}"):
        backup(target, path)
    with closing(Store(target)) as store:
        assert store.ping()
    with pytest.raises(InputError, match="has no occupair tables: nothing to back up"):
        backup(target, path)
    assert path.read_text() == "the last backup"
    fill(f"sqlite:///{tmp_path / 'full.db'}")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        backup(f"sqlite:///{tmp_path / 'full.db'}", tmp_path / "no such folder/rooms.zip")


def test_failed_backup_keeps_the_previous_file(source, tmp_path, monkeypatch):
    path = tmp_path / "rooms.zip"
    backup(source, path)
    last = path.read_bytes()

    def full(value):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup_module, "_to_json", full)
    with pytest.raises(OSError, match="No space left on device"):
        backup(source, path)
    assert path.read_bytes() == last
    assert [one.name for one in tmp_path.glob("*.zip")] + [one.name for one in tmp_path.glob(".*")] == [
        "rooms.zip"
    ]


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_new_files_are_readable_by_their_owner_only(tmp_path, umask):
    before = os.umask(umask)
    try:
        for name in ("rooms.db", "restored.db"):
            url = f"sqlite:///{tmp_path / name}"
            if name == "rooms.db":
                fill(url)
                with closing(Store(url)) as store, service_lock(store.engine):
                    store.write([reading("a", 1000, co2=500.0)], [])
                    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
                names = ("rooms.db", "rooms.db-lock", "rooms.db-shm", "rooms.db-wal")
                assert modes == dict.fromkeys(names, 0o600)
                (tmp_path / "rooms.zip").touch()  # one made by an earlier version
                backup(url, tmp_path / "rooms.zip")
            else:
                restore(tmp_path / "rooms.zip", url)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_existing_database_keeps_its_mode(tmp_path):
    (tmp_path / "rooms.db").touch(mode=0o640)
    (tmp_path / "rooms.db").chmod(0o640)
    fill(f"sqlite:///{tmp_path}/rooms.db")
    assert (tmp_path / "rooms.db").stat().st_mode & 0o777 == 0o640


def forged(path, members):
    """Write a zip archive with a valid manifest: one row in each of the given tables, none in the others."""
    revision = max(database.revisions())
    tables = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, table in schema.metadata.tables.items():
            pieces, digest = members.get(name, []), hashlib.sha256()
            tables[name] = {"columns": list(table.c.keys()), "rows": min(1, len(pieces))}
            with archive.open(f"{name}.jsonl", "w", force_zip64=True) as file:
                for piece in pieces:
                    file.write(piece)
                    digest.update(piece)
            tables[name]["sha256"] = digest.hexdigest()
        manifest = {"format": "occupair-backup", "version": 1, "revision": revision, "tables": tables}
        archive.writestr("manifest.json", json.dumps(manifest))
    return path


def peak_memory(work):
    """Return the most memory that was in use meanwhile [bytes]."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def zeros(megabytes):
    return [b"0" * 1_000_000] * megabytes


def pseudo_random(megabytes):
    """Return digits that compress to half their size."""
    return [random.Random(seed).randbytes(500_000).hex().encode() for seed in range(megabytes)]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"readings": zeros(300)}, "0.3 MB that unpack to 300 MB"),
        ({"readings": pseudo_random(20)}, "a row of readings is longer than 1 MB"),
        ({"models": [b"[", b"[]," * 3_000_000, b"[]]\n"]}, "invalid row"),
    ],
    ids=["bomb", "long row", "list of lists"],
)
def test_restore_of_a_forged_file_needs_little_memory(tmp_path, members, message):
    path = forged(tmp_path / "forged.zip", members)
    url = f"sqlite:///{tmp_path}/rooms.db"

    def work():
        with pytest.raises(InputError, match=f"^{path}: not an occupair backup, or damaged: .*{message}"):
            restore(path, url)

    assert peak_memory(work) < 60_000_000
    assert not (tmp_path / "rooms.db").exists()


def test_manifest_has_a_limited_size(tmp_path):
    path = tmp_path / "forged.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b" " * 5_000_000)
    with pytest.raises(InputError, match="not an occupair backup, or damaged: a manifest of 5 MB"):
        restore(path, f"sqlite:///{tmp_path}/rooms.db")


def test_understated_size_is_detected(tmp_path):
    path = forged(tmp_path / "forged.zip", {"readings": zeros(300)})
    data = path.read_bytes()
    size = (300_000_000).to_bytes(4, "little")
    assert size in data
    path.write_bytes(data.replace(size, (1000).to_bytes(4, "little")))
    with pytest.raises(InputError, match="not an occupair backup, or damaged: "):
        restore(path, f"sqlite:///{tmp_path}/rooms.db")


def test_constant_estimates_can_be_restored(tmp_path, monkeypatch):
    """The most compressible rows of a real store: an unoccupied room with a constant sensor."""
    monkeypatch.setattr(backup_module, "SMALL_BYTES", 0)
    url, copy = f"sqlite:///{tmp_path}/rooms.db", f"sqlite:///{tmp_path}/copy.db"
    with closing(Store(url)) as store:
        store.migrate()
        store.write([], [estimate("a", k, people=0.0, low=0.0, high=0.0) for k in range(5_000)])
    backup(url, tmp_path / "rooms.zip")
    restore(tmp_path / "rooms.zip", copy)
    with closing(Store(copy)) as store:
        assert len(store.estimates("a", None, None, limit=10_000)) == 5_000
