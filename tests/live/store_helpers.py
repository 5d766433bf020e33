"""Helpers for tests of the store: sample messages, a newer schema, child processes, threads."""

import datetime as dt
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from occupair.live.messages import NOT_REFINED, EstimateRecord, Quality, Reading
from occupair.live.store import database

EIGHT = dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC)


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
