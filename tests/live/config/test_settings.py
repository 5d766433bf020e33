"""Settings: what a file may say, and every mistake told with its line, its key, the rule and the value."""

import os
import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.errors import InputError
from occupair.live.config import (
    BY_VARIABLE,
    Limits,
    MqttConfig,
    RoomConfig,
    TokenConfig,
    Topic,
    read_config,
    reread,
)

DEPLOY = Path(__file__).parents[3] / "deploy"
ROOM = '[rooms.lab]\nco2 = "lab/co2"\n'
HASH = "sha256:" + "0123456789abcdef" * 4


@pytest.fixture
def faults_of(read, tmp_path):
    """Give the faults of a text, without the folder."""

    def faults_of(text, environ=None, **options):
        with pytest.raises(InputError) as caught:
            read(text, environ, **options)
        return str(caught.value).replace(f"{tmp_path}{os.sep}", "").splitlines()

    return faults_of


def test_a_file_of_every_kind_of_setting(read, tmp_path):
    config = read(
        f"""
        [service]
        store = "postgresql://me:secret@db/rooms"
        host = "0.0.0.0"
        port = 80
        timezone = "Europe/Copenhagen"
        retention_days = 30
        clock = "readings"
        log = "json"
        log_level = "debug"
        room_metrics = false
        tolerance = 0.01
        [mqtt]
        host = "broker"
        user = "me"
        password = "hush"
        tls = true
        ca_file = "ca.pem"
        cert_file = "/etc/me.pem"
        key_file = "me.key"
        version = "3.1.1"
        client_id = "two"
        prefix = "people"
        discovery_prefix = "ha"
        discovery = false
        session_expiry = 60
        [limits]
        requests_per_minute = 60
        body_bytes = 2000
        readings_per_post = 5
        people_per_label = 50
        [tokens.grafana]
        role = "read"
        hash = "{HASH}"
        [rooms.meeting-1]
        name = "Meeting room 1"
        floor = "Ground"
        model = "models/one.occupair"
        timezone = "Asia/Singapore"
        stale_after = 5
        capacity = 12
        co2 = "zigbee2mqtt/meeting-1"
        ventilation = {{ topic = "bms/fan", full = 100 }}
        [rooms.b]
        co2 = {{ topic = "x", path = "a.b", time_path = "a.t" }}
        """
    )
    assert (config.store, config.host, config.port) == ("postgresql://me:secret@db/rooms", "0.0.0.0", 80)
    assert (config.timezone, config.retention_days, config.clock) == ("Europe/Copenhagen", 30, "readings")
    assert (config.log, config.log_level, config.room_metrics) == ("json", "debug", False)
    assert config.tolerance == 0.01
    assert config.mqtt.password.get_secret_value() == "hush"
    assert replace(config.mqtt, password=None) == MqttConfig(
        host="broker",
        port=8883,
        user="me",
        tls=True,
        ca_file=tmp_path / "ca.pem",
        cert_file=Path("/etc/me.pem"),
        key_file=tmp_path / "me.key",
        version="3.1.1",
        client_id="two",
        prefix="people",
        discovery_prefix="ha",
        discovery=False,
        session_expiry=60,
    )
    assert config.limits == Limits(60, 2000, 5, 50)
    assert config.tokens == (TokenConfig("grafana", "read", HASH),)
    assert config.rooms == {
        "meeting-1": RoomConfig(
            id="meeting-1",
            name="Meeting room 1",
            model=tmp_path / "models/one.occupair",
            timezone="Asia/Singapore",
            co2=Topic("zigbee2mqtt/meeting-1"),
            ventilation=Topic("bms/fan", full=100.0),
            floor="Ground",
            stale_after=5.0,
            capacity=12,
        ),
        "b": RoomConfig(id="b", name="b", timezone="Europe/Copenhagen", co2=Topic("x", "json", "a.b", "a.t")),
    }


def test_what_is_not_given(read, tmp_path):
    config = read("[rooms.lab]\n")
    assert config.store == f"sqlite:///{tmp_path}/occupair.db"
    assert (config.host, config.port, config.timezone, config.clock) == ("127.0.0.1", 8099, "UTC", "wall")
    assert (config.retention_days, config.log, config.room_metrics) == (400, "text", True)
    assert (config.tokens, config.mqtt, config.limits) == ((), None, Limits(600, 1_000_000, 10_000))
    assert config.rooms == {"lab": RoomConfig(id="lab", name="lab", timezone="UTC", stale_after=15.0)}
    assert read('mqtt.host = "b"\n' + ROOM).mqtt == MqttConfig("b", 1883, version="5", client_id="occupair")


