"""The page in a real browser: what people see, by mouse, finger and keyboard, and what must never happen."""

import base64
import datetime as dt
import os
import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from browser import DESKTOP, PHONE
from live.fake_pipeline import MODEL, TOKENS
from live.page_server import NOW, START, Building, make_rooms, serve
from live.waiting import wait_for
from playwright.sync_api import expect

from occupair.live.messages import Label, Quality
from occupair.live.page import STATIC

FAR_AWAY = "America/New_York"  # the browser's zone; the rooms are in Copenhagen
ROOM = "room-1"  # "Workshop 0.02", well, with labels


@pytest.fixture
def building():
    building = Building(make_rooms(60))
    building.teach(ROOM)
    return building


@pytest.fixture
def house():
    """Serve buildings until the pages that look at them are closed."""
    with ExitStack() as stack:
        yield lambda building: stack.enter_context(serve(building))


@pytest.fixture
def url(building, house):
    return house(building)


@pytest.fixture(scope="module")
def quiet():
    """A building in which nothing happens, for all tests that only look, and its address."""
    building = Building(make_rooms(60))
    building.teach(ROOM)
    with serve(building) as url:
        yield building, url


@pytest.fixture
def look(house, open_page):
    """Open pages far away from the rooms; buildings stay until they are closed."""

    def look(url, *, refused=(), lost=False, **settings):
        known = (*(f"status of {status}" for status in refused), *(["net::ERR"] if lost else []))
        return open_page(url, known=known, **{"timezone_id": FAR_AWAY, **settings})

    return look


def tile(page, room):
    return page.locator(f'.tile[data-room="{room}"]')


def drawn(page):
    """Wait for the chart; how many estimates it shows."""
    page.wait_for_selector(".plot[data-drawn]")
    return int(page.locator(".plot").get_attribute("data-drawn"))


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_room_shows_its_count_and_the_header_their_sum(look, quiet, size, theme):
    building, url = quiet
    page = look(url, color_scheme=theme, **size)
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


def test_a_state_that_comes_changes_its_tile_without_reloading(look, url, building):
    page = look(url)
    expect(tile(page, ROOM)).not_to_be_attached()  # below what is seen
    page.locator("#search").fill("workshop 0.02")
    page.evaluate("window.stillHere = true")
    state = replace(building.state(ROOM), people=19, people_exact=19.2, low=16.0, high=22.4, trend=1)
    building.say(state)
    expect(tile(page, ROOM).locator(".tile-count")).to_have_text("19")
    expect(tile(page, ROOM).locator(".tile-range")).to_have_text("16–22")
    expect(tile(page, ROOM).locator("a")).to_have_attribute(
        "aria-label", re.compile("19 people, range 16–22, rising")
    )
    others = sum(other.people or 0 for other in building.states().values())
    expect(page.locator("#total-people")).to_have_text(f"{others:,}")
    assert page.evaluate("window.stillHere") is True


def test_what_is_not_known_is_a_dash_with_its_reason_and_never_0(look, url, building):
    unknown = {"people": None, "people_exact": None, "low": None, "high": None, "occupied": None}
    page = look(url)
    page.locator("#search").fill("workshop 0.02")
    for quality, reason, said in (
        (Quality.STALE, "no reading for 41 min", "no reading for 41 min"),
        (Quality.UNTRAINED, "", "no model yet"),
        (Quality.SUSPECT, "the sensor reads 0 ppm.", "the sensor reads 0 ppm"),
    ):
        building.say(replace(building.state(ROOM), **unknown, quality=quality, reason=reason))
        expect(tile(page, ROOM).locator(".tile-range")).to_have_text(said)
        expect(tile(page, ROOM).locator(".tile-count")).to_have_text("–")
        expect(tile(page, ROOM).locator(".tile-quality")).to_have_text(quality.value)
    tile(page, ROOM).locator("a").click()
    expect(page.locator(".hero-count")).to_have_text("–")
    expect(page.locator(".hero-range")).to_have_text("the sensor reads 0 ppm")
    expect(page.locator("#room-said")).to_have_text("Workshop 0.02: count unknown, the sensor reads 0 ppm")
    expect(page.locator("#how-many")).to_have_value("")


