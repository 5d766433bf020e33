"""The page of a portfolio in a browser: table, filters, details, figures, keyboard, export and address."""

import csv
import io
import math
import re
from dataclasses import asdict

import pytest
from browser import PHONE
from fleet.fake_results import fake_results
from fleet.page_helpers import HOSTILE, TIME, data_of, hostile_results
from playwright.sync_api import expect

from occupair.fleet.room_result import COLUMNS, RoomResult
from occupair.fleet.rooms_page import render_rooms_page, write_rooms_page
from tools.fleet_page import ACTIONS
from tools.page_speed import describe, measure_page


@pytest.fixture(scope="module")
def results():
    return fake_results(600, seed=1)


@pytest.fixture
def open_rooms(open_page, tmp_path):
    """Open the page of some rooms with a fragment."""

    def open_rooms(results, fragment="", **settings):
        path = tmp_path / "rooms.html"
        write_rooms_page(results, path, generated=TIME)
        page = open_page(path.as_uri(), **settings)
        if fragment:
            page.goto("about:blank")
            page.goto(path.as_uri() + fragment)
        return page

    return open_rooms


def test_summary_needs_no_script(open_rooms, results):
    page = open_rooms(results, java_script_enabled=False)
    expect(page.locator(".notice")).to_be_visible()
    expect(page.locator("h1")).to_contain_text("of 600 rooms")
    expect(page.locator("#technician .groups").first).to_be_visible()
    expect(page.locator("#rooms")).to_be_hidden()


def names(page):
    return page.locator("#body th").all_inner_texts()


def column(page, name):
    """Texts of the visible cells of a column."""
    heads = page.locator("thead th").all_inner_texts()
    k = next(k for k, head in enumerate(heads) if head.split("\n")[0].startswith(name))
    return page.locator(f"#body tr > :nth-child({k + 1})").all_inner_texts()


def heading(page, name):
    return page.locator("thead th", has=page.locator("button", has_text=re.compile(f"^{name}")))


def test_columns_sort_and_unknown_values_come_last(open_rooms):
    results = [
        RoomResult(f"r{k}", "trained", nrmse=value) for k, value in enumerate((0.5, math.nan, 0.2, -0.1, 1.5))
    ]
    page = open_rooms(results)
    assert names(page) == ["r0", "r1", "r2", "r3", "r4"]
    heading(page, "nRMSE").locator("button").click()
    expect(heading(page, "nRMSE")).to_have_attribute("aria-sort", "ascending")
    expect(heading(page, "Room")).to_have_attribute("aria-sort", "none")
    assert column(page, "nRMSE") == ["−0.10", "0.20", "0.50", "1.50", "–"]
    heading(page, "nRMSE").locator("button").press("Enter")
    expect(heading(page, "nRMSE")).to_have_attribute("aria-sort", "descending")
    assert column(page, "nRMSE") == ["1.50", "0.50", "0.20", "−0.10", "–"]


def test_every_column_sorts_in_both_directions(open_rooms, results):
    some = results[:20]
    page = open_rooms(some)
    for head in page.locator("thead th").all():
        for direction in ("ascending", "descending"):
            if head.get_attribute("aria-sort") != direction:
                head.locator("button").click()
            expect(head).to_have_attribute("aria-sort", direction)
            assert sorted(names(page)) == sorted(result.room for result in some)
            name = head.inner_text().split("\n")[0].strip(" ▲▼")
            texts = column(page, name)
            first_dash = texts.index("–") if "–" in texts else len(texts)
            assert set(texts[first_dash:]) <= {"–"}


def test_classes_sort_from_best_to_worst(open_rooms):
    kinds = ["poor", "good", "none", "limited"]
    page = open_rooms([RoomResult(kind, "trained", trust=kind) for kind in kinds])
    heading(page, "Trust").locator("button").click()
    assert names(page) == ["good", "limited", "poor", "none"]


