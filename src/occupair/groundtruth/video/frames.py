"""Frames of a video, timed by the timestamps in the file rather than by frame count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.groundtruth.video.opencv import opencv

Image = NDArray[np.uint8]

TRUNCATED = 0.02
"""A video that ends before its declared length by more than this fraction and by a second is truncated."""
_MAX_JUMP = 86400.0  # between two frames [s]; a larger jump is a broken timestamp


@dataclass(frozen=True)
class Frame:
    """A frame to analyse: its number, its time from the start of the video [s], and its image."""

    number: int
    second: float
    image: Image


class FrameReader:
    """Read a video once, from its start or from a position reached before.

    ``second`` and ``number`` are the current position. Frames that are skipped are decoded but not converted.
    A frame whose timestamp is missing or goes backwards is placed one frame interval after the previous one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._cv2: Any = opencv()
        self._open()

    def _open(self) -> None:
        cv2 = self._cv2
        self._capture = cv2.VideoCapture(str(self.path), cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            raise InputError(f"{self.path}: cannot be read: not a video, or truncated")
        fps = self._capture.get(cv2.CAP_PROP_FPS)
        self.interval = 1 / fps if 0.01 <= fps <= 240 else 0.04
        self.declared_frames = int(max(0, self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        self.number, self.second = 0, 0.0
        self._origin: float | None = None  # timestamp of second 0 [s]
        self._due = 0.0  # time of the next frame to return [s]

    @property
    def declared_seconds(self) -> float:
        """Length declared by the file [s]; 0 if unknown."""
        return self.declared_frames * self.interval if self.declared_frames < 1e9 else 0.0

    @property
    def seconds(self) -> float:
        """Length read so far [s]."""
        return self.second + self.interval if self.number else 0.0

    @property
    def missing(self) -> float:
        """Length missing at the end, compared with the declared length [s]."""
        short = self.declared_seconds - self.seconds
        few = self.number < (1 - TRUNCATED) * self.declared_frames
        return short if few and short > max(1.0, TRUNCATED * self.declared_seconds) else 0.0

    def close(self) -> None:
        """Close the file."""
        self._capture.release()

    def frames(self, rate: float) -> Iterator[Frame]:
        """Yield at most ``rate`` frames per second until the end, or until decoding fails."""
        while self.grab():
            if self.second < self._due - 0.01 / rate:
                continue
            image = self._retrieve()
            if image is None:
                continue
            self._due = max(self._due + 1 / rate, self.second + 0.5 / rate)
            yield Frame(self.number, self.second, image)

    def grab(self) -> bool:
        """Advance to the next frame; False at the end, or if it cannot be decoded."""
        try:
            if not self._capture.grab():
                return False
        except self._cv2.error:
            return False
        timestamp = self._capture.get(self._cv2.CAP_PROP_POS_MSEC) / 1000
        if self._origin is None:
            self._origin = timestamp
            self.second = 0.0
        else:
            elapsed = timestamp - self._origin
            steady = 0 < elapsed - self.second <= _MAX_JUMP
            self.second = elapsed if steady else self.second + self.interval
            self._origin = self._origin if steady else timestamp - self.second
        self.number += 1
        return True

    def _retrieve(self) -> Image | None:
        try:
            good, image = self._capture.retrieve()
        except self._cv2.error:
            return None
        return image if good and image is not None and image.size else None

    def rewind(self) -> None:
        """Return to the start."""
        self.close()
        self._open()

    @property
    def position(self) -> dict[str, float]:
        """Current position, for ``resume``."""
        return {
            "number": self.number,
            "second": self.second,
            "origin": self._origin or 0.0,
            "due": self._due,
        }

    def resume(self, position: dict[str, float]) -> bool:
        """Go to a position in the same video, by seeking if it is exact; False if it cannot be reached."""
        number, second = int(position["number"]), position["second"]
        self._capture.set(self._cv2.CAP_PROP_POS_FRAMES, number - 1)
        self.number, self.second, self._origin = number - 1, second - self.interval, position["origin"]
        reached = self.grab() and abs(self.second - second) < 1e-6
        if not reached:  # seeking is not exact in this file: read up to the position
            self.rewind()
            reached = all(self.grab() for _ in range(number)) and abs(self.second - second) < 1e-6
        self.second, self._due = second, position["due"]
        return reached


def declared_length(path: Path) -> float:
    """Return the length that a video declares [s]; 0 if it is unknown or the file cannot be read."""
    try:
        reader = FrameReader(path)
    except InputError:
        return 0.0
    try:
        return reader.declared_seconds
    finally:
        reader.close()
