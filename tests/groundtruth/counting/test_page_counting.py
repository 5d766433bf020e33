"""Counting on the page in a real browser: keys, undo, restart, other windows, added minutes."""

import json
import re
from contextlib import ExitStack

from groundtruth.counting.page_helpers import expect_counts, expect_minute, expect_picture, stored_counts
from groundtruth.counting_folder import make_folder, served
from playwright.sync_api import expect

from occupair.groundtruth.counting.counts import read_counts


def test_folder_is_counted_by_keyboard(open_counting, run, folder):
    page = open_counting(run(folder))
    expect_minute(page, 0)
    expect_picture(page)
    expect(page.locator("#date")).to_have_text("Mon, 8 Jan 2024")
    expect(page.locator("#done")).to_have_text("0 of 5")
    expect_counts(page, 0, 0, "not counted yet")
    for key in ("i", "ArrowUp", "ArrowUp", "Shift+ArrowUp", "o", "ArrowDown", "ArrowDown", "Shift+ArrowDown"):
        page.keyboard.press(key)
    expect_counts(page, 2, 2, "not confirmed yet")
    page.keyboard.press("Shift+I")
    page.keyboard.press("i")
    page.keyboard.press("i")
    page.keyboard.press("Shift+O")
    expect_counts(page, 3, 1)
    page.keyboard.press("Enter")
    expect_minute(page, 1)
    expect_picture(page)
    expect_counts(page, 0, 0, "not counted yet")
    page.keyboard.press("o")
    page.keyboard.press("u")
    expect_minute(page, 2)
    page.keyboard.press("i")  # reverted by skipping
    page.keyboard.press("s")
    expect_minute(page, 3)
    page.keyboard.press("o")
    page.keyboard.press("0")
    expect_minute(page, 4)
    expect(page.locator("#done")).to_have_text("4 of 5")
    expect(page.locator("#time-left")).to_have_text(re.compile("left$"))
    page.keyboard.press("o")
    page.keyboard.press("Enter")
    expect(page.locator("#end h1")).to_have_text("All done: 5 minutes")
    expect(page.locator("#end-tally")).to_contain_text(re.compile(r"entered\s*3\s*left\s*3"))
    expect(page.locator("#end-command")).to_have_text(
        f"occupair groundtruth occupancy {folder} --readings room.csv --out labelled.csv"
    )
    assert stored_counts(folder) == [
        (3, 1, "counted"), (0, 1, "unsure"), (0, 0, "skipped"), (0, 0, "counted"), (0, 1, "counted"),
    ]  # fmt: skip
    page.keyboard.press("r")  # review
    expect_minute(page, 1)
    page.keyboard.press("Enter")
    page.keyboard.press("r")
    expect_minute(page, 2)


def test_counts_are_on_disk_when_shown(open_counting, run, folder):
    page = open_counting(run(folder))
    for entered in (1, 2, 3):
        page.keyboard.press("i")
        expect_counts(page, entered, 0)
        begun = json.loads((folder / "counts.json").read_text())["counting"]["begun"]
        assert [row["entered"] for row in begun] == [entered]
    assert stored_counts(folder) == []
    page.keyboard.press("Enter")
    expect_minute(page, 1)
    assert stored_counts(folder) == [(3, 0, "counted")]


def test_undo_goes_back_across_minutes(open_counting, run, folder):
    page = open_counting(run(folder))
    expect(page.locator("#undo")).to_be_disabled()
    page.keyboard.press("z")
    expect(page.locator(".toast")).to_contain_text("Nothing to undo.")
    page.keyboard.press("i")
    page.keyboard.press("i")
    page.keyboard.press("Enter")
    expect_minute(page, 1)
    page.keyboard.press("s")
    expect_minute(page, 2)
    page.keyboard.press("Backspace")
    expect_minute(page, 1)
    expect_counts(page, 0, 0, "not counted yet")
    page.keyboard.press("z")
    expect_minute(page, 0)
    expect_counts(page, 2, 0, "not confirmed yet")
    assert stored_counts(folder) == []
    page.keyboard.press("z")
    expect_counts(page, 1, 0)
    page.keyboard.press("z")
    expect_counts(page, 0, 0, "not counted yet")


