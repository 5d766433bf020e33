"""The events folder: written, read, and rejected if invalid."""

import json
from datetime import datetime

import pytest

from occupair.errors import InputError
from occupair.groundtruth.events import CandidateMinute, Door, Events, Recording, read_events, write_events

EIGHT, NOON = datetime(2024, 1, 8, 8), datetime(2024, 1, 8, 12)


def some_events(folder):
    doors = {
        "south": Door((Recording("s.mp4", EIGHT, 60.5, 302, "s.mp4: cut off"),)),
        "north": Door((Recording("n.mp4", EIGHT, 3600.0, 18000),), ((EIGHT, NOON),), ((NOON, NOON),)),
    }
    minutes = [
        CandidateMinute(door, datetime(2024, 1, 8, 8, minute), score, folder / door / f"{minute}.jpg")
        for door, minute, score in (("south", 31, 0.2), ("north", 31, 0.83), ("south", 7, 1.0))
    ]
    return Events(folder, doors, minutes)


def test_written_events_can_be_read(tmp_path):
    events = some_events(tmp_path)
    write_events(events)
    back = read_events(tmp_path)
    assert back.doors == events.doors
    assert list(back.minutes) == [events.minutes[2], events.minutes[1], events.minutes[0]]  # by minute, door


def test_index_format_is_stable(tmp_path):
    write_events(some_events(tmp_path))
    index = json.loads((tmp_path / "index.json").read_text())
    assert (index["format"], index["version"]) == ("occupair events", 1)
    assert index["minutes"][1] == {
        "door": "north",
        "minute": "2024-01-08T08:31:00",
        "score": 0.83,
        "sheet": "north/31.jpg",
    }
    assert index["doors"]["north"] == {
        "files": [{"name": "n.mp4", "start": "2024-01-08T08:00:00", "seconds": 3600.0, "frames": 18000}],
        "gaps": [["2024-01-08T08:00:00", "2024-01-08T12:00:00"]],
        "overlaps": [["2024-01-08T12:00:00", "2024-01-08T12:00:00"]],
    }


def test_missing_folder_or_index_is_an_error(tmp_path):
    with pytest.raises(InputError, match="nowhere: no such folder"):
        read_events(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"has no index\.json: let 'occupair groundtruth scan' finish first"):
        read_events(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"index\.json: damaged \(Expecting"),
        ("[]", "must be an index written by 'occupair groundtruth scan'"),
        ('{"format": "occupair counts"}', "must be an index written by 'occupair groundtruth scan'"),
        ('{"format": "occupair events", "version": 9}', "version must be 1, got 9"),
        ('{"format": "occupair events", "version": 1}', r"damaged \(KeyError: 'doors'\)"),
    ],
)
def test_invalid_index_raises_one_line_error(tmp_path, content, message):
    (tmp_path / "index.json").write_text(content)
    with pytest.raises(InputError, match=message) as raised:
        read_events(tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("sheet", ["../../etc/passwd", "/etc/passwd"])
def test_sheet_outside_the_folder_is_rejected(tmp_path, sheet):
    write_events(some_events(tmp_path))
    path = tmp_path / "index.json"
    index = json.loads(path.read_text())
    index["minutes"][0]["sheet"] = sheet
    path.write_text(json.dumps(index))
    with pytest.raises(InputError, match="must be inside the folder"):
        read_events(tmp_path)
