"""Helpers for tests of the store: sample messages, full stores, a newer schema, child processes, threads."""

import datetime as dt
import importlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import select

from occupair.live.messages import NOT_REFINED, EstimateRecord, Label, Quality, Reading
from occupair.live.store import Place, Store, database, schema

EIGHT = dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC)
backup_module = importlib.import_module("occupair.live.store.backup")  # not the function of this name


def at(minute: float) -> dt.datetime:
    return EIGHT + dt.timedelta(minutes=minute)


def reading(room="lab", minute=0.0, co2=None, ventilation=None, source="mqtt", received=1.0) -> Reading:
    return Reading(room, at(minute), co2, ventilation, source, at(minute + received))


def estimate(room="lab", minute=0.0, people: float | None = 2.0, **others) -> EstimateRecord:
    values = {
        "low": 1.0,
        "high": 3.5,
        "people_refined": NOT_REFINED,
        "co2": 612.0,
        "co2_smoothed": 610.5,
        "ventilation": None,
        "quality": Quality.OK,
        **others,
    }
    return EstimateRecord(room, at(minute), people, **values)


def newer_version(monkeypatch, folder: Path) -> None:
    """Pretend to be a version of occupair with one more schema revision."""
    versions = folder / "migrations/versions"
    versions.mkdir(parents=True)
    for path in [*database.MIGRATIONS.glob("*.py"), *database.MIGRATIONS.glob("versions/*.py")]:
        (folder / "migrations" / path.relative_to(database.MIGRATIONS)).write_text(path.read_text())
    (versions / "r9999_next.py").write_text(
        "from alembic import op\nimport sqlalchemy as sa\n"
        "revision, down_revision, branch_labels, depends_on = '9999', '0007', None, None\n"
        "def upgrade():\n"
        "    op.add_column('labels', sa.Column('by', sa.Text))\n"
        "    op.execute(\"UPDATE labels SET by = 'unknown'\")\n"
    )
    monkeypatch.setattr(database, "MIGRATIONS", folder / "migrations")


def start_child(code: str, *arguments: str) -> subprocess.Popen:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([sys.executable, "-W", "error", "-c", code, *arguments], text=True, **pipes)


def in_threads(calls: Sequence) -> None:
    """Run calls in parallel threads, and raise the first error of any."""
    errors = []

    def run(call):
        try:
            call()
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def fill(url: str) -> None:
    """Write rows to every table of a store."""
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
