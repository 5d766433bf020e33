"""The generated reference is complete, and what it is made from has descriptions."""

import inspect
import json
import re

import pytest
from markdown_it import MarkdownIt
from markdown_pages import ROOT

import occupair as oc
from occupair import metrics
from occupair.live.config.load import VARIABLES
from tools.reference import (
    bacnet_page,
    commands_page,
    http_page,
    markdown,
    mqtt_page,
    pages,
    python_page,
    settings_page,
    write_pages,
)

COMMANDS = commands_page.commands()


@pytest.fixture(scope="module")
def made():
    return pages()


def rows_of(text, heading):
    """Return the rows of the first table below a heading, as lists of cells."""
    section = text.split(f"\n{heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)[0]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()[2:]]


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_a_description_and_options_have_help(name):
    command = COMMANDS[name]
    assert len(commands_page.summary_of(command).split()) > 2
    assert [row[1] for row in commands_page.parameters(command) if not row[2].strip()] == []


def test_commands_page_lists_every_command_and_option(made):
    text = made["commands.md"]
    for name, command in COMMANDS.items():
        section = text.split(f"\n({commands_page.anchor(name)})=\n")[1].split("\n(occupair-")[0]
        flags = {flag for one in command.params for flag in one.opts if flag.startswith("--")} - {"--help"}
        assert flags <= set(re.findall(r"--[a-z0-9-]+", section))
    assert not re.search(r"\boccupair (prove|home-assistant)\b", text)  # hidden commands


def test_commands_page_has_values_defaults_and_ranges(made):
    arguments = {row[0]: row[1:] for row in rows_of(made["commands.md"], "### occupair backup")}
    assert arguments == {"`FILE`": ["Backup file to write."]}
    section = made["commands.md"].split("### occupair simulate\n")[1]
    assert "| `--days` | integer, from 1 | `30` | Number of weekdays to simulate. |" in section
    assert "| `--dayfirst, --monthfirst` |" in made["commands.md"]


@pytest.mark.parametrize("name", oc.__all__)
def test_public_name_has_a_docstring_and_a_page(name, made):
    assert inspect.getdoc(getattr(oc, name))
    assert name == "metrics" or f"api/occupair.{name}.md" in made


@pytest.mark.parametrize("name", ["rmse", "false_positive_rate", "tolerance_accuracy", "interval_score"])
def test_metric_has_a_page(name, made):
    assert inspect.getdoc(getattr(metrics, name))
    assert f"api/occupair.metrics.{name}.md" in made


def test_documented_objects_have_docstrings():
    names = [name for of_section in python_page.sections().values() for name in of_section]
    objects = {name: python_page.resolve(name) for name in names}
    assert [n for n, one in objects.items() if python_page.is_documented(one) and not one.__doc__] == []


def test_settings_page_has_every_setting_of_the_environment(made):
    for section, key in VARIABLES.values():
        assert f"`{key}`" in {row[0] for row in rows_of(made["settings.md"], f"## `[{section}]`")}


LEVELS = '`"debug"` or `"info"` or `"warning"` or `"error"`'


PORT = "integer, 1 to 65,535"


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("## `[service]`", ["`port`", "TCP port to listen on.", "", PORT, "`8099`"]),
        ("## `[mqtt]`", ["`port`", "TCP port of the broker.", "", PORT, "`1883`; with `tls = true`: 8883"]),
        ("## `[rooms.ID]`", ["`area`", "Floor area, in place of `volume`.", "m²", "number, positive", ""]),
        ("## `[service]`", ["`log_level`", "Lowest level that is logged.", "", LEVELS, '`"info"`']),
    ],
)
def test_setting_has_type_default_unit_and_description(heading, row, made):
    assert row in rows_of(made["settings.md"], heading)


def test_every_setting_has_a_description(made):
    headings = re.findall(r"^##+ .*$", made["settings.md"], re.MULTILINE)
    rows = [
        row
        for one in headings
        if one != "## Sources of readings"
        for row in rows_of(made["settings.md"], one)
    ]
    assert len(rows) > 80
    assert [row[0] for row in rows if not row[1]] == []


