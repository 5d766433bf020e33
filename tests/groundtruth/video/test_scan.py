"""Scans of rendered videos: passages are found, and other changes of the image are ignored."""

from datetime import datetime

import cv2
import numpy as np
import pytest
from groundtruth.distractors import DISTRACTORS
from groundtruth.render import FOOT, Passage, Scene, frame_at, place, render

from occupair.errors import InputError
from occupair.groundtruth.events import read_events
from occupair.groundtruth.video import scan as scan_module
from occupair.groundtruth.video.person_detector import PersonDetector
from occupair.groundtruth.video.scan import scan_videos

EIGHT = datetime(2024, 1, 8, 8)
PEOPLE = [
    Passage(at=20, way="in", look=5, height=190),
    Passage(at=23, way="in", look=8, height=150),
    Passage(at=179.5, way="out", look=3, side="right", height=120),  # across the boundary to minute 3
]


def minutes_of(summary, door="north"):
    return [(one.minute - EIGHT).seconds // 60 for one in summary.events.minutes if one.door == door]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "north_20240108_080000.mp4"
    return render(path, minutes=3.2, passages=PEOPLE)


@pytest.fixture(scope="module")
def found(people, tmp_path_factory):
    return scan_videos([people], tmp_path_factory.mktemp("found"))


@pytest.mark.parametrize("height", [100, 150, 200])
def test_hog_detector_detects_the_rendered_figures(height):
    hog = cv2.HOGDescriptor()
    hog.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
    rng = np.random.default_rng(0)

    def boxes(passages):
        picture = frame_at(1.6, passages, Scene(), rng)
        return hog.detectMultiScale(picture, winStride=(8, 8), padding=(16, 16), scale=1.08)[0]

    for look in range(5):
        passage = Passage(at=2.0, height=height, look=look)
        x, _ = place(passage, 1.6)
        y = FOOT - height / 2
        assert any(left < x < left + w and top < y < top + h for left, top, w, h in boxes([passage])), look
    assert len(boxes([])) == 0


def test_candidates_are_the_minutes_with_passages(found):
    assert minutes_of(found) == [0, 2, 3]
    assert all(one.score > 0.8 for one in found.events.minutes)  # detected as people


def test_passage_within_the_margin_belongs_to_both_minutes(tmp_path):
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=1.2, passages=[Passage(at=57, seconds=4)])  # visible until 59 s
    assert minutes_of(scan_videos([path], tmp_path / "a")) == [0, 1]
    assert minutes_of(scan_videos([path], tmp_path / "b", margin=0.5)) == [0]


def test_events_folder_is_complete(found):
    events = read_events(found.events.folder)
    assert events == found.events
    (file,) = events.doors["north"].files
    assert (file.name, file.start, file.frames) == ("north_20240108_080000.mp4", EIGHT, 960)
    assert file.seconds == pytest.approx(192.0)
    for one in events.minutes:
        sheet = cv2.imread(str(one.sheet))
        assert sheet.shape[1] == 1280
        assert 200 < sheet.shape[0] < 1500
        assert sheet.std() > 10


def test_scan_is_faster_than_real_time(found):
    assert found.seconds == pytest.approx(192.0)
    assert found.speed > 10  # on a busy machine
    assert found.lines()[0] == "north: 1 video, 3.2 min, 3 candidate minutes"
    assert found.lines()[-1].endswith(f"{found.speed:.0f} times real time")


EMPTY = {
    "nobody": Scene(),
    "noise": Scene(noise=8.0),
    "slow light": Scene(light=lambda second: 0.6 + 0.4 * np.cos(second / 20)),
    "light switched": Scene(light=lambda second: 0.45 if 20 < second < 40 else 1.0),
    "lamp switched": Scene(lamp=lambda second: float(20 < second < 40)),
}


@pytest.mark.parametrize("scene", EMPTY.values(), ids=EMPTY.keys())
def test_video_without_people_has_no_candidates(tmp_path, scene):
    path = render(tmp_path / "north_20240108_080000.avi", minutes=0.8, scene=scene, codec="MJPG")
    summary = scan_videos([path], tmp_path / "events")
    assert summary.events.minutes == []
    assert read_events(tmp_path / "events").doors["north"].files[0].frames == 240


HARD = {
    "faint": (Passage(at=20, faint=0.7), Scene()),
    "behind a trolley": (Passage(at=20, hidden=0.6), Scene()),
    "from above": (Passage(at=20, above=True), Scene()),
    "quick": (Passage(at=20, seconds=1.2), Scene()),
    "light switched on by the person": (Passage(at=20), Scene(light=lambda s: 0.35 if s < 19 else 1.0)),
    "dark and noisy": (Passage(at=20, look=1), Scene(light=lambda s: 0.3, noise=8.0)),
}


@pytest.mark.parametrize(("passage", "scene"), HARD.values(), ids=HARD.keys())
def test_people_who_are_hard_to_see_are_candidates(tmp_path, passage, scene):
    path = render(tmp_path / "north_20240108_080000.mp4", minutes=0.45, passages=[passage], scene=scene)
    assert minutes_of(scan_videos([path], tmp_path / "events")) == [0]


