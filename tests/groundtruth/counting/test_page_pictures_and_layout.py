"""Pictures on the counting page in a real browser, and its layout, languages and addresses."""

import re

import numpy as np
import pytest
from browser import PHONE
from groundtruth.counting.page_helpers import expect_counts, expect_minute, expect_picture, stored_counts
from groundtruth.counting_folder import make_folder
from playwright.sync_api import expect
from prefix_proxy import prefix_proxy

from occupair.groundtruth.counting.server import STATIC
from occupair.groundtruth.video import contact_sheets as sheets

# ---- size of the picture -----------------------------------------------------------------------------------


SHOWN_HEIGHT = """image => {
    const box = image.getBoundingClientRect();
    return Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight) * image.naturalHeight;
}"""
SCROLLED = """sheet => new Promise(resolve => {
    if (sheet.scrollTop > 0) resolve();
    else sheet.addEventListener("scroll", () => resolve(), { once: true });
})"""


@pytest.mark.parametrize("count", [4, 8, 24])
def test_contact_sheet_fills_the_space(open_counting, run, tmp_path, count):
    folder = make_folder(tmp_path / "events", [("north", "08:31")])
    columns = sheets.best_columns(count, 9 / 16)
    tile, rows = sheets.SHEET_WIDTH // columns, -(-count // columns)
    picture = np.full((rows * (tile * 9 // 16 + 26) + 30, sheets.SHEET_WIDTH, 3), 90, np.uint8)
    sheets.write_sheet(folder / "north/20240108T083100.jpg", picture)
    page = open_counting(run(folder))
    image = page.locator("#sheet img")
    expect(image).to_have_js_property("naturalWidth", sheets.SHEET_WIDTH)
    assert image.evaluate(SHOWN_HEIGHT) > 0.6 * page.viewport_size["height"]


def test_picture_is_enlarged_by_key_and_by_click(open_counting, run, folder):
    page = open_counting(run(folder))
    expect_picture(page)
    large = page.locator("#enlarged")
    shown = page.locator("#sheet img").evaluate(SHOWN_HEIGHT)
    page.keyboard.press("f")
    expect(large.locator("img")).to_be_visible()
    assert large.locator("img").evaluate(SHOWN_HEIGHT) > 1.3 * shown
    page.keyboard.press("Escape")
    expect(large).to_be_hidden()
    expect_picture(page)
    page.locator("#enlarge").click()
    expect(large).to_be_visible()
    large.locator("img").click()
    expect(large).to_be_hidden()
    page.locator("#enlarge").focus()
    page.keyboard.press("Enter")  # opens the picture, does not count
    expect(large).to_be_visible()
    page.locator("#enlarged-close").click()
    expect(large).to_be_hidden()
    expect_minute(page, 0)
    assert stored_counts(folder) == []


def test_minutes_are_counted_in_the_enlarged_picture(open_counting, run, folder):
    (folder / "north/20240108T090200.jpg").unlink()
    page = open_counting(run(folder), viewport={"width": 1000, "height": 500})
    page.keyboard.press("f")
    for key in ("i", "i", "o"):
        page.keyboard.press(key)
    expect(page.locator("#enlarged-counts")).to_have_text("2 entered, 1 left")
    page.keyboard.press("ArrowDown")  # scrolls, does not count
    page.locator("#enlarged-sheet").evaluate(SCROLLED)
    page.keyboard.press("Enter")
    expect(page.locator("#enlarged-title")).to_have_text(re.compile(r"south\s+08:31"))
    expect(page.locator("#enlarged img")).to_have_attribute("src", re.compile("door=south"))
    page.keyboard.press("0")
    expect(page.locator("#enlarged")).to_be_hidden()  # the next minute has no picture
    expect_minute(page, 2)
    assert stored_counts(folder) == [(2, 1, "counted"), (0, 0, "counted")]


def test_enlarged_picture_has_full_size_on_a_phone(open_counting, run, folder):
    page = open_counting(run(folder), **PHONE)
    page.locator("#enlarge").tap()
    image = page.locator("#enlarged img")
    expect(image).to_be_visible()
    assert image.bounding_box()["width"] == 960  # as in its file
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]


# ---- deleted and missing pictures --------------------------------------------------------------------------


def test_picture_is_deleted_after_its_minute_is_counted(open_counting, run, folder):
    page = open_counting(run(folder))
    expect(page.locator("#storage-note")).to_contain_text(
        "5 pictures, and counts.json with doors, minutes and counts"
    )
    expect(page.locator("#storage-note")).to_contain_text(
        "No data leave this machine, and no other machine can open this page"
    )
    page.keyboard.press("d")
    expect(page.locator("#marked")).to_be_visible()
    page.keyboard.press("i")
    page.keyboard.press("Enter")
    expect_minute(page, 1)
    expect(page.locator("#marked")).to_be_hidden()
    page.keyboard.press("0")
    expect_minute(page, 2)
    expect(page.locator("#storage-note")).to_contain_text("4 pictures")
    assert not (folder / "north/20240108T083100.jpg").exists()
    page.keyboard.press("p")
    expect_minute(page, 1)
    page.keyboard.press("d")  # already counted: asks for confirmation
    expect(page.locator("#confirm")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#confirm")).to_be_hidden()
    expect_picture(page)
    page.keyboard.press("d")
    expect(page.locator("#confirm")).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator("#sheet")).to_contain_text("The picture was deleted")
    assert not (folder / "south/20240108T083100.jpg").exists()
    assert stored_counts(folder) == [(1, 0, "counted"), (0, 0, "counted")]


def test_pictures_are_deleted_once_counted_if_enabled(open_counting, run, folder):
    page = open_counting(run(folder))
    expect(page.locator("#deletes")).not_to_be_checked()
    page.keyboard.press("0")
    expect_minute(page, 1)
    page.locator("#deletes").focus()
    page.keyboard.press("Space")
    expect(page.locator("#confirm-text")).to_contain_text("The picture of 1 minute that is already counted")
    page.keyboard.press("Escape")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(page.locator("#deletes")).not_to_be_checked()
    page.keyboard.press("Space")
    expect(page.locator("#confirm")).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator("#deletes")).to_be_checked()
    expect(page.locator("#storage-note")).to_contain_text("pictures of unsure and skipped minutes are kept")
    for key, place in (("0", 2), ("u", 3), ("0", 4)):
        page.keyboard.press(key)
        expect_minute(page, place)
    page.keyboard.press("z")
    expect_minute(page, 3)
    expect_picture(page)  # the last one can be undone
    for key in ("0", "0"):
        page.keyboard.press(key)
        expect(page.locator("#save-state")).to_have_attribute("data-state", "saved")
    expect(page.locator("#end")).to_be_visible()
    assert [path.name for path in folder.rglob("*.jpg")] == ["20240108T090200.jpg"]  # the unsure one


def test_missing_picture_is_reported_and_can_be_skipped(open_counting, run, folder):
    (folder / "north/20240108T083100.jpg").unlink()
    page = open_counting(run(folder))
    expect(page.locator("#sheet")).to_contain_text("No picture of this minute")
    page.keyboard.press("s")
    expect_minute(page, 1)
    expect_picture(page)


def test_corrupt_picture_is_reported(open_counting, run, folder):
    (folder / "north/20240108T083100.jpg").write_bytes(b"no picture at all")
    page = open_counting(run(folder))
    expect(page.locator("#sheet")).to_contain_text("No picture of this minute")


# ---- layout and addresses ----------------------------------------------------------------------------------


def test_door_names_are_not_parsed_as_html(open_counting, run, tmp_path):
    name = "<img src=x onerror=alert(1)>"
    page = open_counting(run(make_folder(tmp_path / "events", [(name, "08:31")])))
    expect(page.locator("#door")).to_have_text(name)
    expect(page.locator("#order-choice")).to_be_hidden()  # only one door


def test_note_on_time_stamps_uses_their_colours(open_counting, run, folder):
    page = open_counting(run(folder))
    expect(page.locator("#stamp-note")).to_have_text(
        "Count a person here if the picture in which they step through the door has a blue or green time "
        "stamp. With a red time stamp, they belong to the minute before or after."
    )
    shown = {name: page.locator(f".stamp.{name}").evaluate(COLOUR) for name in ("blue", "green", "red")}
    blue, green = sheets._RUN_COLOURS
    drawn = {"blue": blue, "green": green, "red": sheets._OUTSIDE_COLOUR}
    assert shown == {name: "rgb({2}, {1}, {0})".format(*bgr) for name, bgr in drawn.items()}


COLOUR = "node => getComputedStyle(node).backgroundColor"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_touch_targets_on_a_phone(open_counting, run, folder, theme):
    page = open_counting(run(folder), color_scheme=theme, **PHONE)
    for name in ("entered-more", "entered-more", "left-more", "entered-less"):
        page.locator(f"[data-do={name}]").tap()
    expect_counts(page, 1, 1)
    for button in page.locator("#controls button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert box["y"] + box["height"] <= PHONE["viewport"]["height"]  # visible without scrolling
    page.locator("#counted").tap()
    expect_minute(page, 1)
    page.locator("[data-do=unsure]").tap()
    expect_minute(page, 2)
    page.locator("[data-do=undo]").tap()
    expect_minute(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]


def test_page_has_no_external_urls():
    for path in (path for path in STATIC.rglob("*") if path.is_file()):
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, path
        assert "https://" not in text, path


def test_page_works_below_a_path_prefix(run, folder, open_counting):
    with prefix_proxy(run(folder), prefix="/count/doors", ingress=False) as proxy:
        page = open_counting(proxy.url, locale="de-DE")
        expect_minute(page, 0)
        expect_picture(page)
        page.keyboard.press("i")
        page.keyboard.press("Enter")
        expect_minute(page, 1)
        assert stored_counts(folder)[0] == (1, 0, "counted")
        page.reload()
        expect(page.locator("#done")).to_have_text("1 von 5")
        assert proxy.outside == []


# ---- languages ---------------------------------------------------------------------------------------------


def test_page_is_german_and_the_switch_is_remembered(open_counting, run, folder):
    page = open_counting(run(folder), locale="de-DE")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("#done")).to_have_text("0 von 5")
    expect(page.locator("#state")).to_have_text("noch nicht gezählt")
    expect(page.locator("#date")).to_have_text("Mo., 8. Jan. 2024")
    page.keyboard.press("i")
    expect(page.locator("#counted-text")).to_have_text("Gezählt, weiter")
    page.locator("#language").select_option("en")
    expect(page.locator("#counted-text")).to_have_text("Counted, next")
    page.reload()
    expect(page.locator("#done")).to_have_text("0 of 5")


def test_german_page_fits_on_a_phone(open_counting, run, folder):
    page = open_counting(run(folder), locale="de-DE", **PHONE)
    for button in page.locator("#controls button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    overflowing = "node => node.scrollWidth > node.clientWidth + 1"
    for button in page.locator("#controls .button").all():
        assert not button.evaluate(overflowing), button.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]
