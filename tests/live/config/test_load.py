"""Settings: valid files, defaults, shards and the deployed example."""

import tomllib
from pathlib import Path

import pytest

from occupair.control import AirControl, AirDemand
from occupair.live.config import (
    VARIABLES,
    BacnetConfig,
    Limits,
    MqttConfig,
    OutdoorAirTable,
    RoomConfig,
    TokenConfig,
    Topic,
    VentilationTopic,
    read_config,
    reread_config,
)

DEPLOY = Path(__file__).parents[3] / "deploy"
ROOM = '[rooms.lab]\nco2 = "lab/co2"\n'
HASH = "sha256:" + "0123456789abcdef" * 4


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


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_address_needs_no_tokens(read, host):
    assert read(f'service.host = "{host}"\n{ROOM}').host == host


@pytest.mark.parametrize("path", ["co2", "[1]", "a[0][1].b", "a[-1]", "CO2 level.value", "größe", "a-b_c.0"])
def test_valid_path_is_read(read, path):
    assert read(f'[rooms.x]\nco2 = {{topic = "a", path = "{path}"}}\n').rooms["x"].co2.path == path


def test_ingress_replaces_tokens(read):
    config = read(f'[service]\nhost = "0.0.0.0"\ningress = "172.30.32.2"\n{ROOM}')
    assert (config.host, config.tokens, config.ingress_role) == ("0.0.0.0", (), "admin")


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
