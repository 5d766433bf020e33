"""The file of the page of a portfolio: counts, groups, data, escaping and size."""

import math
import re

import pytest
from fleet.fake_results import fake_results
from fleet.page_helpers import HOSTILE, TIME, data_of, hostile_results

from occupair.fleet.room_result import COLUMNS, RoomResult
from occupair.fleet.rooms_page import render_rooms_page, write_rooms_page


def decoded(data, name, k):
    column = data["classes"].get(name) or data["texts"][name]
    text = column["words"][column["codes"][k]]
    return text.replace(data["mark"], data["room"][k]) if data["mark"] else text


@pytest.fixture(scope="module")
def results():
    return fake_results(600, seed=1)


@pytest.fixture(scope="module")
def html(results):
    return render_rooms_page(results, title="Campus <North>", generated=TIME)


def test_header_states_counts_period_and_version(html, results):
    good = sum(result.trust == "good" for result in results)
    faulty = sum(result.sensor == "faulty" for result in results)
    assert f"<h1>{good} of 600 rooms have good estimates. {faulty} sensors need a technician.</h1>" in html
    assert re.search(r"<bdi>Campus &lt;North&gt;</bdi> · 31 March 2025, 06:30 · occupair \d", html)
    assert re.search(r"Readings from \d+ \w+ 202\d to 30 March 2025\.", html)
    for column in ("trust", "sensor"):
        for name in {getattr(result, column) for result in results}:
            count = sum(getattr(result, column) == name for result in results)
            assert re.search(rf'data-view="{column}={name}">.*?<strong>{count}</strong>', html)


def test_failed_rooms_are_grouped_by_reason():
    reasons = ["a.csv: is empty", "b.csv: is empty", "c.csv: needs 5 days, got 2"]
    html = render_rooms_page([RoomResult(r[0], "failed", reason=r) for r in reasons], generated=TIME)
    groups = re.findall(r'<li><strong>(\d+)</strong><div><p dir="auto">(.*?)</p>', html)
    assert groups == [("2", "Is empty"), ("1", "c.csv: needs 5 days, got 2")]


def test_rooms_are_grouped_by_the_finding_on_the_sensor():
    on_sensor = "CO2 reads 0 ppm 5 times: failed reads."
    room = RoomResult(
        "a", "trained", sensor="check", findings=f"Half of it. {on_sensor}", sensor_finding=on_sensor
    )
    assert f'<p dir="auto">{on_sensor}</p>' in render_rooms_page([room], generated=TIME)


def test_data_are_complete_and_in_natural_order(html, results):
    data = data_of(html)
    by_name = {result.room: result for result in results}
    assert sorted(data["room"]) == sorted(by_name)
    for k, room in enumerate(data["room"]):
        result = by_name[room]
        for name in (*data["classes"], *data["texts"]):
            assert decoded(data, name, k) == getattr(result, name)
        for name, values in data["numbers"].items():
            value = getattr(result, name)
            if math.isfinite(value):
                assert values[k] == pytest.approx(value, rel=5e-4)
            else:
                assert values[k] is None
        assert data["ventilation"][k] == result.ventilation
        assert result.fingerprint.startswith(data["fingerprint"][k])
    stored = {*data["classes"], *data["texts"], *data["numbers"], "room", "ventilation", "fingerprint"}
    assert stored == set(COLUMNS)


def test_names_in_natural_order():
    names = ["B10", "b2", "B1", "A 010", "A 9", "A", "ä"]
    html = render_rooms_page([RoomResult(name, "failed") for name in names], generated=TIME)
    assert data_of(html)["room"] == ["A", "A 9", "A 010", "B1", "b2", "B10", "ä"]


def test_equal_texts_are_stored_once():
    results = [RoomResult(f"hall {k}", "failed", reason=f"s3://x/hall {k}.csv: is empty") for k in range(500)]
    html = render_rooms_page(results, generated=TIME)
    assert len(data_of(html)["texts"]["reason"]["words"]) == 1
    empty = len(render_rooms_page([], generated=TIME))
    assert (len(html) - empty) / 500 < 140  # bytes per room


def test_size_per_room():
    sizes = [len(render_rooms_page(fake_results(n), generated=TIME).encode()) for n in (1000, 2000)]
    assert sizes[1] - sizes[0] < 1000 * 400  # 4 MB for 10,000 rooms


def test_hostile_texts_stay_data():
    html = render_rooms_page(hostile_results(), title="</title><script>x</script>", generated=TIME)
    assert len(re.findall(r"<script", html)) == 2
    assert len(re.findall(r"</script", html)) == 2
    assert "<title>&lt;/title&gt;" in html
    assert "<b>bold" not in html
    data = data_of(html)
    assert sorted(data["room"]) == sorted(HOSTILE)
    for k, room in enumerate(data["room"]):
        assert decoded(data, "reason", k) == f"{room}.csv: {room} </script>"


def test_infinite_and_unknown_numbers_are_null():
    html = render_rooms_page([RoomResult("a", "trained", error=math.inf, nrmse=-math.inf)], generated=TIME)
    numbers = data_of(html)["numbers"]
    assert (numbers["error"], numbers["nrmse"], numbers["coverage"]) == ([None], [None], [None])
    assert "NaN" not in html.split('id="rooms-data">')[1].split("</script>")[0]


def test_name_that_is_no_valid_unicode(tmp_path):
    write_rooms_page(
        [RoomResult("a\udc80b", "failed", reason="x\udfff")], tmp_path / "p.html", generated=TIME
    )
    assert data_of((tmp_path / "p.html").read_text())["room"] == ["a?b"]


def test_only_own_script_and_style_are_permitted(html):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', html)[1]
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert not re.search(r"(?:src|href)=\"(?!#)", html)
    assert "style=" not in html


def test_page_is_deterministic_and_independent_of_the_order(results, html):
    assert render_rooms_page(results[::-1], title="Campus <North>", generated=TIME) == html


def test_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "rooms.html"
    path.write_text("the old one")
    with pytest.raises(AttributeError):
        write_rooms_page([None], path)
    assert path.read_text() == "the old one"
    assert list(tmp_path.iterdir()) == [path]