def test_earlier_minutes_are_shown_and_corrected(open_counting, run, folder):
    page = open_counting(run(folder))
    page.keyboard.press("0")
    expect_minute(page, 1)
    for key, place in (("n", 2), ("]", 3), ("ArrowRight", 4), ("n", 4), ("p", 3), ("[", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        expect_minute(page, place)
    page.keyboard.press("p")
    expect_minute(page, 0)
    expect_counts(page, 0, 0, "counted")
    page.keyboard.press("i")
    expect_counts(page, 1, 0, "counted")
    assert stored_counts(folder) == [(1, 0, "counted")]
    page.keyboard.press("Enter")
    expect_minute(page, 1)


def test_order_by_door_is_remembered(open_counting, run, folder):
    page = open_counting(run(folder))
    page.locator("input[value=time]").focus()
    page.keyboard.press("ArrowRight")  # selects the next radio button
    expect(page.locator("input[value=door]")).to_be_checked()
    expect(page.locator("#save-state")).to_have_attribute("data-state", "saved")
    for place in (2, 4, 1, 3):
        page.keyboard.press("0")
        expect_minute(page, place)
    page.reload()
    expect_minute(page, 3)
    expect(page.locator("input[value=door]")).to_be_checked()


def test_page_recovers_after_the_server_was_killed(open_counting, folder):
    with ExitStack() as stack:
        process, url = stack.enter_context(served(folder))
        page = open_counting(url, known=["net::ERR"])
        count_one_minute(page)
        process.kill()
        process.wait()
        page.keyboard.press("o")
        expect(page.locator("#banner")).to_contain_text("your last keys may not be saved")
        expect(page.locator("#save-text")).to_have_text("not saved")
        page.keyboard.press("o")  # dropped: the server is gone
        assert stored_counts(folder) == [(1, 0, "counted")]
        stack.enter_context(served(folder, int(url.split(":")[2].strip("/"))))
        expect(page.locator("#banner")).to_be_hidden()
        expect_minute(page, 1)
        expect_counts(page, 0, 1, "not confirmed yet")
        page.keyboard.press("Enter")
        expect_minute(page, 2)
        assert stored_counts(folder) == [(1, 0, "counted"), (0, 1, "counted")]
        again = open_counting(url)
        expect_minute(again, 2)
        expect(again.locator("#done")).to_have_text("2 of 5")


def count_one_minute(page):
    page.keyboard.press("i")
    page.keyboard.press("Enter")
    expect_minute(page, 1)
    page.keyboard.press("o")
    expect_counts(page, 0, 1)


def test_change_in_another_window_is_detected(open_counting, run, folder):
    url = run(folder)
    first, second = open_counting(url), open_counting(url, known=["status of 409"])
    first.keyboard.press("i")
    expect_counts(first, 1, 0)
    second.keyboard.press("0")
    expect(second.locator(".toast")).to_contain_text("The counts were changed in another window")
    expect_counts(second, 1, 0)
    assert stored_counts(folder) == []


def test_held_key_counts_one_minute(open_counting, run, folder):
    page = open_counting(run(folder))
    for _ in range(4):
        page.keyboard.down("Enter")  # all but the first are repeats
    expect_minute(page, 1)
    page.keyboard.up("Enter")
    page.keyboard.press("Control+s")
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("i")
    expect_counts(page, 1, 0)
    assert stored_counts(folder) == [(0, 0, "counted")]


def test_one_button_counts_nobody(open_counting, run, folder):
    page = open_counting(run(folder))
    nobody = page.locator("#controls button", has_text="Nobody")
    expect(nobody).to_have_count(1)
    expect(nobody).to_have_text(re.compile(r"^Nobody, next\s*Enter\s*0$"))
    page.keyboard.press("i")
    expect_counts(page, 1, 0)
    expect(nobody).to_have_count(0)
    page.keyboard.press("0")
    expect_minute(page, 1)
    assert stored_counts(folder) == [(0, 0, "counted")]


def test_enter_counts_after_a_mouse_click(open_counting, run, folder):
    page = open_counting(run(folder))
    page.locator("[data-do=entered-more]").click()
    expect_counts(page, 1, 0)
    page.keyboard.press("Enter")
    expect_minute(page, 1)
    assert stored_counts(folder) == [(1, 0, "counted")]


def test_negative_occupancy_shows_a_warning(open_counting, run, folder):
    page = open_counting(run(folder))
    warning = page.locator("#warning")
    expect(warning).to_be_hidden()
    page.keyboard.press("i")
    expect(page.locator("#day-now")).to_have_text("1 after 08:31")
    page.keyboard.press("Enter")
    expect_minute(page, 1)
    page.keyboard.press("o")
    page.keyboard.press("o")
    expect(page.locator("#day-now")).to_have_text("−1 after 08:31")
    expect(warning).to_have_text("−1 at 08:31 so far: 1 earlier minute is not counted yet.")
    page.keyboard.press("Enter")
    expect_minute(page, 2)
    expect(warning).to_contain_text("−1 at 08:31: more people left than entered.")
    expect(page.locator("#chart svg")).to_have_attribute("aria-label", re.compile("minimum −1"))
    expect(page.locator("#warning-go")).to_have_text("Go to 08:31")
    page.locator("#warning-go").focus()
    page.keyboard.press("Enter")  # activates the button, does not count
    expect_minute(page, 0)
    page.keyboard.press("i")
    expect(warning).to_be_hidden()
    assert stored_counts(folder) == [(2, 0, "counted"), (0, 2, "counted")]


def test_list_of_keys_opens_and_closes(open_counting, run, folder):
    page = open_counting(run(folder))
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("s")  # ignored while the dialog is open
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_hidden()
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    expect(page.locator("#shortcuts")).to_be_hidden()
    expect_minute(page, 0)


# ---- keys pressed before the server answers ----------------------------------------------------------------


class HeldKeys:
    """Requests of a page that are held until they are released."""

    def __init__(self, page):
        self._held, self._is_holding = [], True
        page.route("**/api/keys", self._handle)

    def _handle(self, route):
        self._held.append(route) if self._is_holding else route.continue_()

    def release(self):
        self._is_holding = False
        for route in self._held:
            route.continue_()


def test_keys_pressed_before_the_answer_count_in_order(open_counting, run, folder):
    page = open_counting(run(folder))
    held = HeldKeys(page)
    for key in ("i", "i", "o", "Enter", "o", "Enter", "0", "i", "o", "o", "u", "i", "z", "i", "i", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#save-text")).to_have_text("saving")
    expect_minute(page, 0)
    held.release()
    expect(page.locator("#end h1")).to_have_text("All done: 5 minutes")
    assert stored_counts(folder) == [
        (2, 1, "counted"), (0, 1, "counted"), (0, 0, "counted"), (1, 2, "unsure"), (2, 0, "counted"),
    ]  # fmt: skip


def test_fast_typing_loses_nothing(open_counting, run, tmp_path):
    times = [("north", f"{hour:02d}:{minute:02d}") for hour in (8, 9) for minute in range(0, 60, 10)]
    folder = make_folder(tmp_path / "events", times)
    page = open_counting(run(folder))
    expected = [(n % 4, n * 7 % 3, "counted") for n in range(len(times))]
    for entered, left, _ in expected:
        for key in [*"i" * entered, *"o" * left, "Enter"]:
            page.keyboard.press(key)
    expect(page.locator("#end h1")).to_have_text("All done: 12 minutes")
    assert stored_counts(folder) == expected


def test_undo_before_the_answer_applies_to_the_last_key(open_counting, run, folder):
    page = open_counting(run(folder))
    held = HeldKeys(page)
    for key in ("i", "z", "o", "Enter"):  # nothing could be undone when z was pressed
        page.keyboard.press(key)
    held.release()
    expect_minute(page, 1)
    assert stored_counts(folder) == [(0, 1, "counted")]


def test_keys_after_a_rejected_one_are_dropped(open_counting, run, folder):
    url = run(folder)
    page, other = open_counting(url, known=["status of 409"]), open_counting(url)
    other.keyboard.press("o")
    expect_counts(other, 0, 1)
    held = HeldKeys(page)
    for key in ("i", "Enter", "i", "Enter"):  # all for a state that another window has changed
        page.keyboard.press(key)
    held.release()
    expect(page.locator(".toast")).to_contain_text("The counts were changed in another window")
    expect(page.locator("#save-text")).to_have_text("saved")
    expect_counts(page, 0, 1)
    assert stored_counts(folder) == []


# ---- a minute that the scan missed -------------------------------------------------------------------------


def test_missing_minute_is_added_by_keyboard(open_counting, run, folder):
    page = open_counting(run(folder))
    page.keyboard.press("0")
    expect_minute(page, 1)
    add(page, "9:47")
    expect(page.locator("#minute h1")).to_have_text(re.compile(r"south\s+09:47"))
    expect(page.locator("#done")).to_have_text("1 of 6")
    expect(page.locator("#sheet")).to_contain_text("No picture of this minute")
    expect(page.locator("#sheet")).to_contain_text("Watch video.mp4 from 1:47:00")  # since 08:00
    expect(page.locator("#stamp-note")).to_be_hidden()
    for key in ("i", "i", "o", "Enter"):
        page.keyboard.press(key)
    expect_minute(page, 3)  # the next open minute
    expect_picture(page)
    expect(page.locator("#sheet img")).to_have_attribute("src", re.compile("door=south&minute=2024-01-08T10"))
    assert [
        (count.door, f"{count.minute:%H:%M}", count.entered, count.left) for count in read_counts(folder)
    ] == [
        ("north", "08:31", 0, 0),
        ("south", "09:47", 2, 1),
    ]
    for _ in range(5):  # Enter, o, i, i, and adding the minute
        page.keyboard.press("z")
        expect(page.locator("#save-state")).to_have_attribute("data-state", "saved")
    expect_minute(page, 3)
    expect(page.locator("#done")).to_have_text("1 of 5")
    assert stored_counts(folder) == [(0, 0, "counted")]


def add(page, time, **chosen):
    page.keyboard.press("a")
    expect(page.locator("#add-time")).to_be_focused()
    for name, value in chosen.items():
        page.locator(f"#add-{name}").select_option(value)
    page.locator("#add-time").focus()
    page.keyboard.type(time)
    page.keyboard.press("Enter")
    expect(page.locator("#save-state")).to_have_attribute("data-state", "saved")


def test_added_minute_survives_a_kill(open_counting, folder):
    with ExitStack() as stack:
        process, url = stack.enter_context(served(folder))
        page = open_counting(url, known=["net::ERR"])
        add(page, "0930", door="south")
        expect(page.locator("#minute h1")).to_have_text(re.compile(r"south\s+09:30"))
        page.keyboard.press("o")
        expect_counts(page, 0, 1, "not confirmed yet")
        process.kill()
        process.wait()
        stack.enter_context(served(folder, int(url.split(":")[2].strip("/"))))
        again = open_counting(url)
        expect(again.locator("#minute h1")).to_have_text(re.compile(r"south\s+09:30"))
        expect_counts(again, 0, 1, "not confirmed yet")
        again.keyboard.press("Enter")
        expect(again.locator("#done")).to_have_text("1 of 6")
        assert stored_counts(folder) == [(0, 1, "counted")]


def test_invalid_time_is_rejected_and_existing_minute_is_shown(open_counting, run, folder):
    page = open_counting(run(folder))
    page.keyboard.press("a")
    expect(page.locator("#add-day")).to_be_hidden()  # only one day
    for wrong in ("25:00", "8:61", "noon", ""):
        page.locator("#add-time").fill(wrong)
        page.keyboard.press("Enter")
        expect(page.locator("#add-error")).to_have_text("Enter the time as hours and minutes, such as 08:47.")
    page.keyboard.press("Escape")
    expect(page.locator("#add")).to_be_hidden()
    assert not (folder / "counts.json").exists()
    add(page, "10.15", door="south")
    expect_minute(page, 3)
    expect(page.locator(".toast")).to_contain_text("south 10:15 is already in the list.")
    expect(page.locator("#done")).to_have_text("0 of 5")


def test_minute_is_added_after_all_are_done(open_counting, run, folder):
    page = open_counting(run(folder))
    for number in range(5):
        expect_minute(page, number)
        page.keyboard.press("0")
    expect(page.locator("#end")).to_be_visible()
    add(page, "17:05", door="south")
    page.keyboard.press("o")
    expect_counts(page, 0, 1)
    page.keyboard.press("Enter")
    expect(page.locator("#end h1")).to_have_text("All done: 6 minutes")
