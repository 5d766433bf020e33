"""Backup and restore between SQLite and PostgreSQL."""

import datetime as dt
import hashlib
import json
import os
import random
import threading
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from live.store_helpers import at, backup_module, contents, estimate, fill, newer_version, reading
from sqlalchemy import text

from occupair.errors import InputError
from occupair.live.messages import Label
from occupair.live.store import Store, StoreError, backup, restore, schema, service_lock


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
    with pytest.raises(StoreError, match=r"by a newer version \(revision '9999'\)"):
        restore(file, target, replace=True)


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
