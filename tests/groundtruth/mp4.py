"""Edits of MP4 boxes for tests: frame times and creation time."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

NESTED = {b"moov", b"trak", b"mdia", b"minf", b"stbl"}
_EPOCH = datetime(1904, 1, 1, tzinfo=UTC)


def rewrite(content: bytes, change: Callable[[bytes, bytes], tuple[bytes, bytes]]) -> bytes:
    """Rebuild boxes from type and body; ``change`` returns both for boxes without children."""
    out, place = b"", 0
    while place < len(content):
        size, kind = struct.unpack_from(">I4s", content, place)
        body = content[place + 8 : place + size]
        kind, body = (kind, rewrite(body, change)) if kind in NESTED else change(kind, body)
        out, place = out + struct.pack(">I4s", len(body) + 8, kind) + body, place + size
    return out


def retime(path: Path, times: Sequence[float]) -> None:
    """Set the frame times [s]; the index must be behind the frames, as OpenCV writes it."""
    scale = 1000
    ticks = [round(time * scale) for time in times]
    steps = [after - before for before, after in pairwise(ticks)]
    steps.append(steps[-1])

    def change(kind: bytes, body: bytes) -> tuple[bytes, bytes]:
        if kind == b"stts":
            entries = b"".join(struct.pack(">II", 1, step) for step in steps)
            return kind, struct.pack(">II", 0, len(steps)) + entries
        if kind == b"mdhd":
            return kind, body[:12] + struct.pack(">II", scale, sum(steps)) + body[20:]
        return (
            b"free" if kind == b"edts" else kind
        ), body  # an edit list would truncate the video to its old length

    content = path.read_bytes()
    moov = content.index(b"moov") - 4
    path.write_bytes(content[:moov] + rewrite(content[moov:], change))


def set_created(path: Path, created: datetime, *, version: int = 0) -> None:
    """Set the creation time, in header version 0 (32-bit times) or 1 (64-bit times)."""
    seconds = int((created - _EPOCH).total_seconds())

    def change(kind: bytes, body: bytes) -> tuple[bytes, bytes]:
        if kind != b"mvhd":
            return kind, body
        scale, duration = struct.unpack_from(">II", body, 12)
        if version == 0:
            return kind, body[:4] + struct.pack(">II", seconds, seconds) + body[12:]
        return kind, b"\x01\0\0\0" + struct.pack(">QQIQ", seconds, seconds, scale, duration) + body[20:]

    content = path.read_bytes()
    moov = content.index(b"moov") - 4
    path.write_bytes(content[:moov] + rewrite(content[moov:], change))
