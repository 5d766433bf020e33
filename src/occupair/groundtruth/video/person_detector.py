"""Person detection in moving regions, with OpenCV's histogram of oriented gradients (HOG) detector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from occupair.groundtruth.video.frames import Image
from occupair.groundtruth.video.motion import MIN_AREA, BoundingBox
from occupair.groundtruth.video.opencv import opencv

WINDOW = (64, 128)
"""Width and height of the detection window [px]; a person in it is about 96 px tall."""

CONFIDENT = 0.9
"""Once a minute has this score, no further detections are needed in it."""

PERSON_SCORE = 0.5
"""Lowest score of a detected person; motion alone scores less."""
PERSON_AREA = 0.03
"""Typical area of a person [fraction of the image]."""
MIN_FRAMES = 3
"""A person moves in at least this many consecutive frames."""

_HEIGHT = 180.0  # a moving region is scaled to this height before detection [px]
_MAX_ROWS = 300.0  # height limit of the searched crop [px]; more is slow and finds no more
_MIN_OVERLAP = 0.1  # fraction of a person that must move
_MAX_RATIO = 4.0  # height of a person over that of the moving region
_PADDING = 0.5  # search area on each side of a region, relative to its size


@dataclass(frozen=True)
class Detection:
    """A detected person: its bounding box, and a score [0.5..1]."""

    box: BoundingBox
    score: float


class PersonDetector:
    """Detect people around moving regions.

    The detector of Dalal and Triggs as trained by OpenCV, also used by Jiang et al. 2016, Section V-B.
    """

    def __init__(self) -> None:
        self._cv2: Any = opencv()
        self._hog = self._cv2.HOGDescriptor()
        self._hog.setSVMDetector(self._cv2.HOGDescriptor_getDefaultPeopleDetector())

    def detect(self, image: Image, region: BoundingBox) -> Detection | None:
        """Return the highest-scoring person around a moving region."""
        height, width = image.shape[:2]
        left, top, right, bottom = search_area(region, width, height)
        scale = _scale(region, height, bottom - top)
        crop = self._scaled(image[top:bottom, left:right], scale)
        boxes, weights = self._hog.detectMultiScale(
            crop, hitThreshold=0.0, winStride=(8, 8), padding=(16, 16), scale=1.12
        )
        found = [
            Detection(
                BoundingBox(
                    (left + x / scale) / width,
                    (top + y / scale) / height,
                    w / scale / width,
                    h / scale / height,
                    w * h / scale**2 / width / height,
                ),
                detection_score(float(weight)),
            )
            for (x, y, w, h), weight in zip(boxes, weights, strict=True)
        ]
        moving = [one for one in found if is_moving(one.box, region)]
        return max(moving, key=lambda one: one.score, default=None)

    def _scaled(self, crop: Image, scale: float) -> Image:
        """Scale a crop, and pad it if it is smaller than the detection window."""
        cv2 = self._cv2
        interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY)
        scaled = (
            grey if scale == 1 else cv2.resize(grey, None, fx=scale, fy=scale, interpolation=interpolation)
        )
        right, below = (max(0, want - have) for want, have in zip(WINDOW, scaled.shape[::-1], strict=True))
        padded: Image = cv2.copyMakeBorder(scaled, 0, below, 0, right, cv2.BORDER_REPLICATE)
        return padded


def is_moving(box: BoundingBox, region: BoundingBox) -> bool:
    """Whether enough of a detected person moves; door frames may resemble people but stay still."""
    width = min(box.left + box.width, region.left + region.width) - max(box.left, region.left)
    height = min(box.top + box.height, region.top + region.height) - max(box.top, region.top)
    overlap = max(0.0, width) * max(0.0, height)
    return overlap >= _MIN_OVERLAP * box.area and box.height <= _MAX_RATIO * region.height


def search_area(region: BoundingBox, width: int, height: int) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of the area around a moving region to search for people [px]."""
    wide = max(region.width * width, 0.4 * region.height * height)  # perhaps only an arm moves
    high = max(region.height * height, 1.5 * region.width * width)
    x, y = (region.left + region.width / 2) * width, (region.top + region.height / 2) * height
    left, right = x - (0.5 + _PADDING) * wide, x + (0.5 + _PADDING) * wide
    top, bottom = y - (0.5 + _PADDING) * high, y + (0.5 + _PADDING) * high
    return max(0, int(left)), max(0, int(top)), min(width, math.ceil(right)), min(height, math.ceil(bottom))


def _scale(region: BoundingBox, height: int, rows: int) -> float:
    """Scale that brings a region to a detectable height without exceeding the height limit of the crop."""
    return min(4.0, _HEIGHT / (region.height * height), _MAX_ROWS / rows)


def detection_score(weight: float) -> float:
    """Map the detector's distance from the decision boundary to a score: 0.5 at 0, 0.82 at 1, towards 1.

    Examples
    --------
    >>> [round(detection_score(weight), 2) for weight in (0, 1, 3)]
    [0.5, 0.82, 0.98]
    """
    return 1 - 0.5 * math.exp(-max(0.0, weight))


def motion_score(regions: Sequence[BoundingBox], frames: int) -> float:
    """Score of motion without a detected person: up to 0.45, by size and duration.

    Parameters
    ----------
    regions : sequence of BoundingBox
        Moving regions, largest first.
    frames : int
        Number of consecutive frames with motion.
    """
    if not regions:
        return 0.0
    size = math.log(regions[0].area / MIN_AREA) / math.log(PERSON_AREA / MIN_AREA)
    duration = (frames - 1) / (MIN_FRAMES - 1)  # motion in one frame only may be a lamp
    return 0.45 * min(max(size, 0.1), 1.0) * min(max(duration, 0.1), 1.0)
