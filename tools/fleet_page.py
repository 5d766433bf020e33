"""Write the page of a portfolio with made-up rooms and measure it in Chromium.

Usage: python -m tools.fleet_page [ROOMS [OUT.html]]   (default: 10000, a temporary file; requires chromium)

Prints the size of the file, the time to the first row of the table, the time from an action to the next
frame, and the time between frames while the table scrolls.
"""

from __future__ import annotations

import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from fleet.fake_results import fake_results

from occupair.fleet.rooms_page import write_rooms_page
from tools.page_speed import Action, measured_in_chromium

ACTIONS: tuple[Action, ...] = (
    ("sort by nRMSE", "sort", "nRMSE"),
    ("sort by nRMSE, descending", "sort", "nRMSE"),
    ("sort by note", "sort", "Note"),
    ("sort by room", "sort", "Room"),
    ("search 'stuck'", "search", "stuck"),
    ("search 'stuck lecture'", "search", "stuck lecture"),
    ("clear search", "search", ""),
    ("filter sensor faulty", "filter", ("sensor", "faulty")),
    ("clear filter", "filter", ("sensor", "")),
)


def main(arguments: list[str]) -> str | None:
    """Write and measure a page; return an error message, or None."""
    if len(arguments) > 2 or not all(argument.isdigit() for argument in arguments[:1]):
        return "usage: python -m tools.fleet_page [ROOMS [OUT.html]]"
    count = int(arguments[0]) if arguments else 10_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments[1] if len(arguments) == 2 else Path(folder) / "rooms.html").resolve()
        results = fake_results(count)
        start = time.perf_counter()
        write_rooms_page(results, path, title="Made-up campus", generated=datetime(2025, 3, 31, 6, 30))
        seconds = time.perf_counter() - start
        print(f"{count} rooms, {path.stat().st_size / 1e6:.2f} MB, rendered in {seconds:.2f} s")
        print(measured_in_chromium(path, ACTIONS))
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