def test_sensitivity_selects_motion_without_a_detected_person(tmp_path):
    passages = [Passage(at=20, above=True), Passage(at=70, height=170)]
    path = render(tmp_path / "north_20240108_080000.mp4", minutes=1.3, passages=passages)
    found = {s: scan_videos([path], tmp_path / str(s), sensitivity=s) for s in (0.0, 0.5, 0.9)}
    assert {s: minutes_of(summary) for s, summary in found.items()} == {0.0: [], 0.5: [1], 0.9: [0, 1]}
    above, walking = found[0.9].events.minutes
    assert above.score < 0.5 < walking.score


@pytest.mark.parametrize("name", ["moving shadow", "door swing", "trembling camera", "flickering screen"])
def test_motion_in_place_and_shadows_are_candidates_only_at_higher_sensitivity(tmp_path, name):
    scene = Scene(effects=(DISTRACTORS[name](11),))
    path = render(tmp_path / "north_20240108_080000.mp4", minutes=0.7, scene=scene)
    assert minutes_of(scan_videos([path], tmp_path / "events")) == []
    if name != "trembling camera":  # which changes no pixel by more than its neighbours differ
        assert minutes_of(scan_videos([path], tmp_path / "other", sensitivity=1.0)) == [0]


@pytest.mark.parametrize("name", ["flickering screen", "trembling camera", "moving curtain"])
def test_person_is_found_among_distractors(tmp_path, name):
    scene = Scene(effects=(DISTRACTORS[name](11),))
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=0.6, scene=scene, passages=[Passage(at=25, above=True)])
    assert minutes_of(scan_videos([path], tmp_path / "events")) == [0]


def test_approaching_person_is_found_by_motion_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(PersonDetector, "detect", lambda *arguments: None)
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=0.5, passages=[Passage(at=20, approach=True, height=150)])
    summary = scan_videos([path], tmp_path / "events")
    assert minutes_of(summary) == [0]
    assert "north: motion only in 1 of 1 candidate minute, without a detected person" in summary.lines()


def test_minutes_after_the_end_of_a_video_are_no_candidates(tmp_path):
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=1, passages=[Passage(at=57.5, seconds=4)])  # visible until 59.5 s
    summary = scan_videos([path], tmp_path / "events")
    assert minutes_of(summary) == [0]
    assert [sheet.stem for sheet in (tmp_path / "events").rglob("*.jpg")] == ["20240108T080000"]


def test_video_longer_than_declared_is_scanned_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("occupair.groundtruth.video.scan.declared_length", lambda path: 0.01)
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=0, times=np.arange(0, 40, 0.2), passages=[Passage(at=30)])
    summary = scan_videos([path], tmp_path / "events")
    (recording,) = summary.events.doors["north"].files
    assert recording.frames == 200


def test_variable_frame_rate_uses_timestamps(tmp_path):
    """Five frames per second, then one for two minutes, then five: by frame count 150 s would be 54 s."""
    times = [*np.arange(0, 20, 0.2), *np.arange(20, 140, 1.0), *np.arange(140, 170, 0.2)]
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=0, times=times, passages=[Passage(at=150)])
    summary = scan_videos([path], tmp_path / "events")
    assert minutes_of(summary) == [2]
    assert summary.events.doors["north"].files[0].seconds == pytest.approx(170, abs=1)


def test_wrong_declared_frame_rate_has_no_effect(tmp_path):
    times = np.arange(200) * 0.6  # declared as five per second, but 0.6 s apart
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=0, times=times, passages=[Passage(at=90, seconds=6)])
    assert minutes_of(scan_videos([path], tmp_path / "events")) == [1]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"sensitivity": 1.5}, "sensitivity must be 0 to 1, got 1.5"),
        ({"sensitivity": float("nan")}, "sensitivity must be 0 to 1, got nan"),
        ({"margin": -1}, "margin must be 0 to 30 seconds, got -1"),
        ({"rate": 0}, "rate must be 0.5 to 60 frames per second, got 0"),
        ({"timezone": "Mars"}, "timezone must be a time zone name such as Europe/Copenhagen, got 'Mars'"),
    ],
)
def test_invalid_settings_are_errors(people, tmp_path, setting, message):
    with pytest.raises(InputError, match=message):
        scan_videos([people], tmp_path / "events", **setting)


def test_events_folder_must_not_be_a_file(people, tmp_path):
    (tmp_path / "events").touch()
    with pytest.raises(InputError, match="events: must be a folder, got a file"):
        scan_videos([people], tmp_path / "events")


def test_missing_opencv_is_reported(people, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cv2", None)
    with pytest.raises(InputError, match=r"scanning videos needs OpenCV: pip install 'occupair\[video\]'"):
        scan_videos([people], tmp_path / "events")


def test_opencv_without_person_detector_is_reported(people, tmp_path, monkeypatch):
    monkeypatch.delattr(cv2, "HOGDescriptor")
    with pytest.raises(InputError, match=r"has no person detector; version 4 is required: pip install"):
        scan_module.opencv()