def test_where_no_room_is_known_there_is_no_sum(look, house):
    rooms = make_rooms(3)
    for room in rooms:
        room.quality, room.reason = Quality.UNTRAINED, "the room has no model yet"
    page = look(house(Building(rooms)))
    expect(page.locator("#total-unknown")).to_have_text("3")
    expect(page.locator("#total-people")).to_have_text("–")


def test_search_filter_and_sort(look, quiet):
    building, url = quiet
    page = look(url)
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
    expect(page.locator("#nothing")).to_contain_text("No room is like that")
    page.get_by_role("button", name="Show all rooms").click()
    expect(page.locator("#found")).to_have_text("60 rooms")


def test_by_keyboard_alone_to_a_room_a_label_and_back(look, url, building):
    page = look(url)
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
    expect(page.locator("#how-many")).to_be_focused()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Saved: 7 people, today 14:32.")
    assert [label.people for label in building.store.labels(ROOM)][-1] == 7
    page.keyboard.press("Escape")
    expect(tile(page, ROOM).locator("a")).to_be_focused()


def test_a_rooms_day_is_drawn_in_the_rooms_own_time(look, quiet):
    building, url = quiet
    page = look(f"{url}/#/room/{ROOM}")
    assert drawn(page) == NOW - 1440 + 1  # from local midnight to now
    axis = page.locator(".plot .xtick text").all_text_contents()
    assert axis[0] == "00:00"
    assert "12:00" in axis
    lines = page.evaluate("document.querySelector('.plot').data.map((trace) => trace.x.length)")
    assert all(lines)  # CO2 raw and smoothed, range, yesterday, count, ventilation, labels: none is empty
    assert page.evaluate("document.querySelector('.plot').data[6].y") == [
        label.people for label in building.store.labels(ROOM)[:1:-1]
    ]
    expect(page.locator(".read-time")).to_have_text("14:32")
    page.locator(".plot-frame").focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator(".read-time")).to_have_text("14:02")
    row = building.rooms[ROOM].estimate(NOW - 30)
    expect(page.locator(".read-people .read-value")).to_have_text(
        f"{row.people:.0f} ({round(row.low)}–{round(row.high)})"
    )
    expect(page.locator(".read-co2 .read-value")).to_have_text(f"{row.co2_smoothed:.0f}")
    box = page.locator(".plot-frame").bounding_box()
    page.mouse.move(
        box["x"] + 40 + (box["width"] - 52) / 2, box["y"] + 200
    )  # half of the day, margins 40 and 12
    expect(page.locator(".read-time")).to_have_text(re.compile("11:59|12:00|12:01"))


def test_a_day_goes_on_live_and_corrections_are_fetched(look, url, building):
    page = look(f"{url}/#/room/{ROOM}")
    before, asked = drawn(page), building.asked_for_history
    building.advance()
    page.wait_for_selector(f'.plot[data-drawn="{before + 1}"]')
    assert building.asked_for_history == asked  # one minute more is appended, not fetched
    building.rooms[ROOM].changed = {NOW - 200: {"people": 31.0, "high": 33.0}}
    late = replace(building.state(ROOM), people=21, people_exact=21.3)
    building.say(late)
    expect(page.locator(".hero-count")).to_have_text("21")
    expect(page.locator("#how-many")).to_have_value("21")
    wait_for(lambda: page.evaluate("Math.max(...document.querySelector('.plot').data[4].y)") == 31)
    building.minute += 5  # five minutes were missed
    building.say(building.rooms[ROOM].state(building.minute))
    page.wait_for_selector(f'.plot[data-drawn="{before + 6}"]')


