"""The guide of the live service matches the code: settings, commands, paths and numbers."""

import json
import re
import shlex
from pathlib import Path

import pytest
from live.fake_pipeline import Client, FakePipeline, make_config, make_state
from starlette.routing import Match

from occupair.checks import sensor_limits
from occupair.control.outdoor_air import DEADBAND, RAMP_DOWN_TIME
from occupair.live import pipeline, training_process
from occupair.live.config import VARIABLES, Limits, RoomConfig, ServiceConfig, read_config
from occupair.live.http import app as application
from occupair.live.http.app import make_app
from occupair.live.messages import MAX_CLOCK_AHEAD, Quality, ReadingOutcome, to_time
from occupair.live.mqtt.payloads import parse_co2, parse_ventilation
from occupair.live.mqtt.topics import state_payload
from occupair.live.rooms import day_estimates
from occupair.live.rooms import sensor_faults as faults
from occupair.live.rooms.interval_correction import IntervalCorrection
from occupair.live.rooms.restore import RECENT_ESTIMATES
from occupair.readings import gaps
from occupair.room.live_day import START_UP

ROOT = Path(__file__).parents[2]
PAGES = ("live", "live-sources", "live-outputs", "live-operation")
GUIDE = "\n".join((ROOT / f"docs/{name}.md").read_text() for name in PAGES)
README = (ROOT / "README.md").read_text()
DASHBOARD = json.loads((ROOT / "deploy/grafana/occupair.json").read_text())


