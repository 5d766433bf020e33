"""The counting page in a real browser, by keyboard alone: counted, killed and resumed, undone, deleted."""

import json
import re
from contextlib import ExitStack

import pytest
from browser import PHONE
from groundtruth.counting_folder import make_folder, served, served_here
from playwright.sync_api import expect

from occupair.groundtruth.counting.counts import read_counts
from occupair.groundtruth.counting.server import STATIC
from occupair.groundtruth.video import contact_sheets as sheets

MINUTES = [("north", "08:31"), ("south", "08:31"), ("north", "09:02"), ("south", "10:15"), ("north", "11:40")]
PLACES = ["north08:31", "south08:31", "north09:02", "south10:15", "north11:40"]


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "events", MINUTES)


@pytest.fixture
def run():
    """Serve folders until the test is over; gives the address."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(served_here(folder))


@pytest.fixture
def look(open_page):
    """Open pages, and wait until they show the day."""

    def look(url, **settings):
        page = open_page(url, **settings)
        expect(page.locator("#day")).to_be_visible()
        return page

    return look


def is_at(page, number):
    door, time = PLACES[number][:-5], PLACES[number][-5:]
    expect(page.locator("#look h1")).to_have_text(re.compile(rf"{door}\s+{time}"))


def says(page, entered, left, state=None):
    expect(page.locator("#entered")).to_have_text(str(entered))
    expect(page.locator("#left")).to_have_text(str(left))
    if state is not None:
        expect(page.locator("#state")).to_have_text(state)


def kept(folder):
    return [(count.entered, count.left, count.state) for count in read_counts(folder)]


def picture_is_shown(page):
    image = page.locator("#sheet img")
    expect(image).to_be_visible()
    expect(image).to_have_js_property("naturalWidth", 960)


def test_a_whole_folder_is_counted_by_keyboard_alone(look, run, folder):
    page = look(run(folder))
    is_at(page, 0)
    picture_is_shown(page)
    expect(page.locator("#date")).to_have_text("Mon, 8 Jan 2024")
    expect(page.locator("#done")).to_have_text("0 of 5")
    says(page, 0, 0, "not counted yet")
    for key in ("i", "ArrowUp", "ArrowUp", "Shift+ArrowUp", "o", "ArrowDown", "ArrowDown", "Shift+ArrowDown"):
        page.keyboard.press(key)
    says(page, 2, 2, "not decided yet")
    page.keyboard.press("Shift+I")
    page.keyboard.press("i")
    page.keyboard.press("i")
    page.keyboard.press("Shift+O")
    says(page, 3, 1)
    page.keyboard.press("Enter")
    is_at(page, 1)
    picture_is_shown(page)
    says(page, 0, 0, "not counted yet")
    page.keyboard.press("o")
    page.keyboard.press("u")
    is_at(page, 2)
    page.keyboard.press("i")  # and then not after all
    page.keyboard.press("s")
    is_at(page, 3)
    page.keyboard.press("o")
    page.keyboard.press("0")
    is_at(page, 4)
    expect(page.locator("#done")).to_have_text("4 of 5")
    expect(page.locator("#time-left")).to_have_text(re.compile("left$"))
    page.keyboard.press("o")
    page.keyboard.press("Enter")
    expect(page.locator("#end h1")).to_have_text("All 5 minutes are done")
    expect(page.locator("#end-tally")).to_contain_text(re.compile(r"entered\s*3\s*left\s*3"))
    expect(page.locator("#end-command")).to_have_text(
        f"occupair groundtruth occupancy {folder} --readings room.csv --out labelled.csv"
    )
    assert kept(folder) == [
        (3, 1, "counted"), (0, 1, "unsure"), (0, 0, "skipped"), (0, 0, "counted"), (0, 1, "counted"),
    ]  # fmt: skip
    page.keyboard.press("r")  # what was doubtful, once more
    is_at(page, 1)
    page.keyboard.press("Enter")
    page.keyboard.press("r")
    is_at(page, 2)


def test_every_key_is_on_the_disk_when_the_page_shows_it(look, run, folder):
    page = look(run(folder))
    for entered in (1, 2, 3):
        page.keyboard.press("i")
        says(page, entered, 0)
        begun = json.loads((folder / "counts.json").read_text())["counting"]["begun"]
        assert [row["entered"] for row in begun] == [entered]
    assert kept(folder) == []
    page.keyboard.press("Enter")
    is_at(page, 1)
    assert kept(folder) == [(3, 0, "counted")]


def test_undo_goes_back_key_by_key_also_across_minutes(look, run, folder):
    page = look(run(folder))
    expect(page.locator("#undo")).to_be_disabled()
    page.keyboard.press("z")
    expect(page.locator(".toast")).to_contain_text("There is nothing to undo.")
    page.keyboard.press("i")
    page.keyboard.press("i")
    page.keyboard.press("Enter")
    is_at(page, 1)
    page.keyboard.press("s")
    is_at(page, 2)
    page.keyboard.press("Backspace")
    is_at(page, 1)
    says(page, 0, 0, "not counted yet")
    page.keyboard.press("z")
    is_at(page, 0)
    says(page, 2, 0, "not decided yet")
    assert kept(folder) == []
    page.keyboard.press("z")
    says(page, 1, 0)
    page.keyboard.press("z")
    says(page, 0, 0, "not counted yet")


def test_minutes_are_looked_through_and_put_right_in_place(look, run, folder):
    page = look(run(folder))
    page.keyboard.press("0")
    is_at(page, 1)
    for key, place in (("n", 2), ("]", 3), ("ArrowRight", 4), ("n", 4), ("p", 3), ("[", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        is_at(page, place)
    page.keyboard.press("p")
    is_at(page, 0)
    says(page, 0, 0, "counted")
    page.keyboard.press("i")
    says(page, 1, 0, "counted")
    assert kept(folder) == [(1, 0, "counted")]
    page.keyboard.press("Enter")
    is_at(page, 1)


def test_one_door_at_a_time_is_a_switch_that_is_kept(look, run, folder):
    page = look(run(folder))
    page.locator("input[value=time]").focus()
    page.keyboard.press("ArrowRight")  # a radio's own key
    expect(page.locator("input[value=door]")).to_be_checked()
    expect(page.locator("#kept")).to_have_attribute("data-state", "kept")
    for place in (2, 4, 1, 3):
        page.keyboard.press("0")
        is_at(page, place)
    page.reload()
    is_at(page, 3)
    expect(page.locator("input[value=door]")).to_be_checked()


def test_a_killed_program_is_waited_for_and_nothing_is_lost(look, folder):
    with ExitStack() as stack:
        process, url = stack.enter_context(served(folder))
        page = look(url, known=["net::ERR"])
        count_a_little(page)
        process.kill()
        process.wait()
        page.keyboard.press("o")
        expect(page.locator("#banner")).to_contain_text("your last key may not be saved")
        expect(page.locator("#kept-word")).to_have_text("not saved")
        page.keyboard.press("o")  # nobody is there: not kept for later
        assert kept(folder) == [(1, 0, "counted")]
        stack.enter_context(served(folder, int(url.split(":")[2].strip("/"))))
        expect(page.locator("#banner")).to_be_hidden()
        is_at(page, 1)
        says(page, 0, 1, "not decided yet")
        page.keyboard.press("Enter")
        is_at(page, 2)
        assert kept(folder) == [(1, 0, "counted"), (0, 1, "counted")]
        again = look(url)  # another day
        is_at(again, 2)
        expect(again.locator("#done")).to_have_text("2 of 5")


def count_a_little(page):
    page.keyboard.press("i")
    page.keyboard.press("Enter")
    is_at(page, 1)
    page.keyboard.press("o")
    says(page, 0, 1)


def test_another_window_is_noticed(look, run, folder):
    url = run(folder)
    first, second = look(url), look(url, known=["status of 409"])
    first.keyboard.press("i")
    says(first, 1, 0)
    second.keyboard.press("0")
    expect(second.locator(".toast")).to_contain_text("The counts were changed in another window")
    says(second, 1, 0)
    assert kept(folder) == []


def test_a_key_that_is_held_down_counts_one_minute(look, run, folder):
    page = look(run(folder))
    for _ in range(4):
        page.keyboard.down("Enter")  # the second and further are repeats
    is_at(page, 1)
    page.keyboard.up("Enter")
    page.keyboard.press("Control+s")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("i")
    says(page, 1, 0)
    assert kept(folder) == [(0, 0, "counted")]


def test_below_nobody_is_warned_of_with_its_time(look, run, folder):
    page = look(run(folder))
    warning = page.locator("#warning")
    expect(warning).to_be_hidden()
    page.keyboard.press("i")
    expect(page.locator("#day-now")).to_have_text("1 after 08:31")
    page.keyboard.press("Enter")
    is_at(page, 1)
    page.keyboard.press("o")
    page.keyboard.press("o")
    expect(page.locator("#day-now")).to_have_text("−1 after 08:31")
    expect(warning).to_have_text("−1 at 08:31 so far: 1 minute until then is not counted yet.")
    page.keyboard.press("Enter")
    is_at(page, 2)
    expect(warning).to_contain_text("−1 at 08:31: more people left than had entered.")
    expect(page.locator("#chart svg")).to_have_attribute("aria-label", re.compile("lowest −1"))
    expect(page.locator("#warning-go")).to_have_text("Go to 08:31")
    page.locator("#warning-go").focus()
    page.keyboard.press("Enter")  # the button's, not "counted"
    is_at(page, 0)
    page.keyboard.press("i")
    expect(warning).to_be_hidden()
    assert kept(folder) == [(2, 0, "counted"), (0, 2, "counted")]


def test_a_picture_is_deleted_after_its_minute_is_counted(look, run, folder):
    page = look(run(folder))
    expect(page.locator("#kept-say")).to_contain_text(
        "5 pictures, and counts.json with doors, minutes and numbers"
    )
    expect(page.locator("#kept-say")).to_contain_text(
        "Nothing leaves this machine, and no other can open this page"
    )
    page.keyboard.press("d")
    expect(page.locator("#marked")).to_be_visible()
    page.keyboard.press("i")
    page.keyboard.press("Enter")
    is_at(page, 1)
    expect(page.locator("#marked")).to_be_hidden()
    page.keyboard.press("0")
    is_at(page, 2)
    expect(page.locator("#kept-say")).to_contain_text("4 pictures")
    assert not (folder / "north/20240108T083100.jpg").exists()
    page.keyboard.press("p")
    is_at(page, 1)
    page.keyboard.press("d")  # counted already: asks
    expect(page.locator("#confirm")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#confirm")).to_be_hidden()
    picture_is_shown(page)
    page.keyboard.press("d")
    expect(page.locator("#confirm")).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator("#sheet")).to_contain_text("The picture was deleted")
    assert not (folder / "south/20240108T083100.jpg").exists()
    assert kept(folder) == [(1, 0, "counted"), (0, 0, "counted")]


def test_pictures_are_deleted_as_they_are_counted_if_one_wishes(look, run, folder):
    page = look(run(folder))
    expect(page.locator("#deletes")).not_to_be_checked()
    page.keyboard.press("0")
    is_at(page, 1)
    page.locator("#deletes").focus()
    page.keyboard.press("Space")
    expect(page.locator("#confirm-text")).to_contain_text("The pictures of 1 minute that you have counted")
    page.keyboard.press("Escape")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(page.locator("#deletes")).not_to_be_checked()
    page.keyboard.press("Space")
    expect(page.locator("#confirm")).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator("#deletes")).to_be_checked()
    expect(page.locator("#kept-say")).to_contain_text("those of unsure and skipped minutes stay")
    for key, place in (("0", 2), ("u", 3), ("0", 4)):
        page.keyboard.press(key)
        is_at(page, place)
    page.keyboard.press("z")
    is_at(page, 3)
    picture_is_shown(page)  # the last one is still there to be undone
    for key in ("0", "0"):
        page.keyboard.press(key)
        expect(page.locator("#kept")).to_have_attribute("data-state", "kept")
    expect(page.locator("#end")).to_be_visible()
    assert [path.name for path in folder.rglob("*.jpg")] == ["20240108T090200.jpg"]  # the unsure one


def test_a_missing_sheet_is_said_and_can_be_skipped(look, run, folder):
    (folder / "north/20240108T083100.jpg").unlink()
    page = look(run(folder))
    expect(page.locator("#sheet")).to_contain_text("There is no picture of this minute")
    page.keyboard.press("s")
    is_at(page, 1)
    picture_is_shown(page)


def test_a_broken_sheet_is_said(look, run, folder):
    (folder / "north/20240108T083100.jpg").write_bytes(b"no picture at all")
    page = look(run(folder))
    expect(page.locator("#sheet")).to_contain_text("There is no picture of this minute")


def test_names_of_doors_are_text(look, run, tmp_path):
    name = "<img src=x onerror=alert(1)>"
    page = look(run(make_folder(tmp_path / "events", [(name, "08:31")])))
    expect(page.locator("#door")).to_have_text(name)
    expect(page.locator("#order-choice")).to_be_hidden()  # one door: nothing to choose


def test_the_keys_are_listed_and_the_list_closes(look, run, folder):
    page = look(run(folder))
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("s")  # not while it is open
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_hidden()
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    expect(page.locator("#shortcuts")).to_be_hidden()
    is_at(page, 0)


# ---- a minute that the scan missed -------------------------------------------------------------------------


def test_a_missing_minute_is_added_and_counted_by_keyboard_alone(look, run, folder):
    page = look(run(folder))
    page.keyboard.press("0")
    is_at(page, 1)
    add(page, "9:47")
    expect(page.locator("#look h1")).to_have_text(re.compile(r"south\s+09:47"))
    expect(page.locator("#done")).to_have_text("1 of 6")
    expect(page.locator("#sheet")).to_contain_text("There is no picture of this minute")
    expect(page.locator("#sheet")).to_contain_text("Look at it in video.mp4 from 1:47:00 on")  # since 08:00
    expect(page.locator("#border")).to_be_hidden()
    for key in ("i", "i", "o", "Enter"):
        page.keyboard.press(key)
    is_at(page, 3)  # the next that is open, with its own picture
    picture_is_shown(page)
    expect(page.locator("#sheet img")).to_have_attribute("src", re.compile("door=south&minute=2024-01-08T10"))
    assert [
        (count.door, f"{count.minute:%H:%M}", count.entered, count.left) for count in read_counts(folder)
    ] == [
        ("north", "08:31", 0, 0),
        ("south", "09:47", 2, 1),
    ]
    for _ in range(5):  # Enter, o, i, i, and the minute itself
        page.keyboard.press("z")
        expect(page.locator("#kept")).to_have_attribute("data-state", "kept")
    is_at(page, 3)
    expect(page.locator("#done")).to_have_text("1 of 5")
    assert kept(folder) == [(0, 0, "counted")]


def add(page, time, **chosen):
    page.keyboard.press("a")
    expect(page.locator("#add-time")).to_be_focused()
    for name, value in chosen.items():
        page.locator(f"#add-{name}").select_option(value)
    page.locator("#add-time").focus()
    page.keyboard.type(time)
    page.keyboard.press("Enter")
    expect(page.locator("#kept")).to_have_attribute("data-state", "kept")


def test_an_added_minute_is_there_after_a_kill(look, folder):
    with ExitStack() as stack:
        process, url = stack.enter_context(served(folder))
        page = look(url, known=["net::ERR"])
        add(page, "0930", door="south")
        expect(page.locator("#look h1")).to_have_text(re.compile(r"south\s+09:30"))
        page.keyboard.press("o")
        says(page, 0, 1, "not decided yet")
        process.kill()
        process.wait()
        stack.enter_context(served(folder, int(url.split(":")[2].strip("/"))))
        again = look(url)
        expect(again.locator("#look h1")).to_have_text(re.compile(r"south\s+09:30"))
        says(again, 0, 1, "not decided yet")
        again.keyboard.press("Enter")
        expect(again.locator("#done")).to_have_text("1 of 6")
        assert kept(folder) == [(0, 1, "counted")]


def test_what_is_no_time_is_said_and_what_is_there_is_gone_to(look, run, folder):
    page = look(run(folder))
    page.keyboard.press("a")
    expect(page.locator("#add-day")).to_be_hidden()  # one day: nothing to choose
    for wrong in ("25:00", "8:61", "noon", ""):
        page.locator("#add-time").fill(wrong)
        page.keyboard.press("Enter")
        expect(page.locator("#add-wrong")).to_have_text("Give the time as hours and minutes, such as 08:47.")
    page.keyboard.press("Escape")
    expect(page.locator("#add")).to_be_hidden()
    assert not (folder / "counts.json").exists()
    add(page, "10.15", door="south")
    is_at(page, 3)
    expect(page.locator(".toast")).to_contain_text("south 10:15 is in the list already.")
    expect(page.locator("#done")).to_have_text("0 of 5")


def test_a_minute_is_added_also_when_all_are_done(look, run, folder):
    page = look(run(folder))
    for number in range(5):
        is_at(page, number)
        page.keyboard.press("0")
    expect(page.locator("#end")).to_be_visible()
    add(page, "17:05", door="south")
    page.keyboard.press("o")
    says(page, 0, 1)
    page.keyboard.press("Enter")
    expect(page.locator("#end h1")).to_have_text("All 6 minutes are done")


def test_which_minute_a_passage_at_its_border_is_of_is_said_in_the_colours_of_the_stamps(look, run, folder):
    page = look(run(folder))
    expect(page.locator("#border")).to_have_text(
        "Count a person here if the picture in which they step through the door has a blue or green time. "
        "If it is red, they are counted in the minute before or after."
    )
    shown = {name: page.locator(f".stamp.{name}").evaluate(COLOUR) for name in ("blue", "green", "red")}
    drawn = {"blue": sheets._TINTS[0], "green": sheets._TINTS[1], "red": sheets._OUTSIDE}
    assert shown == {name: "rgb({2}, {1}, {0})".format(*bgr) for name, bgr in drawn.items()}


COLOUR = "node => getComputedStyle(node).backgroundColor"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_counts_with_big_buttons(look, run, folder, theme):
    page = look(run(folder), color_scheme=theme, **PHONE)
    for name in ("entered-more", "entered-more", "left-more", "entered-less"):
        page.locator(f"[data-do={name}]").tap()
    says(page, 1, 1)
    for button in page.locator("#hands button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert box["y"] + box["height"] <= PHONE["viewport"]["height"]  # all of them without scrolling
    page.locator("#counted").tap()
    is_at(page, 1)
    page.locator("[data-do=unsure]").tap()
    is_at(page, 2)
    page.locator("[data-do=undo]").tap()
    is_at(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]


def test_a_mouse_does_not_take_enter_away(look, run, folder):
    page = look(run(folder))
    page.locator("[data-do=entered-more]").click()
    says(page, 1, 0)
    page.keyboard.press("Enter")
    is_at(page, 1)
    assert kept(folder) == [(1, 0, "counted")]


def test_nothing_is_loaded_from_elsewhere():
    for path in STATIC.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text, path