def test_filters_combine(open_rooms, results):
    page = open_rooms(results)
    found = page.locator("#found")
    expect(found).to_have_text("600 rooms")
    page.locator("#sensor").select_option("faulty")
    faulty = [result for result in results if result.sensor == "faulty"]
    expect(found).to_have_text(f"{len(faulty)} of 600 rooms")
    page.locator("#query").fill("OUTDOOR b02")
    both = [result for result in faulty if "B02" in result.room and "outdoor" in result.findings]
    assert 0 < len(both) < len(faulty)
    expect(found).to_have_text(f"{len(both)} of 600 rooms")
    page.locator("#query").fill("no such room")
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator("#export")).to_be_disabled()
    page.locator("#clear").click()
    expect(found).to_have_text("600 rooms")
    page.locator("#status").select_option("model")
    expect(found).to_have_text(f"{sum(result.status != 'failed' for result in results)} of 600 rooms")
    page.locator("#basis").select_option("few head counts")
    expect(found).to_have_text(f"{sum(result.basis == 'few head counts' for result in results)} of 600 rooms")


def test_key_figures_and_groups_filter_the_table(open_rooms, results):
    page = open_rooms(results)
    tile = page.locator('.tile[data-view="status=failed"]')
    tile.click()
    expect(page.locator("#found")).to_have_text(f"{tile.locator('strong').inner_text()} of 600 rooms")
    item = page.locator('.groups[data-kind="faulty"] li').first
    item.locator(".button").click()
    expect(page.locator("#found")).to_have_text(f"{item.locator('> strong').inner_text()} of 600 rooms")
    expect(page.locator("#chips")).to_contain_text("Faulty sensor: CO2")
    page.locator("#chips button").click()
    expect(page.locator("#found")).to_have_text("600 rooms")
    room = item.locator("[data-room]").first
    name = room.inner_text()
    room.click()
    expect(page.locator("#panel-room")).to_have_text(name)


def test_details_show_every_field(open_rooms):
    result = RoomResult(
        "lab 7", "fallback", "few head counts", "few days: helped", "limited", "the error is large", "check",
        "CO2 drifts.", "count more", "CO2 drifts.", 40, 3, "2024-01-08", "2024-02-16", "", 11520, 5.0, 0.0312,
        True, 12.0, 14.0, 96.5, 1.234, 1.123, 1.012, 0.4567, 0.891, 0.852, 2.468, 0.5,
        "models/lab 7.occupair", 87_654, "abcdef0123456789", 7.89,
    )  # fmt: skip
    page = open_rooms([result])
    page.locator("#body tr").click()
    text = page.locator("#panel").inner_text().replace("\u00a0", " ")
    for shown in (
        *(
            "lab 7",
            "fallback",
            "few head counts",
            "Few days: helped",
            "limited",
            "The error is large",
            "check",
        ),
        *(
            "CO2 drifts.",
            "Count more",
            "40",
            "3",
            "2024-01-08 to 2024-02-16",
            "11,520",
            "5 min",
            "3 %",
            "yes",
        ),
        *("12", "14", "96.5 m³", "1.23 people", "1.12 people", "1.01 people", "0.46", "89 %", "85 %"),
        *("2.47 people", "50 %", "models/lab 7.occupair", "abcdef012345", "7.9 s"),
    ):
        assert shown in text, shown
    page.locator("#panel [aria-label=Close]").click()
    expect(page.locator("#panel")).to_be_hidden()


