"""Write the page of a portfolio with made-up rooms and measure it in Chromium.

Usage: fleet_page.py [ROOMS [OUT.html]]   (default: 10000 rooms, a temporary file; requires chromium)

Prints the size of the file, the time to the first row of the table, the time from an action to the next
frame, and the time between frames while the table scrolls.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fleet.fake_results import fake_results

from occupair.fleet.rooms_page import write_rooms_page

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
VIEWPORT = {"width": 1400, "height": 900}

NOTE_FIRST_ROW = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("#body tr")) return;
  observer.disconnect();
  requestAnimationFrame(() => { window.firstRow = performance.now(); });
}).observe(document, { childList: true, subtree: true });
"""
FIRST_ROW = """() => new Promise((done) => {
  const look = () => (window.firstRow ? done(window.firstRow) : setTimeout(look, 20));
  look();
})"""
MEASURE = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const painted = async () => { await frame(); await new Promise((done) => setTimeout(done)); };
  const pause = () => new Promise((done) => setTimeout(done, 600));
  const body = document.getElementById("body"), scroll = document.getElementById("scroll");
  let rows = body.rows.length;
  const timed = async (action) => {
    await pause();
    await frame();
    const start = performance.now();
    action();
    const work = performance.now() - start;
    await painted();
    rows = Math.max(rows, body.rows.length);
    return { work, total: performance.now() - start };
  };
  const heads = [...document.querySelectorAll("thead button")];
  const sort = (name) => () => heads.find((head) => head.textContent.startsWith(name)).click();
  const query = document.getElementById("query");
  const type = (text) => () => { query.value = text; query.dispatchEvent(new Event("input")); };
  const sensor = document.getElementById("sensor");
  const choose = (value) => () => { sensor.value = value; sensor.dispatchEvent(new Event("change")); };
  const scrolled = async (step) => {
    scroll.scrollTop = 0;
    await pause();
    const frames = [];
    let last = await frame();
    for (let k = 0; k < 120; k++) {
      scroll.scrollTop += step;
      const now = await frame();
      frames.push(now - last);
      last = now;
      rows = Math.max(rows, body.rows.length);
    }
    frames.sort((a, b) => a - b);
    return { median: frames[60], p95: frames[114], worst: frames[119] };
  };
  document.getElementById("rooms").scrollIntoView();
  const times = {
    "sort by nRMSE": await timed(sort("nRMSE")), "sort by nRMSE, descending": await timed(sort("nRMSE")),
    "sort by note": await timed(sort("Note")), "sort by room": await timed(sort("Room")),
    "search 'stuck'": await timed(type("stuck")),
    "search 'stuck lecture'": await timed(type("stuck lecture")),
    "clear search": await timed(type("")), "filter sensor faulty": await timed(choose("faulty")),
    "clear filter": await timed(choose("")),
  };
  const frames = {
    "slow scroll, 60 px per frame": await scrolled(60),
    "fast scroll, 2000 px per frame": await scrolled(2000),
  };
  scroll.scrollTop = 0;
  return { times, frames, rows };
}"""


def measure_page(page: Any, url: str) -> dict[str, Any]:
    """Open a page of a portfolio in a page of Playwright and measure it; times in ms."""
    page.add_init_script(NOTE_FIRST_ROW)
    page.goto(url)
    first = page.evaluate(FIRST_ROW)
    return {"first row": first, **page.evaluate(MEASURE)}


def describe(measured: dict[str, Any]) -> str:
    """Return measurements as text."""
    lines = [f"{'first row of the table':32} {measured['first row']:7.0f} ms"]
    for name, found in measured["times"].items():
        lines.append(f"{name:32} {found['work']:7.1f} ms, next frame after {found['total']:.0f} ms")
    for name, found in measured["frames"].items():
        frames = f"95 % below {found['p95']:.0f} ms, worst {found['worst']:.0f} ms"
        lines.append(f"{name:32} {found['median']:7.1f} ms per frame (median), {frames}")
    return "\n".join([*lines, f"{'most rows in the document':32} {measured['rows']:7d}"])


def main(arguments: list[str]) -> str | None:
    """Write and measure a page; return an error message, or None."""
    if len(arguments) > 2 or not all(argument.isdigit() for argument in arguments[:1]):
        return "usage: fleet_page.py [ROOMS [OUT.html]]"
    count = int(arguments[0]) if arguments else 10_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments[1] if len(arguments) == 2 else Path(folder) / "rooms.html").resolve()
        results = fake_results(count)
        start = time.perf_counter()
        write_rooms_page(results, path, title="Made-up campus", generated=datetime(2025, 3, 31, 6, 30))
        seconds = time.perf_counter() - start
        print(f"{count} rooms, {path.stat().st_size / 1e6:.2f} MB, rendered in {seconds:.2f} s")
        chromium = shutil.which("chromium")
        if chromium is None:
            return "fleet_page: not measured: chromium not found; on Debian: apt-get install chromium"
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            print(describe(measure_page(browser.new_page(viewport=VIEWPORT), path.as_uri())))
            browser.close()
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
