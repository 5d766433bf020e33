"""The view of a floor in a real browser: live occupancy, placing of rooms, and plans with scripts."""

import re
from dataclasses import replace

import pytest
from browser import PHONE
from live.fake_pipeline import TOKENS
from live.page.page_helpers import PLAN, ROOM, wait_for_plan
from live.page_server import Building, make_rooms
from live.waiting import wait_for
from playwright.sync_api import expect
from web.test_images import png

from occupair.live.messages import Quality
from occupair.live.store import Place


@pytest.fixture(scope="module")
def number_of_rooms():
    return 24


def marker(page, room):
    return page.locator(f'.marker[data-room="{room}"]')


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