def test_a_database_file_is_beside_the_settings(read, tmp_path):
    assert read(f'service.store = "sqlite:///a/b.db"\n{ROOM}').store == f"sqlite:///{tmp_path}/a/b.db"
    assert read(f'service.store = "sqlite:////abs/b.db"\n{ROOM}').store == "sqlite:////abs/b.db"


def test_secrets_are_not_shown(read):
    text = f'service.store = "postgresql://me:hush1@db/x"\nmqtt.host = "b"\nmqtt.password = "hush2"\n{ROOM}'
    config = read(f'{text}[tokens.a]\nrole = "read"\nhash = "{HASH}"\n', {"OCCUPAIR_MQTT__USER": "hush3"})
    assert not {"hush1", "hush2", HASH} & {word for word in ("hush1", "hush2", HASH) if word in repr(config)}
    assert "hush" not in repr(config.origin)


# One fault each: what is written, and the line of words it gives.
FAULTS = [
    # keys
    ("[service]\nprot = 1\n", "rooms.toml, line 2, service.prot: unknown key, did you mean 'port'?"),
    ("[room.x]\n", "rooms.toml, line 1, room: unknown key, did you mean 'rooms'?"),
    (
        "[zzz]\n",
        "rooms.toml, line 1, zzz: unknown key: known are service, mqtt, limits, tokens, rooms",
    ),
    (
        '[rooms.x]\nco2 = { topc = "a", topic = "b" }\n',
        "rooms.toml, line 2, rooms.x.co2.topc: unknown key, did you mean 'topic'?",
    ),
    (
        '[rooms.x]\nco2 = { topic = "b", full = 3 }\n',
        "rooms.toml, line 2, rooms.x.co2.full: unknown key: known are topic, shape, path, time_path",
    ),
    # types
    ("service = 3\n", "rooms.toml, line 1, service: must be a table, [service], got 3"),
    ("[[mqtt]]\n", "rooms.toml, line 1, mqtt: must be a table, [mqtt], got an array"),
    ("tokens = []\n", "rooms.toml, line 1, tokens: must be tables, [tokens.NAME], got an array"),
    ("[rooms]\nx = 3\n", "rooms.toml, line 2, rooms.x: must be a table, [rooms.x], got 3"),
    ("[rooms.x]\nco2 = 5\n", "rooms.toml, line 2, rooms.x.co2: must be a text, got 5"),
    ("[rooms.x.co2]\ntopic = 5\n", "rooms.toml, line 2, rooms.x.co2.topic: must be a text, got 5"),
    ("[rooms.x]\nname = [1]\n", "rooms.toml, line 2, rooms.x.name: must be a text, got an array"),
    (
        "[service]\nport = true\n",
        "rooms.toml, line 2, service.port: must be a whole number from 1 to 65535, got true",
    ),
    (
        '[service]\nport = "80"\n',
        "rooms.toml, line 2, service.port: must be a whole number from 1 to 65535, got '80'",
    ),
    (
        "[service]\nport = 65536\n",
        "rooms.toml, line 2, service.port: must be a whole number from 1 to 65535, got 65536",
    ),
    (
        "[service]\nroom_metrics = 1\n",
        "rooms.toml, line 2, service.room_metrics: must be true or false, got 1",
    ),
    (
        "[service]\ntolerance = nan\n",
        "rooms.toml, line 2, service.tolerance: must be a number above 0, at most 1, got nan",
    ),
    (
        "[rooms.x]\nstale_after = 0\n",
        "rooms.toml, line 2, rooms.x.stale_after: must be a number above 0, at most 1440, got 0",
    ),
    (
        "[rooms.x]\nstale_after = inf\n",
        "rooms.toml, line 2, rooms.x.stale_after: must be a number above 0, at most 1440, got inf",
    ),
    (
        '[service]\nclock = "wal"\n',
        "rooms.toml, line 2, service.clock: must be 'wall' or 'readings', got 'wal', did you mean 'wall'?",
    ),
    (
        "[service]\nclock = []\n",
        "rooms.toml, line 2, service.clock: must be 'wall' or 'readings', got an array",
    ),
    (
        "[mqtt]\nhost = 'b'\nversion = 5\n",
        "rooms.toml, line 3, mqtt.version: must be '5' or '3.1.1', got 5, did you mean '5'?",
    ),
    # topics
    (
        '[rooms.x]\nco2 = "a/+/b"\n',
        "rooms.toml, line 2, rooms.x.co2: must be one topic, without the wildcards + and #, got 'a/+/b'",
    ),
    (
        '[rooms.x]\nventilation = { topic = "a/#" }\n',
        "rooms.toml, line 2, rooms.x.ventilation.topic: must be one topic, without the wildcards + and #, "
        "got 'a/#'",
    ),
    ('[rooms.x]\nco2 = " "\n', "rooms.toml, line 2, rooms.x.co2: must be a text that is not empty, got ' '"),
    (
        '[rooms.x]\nco2 = "a\\u0000"\n',
        "rooms.toml, line 2, rooms.x.co2: must be a text that is not empty, got 'a\\x00'",
    ),
    (
        '[rooms.x]\nco2 = "$SYS/load"\n',
        "rooms.toml, line 2, rooms.x.co2: must not begin with $, which is the broker's own, got '$SYS/load'",
    ),
    ("[rooms.x]\nco2 = {}\n", "rooms.toml, line 2, rooms.x.co2.topic: must be given"),
    (
        '[rooms.x]\nco2 = {topic = "a", shape = "json"}\n',
        "rooms.toml, line 2, rooms.x.co2.path: must be given where shape is 'json'",
    ),
    (
        '[rooms.x]\nco2 = {topic = "a", shape = "tasmota", path = "b"}\n',
        "rooms.toml, line 2, rooms.x.co2.path: must not be given where shape is 'tasmota', only where it is "
        "'json'",
    ),
    (
        '[rooms.x]\nco2 = {topic = "a", shape = "number", time_path = "b"}\n',
        "rooms.toml, line 2, rooms.x.co2.time_path: must not be given where shape is 'number'",
    ),
    (
        '[mqtt]\nhost = "b"\n[rooms.x]\nco2 = "occupair/x/state"\n',
        "rooms.toml, line 4, rooms.x.co2: must not be a topic that this service publishes on, "
        "got 'occupair/x/state'",
    ),
    (
        '[mqtt]\nhost = "b"\nprefix = "p"\n[rooms.x]\nco2.topic = "p/status"\n',
        "rooms.toml, line 5, rooms.x.co2.topic: must not be a topic that this service publishes on, "
        "got 'p/status'",
    ),
    (
        '[mqtt]\nhost = "b"\nprefix = "a/"\n',
        "rooms.toml, line 3, mqtt.prefix: must not begin or end with /, got 'a/'",
    ),
    # rooms
    (
        "[rooms.Lab]\n",
        "rooms.toml, line 1, rooms.Lab: must be named by 1 to 64 of a-z, 0-9, _ and -, got 'Lab'",
    ),
    (
        '[rooms."a/b"]\n',
        "rooms.toml, line 1, rooms.\"a/b\": must be named by 1 to 64 of a-z, 0-9, _ and -, got 'a/b'",
    ),
    (
        '[rooms.""]\n',
        "rooms.toml, line 1, rooms.\"\": must be named by 1 to 64 of a-z, 0-9, _ and -, got ''",
    ),
    (
        '[rooms."a\\n"]\n',
        "rooms.toml, line 1, rooms.\"a\\n\": must be named by 1 to 64 of a-z, 0-9, _ and -, got 'a\\n'",
    ),
    (
        '[rooms.x]\ntimezone = "Europe/Copenhagn"\n',
        "rooms.toml, line 2, rooms.x.timezone: must be a time zone, e.g. Europe/Copenhagen, "
        "got 'Europe/Copenhagn', did you mean 'Europe/Copenhagen'?",
    ),
    (
        '[rooms.x]\ntimezone = "../../etc/passwd"\n',
        "rooms.toml, line 2, rooms.x.timezone: must be a time zone, e.g. Europe/Copenhagen, "
        "got '../../etc/passwd'",
    ),
    (
        "[rooms.x]\ncapacity = 0\n",
        "rooms.toml, line 2, rooms.x.capacity: must be a whole number from 1 to 1000000, got 0",
    ),
    # the broker
    ("[mqtt]\nport = 1\n", "rooms.toml, line 1, mqtt.host: must be given"),
    (
        '[mqtt]\nhost = "mqtt://b:1883"\n',
        "rooms.toml, line 2, mqtt.host: must be a host name or an address, without scheme and port, "
        "got 'mqtt://b:1883'",
    ),
    (
        '[mqtt]\nhost = "b:1883"\n',
        "rooms.toml, line 2, mqtt.host: must be a host name or an address, without scheme and port, "
        "got 'b:1883'",
    ),
    (
        '[mqtt]\nhost = "b"\ntls = true\ncert_file = "c"\n',
        "rooms.toml, line 4, mqtt.cert_file: needs mqtt.key_file, too",
    ),
    (
        '[mqtt]\nhost = "b"\ntls = true\nkey_file = "c"\n',
        "rooms.toml, line 4, mqtt.key_file: needs mqtt.cert_file, too",
    ),
    ('[mqtt]\nhost = "b"\nca_file = "c"\n', "rooms.toml, line 3, mqtt.ca_file: needs mqtt.tls = true"),
    (
        '[mqtt]\nhost = "b"\nversion = "3.1.1"\npassword = "c"\n',
        "rooms.toml, line 1, mqtt.user: must be given where there is a password, by MQTT 3.1.1",
    ),
    # secrets are not shown
    (
        '[mqtt]\nhost = "b"\npassword = 12345\n',
        "rooms.toml, line 3, mqtt.password: must be a text, got a value that is not shown",
    ),
    (
        '[service]\nstore = "mysql://me:hush@b/c"\n',
        "rooms.toml, line 2, service.store: must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME, "
        "got a value that is not shown",
    ),
    (
        '[service]\nstore = "sqlite:///:memory:"\n',
        "rooms.toml, line 2, service.store: must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME, "
        "got a value that is not shown",
    ),
    # who gets in
    (
        '[tokens.a]\nrole = "read"\nhash = "abc"\n',
        "rooms.toml, line 3, tokens.a.hash: must be sha256: and 64 hexadecimal digits, as 'occupair token' "
        "prints, got a value that is not shown",
    ),
    (f'[tokens.a]\nhash = "{HASH}"\n', "rooms.toml, line 1, tokens.a.role: must be given"),
    (
        f'[tokens.a]\nrole = "root"\nhash = "{HASH}"\n',
        "rooms.toml, line 2, tokens.a.role: must be 'read' or 'write' or 'admin', got 'root'",
    ),
    (
        f'[tokens.a]\nrole = "read"\nhash = "{HASH}"\n[tokens.b]\nrole = "admin"\nhash = "{HASH}"\n',
        "rooms.toml, line 6, tokens.b.hash: must be another token than tokens.a",
    ),
    (
        '[service]\nhost = "0.0.0.0"\n',
        "rooms.toml, line 2, service.host: must be a loopback address, e.g. 127.0.0.1, as long as there are "
        "no tokens, got '0.0.0.0'",
    ),
    (
        '[service]\nhost = "::"\n[tokens]\n',
        "rooms.toml, line 2, service.host: must be a loopback address, e.g. 127.0.0.1, as long as there are "
        "no tokens, got '::'",
    ),
]


