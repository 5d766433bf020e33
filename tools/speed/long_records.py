"""Time and memory of records of years: reading a file, training and estimating."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pandas as pd

from occupair import OccupancyEstimator, simulate_office, write_readings
from occupair.readings.files import read_labelled
from tools.speed.formatting import Headline, Section, Table, memory_of, ratio, time
from tools.speed.measuring import in_own_process, with_peak_memory
from tools.speed.sizes import Sizes

DAY = 1440
WEEKS = 8
"""Simulated weeks of five days that are repeated, with new sensor noise."""

STEPS = {"read": "read a CSV file", "fit": "fit", "estimate": "estimate with interval"}


@dataclass(frozen=True)
class LongRecord:
    """CPU time [s] and peak memory beyond the readings [MB] of each of ``STEPS`` for one record."""

    rows: int
    times: dict[str, float]
    memory: dict[str, float]


def measure(sizes: Sizes) -> list[LongRecord]:
    """Measure records of several lengths, each step in a process of its own."""
    records = []
    for days in sizes.long_records:
        found = {step: in_own_process(_measure_step, step, days, sizes) for step in STEPS}
        times = {step: seconds for step, (seconds, _) in found.items()}
        records.append(LongRecord(days * DAY, times, {step: memory for step, (_, memory) in found.items()}))
    return records


def _measure_step(step: str, days: int, sizes: Sizes) -> tuple[float, float]:
    """Return the CPU time [s] and the peak memory beyond the readings [MB] of one step."""
    readings = long_record(days)
    if step == "read":
        with TemporaryDirectory() as folder:
            path = Path(folder) / "room.csv"
            write_readings(readings, path)
            size = readings.memory_usage().sum() / 1e6
            del readings
            seconds, memory = _timed(lambda: read_labelled(path))
        return seconds, memory - size
    estimator = OccupancyEstimator(random_state=0, verbose=False, **sizes.default)
    if step == "fit":
        return _timed(lambda: estimator.fit(readings))
    estimator.fit(readings.iloc[: 30 * DAY])
    return _timed(lambda: estimator.estimate(readings, interval=0.9))


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    start = process_time()
    _, memory = with_peak_memory(work)
    return process_time() - start, memory


def long_record(days: int) -> pd.DataFrame:
    """Return readings of some days, one per minute: a simulated office again and again."""
    part = simulate_office(days=min(days, 5 * WEEKS), seed=0)
    n, rng = days * DAY, np.random.default_rng(0)
    rows = np.arange(n) % len(part)
    noise = rng.normal(0.0, 2.0, n)
    return pd.DataFrame(
        {
            "co2": np.round(part["co2"].to_numpy()[rows] + noise, 1),
            "ventilation": part["ventilation"].to_numpy()[rows],
            "occupancy": part["occupancy"].to_numpy()[rows].astype(float),
        },
        index=pd.date_range("2019-01-07", periods=n, freq="min", name="time"),
    )


def long_section(found: list[LongRecord]) -> Section:
    """Return the section."""
    text = [
        "Default estimator on long records with a reading and a head count every minute; five years are 2.6 "
        "million rows.",
        "Each step runs in its own process, once. Times are CPU times of all threads, as the long runs would "
        "otherwise depend on other load; peak memory is in addition to the readings.",
        "`fit` chooses 180 days of a longer record, see [Long records](room.md#long-records), and validates "
        "all of it. `estimate` takes one day at a time.",
    ]
    return Section("Long records", text, [_table(step, name, found) for step, name in STEPS.items()])


def _table(step: str, name: str, found: list[LongRecord]) -> Table:
    first = found[0]
    rows = [
        [
            f"{one.rows:,}",
            ratio(one.rows / first.rows),
            ratio(one.times[step] / first.times[step]),
            time(one.times[step]),
            memory_of(one.memory[step]),
        ]
        for one in found
    ]
    return Table(
        [f"rows, {name}", "rows, relative to first", "time, relative", "CPU time", "peak memory"], rows
    )


def long_headlines(found: list[LongRecord]) -> list[Headline]:
    """Return the key figures: the longest record relative to the shortest."""
    first, last = found[0], found[-1]
    return [
        Headline(
            f"fit {last.rows:,} rows, relative to {first.rows:,} (CPU time)",
            ratio(last.times["fit"] / first.times["fit"]),
            f"{time(last.times['fit'])}, {memory_of(last.memory['fit'])}",
            time(first.times["fit"]),
        )
    ]
