"""The frames of a video and when each was taken, by the timestamps in the file, not by counting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.groundtruth.video.opencv import opencv

Picture = NDArray[np.uint8]

MISSING = 0.02
"""A video that ends earlier than it says by more than this share, and by a second, is cut off or damaged."""
_LONGEST_JUMP = 86400.0  # between two frames [s]; more is a broken timestamp


@dataclass(frozen=True)
class Frame:
    """A frame that was looked at: its number, when it was taken [s from the start on], and its picture."""

    number: int
    second: float
    picture: Picture


class FrameReader:
    """Reads a video once from its start, or from a frame on that was read before.

    ``second`` and ``number`` say how far it came. Frames between those that are looked at are decoded but
    not converted. A frame whose timestamp is missing or goes back is taken one frame interval later.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._cv2: Any = opencv()
        self._open()

    def _open(self) -> None:
        cv2 = self._cv2
        self._capture = cv2.VideoCapture(str(self.path), cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            raise InputError(f"{self.path}: cannot be read, it is no video or was cut off")
        fps = self._capture.get(cv2.CAP_PROP_FPS)
        self.interval = 1 / fps if 0.01 <= fps <= 240 else 0.04
        self.declared_frames = int(max(0, self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        self.number, self.second = 0, 0.0
        self._origin: float | None = None  # the timestamp that counts as second 0 [s]
        self._due = 0.0  # when the next frame is to be looked at [s]

    @property
    def declared_seconds(self) -> float:
        """How long the file says that it is [s]; 0 where it does not."""
        return self.declared_frames * self.interval if self.declared_frames < 1e9 else 0.0

    @property
    def seconds(self) -> float:
        """How much of the video was read [s]."""
        return self.second + self.interval if self.number else 0.0

    @property
    def missing(self) -> float:
        """How much of the video is missing at its end, by what it says of its length [s]."""
        short = self.declared_seconds - self.seconds
        few = self.number < (1 - MISSING) * self.declared_frames
        return short if few and short > max(1.0, MISSING * self.declared_seconds) else 0.0

    def close(self) -> None:
        """Let go of the file."""
        self._capture.release()

    def frames(self, rate: float) -> Iterator[Frame]:
        """Give at most ``rate`` frames a second, until nothing more can be read."""
        while self.grab():
            if self.second < self._due - 0.01 / rate:
                continue
            picture = self._retrieve()
            if picture is None:
                continue
            self._due = max(self._due + 1 / rate, self.second + 0.5 / rate)
            yield Frame(self.number, self.second, picture)

    def grab(self) -> bool:
        """Go to the next frame; False at the end, or where nothing more can be decoded."""
        try:
            if not self._capture.grab():
                return False
        except self._cv2.error:
            return False
        moment = self._capture.get(self._cv2.CAP_PROP_POS_MSEC) / 1000
        if self._origin is None:
            self._origin = moment
            self.second = 0.0
        else:
            later = moment - self._origin
            steady = 0 < later - self.second <= _LONGEST_JUMP
            self.second = later if steady else self.second + self.interval
            self._origin = self._origin if steady else moment - self.second
        self.number += 1
        return True

    def _retrieve(self) -> Picture | None:
        try:
            good, picture = self._capture.retrieve()
        except self._cv2.error:
            return None
        return picture if good and picture is not None and picture.size else None

    def rewind(self) -> None:
        """Go back to the start."""
        self.close()
        self._open()

    @property
    def position(self) -> dict[str, float]:
        """Where the reader is, for ``resume``."""
        return {
            "number": self.number,
            "second": self.second,
            "origin": self._origin or 0.0,
            "due": self._due,
        }

    def resume(self, position: dict[str, float]) -> bool:
        """Go to a position in the same video, by seeking if that leads there; False if nothing does."""
        number, second = int(position["number"]), position["second"]
        self._capture.set(self._cv2.CAP_PROP_POS_FRAMES, number - 1)
        self.number, self.second, self._origin = number - 1, second - self.interval, position["origin"]
        there = self.grab() and abs(self.second - second) < 1e-6
        if not there:  # seeking is not exact in this file: read up to there
            self.rewind()
            there = all(self.grab() for _ in range(number)) and abs(self.second - second) < 1e-6
        self.second, self._due = second, position["due"]
        return there


def length_of(path: Path) -> float:
    """Ask a video for its length [s]; 0 where it cannot be read or does not say."""
    try:
        reader = FrameReader(path)
    except InputError:
        return 0.0
    try:
        return reader.declared_seconds
    finally:
        reader.close()
