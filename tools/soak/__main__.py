"""Soak test of the live service: a simulated day of 2,000 rooms with faults in every hour.

    python -m tools.soak                                 2,000 rooms, 24 h with faults and 120 h without
    python -m tools.soak --rooms 20 --hours 3 --quiet-hours 1 --database sqlite

Exits with status 1 if a reading is lost, an estimate differs from an undisturbed replay, or memory grows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from tools.soak.comparison import Comparison
from tools.soak.rooms import Rooms, first_time
from tools.soak.run import Hour, percentiles, soak

MAX_GROWTH = 0.01
"""Largest growth of memory between the last two days without faults."""

DAY = 24  # [h]

HEAD = (
    "| hour | faults | readings | p50 [ms] | p95 [ms] | p99 [ms] | memory [MB] | restored in [s] "
    "| caught up in [s] | real time [s] |\n"
    "| ---: | ------ | -------: | -------: | -------: | -------: | ----------: | --------------: "
    "| ---------------: | ------------: |"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rooms", type=int, default=2_000)
    parser.add_argument("--hours", type=int, default=24, help="simulated hours with faults")
    parser.add_argument("--quiet-hours", type=int, default=120, help="simulated hours without, at the end")
    parser.add_argument("--every", type=int, default=30, choices=(5, 10, 15, 20, 30), help="[min]")
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    options = parser.parse_args()
    databases = ["sqlite", "postgresql"] if options.database == "both" else [options.database]
    failed = [run(database, options) for database in databases]
    sys.exit(1 if any(failed) else 0)


def run(database: str, options: argparse.Namespace) -> bool:
    """Run the test on one database, print its results, and return whether it failed."""
    rooms = Rooms(options.rooms, first_time(), options.hours + options.quiet_hours, options.every)
    began, hours, found = time.monotonic(), [], Comparison()
    print(f"{database}: {rooms.number:,} rooms, a reading every {rooms.every} min\n\n{HEAD}", flush=True)
    with tempfile.TemporaryDirectory(prefix="occupair-soak-") as folder:
        models = rooms.train(Path(folder))
        for part in soak(rooms, models, Path(folder), database, fault_hours=options.hours):
            if isinstance(part, Hour):
                hours.append(part)
                print(row(part), flush=True)
            else:
                found = part
    growth = memory_growth([hour.memory for hour in hours[options.hours :]])
    print(
        f"\nreadings that must be stored: {found.readings:,}, lost: {found.lost}, "
        f"unexpected: {found.unexpected}\n"
        f"rooms compared: {found.rooms:,}, estimates: {found.estimates:,}, of which unknown in both: "
        f"{found.unknown:,}, missing: {found.missing}\n"
        f"largest difference from an undisturbed replay: {found.largest_difference:.1e} people\n"
        f"growth of memory between the last two days without faults: {_percent(growth)}\n"
        f"real time: {(time.monotonic() - began) / 60:.0f} min\n",
        flush=True,
    )
    return not found.is_equal or (growth is not None and growth > MAX_GROWTH)


def row(hour: Hour) -> str:
    return (
        f"| {hour.number + 1} | {hour.faults} | {hour.sent:,} | {percentiles(hour.latencies)} "
        f"| {hour.memory:.0f} | {_seconds(hour.seconds_to_restore)} | {_seconds(hour.seconds_to_catch_up)} "
        f"| {hour.seconds:.0f} |"
    )


def memory_growth(memory: list[float]) -> float | None:
    """Return the relative growth of the mean between the last two days; None for less than two days.

    Whole days are compared, since memory also follows the time of day: a day starts without readings.
    """
    if len(memory) < 2 * DAY:
        return None
    before, last = np.mean(memory[-2 * DAY : -DAY]), np.mean(memory[-DAY:])
    return float(last / before - 1.0)


def _percent(value: float | None) -> str:
    return "not measured, less than 48 h" if value is None else f"{100 * value:+.2f} %"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    main()
