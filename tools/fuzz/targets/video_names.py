"""File names of videos: door and start."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from random import Random

from occupair.groundtruth.video.file_names import (
    door_in_folder,
    door_in_name,
    find_day_order,
    natural_order,
    safe_name,
    start_in_name,
)
from tools.fuzz.byte_mutations import mutate_bytes
from tools.fuzz.trial import check

_NAMES = (
    "north_20240108_080000.mp4", "NVR_ch2_main_20240108080000_20240108090000.dav", "2024-01-08_08-00-00.mkv",
    "cam1/08-11-2026.avi", "2024/01/08/08/00.mp4", "1704704400.mp4", "video 1704704400000.mov",
    "Kamera Süd 8.1.2024 08.00.mp4", "20240108T080000Z.mp4", "2024-01-08T08:00:00+01:00.mp4",
    "M00S00_1704704400.mp4", "record/20240108/hiv00001.mp4", "A24010808000000.avi", "x.264",
)  # fmt: skip
_WORDS = (
    b"_",
    b"-",
    b".",
    b"2024",
    b"20240230",
    b"99",
    b"0000",
    b"99999999999999",
    b"/",
    b"ch",
    b"T",
    b"Z",
    b"+14:00",
)


def generate(random: Random) -> bytes:
    return mutate_bytes(random.choice(_NAMES).encode(), random, _WORDS)


def run(data: bytes) -> None:
    text = data.replace(b"\0", b"").decode("utf-8", "surrogateescape")
    path = Path("videos") / text.lstrip("/")
    order = find_day_order([path, Path("north_20240108_080000.mp4")])
    for dayfirst in (None, True, False, order):
        start = start_in_name(path, dayfirst=dayfirst)
        check(start is None or isinstance(start, dt.datetime), "start must be a time")
    for door in (door_in_name(path), safe_name(door_in_folder(path))):
        check(safe_name(door) == door, "door must be a safe folder name")
        check("/" not in door and door not in ("", ".", ".."), "door must be a folder name")
    natural_order(path)
