"""CSV exports with readings."""

from __future__ import annotations

from random import Random

import numpy as np
import pandas as pd

from occupair.readings.files import read_readings
from tools.fuzz.byte_mutations import random_bytes
from tools.fuzz.scratch import scratch_file
from tools.fuzz.table_mutations import Table, mutate_table, table_bytes
from tools.fuzz.trial import check

NAMES = (
    "time", "Time", "timestamp", "date", "Datum", "Uhrzeit", "time (UTC)", "Zeit [Europe/Berlin]", "co2",
    "CO2 [ppm]", "CO2 (%)", "Kohlendioxid", "ventilation", "fan [%]", "Lüftung m3/h", "damper", "occupancy",
    "people", "Personen", "temperature", "humidity [%]", "motion", "light", "sound", "wifi", "power [kW]", "",
    "x", "ventilation [l/s]", "weight", "co2 2", "unix", "epoch ms",
)  # fmt: skip
_STARTS = (
    "2024-01-08T08:{m:02}:00", "2024-01-08 08:{m:02}", "08.01.2024 08:{m:02}", "01/08/2024 8:{m:02} AM",
    "2024-01-08T08:{m:02}:00+01:00", "2024-01-08T08:{m:02}:00Z", "2024-03-31 01:{m:02}",
    "8.1.24 08:{m:02}:07",
)  # fmt: skip
_OPTIONS = (
    {},
    {"timezone": "Europe/Copenhagen"},
    {"lenient": True},
    {"occupancy": False, "ventilation": False},
    {"interval": 5.0},
    {"columns": {"co2": "co2"}},
    {"dayfirst": True},
    {"ventilation_full": 100.0},
    {"ventilation_unit": "%"},
    {"longest_gap": 10.0},
    {"sensors": False},
)


def readings_table(random: Random) -> Table:
    """Return a plausible table of readings as text."""
    start, step = random.choice(_STARTS), random.choice((1, 1, 5, 10))
    comma = random.random() < 0.15
    table = [["time", "co2", "ventilation", "occupancy", "temperature"]]
    for number in range(random.randint(1, 7)):
        row = [
            start.format(m=number * step % 60),
            "612.5",
            random.choice(("0", "1", "0.5", "on")),
            "3",
            "21.5",
        ]
        table.append([cell.replace(".", ",") if comma and k else cell for k, cell in enumerate(row)])
    width = random.choice((2, 3, 4, 4, 5))
    return [row[:width] for row in table]


def generate(random: Random) -> bytes:
    """Return the number of the options, and a file."""
    choice = bytes([random.randrange(256)])
    if random.random() < 0.04:
        return choice + random_bytes(random, [f"{name},".encode() for name in NAMES] + [b"\n", b'"'])
    return choice + table_bytes(mutate_table(readings_table(random), random, NAMES), random)


def run(data: bytes) -> None:
    options = _OPTIONS[(data or b"\0")[0] % len(_OPTIONS)]
    readings = read_readings(scratch_file("room.csv", data[1:]), **options)
    if "lenient" not in options:  # which keeps invalid values, so that `occupair check` reports them
        check_readings(readings)


def check_readings(readings: pd.DataFrame) -> None:
    """Check what every user of readings relies on."""
    index = readings.index
    check(isinstance(index, pd.DatetimeIndex), "readings must have times")
    check(index.is_monotonic_increasing and index.is_unique, "times must increase")
    co2 = readings["co2"].to_numpy(dtype=float)
    check(bool(np.isfinite(co2).all() and (co2 >= 0).all()), "CO2 must be finite")
    if "ventilation" in readings:
        flow = readings["ventilation"].to_numpy(dtype=float)
        check(bool(((flow >= 0) & (flow <= 1)).all()), "ventilation must be from 0 to 1")
    if "occupancy" in readings:
        people = readings["occupancy"].to_numpy(dtype=float)
        check(bool((np.isnan(people) | (people >= 0)).all()), "occupancy must not be negative")
