"""The views of a week, of today and of a floor in a real browser, with mouse, touch and keyboard."""

import csv
import io
import os
import re
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from browser import PHONE, SMALL, contrast
from live.fake_pipeline import TOKENS
from live.page_server import Building, make_rooms, serve
from live.waiting import wait_for
from playwright.sync_api import expect
from web.test_images import png

from occupair.live.demo_floors import floor_plan
from occupair.live.messages import Quality
from occupair.live.store import Place

ROOM = "room-1"  # "Workshop 0.02", 20 seats
PLAN = floor_plan(["lab", "office", "seminar"])
PLACES = {0: (0.34, 0.28), 1: (0.75, 0.28), 2: (0.68, 0.8), 3: (0.32, 0.62)}


@pytest.fixture(scope="module")
def served():
    building = Building(make_rooms(24))
    with serve(building) as url:
        yield building, url


@pytest.fixture
def building(served):
    served[0].reset()
    return served[0]


@pytest.fixture
def url(building, served):
    return served[1]


@pytest.fixture
def with_plan(building):
    """The building with a plan of its ground floor, and four of its eight rooms there."""
    building.store.set_plan("Ground floor", PLAN, media_type="image/svg+xml", width=960, height=480)
    for number, place in PLACES.items():
        building.store.set_place(f"room-{number}", Place(*place))
    return building


@pytest.fixture
def serve_building():
    with ExitStack() as stack:
        yield lambda building: stack.enter_context(serve(building))


def cell(page, day, hour):
    return page.locator(f'td[data-key="{day}/{hour}"]')


def hourly_mean(building, hour):
    """Mean of the 60 minutes of an hour of today."""
    minutes = range(24 * 60 + 60 * hour, 24 * 60 + 60 * (hour + 1))
    return sum(building.rooms[ROOM].estimate(minute).people for minute in minutes) / 60


# ---- week ------------------------------------------------------------------------------------------------


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


# ---- today -----------------------------------------------------------------------------------------------


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


# ---- floor -----------------------------------------------------------------------------------------------


def marker(page, room):
    return page.locator(f'.marker[data-room="{room}"]')


def wait_for_plan(page, width=None):
    """Wait until the image is shown, with a width in pixels if given."""
    image = page.locator(".plan-image")

    def is_shown():  # the page's policy forbids wait_for_function
        shown = image.evaluate("one => one.naturalWidth")
        return shown > 0 and width in (None, shown)

    wait_for(is_shown)


def test_floor_shows_occupancy_live(open_page, with_plan, url):
    page = open_page(f"{url}/#/floor")
    expect(page.locator("#floor-pick")).to_have_value("Ground floor")
    expect(page.locator(".marker")).to_have_count(4)
    expect(page.locator(".floor-room")).to_have_count(8)
    wait_for_plan(page)
    state = replace(with_plan.state(ROOM), quality=Quality.OK)
    for people, heat, text in (
        (0, "0", "Workshop 0.02, 0 people, 0% full"),
        (1, "1", "Workshop 0.02, 1 person, 5% full"),
        (10, "2", "Workshop 0.02, 10 people, 50% full"),
        (11, "3", "Workshop 0.02, 11 people, 55% full"),
        (20, "4", "Workshop 0.02, 20 people, 100% full"),
        (21, "5", "Workshop 0.02, 21 people, 105% full"),
    ):
        with_plan.publish_threadsafe(replace(state, people=people, people_exact=float(people)))
        expect(marker(page, ROOM)).to_have_attribute("data-heat", heat)
        expect(marker(page, ROOM).locator(".marker-count")).to_have_text(str(people))
        expect(marker(page, ROOM)).to_have_attribute("aria-label", text)
    unknown = replace(
        state, people=None, people_exact=None, quality=Quality.SUSPECT, reason="the sensor reads 0 ppm"
    )
    with_plan.publish_threadsafe(unknown)
    expect(marker(page, ROOM)).to_have_attribute("data-heat", "unknown")
    expect(marker(page, ROOM)).to_have_attribute(
        "aria-label", re.compile("occupancy unknown, the sensor reads 0 ppm")
    )
    marker(page, ROOM).click()
    expect(page.locator("h1:visible")).to_have_text("Workshop 0.02")


