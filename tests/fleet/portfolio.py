"""Simulated portfolios for tests: small rooms as files, and rooms with planted faults."""

import functools
from pathlib import Path

import numpy as np
import pandas as pd

import occupair as oc
from occupair.readings.files import write_readings

DAYS, INTERVAL = 3, 15


@functools.cache
def room_readings(seed, days=DAYS):
    """Readings of an office with 4 to 35 seats, every 15 min."""
    seats = int(np.random.default_rng(seed).integers(4, 36))
    return oc.simulate_office(days=days, seed=seed, seats=seats).iloc[::INTERVAL]


def write_rooms(folder, n_rooms, *, days=DAYS, suffix=".csv"):
    """Write one file per room and return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"room-{number:02d}" for number in range(n_rooms)]
    for number, name in enumerate(names):
        write_readings(room_readings(number, days), folder / f"{name}{suffix}")
    return names


def _text(readings):
    return readings.rename_axis("time").to_csv()


def _empty_file(path: Path) -> None:
    path.with_suffix(".csv").write_bytes(b"")


def _wrong_columns(path: Path) -> None:
    path.with_suffix(".csv").write_text("time,temperature\n2026-01-05 08:00,21\n2026-01-05 08:15,22\n")


def _all_nan(path: Path) -> None:
    path.with_suffix(".csv").write_text(_text(room_readings(90).assign(co2=np.nan)))


def _duplicate_times(path: Path) -> None:
    readings = room_readings(91)
    twice = pd.concat([readings, readings.assign(co2=readings["co2"] + 50)]).sort_index(kind="stable")
    path.with_suffix(".csv").write_text(_text(twice))


def _not_parquet(path: Path) -> None:
    path.with_suffix(".parquet").write_bytes(b"PAR1 but not really PAR1")


def _nobody(path: Path) -> None:
    path.with_suffix(".csv").write_text(_text(room_readings(92).assign(occupancy=0)))


def _no_counts(path: Path) -> None:
    path.with_suffix(".csv").write_text(_text(room_readings(93).drop(columns="occupancy")))


def _shifted_clock(path: Path) -> None:
    readings = room_readings(94, days=12)
    moved = readings["occupancy"].shift(8 * 60 // INTERVAL, fill_value=0)
    path.with_suffix(".csv").write_text(_text(readings.assign(occupancy=moved)))


def _sparse_dates(path: Path) -> None:
    """Two readings a year from 1980 to 2190, which a grid without gaps would need 110 million rows for."""
    times = [f"{year}-01-01 08:{minute:02d}" for year in range(1980, 2190) for minute in (0, 1)]
    table = pd.DataFrame({"co2": 500.0, "occupancy": 1}, index=pd.to_datetime(times))
    path.with_suffix(".csv").write_text(_text(table))


FAULTS = {
    "empty": (_empty_file, "is empty"),
    "columns": (_wrong_columns, "has no column 'co2'"),
    "nan": (_all_nan, "has only empty cells"),
    "duplicates": (_duplicate_times, "times must increase"),
    "parquet": (_not_parquet, "is not a Parquet file, or is damaged"),
    "nobody": (_nobody, "nobody was in the room at any head count: add head counts"),
    "uncounted": (_no_counts, "no head counts: add head counts"),
    "clock": (_shifted_clock, "clocks of CO2 and head counts differ"),
    "sparse": (_sparse_dates, ""),
}
"""Planted faults by room: how to write its file, and what the reason must contain."""


def plant_faults(folder):
    """Write one room per fault and return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (write, _) in FAULTS.items():
        write(folder / name)
    return list(FAULTS)
