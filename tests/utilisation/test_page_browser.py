"""The page of a report in Chromium: charts, table, details, phone and print."""

import re

import pytest
from browser import PHONE
from playwright.sync_api import expect
from utilisation.sample_rooms import OPEN, sample_meetings, sample_room, sample_rooms

from occupair.utilisation.report_page import write_report


@pytest.fixture(scope="module")
def rooms():
    return sample_rooms()


@pytest.fixture
def open_report(open_page, tmp_path):
    """Open the page of some rooms with a fragment."""

    def open_report(rooms, fragment="", **settings):
        path = tmp_path / "report.html"
        write_report(rooms, path, opening=OPEN, method="By hand.", show_titles=True)
        page = open_page(path.as_uri(), **settings)
        if fragment:
            page.goto("about:blank")
            page.goto(path.as_uri() + fragment)
        return page

    return open_report


def names(page):
    return page.locator("#body th.name").all_inner_texts()


def test_one_room_is_shown_without_a_table(open_report):
    page = open_report([sample_room(stuck=(1,), meetings=sample_meetings())])
    expect(page.locator("h1")).to_have_text("lab: in use for 8.0 h per open day, 24 % of its seats used.")
    expect(page.locator("#rooms")).to_be_hidden()
    cell = page.locator("#room .heat td[data-cell='9']")
    expect(cell).to_have_text("6.0")
    page.get_by_role("button", name="Seats used").click()
    expect(cell).to_have_text("30")
    page.get_by_role("button", name="Upper end").click()
    expect(cell).to_have_text("36")
    cell.hover()
    texts = ["Mon 9:00–10:00", "36 % of the seats", "interval 24 %–36 %", "mean of 4 h"]
    assert page.locator("#tip").inner_text().replace("\xa0", " ").split("\n") == texts
    expect(page.locator("#room .chart .bad")).to_have_count(2)  # in both charts of days
    expect(page.get_by_text("Left out, sensor stuck: 5 Mar.")).to_be_visible()
    expect(page.locator("#room .list").last.locator("tbody tr")).to_have_count(4)  # nobody came at 19:00
    page.get_by_role("button", name="All meetings").click()
    expect(page.locator("#room .list").last.locator("tbody tr")).to_have_count(8)


def test_table_sorts_filters_and_searches(open_report, rooms):
    page = open_report(rooms)
    expect(page.locator("#found")).to_have_text("30 rooms")
    heading = page.locator("#table thead th", has_text="Never used")
    expect(heading).to_have_attribute("aria-sort", "descending")
    unused = {room.room.label: room.seats.least for room in rooms if room.seats}
    shown = names(page)
    assert [unused[name] for name in shown if name in unused] == sorted(unused.values(), reverse=True)[
        : len(shown)
    ]
    page.select_option("#floor", "South")
    expect(page.locator("#found")).to_have_text("10 of 30 rooms")
    page.fill("#query", "room 1")
    expect(page.locator("#found")).to_have_text("5 of 30 rooms")  # 1, 10, 13, 16 and 19
    page.get_by_role("button", name="Room", exact=True).click()
    assert names(page) == ["Room 1", "Room 10", "Room 13", "Room 16", "Room 19"]
    page.click("#clear")
    expect(page.locator("#found")).to_have_text("30 rooms")


def test_finding_filters_the_table(open_report, rooms):
    page = open_report(rooms)
    page.get_by_role("button", name="in the table").first.click()
    expect(page).to_have_url(re.compile("#finding=large$"))
    expect(page.locator("#finding")).to_have_value("large")


def test_keyboard_opens_and_closes_a_room(open_report, rooms):
    page = open_report(rooms, "#sort=room")
    page.locator("#table").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-room")).to_have_text("Room 2")
    expect(page.locator("#panel-room")).to_be_focused()
    expect(page.locator("#panel .heat td")).to_have_count(168)
    expect(page).to_have_url(re.compile(r"#sort=room&room=Room\+2$"))
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#table")).to_be_focused()


def test_room_without_figures_says_why(open_report, rooms):
    page = open_report(rooms, "#room=Room+%3Cb%3Elast%3C%2Fb%3E")
    expect(page.locator("#panel-room")).to_have_text("Room <b>last</b>")
    expect(page.locator("#panel")).to_contain_text("No figures: the room has no model")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_has_no_horizontal_scrolling(open_report, rooms, scheme):
    page = open_report(rooms, "#room=Room+5", **PHONE, color_scheme=scheme)
    expect(page.locator("#panel")).to_be_visible()
    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(width) == 0
    assert (
        page.evaluate("(panel => panel.scrollWidth - panel.clientWidth)(document.getElementById('panel'))")
        == 0
    )


def test_print_shows_all_rooms_or_the_open_one(open_report, rooms):
    page = open_report(rooms)
    page.emulate_media(media="print")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#table")).to_be_visible()
    page.emulate_media(media="screen")
    page.locator("#body tr").first.click()
    page.emulate_media(media="print")
    expect(page.locator("#panel .heat").first).to_be_visible()
    expect(page.locator("#table")).to_be_hidden()


def test_export_holds_the_filtered_rooms(open_report, rooms):
    page = open_report(rooms, "#sort=room&q=room+2")
    with page.expect_download() as download:
        page.click("#export")
    lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("room,floor,problem,seats,used,")
    expected = ["Room 2", "Room 12", *(f"Room 2{k}" for k in range(10))]
    assert [line.split(",")[0] for line in lines[1:]] == expected
