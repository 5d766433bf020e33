"""The list of rooms in a real browser; connection, layout, colours and languages of the page."""

import re
from dataclasses import replace

import pytest
from browser import DESKTOP, PHONE, SMALL, contrast
from live.fake_pipeline import TOKENS
from live.page.page_helpers import GERMAN, ROOM, tile, wait_for_chart
from live.page_server import Building, make_rooms, serve
from playwright.sync_api import expect

from occupair.live.http.events import Streams
from occupair.live.messages import Quality
from occupair.live.page import STATIC
from occupair.live.reasons import Cause, Reason
from occupair.web.assets import SHARED


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_list_shows_occupancy_and_totals(open_live, building, url, size, theme):
    page = open_live(url, color_scheme=theme, **size)
    states = building.states()
    known = [state.people for state in states.values() if state.people is not None]
    expect(page.locator("#total-people")).to_have_text(f"{sum(known):,}")
    expect(page.locator("#total-occupied")).to_have_text(str(sum(people > 0 for people in known)))
    expect(page.locator("#total-unknown")).to_have_text(str(len(states) - len(known)))
    page.locator("#search").fill("Workshop 0.02")
    expect(page.locator("#found")).to_have_text("1 of 60 rooms")
    shown, state = tile(page, ROOM), states[ROOM]
    expect(shown.locator(".tile-count")).to_have_text(str(state.people))
    expect(shown.locator(".tile-range")).to_have_text(f"{round(state.low)}–{round(state.high)}")
    expect(shown.locator(".tile-co2")).to_have_text(f"{state.co2:.0f} ppm")
    expect(shown.locator(".tile-quality")).to_have_text("ok")
    expect(shown.locator(".tile-ago")).to_have_text("just now")
    assert page.evaluate("document.documentElement.scrollWidth") == size["viewport"]["width"]


def test_new_state_updates_its_tile_without_reload(open_live, url, building):
    page = open_live(url)
    expect(tile(page, ROOM)).not_to_be_attached()  # below the visible area
    page.locator("#search").fill("workshop 0.02")
    page.evaluate("window.stillHere = true")
    state = replace(building.state(ROOM), people=19, people_exact=19.2, low=16.0, high=22.4, trend=1)
    building.publish_threadsafe(state)
    expect(tile(page, ROOM).locator(".tile-count")).to_have_text("19")
    expect(tile(page, ROOM).locator(".tile-range")).to_have_text("16–22")
    expect(tile(page, ROOM).locator("a")).to_have_attribute(
        "aria-label", re.compile("19 people, prediction interval 16–22, rising")
    )
    others = sum(other.people or 0 for other in building.states().values())
    expect(page.locator("#total-people")).to_have_text(f"{others:,}")
    assert page.evaluate("window.stillHere") is True


def test_unknown_occupancy_is_a_dash_with_its_reason(open_live, url, building):
    unknown = {"people": None, "people_exact": None, "low": None, "high": None, "occupied": None}
    page = open_live(url)
    page.locator("#search").fill("workshop 0.02")
    for quality, name, reason, shown in (
        (Quality.STALE, "sensor offline", "no reading since 13:51", "no reading since 13:51"),
        (Quality.UNTRAINED, "no model", "", "no model yet"),
        (Quality.SUSPECT, "implausible", "the sensor reads 0 ppm.", "the sensor reads 0 ppm"),
    ):
        building.publish_threadsafe(replace(building.state(ROOM), **unknown, quality=quality, reason=reason))
        expect(tile(page, ROOM).locator(".tile-range")).to_have_text(shown)
        expect(tile(page, ROOM).locator(".tile-count")).to_have_text("–")
        expect(tile(page, ROOM).locator(".tile-quality")).to_have_text(name)
    tile(page, ROOM).locator("a").click()
    expect(page.locator(".hero-count")).to_have_text("–")
    expect(page.locator(".hero-range")).to_have_text("the sensor reads 0 ppm")
    expect(page.locator("#room-announcement")).to_have_text(
        "Workshop 0.02: occupancy unknown, the sensor reads 0 ppm"
    )
    expect(page.locator("#head-count")).to_have_value("")


def test_total_is_a_dash_if_all_rooms_are_unknown(open_live, serve_building):
    rooms = make_rooms(3)
    for room in rooms:
        room.quality, room.reason = Quality.UNTRAINED, "the room has no model yet"
    page = open_live(serve_building(Building(rooms)))
    expect(page.locator("#total-unknown")).to_have_text("3")
    expect(page.locator("#total-people")).to_have_text("–")


