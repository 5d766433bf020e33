"""Whether a person is where something moves: OpenCV's histogram of oriented gradients people detector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from occupair.groundtruth.video.frames import Picture
from occupair.groundtruth.video.motion import SMALLEST, BoundingBox
from occupair.groundtruth.video.opencv import opencv

WINDOW = (64, 128)
"""Width and height that the detector looks at [px]; a person in it is some 96 px high."""

SURE = 0.9
"""A minute with this score needs nobody to look for more people."""

LARGE = 0.03
"""The share of the picture from which on something is as large as people are."""
LASTING = 3
"""Frames in a row in which a person moves at least."""

_TALL = 180.0  # to this height something that moves is brought before the detector looks [px]
_PIECE = 300.0  # the most rows of the piece that is looked at [px]; more would take long and find no more
_PART = 0.1  # of a person moves at least
_TALLER = 4.0  # so many times as tall as what moves a person is at most
_ROOM = 0.5  # how much of its size is looked at around it, on each side


@dataclass(frozen=True)
class Detection:
    """A person that the detector found: a box as shares of the picture, and how sure it is [0.5..1]."""

    box: BoundingBox
    score: float


class PersonDetector:
    """Looks for people around what moves.

    Dalal and Triggs' detector as trained by OpenCV, the one of Jiang et al. 2016, Section V-B.
    """

    def __init__(self) -> None:
        self._cv2: Any = opencv()
        self._hog = self._cv2.HOGDescriptor()
        self._hog.setSVMDetector(self._cv2.HOGDescriptor_getDefaultPeopleDetector())

    def find(self, picture: Picture, thing: BoundingBox) -> Detection | None:
        """Give the surest person around something that moves."""
        height, width = picture.shape[:2]
        left, top, right, bottom = _around(thing, width, height)
        scale = _scale(thing, height, bottom - top)
        cut = self._fit(picture[top:bottom, left:right], scale)
        boxes, weights = self._hog.detectMultiScale(
            cut, hitThreshold=0.0, winStride=(8, 8), padding=(16, 16), scale=1.12
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
        return max((one for one in found if _moves(one.box, thing)), key=lambda one: one.score, default=None)

    def _fit(self, cut: Picture, scale: float) -> Picture:
        """Bring a piece to size, with a border where it is smaller than the detector's window."""
        cv2 = self._cv2
        how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        grey = cv2.cvtColor(cut, cv2.COLOR_BGR2GRAY)
        sized = grey if scale == 1 else cv2.resize(grey, None, fx=scale, fy=scale, interpolation=how)
        right, below = (max(0, want - have) for want, have in zip(WINDOW, sized.shape[::-1], strict=True))
        bordered: Picture = cv2.copyMakeBorder(sized, 0, below, 0, right, cv2.BORDER_REPLICATE)
        return bordered


def _moves(box: BoundingBox, thing: BoundingBox) -> bool:
    """Say whether a good part of the person moves: door frames may look like people, but stay."""
    wide = min(box.left + box.width, thing.left + thing.width) - max(box.left, thing.left)
    high = min(box.top + box.height, thing.top + thing.height) - max(box.top, thing.top)
    shared = max(0.0, wide) * max(0.0, high)
    return shared >= _PART * box.area and box.height <= _TALLER * thing.height


def _around(thing: BoundingBox, width: int, height: int) -> tuple[int, int, int, int]:
    wide = max(thing.width * width, 0.4 * thing.height * height)  # an arm may move and the body not
    high = max(thing.height * height, 1.5 * thing.width * width)
    middle, centre = (thing.left + thing.width / 2) * width, (thing.top + thing.height / 2) * height
    left, right = middle - (0.5 + _ROOM) * wide, middle + (0.5 + _ROOM) * wide
    top, bottom = centre - (0.5 + _ROOM) * high, centre + (0.5 + _ROOM) * high
    return max(0, int(left)), max(0, int(top)), min(width, math.ceil(right)), min(height, math.ceil(bottom))


def _scale(thing: BoundingBox, height: int, rows: int) -> float:
    """Bring what moves to a height at which the detector knows people, and the piece around it not beyond."""
    return min(4.0, _TALL / (thing.height * height), _PIECE / rows)


def detection_score(weight: float) -> float:
    """Turn the detector's distance from its border into a score: 0.5 on it, 0.82 at 1, towards 1 far beyond.

    Examples
    --------
    >>> [round(detection_score(weight), 2) for weight in (0, 1, 3)]
    [0.5, 0.82, 0.98]
    """
    return 1 - 0.5 * math.exp(-max(0.0, weight))


def motion_score(things: Sequence[BoundingBox], frames: int) -> float:
    """Score of motion in which no person was found: up to 0.45, by size and by how long it has gone on.

    Parameters
    ----------
    things : sequence of BoundingBox
        What moves, the largest first.
    frames : int
        For how many frames in a row something has moved.
    """
    if not things:
        return 0.0
    size = math.log(things[0].area / SMALLEST) / math.log(LARGE / SMALLEST)
    lasting = (frames - 1) / (LASTING - 1)  # what is seen once may be a lamp, and hardly counts
    return 0.45 * min(max(size, 0.1), 1.0) * min(max(lasting, 0.1), 1.0)
