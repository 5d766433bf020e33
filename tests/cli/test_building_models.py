"""The export and import commands."""

import json
import os
from contextlib import closing
from importlib import util

import pytest
from command import occupair
from live.semantic.models import OFFICE, SETTINGS
from rdflib import Graph

from occupair.live.config import read_config
from occupair.live.store import Store


@pytest.fixture
def rooms(tmp_path):
    path = tmp_path / "rooms.toml"
    path.write_text(SETTINGS)
    return path


@pytest.mark.parametrize(
    ("words", "example"),
    [
        (("export",), "occupair export brick rooms.toml --out building.ttl"),
        (("export", "brick"), "occupair export brick rooms.toml"),
        (("export", "haystack"), "occupair export haystack rooms.toml"),
        (("import",), "occupair import brick building.ttl"),
        (("import", "brick"), "occupair import brick building.ttl"),
    ],
)
def test_help_has_an_example(words, example):
    done = occupair(*words, "--help")
    assert done.returncode == 0
    assert f"Example: {example}" in done.stdout


def test_rooms_are_exported_and_imported_again(rooms, tmp_path):
    model, back = tmp_path / "building.ttl", tmp_path / "back.toml"
    done = occupair("export", "brick", rooms, "--out", model)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = occupair("import", "brick", model, "--out", back)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "occupair: 4 rooms; 2 lines marked CHECK\n"
    assert dict(read_config(back, {}).rooms) == dict(read_config(rooms, {}).rooms)
    assert occupair("serve", "--check", back).returncode == 0


def test_counts_refer_to_their_bacnet_objects(rooms):
    before = occupair("export", "brick", rooms)
    config = read_config(rooms, {})
    with closing(Store(config.store)) as store:
        store.migrate()
        store.room_numbers(["removed", *config.rooms])
    after, grid = occupair("export", "brick", rooms), occupair("export", "haystack", rooms)
    assert (before.stderr, after.stderr, grid.stderr) == ("", "", "")
    for number in range(2, 2 + len(config.rooms)):
        assert f'"analog-value,{number}1"' not in before.stdout
        assert f'"analog-value,{number}1"' in after.stdout
        assert f'"binary-value,{number}5"' in after.stdout
        assert f'"AV{number}1"' in grid.stdout
    assert '"analog-value,11"' not in after.stdout


def test_unreadable_store_is_noted(rooms):
    database = rooms.with_name("occupair.db")
    database.write_bytes(b"not a database" * 100)
    done = occupair("export", "haystack", rooms)
    assert done.returncode == 0
    assert done.stderr.startswith("occupair: the BACnet objects of the counts are not exported: ")
    assert done.stderr.count("\n") == 1


def test_models_are_printed_without_out(rooms):
    brick = occupair("export", "brick", rooms, "--namespace", "urn:hall#", "--building", "Town hall")
    assert len(Graph().parse(data=brick.stdout, format="turtle")) > 100
    assert '"Town hall"' in brick.stdout
    haystack = occupair("export", "haystack", rooms, "--building", "Town hall")
    assert json.loads(haystack.stdout)["rows"][0]["dis"] == "Town hall"
    settings = occupair("import", "brick", OFFICE, "--timezone", "Europe/Oslo")
    assert settings.stdout.startswith("# Rooms of office.ttl. ")
    assert 'timezone = "Europe/Oslo"' in settings.stdout


@pytest.mark.parametrize(
    ("command", "name"),
    [("export brick", "b.ttl"), ("export haystack", "b.json"), ("import brick", "b.toml")],
)
def test_existing_file_is_kept_unless_overwritten(rooms, tmp_path, command, name):
    path = tmp_path / name
    path.write_text("mine")
    source = OFFICE if command.startswith("import") else rooms
    done = occupair(*command.split(), source, "--out", path)
    assert done.returncode == 2
    assert done.stderr == f"occupair: --out {path} exists: choose another name, or add --overwrite\n"
    assert path.read_text() == "mine"
    assert occupair(*command.split(), source, "--out", path, "--overwrite").returncode == 0
    assert path.read_text() != "mine"


@pytest.mark.parametrize(
    ("command", "name", "rule"),
    [
        ("export brick", "b.json", "must end in .ttl"),
        ("export haystack", "b.ttl", "must end in .json"),
        ("import brick", "b.ttl", "must end in .toml"),
    ],
)
def test_suffix_must_be_that_of_the_format(rooms, tmp_path, command, name, rule):
    source = OFFICE if command.startswith("import") else rooms
    done = occupair(*command.split(), source, "--out", tmp_path / name)
    assert (done.returncode, done.stderr) == (2, f"occupair: {tmp_path / name}: {rule}\n")


def test_missing_rdflib_names_the_extra(rooms, monkeypatch):
    find = util.find_spec
    monkeypatch.setattr(
        "occupair.cli.export_models.find_spec", lambda name: None if name == "rdflib" else find(name)
    )
    for command, source in (("export", rooms), ("import", OFFICE)):
        done = occupair(command, "brick", source)
        assert done.returncode == 2
        assert done.stderr == (
            f"occupair: {command} brick requires packages that are not installed:"
            " pip install 'occupair[live,semantic]'\n"
        )
    assert occupair("export", "haystack", rooms).returncode == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<urn:a> a <urn:b> .", "must have a CO2 sensor (brick:CO2_Sensor or a subclass)"),
        ("hello", "line 1: must be Turtle"),
    ],
)
def test_unusable_model_is_one_line(tmp_path, text, message):
    path = tmp_path / "b.ttl"
    path.write_text(text)
    done = occupair("import", "brick", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"occupair: {path}")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_missing_model_and_wrong_time_zone(tmp_path):
    done = occupair("import", "brick", tmp_path / "none.ttl")
    assert (done.returncode, done.stderr) == (
        2,
        f"occupair: {tmp_path / 'none.ttl'}: {os.strerror(2)}\n",
    )
    done = occupair("import", "brick", OFFICE, "--timezone", "Oslo")
    assert "--timezone must be an IANA time zone" in done.stderr