def test_room_without_capacity_is_shown_by_its_count(open_page, serve_building):
    rooms = make_rooms(2)
    rooms[0].config = rooms[0].config.model_copy(update={"capacity": None})
    building = Building(rooms)
    building.store.set_plan("Ground floor", PLAN, media_type="image/svg+xml", width=960, height=480)
    building.store.set_place("room-0", Place(0.5, 0.5))
    page = open_page(f"{serve_building(building)}/#/floor")
    expect(marker(page, "room-0")).to_have_attribute("data-heat", "count")
    expect(page.locator(".floor-room").first).to_contain_text("number of seats unknown")


def test_other_floor_has_its_address(open_page, with_plan, url):
    page = open_page(f"{url}/#/floor")
    page.locator("#floor-pick").select_option("1st floor")
    expect(page.locator("#floor-view")).to_contain_text("There is no plan of this floor yet.")
    assert page.url.endswith("#/floor/1st%20floor")
    page.go_back()
    expect(page.locator("#floor-pick")).to_have_value("Ground floor")
    expect(page.locator(".marker")).to_have_count(4)


def test_plan_is_uploaded_and_rooms_are_placed(open_page, building, url, tmp_path):
    page = open_page(f"{url}/#/floor", known=["status of 422"])
    page.get_by_role("button", name="Edit plan").click()
    (tmp_path / "evil.svg").write_bytes(PLAN.replace(b"<rect", b'<rect onclick="alert(1)"', 1))
    page.locator("#plan-file").set_input_files(tmp_path / "evil.svg")
    expect(page.locator(".toast.bad")).to_contain_text(
        "The image must not contain the script attribute onclick"
    )
    (tmp_path / "plan.svg").write_bytes(PLAN)
    page.locator("#plan-file").set_input_files(tmp_path / "plan.svg")
    expect(page.locator(".plan-image")).to_be_visible()
    page.get_by_role("button", name="Workshop 0.02").click()
    expect(page.locator("#plan-hint")).to_have_text("Click on the plan where Workshop 0.02 is.")
    box = page.locator(".plan-layer").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.5)
    wait_for(lambda: ROOM in building.store.places())
    assert building.store.places()[ROOM] == pytest.approx((0.25, 0.5), abs=0.01)
    expect(page.get_by_role("button", name="Workshop 0.02")).to_have_count(0)
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.3, steps=4)
    page.mouse.up()
    wait_for(lambda: building.store.places()[ROOM] == pytest.approx((0.6, 0.3), abs=0.01))
    assert "#/floor" in page.url  # dragged, not opened
    (tmp_path / "other.png").write_bytes(png(200, 50))
    page.locator("#plan-file").set_input_files(tmp_path / "other.png")
    wait_for_plan(page, width=200)
    expect(marker(page, ROOM)).to_have_attribute(
        "style", re.compile(r"left: (60|59\.9\d|60\.0\d)%")
    )  # it kept its place
    page.get_by_role("button", name="Delete the plan").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the plan").click()
    expect(page.locator(".plan-image")).to_be_hidden()
    assert building.store.plans() == []


def test_rooms_are_placed_by_keyboard(open_page, building, url):
    building.store.set_plan("Ground floor", PLAN, media_type="image/svg+xml", width=960, height=480)
    page = open_page(f"{url}/#/floor")
    page.get_by_role("button", name="Edit plan").press("Enter")
    page.get_by_role("button", name="Workshop 0.02").press("Enter")
    expect(marker(page, ROOM)).to_be_focused()
    for key in ("ArrowLeft", "ArrowLeft", "Shift+ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    wait_for(lambda: building.store.places().get(ROOM) == pytest.approx((0.48, 0.54)))
    for _ in range(14):
        page.keyboard.press("Shift+ArrowRight")
    wait_for(lambda: building.store.places()[ROOM] == pytest.approx((1.0, 0.54)))  # not beyond the edge
    page.keyboard.press("Delete")
    wait_for(lambda: ROOM not in building.store.places())
    page.get_by_role("button", name="Undo").click()
    wait_for(lambda: building.store.places().get(ROOM) == pytest.approx((1.0, 0.54)))
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".plan-tools")).to_be_hidden()