def test_search_filter_and_sort(open_live, building, url):
    page = open_live(url)
    page.locator("#filter").select_option("suspect")
    expect(page.locator(".tile")).to_have_count(
        sum(s.quality == "suspect" for s in building.states().values())
    )
    page.locator("#filter").select_option("empty")
    expect(page.locator(".tile-count").first).to_have_text("0")
    page.locator("#filter").select_option("all")
    page.locator("#sort").select_option("people")
    most = max(state.people or 0 for state in building.states().values())
    expect(page.locator('.tile[aria-posinset="1"] .tile-count')).to_have_text(str(most))
    page.locator("#sort").select_option("co2")
    co2 = max(state.co2 for state in building.states().values())
    expect(page.locator('.tile[aria-posinset="1"] .tile-co2')).to_have_text(f"{co2:.0f} ppm")
    page.locator("#search").fill("no such room")
    expect(page.locator("#no-rooms")).to_contain_text("No matching rooms")
    page.get_by_role("button", name="Show all rooms").click()
    expect(page.locator("#found")).to_have_text("60 rooms")


def test_keyboard_navigation_to_a_room_and_back(open_live, url, building):
    page = open_live(url)
    page.wait_for_selector(".tile")
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("workshop")
    expect(page.locator("#found")).to_have_text("6 of 60 rooms")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(tile(page, ROOM).locator("a")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1:visible")).to_have_text("Workshop 0.02")
    page.keyboard.press("n")
    expect(page.locator("#head-count")).to_be_focused()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Saved: 7 people, today 14:32.")
    assert [label.people for label in building.store.labels(ROOM)][-1] == 7
    page.keyboard.press("Escape")
    expect(tile(page, ROOM).locator("a")).to_be_focused()


@pytest.mark.parametrize(
    ("settings", "over", "high", "alerts"),
    [
        (
            {},
            "6 without a seat",
            "very high",
            ["6 more people than seats (20)", "CO₂ very high: 1,400 ppm or more"],
        ),
        (
            {"locale": "de-DE", **PHONE},
            "6 ohne Platz",
            "sehr hoch",
            ["6 Personen mehr als Plätze (20)", "CO₂ sehr hoch: 1.400 ppm oder mehr"],
        ),
    ],
    ids=["desktop", "phone-de"],
)
def test_missing_seats_and_high_co2_are_marked_in_words(
    open_live, url, building, settings, over, high, alerts
):
    """The room has 20 seats."""
    state = replace(building.state(ROOM), quality=Quality.OK)
    page = open_live(url, **settings)
    page.locator("#search").fill("workshop 0.02")
    shown, link = tile(page, ROOM), tile(page, ROOM).locator("a")
    building.publish_threadsafe(replace(state, people=20, people_exact=20.4, co2=999.0))
    expect(shown.locator(".tile-co2")).to_have_text("999 ppm")
    expect(shown.locator(".tile-level")).to_be_hidden()
    expect(shown).to_have_attribute("data-over", "")
    building.publish_threadsafe(replace(state, people=26, people_exact=26.0, co2=1400.0))
    expect(shown.locator(".tile-full")).to_have_text(over)
    expect(shown.locator(".tile-full")).to_be_visible()
    expect(shown.locator(".tile-level")).to_have_text(high)
    expect(shown.locator(".tile-level svg")).to_be_visible()
    expect(link).to_have_attribute("aria-label", re.compile(re.escape(", ".join(alerts)) + "$"))
    link.click()
    expect(page.locator(".alerts li")).to_have_text(alerts)
    expect(page.locator(".alerts svg")).to_have_count(2)
    expect(page.locator("#room-announcement")).to_contain_text(", ".join(alerts))
    building.publish_threadsafe(replace(state, people=20, people_exact=20.0, co2=1000.0))
    expect(page.locator(".alerts li")).to_have_text([re.compile("1[,.]000 ppm")])
    building.publish_threadsafe(replace(state, people=20, people_exact=20.0, co2=999.9))
    expect(page.locator(".alerts")).to_be_hidden()


def test_co2_of_a_faulty_sensor_is_not_marked(open_live, url, building):
    page = open_live(url)
    page.locator("#search").fill("workshop 0.02")
    unknown = dict.fromkeys(("people", "people_exact", "low", "high"))
    for quality in (Quality.STALE, Quality.SUSPECT):
        faulty = replace(building.state(ROOM), **unknown, co2=5000.0, quality=quality, reason="no data")
        building.publish_threadsafe(faulty)
        expect(tile(page, ROOM)).to_have_attribute("data-quality", quality.value)
        expect(tile(page, ROOM).locator(".tile-co2")).to_have_text("5000 ppm")


def test_five_thousand_rooms_update_only_visible_tiles(open_live, serve_building):
    building = Building(make_rooms(5_000))
    page = open_live(serve_building(building))
    expect(page.locator("#found")).to_have_text("5,000 rooms")
    nodes = "document.querySelectorAll('*').length"
    assert page.evaluate(nodes) < 2_000
    page.evaluate("""() => { window.mutations = 0;
        const observer = new MutationObserver((records) => { window.mutations += records.length; });
        const changes = { childList: true, characterData: true, subtree: true };
        observer.observe(document.getElementById('grid'), changes); }""")
    known = [state for state in building.states().values() if state.people is not None]
    for step in range(10):  # every room changes ten times while the user scrolls
        building.publish_threadsafe(*(replace(state, people=(state.people + step) % 90) for state in known))
        page.mouse.wheel(0, 3_000)
    total = sum((state.people + step) % 90 for state in known)
    expect(page.locator("#total-people")).to_have_text(f"{total:,}")
    assert page.evaluate(nodes) < 2_000
    assert page.evaluate("window.mutations") < 10 * len(known) / 2  # drawing all rooms would be far more
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    expect(page.locator('.tile[aria-posinset="5000"]')).to_be_visible()
    assert page.evaluate(nodes) < 2_000
    last = page.locator('.tile[aria-posinset="4999"]')
    people = building.state(last.get_attribute("data-room")).people
    expect(last.locator(".tile-count")).to_have_text("–" if people is None else str(people))
    page.keyboard.press("/")
    page.keyboard.type("room-4321")
    expect(page.locator("#found")).to_have_text("1 of 5,000 rooms")


def test_names_are_not_parsed_as_html(open_live, serve_building):
    rooms = make_rooms(2)
    evil = '<img src=x onerror="window.hacked = true"><b>Lab</b>'
    rooms[0].config = rooms[0].config.model_copy(update={"name": evil, "floor": evil})
    rooms[0].quality, rooms[0].reason = Quality.SUSPECT, evil
    url = serve_building(Building(rooms))
    page = open_live(url)
    expect(tile(page, "room-0").locator(".tile-name")).to_have_text(evil)
    tile(page, "room-0").locator("a").click()
    expect(page.locator("h1:visible")).to_have_text(evil)
    expect(page.locator(".hero-range")).to_have_text(evil)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#main img").count() == 0


# ---- connection --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "banner", "status"),
    [
        ("en-GB", "The maximum number of viewers is reached.", "delayed"),
        ("de-DE", "Die Höchstzahl gleichzeitiger Betrachter ist erreicht.", "verzögert"),
    ],
    ids=["en", "de"],
)
def test_viewer_above_the_limit_sees_why_and_polls(open_live, language, banner, status):
    building, streams = Building(make_rooms(3)), Streams(limit=0)
    with serve(building, streams=streams) as url:
        page = open_live(url, rejected=[503], locale=language)
        expect(page.locator("#banner")).to_contain_text(banner)
        expect(page.locator("#connection")).to_have_text(status)
        building.publish_threadsafe(replace(building.state(ROOM), people=23))
        page.locator("#banner-retry").click()  # instead of waiting for the next poll
        expect(tile(page, ROOM).locator(".tile-count")).to_have_text("23")
        expect(page.locator("#banner")).to_contain_text(banner)
        streams.limit = 1
        page.locator("#banner-retry").click()
        expect(page.locator("#banner")).to_be_hidden()
        expect(page.locator("#connection")).to_have_text("live")


