"""The card of the recommended outdoor air on the page of a room."""

from dataclasses import replace

import pytest
from browser import DESKTOP, PHONE
from live.page_server import Building, make_rooms, serve
from playwright.sync_api import expect

from occupair.live.messages import Quality

ROOM, OFFLINE = "room-2", "room-3"


@pytest.fixture(scope="module")
def building():
    return Building(make_rooms(5))


@pytest.fixture(scope="module")
def url(building):
    with serve(building) as url:
        yield url


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_card_has_flow_damper_and_planned_count(open_page, building, url, size, theme):
    building.reset()
    page = open_page(f"{url}/#/room/{ROOM}", color_scheme=theme, **size)
    state = replace(building.state(ROOM), outdoor_air=184.4, damper=0.612, outdoor_air_people=23.4)
    building.publish_threadsafe(state)
    expect(page.locator("#outdoor-air-card h2")).to_have_text("Outdoor air, recommended")
    expect(page.locator("#outdoor-air-flow")).to_have_text("184 L/s")
    expect(page.locator("#outdoor-air-people")).to_have_text("For up to 23 people, 95% confidence")
    expect(page.locator("#outdoor-air-damper")).to_have_text("61%")
    expect(page.locator("#outdoor-air-card")).to_contain_text("EN 16798-1, category II")
    expect(page.locator("#outdoor-air-card")).to_contain_text("The service does not control the ventilation.")
    assert page.evaluate("document.documentElement.scrollWidth") == size["viewport"]["width"]


def test_unknown_count_is_the_reason_for_the_design_flow(open_page, building, url):
    building.reset()
    page = open_page(f"{url}/#/room/{OFFLINE}")
    state, control = building.state(OFFLINE), building.rooms[OFFLINE].config.air_control
    assert state.quality is Quality.STALE
    expect(page.locator("#outdoor-air-flow")).to_have_text(f"{control.design_flow:.0f} L/s")
    expect(page.locator("#outdoor-air-people")).to_have_text(
        "Design flow, because the number of people is unknown"
    )
    expect(page.locator("#outdoor-air-card")).to_contain_text("ASHRAE 62.1, classroom")
    building.publish_threadsafe(replace(state, people=3, people_exact=3.0, quality=Quality.OK))
    expect(page.locator("#outdoor-air-people")).to_have_text(
        "Design flow, because the model has no prediction interval"
    )


def test_empty_room_and_german(open_page, building, url):
    building.reset()
    page = open_page(f"{url}/#/room/{ROOM}", locale="de-DE")
    building.publish_threadsafe(replace(building.state(ROOM), outdoor_air=42.0, outdoor_air_people=0.3))
    expect(page.locator("#outdoor-air-flow")).to_have_text("42 l/s")
    expect(page.locator("#outdoor-air-people")).to_have_text(
        "Für einen leeren Raum, mit 95\u00a0% Sicherheit"
    )


def test_room_without_settings_has_no_card(open_page, building, url):
    building.reset()
    page = open_page(f"{url}/#/room/room-1")
    expect(page.locator(".hero-count")).not_to_have_text("")
    expect(page.locator("#outdoor-air-card")).to_be_hidden()
