"""Parquet files with readings: damaged files, and files with odd columns and types."""

from __future__ import annotations

import datetime as dt
import decimal
import io
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from occupair.readings.files import read_readings
from tools.fuzz.byte_mutations import mutate_bytes, random_bytes
from tools.fuzz.interesting import NUMBERS, TEXTS, TIMES
from tools.fuzz.scratch import scratch_file
from tools.fuzz.targets.csv import NAMES, check_readings

_START = dt.datetime(2024, 1, 8, 8)
_TYPES: tuple[Any, ...] = (
    pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("s", "Europe/Copenhagen"),
    pa.timestamp("ms", "+02:00"), pa.date32(), pa.time64("us"), pa.duration("s"), pa.int8(), pa.int64(),
    pa.uint64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.bool_(), pa.decimal128(20, 3),
    pa.list_(pa.float64()), pa.null(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()),
    pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64()),
)  # fmt: skip


@cache
def _file() -> bytes:
    times = [_START + dt.timedelta(minutes=number) for number in range(5)]
    return _bytes(
        {"time": pa.array(times), "co2": pa.array([600.0] * 5), "occupancy": pa.array([1, 2, 3, 2, 1])}
    )


def _bytes(columns: dict[str, Any], metadata: dict[bytes, bytes] | None = None) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), file, compression="none")
    return file.getvalue()


def generate(random: Random) -> bytes:
    chance = random.random()
    if chance < 0.03:
        return b"PAR1" + random_bytes(random) + b"PAR1"
    if chance < 0.5:
        return mutate_bytes(_file(), random, [b"PAR1", b"pandas"])
    rows = random.choice((0, 1, 3, 5))
    columns = {"time": _times(random, rows), "co2": _column(random, rows)}
    for _ in range(random.randrange(3)):
        columns[random.choice(NAMES)] = _column(random, rows)
    metadata = {b"pandas": random.choice(TEXTS).encode()} if random.random() < 0.1 else None
    try:
        return _bytes(columns, metadata)
    except pa.ArrowException:  # values that the format does not have
        return mutate_bytes(_file(), random)


def _times(random: Random, rows: int) -> Any:
    if random.random() < 0.4:
        return _column(random, rows)
    kind = random.choice(_TYPES[:4])
    times: list[Any] = [_START + dt.timedelta(minutes=number) for number in range(rows)]
    if times and random.random() < 0.3:
        times[random.randrange(rows)] = random.choice(
            (None, dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31), times[0])
        )
    try:
        return pa.array(times).cast(kind, safe=False) if kind.tz is None else pa.array(times, kind)
    except pa.ArrowException:
        return pa.array(times)


def _column(random: Random, rows: int) -> Any:
    if random.random() < 0.4:
        odd = random.choice((float("nan"), float("inf"), 1e308, -5.0, None, 0.0))
        return pa.array([random.choice((612.5, 612.5, odd)) for _ in range(rows)], pa.float64())
    kind = random.choice(_TYPES)
    values: tuple[Any, ...] = (
        0, 1, -1, 2**62, 1.5, None, True, "x", b"x", _START, dt.date(2024, 1, 8), dt.time(8), dt.timedelta(1),
        [1.0], {"a": 1}, [("a", 1)], decimal.Decimal("1.5"), random.choice(TEXTS), random.choice(TIMES),
        random.choice(NUMBERS),
    )  # fmt: skip
    found: list[Any] = []
    for _ in range(40 * rows):
        if len(found) < rows:
            value = random.choice(values)
            try:
                pa.array([value], kind)
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                continue
            found.append(value)
    found += [None] * (rows - len(found))
    try:
        return pa.array(found, kind)
    except pa.ArrowException:  # values of two kinds, each of which fits
        return pa.array([None] * rows, kind)


def run(data: bytes) -> None:
    check_readings(read_readings(scratch_file("room.parquet", data)))