def test_http_page_has_every_operation_with_its_role(made):
    document = json.loads(made["openapi.json"])
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            section = made["http.md"].split(f"\n### {method.upper()} {markdown.escape(path)}\n")[1]
            section = section.split("\n### ")[0]
            role = operation.get("x-required-role")
            assert (f"Role: {role}." if role else "No token is needed.") in section
            assert all(f"`{one['name']}`" in section for one in operation.get("parameters", ()))
    assert http_page.kind({"type": "array", "items": {"$ref": "#/components/schemas/Room"}}) == (
        "list of [Room](#http-room)"
    )


@pytest.mark.parametrize(
    ("operation", "role"),
    [
        ("GET /api/rooms", "Role: read."),
        ("POST /api/rooms/{room}/readings", "Role: write."),
        ("PUT /api/floors/plan", "Role: admin."),
        ("GET /healthz", "No token is needed."),
    ],
)
def test_roles_of_operations(operation, role, made):
    assert role in made["http.md"].split(f"\n### {operation}\n")[1].split("\n### ")[0]


def test_http_fields_have_descriptions_or_plain_names(made):
    document = json.loads(made["openapi.json"])
    parameters = [
        (path, one["name"])
        for path, operations in document["paths"].items()
        for operation in operations.values()
        for one in operation.get("parameters", ())
        if not one.get("description")
    ]
    assert parameters == []


def test_mqtt_topics(made):
    topics = {row[0]: row[1:] for row in rows_of(made["mqtt.md"], "## Published topics")}
    assert topics["`occupair/<room>/state`"][1:3] == ["1", "yes"]
    assert {"`occupair/status`", "`occupair/<room>/availability`"} < set(topics)
    assert "`homeassistant/device/occupair_<room>/config`" in topics
    assert [row[0] for row in rows_of(made["mqtt.md"], "## Home Assistant entities")][:2] == [
        "`sensor.<room>_people`",
        "`binary_sensor.<room>_occupied`",
    ]


def test_every_key_of_the_mqtt_state_has_a_description():
    payload = json.loads(mqtt_page.state_payload(mqtt_page.STATE))
    for line in mqtt_page.state_table(list(payload)).splitlines()[2:]:
        assert line.split("|")[3].strip(), line


def test_bacnet_objects_match_the_guide():
    """The guide has the same table, with further columns."""
    guide = (ROOT / "docs/bacnet.md").read_text()
    rows = rows_of(guide, "## Counts as BACnet objects")
    assert [[row[0], row[1], row[3], row[2], row[4]] for row in rows] == [
        row[:5] for row in bacnet_page.object_rows()
    ]


@pytest.mark.parametrize("page", ["commands", "settings", "http", "mqtt", "bacnet", "store"])
def test_rows_of_tables_have_as_many_cells_as_their_head(page, made):
    parser = MarkdownIt("commonmark").enable("table")
    lines = re.findall(r"(?:^\|.*\n)+", made[f"{page}.md"], re.MULTILINE)
    assert lines
    for block in lines:
        cells = [len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()]
        assert len(set(cells)) == 1, block
        assert parser.parse(block)[0].type == "table_open"


def test_only_changed_pages_are_written(tmp_path, monkeypatch):
    contents = {"a.md": "one\n", "api/b.md": "two\n"}
    monkeypatch.setattr("tools.reference.pages", lambda: contents)
    write_pages(tmp_path)
    before = (tmp_path / "a.md").stat().st_mtime_ns
    contents["api/c.md"] = "three\n"
    del contents["api/b.md"]
    write_pages(tmp_path)
    assert (tmp_path / "a.md").stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["a.md", "c.md"]


def test_settings_table_of_a_model():
    model = {
        "required": ["host"],
        "properties": {
            "host": {"type": "string", "description": "Host | name."},
            "wait": {
                "type": "number",
                "minimum": 0,
                "maximum": 9,
                "default": 1.5,
                "description": "Pause [s].",
            },
        },
    }
    assert settings_page.settings_table(model).splitlines()[2:] == [
        "| `host` | Host \\| name. |  | string | required |",
        "| `wait` | Pause. | s | number, 0 to 9 | `1.5` |",
    ]
