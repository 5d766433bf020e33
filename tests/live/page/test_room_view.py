"""The view of a room in a real browser: chart, head counts, training, models and roles."""

import base64
import datetime as dt
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from browser import PHONE
from live.fake_pipeline import MODEL, TOKENS
from live.page.page_helpers import GERMAN, ROOM, tile, wait_for_chart
from live.page_server import NOW, START, Building, make_rooms
from live.waiting import wait_for
from playwright.sync_api import expect

from occupair.estimator import OccupancyEstimator
from occupair.inferred_training import fit_before_readings
from occupair.live.messages import Label, Quality
from occupair.live.reasons import Cause, Reason
from occupair.live.training_scores import Score, Scores
from occupair.model_file import dump_model


def test_missing_sensors_are_named_beside_a_known_count(open_live, url, building):
    page = open_live(f"{url}/#/room/{ROOM}")
    expect(page.locator(".hero-why")).to_have_text("Readings arrive as expected.")
    cause = Cause(Reason.SENSORS_MISSING, {"sensors": ("humidity",)})
    state = replace(building.state(ROOM), people=7, people_exact=7.2, reason=cause.text(), cause=cause)
    building.publish_threadsafe(state)
    expect(page.locator(".hero-count")).to_have_text("7")
    expect(page.locator(".hero-why")).to_have_text("Estimated without humidity: no recent reading.")


def test_dates_of_another_year_have_the_year(open_live, url, building):
    day = dt.timedelta(days=1)
    now = building.now()
    for time in (now - day, now - 365 * day):
        building.store.add_label(Label(ROOM, time, 77, time))
    stale = replace(
        building.state(ROOM),
        people=None,
        quality=Quality.STALE,
        cause=Cause(Reason.OFFLINE_SINCE_DATE, {"since": (now - 365 * day).date()}),
    )
    building.publish_threadsafe(stale)
    page = open_live(f"{url}/#/room/{ROOM}")
    page.locator("#labels-card .button.text").click()  # show all
    times = page.locator("#labels-card li", has_text="77 people").locator("time")
    expect(times.first).to_have_text(re.compile(r"^\w+ \d+ \w+ \d\d:\d\d$"))
    expect(times.last).to_have_text(re.compile(rf"^\w+ \d+ \w+ {now.year - 1} \d\d:\d\d$"))
    expect(page.locator("#room-view")).to_contain_text(f"no reading since {now - 365 * day:%d %B %Y}")


def test_login_shows_only_what_the_role_permits(open_live, serve_building):
    building = Building(make_rooms(6), tokens=True)
    building.add_model_and_labels(ROOM)
    url = serve_building(building)
    page = open_live(f"{url}/#/room/{ROOM}", rejected=[401])
    page.get_by_label("Access token").fill("not this one")
    page.keyboard.press("Enter")
    expect(page.locator("#login-error")).to_have_text("Invalid access token.")
    page.get_by_label("Access token").fill(TOKENS["write"])
    page.keyboard.press("Enter")
    expect(page.locator("h1:visible")).to_have_text("Workshop 0.02")  # the page that was requested
    expect(page.locator("#head-count")).to_be_visible()
    expect(page.locator("#training-card")).to_be_hidden()
    expect(page.locator("#reset")).to_be_hidden()
    assert TOKENS["write"] not in page.evaluate("document.cookie + JSON.stringify(localStorage)")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Access token")).to_be_visible()


def test_german_room_view(open_live, building, url):
    page = open_live(f"{url}/#/room/{ROOM}", rejected=[409], **GERMAN)
    wait_for_chart(page)
    page.get_by_role("button", name="Voriger Tag").click()
    expect(page.locator("#day-title")).to_have_text("Dienstag, 10. März 2026")
    page.locator("#head-count").fill("1")
    page.get_by_role("button", name="Speichern").click()
    expect(page.locator(".toast")).to_contain_text("Gespeichert: 1 Person, heute 14:32.")
    page.get_by_role("button", name="Modell trainieren").click()
    expect(page.locator("#training-status")).to_contain_text("Das ist derzeit nicht möglich.")
    for minute in range(NOW - 60, NOW - 57):
        building.store.add_label(Label(ROOM, START + dt.timedelta(minutes=minute), 9, START))
    page.get_by_role("button", name="Modell trainieren").click()
    expect(page.locator(".score-value")).to_have_text(["±3,1", "±2,1"])


