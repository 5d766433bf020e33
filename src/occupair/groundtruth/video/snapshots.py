"""Snapshots of motion, and the minutes they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from occupair.groundtruth.video.frames import Frame
from occupair.groundtruth.video.motion import BoundingBox
from occupair.groundtruth.video.opencv import opencv
from occupair.groundtruth.video.video_files import Video

SNAPSHOT_WIDTH = 640
"""Maximum width of a snapshot [px]."""

Region = tuple[float, float, float, float]
"""Left, top, right and bottom as fractions of the image."""


@dataclass(frozen=True)
class Snapshot:
    """A frame in which something moved."""

    second: float
    score: float
    region: Region  # enclosing everything that moved
    jpeg: NDArray[np.uint8] = field(repr=False)


def take_snapshot(frame: Frame, score: float, boxes: Sequence[BoundingBox]) -> Snapshot:
    """Save a frame as a small JPEG, with the region that encloses some bounding boxes."""
    cv2 = opencv()
    height, width = frame.image.shape[:2]
    image = frame.image
    if width > SNAPSHOT_WIDTH:
        size = (SNAPSHOT_WIDTH, round(SNAPSHOT_WIDTH * height / width))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    _, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 88])
    region = (
        max(0.0, min(box.left for box in boxes)),
        max(0.0, min(box.top for box in boxes)),
        min(1.0, max(box.left + box.width for box in boxes)),
        min(1.0, max(box.top + box.height for box in boxes)),
    )
    return Snapshot(frame.second, score, region, jpeg.ravel())


class SnapshotsByMinute:
    """Snapshots grouped by minute; one within ``margin`` [s] of a minute boundary belongs to both minutes."""

    def __init__(
        self, video: Video, margin: float, snapshots: Sequence[Snapshot] = (), minute: int | None = None
    ):
        self._video, self._margin = video, margin
        self.snapshots = list(snapshots)
        self.minute = video.minute_number(-margin) if minute is None else minute

    def add(self, snapshot: Snapshot) -> None:
        """Add a snapshot."""
        self.snapshots.append(snapshot)

    def known_score(self, second: float) -> float:
        """Return the lowest score so far of the minutes that ``second`` belongs to."""
        first, last = (self._video.minute_number(second + side * self._margin) for side in (-1, 1))
        return min(
            max((one.score for one in self._in_minute(minute)), default=0.0)
            for minute in range(first, last + 1)
        )

    def pop_finished(self, second: float | None) -> Iterator[tuple[int, list[Snapshot]]]:
        """Yield and remove the minutes that end before ``second``, or all if None, with their snapshots."""
        if second is None:
            end = self.snapshots[-1].second if self.snapshots else 0.0
            stop = max(self.minute, self._video.minute_number(end + self._margin) + 1)
        else:
            stop = self._video.minute_number(second - self._margin)
        while self.minute < stop:
            yield self.minute, self._in_minute(self.minute)
            self.minute += 1
            self.snapshots = [
                one for one in self.snapshots if self._seconds_into(one, self.minute) >= -self._margin
            ]

    def _in_minute(self, minute: int) -> list[Snapshot]:
        margin = self._margin
        return [one for one in self.snapshots if -margin <= self._seconds_into(one, minute) <= 60 + margin]

    def _seconds_into(self, snapshot: Snapshot, minute: int) -> float:
        return self._video.seconds_into(snapshot.second, minute)
