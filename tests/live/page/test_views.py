"""The views of a week and of today in a real browser, and what all views have in common."""

import csv
import io
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from browser import PHONE, SMALL, contrast
from live.page.page_helpers import ROOM, cell, wait_for_plan
from live.page_server import Building, make_rooms
from playwright.sync_api import expect

from occupair.live.messages import Quality


@pytest.fixture(scope="module")
def number_of_rooms():
    return 24


def hourly_mean(building, hour):
    """Mean of the 60 minutes of an hour of today."""
    minutes = range(24 * 60 + 60 * hour, 24 * 60 + 60 * (hour + 1))
    return sum(building.rooms[ROOM].estimate(minute).people for minute in minutes) / 60


# ---- week --------------------------------------------------------------------------------------------------


def test_week_shows_means_unknown_and_future_hours(open_page, building, url):
    building.rooms[ROOM].changed = {
        24 * 60 + 9 * 60 + k: {"people": None, "low": None, "high": None, "quality": Quality.SUSPECT}
        for k in range(60)
    }
    page = open_page(f"{url}/#/room/{ROOM}/week")
    expect(page.locator("#week-title")).to_have_text("Mon 9 Mar – Sun 15 Mar")
    for hour in (0, 11, 13):
        mean = hourly_mean(building, hour)
        expect(cell(page, "2026-03-11", f"{hour:02d}")).to_have_text(f"{mean:.0f}")
    expect(cell(page, "2026-03-11", "00")).to_have_attribute("data-heat", "0")
    unknown = cell(page, "2026-03-11", "09")
    expect(unknown).to_have_attribute("data-heat", "unknown")
    expect(unknown).to_have_text("")
    expect(unknown).to_have_attribute("aria-label", "Wednesday 11 March 2026, 09:00: occupancy unknown")
    expect(cell(page, "2026-03-11", "15")).to_have_attribute("data-heat", "future")
    label = cell(page, "2026-03-11", "11").get_attribute("aria-label")
    assert label.startswith(
        f"Wednesday 11 March 2026, 11:00: {round(hourly_mean(building, 11), 1):g} people on average, "
    )
    assert re.search(r"at most \d+, prediction interval \d+–\d+, 60 min in use$", label)


