"""Damaged, modified, forged and interrupted backups change nothing."""

import hashlib
import json
import random
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from live.store_helpers import at, backup_module, contents, contents_of
from sqlalchemy import text

from occupair.errors import InputError
from occupair.live.messages import Label
from occupair.live.store import Store, StoreError, database, restore, schema


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