def blocks(kind, text=GUIDE):
    """Return the code blocks of a language, with their line numbers as ids."""
    found = re.finditer(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [pytest.param(one[1], id=f"line-{text.count(chr(10), 0, one.start()) + 1}") for one in found]


def lines_of(*starts, text=GUIDE):
    """Return the lines of shell blocks that start with a word; continued lines are joined."""
    shell = "\n".join(block.values[0] for block in blocks("sh", text)).replace("\\\n", " ")
    return [line for line in shell.splitlines() if line.split(" ")[0] in starts]


def section_of(heading):
    """Return the section below a heading of the second level."""
    return re.search(rf"^## {heading}\n(.*?)^## ", GUIDE, re.DOTALL | re.MULTILINE)[1]


@pytest.mark.parametrize(
    ("heading", "co2", "ventilation"),
    [
        ("Zigbee2MQTT", 812, None),
        ("Tasmota", 589, None),
        ("The Things Stack", 812, None),
        ("ChirpStack", 812, None),
        ("Modbus", 812, None),
        ("Any JSON", 604, 0.4),
    ],
)
def test_example_payload_matches_its_settings(heading, co2, ventilation, tmp_path):
    section = section_of(heading)
    (settings,), (payload,) = ([one.values[0] for one in blocks(kind, section)] for kind in ("toml", "json"))
    path = tmp_path / "rooms.toml"
    path.write_text(settings)
    (room,) = read_config(path, {}).rooms.values()
    now = to_time(1_772_434_800_000_000)
    assert parse_co2(room.co2, payload.encode(), now, room.timezone).value == co2
    if ventilation is not None:
        assert parse_ventilation(room.ventilation, payload.encode(), now, room.timezone).value == ventilation


def test_state_keys_are_documented():
    (told,) = (one.values[0] for one in blocks("json") if '"people_exact"' in one.values[0])
    assert list(json.loads(told)) == list(json.loads(state_payload(make_state("lab"))))


def query_names(dependant):
    """Return the query parameters of a route, and of what it depends on."""
    own = {one.alias for one in dependant.query_params}
    return own.union(*(query_names(one) for one in dependant.dependencies))


@pytest.mark.parametrize("line", lines_of("curl"))
def test_documented_path_exists(line):
    words = shlex.split(line)
    (address,) = (word for word in words if word.startswith("http://127.0.0.1:8099/"))
    method = "POST" if {"-d", "--data-binary"} & set(words) else "GET"
    if "-X" in words:
        method = words[words.index("-X") + 1]
    path, _, query = address.removeprefix("http://127.0.0.1:8099").partition("?")
    if path == "/api/openapi.json":
        return
    scope = {"type": "http", "path": path, "method": method, "root_path": ""}
    routes = [route for part in application._ROUTERS for route in part.router.routes]
    (route,) = (route for route in routes if route.matches(scope)[0] is Match.FULL)
    known = query_names(route.dependant)
    assert {pair.partition("=")[0] for pair in query.split("&") if pair} <= known


@pytest.mark.parametrize("word", [*ReadingOutcome, *Quality])
def test_outcomes_and_qualities_are_documented(word):
    assert re.search(rf"^\| `{word.value}` \| ", GUIDE, re.MULTILINE)


def test_documented_numbers_match_the_code():
    room, service = RoomConfig(id="lab"), ServiceConfig()
    for text in (
        f"CO2 is below {sensor_limits.LOWEST_CO2:g} or above {sensor_limits.HIGHEST_CO2:,.0f} ppm",
        f"constant for {sensor_limits.STUCK:g} minutes, or for {sensor_limits.STUCK_COARSE:g} minutes if",
        f"resolution is {sensor_limits.COARSE_STEP:g} ppm or coarser",
        f"by more than {sensor_limits.JUMP:g} ppm",
        f"more than {sensor_limits.STEEPEST:g} ppm per minute",
        f"per minute, for the next {faults.SETTLES:g} minutes",
        f"the first {START_UP:g} minutes of a day",
        f"within {day_estimates.EMPTY_AT_MIDNIGHT:g} minutes of midnight",
        f"more than {MAX_CLOCK_AHEAD.total_seconds() / 60:g} minutes ahead of this machine's clock",
        f"a value holds for {gaps.VENTILATION_HOLD / 60:g} hours",
        f"gaps up to {gaps.LONGEST_GAP:g} minutes",
        f"`stale_after` ({room.stale_after:g} minutes)",
        f"`retention_days` ({service.retention_days})",
        f"`tolerance` ({service.tolerance:g} people)",
        f"Past {pipeline.MAX_BACKLOG:,} waiting",
        f"estimates of the last {RECENT_ESTIMATES.total_seconds() / 60:g} minutes",
        f"{RAMP_DOWN_TIME:g} min from the maximum to 0",
        f"| `deadband` | {100 * DEADBAND:g} % of the maximum |",
        f"With {training_process.MIN_LABELS} head counts on {training_process.MIN_DAYS} days",
        f"may send {Limits().requests_per_minute} requests per minute",
    ):
        assert text in re.sub(r"\s+", " ", GUIDE)


def test_documented_variables_exist():
    named = set(re.findall(r"OCCUPAIR_\w+", GUIDE))
    assert named
    assert named <= set(VARIABLES)


def exported():
    """Return the names of all metrics of the service."""
    fake = FakePipeline(make_config("lab"))
    fake.publish(make_state("lab", outdoor_air=56.0, damper=0.5))
    fake.counters["mqtt", ReadingOutcome.ACCEPTED] += 1
    fake.corrections["lab"] = IntervalCorrection(covered=9, labels=10)
    text = Client(make_app(fake, fake.config))("GET", "/metrics").text
    return set(re.findall(r"^(\w+)(?:\{| )", text, re.MULTILINE))


def test_documented_metrics_are_complete():
    ours = {re.sub("_(bucket|sum|count)$", "", name) for name in exported() if name.startswith("occupair_")}
    assert set(re.findall(r"`(occupair_\w+)`", section_of("Prometheus and Grafana"))) == ours


def test_dashboard_metrics_exist():
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    asked += [one["query"]["query"] for one in DASHBOARD["templating"]["list"] if one["type"] == "query"]
    names = set(re.findall(r"\b(?:occupair|process)_\w+", " ".join(asked)))
    assert len(names) > 8
    assert names <= exported()


def test_dashboard_panels_do_not_overlap():
    places = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24


def test_esphome_topic_matches_the_guide():
    device = (ROOT / "deploy/esphome/co2-sensor.yaml").read_text()
    topic = re.search(r"state_topic: (\S+)", device)[1]
    assert f'co2 = {{ topic = "{topic}", shape = "number" }}' in GUIDE


def test_screenshots_are_in_the_readme():
    assert re.findall(r"docs/live-\w+\.png", README) == [
        f"docs/live-{name}.png" for name in ("rooms", "room", "phone")
    ]