def test_week_is_read_by_keyboard(open_page, building, url):
    page = open_page(f"{url}/#/room/{ROOM}/week")
    expect(cell(page, "2026-03-11", "14")).to_have_attribute("tabindex", "0")  # the newest hour
    expect(page.locator("td[tabindex='0']")).to_have_count(1)
    cell(page, "2026-03-11", "14").focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    expect(cell(page, "2026-03-11", "11")).to_be_focused()
    expect(page.locator(".read-hour .read-value")).to_have_text("Wed 11 Mar 11:00")
    expect(page.locator(".read-people .read-value")).to_have_text(f"{round(hourly_mean(building, 11), 1):g}")
    page.keyboard.press("Home")
    expect(cell(page, "2026-03-11", "00")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#day-title")).to_have_text("Today")
    page.keyboard.press("w")
    expect(page.locator("#week-title")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(f'[data-room="{ROOM}"] a')).to_be_focused()


def test_weeks_have_addresses(open_page, building, url):
    page = open_page(f"{url}/#/room/{ROOM}/week/2026-03-05")  # a Thursday
    expect(page.locator("#week-title")).to_have_text("Mon 2 Mar – Sun 8 Mar")
    page.get_by_role("link", name="Next week").click()
    expect(page.locator("#week-title")).to_have_text("Mon 9 Mar – Sun 15 Mar")
    assert page.url.endswith(f"#/room/{ROOM}/week")
    expect(page.get_by_role("link", name="Next week")).to_have_attribute("aria-disabled", "true")
    page.get_by_role("link", name="Previous week").click()
    assert page.url.endswith("/week/2026-03-02")
    page.go_back()
    expect(page.locator("#week-title")).to_have_text("Mon 9 Mar – Sun 15 Mar")
    page.get_by_role("link", name="Tuesday 10 March 2026").click()
    expect(page.locator("#day-title")).to_have_text("Tuesday 10 March 2026")
    page.goto(f"{url}/#/room/{ROOM}/week/2026-99-99")
    expect(page.locator("#week-title")).to_have_text("Mon 9 Mar – Sun 15 Mar")
    page.goto(f"{url}/#/room/attic/week")
    expect(page.locator("#room-view")).to_contain_text("There is no room attic.")


@pytest.mark.parametrize(
    ("monday", "columns", "cells", "missing"),
    [("2026-03-23", 24, 167, "2026-03-29"), ("2026-10-19", 25, 169, "2026-10-19")],
    ids=["spring", "autumn"],
)
def test_week_in_which_the_clocks_change(open_page, building, url, monday, columns, cells, missing):
    """On 29 March 2:00 is skipped; on 25 October it comes twice, so the other six days have no such hour."""
    page = open_page(f"{url}/#/room/{ROOM}/week/{monday}")
    expect(page.locator("td[data-key]")).to_have_count(cells)
    expect(page.locator(".week thead th[scope=col]:not(.week-sum)")).to_have_count(columns)
    expect(page.locator("td[aria-label='no such hour on this day']")).to_have_count(7 * columns - cells)
    if columns == 25:
        expect(cell(page, "2026-10-25", "02+")).to_have_attribute(
            "aria-label", re.compile(r"02:00 \(again\)")
        )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_german_week_fits_on_a_phone(open_page, building, url, theme):
    phone = {**PHONE, "viewport": {"width": 390, "height": 844}, "locale": "de-DE", "color_scheme": theme}
    page = open_page(f"{url}/#/room/{ROOM}/week", **phone)
    expect(page.locator(".week-narrow tbody tr")).to_have_count(26)  # 24 hours and two sums
    expect(page.locator(".week-narrow thead th")).to_have_text(
        ["Mo9.3.", "Di10.3.", "Mi11.3."] + [re.compile(".")] * 4
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    cell(page, "2026-03-11", "11").tap()
    expect(page.locator(".read-hour .read-value")).to_have_text("Mi., 11. März 11:00")


def saved(page, locator):
    with page.expect_download() as loading:
        locator.focus()
        page.keyboard.press("Enter")
    text = Path(loading.value.path()).read_text(encoding="utf-8-sig")
    return loading.value.suggested_filename, list(csv.DictReader(io.StringIO(text)))


def test_exports_by_keyboard(open_page, building, url):
    page = open_page(f"{url}/#/room/{ROOM}/week/2026-03-02")
    name, rows = saved(page, page.get_by_role("link", name="Export CSV"))
    assert (name, len(rows)) == (f"{ROOM}-2026-03-02.csv", 168)
    assert rows[0]["start"] == "2026-03-02T00:00:00+01:00"
    page.goto(f"{url}/#/today")
    name, rows = saved(page, page.get_by_role("link", name="Export CSV"))
    assert name == "rooms-2026-03-11.csv"
    assert len(rows) == 24 * 15  # rooms, and hours until now
    found = next(row for row in rows if row["room"] == ROOM and "T11:" in row["start"])
    assert float(found["people mean [people]"]) == pytest.approx(hourly_mean(building, 11), abs=0.01)


# ---- today -------------------------------------------------------------------------------------------------


def strip(page, room):
    return page.locator(f'.strip[data-room="{room}"]')


def test_today_shows_a_strip_for_each_room(open_page, building, url):
    page = open_page(url)
    page.wait_for_selector(".tile")
    page.keyboard.press("2")
    expect(page.locator(".strip")).not_to_have_count(0)
    assert page.url.endswith("#/today")
    expect(page.locator("#views a[aria-current]")).to_have_text("Today")
    page.locator("#search").fill("workshop 0.02")
    expect(page.locator("#found")).to_have_text("1 of 24 rooms")
    expect(strip(page, ROOM).locator(".strip-now")).to_have_text(str(building.state(ROOM).people))
    heat = strip(page, ROOM).locator(".strip-heat")
    expect(heat).to_have_attribute("style", re.compile("--heat-0.*--heat-3"))
    box = heat.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 22.5 / 48, box["y"] + 8)  # 11:00 to 11:30
    minutes = range(24 * 60 + 660, 24 * 60 + 690)
    mean = sum(building.rooms[ROOM].estimate(minute).people for minute in minutes) / 30
    expect(page.locator("#today-readout")).to_have_text(
        f"Workshop 0.02 · 11:00–11:30 · {round(mean, 1):g} people on average · {mean / 20:.0%} full"
    )
    label = strip(page, ROOM).locator("a").get_attribute("aria-label")
    assert re.fullmatch(r"Workshop 0.02, Ground floor, most people: \d+ at \d\d:\d\d, [\d.]+ h in use", label)


def test_today_by_keyboard(open_page, building, url):
    page = open_page(f"{url}/#/today")
    page.wait_for_selector(".strip-heat[style*=heat]")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".strip a").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".strip a").nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#today-readout")).to_contain_text("14:30–15:00")  # the newest
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#today-readout")).to_contain_text("14:00–14:30")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#today-readout")).to_contain_text("15:00–15:30 · not yet")
    page.keyboard.press("Enter")
    expect(page.locator("h1:visible")).to_have_text(page.locator("#room-view h1").text_content())
    page.keyboard.press("Escape")
    expect(page.locator(".strip a").nth(1)).to_be_focused()


