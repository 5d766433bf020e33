"""When a video was recorded, by what its container says."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

_EPOCH = datetime(1904, 1, 1, tzinfo=UTC)  # of MP4 and QuickTime
_EARLIEST = datetime(1995, 1, 1, tzinfo=UTC)  # a clock that was never set says 1904, 1970 or 1980


def created(path: Path) -> datetime | None:
    """Read when a video was created: from an MP4 or QuickTime header, or by ffprobe where that is installed.

    Returns
    -------
    datetime or None
        In UTC, as the formats have it. None where nothing is said, or what cannot be.
    """
    try:
        with path.open("rb") as file:
            found = _movie_header(file)
    except (OSError, struct.error):
        return None
    return found or _asked(path)


def _movie_header(file: BinaryIO) -> datetime | None:
    """Find moov/mvhd and its creation time [s since 1904], as ISO/IEC 14496-12 has it."""
    end = file.seek(0, 2)
    moov = _box(file, b"moov", 0, end)
    mvhd = _box(file, b"mvhd", *moov) if moov else None
    if mvhd is None:
        return None
    file.seek(mvhd[0])
    version, seconds = struct.unpack(">B3xI", file.read(8))
    if version == 1:
        file.seek(mvhd[0] + 4)
        (seconds,) = struct.unpack(">Q", file.read(8))
    return _sensible(seconds)


def _box(file: BinaryIO, wanted: bytes, begin: int, end: int) -> tuple[int, int] | None:
    """Give where the content of a box begins and ends."""
    while begin + 8 <= end:
        file.seek(begin)
        size, kind = struct.unpack(">I4s", file.read(8))
        head = 8
        if size == 1:  # the size did not fit into 32 bits
            (size,) = struct.unpack(">Q", file.read(8))
            head = 16
        size = end - begin if size == 0 else size
        if kind == wanted:
            return begin + head, min(begin + size, end)
        if size < head:
            return None
        begin += size
    return None


def _sensible(seconds: int) -> datetime | None:
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return None
    return moment if _EARLIEST <= moment <= datetime.now(UTC) + timedelta(days=2) else None


def _asked(path: Path) -> datetime | None:
    """Ask ffprobe, which knows more containers."""
    program = shutil.which("ffprobe")
    if program is None:
        return None
    command = [program, "-v", "quiet", "-print_format", "json", "-show_entries", "format_tags", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=30, check=False)
        said = json.loads(done.stdout)["format"]["tags"]["creation_time"]
        moment = datetime.fromisoformat(said)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment if moment >= _EARLIEST else None
