"""CSV exports of door counters. The first byte chooses the options."""

from __future__ import annotations

from random import Random

import pandas as pd

from occupair.groundtruth.counters.read_passages import read_passages
from tools.fuzz.byte_mutations import random_bytes
from tools.fuzz.scratch import scratch_file
from tools.fuzz.table_mutations import Table, mutate_table, table_bytes
from tools.fuzz.trial import check

_NAMES = (
    "time", "Zeit", "date", "door", "direction", "Richtung", "in", "out", "entered", "left", "count",
    "total in", "total out", "north in", "north out", "Eingang", "Ausgang", "people", "sensor", "start",
    "end", "", "x",
)  # fmt: skip
_OPTIONS = (
    {},
    {},
    {"timezone": "Europe/Copenhagen"},
    {"cumulative": True},
    {"cumulative": False},
    {"dayfirst": True},
    {"columns": {"entered": "in", "left": "out"}},
)


def generate(random: Random) -> bytes:
    choice = bytes([random.randrange(256)])
    if random.random() < 0.04:
        return choice + random_bytes(random, [f"{name},".encode() for name in _NAMES] + [b"\n"])
    return choice + table_bytes(mutate_table(_table(random), random, _NAMES), random)


def _table(random: Random) -> Table:
    rows = range(random.randint(1, 6))
    step = random.choice((1, 5, 60))
    times = [f"2024-01-08 {8 + number * step // 60:02}:{number * step % 60:02}:00" for number in rows]
    match random.randrange(4):
        case 0:
            ways = ("in", "out", "Eingang", "1", "-1", "exit")
            return [["time", "direction"], *([time, random.choice(ways)] for time in times)]
        case 1:
            return [["time", "door", "in", "out"], *([time, random.choice("ab"), "2", "1"] for time in times)]
        case 2:
            return [
                ["time", "total in", "total out"],
                *([time, str(5 * k), str(4 * k)] for k, time in enumerate(times)),
            ]
        case _:
            return [
                ["time", "north in", "north out", "south in", "south out"],
                *([time, *"1203"] for time in times),
            ]


def run(data: bytes) -> None:
    options = _OPTIONS[(data or b"\0")[0] % len(_OPTIONS)]
    check_passages(read_passages(scratch_file("lobby.csv", data[1:]), **options))


def check_passages(passages: pd.DataFrame) -> None:
    """Check what the ledger relies on."""
    check(isinstance(passages.index, pd.DatetimeIndex) and len(passages) > 0, "passages must have times")
    check(passages.index.is_monotonic_increasing, "times must not decrease")
    check(bool((passages[["entered", "left"]] >= 0).all().all()), "passages must not be negative")
    check(bool(passages["weight"].between(0, 1).all()), "weight must be from 0 to 1")
    check(bool((passages["door"].str.len() > 0).all()), "door must have a name")