def test_rooms_are_placed_by_touch(open_page, building, url):
    building.store.set_plan("Ground floor", PLAN, media_type="image/svg+xml", width=960, height=480)
    page = open_page(f"{url}/#/floor", **PHONE)
    page.get_by_role("button", name="Edit plan").tap()
    page.get_by_role("button", name="Workshop 0.02").tap()
    page.locator(".plan-layer").tap(position={"x": 80, "y": 40})
    box = page.locator(".plan-layer").bounding_box()
    wait_for(lambda: ROOM in building.store.places())
    assert building.store.places()[ROOM] == pytest.approx((80 / box["width"], 40 / box["height"]), abs=0.02)
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("role", ["read", "write"])
def test_plan_is_edited_by_administrators_only(open_page, serve_building, role):
    page = open_page(
        f"{serve_building(Building(make_rooms(2), tokens=True))}/#/floor", known=["status of 401"]
    )
    page.get_by_label("Access token").fill(TOKENS[role])
    page.keyboard.press("Enter")
    expect(page.locator("#floor-view")).to_contain_text("There is no plan of this floor yet.")
    expect(page.locator("html")).to_have_attribute("data-role", role)
    expect(page.get_by_role("button", name="Edit plan")).to_be_hidden()
    expect(page.get_by_text("to upload an SVG or PNG image")).to_be_hidden()


EVIL = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="document.title='hacked'">
<script>document.title = 'hacked'; parent.document.title = 'hacked'; document.cookie = 'hacked=1'</script>
<rect width="9" height="9"/></svg>"""


def test_script_in_a_stored_plan_never_runs(open_page, building, url):
    """Even an image that was not checked, such as one written to the database, is harmless."""
    building.store.set_plan("Ground floor", EVIL, media_type="image/svg+xml", width=9, height=9)
    page = open_page(f"{url}/#/floor")
    wait_for_plan(page)
    expect(page).to_have_title("Floor plan · occupair")
    address = f"{url}/api/floors/plan?floor=Ground%20floor"
    blocked = ["Content Security Policy", "sandboxed", "net::ERR_BLOCKED_BY_CSP", "violates"]
    opened = open_page(address, known=blocked)
    expect(opened.locator("rect")).to_be_attached()
    assert opened.title() != "hacked"
    assert opened.evaluate("origin") == "null"  # not the origin of the page
    assert "hacked" not in str(page.context.cookies())


def test_plan_name_and_room_names_are_not_parsed_as_html(open_page, serve_building):
    rooms = make_rooms(1)
    evil = '<img src=x onerror="window.hacked = true">'
    rooms[0].config = rooms[0].config.model_copy(update={"name": evil, "floor": evil})
    building = Building(rooms)
    building.store.set_plan(evil, PLAN, media_type="image/svg+xml", width=960, height=480)
    building.store.set_place("room-0", Place(0.5, 0.5))
    page = open_page(f"{serve_building(building)}/#/floor")
    expect(page.locator(".marker-name")).to_have_text(evil)
    page.goto(f"{page.url.split('#')[0]}#/today")
    expect(page.locator(".strip-name")).to_have_text(evil)
    page.goto(f"{page.url.split('#')[0]}#/room/room-0/week")
    expect(page.locator("h1:visible")).to_have_text(evil)
    assert page.evaluate("window.hacked") is None


# ---- all views -------------------------------------------------------------------------------------------

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
