"""Settings: valid files and overrides, and every mistake with its line, key, rule and value."""

import os
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.control import AirControl, AirDemand
from occupair.errors import InputError
from occupair.live.config import (
    VARIABLES,
    BacnetConfig,
    BacnetPoint,
    Limits,
    MqttConfig,
    OutdoorAirTable,
    RoomConfig,
    TokenConfig,
    Topic,
    VentilationPoint,
    VentilationTopic,
    read_config,
    reread_config,
)

DEPLOY = Path(__file__).parents[3] / "deploy"
ROOM = '[rooms.lab]\nco2 = "lab/co2"\n'
HASH = "sha256:" + "0123456789abcdef" * 4


@pytest.fixture
def mistakes_in(read, tmp_path):
    """Return the mistakes in a settings text, without the folder."""

    def mistakes_in(text, environ=None, **options):
        with pytest.raises(InputError) as caught:
            read(text, environ, **options)
        return str(caught.value).replace(f"{tmp_path}{os.sep}", "").splitlines()

    return mistakes_in


def test_every_setting_is_read(read, tmp_path):
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
        interval = 15
        stale_after = 5
        capacity = 12
        volume = 90.5
        air_flow = 400
        activity = "office"
        outdoor_co2 = 430
        closed = "22:00-06:00"
        co2 = "zigbee2mqtt/meeting-1"
        ventilation = {{ topic = "bms/fan", full = 100 }}
        [rooms.b]
        closed = ["18:00-24:00", "00:00-08:00"]
        co2 = {{ topic = "x", path = "a.b", time_path = "a.t" }}
        """
    )
    assert (config.store, config.host, config.port) == ("postgresql://me:secret@db/rooms", "0.0.0.0", 80)
    assert (config.timezone, config.retention_days, config.clock) == ("Europe/Copenhagen", 30, "readings")
    assert (config.log, config.log_level, config.room_metrics) == ("json", "debug", False)
    assert config.tolerance == 0.01
    assert config.mqtt.password.get_secret_value() == "hush"
    assert config.mqtt.model_copy(update={"password": None}) == MqttConfig(
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
    assert config.limits == Limits(
        requests_per_minute=60, body_bytes=2000, readings_per_post=5, people_per_label=50
    )
    assert config.tokens == (TokenConfig(name="grafana", role="read", hash=HASH),)
    assert config.rooms == {
        "meeting-1": RoomConfig(
            id="meeting-1",
            name="Meeting room 1",
            model=tmp_path / "models/one.occupair",
            timezone="Asia/Singapore",
            co2=Topic(topic="zigbee2mqtt/meeting-1"),
            ventilation=VentilationTopic(topic="bms/fan", full=100.0),
            floor="Ground",
            interval=15.0,
            stale_after=5.0,
            capacity=12,
            volume=90.5,
            air_flow=400.0,
            activity="office",
            outdoor_co2=430.0,
            closed=("22:00-06:00",),
        ),
        "b": RoomConfig(
            id="b",
            name="b",
            timezone="Europe/Copenhagen",
            closed=("18:00-24:00", "00:00-08:00"),
            co2=Topic(topic="x", shape="json", path="a.b", time_path="a.t"),
        ),
    }


def test_outdoor_air(read):
    config = read(
        """
        [rooms.lab]
        capacity = 12
        volume = 90
        [rooms.lab.outdoor_air]
        standard = "ASHRAE 62.1"
        space = "conference"
        effectiveness = 0.8
        confidence = 0.9
        minimum = 10
        maximum = 80
        ramp_up = 20
        ramp_down = 4
        deadband = 3
        damper_curve = [[0, 0.1], [60, 0.4], [80, 1]]
        [rooms.hall]
        area = 50
        capacity = 20
        outdoor_air.standard = "EN 16798-1"
        [rooms.plain]
        """
    )
    assert config.rooms["plain"].air_control is None
    assert config.rooms["hall"].air_control == AirControl(AirDemand("EN 16798-1", area=50), 20)
    assert config.rooms["lab"].air_control == AirControl(
        AirDemand("ASHRAE 62.1", area=30, space="conference", effectiveness=0.8),  # 90 m3, 3 m high
        design_people=12,
        confidence=0.9,
        minimum=10,
        maximum=80,
        ramp_up=20,
        ramp_down=4,
        deadband=3,
        damper_curve=((0, 0.1), (60, 0.4), (80, 1)),
    )


def test_space_types_are_listed(mistakes_in):
    (mistake,) = mistakes_in(AIR + 'standard = "ASHRAE 62.1"\nspace = "cellar"\n')
    assert "rooms.x.outdoor_air.space: must be one of 'office', 'conference'," in mistake
    assert mistake.endswith("got 'cellar'")


def test_defaults(read, tmp_path):
    config = read("[rooms.lab]\n")
    assert config.store == f"sqlite:///{tmp_path}/occupair.db"
    assert (config.host, config.port, config.timezone, config.clock) == ("127.0.0.1", 8099, "UTC", "wall")
    assert (config.retention_days, config.log, config.room_metrics) == (400, "text", True)
    assert (config.tokens, config.mqtt, config.limits) == ((), None, Limits())
    assert config.rooms == {"lab": RoomConfig(id="lab", name="lab", timezone="UTC", stale_after=15.0)}
    assert read('mqtt.host = "b"\n' + ROOM).mqtt == MqttConfig(
        host="b", port=1883, version="5", client_id="occupair"
    )


def test_relative_database_path_is_relative_to_the_file(read, tmp_path):
    assert read(f'service.store = "sqlite:///a/b.db"\n{ROOM}').store == f"sqlite:///{tmp_path}/a/b.db"
    assert read(f'service.store = "sqlite:////abs/b.db"\n{ROOM}').store == "sqlite:////abs/b.db"


def test_repr_hides_secrets(read):
    text = f'service.store = "postgresql://me:hush1@db/x"\nmqtt.host = "b"\nmqtt.password = "hush2"\n{ROOM}'
    config = read(f'{text}[tokens.a]\nrole = "read"\nhash = "{HASH}"\n', {"OCCUPAIR_MQTT__USER": "hush3"})
    assert not {"hush1", "hush2", HASH} & {word for word in ("hush1", "hush2", HASH) if word in repr(config)}
    assert "hush" not in repr(config.origin)


AIR = "[rooms.x.outdoor_air]\narea = 50\ndesign_people = 9\n"
POSTGRES = 'store = "postgresql://me@db/x"\n'
# Settings with one mistake each, and the message.
MISTAKES = [
    # keys
    ("[service]\nprot = 1\n", "rooms.toml, line 2, service.prot: unknown key, did you mean 'port'?"),
    ("[room.x]\n", "rooms.toml, line 1, room: unknown key, did you mean 'rooms'?"),
    (
        "[zzz]\n",
        "rooms.toml, line 1, zzz: unknown key, expected service, mqtt, bacnet, limits, tokens, rooms",
    ),
    (
        '[rooms.x]\nco2 = { topc = "a", topic = "b" }\n',
        "rooms.toml, line 2, rooms.x.co2.topc: unknown key, did you mean 'topic'?",
    ),
    (
        '[rooms.x]\nco2 = { topic = "b", full = 3 }\n',
        "rooms.toml, line 2, rooms.x.co2.full: unknown key, expected topic, shape, path, time_path",
    ),
    # types
    ("service = 3\n", "rooms.toml, line 1, service: must be a table, [service], got 3"),
    ("[[mqtt]]\n", "rooms.toml, line 1, mqtt: must be a table, [mqtt], got an array"),
    ("tokens = []\n", "rooms.toml, line 1, tokens: must be tables, [tokens.NAME], got an array"),
    ("[rooms]\nx = 3\n", "rooms.toml, line 2, rooms.x: must be a table, [rooms.x], got 3"),
    (
        "[rooms.x]\nco2 = 5\n",
        "rooms.toml, line 2, rooms.x.co2: must be a topic, or a table with a topic or a BACnet object, got 5",
    ),
    ("[rooms.x.co2]\ntopic = 5\n", "rooms.toml, line 2, rooms.x.co2.topic: must be a string, got 5"),
    ("[rooms.x]\nname = [1]\n", "rooms.toml, line 2, rooms.x.name: must be a string, got an array"),
    (
        "[service]\nport = true\n",
        "rooms.toml, line 2, service.port: must be an integer, got true",
    ),
    (
        '[service]\nport = "80"\n',
        "rooms.toml, line 2, service.port: must be an integer, got '80'",
    ),
    (
        "[service]\nport = 65536\n",
        "rooms.toml, line 2, service.port: must be less than or equal to 65535, got 65536",
    ),
    (
        "[service]\nroom_metrics = 1\n",
        "rooms.toml, line 2, service.room_metrics: must be true or false, got 1",
    ),
    (
        "[service]\ntolerance = nan\n",
        "rooms.toml, line 2, service.tolerance: must be a finite number, got nan",
    ),
    (
        "[rooms.x]\nstale_after = 0\n",
        "rooms.toml, line 2, rooms.x.stale_after: must be greater than 0, got 0",
    ),
    (
        "[rooms.x]\ninterval = 61\n",
        "rooms.toml, line 2, rooms.x.interval: must be less than or equal to 60, got 61",
    ),
    (
        "[rooms.x]\nstale_after = inf\n",
        "rooms.toml, line 2, rooms.x.stale_after: must be a finite number, got inf",
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
        "rooms.toml, line 2, rooms.x.co2: must be a single topic, without the wildcards + and #, got 'a/+/b'",
    ),
    (
        '[rooms.x]\nventilation = { topic = "a/#" }\n',
        "rooms.toml, line 2, rooms.x.ventilation.topic: must be a single topic, without the "
        "wildcards + and #, "
        "got 'a/#'",
    ),
    (
        '[rooms.x]\nco2 = " "\n',
        "rooms.toml, line 2, rooms.x.co2: must not be empty or contain NUL characters, got ' '",
    ),
    (
        '[rooms.x]\nco2 = "a\\u0000"\n',
        "rooms.toml, line 2, rooms.x.co2: must not be empty or contain NUL characters, got 'a\\x00'",
    ),
    (
        '[rooms.x]\nco2 = "$SYS/load"\n',
        "rooms.toml, line 2, rooms.x.co2: must not start with $, which is reserved for the broker, "
        "got '$SYS/load'",
    ),
    ("[rooms.x]\nco2 = {}\n", "rooms.toml, line 2, rooms.x.co2.topic: is required"),
    (
        '[rooms.x]\nco2 = {topic = "a", shape = "json"}\n',
        "rooms.toml, line 2, rooms.x.co2.path: is required with shape 'json'",
    ),
    (
        '[rooms.x]\nco2 = {topic = "a", shape = "tasmota", path = "b"}\n',
        "rooms.toml, line 2, rooms.x.co2.path: must not be set with shape 'tasmota', only with 'json'",
    ),
    (
        '[rooms.x]\nco2 = {topic = "a", shape = "number", time_path = "b"}\n',
        "rooms.toml, line 2, rooms.x.co2.time_path: must not be set with shape 'number'",
    ),
    (
        '[mqtt]\nhost = "b"\n[rooms.x]\nco2 = "occupair/x/state"\n',
        "rooms.toml, line 4, rooms.x.co2: must not be a topic that this service publishes, "
        "got 'occupair/x/state'",
    ),
    (
        '[mqtt]\nhost = "b"\nprefix = "p"\n[rooms.x]\nco2.topic = "p/status"\n',
        "rooms.toml, line 5, rooms.x.co2.topic: must not be a topic that this service publishes, "
        "got 'p/status'",
    ),
    (
        '[mqtt]\nhost = "b"\n[rooms.x]\nco2 = "occupair/status/1-of-2"\n',
        "rooms.toml, line 4, rooms.x.co2: must not be a topic that this service publishes, "
        "got 'occupair/status/1-of-2'",
    ),
    # shards
    (
        f'[service]\n{POSTGRES}shard = "0/2"\n',
        "rooms.toml, line 3, service.shard: must be NUMBER/COUNT such as 2/8, from 1/1 to 1000/1000, "
        "got '0/2'",
    ),
    (
        f"[service]\n{POSTGRES}shard = 2\n",
        "rooms.toml, line 3, service.shard: must be a string, got 2",
    ),
    (
        '[service]\nshard = "1/2"\n',
        "rooms.toml, line 2, service.shard: requires a PostgreSQL database, "
        'service.store = "postgresql://..."',
    ),
    (
        f'[service]\n{POSTGRES}shard = "1/2"\n[bacnet]\naddress = "10.0.2.5/24"\ndevice = 1\n',
        "rooms.toml, line 3, service.shard: must not be set together with [bacnet], whose device has the "
        "objects of all rooms",
    ),
    (
        f'[service]\n{POSTGRES}shard = "1/2"\ningress = "172.30.32.2"\n',
        "rooms.toml, line 3, service.shard: must not be set together with service.ingress",
    ),
    (
        '[service]\nadvertise = "10.0.2.5:8099"\n',
        "rooms.toml, line 2, service.advertise: requires service.shard",
    ),
    (
        f'[service]\n{POSTGRES}shard = "1/2"\nadvertise = "http://10.0.2.5"\n',
        "rooms.toml, line 4, service.advertise: must be HOST:PORT, as in 10.0.2.5:8099, "
        "got 'http://10.0.2.5'",
    ),
    (
        '[mqtt]\nhost = "b"\nprefix = "a/"\n',
        "rooms.toml, line 3, mqtt.prefix: must not start or end with /, got 'a/'",
    ),
    # rooms
    (
        "[rooms.Lab]\n",
        "rooms.toml, line 1, rooms.Lab: must be named with 1 to 64 characters of a-z, 0-9, _ and -, "
        "got 'Lab'",
    ),
    (
        '[rooms."a/b"]\n',
        'rooms.toml, line 1, rooms."a/b": must be named with 1 to 64 characters of a-z, 0-9, _ and '
        "-, got 'a/b'",
    ),
    (
        '[rooms.""]\n',
        "rooms.toml, line 1, rooms.\"\": must be named with 1 to 64 characters of a-z, 0-9, _ and -, got ''",
    ),
    (
        '[rooms."a\\n"]\n',
        'rooms.toml, line 1, rooms."a\\n": must be named with 1 to 64 characters of a-z, 0-9, _ '
        "and -, got 'a\\n'",
    ),
    (
        '[rooms.x]\ntimezone = "Europe/Copenhagn"\n',
        "rooms.toml, line 2, rooms.x.timezone: must be an IANA time zone such as Europe/Copenhagen, "
        "got 'Europe/Copenhagn', did you mean 'Europe/Copenhagen'?",
    ),
    (
        '[rooms.x]\ntimezone = "../../etc/passwd"\n',
        "rooms.toml, line 2, rooms.x.timezone: must be an IANA time zone such as Europe/Copenhagen, "
        "got '../../etc/passwd'",
    ),
    (
        "[rooms.x]\ncapacity = 0\n",
        "rooms.toml, line 2, rooms.x.capacity: must be greater than or equal to 1, got 0",
    ),
    (
        "[rooms.x]\nvolume = 90\n",
        "rooms.toml, line 2, rooms.x.volume: requires rooms.x.capacity, the number of seats",
    ),
    (
        "[rooms.x]\ncapacity = 5\nheight = 3\n",
        "rooms.toml, line 3, rooms.x.height: requires rooms.x.area",
    ),
    (
        '[rooms.x.outdoor_air]\nstandard = "EN 16798-1"\ndesign_people = 9\n',
        "rooms.toml, line 1, rooms.x.outdoor_air.area: is required, here or as rooms.x.area [m2]",
    ),
    (
        '[rooms.x.outdoor_air]\nstandard = "EN 16798-1"\narea = 50\n',
        "rooms.toml, line 1, rooms.x.outdoor_air.design_people: is required, here or as rooms.x.capacity",
    ),
    (
        "[rooms.x.outdoor_air]\narea = 50\ndesign_people = 9\n",
        "rooms.toml, line 1, rooms.x.outdoor_air.standard: is required",
    ),
    (
        AIR + 'standard = "EN 15251"\n',
        "rooms.toml, line 4, rooms.x.outdoor_air.standard: must be 'ASHRAE 62.1' or 'EN 16798-1', "
        "got 'EN 15251'",
    ),
    (
        AIR + 'standard = "ASHRAE 62.1"\n',
        "rooms.toml, line 1, rooms.x.outdoor_air.space: is required with standard 'ASHRAE 62.1', "
        "for example 'conference'",
    ),
    (
        AIR + 'standard = "ASHRAE 62.1"\nspace = "office"\ncategory = "II"\n',
        "rooms.toml, line 6, rooms.x.outdoor_air.category: must not be set with standard 'ASHRAE 62.1'",
    ),
    (
        AIR + 'standard = "EN 16798-1"\nspace = "office"\n',
        "rooms.toml, line 5, rooms.x.outdoor_air.space: must not be set with standard 'EN 16798-1'",
    ),
    (
        AIR + 'standard = "EN 16798-1"\ncategory = "V"\n',
        "rooms.toml, line 5, rooms.x.outdoor_air.category: must be 'I', 'II', 'III' or 'IV', got 'V', "
        "did you mean 'IV'?",
    ),
    (
        AIR + 'standard = "EN 16798-1"\nminimum = 90\nmaximum = 80\n',
        "rooms.toml, line 6, rooms.x.outdoor_air.maximum: must not be below minimum, 90 L/s, got 80",
    ),
    (
        AIR + 'standard = "EN 16798-1"\nconfidence = 95\n',
        "rooms.toml, line 5, rooms.x.outdoor_air.confidence: must be less than 1, got 95",
    ),
    (
        AIR + 'standard = "EN 16798-1"\nramp_up = 0\n',
        "rooms.toml, line 5, rooms.x.outdoor_air.ramp_up: must be greater than 0, got 0",
    ),
    (
        AIR + 'standard = "EN 16798-1"\ndamper_curve = [[0, 0.2], [100, 0.1]]\n',
        "rooms.toml, line 5, rooms.x.outdoor_air.damper_curve: must be two or more pairs of flow [L/s] and "
        "position [0..1], both increasing, as in [[0, 0.1], [150, 1]], got an array",
    ),
    (
        AIR + 'standard = "EN 16798-1"\nconfidenc = 0.9\n',
        "rooms.toml, line 5, rooms.x.outdoor_air.confidenc: unknown key, did you mean 'confidence'?",
    ),
    (
        '[rooms.x]\noutdoor_air = "EN 16798-1"\n',
        "rooms.toml, line 2, rooms.x.outdoor_air: must be a table, [rooms.x.outdoor_air], got 'EN 16798-1'",
    ),
    (
        '[rooms.x]\nactivity = "dancing"\n',
        "rooms.toml, line 2, rooms.x.activity: must be one of sleeping, seated, office, standing, "
        "light work, exercise, or a number above 0 [m3/h], got 'dancing'",
    ),
    (
        '[rooms.x]\nclosed = "at night"\n',
        "rooms.toml, line 2, rooms.x.closed: must be a period of the day such as '22:00-06:00', "
        "or a list of them, got 'at night'",
    ),
    (
        "[rooms.x]\nclosed = 22\n",
        "rooms.toml, line 2, rooms.x.closed: must be a period of the day such as '22:00-06:00', "
        "or a list of them, got 22",
    ),
    # broker
    ("[mqtt]\nport = 1\n", "rooms.toml, line 1, mqtt.host: is required"),
    (
        '[mqtt]\nhost = "mqtt://b:1883"\n',
        "rooms.toml, line 2, mqtt.host: must be a host name or an IP address, without scheme and port, "
        "got 'mqtt://b:1883'",
    ),
    (
        '[mqtt]\nhost = "b:1883"\n',
        "rooms.toml, line 2, mqtt.host: must be a host name or an IP address, without scheme and port, "
        "got 'b:1883'",
    ),
    (
        '[mqtt]\nhost = "b"\ntls = true\ncert_file = "c"\n',
        "rooms.toml, line 4, mqtt.cert_file: requires mqtt.key_file",
    ),
    (
        '[mqtt]\nhost = "b"\ntls = true\nkey_file = "c"\n',
        "rooms.toml, line 4, mqtt.key_file: requires mqtt.cert_file",
    ),
    ('[mqtt]\nhost = "b"\nca_file = "c"\n', "rooms.toml, line 3, mqtt.ca_file: requires mqtt.tls = true"),
    (
        '[mqtt]\nhost = "b"\nversion = "3.1.1"\npassword = "c"\n',
        "rooms.toml, line 1, mqtt.user: is required with a password in MQTT 3.1.1",
    ),
    # secrets
    (
        '[mqtt]\nhost = "b"\npassword = 12345\n',
        "rooms.toml, line 3, mqtt.password: must be a string, got a value that is not shown",
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
    # access
    (
        '[tokens.a]\nrole = "read"\nhash = "abc"\n',
        "rooms.toml, line 3, tokens.a.hash: must be sha256: and 64 hexadecimal digits, as printed by "
        "'occupair token', got a value that is not shown",
    ),
    (f'[tokens.a]\nhash = "{HASH}"\n', "rooms.toml, line 1, tokens.a.role: is required"),
    (
        f'[tokens.a]\nrole = "root"\nhash = "{HASH}"\n',
        "rooms.toml, line 2, tokens.a.role: must be 'read', 'write' or 'admin', got 'root'",
    ),
    (
        f'[tokens.a]\nrole = "read"\nhash = "{HASH}"\n[tokens.b]\nrole = "admin"\nhash = "{HASH}"\n',
        "rooms.toml, line 6, tokens.b.hash: must differ from the hash of tokens.a",
    ),
    (
        '[service]\nhost = "0.0.0.0"\n',
        "rooms.toml, line 2, service.host: must be a loopback address such as 127.0.0.1 without "
        "[tokens], got '0.0.0.0'",
    ),
    (
        '[service]\nhost = "::"\n[tokens]\n',
        "rooms.toml, line 2, service.host: must be a loopback address such as 127.0.0.1 without "
        "[tokens], got '::'",
    ),
    (
        '[service]\ningress = "homeassistant"\n',
        "rooms.toml, line 2, service.ingress: must be an IP address such as 172.30.32.2, got 'homeassistant'",
    ),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistake_is_reported_with_line_key_rule_and_value(mistakes_in, text, message):
    assert mistakes_in(text if "rooms" in text else text + ROOM) == [message]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_address_needs_no_tokens(read, host):
    assert read(f'service.host = "{host}"\n{ROOM}').host == host


def test_all_mistakes_are_reported_in_file_order(mistakes_in):
    text = '[rooms.x]\nco2 = 5\nname = 6\n[service]\nport = 0\nlgo = 1\n[rooms.y]\nco2 = "+"\n'
    mistakes = mistakes_in(text, {"OCCUPAIR_TOLERANCE": "2"})
    assert [mistake.partition(": ")[0] for mistake in mistakes] == [
        "OCCUPAIR_TOLERANCE",
        "rooms.toml, line 2, rooms.x.co2",
        "rooms.toml, line 3, rooms.x.name",
        "rooms.toml, line 5, service.port",
        "rooms.toml, line 6, service.lgo",
        "rooms.toml, line 8, rooms.y.co2",
    ]


def test_rooms_may_share_a_topic_but_not_an_id(read, mistakes_in):
    assert len(read('[rooms.a]\nco2 = "x"\n[rooms.b]\nco2 = "x"\n').rooms) == 2
    (mistake,) = mistakes_in('[rooms.a]\nco2 = "x"\n\n[rooms.a]\nco2 = "y"\n')
    assert mistake == "rooms.toml, line 4: cannot declare ('rooms', 'a') twice"


def test_file_without_rooms_is_refused(mistakes_in):
    assert mistakes_in("") == ["rooms.toml, rooms: must have at least one room, [rooms.ID]"]
    assert mistakes_in("[rooms]") == ["rooms.toml, line 1, rooms: must have at least one room, [rooms.ID]"]
    assert mistakes_in("rooms = 3") == ["rooms.toml, line 1, rooms: must be tables, [rooms.NAME], got 3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[service]\nport = \n", "rooms.toml, line 2: invalid value"),
        ("[service]\nport 80\n", "rooms.toml, line 2: expected '=' after a key in a key/value pair"),
        ("[service", "rooms.toml: expected ']' at the end of a table declaration"),
        ("a = " + "[" * 5000, "rooms.toml: is nested too deeply"),
        (
            "a = " + "9" * 5000,
            "rooms.toml: exceeds the limit (4300 digits) for integer string conversion: "
            "value has 5000 digits; use sys.set_int_max_str_digits() to increase the limit",
        ),
    ],
)
def test_invalid_toml_is_refused(mistakes_in, text, message):
    assert mistakes_in(text) == [message]


@pytest.mark.parametrize("key", ["path", "time_path"])
@pytest.mark.parametrize(
    "path", [".", "a..b", "a[", ".a", "a[x]", "a[]", "a.", "[0]b", "a[0]b", " [1", "a[0].", "a]"]
)
def test_malformed_path_is_refused(mistakes_in, path, key):
    values = {"path": "ok"} | {key: path}
    table = ", ".join(f'{name} = "{value}"' for name, value in values.items())
    rule = "must be keys separated by dots and list indices in brackets, as in sensors[0].co2"
    assert mistakes_in(f'[mqtt]\nhost = "h"\n[rooms.x]\nco2 = {{topic = "a", {table}}}\n') == [
        f"rooms.toml, line 4, rooms.x.co2.{key}: {rule}, got {path!r}"
    ]


@pytest.mark.parametrize("path", ["co2", "[1]", "a[0][1].b", "a[-1]", "CO2 level.value", "größe", "a-b_c.0"])
def test_valid_path_is_read(read, path):
    assert read(f'[rooms.x]\nco2 = {{topic = "a", path = "{path}"}}\n').rooms["x"].co2.path == path


def test_unreadable_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none.toml: cannot be read: No such file"):
        read_config(tmp_path / "none.toml", {})
    with pytest.raises(InputError, match=r"cannot be read: Is a directory"):
        read_config(tmp_path, {})
    (tmp_path / "latin.toml").write_bytes(b"[rooms.a]\nname = 'M\xf8de'\n")
    with pytest.raises(InputError, match=r"latin.toml, line 2: must be UTF-8 text"):
        read_config(tmp_path / "latin.toml", {})


def test_windows_line_endings_and_bom(tmp_path):
    (tmp_path / "w.toml").write_bytes("\ufeff[rooms.a]\r\nco2 = 5\r\n".encode())
    with pytest.raises(
        InputError,
        match=r"w.toml, line 2, rooms.a.co2: must be a topic, or a table .* got 5",
    ):
        read_config(tmp_path / "w.toml", {})


# The environment


def test_environment_overrides_the_file(read, tmp_path):
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
        "OCCUPAIR_LOG": "",  # ignored
        "OCCUPAIR_SERVICE_HOST": "10.0.0.1",  # set by Kubernetes
        "PORT": "3",
    }
    config = read(f'[service]\nport = 80\n[mqtt]\nhost = "b"\npassword_file = "none"\n{ROOM}', environ)
    assert (config.store, config.port, config.tolerance) == ("sqlite:////var/x.db", 81, 0.5)
    assert (config.room_metrics, config.log, config.limits.body_bytes) == (False, "text", 5000)
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.tls) == ("other", 8883, True)
    assert config.mqtt.password.get_secret_value() == "12345"
    assert config.mqtt.ca_file == tmp_path / "ca.pem"


def test_ingress_replaces_tokens(read):
    config = read(f'[service]\nhost = "0.0.0.0"\ningress = "172.30.32.2"\n{ROOM}')
    assert (config.host, config.tokens, config.ingress_role) == ("0.0.0.0", (), "admin")


def test_every_setting_has_a_variable():
    assert len(VARIABLES) == 14 + 15 + 5 + 4
    assert {"OCCUPAIR_STORE", "OCCUPAIR_HOST", "OCCUPAIR_MQTT__PASSWORD"} <= set(VARIABLES)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"OCCUPAIR_PORT": "tcp://10.0.0.1:80"},
            "OCCUPAIR_PORT: must be an integer, got 'tcp://10.0.0.1:80'",
        ),
        ({"OCCUPAIR_PORT": "8e1"}, "OCCUPAIR_PORT: must be an integer, got 80.0"),
        ({"OCCUPAIR_TOLERANCE": "nan"}, "OCCUPAIR_TOLERANCE: must be a number, got 'nan'"),
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
            "OCCUPAIR_HOST: must be a loopback address such as 127.0.0.1 without [tokens], got '0.0.0.0'",
        ),
        ({"OCCUPAIR_MQTT__PORT": "1"}, "rooms.toml, mqtt.host: is required"),
    ],
)
def test_mistake_in_a_variable_names_the_variable(mistakes_in, environ, message):
    assert mistakes_in(ROOM, environ) == [message]


def test_cli_options_override_the_environment(read, mistakes_in):
    config = read(ROOM, {"OCCUPAIR_PORT": "81"}, options={"--port": "82", "--host": "::1"})
    assert (config.port, config.host) == (82, "::1")
    (mistake,) = mistakes_in(ROOM, options={"--host": "10.0.0.1"})
    assert mistake.startswith("--host: must be a loopback address")


def test_reread_uses_the_same_environment_and_options(write):
    path = write(ROOM)
    config = read_config(path, {"OCCUPAIR_TOLERANCE": "0.5"}, options={"--port": "82"})
    write("[service]\nport = 5\n[rooms.new]\n")
    again = reread_config(config)
    assert (list(again.rooms), again.port, again.tolerance) == (["new"], 82, 0.5)
    with pytest.raises(InputError, match="not read from a file"):
        reread_config(config.model_copy(update={"origin": None}))


def test_password_file(read, write, mistakes_in):
    text = f'[mqtt]\nhost = "b"\npassword_file = "secret"\n{ROOM}'
    (mistake,) = mistakes_in(text)
    assert mistake == (
        "rooms.toml, line 3, mqtt.password_file: must be a readable file (No such file or "
        "directory), got 'secret'"
    )
    write("hush\n", "secret")
    assert read(text).mqtt.password.get_secret_value() == "hush"
    write("\n", "secret")
    assert "must not be an empty file" in mistakes_in(text)[0]
    write("hush", "secret")
    (mistake,) = mistakes_in(text.replace("[mqtt]", '[mqtt]\npassword = "a"'))
    assert mistake == "rooms.toml, line 4, mqtt.password_file: must not be set together with mqtt.password"


def test_deployed_example_is_valid():
    config = read_config(DEPLOY / "rooms.toml", {})
    assert {room.id: room.co2.shape for room in config.rooms.values()} == {
        "meeting-1": "auto",
        "lab": "number",
        "seminar": "ttn",
        "library": "json",
    }


def test_deployed_example_lists_every_setting_with_its_default(tmp_path):
    lines = (DEPLOY / "rooms.toml").read_text().splitlines()
    shards = {line.split()[1] for line in lines if line.startswith(("# shard = ", "# advertise = "))}
    lines = [
        line for line in lines if not line.startswith(("# shard = ", "# advertise = "))
    ]  # not with BACnet
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
    listed = {
        (section, key) for section in ("service", "mqtt", "bacnet", "limits") for key in values[section]
    } | {("service", key) for key in shards}
    assert set(VARIABLES.values()) - listed == {("mqtt", "password")}
    same = {"store": "", "tokens": (), "mqtt": None, "bacnet": None, "rooms": {}, "origin": None}
    same["ingress"] = None
    assert config.model_copy(update=same) == plain.model_copy(update=same)
    assert config.mqtt.session_expiry == plain.mqtt.session_expiry
    defaults = BacnetConfig(address="10.0.2.5/24", device=1234, bbmd="10.0.9.1")
    assert config.bacnet == defaults
    listed = values["rooms"]["meeting-1"]["outdoor_air"].keys()
    assert listed == OutdoorAirTable.model_fields.keys() - {"space"}  # of the other standard


def test_shard_has_some_of_the_rooms(read):
    rooms = "[rooms.lab]\n[rooms.hall]\n"
    whole = read(f"[service]\n{POSTGRES}{rooms}")
    assert (whole.shard, list(whole.own_rooms)) == (None, ["lab", "hall"])
    first = read(f'[service]\n{POSTGRES}shard = "1/2"\n{rooms}')
    assert (str(first.shard), list(first.rooms), list(first.own_rooms)) == ("1/2", ["lab", "hall"], ["lab"])
    second = read(f'[service]\n{POSTGRES}shard = "1/2"\n{rooms}', {"OCCUPAIR_SHARD": "2/2"})
    assert (str(second.shard), list(second.own_rooms)) == ("2/2", ["hall"])
    third = read(f"[service]\n{POSTGRES}{rooms}", {"OCCUPAIR_SHARD": "2/2"}, options={"--shard": "1/1"})
    assert (str(third.shard), list(third.own_rooms)) == ("1/1", ["lab", "hall"])
    assert str(reread_config(third).shard) == "1/1"


@pytest.mark.parametrize("address", ["10.0.2.5:8099", "shard-1:80", "[::1]:8099", "a.example.org:65535"])
def test_address_of_a_shard(read, address):
    text = f'[service]\n{POSTGRES}shard = "1/2"\nadvertise = "{address}"\n[rooms.lab]\n'
    assert read(text).advertise == address


@pytest.mark.parametrize("address", ["10.0.2.5", ":80", "::1:80", "[10.0.2.5]:80", "a:0", "a b:80"])
def test_invalid_address_of_a_shard(mistakes_in, address):
    text = f'[service]\n{POSTGRES}shard = "1/2"\nadvertise = "{address}"\n[rooms.lab]\n'
    (mistake,) = mistakes_in(text)
    assert "service.advertise: must be HOST:PORT, as in 10.0.2.5:8099, got" in mistake


def test_thousands_of_rooms(read):
    config = read("".join(f'[rooms.r{n}]\nco2 = "z/{n}"\nventilation = "v/{n}"\n' for n in range(2000)))
    assert len(config.rooms) == 2000


@given(st.dictionaries(st.sampled_from(sorted(VARIABLES)), st.text(max_size=8)))
@settings(max_examples=100, deadline=None)
def test_any_environment_is_accepted_or_refused_with_an_input_error(environ):
    with suppress(InputError):
        assert len(read_config(DEPLOY / "rooms.toml", environ).rooms) == 4


def test_optional_sensors_have_topics(read, mistakes_in):
    room = read(
        '[rooms.lab]\nco2 = "z/lab"\nhumidity = "z/lab"\nmotion = { topic = "z/pir", path = "occupancy" }\n'
    ).rooms["lab"]
    assert room.topics == {
        "co2": Topic(topic="z/lab"),
        "humidity": Topic(topic="z/lab"),
        "motion": Topic(topic="z/pir", shape="json", path="occupancy"),
    }
    assert mistakes_in('[rooms.lab]\nwifi = "a/#"\n')[0].startswith(
        "rooms.toml, line 2, rooms.lab.wifi: must be a single topic"
    )
    assert "must not be a topic that this service publishes" in "".join(
        mistakes_in('[mqtt]\nhost = "b"\n[rooms.lab]\npower = "occupair/lab/state"\n')
    )


def test_bacnet_points_of_a_room(read):
    config = read(
        '[bacnet]\naddress = "10.0.2.5/24"\ndevice = 77\n[rooms.a]\n'
        'co2 = { bacnet = "10.0.2.7", object = "analog-input,12" }\n'
        'ventilation = { bacnet = "20:7", object = "analog-output,3", cov = false, full = 100 }\n'
        'humidity = "zigbee2mqtt/a"\n'
    )
    room = config.rooms["a"]
    assert config.bacnet == BacnetConfig(address="10.0.2.5/24", device=77)
    assert room.points == {
        "co2": BacnetPoint(bacnet="10.0.2.7", object="analog-input,12"),
        "ventilation": VentilationPoint(bacnet="20:7", object="analog-output,3", cov=False, full=100),
    }
    assert list(room.topics) == ["humidity"]
    assert list(room.sources) == ["co2", "ventilation", "humidity"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('bacnet = "ahu", object = "analog-input,1"', "co2.bacnet: must be IP, IP:PORT or NETWORK:STATION"),
        ('bacnet = "10.0.2.7:99999", object = "analog-input,1"', "co2.bacnet: must be IP"),
        ('bacnet = "10.0.2.7", object = "analog-input"', "co2.object: must be a type and an instance number"),
        ('bacnet = "10.0.2.7", object = "analog-input,4194303"', "co2.object: must be a type and"),
        ('bacnet = "10.0.2.7:", object = "analog-input,1"', "co2.bacnet: must be IP"),
        (
            'bacnet = "10.0.2.7", object = "analog-foo,3"',
            "co2.object: has an unknown object type, use for example analog-input, got 'analog-foo,3'",
        ),
        ('bacnet = "10.0.2.7"', "co2.object: is required"),
        (
            'bacnet = "10.0.2.7", object = "analog-input,1", full = 2',
            "co2.full: unknown key, expected bacnet,",
        ),
    ],
)
def test_mistakes_of_bacnet_points(read, table, message):
    with pytest.raises(InputError, match=f"line 5, rooms.a.{message}"):
        read(f'[bacnet]\naddress = "10.0.2.5/24"\ndevice = 77\n[rooms.a]\nco2 = {{ {table} }}\n')


@pytest.mark.parametrize("address", ["0.0.0.0", "0.0.0.0/0", "10.0.2.0/24", "10.0.2.255/24", "224.0.0.1"])
def test_own_bacnet_address_is_that_of_a_machine(read, address):
    with pytest.raises(InputError, match=r"bacnet.address: must be the address of this machine, not of all"):
        read(f'[bacnet]\naddress = "{address}"\ndevice = 77\n{ROOM}')


@pytest.mark.parametrize("address", ["10.0.2.0", "10.0.2.0/31", "10.0.2.255/16"])
def test_own_bacnet_address_that_ends_with_0_or_255(read, address):
    assert read(f'[bacnet]\naddress = "{address}"\ndevice = 77\n{ROOM}').bacnet.address == address


@pytest.mark.parametrize("bbmd", ["20:7", "10.0.9.1:0", "10.0.9.1:", "10.0.9.1/24", "bbmd.example"])
def test_bbmd_is_an_ip_address(read, bbmd):
    with pytest.raises(InputError, match=r"line 4, bacnet.bbmd: must be IP or IP:PORT, as in 10.0.9.1 or"):
        read(f'[bacnet]\naddress = "10.0.2.5"\ndevice = 77\nbbmd = "{bbmd}"\n{ROOM}')


def test_reload_with_an_unknown_object_type_is_refused(read):
    text = '[bacnet]\naddress = "10.0.2.5"\ndevice = 77\n[rooms.a]\n'
    config = read(text + 'co2 = { bacnet = "10.0.2.7", object = "analog-input,3" }\n')
    config.origin.path.write_text(text + 'co2 = { bacnet = "10.0.2.7", object = "analog-foo,3" }\n')
    with pytest.raises(InputError, match=r"line 5, rooms.a.co2.object: has an unknown object type"):
        reread_config(config)


def test_bacnet_point_requires_the_bacnet_table(read):
    with pytest.raises(InputError, match=r"rooms.a.co2: requires a table \[bacnet\]"):
        read('[rooms.a]\nco2 = { bacnet = "10.0.2.7", object = "analog-input,12" }\n')


def test_device_behind_a_router_requires_broadcasts(read):
    room = '[rooms.a]\nco2 = { bacnet = "20:7", object = "analog-input,12" }\n'
    message = r"rooms.a.co2.bacnet: requires bacnet.address with its network, to find the router"
    for address in ("10.0.2.5", "10.0.2.5/32"):
        with pytest.raises(InputError, match=message):
            read(f'[bacnet]\naddress = "{address}"\ndevice = 77\n{room}')
    assert read(f'[bacnet]\naddress = "10.0.2.5"\nbbmd = "10.0.9.1"\ndevice = 77\n{room}').rooms
    assert read(f'[bacnet]\naddress = "10.0.2.5/24"\ndevice = 77\n{room}').rooms
