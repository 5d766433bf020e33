"""The page behind a reverse proxy with a path prefix: Home Assistant's ingress, and a proxy with tokens."""

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from browser import DESKTOP, PHONE
from live.fake_pipeline import TOKENS
from live.page_server import Building, make_rooms, serve
from live.waiting import wait_for
from playwright.sync_api import expect
from prefix_proxy import INGRESS_PREFIX, prefix_proxy

from occupair.live.store import Place

ROOM = "room-1"  # "Workshop 0.02"
DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><rect width="2" height="2"/></svg>'
PICTURES = os.environ.get("OCCUPAIR_PREFIX_PICTURES")  # folder for screenshots, to look at


@pytest.fixture
def proxied():
    """Serve buildings behind a proxy. To be requested before `open_page`, whose pages are closed first."""
    with ExitStack() as stack:

        def start(*, prefix=INGRESS_PREFIX, ingress="127.0.0.1", **settings):
            building = Building(make_rooms(24), ingress=ingress, **settings)
            building.add_model_and_labels(ROOM)
            url = stack.enter_context(serve(building))
            proxy = prefix_proxy(url, prefix=prefix, ingress=ingress is not None)
            return building, stack.enter_context(proxy)

        yield start


def take_picture(page, name):
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_works_in_the_frame_of_home_assistant(proxied, open_page, size, theme):
    building, proxy = proxied(ingress_role="write", host="0.0.0.0")
    page = open_page(f"{proxy.address}/", color_scheme=theme, **size)
    app = page.frame_locator("iframe")
    expect(app.locator("#connection-text")).to_have_text("live")
    expect(app.locator("#found")).to_have_text("24 rooms")
    expect(app.locator("#logout")).to_be_hidden()  # Home Assistant has its own
    take_picture(page, f"ingress-rooms-{theme}-{size['viewport']['width']}")
    app.locator("#search").fill("workshop 0.02")
    app.locator(f'.tile[data-room="{ROOM}"] a').click()
    app.locator(".plot[data-drawn]").wait_for()
    building.publish_threadsafe(
        replace(building.state(ROOM), people=19, people_exact=19.2, low=16.0, high=22.4)
    )
    expect(app.locator(".hero-count")).to_have_text("19")
    app.locator("#head-count").fill("17")
    app.get_by_role("button", name="Save").click()
    expect(app.locator(".labels li").first).to_contain_text("17 people")
    wait_for(lambda: 17 in [label.people for label in building.store.labels(ROOM)])
    expect(app.locator("#training-card")).to_be_hidden()  # the role is write
    take_picture(page, f"ingress-room-{theme}-{size['viewport']['width']}")
    assert proxy.outside == []


def test_page_below_a_prefix_is_german(proxied, open_page):
    building, proxy = proxied()
    page = open_page(f"{proxy.url}#/room/{ROOM}", locale="de-DE")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("#connection-text")).to_have_text("live")
    page.locator("#head-count").fill("4")
    page.get_by_role("button", name="Speichern").click()
    expect(page.locator(".labels li").first).to_contain_text("4 Personen")
    take_picture(page, "prefix-german")
    page.locator("#language").select_option("en")  # loads the page again
    expect(page.locator(".labels li").first).to_contain_text("4 people")
    assert [label.people for label in building.store.labels(ROOM)][-1] == 4
    assert proxy.outside == []


def test_model_is_downloaded_below_a_prefix(proxied, open_page):
    building, proxy = proxied()
    page = open_page(f"{proxy.url}#/room/{ROOM}")
    with page.expect_download() as download:
        page.locator(".models a[download]").first.click()
    assert Path(download.value.path()).read_bytes() == building.store.active_model(ROOM)[1]


def test_plan_and_exports_below_a_prefix(proxied, open_page):
    building, proxy = proxied()
    building.store.set_plan("Ground floor", DRAWING, media_type="image/svg+xml", width=4, height=3)
    building.store.set_place(ROOM, Place(0.5, 0.5))
    page = open_page(f"{proxy.url}#/floor")
    expect(page.locator(".marker-count")).to_have_text(str(building.state(ROOM).people))
    image = page.locator(".plan-image")
    wait_for(lambda: image.evaluate("one => one.naturalWidth") > 0)  # its policy forbids wait_for_function
    for view in ("today", f"room/{ROOM}/week"):
        page.goto(f"{proxy.url}#/{view}")
        with page.expect_download() as download:
            page.get_by_role("link", name="Export CSV").click()
        assert Path(download.value.path()).read_text(encoding="utf-8-sig").startswith("room,name,floor,")
    assert proxy.outside == []


def test_page_cannot_be_framed_without_ingress(proxied, open_page):
    _, proxy = proxied(tokens=True, ingress=None)
    page = open_page(f"{proxy.address}/", known=["frame-ancestors", "X-Frame-Options"])
    assert page.frames[-1].url.startswith("chrome-error://")


def test_login_below_a_prefix_keeps_its_cookie_there(proxied, open_page):
    _, proxy = proxied(tokens=True, prefix="/rooms/occupair", ingress=None)
    page = open_page(proxy.url, known=["status of 401"])
    page.get_by_label("Access token").fill(TOKENS["write"])
    page.keyboard.press("Enter")
    expect(page.locator("#connection-text")).to_have_text("live")
    (cookie,) = page.context.cookies()
    assert (cookie["path"], cookie["httpOnly"]) == ("/rooms/occupair/", True)
    page.reload()
    expect(page.locator("#found")).to_have_text("24 rooms")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Access token")).to_be_visible()
    assert page.context.cookies() == []
    assert proxy.outside == []
