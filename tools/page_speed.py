"""Speed of a page of rooms in Chromium: first row, actions, and frames while the table scrolls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.chromium import MISSING, find_chromium, launch

VIEWPORT = {"width": 1400, "height": 900}
Action = tuple[str, str, Any]
"""Label, kind and value of an action: sort by a heading, search a text, filter by a choice, click a node."""

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
MEASURE = """async (actions) => {
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
  const kinds = {
    sort: (name) => {
      const heads = [...document.querySelectorAll("#table > thead button")];
      heads.find((head) => head.textContent.startsWith(name)).click();
    },
    search: (text) => {
      const query = document.getElementById("query");
      query.value = text;
      query.dispatchEvent(new Event("input"));
    },
    filter: ([name, value]) => {
      const select = document.getElementById(name);
      select.value = value;
      select.dispatchEvent(new Event("change"));
    },
    click: (selector) => document.querySelector(selector).click(),
  };
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
  const times = {};
  for (const [label, kind, value] of actions) times[label] = await timed(() => kinds[kind](value));
  const frames = {
    "slow scroll, 60 px per frame": await scrolled(60),
    "fast scroll, 2000 px per frame": await scrolled(2000),
  };
  scroll.scrollTop = 0;
  return { times, frames, rows };
}"""


def measure_page(page: Any, url: str, actions: Sequence[Action]) -> dict[str, Any]:
    """Open a page of rooms in a page of Playwright and measure it; times in ms."""
    page.add_init_script(NOTE_FIRST_ROW)
    page.goto(url)
    first = page.evaluate(FIRST_ROW)
    return {"first row": first, **page.evaluate(MEASURE, list(actions))}


def describe(measured: dict[str, Any]) -> str:
    """Return measurements as text."""
    lines = [f"{'first row of the table':32} {measured['first row']:7.0f} ms"]
    for name, found in measured["times"].items():
        lines.append(f"{name:32} {found['work']:7.1f} ms, next frame after {found['total']:.0f} ms")
    for name, found in measured["frames"].items():
        frames = f"95 % below {found['p95']:.0f} ms, worst {found['worst']:.0f} ms"
        lines.append(f"{name:32} {found['median']:7.1f} ms per frame (median), {frames}")
    return "\n".join([*lines, f"{'most rows in the document':32} {measured['rows']:7d}"])


def measured_in_chromium(path: Path, actions: Sequence[Action]) -> str:
    """Return the measurements of a page as text, or why there are none."""
    if find_chromium() is None:
        return f"not measured: {MISSING}"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launch(playwright)
        measured = measure_page(browser.new_page(viewport=VIEWPORT), path.resolve().as_uri(), actions)
        browser.close()
    return describe(measured)