def test_other_days_have_addresses_and_the_back_button_works(look, quiet):
    _, url = quiet
    page = look(url)
    page.locator("#search").fill("workshop 0.02")
    tile(page, ROOM).locator("a").click()
    drawn(page)
    page.get_by_role("button", name="The day before").click()
    expect(page.locator("#day-title")).to_have_text("Tuesday 10 March 2026")
    assert page.url.endswith(f"#/room/{ROOM}/2026-03-10")
    page.wait_for_selector('.plot[data-drawn="1440"]')
    page.go_back()
    expect(page.locator("#day-title")).to_have_text("Today")
    page.locator(".date").fill("2026-01-05")
    expect(page.locator(".chart-note")).to_have_text("No readings on this day.")
    page.go_back()
    page.go_back()
    expect(tile(page, ROOM)).to_be_visible()
    page.goto(f"{url}/#/room/attic")
    expect(page.locator("#room-view")).to_contain_text("There is no room called attic here.")


def test_labels_are_saved_undone_and_deleted(look, url, building):
    page = look(f"{url}/#/room/{ROOM}", **PHONE)
    there = len(building.store.labels(ROOM))
    now = building.state(ROOM).people
    expect(page.locator("#how-many")).to_have_value(str(now))
    page.get_by_role("button", name="One more").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".labels li").first).to_contain_text(f"{now + 1} people")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_have_text("Taken back.")
    assert len(building.store.labels(ROOM)) == there
    newest = building.store.labels(ROOM)[-1]
    page.get_by_role("button", name=re.compile(f"Delete {newest.people} people, today")).first.click()
    wait_for(lambda: newest not in building.store.labels(ROOM))
    page.get_by_role("button", name="Undo").click()
    wait_for(lambda: newest.time in [label.time for label in building.store.labels(ROOM)])
    page.locator("#how-many").fill("2.5")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast.bad")).to_contain_text("Enter a whole number of people, 0 or more.")
    assert len(building.store.labels(ROOM)) == there


def test_training_shows_both_scores_and_the_person_decides(look, url, building):
    page = look(f"{url}/#/room/{ROOM}", refused=[409])
    page.get_by_role("button", name="Train from labels").click()
    expect(page.locator("#training-word")).to_have_text("3 more labels are needed: 5 of 8 are there.")
    for minute in range(NOW - 60, NOW - 57):
        building.store.add_label(Label(ROOM, START + dt.timedelta(minutes=minute), 9, START))
    page.get_by_role("button", name="Train from labels").click()
    expect(page.locator("#training-card progress")).to_be_visible()
    expect(page.locator("#training-word")).to_contain_text("%")
    expect(page.locator(".score-value")).to_have_text(["2.31", "1.48"])
    expect(page.locator(".score.better")).to_contain_text("New model")
    expect(page.locator(".score").last).to_contain_text("on 12 labels kept aside")
    assert [model.origin for model in building.store.models(ROOM)] == ["file"]  # nothing is swapped yet
    page.get_by_role("button", name="Keep the old one").click()
    expect(page.locator(".score-value")).to_have_count(2)
    expect(page.locator(".scores")).to_be_hidden()
    page.get_by_role("button", name="Train from labels").click()
    page.get_by_role("button", name="Use the new model").click()
    expect(page.locator('.models [data-active="yes"]')).to_contain_text("trained from labels")


def test_forgetting_is_asked_twice(look, url, building):
    page = look(f"{url}/#/room/{ROOM}")
    expect(page.locator(".labels li")).to_have_count(5)
    page.locator("#forget").click()
    expect(page.get_by_role("dialog")).to_contain_text("Forget what this room learned?")
    page.keyboard.press("Enter")  # Cancel has the focus
    expect(page.get_by_role("dialog")).not_to_be_attached()
    assert len(building.store.labels(ROOM)) == 5
    page.locator("#forget").click()
    page.get_by_role("button", name="Forget it all").click()
    expect(page.locator(".labels li")).to_have_count(0)
    assert building.store.labels(ROOM) == []


