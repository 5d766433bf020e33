"""The utilisation report measured: run by ``make utilisation``.

    python -m tools.utilisation accuracy
    python -m tools.utilisation room [--out FOLDER]
    python -m tools.utilisation page [--rooms 200] [--days 90] [--out FOLDER]
    python -m tools.utilisation store [--rooms 200] [--days 90] [--only N] [--out FOLDER]

``accuracy`` compares the figures of public rooms by estimates and by head counts. ``room`` writes the report
of the last two weeks of a public room (ROBOD room 3) from files, with the command line. ``page`` measures the
page of many rooms alone, with the figures of a few simulated offices used again and again. ``store`` builds a
store with simulated rooms and a calendar, writes the report with the command line, prints seconds, sizes and
the speed of the page in Chromium, and writes the pictures of the documentation.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from occupair.datasets.benchmark_rooms import read_room
from occupair.readings.files import write_readings
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.report_page import write_report
from tools.chromium import launch
from tools.page_speed import Action, measured_in_chromium
from tools.utilisation.accuracy import accuracy_table, halves
from tools.utilisation.stored_rooms import (
    made_up_usages,
    room_id,
    simulate_offices,
    write_calendar,
    write_store,
)

PUBLIC_ROOM, PUBLIC_SEATS, FIRST_DAY = "robod-3", 15, "2021-12-09"
ACTIONS: tuple[Action, ...] = (
    ("sort by seats used", "sort", "Seats used"),
    ("sort by room", "sort", "Room"),
    ("sort by never used seats", "sort", "Never used"),
    ("search 'room 1'", "search", "room 1"),
    ("clear search", "search", ""),
    ("filter floor 3", "filter", ("floor", "Floor 3")),
    ("clear filter", "filter", ("floor", "")),
    ("open a room", "click", "#body tr"),
    ("next room", "click", "#panel [aria-label='Next room']"),
    ("close the room", "click", "#panel [aria-label='Close']"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("accuracy", "room", "page", "store"))
    parser.add_argument("--rooms", type=int, default=200)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--only", type=int, help="report only so many of the rooms, for a shorter run")
    parser.add_argument("--out", type=Path, help="folder to keep the files in; default: a temporary one")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the page")
    given = parser.parse_args()
    if given.what == "accuracy":
        print(accuracy_table())
        return
    folder = given.out or Path(tempfile.mkdtemp(prefix="occupair-utilisation-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if given.what == "room":
            report_room(folder)
        elif given.what == "page":
            measure_page_alone(folder, given)
        else:
            report_store(folder, given)
    finally:
        if given.out is None:
            shutil.rmtree(folder)


def report_room(folder: Path) -> None:
    """Train a public room on the first half of its days, and report the two weeks in December."""
    training, others = halves(read_room(PUBLIC_ROOM))
    write_readings(training, folder / "training.csv")
    write_readings(others.drop(columns="occupancy"), folder / "readings.csv")
    occupair("fit", folder / "training.csv", "--out", folder / "office.occupair", "--overwrite")
    options = ("--from", FIRST_DAY, "--capacity", PUBLIC_SEATS, "--out", folder / "office.html")
    occupair("report", folder / "office.occupair", folder / "readings.csv", *options)


def measure_page_alone(folder: Path, given: argparse.Namespace) -> None:
    """Measure the page of many rooms without a store and without estimation."""
    usages = made_up_usages(rooms=given.rooms, days=given.days)
    page, began = folder / "page.html", time.process_time()
    write_report(usages, page, opening=OpeningHours(), method="True counts of simulated offices.")
    seconds, size = time.process_time() - began, page.stat().st_size / 1e6
    extent = f"{given.rooms} rooms, {given.days} days"
    print(f"page of {extent}: {size:.2f} MB, rendered in {seconds:.1f} s of CPU time")
    print(measured_in_chromium(page, ACTIONS))


def report_store(folder: Path, given: argparse.Namespace) -> None:
    """Build a store, report it and measure the page."""
    began = time.monotonic()
    database = folder / "rooms.db"
    if database.exists():
        print(f"{database}: used as it is")
    else:
        n = write_store(database, simulate_offices(given.days), rooms=given.rooms, days=given.days)
        size, seconds = database.stat().st_size / 1e6, time.monotonic() - began
        extent = f"{given.rooms} rooms, {given.days} days, {n:,} readings"
        print(f"store: {extent}, {size:.0f} MB in {seconds:.0f} s")
    write_calendar(folder / "building.ics", rooms=given.rooms, days=given.days)
    page = folder / "report.html"
    options = ["--rooms", folder / "rooms.csv", "--calendar", folder / "building.ics", "--out", page]
    options += [] if given.workers is None else ["--workers", given.workers]
    for number in range(1, (given.only or 0) + 1):
        options += ["--room", room_id(number)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = occupair("report", database, *options)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    peak = used.ru_maxrss / 1e3
    tables = sum(path.stat().st_size for path in folder.glob("report-*.csv")) / 1e6
    size = page.stat().st_size / 1e6
    sizes = f"page {size:.2f} MB, tables {tables:.1f} MB"
    n = given.only or given.rooms
    print(
        f"report of {n} rooms: {seconds:.0f} s ({cpu:.0f} s of CPU time), {peak:.0f} MB per process; {sizes}"
    )
    print(measured_in_chromium(page, ACTIONS))
    if given.pictures is not None:
        take_pictures(page, given.pictures)


def take_pictures(page: Path, folder: Path) -> None:
    """Take the pictures of the documentation: the page with all rooms, and a room."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launch(playwright)
        tab = browser.new_page(viewport={"width": 1280, "height": 1180})
        tab.goto(page.resolve().as_uri())
        tab.wait_for_selector("#body tr")
        tab.screenshot(path=folder / "utilisation.png")
        tab.set_viewport_size({"width": 1280, "height": 1000})
        tab.click("#body tr")
        tab.wait_for_selector("#panel .heat td")
        tab.screenshot(path=folder / "utilisation-room.png")
        browser.close()


def occupair(*arguments: object) -> float:
    """Run a command of occupair and return its time [s]."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "occupair", *map(str, arguments)], check=True)
    return time.monotonic() - began


if __name__ == "__main__":
    main()
