"""Backups of a store, also with checksums that match their changed contents."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from occupair.live.store import Store
from occupair.live.store.backup import restore
from tools.fuzz.byte_mutations import mutate_bytes
from tools.fuzz.json_mutations import mutate_json
from tools.fuzz.scratch import scratch_file, scratch_folder
from tools.fuzz.trial import check

_BACKUP = Path(__file__).parents[3] / "tests/compatibility/2026-11/store-backup.zip"
_ROWS = 3  # of each table, so that a restore is fast


@cache
def _example() -> tuple[dict[str, Any], dict[str, list[bytes]]]:
    """Return the manifest and some rows of each table."""
    with zipfile.ZipFile(_BACKUP) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        rows = {name: archive.read(f"{name}.jsonl").splitlines(keepends=True) for name in manifest["tables"]}
    return manifest, {
        name: [line for line in lines if len(line) < 5_000][:_ROWS] for name, lines in rows.items()
    }


def generate(random: Random) -> bytes:
    manifest, tables = _example()
    tables = {name: list(lines) for name, lines in tables.items()}
    if random.random() < 0.6:
        name = random.choice([name for name, lines in tables.items() if lines])
        place = random.randrange(len(tables[name]))
        row = mutate_json(json.loads(tables[name][place]), random)
        tables[name][place] = json.dumps(row).encode() + b"\n"
        if random.random() < 0.2:
            tables[name][place] = mutate_bytes(tables[name][place], random)
        if random.random() < 0.1:
            tables[name].append(tables[name][place])  # the same key twice
    entries = {
        name: {
            **manifest["tables"][name],
            "rows": len(lines),
            "sha256": hashlib.sha256(b"".join(lines)).hexdigest(),
        }
        for name, lines in tables.items()
    }
    manifest = {**manifest, "tables": entries}
    if random.random() < 0.3:
        names = [*tables, "columns", "rows", "sha256", "revision", "0001", "0007"]
        manifest = mutate_json(manifest, random, names)
    file = io.BytesIO()
    kind = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, lines in tables.items():
            archive.writestr(_member(f"{name}.jsonl"), b"".join(lines))
        archive.writestr(_member("manifest.json"), json.dumps(manifest))
    data = file.getvalue()
    return mutate_bytes(data, random) if random.random() < 0.3 else data


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name)  # without the time, so that inputs can be repeated


def run(data: bytes) -> None:
    """Restore a backup, and read the store."""
    file = scratch_folder() / "restored.db"
    try:
        restore(scratch_file("backup.zip", data), f"sqlite:///{file}")
        store = Store(f"sqlite:///{file}")
        try:
            store.migrate()
            store.plans()
            store.places()
            for room in ("lab", "office"):
                store.readings(room, None, None)
                store.estimates(room, None, None, limit=100)
                store.models(room)
        finally:
            store.close()
        check(file.exists(), "the store must exist")
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{file}{suffix}").unlink(missing_ok=True)