def test_models_go_up_and_down(look, url, building, tmp_path):
    page = look(f"{url}/#/room/{ROOM}", refused=[409])
    with page.expect_download() as loading:
        page.get_by_role("link", name=re.compile("Download version 1")).click()
    assert loading.value.suggested_filename.startswith(f"{ROOM}-1")
    assert Path(loading.value.path()).read_bytes() == building.store.model(ROOM, 1)
    (tmp_path / "holiday.jpg").write_bytes(b"no model")
    page.locator("#model-file").set_input_files(tmp_path / "holiday.jpg")
    expect(page.locator(".toast.bad")).to_contain_text("no model file of occupair.")
    (tmp_path / "new.occupair").write_bytes(MODEL)
    page.locator("#model-file").set_input_files(tmp_path / "new.occupair")
    expect(page.locator('.models [data-active="yes"]')).to_contain_text("uploaded")
    page.get_by_role("button", name="Use", exact=True).click()
    expect(page.locator('.models [data-active="yes"]')).to_contain_text("Version 1")


def test_with_tokens_the_page_asks_for_one_and_offers_what_it_allows(look, house):
    building = Building(make_rooms(6), tokens=True)
    building.teach(ROOM)
    url = house(building)
    page = look(f"{url}/#/room/{ROOM}", refused=[401])
    page.get_by_label("Access token").fill("not this one")
    page.keyboard.press("Enter")
    expect(page.locator("#login-error")).to_have_text("That token is not known here.")
    page.get_by_label("Access token").fill(TOKENS["write"])
    page.keyboard.press("Enter")
    expect(page.locator("h1:visible")).to_have_text("Workshop 0.02")  # where the person wanted to go
    expect(page.locator("#how-many")).to_be_visible()
    expect(page.locator("#training-card")).to_be_hidden()
    expect(page.locator("#forget")).to_be_hidden()
    assert TOKENS["write"] not in page.evaluate("document.cookie + JSON.stringify(localStorage)")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Access token")).to_be_visible()


def test_a_lost_connection_is_said_and_comes_back(look, building):
    with serve(building) as url:
        page = look(f"{url}/#/room/{ROOM}", lost=True)
        before = drawn(page)
        port = int(url.rsplit(":", 1)[1])
    expect(page.locator("#banner")).to_contain_text("The connection to the service is lost.")
    building.minute += 3
    building.tell(*(room.state(building.minute) for room in building.rooms.values()))
    with serve(building, port=port):
        page.get_by_role("button", name="Try now").click()
        expect(page.locator("#banner")).to_be_hidden()
        expect(page.locator("#link-word")).to_have_text("live")
        page.wait_for_selector(f'.plot[data-drawn="{before + 3}"]')  # what was missed is there
        page.context.close()


def test_names_are_text_whatever_they_say(look, house):
    rooms = make_rooms(2)
    evil = '<img src=x onerror="window.hacked = true"><b>Lab</b>'
    rooms[0].config = rooms[0].config.model_copy(update={"name": evil, "floor": evil})
    rooms[0].quality, rooms[0].reason = Quality.SUSPECT, evil
    url = house(Building(rooms))
    page = look(url)
    expect(tile(page, "room-0").locator(".tile-name")).to_have_text(evil)
    tile(page, "room-0").locator("a").click()
    expect(page.locator("h1:visible")).to_have_text(evil)
    expect(page.locator(".hero-range")).to_have_text(evil)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#main img").count() == 0


def test_the_page_runs_under_its_content_security_policy(look, quiet):
    _, url = quiet
    page = look(url)
    policy = page.request.get(url).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe-eval" not in policy  # that Plotly draws without complaint is seen by all tests that draw
    html = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|style=", html)
    unsafe = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    assert [path.name for path in STATIC.glob("*.js") if unsafe.search(path.read_text())] == []


