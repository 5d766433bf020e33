"""Frames of a video, timed by the timestamps in the file rather than by frame count.

Damaged spots are skipped: frames are dropped from the first error to the next keyframe, and the time without
a picture is recorded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.groundtruth.video.disposable import is_disposable
from occupair.groundtruth.video.opencv import opencv
from occupair.groundtruth.video.pyav import open_video, pyav

Image = NDArray[np.uint8]
Grey = NDArray[np.float32]

RATE = 5.0
"""Default number of frames analysed per second [1/s]."""
TRUNCATED = 0.02
"""A video that ends before its declared length by more than this fraction and by a second is truncated."""
MIN_SIDE = 16
"""Width and height of a usable frame, at least [px]; colours of a few rows cannot be converted."""
MAX_WIDTH = 1280
"""Larger images are reduced to this width [px], which is enough for the person detector."""

_MAX_JUMP = 86400.0  # between two frames [s]; a larger jump is a broken timestamp
_MIN_DAMAGE = 1.0  # a shorter time without a picture is not recorded [s]
_MAX_PAUSE = 3.0  # a longer time without a frame is recorded even without an error [s] ...
_MAX_SLOWDOWN = 5.0  # ... if it is longer than this multiple of the time between the two frames before
_HEALED = 10.0  # without a keyframe, frames are used again this long after the last error [s]
_MAX_RETRIES = 100_000  # after an unreadable part of the container
_AVI_CHUNK_HEADER = 8  # bytes
_LUMA_PLANES = frozenset({
    "gray", "nv12", "nv21", "yuv420p", "yuv422p", "yuv444p", "yuvj420p", "yuvj422p", "yuvj444p",
})  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """A frame to analyse: its number, and its time from the start of the video [s].

    Most frames show no motion and are only needed as a small greyscale image, so colours are converted on
    demand.
    """

    number: int
    second: float
    decoded: Any = field(repr=False)  # av.VideoFrame
    reformatter: Any = field(repr=False)  # av.video.reformatter.VideoReformatter

    @property
    def aspect_ratio(self) -> float:
        """Height over width."""
        height, width = self.decoded.height, self.decoded.width
        ratio: float = width / height if self._quarter_turns % 2 else height / width
        return ratio

    @property
    def _quarter_turns(self) -> int:
        return round(float(self.decoded.rotation) / 90) % 4

    @cached_property
    def image(self) -> Image:
        """The image in BGR, upright, at most ``MAX_WIDTH`` wide."""
        frame = self.decoded
        scale = min(1.0, MAX_WIDTH / frame.width)
        size = {"width": round(scale * frame.width), "height": round(scale * frame.height)}
        image = self.reformatter.reformat(frame, format="bgr24", interpolation="AREA", **size).to_ndarray()
        return np.ascontiguousarray(np.rot90(image, self._quarter_turns))

    def grey(self, width: int, height: int) -> Grey:
        """Return the upright image in grey levels [0..255], reduced to a size [px]."""
        frame, cv2 = self.decoded, opencv()
        if frame.format.name in _LUMA_PLANES:
            plane = frame.planes[0]
            luma = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: frame.height, : frame.width]
        else:
            luma = self.reformatter.reformat(frame, format="gray").to_ndarray()
        turns = self._quarter_turns
        size = (height, width) if turns % 2 else (width, height)
        small: Grey = cv2.resize(luma, size, interpolation=cv2.INTER_AREA).astype(np.float32)
        if frame.format.name.startswith("yuv4") and int(frame.color_range) != 2:  # 16 is black, 235 is white
            small = (small - np.float32(16)) * np.float32(255 / 219)
        return np.ascontiguousarray(np.rot90(small, turns))


class FrameReader:
    """Read a video once, from its start or from a position reached before.

    ``second`` and ``number`` are the current position, ``missing`` the times without a picture [s]. A frame
    whose timestamp is missing or goes backwards is placed one frame interval after the previous one. Frames
    that are neither needed at this rate nor by other frames are not decoded.

    Parameters
    ----------
    path : Path
        The video.
    rate : float
        Frames to return per second, at most.
    threads : int
        Threads of the decoder.
    """

    def __init__(self, path: Path, *, rate: float = RATE, threads: int = 1) -> None:
        self.path, self._rate, self._threads = path, rate, threads
        self._av: Any = pyav()
        self._reformatter = self._av.video.reformatter.VideoReformatter()
        self._open()

    def _open(self) -> None:
        try:
            self._container = open_video(self.path)
            self._stream = self._container.streams.best("video")
        except (self._av.FFmpegError, OSError, ValueError):
            self._stream = None
        if self._stream is None or self._stream.codec_context is None:
            raise InputError(f"{self.path}: cannot be read: not a video, or truncated")
        self._stream.thread_type = "AUTO"
        self._stream.codec_context.thread_count = self._threads
        fps = float(self._stream.average_rate or self._stream.guessed_rate or 0)
        self.interval = 1 / fps if 0.01 <= fps <= 240 else 0.04
        self.number, self.second = 0, -self.interval
        self.missing: list[tuple[float, float]] = []
        self._origin: float | None = None  # timestamp of second 0 [s]
        self._step = self.interval  # between the last two frames [s]
        self._due = 0.0  # time of the next frame to return [s]
        self._error: float | None = None  # time of the last error, until the next good frame [s]
        self._dropped = 0  # frames since the last good one
        self._healed = -_MAX_JUMP  # time at which the last damaged spot ended [s]
        # in AVI, frames are timed by counting, which damage disturbs; the index has the time of each chunk
        entries = getattr(self._stream, "index_entries", ())
        if self._container.format.name != "avi" or len(entries) < self._stream.frames:
            entries = ()
        self._index = {entry.pos + _AVI_CHUNK_HEADER: entry.timestamp for entry in entries}
        self._start_source()

    def _start_source(self) -> None:
        self._decoded_times: deque[float] = deque(maxlen=64)
        self._source = self._good_frames()

    @property
    def declared_seconds(self) -> float:
        """Length declared by the file [s]; 0 if unknown."""
        stream = self._stream
        known = stream.duration * stream.time_base if stream.duration else 0
        total = (self._container.duration or 0) / self._av.time_base
        return max(float(known) or float(total), float(stream.frames * self.interval))

    @property
    def seconds(self) -> float:
        """Length read so far [s]."""
        return self.second + self.interval

    @property
    def truncated(self) -> float:
        """Length missing at the end, compared with the declared length [s]."""
        short = self.declared_seconds - self.seconds
        few = self.number < (1 - TRUNCATED) * (self.declared_seconds / self.interval)
        return short if few and short > max(1.0, TRUNCATED * self.declared_seconds) else 0.0

    def close(self) -> None:
        """Close the file."""
        self._container.close()

    def frames(self) -> Iterator[Frame]:
        """Yield at most ``rate`` frames per second until the end."""
        rate = self._rate
        for decoded in self._source:
            if self.second >= self._due - 0.01 / rate:
                self._due = max(self._due + 1 / rate, self.second + 0.5 / rate)
                yield Frame(self.number, self.second, decoded, self._reformatter)

    def _good_frames(self) -> Iterator[Any]:
        """Yield decoded frames outside damaged spots, and advance the position."""
        for frame in self._decode():
            time = self._time_of(frame)
            if time is None or not (self._error is None or frame.key_frame or time - self._error > _HEALED):
                self._dropped += 1
                continue
            self._advance(time)
            yield frame

    def _time_of(self, frame: Any) -> float | None:
        """Time of a frame from the start of the video [s]; None if it is from before a damaged spot."""
        following = self.second + self.interval * (1 + self._dropped)
        if frame.time is None:
            return following
        timestamp = float(frame.time)
        if self._origin is None:
            self._origin = self._start(timestamp)
        elapsed = timestamp - self._origin
        if 0 < elapsed - self.second <= _MAX_JUMP:
            return elapsed
        if self._error is not None or self.second - self._healed < _HEALED:
            return None
        self._origin = timestamp - following
        return following

    def _start(self, first: float) -> float:
        """Timestamp of the start of the video; the first frames may be missing."""
        return 0.0 if _MIN_DAMAGE < first < self.declared_seconds else first

    def _advance(self, time: float) -> None:
        gap = time - self.seconds
        pause = max(_MAX_PAUSE, _MAX_SLOWDOWN * self._step)
        if gap > (pause if self._error is None else _MIN_DAMAGE):
            self.missing.append((self.seconds, time))
        if self._error is not None:
            self._healed = time
        self._step = time - self.second
        self.second, self._error, self._dropped = time, None, 0
        self.number += 1

    def _decode(self) -> Iterator[Any]:
        """Yield the frames that can be decoded, without those that nobody needs."""
        step, retries = 1.0, 0
        while True:
            before = self.second
            try:
                for packet in self._container.demux(self._stream):
                    if self._is_needed(packet):
                        yield from self._decode_packet(packet)
                at_end = True
            except self._av.FFmpegError:
                self._error, at_end = self.second, False
            step, retries = (1.0, 0) if self.second > before else (step, retries + 1)
            if at_end or retries > _MAX_RETRIES:
                if not self._skip_ahead(step):
                    return
                step *= 2

    def _decode_packet(self, packet: Any) -> list[Any]:
        try:
            decoded = [frame for frame in packet.decode() if isinstance(frame, self._av.VideoFrame)]
        except self._av.FFmpegError:
            self._note_error(packet)
            return []
        if packet.is_corrupt:
            self._note_error(packet)
        usable = [frame for frame in decoded if min(frame.width, frame.height) >= MIN_SIDE]
        if len(usable) < len(decoded) or any(frame.is_corrupt for frame in usable):
            self._note_error(packet)
        return usable

    def _note_error(self, packet: Any) -> None:
        self._error = self.second
        if packet.pts is not None and packet.time_base:
            timestamp = float(packet.pts * packet.time_base)
            self._origin = self._start(timestamp) if self._origin is None else self._origin
            self._error = timestamp - self._origin

    def _is_needed(self, packet: Any) -> bool:
        """Whether a packet has to be decoded: for other frames, or because no earlier frame is close."""
        if self._index and packet.size:
            timestamp = self._index.get(packet.pos)
            if timestamp is None:  # found by chance in a damaged part
                self._error = self.second
                return False
            packet.pts = packet.dts = timestamp
        if packet.pts is None or not packet.time_base:
            return True
        time = float(packet.pts * packet.time_base)
        near = any(0 < time - one <= 0.5 / self._rate for one in self._decoded_times)
        if near and is_disposable(packet):
            self.number += 1
            return False
        self._decoded_times.append(time)
        return True

    def _skip_ahead(self, step: float) -> bool:
        """Seek past a spot at which the container cannot be read; False at the end of the video."""
        target = self.seconds + step
        if self._origin is None or target + 1 > self.declared_seconds:
            return False
        self._error = self.second
        return self._seek(target, backward=False)

    def _seek(self, second: float, *, backward: bool) -> bool:
        offset = round(((self._origin or 0.0) + second) / self._stream.time_base)
        try:
            self._container.seek(offset, stream=self._stream, backward=backward)
        except self._av.FFmpegError:
            return False
        self._decoded_times.clear()
        return True

    def rewind(self) -> None:
        """Return to the start."""
        self.close()
        self._open()

    @property
    def position(self) -> dict[str, Any]:
        """Current position, for ``resume``."""
        return {
            "number": self.number,
            "second": self.second,
            "origin": self._origin or 0.0,
            "due": self._due,
            "step": self._step,
            "missing": [list(span) for span in self.missing],
        }

    def resume(self, position: dict[str, Any]) -> bool:
        """Go to a position in the same video, by seeking if it is exact; False if it cannot be reached."""
        second = position["second"]
        self._origin = position["origin"]
        if not (self._seek(second, backward=True) and self._read_until(second)):
            self.rewind()
            if not self._read_until(second):
                return False
        self.number, self.second = int(position["number"]), second
        self._due, self._step = position["due"], position["step"]
        self.missing = [(begin, end) for begin, end in position["missing"]]
        return True

    def _read_until(self, second: float) -> bool:
        return any(self.second > second - 1e-6 for _ in self._source) and abs(self.second - second) < 1e-6


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
