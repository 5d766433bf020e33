"""Events folders with manual counts: index.json, then counts.json after a null byte."""

from __future__ import annotations

from random import Random

import pandas as pd

from occupair.groundtruth.counters.video_counts import read_video_counts
from occupair.groundtruth.counting.counts import read_book, write_book
from tools.fuzz.json_mutations import json_bytes, mutate_json
from tools.fuzz.scratch import scratch_folder
from tools.fuzz.trial import check

_INDEX = {
    "format": "occupair events",
    "version": 1,
    "doors": {
        "north": {
            "files": [
                {"name": "a.mp4", "start": "2024-01-08T08:00:00", "seconds": 600.0, "frames": 3000},
                {"name": "b.mp4", "start": "2024-01-08T08:20:00", "seconds": 60.0, "frames": 3,
                 "problem": "truncated", "missing": [[3.0, 9.5]]},
            ],
            "gaps": [["2024-01-08T08:10:00", "2024-01-08T08:20:00"]],
            "overlaps": [],
        },
    },
    "minutes": [
        {"door": "north", "minute": "2024-01-08T08:01:00", "score": 0.8, "sheet": "north/080100.jpg"},
    ],
}  # fmt: skip
_COUNTS = {
    "format": "occupair counts",
    "version": 1,
    "counts": [
        {"door": "north", "minute": "2024-01-08T08:01:00", "entered": 2, "left": 0, "state": "counted"},
        {"door": "north", "minute": "2024-01-08T08:02:00", "entered": 0, "left": 0, "state": "skipped"},
    ],
    "counting": {
        "at": {"door": "north", "minute": "2024-01-08T08:02:00"},
        "order": "time",
        "deletes": False,
        "revision": 3,
        "seconds": [1.5, 2],
        "begun": [
            {"door": "south", "minute": "2024-01-08T08:03:00", "entered": 1, "left": 0, "state": "begun"}
        ],
        "marked": [],
        "deleted": [{"door": "north", "minute": "2024-01-08T08:01:00"}],
        "history": [{"door": "north", "minute": "2024-01-08T08:01:00", "before": None}],
    },
}
_NAMES = (
    "door", "minute", "entered", "left", "state", "counted", "unsure", "begun", "skipped", "files", "gaps",
    "missing", "overlaps", "start", "seconds", "frames", "problem", "sheet", "score", "before", "at",
)  # fmt: skip


def generate(random: Random) -> bytes:
    documents = [_INDEX, _COUNTS]
    chosen = random.randrange(2)
    documents[chosen] = mutate_json(documents[chosen], random, _NAMES)
    texts = [
        json_bytes(one, random) if one is documents[chosen] else json_bytes(one, Random(1))
        for one in documents
    ]
    return b"\0".join(texts)


def run(data: bytes) -> None:
    index, _, counts = data.partition(b"\0")
    folder = scratch_folder()
    (folder / "index.json").write_bytes(index)
    (folder / "counts.json").write_bytes(counts)
    book = read_book(folder)
    write_book(folder, book)
    check(read_book(folder) == book, "counts must be the same after writing and reading")
    passages = read_video_counts(folder, partial=True)
    check(isinstance(passages.index, pd.DatetimeIndex), "passages must have times")
    check(bool((passages[["entered", "left"]] >= 0).all().all()), "passages must not be negative")