def test_screenshots_for_the_readme(open_live, building, url, tmp_path):
    folder = Path(os.environ.get("OCCUPAIR_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page = open_live(url, device_scale_factor=1.5)
    page.wait_for_selector(".tile")
    expect(page.locator("#connection-text")).to_have_text("live")
    page.wait_for_selector(".spark-line[d^=M]")
    page.screenshot(path=folder / "live-rooms.png")
    page.goto(f"{url}/#/room/{ROOM}")
    wait_for_chart(page)
    page.wait_for_selector(".labels li")
    page.screenshot(path=folder / "live-room.png", full_page=True)
    phone = open_live(url, **PHONE, device_scale_factor=2, color_scheme="dark")
    phone.wait_for_selector(".spark-line[d^=M]")
    shots = [phone.screenshot()]
    phone.goto(f"{url}/#/room/{ROOM}")
    wait_for_chart(phone)
    phone.wait_for_selector(".labels li")
    for card in (".chart-card", "#labels-card"):
        phone.locator(card).evaluate("(card) => scrollTo(0, card.offsetTop - 72)")
        shots.append(phone.screenshot())
    side_by_side(page, shots, folder / "live-phone.png")
    for name in ("live-rooms.png", "live-room.png", "live-phone.png"):
        assert (folder / name).stat().st_size > 20_000


def side_by_side(page, shots, path):
    """Save screenshots side by side in one picture."""
    images = "".join(
        f'<img src="data:image/png;base64,{base64.b64encode(shot).decode()}" height="740">' for shot in shots
    )
    page.goto("about:blank")
    css = "body { margin: 0 } div { display: inline-flex; gap: 24px } img { border-radius: 18px }"
    page.set_content(f"<style>{css}</style><div>{images}</div>")
    page.locator("div").screenshot(path=path, omit_background=True)


# ---- chart -------------------------------------------------------------------------------------------------


def test_chart_uses_the_time_zone_of_the_room(open_live, building, url):
    page = open_live(f"{url}/#/room/{ROOM}")
    assert wait_for_chart(page) == NOW - 1440 + 1  # from local midnight to now
    axis = page.locator(".plot .xtick text").all_text_contents()
    assert axis[0] == "00:00"
    assert "12:00" in axis
    lines = page.evaluate("document.querySelector('.plot').data.map((trace) => trace.x.length)")
    assert all(lines)  # all seven traces have data
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


def test_chart_appends_states_and_fetches_corrections(open_live, url, building):
    page = open_live(f"{url}/#/room/{ROOM}")
    before, asked = wait_for_chart(page), building.history_requests
    building.advance()
    page.wait_for_selector(f'.plot[data-drawn="{before + 1}"]')
    assert building.history_requests == asked  # appended, not fetched
    building.rooms[ROOM].changed = {NOW - 200: {"people": 31.0, "high": 33.0}}
    late = replace(building.state(ROOM), people=21, people_exact=21.3)
    building.publish_threadsafe(late)
    expect(page.locator(".hero-count")).to_have_text("21")
    expect(page.locator("#head-count")).to_have_value("")
    wait_for(lambda: page.evaluate("Math.max(...document.querySelector('.plot').data[4].y)") == 31)
    building.minute += 5  # four states were missed
    building.publish_threadsafe(building.rooms[ROOM].state(building.minute))
    page.wait_for_selector(f'.plot[data-drawn="{before + 6}"]')


def test_chart_moves_to_the_day_of_a_replay(open_live, serve_building):
    """The page is open before the first reading arrives, and that is months old."""
    building = Building(make_rooms(1))
    unknown = {"time": None, "people": None, "people_exact": None, "low": None, "high": None}
    url = serve_building(building)
    building.publish_threadsafe(replace(building.state("room-0"), **unknown, quality=Quality.STALE))
    page = open_live(f"{url}/#/room/room-0")
    page.wait_for_selector(".plot[data-drawn]")
    expect(page.locator(".day-bar input")).not_to_have_value("2026-03-11")
    building.publish_threadsafe(building.rooms["room-0"].state(NOW))
    page.wait_for_selector(f'.plot[data-drawn="{NOW - 1440 + 1}"]')
    expect(page.locator(".day-bar input")).to_have_value("2026-03-11")


def test_days_have_urls_and_the_back_button_works(open_live, building, url):
    page = open_live(url)
    page.locator("#search").fill("workshop 0.02")
    tile(page, ROOM).locator("a").click()
    wait_for_chart(page)
    page.get_by_role("button", name="Previous day").click()
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
    expect(page.locator("#room-view")).to_contain_text("There is no room attic.")


# ---- head counts -------------------------------------------------------------------------------------------


def test_head_counts_are_saved_undone_and_deleted(open_live, url, building):
    page = open_live(f"{url}/#/room/{ROOM}", **PHONE)
    there = len(building.store.labels(ROOM))
    page.locator("#head-count").fill("17")
    page.get_by_role("button", name="One more").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".labels li").first).to_contain_text("18 people")
    expect(page.locator("#head-count")).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_have_text("Undone.")
    assert len(building.store.labels(ROOM)) == there
    newest = building.store.labels(ROOM)[-1]
    page.get_by_role("button", name=re.compile(f"Delete {newest.people} people, today")).first.click()
    wait_for(lambda: newest not in building.store.labels(ROOM))
    page.get_by_role("button", name="Undo").click()
    wait_for(lambda: newest.time in [label.time for label in building.store.labels(ROOM)])
    page.locator("#head-count").fill("2.5")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast.bad")).to_contain_text("Enter a whole number of people, 0 or more.")
    assert len(building.store.labels(ROOM)) == there


