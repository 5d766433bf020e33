"""Person detection with a network of the user: outputs of YOLO and FastestDet, and files that are refused."""

from datetime import datetime

import numpy as np
import pytest
from groundtruth.render import Passage, render
from groundtruth.tiny_onnx import write_network

from occupair.errors import InputError
from occupair.groundtruth.video.motion import BoundingBox
from occupair.groundtruth.video.network_detector import NetworkDetector, people
from occupair.groundtruth.video.scan import scan_videos

SIZE = 352  # input of the tiny networks [px]: 11 x 11 cells


@pytest.fixture
def bright_cells(tmp_path):
    """A network in the layout of FastestDet: bright cells are people of half the width and height."""
    weights = np.zeros((6, 3))
    weights[[0, 5]] = 1 / 3  # objectness and class score: mean of the colours
    return write_network(tmp_path / "bright.onnx", weights, np.zeros(6), SIZE)


def test_fastestdet_box_is_returned_in_fractions_of_the_image(bright_cells):
    image = np.zeros((SIZE, SIZE, 3), np.uint8)
    image[160:192, 96:128] = 255  # row 5, column 3
    detection = NetworkDetector(bright_cells).detect(image, BoundingBox(0.2, 0.2, 0.6, 0.6, 0.36))
    box = detection.box
    assert detection.score == pytest.approx(1.0, abs=0.01)
    assert (box.width, box.height) == (pytest.approx(0.5), pytest.approx(0.5))  # sigmoid(0)
    assert (box.left, box.top) == (pytest.approx(3 / 11 - 0.25), pytest.approx(5 / 11 - 0.25))


def test_person_outside_the_moving_region_is_ignored(bright_cells):
    image = np.zeros((SIZE, SIZE, 3), np.uint8)
    image[0:32, 0:32] = 255
    assert NetworkDetector(bright_cells).detect(image, BoundingBox(0.7, 0.7, 0.2, 0.2, 0.04)) is None


def test_yolo_outputs_are_decoded():
    v5 = np.zeros((1, 100, 85), np.float32)
    v5[0, 7, :6] = 320, 160, 64, 128, 0.9, 0.8
    v8 = np.zeros((1, 84, 100), np.float32)
    v8[0, :5, 7] = 320, 160, 64, 128, 0.72
    darknet = np.zeros((100, 85), np.float32)
    darknet[7, :6] = 0.5, 0.25, 0.1, 0.2, 0.9, 0.72
    for output in (v5, v8, darknet):
        (box,) = people(output, 640)
        assert box == pytest.approx([0.5, 0.25, 0.1, 0.2, 0.72])


def test_scan_uses_the_network(tmp_path):
    weights, bias = np.zeros((6, 3)), np.array([0.8, 0, 0, 0, 0, 0.8])  # a person in every cell
    network = write_network(tmp_path / "always.onnx", weights, bias, SIZE)
    path = tmp_path / "north_20240108_080000.mp4"
    render(path, minutes=0.5, passages=[Passage(at=20, above=True)])
    summary = scan_videos([path], tmp_path / "events", detector=network)
    (found,) = summary.events.minutes
    assert (found.minute, found.score) == (datetime(2024, 1, 8, 8), pytest.approx(0.9))  # (1 + 0.8) / 2
    assert scan_videos([path], tmp_path / "events", detector=network).seconds == 0
    assert scan_videos([path], tmp_path / "events").events.minutes[0].score < 0.5  # scanned again with HOG


def test_unusable_networks_are_refused(tmp_path, bright_cells):
    with pytest.raises(InputError, match=r"--detector .*missing\.onnx: no such file"):
        NetworkDetector(tmp_path / "missing.onnx")
    for name, message in (
        ("text.onnx", "cannot be read by OpenCV: damaged or not supported"),
        ("text.weights", "cannot be read by OpenCV: damaged or not supported"),
        ("text.pt", r"must be an \.onnx file, or \.weights with a \.cfg beside it"),
    ):
        (tmp_path / name).write_text("not a network")
        with pytest.raises(InputError, match=message):
            NetworkDetector(tmp_path / name)
    classifier = write_network(tmp_path / "c.onnx", np.zeros((4, 3)), np.zeros(4), SIZE)
    message = r"output must be that of YOLO or FastestDet, .* pixels, got the shape \(1, 4, 11, 11\)"
    with pytest.raises(InputError, match=message):
        NetworkDetector(classifier)