def test_keyboard_moves_opens_and_closes(open_rooms, results):
    page = open_rooms(results)
    rows = data_of(render_rooms_page(results, generated=TIME))["room"]
    table = page.locator("#table")
    table.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    title = page.locator("#panel-room")
    expect(title).to_have_text(rows[3])
    expect(title).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(table).to_be_focused()
    page.keyboard.press("End")
    expect(table).to_have_attribute("aria-activedescendant", "row-599")
    expect(page.locator("#row-599")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(title).to_have_text(rows[599])
    table.focus()
    page.keyboard.press("ArrowUp")  # the details follow
    expect(title).to_have_text(rows[598])
    page.keyboard.press("Home")
    expect(title).to_have_text(rows[0])
    page.keyboard.press("PageDown")
    assert title.inner_text() in rows[5:60]


def test_export_holds_the_filtered_rooms_in_order(open_rooms, results):
    page = open_rooms(results, "#trust=good&sort=-nrmse")
    with page.expect_download() as download:
        page.locator("#export").click()
    assert download.value.suggested_filename == "rooms.csv"
    text = download.value.path().read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    good = sorted((r for r in results if r.trust == "good"), key=lambda r: -r.nrmse)
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(good)
    for row, result in zip(rows, good, strict=True):
        assert float(row["nrmse"]) == pytest.approx(result.nrmse, rel=5e-4)
    by_name = {result.room: result for result in good}
    for row in rows:
        values = asdict(by_name[row["room"]])
        assert row["findings"] == values["findings"]
        assert row["ventilation"] == str(values["ventilation"]).lower()
        assert (row["volume"] == "") == math.isnan(values["volume"])


def test_view_is_kept_in_the_address(open_rooms, results):
    page = open_rooms(results)
    page.locator("#trust").select_option("poor")
    page.locator("#query").fill("B01 &=#")
    page.locator("#query").fill("B01")
    heading(page, "nRMSE").locator("button").click()
    heading(page, "nRMSE").locator("button").click()
    page.locator("#body tr").nth(1).click()
    shown, room = names(page), page.locator("#panel-room").inner_text()
    fragment = page.evaluate("location.hash")
    assert "trust=poor" in fragment
    again = open_rooms(results, fragment)
    assert names(again) == shown
    expect(again.locator("#trust")).to_have_value("poor")
    expect(again.locator("#query")).to_have_value("B01")
    expect(again.locator("#panel-room")).to_have_text(room)
    expect(heading(again, "nRMSE")).to_have_attribute("aria-sort", "descending")


def test_address_can_change_while_the_page_is_open(open_rooms, results):
    page = open_rooms(results, "#trust=poor")
    page.evaluate("location.hash = '#trust=good'")
    expect(page.locator("#trust")).to_have_value("good")
    page.evaluate("location.hash = '#terms'")
    expect(page.locator("#trust")).to_have_value("good")


@pytest.mark.parametrize(
    "fragment",
    ["#sort=nonsense", "#trust=best&sensor=%E0%A4%A", "#group=failed-00000000", "#nrmse=x", "#room=none&x=1"],
)
def test_invalid_address_shows_all_rooms(open_rooms, results, fragment):
    page = open_rooms(results[:30], fragment)
    expect(page.locator("#found")).to_have_text("30 rooms")
    expect(page.locator("#panel")).to_be_hidden()


def test_bar_of_the_histogram_filters(open_rooms):
    values = (0.31, 0.34, 0.36, 2.7)
    page = open_rooms([RoomResult(f"r{v}", "trained", trust="good", nrmse=v, co2_gain=0.5) for v in values])
    page.locator(".bin").nth(6).click()  # 0.30 to 0.35
    expect(page.locator("#found")).to_have_text("2 of 4 rooms")
    assert names(page) == ["r0.31", "r0.34"]
    page.locator(".bin").last.click()  # 1.5 and more
    expect(page.locator("#found")).to_have_text("1 of 4 rooms")
    page.locator(".bin").last.click()
    expect(page.locator("#found")).to_have_text("4 rooms")


def test_mark_of_the_scatter_plot_opens_its_room(open_rooms):
    rooms = [RoomResult("low", "trained", trust="poor", nrmse=1.2, co2_gain=-0.2)]
    rooms += [RoomResult("high", "trained", trust="good", nrmse=0.3, co2_gain=0.6)]
    page = open_rooms(rooms)
    canvas = page.locator("#scatter canvas")
    canvas.wait_for()
    box = canvas.bounding_box()
    inner = (box["width"] - 46 - 14, box["height"] - 12 - 40)  # axes
    place = {"x": 46 + 0.3 / 1.5 * inner[0], "y": 12 + (1 - 0.6) / 1.5 * inner[1]}
    canvas.hover(position=place)
    expect(page.locator("#tip")).to_contain_text("high")
    canvas.click(position=place)
    expect(page.locator("#panel-room")).to_have_text("high")


def test_hostile_texts_are_shown_as_they_are(open_rooms):
    page = open_rooms(hostile_results())
    shown = page.locator("#body th").evaluate_all("cells => cells.map((cell) => cell.textContent)")
    assert sorted(shown) == sorted(HOSTILE)
    assert page.evaluate("window.hacked") is None
    for k, name in enumerate(shown):
        page.locator("#body tr").nth(k).click()
        assert page.locator("#panel-room").text_content() == name
        reason = page.locator("#panel .text", has_text="no model").locator("p").text_content()
        assert reason == f"{name}.csv: {name} </script>"
    heights = page.locator("#body tr").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
    assert len(set(heights)) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    with page.expect_download() as download:
        page.locator("#export").click()
    rows = csv.DictReader(io.StringIO(download.value.path().read_bytes().decode("utf-8-sig"), newline=""))
    exported = [row["room"] for row in rows]
    assert "'" + HOSTILE[3] in exported  # not a formula
    assert sorted(exported) == sorted("'" + name if name.startswith("=") else name for name in HOSTILE)


@pytest.mark.parametrize("count", [0, 1])
def test_none_or_one_room(open_rooms, count):
    page = open_rooms(
        [RoomResult("only", "trained", trust="good", nrmse=0.4, co2_gain=0.3, error=1.0)][:count]
    )
    expect(page.locator("#found")).to_have_text("1 room" if count else "0 rooms")
    expect(page.locator("h1")).to_contain_text("1 of 1 room has good estimates" if count else "No rooms")
    page.locator("#table").focus()
    for key in ("ArrowDown", "End", "Enter", "Escape"):
        page.keyboard.press(key)
    assert len(names(page)) == count


def test_details_cover_the_page_on_a_phone(open_rooms, results):
    page = open_rooms(results[:40], **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#body tr").nth(2).click()
    expect(page.locator("#panel")).to_be_in_viewport()
    assert page.locator("#panel").bounding_box()["width"] == pytest.approx(360, abs=1)
    first = page.locator("#panel-room").inner_text()
    page.locator("#panel [aria-label='Next room']").click()
    assert page.locator("#panel-room").inner_text() != first
    page.locator("#panel [aria-label=Close]").click()
    expect(page.locator("#panel")).to_be_hidden()


def test_print_holds_all_rows(open_rooms, results):
    page = open_rooms(results)
    assert page.locator("#body tr").count() < 60
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#body tr").count() == 600
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#body tr").count() < 60


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(open_rooms, results, scheme):
    page = open_rooms(results, "#room=" + results[0].room, color_scheme=scheme)
    pairs = page.evaluate("""() => {
      const found = new Map();
      for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
        if (!own || !node.checkVisibility() || node.closest("svg, script, style")) continue;
        const colour = (one) => getComputedStyle(one).backgroundColor;
        let back = node;
        while (colour(back) === "rgba(0, 0, 0, 0)") back = back.parentElement;
        found.set(getComputedStyle(node).color + "|" + colour(back), node.outerHTML.slice(0, 80));
      }
      return [...found];
    }""")
    assert len(pairs) > 5
    for pair, node in pairs:
        dark, light = sorted(luminance(colour) for colour in pair.split("|"))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, node


@pytest.mark.slow
def test_10000_rooms_keep_the_document_small(open_rooms, tmp_path):
    results = fake_results(10_000)
    page = open_rooms(results)
    path = tmp_path / "rooms.html"
    assert path.stat().st_size < 4e6
    page.goto("about:blank")
    measured = measure_page(page, path.as_uri() + "#sort=days", ACTIONS)
    print(describe(measured))  # noqa: T201
    assert measured["rows"] < 60
    table = page.locator("#table")
    expect(table).to_have_attribute("aria-rowcount", "10001")
    table.focus()
    page.keyboard.press("End")
    expect(page.locator("#row-9999")).to_be_in_viewport()
    assert page.locator("#body tr").count() < 60
    nodes = page.evaluate("document.querySelectorAll('*').length")
    assert nodes < 4000