@pytest.mark.parametrize(("text", "words"), FAULTS)
def test_each_fault_is_told_with_its_line_key_rule_and_value(faults_of, text, words):
    assert faults_of(text if "rooms" in text else text + ROOM) == [words]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_needs_no_tokens(read, host):
    assert read(f'service.host = "{host}"\n{ROOM}').host == host


def test_all_faults_are_told_at_once_as_they_come_in_the_file(faults_of):
    text = '[rooms.x]\nco2 = 5\nname = 6\n[service]\nport = 0\nlgo = 1\n[rooms.y]\nco2 = "+"\n'
    faults = faults_of(text, {"OCCUPAIR_TOLERANCE": "2"})
    assert [fault.partition(": ")[0] for fault in faults] == [
        "OCCUPAIR_TOLERANCE",
        "rooms.toml, line 2, rooms.x.co2",
        "rooms.toml, line 3, rooms.x.name",
        "rooms.toml, line 5, service.port",
        "rooms.toml, line 6, service.lgo",
        "rooms.toml, line 8, rooms.y.co2",
    ]


def test_two_rooms_may_share_a_topic_but_not_an_id(read, faults_of):
    assert len(read('[rooms.a]\nco2 = "x"\n[rooms.b]\nco2 = "x"\n').rooms) == 2
    (fault,) = faults_of('[rooms.a]\nco2 = "x"\n\n[rooms.a]\nco2 = "y"\n')
    assert fault == "rooms.toml, line 4: cannot declare ('rooms', 'a') twice"