def saved(building):
    newest = building.store.labels(ROOM)[-1]
    return newest.people, newest.source, newest.estimate


def test_estimate_is_not_offered_as_a_head_count(open_live, url, building):
    page = open_live(f"{url}/#/room/{ROOM}")
    there = building.store.labels(ROOM)
    estimate = building.state(ROOM).people
    expect(page.locator(".hero-count")).to_have_text(str(estimate))
    expect(page.locator("#head-count")).to_have_value("")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast.bad")).to_contain_text("Enter a whole number of people, 0 or more.")
    assert building.store.labels(ROOM) == there
    newest = page.locator(".labels li").first
    for people, note in ((estimate, "same as the estimate"), (estimate + 3, None)):
        page.locator("#head-count").fill(str(people))
        page.get_by_role("button", name="Save").click()
        wait_for(lambda people=people: saved(building) == (people, "typed", estimate))
        expect(newest).to_contain_text(f"{people} people")
        expect(newest.locator(".label-note")).to_have_text([note] if note else [])


def test_confirmed_estimate_is_marked_and_restored_as_such(open_live, url, building):
    time = START + dt.timedelta(minutes=NOW - 1)
    building.store.add_label(Label(ROOM, time, 4, time, "confirmed", 4))
    page = open_live(f"{url}/#/room/{ROOM}")
    newest = page.locator(".labels li").first
    expect(newest.locator(".label-note")).to_have_text("estimate confirmed, not used for training")
    newest.get_by_role("button").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast").last).to_contain_text("Undone.")
    label = next(one for one in building.store.labels(ROOM) if one.time == time)
    assert (label.source, label.estimate) == ("confirmed", 4)


