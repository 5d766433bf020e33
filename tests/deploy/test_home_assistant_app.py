"""The files of the Home Assistant app follow the documented rules of app configurations.

Rules: https://developers.home-assistant.io/docs/apps/configuration, and the linter of the community's apps
(frenck/action-addon-linter), which also refuses keys that repeat a default.
"""

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from occupair._version import __version__
from occupair.live.config import read_config
from occupair.live.config.settings import ServiceTable
from occupair.live.home_assistant import OPTIONS, PORT, ROOM_OPTIONS, read_settings
from tools.dockerfile import command_of, read_stages, with_bases
from tools.home_assistant_app import assemble

ROOT = Path(__file__).parents[2]
REPOSITORY = ROOT / "deploy/home-assistant-app"
APP = REPOSITORY / "occupair"
CONFIG = yaml.safe_load((APP / "config.yaml").read_text())
DOCS = (APP / "DOCS.md").read_text()
TRANSLATIONS = {path.stem: yaml.safe_load(path.read_text()) for path in APP.glob("translations/*.yaml")}

REQUIRED = {"name": str, "version": str, "slug": str, "description": str, "arch": list}
OPTIONAL = {  # type, default
    "backup": (str, "hot"),
    "backup_exclude": (list, None),
    "boot": (str, "auto"),
    "homeassistant": (str, None),
    "hassio_api": (bool, False),
    "homeassistant_api": (bool, False),
    "host_network": (bool, False),
    "image": (str, None),
    "ingress": (bool, False),
    "ingress_entry": (str, "/"),
    "ingress_port": (int, 8099),
    "ingress_stream": (bool, False),
    "init": (bool, True),
    "map": (list, None),
    "options": (dict, None),
    "panel_admin": (bool, True),
    "panel_icon": (str, "mdi:puzzle"),
    "panel_title": (str, None),
    "schema": (dict, None),
    "services": (list, None),
    "stage": (str, "stable"),
    "startup": (str, "application"),
    "timeout": (int, 10),
    "tmpfs": (bool, False),
    "url": (str, None),
}
TYPE = re.compile(
    r"(bool|email|url|port|device|(str|password|int)(\(\d*,\d*\))?|float(\([\d.]*,[\d.]*\))?"
    r"|match\(.*\)|list\(.+\))\??"
)


def test_required_keys():
    for key, kind in REQUIRED.items():
        assert isinstance(CONFIG[key], kind)
    assert re.fullmatch(r"[-_.A-Za-z0-9]+", CONFIG["slug"])
    assert set(CONFIG["arch"]) <= {"aarch64", "amd64"}  # the others are deprecated
    assert CONFIG["version"] == __version__


def test_optional_keys_are_documented_and_differ_from_their_default():
    for key in CONFIG.keys() - REQUIRED.keys():
        kind, default = OPTIONAL[key]
        assert type(CONFIG[key]) is kind
        assert CONFIG[key] != default


def test_values_of_keys():
    assert all(re.fullmatch(r"(mqtt|mysql):(provide|want|need)", one) for one in CONFIG["services"])
    assert "mqtt:want" in CONFIG["services"]  # else the Supervisor does not name the broker
    for one in CONFIG["map"]:
        assert one.keys() <= {"type", "read_only", "path"}
    assert [one["type"] for one in CONFIG["map"]] == ["addon_config"]  # mounted at /config
    assert CONFIG["backup"] in ("hot", "cold")
    assert 10 <= CONFIG["timeout"] <= 300
    assert re.fullmatch(r"\d{4}\.\d{1,2}\.\d+", CONFIG["homeassistant"])
    assert re.fullmatch(r"mdi:[a-z-]+", CONFIG["panel_icon"])


def test_app_has_no_privileges():
    refused = {
        "privileged",
        "full_access",
        "docker_api",
        "host_network",
        "host_pid",
        "hassio_role",
        "devices",
    }
    assert not refused & CONFIG.keys()
    assert "hassio_api" not in CONFIG  # the services need no API access


def test_ingress_connects_to_the_port_of_the_service():
    assert CONFIG["ingress"] is True
    assert CONFIG.get("ingress_port", 8099) == PORT == ServiceTable().port


def test_stop_timeout_is_longer_than_that_of_the_service():
    from occupair.live.service import STOP_TIMEOUT

    assert CONFIG["timeout"] > STOP_TIMEOUT


def schema_elements(schema, depth=0):
    """Return the types of a schema, and check its depth."""
    assert depth <= 2
    if isinstance(schema, str):
        return [schema]
    values = schema if isinstance(schema, list) else schema.values()
    return [one for value in values for one in schema_elements(value, depth + isinstance(schema, list))]


def test_schema_has_valid_types():
    elements = schema_elements(CONFIG["schema"])
    assert len(elements) == len(OPTIONS) + len(ROOM_OPTIONS)
    for element in elements:
        assert TYPE.fullmatch(element), element