def test_a_file_without_rooms(faults_of):
    assert faults_of("") == ["rooms.toml, rooms: must have one room at least, [rooms.NAME]"]
    assert faults_of("[rooms]") == ["rooms.toml, line 1, rooms: must have one room at least, [rooms.NAME]"]
    assert faults_of("rooms = 3") == ["rooms.toml, line 1, rooms: must be tables, [rooms.NAME], got 3"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[service]\nport = \n", "rooms.toml, line 2: invalid value"),
        ("[service]\nport 80\n", "rooms.toml, line 2: expected '=' after a key in a key/value pair"),
        ("[service", "rooms.toml: expected ']' at the end of a table declaration"),
        ("a = " + "[" * 5000, "rooms.toml: is nested too deeply"),
    ],
)
def test_what_is_not_toml(faults_of, text, words):
    assert faults_of(text) == [words]


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"none.toml: cannot be read: No such file"):
        read_config(tmp_path / "none.toml", {})
    with pytest.raises(InputError, match=r"cannot be read: Is a directory"):
        read_config(tmp_path, {})
    (tmp_path / "latin.toml").write_bytes(b"[rooms.a]\nname = 'M\xf8de'\n")
    with pytest.raises(InputError, match=r"latin.toml, line 2: must be UTF-8 text"):
        read_config(tmp_path / "latin.toml", {})