def test_lost_connection_shows_a_banner_and_recovers(open_live, building):
    with serve(building) as url:
        page = open_live(f"{url}/#/room/{ROOM}", lost=True)
        before = wait_for_chart(page)
        port = int(url.rsplit(":", 1)[1])
    expect(page.locator("#banner")).to_contain_text("Connection to the service lost.")
    building.minute += 3
    building.publish(*(room.state(building.minute) for room in building.rooms.values()))
    with serve(building, port=port):
        page.get_by_role("button", name="Reconnect now").click()
        expect(page.locator("#banner")).to_be_hidden()
        expect(page.locator("#connection-text")).to_have_text("live")
        page.wait_for_selector(f'.plot[data-drawn="{before + 3}"]')  # the missed estimates were fetched
        page.close()


OUTSIDE = """() => [...document.querySelectorAll('.bar *')].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width > 1 && (box.left < 0 || box.right > window.innerWidth);
}).map((node) => node.id || node.className)"""


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
@pytest.mark.parametrize("width", [320, 390])
def test_header_fits_on_a_phone_while_reconnecting(open_live, serve_building, width, language):
    building = Building(make_rooms(2), tokens=True)  # with the button to sign out
    phone = {**PHONE, "viewport": {"width": width, "height": 844}}
    page = open_live(serve_building(building), rejected=[401], lost=True, locale=language, **phone)
    page.route("**/api/events", lambda route: route.abort())
    page.locator("#token").fill(TOKENS["admin"])
    page.keyboard.press("Enter")
    expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
    expect(page.locator("#logout")).to_be_visible()
    assert page.evaluate(OUTSIDE) == []
    for icon in ("logout", "theme", "help"):
        assert page.locator(f"#{icon}").bounding_box()["width"] == 44