def test_every_option_of_the_code_is_in_the_schema():
    (room,) = CONFIG["schema"]["rooms"]
    assert set(CONFIG["schema"]) == {"rooms", *OPTIONS}
    assert set(room) == set(ROOM_OPTIONS)


def test_options_have_a_default_unless_they_are_optional():
    for name, kind in CONFIG["schema"].items():
        assert (name in CONFIG["options"]) == (not isinstance(kind, str) or not kind.endswith("?")), name


def test_choices_of_the_schema_are_those_of_the_settings():
    for option, key in (("access", "ingress_role"), ("log_level", "log_level")):
        offered = CONFIG["schema"][option].rstrip("?").removeprefix("list(").removesuffix(")").split("|")
        annotation = ServiceTable.model_fields[key].annotation
        assert set(offered) == set(annotation.__args__)


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_option_is_translated(language):
    texts = TRANSLATIONS[language]["configuration"]
    (room,) = CONFIG["schema"]["rooms"]
    assert set(texts) == set(CONFIG["schema"])
    assert set(texts["rooms"]["fields"]) == set(room)
    for text in (*texts.values(), *texts["rooms"]["fields"].values()):
        assert text.keys() <= {"name", "description", "fields"}
        assert text["name"].strip()
        assert text["description"].endswith((".", ")", "1"))


def test_german_differs_from_english():
    english, german = (TRANSLATIONS[name]["configuration"]["rooms"]["fields"] for name in ("en", "de"))
    assert all(english[key]["description"] != german[key]["description"] for key in english)


def test_documented_options_are_complete():
    named = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", DOCS, re.MULTILINE))))
    assert {*OPTIONS, *ROOM_OPTIONS, "rooms"} <= named | {"area", "height"}
    for name in ("area", "height"):
        assert f"`{name}`" in DOCS


def test_documented_example_is_valid(tmp_path):
    example = yaml.safe_load(re.search(r"```yaml\n(rooms:.*?)```", DOCS, re.DOTALL)[1])
    config = read_settings(example, {}, broker={"host": "b"}, config=tmp_path, folder=tmp_path)
    assert config.rooms["meeting-room"].ventilation.full == 100
    assert config.ingress_role == "write"


def test_documented_message_is_that_of_the_code(tmp_path):
    message = re.search(r"`(option capacity .*?)`", DOCS)[1]
    options = {"rooms": [{"name": "Lab", "co2": "lab/co2", "capacity": "two"}]}
    with pytest.raises(Exception, match=re.escape(message)):
        read_settings(options, {}, broker={"host": "b"}, config=tmp_path, folder=tmp_path)


def test_repository_has_a_name():
    assert yaml.safe_load((REPOSITORY / "repository.yaml").read_text()).keys() <= {
        "name",
        "url",
        "maintainer",
    }


@pytest.mark.parametrize(("name", "size"), [("icon.png", (128, 128)), ("logo.png", (250, 100))])
def test_pictures_have_the_recommended_size(name, size):
    data = (APP / name).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == size


def test_assembled_app_is_complete(tmp_path):
    app = assemble(tmp_path / "repository")
    assert (app.parent / "repository.yaml").exists()
    image = with_bases(read_stages(app / "Dockerfile"))
    assert image[-2].name == "home-assistant"
    assert command_of(image[-2].last("CMD")) == ["home-assistant"]
    for stage in read_stages(app / "Dockerfile").values():
        for word, rest in stage.steps:
            if word == "COPY" and "--from" not in rest:
                assert all((app / name).exists() for name in rest.split()[:-1])
    assert [path.name for path in app.parent.rglob("config.yaml")] == ["config.yaml"]  # the Supervisor's rule
    assert (app / "README.md").read_text() == (APP / "README.md").read_text()
    assert assemble(app.parent) == app  # again


def test_assembling_keeps_other_folders(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(SystemExit, match="is another folder"):
        assemble(tmp_path)
    assert (tmp_path / "mine").exists()


def test_assembled_source_code_runs(tmp_path):
    """The code that Home Assistant builds refuses options like the code here."""
    app = assemble(tmp_path / "repository")
    (tmp_path / "options.json").write_text(json.dumps({"rooms": []}))
    command = [sys.executable, "-m", "occupair", "home-assistant", "--data", str(tmp_path)]
    done = subprocess.run(
        [*command, "--config", str(tmp_path)],
        env={"PYTHONPATH": str(app / "src"), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "option mqtt_host: there is no MQTT broker" in done.stderr


def test_settings_file_of_the_guide_works_in_the_app(tmp_path):
    """An example without [mqtt] and [service]: the app adds them."""
    (tmp_path / "rooms.toml").write_text('[rooms.lab]\nco2 = "lab/co2"\n')
    config = read_settings({}, {}, broker={"host": "b"}, config=tmp_path, folder=tmp_path)
    plain = read_config(tmp_path / "rooms.toml", {})
    assert config.rooms == plain.rooms
    assert (plain.mqtt, config.mqtt.host) == (None, "b")