def test_unknown_half_hours_are_hatched(open_page, building, url):
    """The sensor of room 3 is offline since 13:51; room 14 has no model."""
    page = open_page(f"{url}/#/today")
    page.locator("#filter").select_option("stale")
    heat = strip(page, "room-3").locator(".strip-heat")
    expect(heat).to_have_attribute(
        "style", re.compile(r"transparent 58\.333%, transparent 60\.41\d%")
    )  # 14:00 to 14:30
    page.locator("#filter").select_option("untrained")
    expect(strip(page, "room-14").locator("a")).to_have_attribute("aria-label", re.compile("no values today"))
    expect(strip(page, "room-14").locator(".strip-heat")).to_have_attribute(
        "style", re.compile(r"transparent 0\.000%")
    )


def test_tiles_have_sparklines(open_page, building, url):
    page = open_page(url)
    page.locator("#search").fill("workshop 0.02")
    line = page.locator(f'.tile[data-room="{ROOM}"] .spark-line')
    expect(line).to_have_attribute("d", re.compile(r"^M0 \d.*H30$"))  # 30 half hours until 15:00, no gap
    page.locator("#search").fill("")
    page.locator("#filter").select_option("untrained")
    expect(page.locator('.tile[data-room="room-14"] .spark-line')).to_have_attribute("d", "")


def test_thousands_of_strips_are_drawn_as_needed(open_page, serve_building):
    page = open_page(f"{serve_building(Building(make_rooms(2_000)))}/#/today")
    page.wait_for_selector(".strip-heat[style*=heat]")
    assert page.evaluate("document.querySelectorAll('*').length") < 1_000
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    expect(page.locator('.strip[aria-posinset="2000"]')).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") < 1_000


def test_today_fits_on_a_phone(open_page, building, url):
    page = open_page(f"{url}/#/today", **PHONE)
    page.wait_for_selector(".strip-heat[style*=heat]")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    box = page.locator(".strip-heat").first.bounding_box()
    assert box["width"] > 300


# ---- all views ---------------------------------------------------------------------------------------------


NARROW_DAYS = SMALL.replace("box.width < 44", "box.width < 36")  # seven columns on a phone


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
def test_touch_targets_of_all_views(open_page, with_plan, url, language):
    phone = {**PHONE, "viewport": {"width": 390, "height": 844}, "locale": language}
    page = open_page(f"{url}/#/today", **phone)
    for path, ready in (("today", ".strip"), ("floor", ".marker"), (f"room/{ROOM}/week", "td[data-key]")):
        page.goto(f"{url}/#/{path}")
        page.wait_for_selector(ready)
        assert page.evaluate(NARROW_DAYS if "week" in path else SMALL) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path


def test_screenshots_for_the_guide(open_page, with_plan, url, tmp_path):
    folder = Path(os.environ.get("OCCUPAIR_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page = open_page(f"{url}/#/room/{ROOM}/week/2026-03-02", device_scale_factor=1.5)
    cell(page, "2026-03-05", "11").hover()
    page.screenshot(path=folder / "live-week.png", full_page=True)
    page.goto(f"{url}/#/floor")
    expect(page.locator(".marker")).to_have_count(4)
    wait_for_plan(page)
    page.screenshot(path=folder / "live-floor.png")
    for name in ("live-week.png", "live-floor.png"):
        assert (folder / name).stat().st_size > 20_000


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_occupancy(open_page, building, url, theme):
    """Text is legible on every step, and the steps differ in lightness, which colour-blind people see."""
    page = open_page(url, color_scheme=theme)
    value = "(name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim()"
    ground = [page.evaluate(value, f"heat-{step}") for step in range(6)]
    ink = [page.evaluate(value, f"heat-ink-{step}") for step in range(6)]
    assert all(contrast(one, other) >= 4.5 for one, other in zip(ground, ink, strict=True))
    assert all(contrast(one, other) >= 1.15 for one, other in pairwise(ground[:5]))


def test_views_do_not_move_while_loading(open_page, with_plan, url):
    page = open_page(url)
    page.wait_for_selector(".tile")
    page.evaluate("""() => { window.shift = 0; new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true }); }""")
    for key, ready in (("2", ".strip"), ("3", ".marker"), ("1", ".spark-line[d^=M]")):
        page.keyboard.press(key)
        page.wait_for_selector(ready)
    assert page.evaluate("window.shift") < 0.1  # "good" by web.dev
