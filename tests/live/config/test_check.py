"""What settings lead to: a line for each room, surprises, and models that cannot be read."""

import pytest

from occupair.errors import InputError
from occupair.live.config import check_files, look_at, read_config

HASH = "sha256:" + "0123456789abcdef" * 4


@pytest.fixture
def model(tmp_path, trained_room):
    trained_room.save(tmp_path / "one.occupair")
    return trained_room


def test_a_look_has_a_line_for_each_room(read, model):
    look = look_at(
        read(
            '[mqtt]\nhost = "localhost"\n[service]\ntimezone = "Asia/Singapore"\n'
            '[rooms.a]\nname = "Room A"\nmodel = "one.occupair"\nco2 = "z/a"\n'
            'ventilation = {topic = "v", full = 100}\n'
            '[rooms.b]\nco2 = {topic = "b", path = "x.y"}\n'
        )
    )
    assert look.rooms == [
        "a: Room A; one.occupair, one reading every 5 min, with ventilation; co2 from z/a, ventilation from "
        "v, full at 100; Asia/Singapore",
        "b: b; no model; co2 from b (json x.y); Asia/Singapore",
    ]
    assert look.warnings == ["b: has no model: its count is unknown until it is trained"]
    assert look.faults == ""


def test_surprises(read, write, model, slow_office):
    path = write(
        '[mqtt]\nhost = "broker"\npassword = "hush"\n[rooms.a]\nmodel = "one.occupair"\nstale_after = 6\n'
    )
    path.chmod(0o644)
    look = look_at(read_config(path, {"OCCUPAIR_PROT": "80", "OCCUPAIR_DATA": "/data"}))
    assert look.warnings == [
        "the password of the broker goes to broker in the clear: set mqtt.tls = true",
        f"{path} has a password, and everybody on this machine may read it: chmod 640",
        "OCCUPAIR_PROT is set, and is no setting of the service",
        "a: has no co2 topic: only HTTP brings readings",
        "a: its model wants ventilation, and it has no such topic: unless HTTP brings it, no count",
        "a: is stale after 6 min, and its readings come every 5 min",
    ]
    assert "hush" not in "".join(look.warnings)
    path.chmod(0o640)
    assert not [words for words in look_at(read_config(path, {})).warnings if "everybody" in words]


def test_surprises_of_topics_zones_and_secrets(read, write, tmp_path, slow_office, trained_room):
    zoned = slow_office.tz_localize("Asia/Singapore").drop(columns="ventilation")
    type(trained_room)(n_hidden=20, random_state=0).fit(zoned).save(tmp_path / "zoned.occupair")
    text = '[rooms.a]\nmodel = "zoned.occupair"\nco2 = "a"\nventilation = "b"\n'
    assert look_at(read(text)).warnings == [
        "a: has topics, and there is no [mqtt]: only HTTP brings readings",
        "a: its model was trained without ventilation: what the topic says is kept but not used",
        "a: its model was trained in Asia/Singapore, and its midnight is that of UTC",
    ]
    write("hush", "secret").chmod(0o644)
    tokens = f'[service]\nhost = "0.0.0.0"\n[tokens.a]\nrole = "read"\nhash = "{HASH}"\n'
    look = look_at(
        read(f'{tokens}[mqtt]\nhost = "localhost"\npassword_file = "secret"\n[rooms.a]\nco2 = "a"')
    )
    assert look.warnings[:2] == [
        "listens on 0.0.0.0 without TLS, of which it has none: put a proxy with TLS before it",
        f"{tmp_path / 'secret'} is a password, and everybody on this machine may read it: chmod 600",
    ]


def test_models_and_certificates_that_cannot_be_read(read, write, tmp_path):
    write('{"format":"occupair model"', "broken.occupair")
    config = read(
        '[mqtt]\nhost = "b"\ntls = true\nca_file = "ca.pem"\n'
        '[rooms.a]\nmodel = "none.occupair"\n[rooms.b]\nmodel = "broken.occupair"\n[rooms.c]\nmodel = "."\n'
    )
    toml = tmp_path / "rooms.toml"
    model = "must be a model of 'occupair fit' that can be read"
    faults = look_at(config).faults.splitlines()
    assert faults[0] == f"{toml}, line 4, mqtt.ca_file: must be a file that is there, got '{tmp_path}/ca.pem'"
    assert faults[1] == (
        f"{toml}, line 6, rooms.a.model: {model}: {tmp_path}/none.occupair: No such file or directory"
    )
    assert faults[2].startswith(f"{toml}, line 8, rooms.b.model: {model}: {tmp_path}/broken.occupair: ")
    assert faults[3].startswith(f"{toml}, line 10, rooms.c.model: {model}: ")
    with pytest.raises(InputError) as caught:
        check_files(config)
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [
        f"{toml}, line 4, mqtt.ca_file",
        f"{toml}, line 6, rooms.a.model",
        f"{toml}, line 10, rooms.c.model",
    ]


def test_files_that_are_there_are_taken_at_the_start(read, model):
    assert check_files(read('[rooms.a]\nmodel = "one.occupair"\n')) is None


def test_a_file_that_this_user_may_not_read(read, model, monkeypatch):
    config = read('[rooms.a]\nmodel = "one.occupair"\n')
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may read all
    with pytest.raises(
        InputError, match=r"line 2, rooms.a.model: must be a file that this user may read, got"
    ):
        check_files(config)