# ---- layout and colours ------------------------------------------------------------------------------------


def test_page_complies_with_its_content_security_policy(open_live, building, url):
    page = open_live(url)
    policy = page.request.get(url).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe-eval" not in policy  # Plotly draws without errors in the tests of charts
    html = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|style=", html)
    unsafe = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    scripts = [*STATIC.glob("*.js"), *SHARED.glob("*.js")]
    assert [path.name for path in scripts if unsafe.search(path.read_text())] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_wcag_aa_contrast(open_live, building, url, theme):
    page = open_live(url, color_scheme=theme)
    value = "(name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim()"
    names = "bg surface sunk ink muted accent accent-ink accent-soft control focus warn warn-soft bad info"
    marks = ("chart-co2", "chart-people", "chart-label", "chart-yesterday")
    colour = {name: page.evaluate(value, name) for name in (*names.split(), *marks)}
    for ground in ("bg", "surface", "sunk"):
        for text in ("ink", "muted", "accent", "warn", "bad", "info"):
            assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
        for mark in ("control", "focus"):
            assert contrast(colour[mark], colour[ground]) >= 3, (mark, ground)
    for text, ground in (
        ("accent-ink", "accent"),
        ("accent", "accent-soft"),
        ("warn", "warn-soft"),
        ("surface", "bad"),
    ):
        assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    for mark in marks:
        assert contrast(colour[mark], colour["surface"]) >= 3, mark


def test_theme_is_remembered(open_live, building, url):
    page = open_live(url, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Theme: system").click()
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    page.wait_for_selector(".tile")
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate(ground) == dark


def test_touch_targets_and_width_on_a_phone(open_live, building, url):
    page = open_live(url, **PHONE)
    page.wait_for_selector(".tile")
    assert page.evaluate(SMALL) == []
    page.goto(f"{url}/#/room/{ROOM}")
    wait_for_chart(page)
    page.wait_for_selector(".labels li")
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    unnamed = """() => [...document.querySelectorAll('button, a, input, select')].filter((node) =>
        node.checkVisibility() && !node.getAttribute('aria-label') && !node.textContent.trim()
        && !node.labels?.length)"""
    assert page.evaluate(unnamed) == []


# ---- languages ---------------------------------------------------------------------------------------------


def test_page_follows_the_language_of_the_browser(open_live, building, url):
    page = open_live(url, **GERMAN)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator(".total.lead dt")).to_have_text("Personen in allen Räumen")
    expect(page.locator("#found")).to_have_text("60 Räume")
    page.locator("#filter").select_option("stale")
    expect(page.locator(".tile-quality").first).to_have_text("Sensor offline")
    expect(page.locator(".tile-range").first).to_have_text("kein Messwert seit 13:51 Uhr")
    page.locator("#filter").select_option("suspect")
    expect(page.locator(".tile-range").first).to_have_text("unplausibler Messwert: 0 ppm")


def test_reasons_in_the_event_stream_are_german(open_live, building, url):
    page = open_live(f"{url}/#/room/{ROOM}", **GERMAN)
    expect(page.locator("#connection-text")).to_have_text("live")
    unknown = {"people": None, "people_exact": None, "low": None, "high": None, "occupied": None}
    cause = Cause(Reason.STUCK, {"hours": 5})
    state = replace(
        building.state(ROOM), **unknown, quality=Quality.SUSPECT, reason=cause.text(), cause=cause
    )
    building.publish_threadsafe(state)
    expect(page.locator(".hero-range")).to_have_text("CO2 seit 5 Stunden unverändert")


def test_language_switch_is_remembered(open_live, building, url):
    page = open_live(url, **GERMAN)
    expect(page.locator("#found")).to_have_text("60 Räume")
    page.locator("#language").select_option("en")
    expect(page.locator("#found")).to_have_text("60 rooms")
    page.reload()
    expect(page.locator("#found")).to_have_text("60 rooms")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("#language")).to_have_value("en")
    page.locator("#filter").select_option("stale")
    expect(page.locator(".tile-range").first).to_have_text("no reading since 13:51")


def test_unavailable_language_falls_back_to_english(open_live, building, url):
    page = open_live(url, locale="fr-FR")
    expect(page.locator("#found")).to_have_text("60 rooms")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_german_page_fits_on_a_phone(open_live, building, url, theme):
    page = open_live(url, color_scheme=theme, **PHONE, **GERMAN)
    page.wait_for_selector(".tile")
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.goto(f"{url}/#/room/{ROOM}")
    wait_for_chart(page)
    page.wait_for_selector(".labels li")
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
