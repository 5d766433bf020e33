"""Damaged spots in videos: the scan continues after them, and the time without a picture is not covered."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from groundtruth.render import Passage, render

from occupair.groundtruth.counters.video_counts import read_video_counts
from occupair.groundtruth.counting.session import CountingSession
from occupair.groundtruth.events import read_events
from occupair.groundtruth.video.frames import FrameReader
from occupair.groundtruth.video.scan import scan_videos

pytestmark = pytest.mark.slow

EIGHT = datetime(2024, 1, 8, 8)
MINUTES = 2.5
FORMATS = {
    "H.264 in MP4": ("mp4", "libx264"),
    "HEVC in MP4": ("mp4", "libx265"),
    "MPEG-4 in MP4": ("mp4", "mp4v"),
    "H.264 in Matroska": ("mkv", "libx264"),
    "H.264 in a transport stream": ("ts", "libx264"),
    "MPEG-4 in AVI": ("avi", "XVID"),
    "MJPEG in AVI": ("avi", "MJPG"),
}
DAMAGE = {
    "zeros": lambda size: bytes(size),
    "noise": lambda size: np.random.default_rng(5).integers(0, 256, size, np.uint8).tobytes(),
}


@pytest.fixture(scope="module", params=FORMATS.values(), ids=FORMATS.keys())
def intact(request, tmp_path_factory):
    """Two and a half minutes with a passage in the first and in the last."""
    suffix, codec = request.param
    path = tmp_path_factory.mktemp("intact") / f"north_20240108_080000.{suffix}"
    return render(
        path,
        minutes=MINUTES,
        passages=[Passage(at=15, seconds=5), Passage(at=135, seconds=5, look=3)],
        fps=2.5,
        codec=codec,
    )


def damage(intact, folder, content, begin, end):
    """Copy a video and overwrite a part of it, as fractions of its size."""
    damaged = bytearray(intact.read_bytes())
    first, last = (round(share * len(damaged)) for share in (begin, end))
    damaged[first:last] = content(last - first)
    path = folder / intact.name
    path.write_bytes(bytes(damaged))
    return path


def test_scan_continues_after_a_damaged_spot(tmp_path, intact):
    content = DAMAGE["noise" if intact.suffix == ".mkv" else "zeros"]
    path = damage(intact, tmp_path, content, 0.4, 0.55)
    summary = scan_videos([path], tmp_path / "events")
    door = read_events(tmp_path / "events").doors["north"]
    assert {one.minute for one in summary.events.minutes} >= {EIGHT, EIGHT + timedelta(minutes=2)}
    assert door.files[0].seconds == pytest.approx(60 * MINUTES, abs=1)
    (gap,) = door.gaps
    begin, end = ((time - EIGHT).total_seconds() for time in gap)
    assert 40 < begin < 90  # 40 % of the bytes, of which passages have more than other minutes
    assert 5 < end - begin < 45  # 15 % of the bytes, and up to a keyframe
    (problem,) = summary.problems
    span = f"{gap[0]:%Y-%m-%d %H:%M:%S} to {gap[1]:%H:%M:%S}"
    assert problem == f"{path}: no picture from {span}"
    assert problem in summary.lines()


def test_minutes_without_a_picture_are_not_counted_as_empty(tmp_path):
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=3, passages=[Passage(at=10, seconds=6)], fps=2.5, codec="libx264")
    damage(path, tmp_path, DAMAGE["noise"], 0.55, 0.6)
    scan_videos([path], tmp_path / "events")
    (gap,) = read_events(tmp_path / "events").doors["north"].gaps
    uncovered = {time.replace(second=0) for time in gap} | {EIGHT}  # not counted yet
    weights = read_video_counts(tmp_path / "events", partial=True)["weight"].groupby(level=0).min()
    video = weights[EIGHT : EIGHT + timedelta(minutes=2)]
    assert set(video.index[video == 0]) == uncovered
    assert CountingSession(tmp_path / "events").state()["gaps"] == [
        {"door": "north", "from": gap[0].isoformat(), "to": gap[1].isoformat()}
    ]


def test_interrupted_scan_of_a_damaged_video_resumes_to_the_same_result(tmp_path):
    path = render(tmp_path / "north.mp4", minutes=1, codec="libx264")
    path = damage(path, tmp_path, DAMAGE["zeros"], 0.4, 0.6)
    first, second = FrameReader(path), FrameReader(path)
    frames = first.frames()
    while not first.missing:
        next(frames)
    for _ in range(5):
        next(frames)
    assert second.resume(first.position)
    rest = [one.second for one in frames]
    assert [one.second for one in second.frames()] == rest
    assert len(rest) > 50
    assert second.missing == first.missing != []
    first.close()
    second.close()


def test_damaged_start_keeps_the_times_of_the_rest(tmp_path):
    intact = render(
        tmp_path / "north_20240108_080000.mkv", minutes=1.5, passages=[Passage(at=75)], codec="libx264"
    )
    content = bytearray(intact.read_bytes())
    content[1500 : len(content) // 4] = bytes(len(content) // 4 - 1500)
    intact.write_bytes(bytes(content))
    summary = scan_videos([intact], tmp_path / "events")
    assert [one.minute for one in summary.events.minutes] == [EIGHT + timedelta(minutes=1)]


def test_pause_in_the_timestamps_is_a_gap(tmp_path):
    times = [*np.arange(0, 20, 0.2), *np.arange(80, 100, 0.2)]
    path = render(tmp_path / "north_20240108_080000.mp4", minutes=0, times=times)
    door = scan_videos([path], tmp_path / "events").events.doors["north"]
    assert [[(time - EIGHT).seconds for time in gap] for gap in door.gaps] == [[20, 80]]


def test_short_pause_without_an_error_is_a_gap(tmp_path):
    """A Matroska file is read on after a damaged spot without an error."""
    times = [*np.arange(0, 10, 0.2), *np.arange(14, 24, 0.2)]
    path = render(tmp_path / "north_20240108_080000.mp4", minutes=0, times=times)
    door = scan_videos([path], tmp_path / "events").events.doors["north"]
    assert [[(time - EIGHT).seconds for time in gap] for gap in door.gaps] == [[10, 14]]
