"""Pictures that a killed scan leaves are deleted by the next scan or count, those of a running one kept."""

import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
from command import occupair
from groundtruth.render import Passage, render

from occupair.errors import InputError
from occupair.groundtruth.counting import server
from occupair.groundtruth.counting.session import CountingSession
from occupair.groundtruth.events import read_events
from occupair.groundtruth.video.scan import scan_videos
from occupair.groundtruth.video.scan_store import delete_leftovers

# Scans videos, saves a checkpoint after every minute, and stops in the middle of writing the n-th file with
# a given suffix until it is told to go on.
SCAN = """
import itertools, pathlib, sys
from occupair.groundtruth.video import scan, scan_job
suffix, n, out, *videos = sys.argv[1:]
scan_job.CHECKPOINT_PERIOD = 0.0
chmod, writes = pathlib.Path.chmod, itertools.count(1)
def stop(path, mode):
    chmod(path, mode)
    if path.name.startswith(".") and path.suffix == suffix and next(writes) == int(n):
        print(path.name, flush=True)
        sys.stdin.readline()
pathlib.Path.chmod = stop
scan.scan_videos(videos, out)
"""


@contextmanager
def stopped_scan(out, *videos, writing=".jpg", n=1):
    """Scan in another process that stops while it writes the n-th file with a suffix; kill it at the end."""
    command = [sys.executable, "-c", SCAN, writing, str(n), str(out), *map(str, videos)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("."), "the scan ended before it was stopped"
        yield process
    finally:
        process.kill()  # SIGKILL
        process.communicate()


def kill_scan(out, *videos, **stop):
    with stopped_scan(out, *videos, **stop):
        pass


def files(out):
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


def is_temporary(name):
    return name.rpartition("/")[2].startswith(".")


def expect_only_listed_files(out, *, records):
    """Only the index, its contact sheets, the counts and one record per video are left."""
    listed = {one.sheet.relative_to(out).as_posix() for one in read_events(out).minutes}
    found = files(out) - {"counts.json"}
    stored = {name for name in found if name.startswith(".scan/")}
    assert found - stored == listed | {"index.json"}
    assert len(stored) == records
    assert all(name.endswith(".json") and not is_temporary(name) for name in stored)
    assert [path for path in (out / ".scan").iterdir() if path.is_dir()] == []


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    """Two videos with passages in two minutes each."""
    folder = tmp_path_factory.mktemp("videos")
    first = folder / "north_20240108_080000.mp4"
    render(first, minutes=1.3, passages=[Passage(at=10), Passage(at=70)])
    second = folder / "south_20240108_080000.mp4"
    shutil.copy(first, second)
    return first, second


@pytest.fixture(scope="module")
def finished(videos, tmp_path_factory):
    """A finished scan of the first video."""
    out = tmp_path_factory.mktemp("finished") / "events"
    scan_videos([videos[0]], out)
    return out


@pytest.fixture
def out(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "events")


@pytest.fixture
def count(monkeypatch):
    """The command 'count', without its server."""
    monkeypatch.setattr(server, "serve_counting", lambda *arguments, **settings: None)
    return lambda out, *options: occupair("groundtruth", "count", out, *options)


def test_resumed_scan_deletes_temporary_pictures_of_a_kill(videos, tmp_path):
    out = tmp_path / "events"
    kill_scan(out, videos[0], n=2)
    left = files(out)
    assert any(is_temporary(name) and name.endswith(".jpg") for name in left)
    assert any(name.endswith(".npz") for name in left)
    assert len(scan_videos([videos[0]], out).events.minutes) == 2
    expect_only_listed_files(out, records=1)


def test_finished_scan_deletes_pictures_of_a_video_that_is_not_resumed(videos, tmp_path):
    out = tmp_path / "events"
    kill_scan(out, videos[1], n=2)
    assert scan_videos([videos[0]], out).events.doors.keys() == {"north"}
    expect_only_listed_files(out, records=1)
    scan_videos([videos[1]], out)  # from its start
    expect_only_listed_files(out, records=2)


def test_count_deletes_pictures_of_an_interrupted_scan(videos, out, count):
    kill_scan(out, *videos, n=2)
    done = count(out, "--delete-pictures")
    assert done.returncode == 0
    assert done.stderr == (
        f"occupair: {out}: deleted the pictures of an interrupted scan of 1 video; "
        "scan again to include them\n"
    )
    expect_only_listed_files(out, records=1)
    session = CountingSession(out)
    for number in range(2):
        session.decide(number, "counted")
    left = files(out)
    assert {name for name in left if not name.startswith(".scan/")} == {"index.json", "counts.json"}
    assert not any(name.endswith((".jpg", ".npz")) for name in left)
    assert count(out).stderr == ""


def test_count_deletes_pictures_moved_before_a_kill(videos, out, finished, count):
    kill_scan(out, *videos, writing=".json", n=2)  # after the record, in the middle of the index
    assert any(name.startswith("south/") for name in files(out))
    assert "interrupted scan of 1 video" in count(out).stderr
    expect_only_listed_files(out, records=1)
    scan_videos(videos, out)
    assert len(read_events(out).minutes) == 4
    assert all(one.sheet.is_file() for one in read_events(out).minutes)
    expect_only_listed_files(out, records=2)


def test_count_and_second_scan_leave_a_running_scan_alone(videos, out):
    with stopped_scan(out, *videos, n=2) as process:
        before = files(out)
        assert delete_leftovers(out) == 0
        with pytest.raises(InputError, match=f"{out}: another program is scanning into this folder"):
            scan_videos([videos[1]], out)
        assert files(out) == before
        process.communicate("\n")
        assert process.returncode == 0
    assert len(read_events(out).minutes) == 4
    expect_only_listed_files(out, records=2)


def test_count_keeps_an_unfinished_first_scan(videos, tmp_path, count):
    out = tmp_path / "events"
    kill_scan(out, videos[0], n=2)
    before = files(out)
    assert "let 'occupair groundtruth scan' finish first" in count(out).stderr
    assert files(out) == before


def test_pictures_and_folders_are_private(out):
    for path in (out, *out.rglob("*")):
        if path.name != "index.json":
            assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_existing_folder_keeps_its_mode_and_old_scan_folder_becomes_private(videos, tmp_path):
    out = tmp_path / "events"
    (out / ".scan").mkdir(parents=True)
    out.chmod(0o750)
    (out / ".scan").chmod(0o755)
    kill_scan(out, videos[0], n=1)
    assert out.stat().st_mode & 0o777 == 0o750
    assert (out / ".scan").stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o77 == 0 for path in (out / ".scan").rglob("*"))
