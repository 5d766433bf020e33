"""CSV files with estimates, for the utilisation report."""

from __future__ import annotations

from random import Random

import pandas as pd

from occupair.utilisation.estimate_files import read_estimates
from tools.fuzz.byte_mutations import random_bytes
from tools.fuzz.scratch import scratch_file
from tools.fuzz.table_mutations import mutate_table, table_bytes
from tools.fuzz.trial import check

_NAMES = (
    "time",
    "people",
    "low",
    "high",
    "co2",
    "quality",
    "time (UTC)",
    "",
    "time [Europe/Berlin]",
    "occupancy",
)


def generate(random: Random) -> bytes:
    if random.random() < 0.04:
        return random_bytes(random, [f"{name},".encode() for name in _NAMES] + [b"\n"])
    table = [["time", "people", "low", "high"]]
    table += [[f"2024-01-08 08:{5 * number:02}", "2.5", "1", "4.5"] for number in range(random.randint(1, 6))]
    return table_bytes(mutate_table(table, random, _NAMES), random)


def run(data: bytes) -> None:
    zone = (None, "Europe/Copenhagen")[len(data) % 2]
    found = read_estimates(scratch_file("estimates.csv", data), timezone=zone)
    check(isinstance(found.index, pd.DatetimeIndex), "estimates must have times")
    check(found.index.is_monotonic_increasing, "times must increase")
