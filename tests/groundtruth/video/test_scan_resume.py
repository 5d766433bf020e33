"""Several videos, damaged videos, interrupted scans, and events folders that are extended."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime

import cv2
import numpy as np
import pytest
from groundtruth.render import Passage, Scene, encode, render

from occupair.errors import InputError
from occupair.groundtruth.events import read_events
from occupair.groundtruth.video import scan_job
from occupair.groundtruth.video.frames import FrameReader
from occupair.groundtruth.video.scan import scan_videos
from occupair.progress import progress_to

EIGHT = datetime(2024, 1, 8, 8)


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """Three minutes, with a passage in each."""
    path = tmp_path_factory.mktemp("long") / "north_20240108_080000.mp4"
    passages = [Passage(at=10), Passage(at=118.5, way="out", look=2), Passage(at=160, look=4)]
    return render(path, minutes=3, passages=passages, scene=Scene(light=lambda s: 1 - s / 600))


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Half a minute, with a passage at its end."""
    path = tmp_path_factory.mktemp("short") / "short.mp4"
    return render(path, minutes=0.5, passages=[Passage(at=28, seconds=3)])


@pytest.fixture(scope="module")
def uninterrupted(long, tmp_path_factory):
    """Result of an uninterrupted scan."""
    out = tmp_path_factory.mktemp("uninterrupted")
    scan_videos([long], out)
    return out


def put(folder, name, video):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(video.read_bytes())
    return path


def index(out):
    return json.loads((out / "index.json").read_text())


def sheets(out):
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.jpg")}


def test_files_of_several_doors_with_gaps_and_overlaps(tmp_path, short):
    put(tmp_path, "v/north_20240108_080000.mp4", short)
    put(tmp_path, "v/north_20240108_080030.mp4", short)  # right after the first: one sheet for both
    put(tmp_path, "v/north_20240108_081000.mp4", short)
    put(tmp_path, "v/south/20240108_080000.mp4", short)
    put(tmp_path, "v/south/20240108_080020.mp4", short)
    summary = scan_videos([tmp_path / "v"], tmp_path / "events")
    found = index(tmp_path / "events")
    assert found["doors"]["north"]["gaps"] == [["2024-01-08T08:01:00", "2024-01-08T08:10:00"]]
    assert found["doors"]["south"]["overlaps"] == [["2024-01-08T08:00:20", "2024-01-08T08:00:30"]]
    assert [(one["minute"][11:16], one["door"]) for one in found["minutes"]] == [
        ("08:00", "north"),
        ("08:00", "south"),
        ("08:10", "north"),
    ]
    single, both = (cv2.imread(str(one.sheet)).shape[0] for one in summary.events.minutes[2::-2])
    assert both > 1.5 * single
    lines = summary.lines()
    assert "north: no picture from 2024-01-08 08:01:00 to 08:10:00" in lines
    assert "south: overlapping recordings from 2024-01-08 08:00:20 to 08:00:30" in lines


def test_later_videos_are_added_to_the_folder(tmp_path, short):
    first = put(tmp_path, "a/north_20240108_080000.mp4", short)
    second = put(tmp_path, "b/north_20240109_080000.mp4", short)
    scan_videos([first, second], tmp_path / "at_once")
    scan_videos([first], tmp_path / "events")
    first.unlink()
    scan_videos([second], tmp_path / "events")
    assert index(tmp_path / "events") == index(tmp_path / "at_once")
    assert sheets(tmp_path / "events") == sheets(tmp_path / "at_once")


def test_scanned_video_is_skipped_and_deleted_sheets_stay_deleted(tmp_path, short):
    video = put(tmp_path, "north_20240108_080000.mp4", short)
    out = tmp_path / "events"
    sheet = scan_videos([video], out).events.minutes[0].sheet
    sheet.unlink()  # as after counting its minute
    again = scan_videos([video], out)
    assert (again.seconds, again.already_scanned) == (0.0, pytest.approx(30.0))
    assert not sheet.exists()
    assert scan_videos([video], out, resume=False).seconds == pytest.approx(30.0)
    assert sheet.exists()


def test_changed_sensitivity_scans_again(tmp_path, short):
    video = put(tmp_path, "north_20240108_080000.mp4", short)
    assert len(scan_videos([video], tmp_path / "events").events.minutes) == 1
    assert scan_videos([video], tmp_path / "events", sensitivity=0.0).events.minutes == []
    assert sheets(tmp_path / "events") == {}