def test_five_thousand_rooms_stay_smooth(look, house):
    building = Building(make_rooms(5_000))
    page = look(house(building))
    expect(page.locator("#found")).to_have_text("5000 rooms")
    nodes = "document.querySelectorAll('*').length"
    assert page.evaluate(nodes) < 1_500
    page.evaluate("""() => { window.gaps = []; let last = performance.now();
        const tick = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(tick); };
        requestAnimationFrame(tick); }""")
    known = [state for state in building.states().values() if state.people is not None]
    for step in range(10):  # a storm: every room changes ten times while the person scrolls
        building.say(*(replace(state, people=(state.people + step) % 90) for state in known))
        page.mouse.wheel(0, 3_000)
    total = sum((state.people + step) % 90 for state in known)
    expect(page.locator("#total-people")).to_have_text(f"{total:,}")
    assert page.evaluate(nodes) < 1_500
    gaps = sorted(page.evaluate("gaps"))
    assert gaps[len(gaps) // 2] < 100  # [ms] between frames, usually; 16 where nothing else runs
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    expect(page.locator('.tile[aria-posinset="5000"]')).to_be_visible()
    assert page.evaluate(nodes) < 1_500
    last = page.locator('.tile[aria-posinset="4999"]')
    people = building.state(last.get_attribute("data-room")).people
    expect(last.locator(".tile-count")).to_have_text("–" if people is None else str(people))
    page.keyboard.press("/")
    page.keyboard.type("room-4321")
    expect(page.locator("#found")).to_have_text("1 of 5000 rooms")


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]  # WCAG 2.2, relative luminance


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_have_the_contrast_of_wcag_aa(look, quiet, theme):
    _, url = quiet
    page = look(url, color_scheme=theme)
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


def test_the_theme_is_remembered(look, quiet):
    _, url = quiet
    page = look(url, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Theme: as the system").click()
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    page.wait_for_selector(".tile")
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate(ground) == dark


SMALL = """() => [...document.querySelectorAll('a, button, input:not([type=checkbox]), select, summary')]
    .filter((node) => node.checkVisibility() && !node.matches('.skip, .hidden'))
    .map((node) => [node.outerHTML.slice(0, 80), node.getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.width < 44 || box.height < 44)).map(([html]) => html)"""


def test_everything_to_touch_is_large_enough_and_nothing_is_wider_than_a_phone(look, quiet):
    _, url = quiet
    page = look(url, **PHONE)
    page.wait_for_selector(".tile")
    assert page.evaluate(SMALL) == []
    page.goto(f"{url}/#/room/{ROOM}")
    drawn(page)
    page.wait_for_selector(".labels li")
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    unnamed = """() => [...document.querySelectorAll('button, a, input, select')].filter((node) =>
        node.checkVisibility() && !node.getAttribute('aria-label') && !node.textContent.trim()
        && !node.labels?.length)"""
    assert page.evaluate(unnamed) == []


def test_pictures_for_the_readme(look, quiet, tmp_path):
    _, url = quiet
    folder = Path(os.environ.get("OCCUPAIR_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page = look(url, device_scale_factor=1.5)
    page.wait_for_selector(".tile")
    expect(page.locator("#link-word")).to_have_text("live")
    page.wait_for_timeout(200)
    page.screenshot(path=folder / "live-rooms.png")
    page.goto(f"{url}/#/room/{ROOM}")
    drawn(page)
    page.wait_for_selector(".labels li")
    page.wait_for_timeout(300)
    page.screenshot(path=folder / "live-room.png", full_page=True)
    phone = look(url, **PHONE, device_scale_factor=2, color_scheme="dark")
    phone.wait_for_selector(".tile")
    shots = [phone.screenshot()]
    phone.goto(f"{url}/#/room/{ROOM}")
    drawn(phone)
    phone.wait_for_selector(".labels li")
    for card in (".chart-card", "#labels-card"):
        phone.locator(card).evaluate("(card) => scrollTo(0, card.offsetTop - 72)")
        phone.wait_for_timeout(300)
        shots.append(phone.screenshot())
    side_by_side(page, shots, folder / "live-phone.png")
    for name in ("live-rooms.png", "live-room.png", "live-phone.png"):
        assert (folder / name).stat().st_size > 20_000


def side_by_side(page, shots, path):
    """Put pictures of a phone beside each other."""
    images = "".join(
        f'<img src="data:image/png;base64,{base64.b64encode(shot).decode()}" height="740">' for shot in shots
    )
    page.goto("about:blank")
    css = "body { margin: 0 } div { display: inline-flex; gap: 24px } img { border-radius: 18px }"
    page.set_content(f"<style>{css}</style><div>{images}</div>")
    page.locator("div").screenshot(path=path, omit_background=True)
