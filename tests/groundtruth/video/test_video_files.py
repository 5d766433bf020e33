"""Door and start time of videos from names, folders, containers and options; gaps and overlaps."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import av
import pytest
from groundtruth.mp4 import set_created
from groundtruth.render import render

from occupair.errors import InputError
from occupair.groundtruth.events import Recording
from occupair.groundtruth.video.file_names import door_in_name, start_in_name
from occupair.groundtruth.video.video_files import Video, creation_time, find_videos, recording_coverage

EIGHT = datetime(2024, 1, 8, 8)
COPENHAGEN = ZoneInfo("Europe/Copenhagen")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("north_20240108_080000.mp4", EIGHT),
        ("20240108080000.avi", EIGHT),
        ("cam1-20240108-080005.mkv", EIGHT + timedelta(seconds=5)),
        ("2024-01-08_08-00-00.mp4", EIGHT),
        ("2024-01-08T08-00-00.mp4", EIGHT),
        ("2024-01-08 08.00.00.mp4", EIGHT),
        ("2024_01_08_08_00_00.mp4", EIGHT),
        ("north 2024-01-08, 08.00.mp4", EIGHT),
        ("192.168.1.64_01_20240108080000123_TIMING.mp4", EIGHT),
        ("NVR_ch1_main_20240108080000_20240108090000.mp4", EIGHT),
        ("RecM02_20240108_080000_081500_6A28808.mp4", EIGHT),
        ("MDalarm_20240108_080000.mkv", EIGHT),
        ("20240108_080000_tp00001.mp4", EIGHT),
        ("north_20240108T080000Z.mp4", EIGHT.replace(tzinfo=UTC)),
        ("north-1704700800.mp4", EIGHT.replace(tzinfo=UTC)),
        ("1704700800500.mp4", EIGHT.replace(tzinfo=UTC) + timedelta(milliseconds=500)),
        ("2024-01-08/001/dav/08/08.00.00-08.59.59[R][0@0][0].dav", EIGHT),
        ("20240108/08/00.mp4", EIGHT),
        ("2024010808/00M32S_1704700832.mp4", EIGHT.replace(tzinfo=UTC) + timedelta(seconds=32)),
        ("north.mp4", None),
        ("cam_1.mp4", None),
        ("ch01_00000000012000000.mp4", None),
        ("north_20241308_080000.mp4", None),  # month 13
        ("north_20240108_290000.mp4", None),  # hour 29
    ],
)
def test_start_is_read_from_the_file_name(name, start):
    assert start_in_name(Path(name)) == start


@pytest.mark.parametrize(
    "name",
    [
        "17-11-2026_08-30",
        "17.11.2026 08.30",
        "north 17_11_2026 08_30_00",
        "cam1_17-11-2026-083000",
        "11-17-2026 08-30",
    ],
)
def test_date_with_the_year_last_is_read(name):
    assert start_in_name(Path(f"{name}.mp4")) == datetime(2026, 11, 17, 8, 30)


def test_other_names_decide_whether_a_date_begins_with_the_day(tmp_path):
    (tmp_path / "north_08-11-2026_08-30.mp4").touch()
    message = r"08-30\.mp4: the date in its name may begin with the day or with the month: set --dayfirst or"
    with pytest.raises(InputError, match=message):
        find_videos([tmp_path])
    for dayfirst, start in ((True, datetime(2026, 11, 8, 8, 30)), (False, datetime(2026, 8, 11, 8, 30))):
        assert find_videos([tmp_path], dayfirst=dayfirst)[0].start == start
    (tmp_path / "north_17-11-2026_08-30.mp4").touch()
    found = find_videos([tmp_path])
    assert [(one.door, one.start.month, one.start.day) for one in found] == [
        ("north", 11, 8),
        ("north", 11, 17),
    ]
    (tmp_path / "north_11-18-2026_08-30.mp4").touch()
    message = (
        r"north_17-11-2026_08-30\.mp4 begins with the day and north_11-18-2026_08-30\.mp4 with the month"
    )
    with pytest.raises(InputError, match=message):
        find_videos([tmp_path])


@pytest.mark.parametrize(
    ("name", "door"),
    [
        ("north_20240108_080000.mp4", "north"),
        ("20240108_080000_south.mp4", "south"),
        ("NVR_ch1_main_20240108080000_20240108090000.mp4", "NVR_ch1_main"),
        ("west/20240108_080000.mp4", "west"),
        ("west/VID_20240108_080000.mp4", "west"),
        ("west/2024-01-08/001/dav/08/08.00.00-08.59.59[R].dav", "west"),
        ("west/record/20240108/08/00.mp4", "west"),
        ("north.mp4", "north"),
        ("north_2.mp4", "north"),
        ("north (3).mp4", "north"),
        ("west/cam_1.mp4", "cam_1"),
        ("west/video.mp4", "west"),
    ],
)
def test_door_is_read_from_the_file_name(tmp_path, name, door):
    assert door_in_name(tmp_path / name) == door


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    return render(tmp_path_factory.mktemp("short") / "short.mp4", minutes=0.1)  # 6 s


def put(folder, name, short):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(short.read_bytes())
    return path


@pytest.mark.parametrize("version", [0, 1])
def test_start_is_read_from_the_mp4_header(tmp_path, short, version):
    video = put(tmp_path, "north.mp4", short)
    assert creation_time(video) is None  # OpenCV does not write it
    set_created(video, datetime(2024, 7, 8, 6, tzinfo=UTC), version=version)
    assert creation_time(video) == datetime(2024, 7, 8, 6, tzinfo=UTC)
    (found,) = find_videos([video], zone=COPENHAGEN)
    assert (found.door, found.start) == ("north", datetime(2024, 7, 8, 8))  # UTC+2 in summer


def test_start_is_read_from_matroska_metadata(tmp_path, short):
    video = tmp_path / "north.mkv"
    with av.open(str(short)) as source, av.open(str(video), "w") as copy:
        copy.metadata["creation_time"] = "2024-07-08T06:00:00Z"
        stream = copy.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                copy.mux(packet)
    assert creation_time(video) == datetime(2024, 7, 8, 6, tzinfo=UTC)


def test_missing_pyav_is_reported(tmp_path, short, monkeypatch):
    video = put(tmp_path, "north.mp4", short)
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(InputError, match=r"needs PyAV: pip install 'occupair\[video\]'"):
        find_videos([video])


def test_unset_camera_clock_is_ignored(tmp_path, short):
    video = put(tmp_path, "north.mp4", short)
    set_created(video, datetime(1970, 1, 1, tzinfo=UTC))
    assert creation_time(video) is None
    with pytest.raises(InputError, match=r"north\.mp4: no start time in its name or container: set --start"):
        find_videos([video])


def test_invalid_video_has_no_creation_time(tmp_path):
    path = tmp_path / "north.mp4"
    for content in (b"", b"moov", b"\0\0\0\1moov", b"\0\0\0\x10moov\0\0\0\x20mvhd", b"text " * 100):
        path.write_bytes(content)
        assert creation_time(path) is None


def test_file_name_takes_precedence_over_container(tmp_path, short):
    video = put(tmp_path, "north_20240108_080000.mp4", short)
    set_created(video, datetime(2020, 1, 1, tzinfo=UTC))
    assert find_videos([video])[0].start == EIGHT


def test_start_option_takes_precedence_and_files_are_consecutive(tmp_path):
    names = [f"{door}_{part}.mp4" for door in ("north", "south") for part in (10, 9, 1)]
    for name in names:
        (tmp_path / name).touch()
    found = find_videos([tmp_path], start=EIGHT, length=lambda path: 60.0)
    assert [(video.path.name, (video.start - EIGHT).seconds) for video in found] == [
        *(("north_1.mp4", 0), ("north_9.mp4", 60), ("north_10.mp4", 120)),
        *(("south_1.mp4", 0), ("south_9.mp4", 60), ("south_10.mp4", 120)),
    ]


def test_doors_option_assigns_videos(tmp_path):
    for name in ("a/ch1_20240108_080000.mp4", "a/ch2_20240108_080000.mp4", "b/20240108_080000.mp4"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    doors = {"north": "ch1", "south": "*ch2*", "west": str(tmp_path / "b")}
    found = find_videos([tmp_path], doors=doors)
    assert {video.door: video.path.parent.name + video.path.name[:3] for video in found} == {
        "north": "ach1",
        "south": "ach2",
        "west": "b202",
    }
    with pytest.raises(
        InputError, match=r"20240108_080000\.mp4: matches none of the given doors \(north=ch1\)"
    ):
        find_videos([tmp_path / "b"], doors={"north": "ch1"})
    with pytest.raises(InputError, match=r"door name 'a/b' cannot be used as a folder name"):
        find_videos([tmp_path / "b"], doors={"a/b": "2024"})


def test_simultaneous_videos_in_two_folders_are_two_doors(tmp_path):
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ch1_20240108_080000.mp4").touch()
    assert {video.door for video in find_videos([tmp_path], length=lambda path: 600)} == {"left", "right"}
    (tmp_path / "right/ch1_20240108_080000.mp4").rename(tmp_path / "right/ch1_20240108_090000.mp4")
    assert {video.door for video in find_videos([tmp_path], length=lambda path: 600)} == {"ch1"}


def test_missing_videos_are_an_error(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"no videos found in .*"):
        find_videos([tmp_path])
    with pytest.raises(InputError, match=r"nowhere\.mp4: no such file or folder"):
        find_videos([tmp_path / "nowhere.mp4"])


def test_minutes_follow_the_room_clock():
    video = Video(Path("n.mp4"), "north", datetime(2024, 1, 8, 8, 0, 50))
    assert video.minute_of_day(video.minute_number(9.9)) == EIGHT
    assert video.minute_of_day(video.minute_number(10.0)) == EIGHT + timedelta(minutes=1)
    assert video.seconds_into(9.0, video.minute_number(10.0)) == -1.0


def test_daylight_saving_change_during_a_video():
    spring = Video(Path("n.mp4"), "north", datetime(2024, 3, 31, 1, 59), COPENHAGEN)
    assert spring.minute_of_day(spring.minute_number(60)) == datetime(2024, 3, 31, 3)
    autumn = Video(Path("n.mp4"), "north", datetime(2024, 10, 27, 2, 59), COPENHAGEN)
    assert autumn.minute_of_day(autumn.minute_number(60)) == datetime(2024, 10, 27, 2)


def covered(*spans):
    return recording_coverage(
        [
            (
                Recording(str(k), EIGHT + timedelta(seconds=begin), end - begin, 1),
                EIGHT + timedelta(seconds=end),
            )
            for k, (begin, end) in enumerate(spans)
        ]
    )


def seconds(spans):
    return [tuple((time - EIGHT).seconds for time in span) for span in spans]


def test_gaps_and_overlaps_are_found():
    door = covered((0, 100), (101, 200), (500, 600), (590, 700), (700, 1000), (800, 900), (950, 1200))
    assert seconds(door.gaps) == [(200, 500)]
    assert seconds(door.overlaps) == [(590, 600), (800, 900), (950, 1000)]


def test_unreadable_video_leaves_a_gap():
    assert seconds(covered((0, 100), (100, 100), (200, 300)).gaps) == [(100, 200)]