def test_calibrated_room_shows_what_is_known_and_what_would_help(open_live, url, building):
    page = open_live(f"{url}/#/room/{ROOM}")
    expect(page.locator("#air-card")).to_be_hidden()
    estimator = OccupancyEstimator.physics(volume=180, capacity=24, random_state=0, verbose=False)
    model = dump_model(fit_before_readings(estimator, interval=5.0, uses_ventilation=True))
    building.store.activate(ROOM, building.store.add_model(ROOM, model, origin="calibrated"))
    page.reload()
    expect(page.locator("#air-card h2")).to_have_text("Getting to know this room")
    expect(page.locator("#air-progress")).to_contain_text("Estimated from size and seats only")
    expect(page.locator("#air-advice")).to_contain_text("count once when the room is busy")
    expect(page.locator("#air-card dd").first).to_have_text("0.15 per hour (0.047 to 0.47)")


def test_question_asked_again_at_once_is_answered_once(open_live, url):
    page = open_live(url)
    asked = """async () => {
      const { confirmDialog } = await import("./assets/dom.js");
      const dialog = document.getElementById("confirm");
      const first = confirmDialog("first", "", "");
      dialog.close("no"); // its event follows when the second question is shown
      const second = confirmDialog("second", "", "");
      await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
      const wasOpen = dialog.open;
      dialog.close("yes");
      return [await first, wasOpen, await second];
    }"""
    assert page.evaluate(asked) == [False, True, True]


def test_reset_asks_for_confirmation(open_live, url, building):
    page = open_live(f"{url}/#/room/{ROOM}")
    expect(page.locator(".labels li")).to_have_count(5)
    expect(page.get_by_role("link", name=re.compile("Download version 1"))).to_be_visible()
    wait_for_chart(page)  # the button moves until everything above it is shown
    page.locator("#reset").click()
    expect(page.get_by_role("dialog")).to_contain_text("Delete head counts and models of this room?")
    page.keyboard.press("Enter")  # Cancel is focused
    expect(page.get_by_role("dialog")).not_to_be_attached()
    assert len(building.store.labels(ROOM)) == 5
    page.locator("#reset").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".labels li")).to_have_count(0)
    assert building.store.labels(ROOM) == []


# ---- training and models -----------------------------------------------------------------------------------


def test_training_shows_both_scores_before_the_decision(open_live, url, building):
    page = open_live(f"{url}/#/room/{ROOM}", rejected=[409])
    page.get_by_role("button", name="Train on head counts").click()
    expect(page.locator("#training-status")).to_have_text("3 more labels needed: 5 of 8 available.")
    for minute in range(NOW - 60, NOW - 57):
        building.store.add_label(Label(ROOM, START + dt.timedelta(minutes=minute), 9, START))
    page.get_by_role("button", name="Train on head counts").click()
    expect(page.locator("#training-card progress")).to_be_visible()
    expect(page.locator("#training-status")).to_contain_text("%")
    expect(page.locator(".score-value")).to_have_text(["±3.1", "±2.1"])
    expect(page.locator(".score.better")).to_contain_text("New model")
    current, new = page.locator(".score").all()
    expect(current).to_contain_text("from 4 days with 60 head counts that it was not trained on")
    expect(new).to_contain_text("from 9 days with 143 head counts, cross-validated")
    expect(new).to_contain_text("±2.0 on the days of the current model")
    expect(new).to_contain_text("±2.3 on the 8 days with people")
    assert [model.origin for model in building.store.models(ROOM)] == ["file"]  # not changed yet
    page.get_by_role("button", name="Keep the current model").click()
    expect(page.locator(".score-value")).to_have_count(2)
    expect(page.locator(".scores")).to_be_hidden()
    page.get_by_role("button", name="Train on head counts").click()
    page.get_by_role("button", name="Use the new model").click()
    expect(page.locator('.models [data-active="yes"]')).to_contain_text("trained on head counts")