def test_corrected_start_or_door_replaces_earlier_results(tmp_path, short):
    video = put(tmp_path, "north.mp4", short)
    scan_videos([video], tmp_path / "events", start=datetime(2024, 1, 9))
    scan_videos([video], tmp_path / "events", start=EIGHT)
    summary = scan_videos([video], tmp_path / "events", start=EIGHT, doors={"south": "north"})
    assert [(one.door, one.minute) for one in summary.events.minutes] == [("south", EIGHT)]
    assert list(summary.events.doors) == ["south"]
    assert set(sheets(tmp_path / "events")) == {"south/20240108T080000.jpg"}


def test_files_with_equal_name_and_content_are_distinct(tmp_path, short):
    for hour in ("08", "09"):
        put(tmp_path, f"north/20240108/{hour}/00.mp4", short)
    scan_videos([tmp_path / "north/20240108/08"], tmp_path / "events")
    summary = scan_videos([tmp_path / "north/20240108/09"], tmp_path / "events")
    assert [one.minute.hour for one in summary.events.minutes] == [8, 9]


def test_finished_scan_leaves_only_records_index_and_sheets(uninterrupted):
    assert {path.suffix for path in (uninterrupted / ".scan").rglob("*")} == {".json"}
    assert set(sheets(uninterrupted)) == {one["sheet"] for one in index(uninterrupted)["minutes"]}


class Interrupted(Exception):
    """The scan was interrupted."""


def test_interrupted_scan_resumes_to_the_same_result(tmp_path, long, uninterrupted, monkeypatch):
    monkeypatch.setattr(scan_job, "CHECKPOINT_PERIOD", 0.0)
    out = tmp_path / "events"

    def stop(what, done, total):
        if done >= 0.6 * total and (out / ".scan").is_dir() and list((out / ".scan").glob("*.npz")):
            raise Interrupted

    with pytest.raises(Interrupted), progress_to(stop):
        scan_videos([long], out)
    with pytest.raises(InputError, match="let 'occupair groundtruth scan' finish first"):
        read_events(out)
    again = scan_videos([long], out)
    assert again.already_scanned >= 60
    assert again.already_scanned + again.seconds == pytest.approx(180.0)
    assert index(out) == index(uninterrupted)
    assert sheets(out) == sheets(uninterrupted)


def test_killed_scan_resumes_to_the_same_result(tmp_path, long, uninterrupted):
    out = tmp_path / "events"
    code = (
        "import sys, time; from occupair.groundtruth.video import scan, scan_job;"
        "scan_job.CHECKPOINT_PERIOD = 0.0; analyse = scan_job.FrameAnalyser.analyse;"
        "scan_job.FrameAnalyser.analyse = lambda *a, **k: (time.sleep(0.005), analyse(*a, **k))[1];"
        "scan.scan_videos([sys.argv[1]], sys.argv[2])"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(long), str(out)])
    until = time.monotonic() + 30
    while not list(out.glob(".scan/*.npz")) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.3)  # let it get past the first checkpoint
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (out / "index.json").exists()
    assert scan_videos([long], out).already_scanned > 0
    assert index(out) == index(uninterrupted)
    assert sheets(out) == sheets(uninterrupted)


def test_damaged_checkpoint_restarts_the_scan(tmp_path, long, uninterrupted):
    out = tmp_path / "events"
    (out / ".scan").mkdir(parents=True)
    key = next(path.stem for path in (uninterrupted / ".scan").glob("*.json"))
    (out / ".scan" / f"{key}.npz").write_bytes(b"PK\x03\x04 and no more")
    (out / ".scan" / f"{key}.json").write_text("{")
    assert scan_videos([long], out).already_scanned == 0
    assert index(out) == index(uninterrupted)


def test_progress_is_reported(tmp_path, short):
    video, reported = put(tmp_path, "north_20240108_080000.mp4", short), []
    with progress_to(lambda what, done, total: reported.append((what, done / total))):
        scan_videos([video], tmp_path / "events")
    assert reported[0] == ("scanning", 0.0)
    assert reported[-1] == ("scanning", 1.0)


def test_truncated_video_is_scanned_as_far_as_possible(tmp_path):
    path = tmp_path / "north_20240108_080000.avi"
    render(path, minutes=1, passages=[Passage(at=10), Passage(at=50)], codec="MJPG")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    summary = scan_videos([path], tmp_path / "events")
    (problem,) = summary.problems
    assert "truncated or damaged" in problem
    assert "of 60 s could be read" in problem
    assert problem in summary.lines()
    assert [one.minute for one in summary.events.minutes] == [EIGHT]
    assert 25 < summary.events.doors["north"].files[0].seconds < 35


