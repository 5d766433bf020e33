"""Shots of what moved, and the minutes they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from occupair.groundtruth.video.frames import Frame
from occupair.groundtruth.video.motion import BoundingBox
from occupair.groundtruth.video.opencv import opencv
from occupair.groundtruth.video.video_files import Video

SHOT_WIDTH = 640
"""Of the pictures that contact sheets are made of [px]."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom as shares of a picture."""


@dataclass(frozen=True)
class Snapshot:
    """A frame in which something moved."""

    second: float
    score: float
    box: Box  # around all that moved
    jpeg: NDArray[np.uint8] = field(repr=False)


def take_snapshot(frame: Frame, score: float, things: Sequence[BoundingBox]) -> Snapshot:
    """Keep a frame, small and as JPEG, with a box around things."""
    cv2 = opencv()
    height, width = frame.picture.shape[:2]
    picture = frame.picture
    if width > SHOT_WIDTH:
        size = (SHOT_WIDTH, round(SHOT_WIDTH * height / width))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    _, jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 88])
    box = (
        max(0.0, min(thing.left for thing in things)),
        max(0.0, min(thing.top for thing in things)),
        min(1.0, max(thing.left + thing.width for thing in things)),
        min(1.0, max(thing.top + thing.height for thing in things)),
    )
    return Snapshot(frame.second, score, box, jpeg.ravel())


class SnapshotsByMinute:
    """Shots by minute; one within ``margin`` [s] of a minute's border belongs to both minutes."""

    def __init__(
        self, video: Video, margin: float, shots: Sequence[Snapshot] = (), minute: int | None = None
    ):
        self._video, self._margin = video, margin
        self.shots = list(shots)
        self.minute = video.minute_number(-margin) if minute is None else minute

    def add(self, shot: Snapshot) -> None:
        """Note a shot."""
        self.shots.append(shot)

    def known(self, second: float) -> float:
        """Give the lowest score that any of the minutes at ``second`` has so far."""
        first, last = (self._video.minute_number(second + side * self._margin) for side in (-1, 1))
        return min(
            max((shot.score for shot in self._of(minute)), default=0.0) for minute in range(first, last + 1)
        )

    def close(self, second: float | None) -> Iterator[tuple[int, list[Snapshot]]]:
        """Give the minutes that are over at ``second``, or all, with their shots; quiet ones have none."""
        if second is None:
            end = self.shots[-1].second if self.shots else 0.0
            over = max(self.minute, self._video.minute_number(end + self._margin) + 1)
        else:
            over = self._video.minute_number(second - self._margin)
        while self.minute < over:
            yield self.minute, self._of(self.minute)
            self.minute += 1
            self.shots = [shot for shot in self.shots if self._into(shot, self.minute) >= -self._margin]

    def _of(self, minute: int) -> list[Snapshot]:
        return [s for s in self.shots if -self._margin <= self._into(s, minute) <= 60 + self._margin]

    def _into(self, shot: Snapshot, minute: int) -> float:
        return self._video.seconds_into(shot.second, minute)