@pytest.mark.parametrize(
    ("language", "scores", "texts"),
    [
        (
            "en-GB",
            Scores(Score(None, 20, 4, 1), Score(None, 20, 4, 1)),
            ["No score: people were counted on 1 day only."] * 2,
        ),
        (
            "de-DE",
            Scores(Score(None, 20, 4, 0)),
            [
                "Keine Bewertung: Es gibt keine Zählungen von Tagen, die für dieses Modell neu sind.",
                "Keine Bewertung: Nur an 0 Tagen wurden Personen gezählt.",
            ],
        ),
        (
            "en-GB",
            Scores(Score(2.0, 20, 4, 4), Score(1.0, 20, 4, 4, independent=False)),
            [
                "from 4 days with 20 head counts; its file may have been trained on these days",
                "from 4 days with 20 head counts, cross-validated",
            ],
        ),
    ],
    ids=["empty", "empty-de", "file"],
)
def test_training_without_evidence_names_no_better_model(open_live, url, building, language, scores, texts):
    building.trainer.scores = scores
    building.trainer.known[ROOM] = 3  # done at the next request
    page = open_live(f"{url}/#/room/{ROOM}", locale=language)
    for place, text in enumerate(texts):
        expect(page.locator(".score").nth(place)).to_contain_text(text)
    expect(page.locator(".score.better")).to_have_count(0)
    expect(page.locator("#training-card .row .primary")).to_have_count(0)
    expect(page.locator("#training-status")).to_have_text("")


def test_earlier_answer_does_not_replace_the_result_of_training(open_live, url, building):
    page, held = open_live(url, rejected=[409]), []

    def hold_first(route):
        if route.request.method == "GET" and not held:
            held.append(route)
        else:
            route.continue_()

    page.route(f"**/rooms/{ROOM}/training", hold_first)
    page.evaluate(f"location.hash = '#/room/{ROOM}'")
    page.get_by_role("button", name="Train on head counts").click()
    status = page.locator("#training-status")
    expect(status).to_have_text("3 more labels needed: 5 of 8 available.")
    with page.expect_response(f"**/rooms/{ROOM}/training") as answer:
        held[0].continue_()
    answer.value.finished()
    page.evaluate("new Promise((done) => setTimeout(done))")  # its handlers have run
    expect(status).to_have_text("3 more labels needed: 5 of 8 available.")


def test_untrained_room_has_no_model_to_keep(open_live, url, building):
    room = "room-14"
    assert building.store.models(room) == []
    building.trainer.scores = Scores(Score(2.14, 143, 9, 8))
    building.trainer.known[room] = 3  # done at the next request
    page = open_live(f"{url}/#/room/{room}")
    choice = page.locator("#training-card .row button")
    expect(choice).to_have_text(["Use the new model", "Discard the new model"])
    expect(page.locator(".score h3")).to_have_text(["New model"])
    choice.last.click()
    expect(page.locator(".toast")).to_have_text("The new model was discarded.")
    building.store.activate(room, building.store.add_model(room, MODEL, origin="upload"))
    building.trainer.known[room] = 3
    page.reload()
    expect(choice).to_have_text(["Use the new model", "Keep the current model"])
    expect(page.locator(".score h3")).to_have_text(["Current model", "New model"])


def test_models_are_downloaded_uploaded_and_activated(open_live, url, building, tmp_path):
    page = open_live(f"{url}/#/room/{ROOM}", rejected=[409])
    with page.expect_download() as loading:
        page.get_by_role("link", name=re.compile("Download version 1")).click()
    assert loading.value.suggested_filename.startswith(f"{ROOM}-1")
    assert Path(loading.value.path()).read_bytes() == building.store.model(ROOM, 1)
    (tmp_path / "holiday.jpg").write_bytes(b"no model")
    page.locator("#model-file").set_input_files(tmp_path / "holiday.jpg")
    expect(page.locator(".toast.bad")).to_contain_text("not an occupair model file.")
    (tmp_path / "new.occupair").write_bytes(MODEL)
    page.locator("#model-file").set_input_files(tmp_path / "new.occupair")
    expect(page.locator('.models [data-active="yes"]')).to_contain_text("uploaded")
    page.get_by_role("button", name="Use", exact=True).click()
    expect(page.locator('.models [data-active="yes"]')).to_contain_text("Version 1")