def test_each_unreadable_video_is_reported_in_one_line(tmp_path, short):
    content = short.read_bytes()
    put(tmp_path, "v/north_20240108_080000.mp4", short)
    broken = {
        "north_20240108_090000.mp4": b"",
        "north_20240108_100000.mp4": b"not a video",
        "north_20240108_110000.mp4": content[: len(content) * 3 // 4],  # the index at its end is missing
    }
    for name, left in broken.items():
        (tmp_path / "v" / name).write_bytes(left)
    summary = scan_videos([tmp_path / "v"], tmp_path / "events")
    assert len(summary.problems) == 3
    for name, problem in zip(broken, summary.problems, strict=True):
        assert problem.endswith(f"{name}: cannot be read: not a video, or truncated")
    assert len(summary.events.minutes) == 1
    assert len(summary.events.doors["north"].files) == 4
    assert scan_videos([tmp_path / "v"], tmp_path / "events").problems == summary.problems  # reported again


def test_damage_in_the_middle_is_tolerated_without_decoder_output(tmp_path, long):
    content = bytearray(long.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 20000] = bytes(20000)
    path = tmp_path / "north_20240108_080000.mp4"
    path.write_bytes(bytes(content))
    (tmp_path / "north_20240108_090000.mp4").write_bytes(content[:middle])
    code = (
        "import sys; from occupair.groundtruth.video.scan import scan_videos;"
        "scan_videos(sys.argv[1:2], sys.argv[2])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(tmp_path / "events")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read_events(tmp_path / "events").minutes[0].minute == EIGHT


def test_no_readable_video_is_an_error(tmp_path):
    path = tmp_path / "north_20240108_080000.mp4"
    path.write_bytes(b"no video")
    with pytest.raises(InputError, match="cannot be read: not a video, or truncated") as raised:
        scan_videos([path], tmp_path / "events")
    assert "\n" not in str(raised.value)


def test_repaired_video_replaces_the_damaged_one(tmp_path, short):
    path = put(tmp_path, "north_20240108_080000.mp4", short)
    good = put(tmp_path, "south_20240108_080000.mp4", short)
    path.write_bytes(b"no video")
    assert scan_videos([path, good], tmp_path / "events").problems
    put(tmp_path, "north_20240108_080000.mp4", short)
    summary = scan_videos([path, good], tmp_path / "events")
    assert summary.problems == ()
    assert len(summary.events.doors["north"].files) == 1
    assert [one.door for one in summary.events.minutes] == ["north", "south"]


@pytest.mark.parametrize("codec", ["XVID", "MJPG"])
def test_other_codecs_and_containers_are_scanned(tmp_path, codec):
    path = tmp_path / "north_20240108_080000.avi"
    render(path, minutes=0.4, passages=[Passage(at=12)], codec=codec, fps=8)
    assert [one.minute for one in scan_videos([path], tmp_path / "events").events.minutes] == [EIGHT]


@pytest.mark.parametrize("steady", [True, False])
def test_frame_reader_resumes_at_the_exact_frame(tmp_path, steady):
    times = None if steady else [*np.arange(0, 4, 0.2), *np.arange(4, 24, 2.0), *np.arange(24, 30, 0.2)]
    path = render(tmp_path / "north.mp4", minutes=0.2, times=times, passages=[Passage(at=8)])
    first, second = FrameReader(path, rate=2.0), FrameReader(path, rate=2.0)
    frames = first.frames()
    for _ in range(15):
        next(frames)
    assert second.resume(first.position)
    rest, again = list(frames), list(second.frames())
    assert [one.second for one in again] == [one.second for one in rest]
    assert len(rest) > 3
    assert all(np.array_equal(one.image, other.image) for one, other in zip(rest, again, strict=True))
    first.close()
    second.close()


@pytest.mark.parametrize(("codec", "suffix"), [("libx264", "mp4"), ("libx264", "ts"), ("libx265", "mp4")])
def test_frames_that_nobody_needs_are_not_decoded(tmp_path, codec, suffix, monkeypatch):
    pictures = [np.full((96, 128, 3), 5 * (k % 50), np.uint8) for k in range(100)]
    encode(tmp_path / f"north.{suffix}", pictures, codec, 25.0, bf="3")
    decoded, decode = [], FrameReader._decode_packet
    monkeypatch.setattr(
        FrameReader, "_decode_packet", lambda self, packet: decoded.append(packet) or decode(self, packet)
    )
    reader = FrameReader(tmp_path / f"north.{suffix}")
    seconds = [frame.second for frame in reader.frames()]
    assert len(decoded) < 90
    assert reader.number == 100
    assert len(seconds) == pytest.approx(20, abs=2)  # 4 s at 5 frames per second
    assert np.diff(seconds).max() < 0.3
    assert reader.missing == []
    reader.close()
