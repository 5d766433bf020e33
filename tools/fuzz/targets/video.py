"""Video files with damaged headers: container, start, length and frames."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from functools import cache
from random import Random

import av
import numpy as np

from occupair.groundtruth.video.frames import FrameReader, declared_length
from occupair.groundtruth.video.video_files import creation_time
from tools.fuzz.byte_mutations import mutate_bytes, random_bytes
from tools.fuzz.scratch import scratch_file, scratch_folder
from tools.fuzz.trial import check

_KINDS = (
    ("mp4", "mpeg4"),
    ("mkv", "mpeg4"),
    ("avi", "mjpeg"),
    ("mp4", "libx264"),
    ("ts", "mpeg2video"),
    ("mov", "mjpeg"),
)
_WORDS = (
    b"moov", b"mvhd", b"trak", b"mdat", b"stts", b"stsz", b"stco", b"avcC", b"RIFF", b"idx1", b"LIST",
    b"\x1aE\xdf\xa3", b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x01",
    b"\x47\x40\x00",
)  # fmt: skip
_HEADER = 1_000  # bytes at both ends, where headers and indexes are


@cache
def _videos() -> tuple[bytes, ...]:
    """Return videos of six frames."""
    found = []
    for suffix, codec in _KINDS:
        path = scratch_folder() / f"example.{suffix}"
        with av.open(str(path), "w") as container:
            container.metadata["creation_time"] = "2024-01-08T08:00:00Z"
            stream = container.add_stream(codec, rate=Fraction(5))
            stream.width, stream.height = 32, 32
            stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
            for number in range(6):
                picture = np.full((32, 32, 3), 40 * number, np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "bgr24")))
            container.mux(stream.encode())
        found.append(path.read_bytes())
    return tuple(found)


def generate(random: Random) -> bytes:
    """Return the number of the container, and a file."""
    place = random.randrange(len(_KINDS))
    chance, data = random.random(), _videos()[place]
    if chance < 0.05:
        data = random_bytes(random, _WORDS)
    elif chance < 0.5:
        data = mutate_bytes(data[:_HEADER], random, _WORDS) + data[_HEADER:]
    elif chance < 0.8:
        data = data[:-_HEADER] + mutate_bytes(data[-_HEADER:], random, _WORDS)
    else:
        data = mutate_bytes(data, random, _WORDS)
    return bytes([place]) + data


def run(data: bytes) -> None:
    """Read the start, the length and all frames."""
    suffix = _KINDS[(data or b"\0")[0] % len(_KINDS)][0]
    path = scratch_file(f"north.{suffix}", data[1:])
    start = creation_time(path)
    check(start is None or start.utcoffset() is not None, "start must have an offset")
    check(math.isfinite(declared_length(path)), "length must be finite")
    reader = FrameReader(path)
    try:
        last = -1.0
        for number, frame in enumerate(reader.frames()):
            check(frame.second > last and number < 1_000, "frames must advance")
            last = frame.second
            if number < 3:
                check(frame.grey(16, 16).shape == (16, 16), "picture must have its size")
                check(frame.image.ndim == 3, "picture must have colours")
        check(reader.seconds >= 0 and math.isfinite(reader.seconds), "length must be finite")
        check(all(begin <= end for begin, end in reader.missing), "missing times must be in order")
        check(dt.timedelta(seconds=reader.seconds) >= dt.timedelta(0), "length must be a time")
    finally:
        reader.close()