def test_files_of_windows(tmp_path):
    (tmp_path / "w.toml").write_bytes("\ufeff[rooms.a]\r\nco2 = 5\r\n".encode())
    with pytest.raises(InputError, match=r"w.toml, line 2, rooms.a.co2: must be a text, got 5"):
        read_config(tmp_path / "w.toml", {})


# The environment


def test_the_environment_overrides_the_file(read, tmp_path):
    environ = {
        "OCCUPAIR_STORE": "sqlite:////var/x.db",
        "OCCUPAIR_PORT": "81",
        "OCCUPAIR_TOLERANCE": "0.5",
        "OCCUPAIR_ROOM_METRICS": "off",
        "OCCUPAIR_MQTT__HOST": "other",
        "OCCUPAIR_MQTT__PASSWORD": "12345",
        "OCCUPAIR_MQTT__TLS": "true",
        "OCCUPAIR_MQTT__CA_FILE": "ca.pem",
        "OCCUPAIR_LIMITS__BODY_BYTES": "5000",
        "OCCUPAIR_LOG": "",  # not set
        "OCCUPAIR_SERVICE_HOST": "10.0.0.1",  # of Kubernetes
        "PORT": "3",
    }
    config = read(f'[service]\nport = 80\n[mqtt]\nhost = "b"\npassword_file = "none"\n{ROOM}', environ)
    assert (config.store, config.port, config.tolerance) == ("sqlite:////var/x.db", 81, 0.5)
    assert (config.room_metrics, config.log, config.limits.body_bytes) == (False, "text", 5000)
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.tls) == ("other", 8883, True)
    assert config.mqtt.password.get_secret_value() == "12345"
    assert config.mqtt.ca_file == tmp_path / "ca.pem"


def test_every_setting_has_a_variable():
    assert len(BY_VARIABLE) == 10 + 15 + 4
    assert {"OCCUPAIR_STORE", "OCCUPAIR_HOST", "OCCUPAIR_MQTT__PASSWORD"} <= set(BY_VARIABLE)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        (
            {"OCCUPAIR_PORT": "tcp://10.0.0.1:80"},
            "OCCUPAIR_PORT: must be a whole number from 1 to 65535, got 'tcp://10.0.0.1:80'",
        ),
        ({"OCCUPAIR_PORT": "8e1"}, "OCCUPAIR_PORT: must be a whole number from 1 to 65535, got 80.0"),
        ({"OCCUPAIR_TOLERANCE": "nan"}, "OCCUPAIR_TOLERANCE: must be a number above 0, at most 1, got 'nan'"),
        ({"OCCUPAIR_ROOM_METRICS": "maybe"}, "OCCUPAIR_ROOM_METRICS: must be true or false, got 'maybe'"),
        (
            {"OCCUPAIR_MQTT__PASWORD": "hush"},
            "OCCUPAIR_MQTT__PASWORD: unknown key, did you mean 'OCCUPAIR_MQTT__PASSWORD'?",
        ),
        (
            {"OCCUPAIR_STORE": "hush"},
            "OCCUPAIR_STORE: must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME, got a value "
            "that is not shown",
        ),
        (
            {"OCCUPAIR_HOST": "0.0.0.0"},
            "OCCUPAIR_HOST: must be a loopback address, e.g. 127.0.0.1, as long as there are no tokens, "
            "got '0.0.0.0'",
        ),
        ({"OCCUPAIR_MQTT__PORT": "1"}, "rooms.toml, mqtt.host: must be given"),
    ],
)
def test_faults_of_the_environment_name_the_variable(faults_of, environ, words):
    assert faults_of(ROOM, environ) == [words]


def test_options_override_all(read, faults_of):
    config = read(ROOM, {"OCCUPAIR_PORT": "81"}, options={"--port": "82", "--host": "::1"})
    assert (config.port, config.host) == (82, "::1")
    (fault,) = faults_of(ROOM, options={"--host": "10.0.0.1"})
    assert fault.startswith("--host: must be a loopback address")


def test_settings_are_read_again_from_where_they_came(write):
    path = write(ROOM)
    config = read_config(path, {"OCCUPAIR_TOLERANCE": "0.5"}, options={"--port": "82"})
    write("[service]\nport = 5\n[rooms.new]\n")
    again = reread(config)
    assert (list(again.rooms), again.port, again.tolerance) == (["new"], 82, 0.5)
    with pytest.raises(InputError, match="not read from a file"):
        reread(replace(config, origin=None))


def test_a_password_may_be_in_a_file_of_its_own(read, write, faults_of):
    text = f'[mqtt]\nhost = "b"\npassword_file = "secret"\n{ROOM}'
    (fault,) = faults_of(text)
    assert fault == (
        "rooms.toml, line 3, mqtt.password_file: must be a file that can be read (No such file or "
        "directory), got 'secret'"
    )
    write("hush\n", "secret")
    assert read(text).mqtt.password.get_secret_value() == "hush"
    write("\n", "secret")
    assert "must be a file that is not empty" in faults_of(text)[0]
    write("hush", "secret")
    (fault,) = faults_of(text.replace("[mqtt]", '[mqtt]\npassword = "a"'))
    assert fault == "rooms.toml, line 4, mqtt.password_file: must not be given beside mqtt.password"


def test_the_example_that_is_deployed():
    config = read_config(DEPLOY / "rooms.toml", {})
    assert {room.id: room.co2.shape for room in config.rooms.values()} == {
        "meeting-1": "auto",
        "lab": "number",
        "library": "json",
    }


def test_the_example_tells_every_setting_and_its_default(tmp_path):
    lines = (DEPLOY / "rooms.toml").read_text().splitlines()
    path = tmp_path / "rooms.toml"
    all_in = [
        line.removeprefix("# ").replace("tls = false", "tls = true").replace("sha256:...", HASH)
        if line.startswith("# ") and (" = " in line or "# [" in line)
        else line
        for line in lines
    ]
    path.write_text("\n".join(all_in))
    (tmp_path / "mqtt-password").write_text("hush")
    config, plain = read_config(path, {}), read_config(DEPLOY / "rooms.toml", {})
    values = tomllib.loads(path.read_text())
    told = {f"{section}.{key}" for section in ("service", "mqtt", "limits") for key in values[section]}
    known = {f"{section}.{key}" for (section, key), _ in BY_VARIABLE.values()}
    assert known - told == {"mqtt.password"}
    assert replace(config, store="", tokens=(), mqtt=None, rooms={}) == replace(
        plain, store="", tokens=(), mqtt=None, rooms={}
    )
    assert config.mqtt.session_expiry == plain.mqtt.session_expiry


def test_thousands_of_rooms_are_read_at_once(read):
    config = read("".join(f'[rooms.r{n}]\nco2 = "z/{n}"\nventilation = "v/{n}"\n' for n in range(2000)))
    assert len(config.rooms) == 2000


@given(st.dictionaries(st.sampled_from(sorted(BY_VARIABLE)), st.text(max_size=8)))
@settings(max_examples=100, deadline=None)
def test_whatever_the_environment_says_is_taken_or_refused_in_one_kind(environ):
    with suppress(InputError):
        assert len(read_config(DEPLOY / "rooms.toml", environ).rooms) == 3
