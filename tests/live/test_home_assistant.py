"""The app of Home Assistant: settings from its options, the broker from the Supervisor, and the process."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import aiomqtt
import pytest
from command import occupair
from live.mosquitto import need_mosquitto
from live.ports import free_port
from live.supervisor import TOKEN, fake_supervisor
from live.waiting import HANG_GUARD, wait_for

from occupair.errors import InputError
from occupair.live.home_assistant import USER, find_broker, read_options, read_settings

BROKER = {"host": "core-mosquitto", "port": 1883, "user": "addons", "password": "hush", "tls": False}
LAB = {"name": "Lab", "co2": "zigbee2mqtt/lab", "volume": 180.0, "capacity": 24}


@pytest.fixture
def settings(tmp_path):
    """Return a function that reads settings from options."""

    def settings(options, environ=None, broker=BROKER):
        folder = tmp_path / "data"
        return read_settings(options, environ or {}, broker=broker, config=tmp_path, folder=folder)

    return settings


@pytest.fixture
def mistakes_in(settings):
    """Return a function that returns the mistakes of options, one line each."""

    def mistakes_in(options, **more):
        with pytest.raises(InputError) as raised:
            settings(options, **more)
        return str(raised.value).splitlines()

    return mistakes_in


# ---- settings ----


def test_options_become_settings(settings, tmp_path):
    second = {
        "name": "Büro 2",
        "co2": "loggers/7",
        "co2_path": "sensors[0].co2",
        "ventilation": "bms/fan",
        "ventilation_full": 100.0,
        "area": 20.0,
        "height": 2.5,
        "capacity": 4,
        "floor": "Erdgeschoss",
        "closed": "22:00-06:00",
        "model": "buero.occupair",
        "ventilation_path": "",  # left empty in the form
    }
    options = {"rooms": [LAB, second], "access": "write", "retention_days": 30, "log_level": "debug"}
    config = settings(options, {"TZ": "Europe/Berlin", "SUPERVISOR_TOKEN": TOKEN})
    assert (config.host, config.port, config.ingress) == ("0.0.0.0", 8099, "172.30.32.2")
    assert (config.ingress_role, config.tokens, config.origin) == ("write", (), None)
    assert (config.retention_days, config.log_level, config.log) == (30, "debug", "text")
    assert config.store == f"sqlite:///{tmp_path}/data/occupair.db"
    assert (config.mqtt.host, config.mqtt.user, config.mqtt.tls) == ("core-mosquitto", "addons", False)
    assert config.mqtt.password.get_secret_value() == "hush"
    assert list(config.rooms) == ["lab", "buero-2"]
    lab, office = config.rooms.values()
    assert (lab.name, lab.co2.topic, lab.timezone) == ("Lab", "zigbee2mqtt/lab", "Europe/Berlin")
    assert (lab.properties["volume"], lab.capacity) == (180.0, 24)
    assert (office.co2.path, office.co2.shape, office.ventilation.full) == ("sensors[0].co2", "json", 100.0)
    assert (office.ventilation.path, office.floor, office.closed) == (None, "Erdgeschoss", ("22:00-06:00",))
    assert office.model == tmp_path / "buero.occupair"


def test_rooms_with_names_in_other_scripts_have_ids(settings):
    names = ["Кухня", "会議室", "Кухня 12", "Café"]
    config = settings({"rooms": [{"name": name, "co2": f"t/{k}"} for k, name in enumerate(names)]}, {})
    assert {room.id: room.name for room in config.rooms.values()} == {
        "room-1": "Кухня",
        "room-2": "会議室",
        "room-12": "Кухня 12",
        "cafe": "Café",
    }


def test_own_broker_replaces_that_of_the_supervisor(settings):
    options = {"rooms": [LAB], "mqtt_host": "broker.lan", "mqtt_tls": True, "timezone": "Europe/Oslo"}
    config = settings(options, {"TZ": "Europe/Berlin"}, broker=None)
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.tls) == ("broker.lan", 8883, True)
    assert config.rooms["lab"].timezone == "Europe/Oslo"


def test_environment_overrides_options(settings):
    config = settings({"rooms": [LAB]}, {"OCCUPAIR_PORT": "81", "OCCUPAIR_INGRESS": "10.0.0.1"})
    assert (config.port, config.ingress) == (81, "10.0.0.1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "option rooms: must have at least one room"),
        ({"rooms": []}, "option rooms: must have at least one room"),
        ({"rooms": "lab"}, "option rooms: must be a list of rooms, got 'lab'"),
        ({"rooms": ["lab"]}, "option rooms: must be a list of rooms, got 'lab'"),
        (
            {"rooms": [LAB | {"capacity": "two"}]},
            "option capacity of room 'Lab': must be an integer, got 'two'",
        ),
        (
            {"rooms": [LAB | {"co2": "zigbee2mqtt/#"}]},
            "option co2 of room 'Lab': must be a single topic, without",
        ),
        ({"rooms": [{"name": "Lab"}]}, "option co2 of room 'Lab': is required"),
        ({"rooms": [{"name": "Lab", "co2_path": "a"}]}, "option co2 of room 'Lab': is required"),
        ({"rooms": [{"co2": "a"}]}, "option id of room 1: is required, because it has no name"),
        ({"rooms": [LAB, LAB]}, "option id of room 'Lab': must differ from that of other rooms, got 'lab'"),
        (
            {"rooms": [LAB | {"id": "Lab 1"}]},
            "option id of room 'Lab': must be named with 1 to 64 characters",
        ),
        ({"rooms": [LAB | {"volum": 5}]}, "option volum of room 'Lab': unknown key, did you mean 'volume'?"),
        (
            {"rooms": [{"name": "Lab", "co2": "a", "volume": 60.0}]},
            "option volume of room 'Lab': requires rooms.lab.capacity, the number of seats",
        ),
        ({"rooms": [LAB], "access": "root"}, "option access: must be 'read', 'write' or 'admin', got 'root'"),
        ({"rooms": [LAB], "timezone": "Berlin"}, "option timezone: must be an IANA time zone such as"),
        ({"rooms": [LAB], "mqtt_port": 0}, "option mqtt_port: must be greater than or equal to 1, got 0"),
        ({"rooms": [LAB], "acess": "read"}, "option acess: unknown key, did you mean 'access'?"),
    ],
)
def test_mistake_in_an_option_is_one_line(mistakes_in, options, message):
    (line,) = mistakes_in(options)
    assert line.startswith(message)


def test_all_mistakes_are_reported(mistakes_in):
    options = {"rooms": [LAB | {"capacity": 0}, {"name": "Attic", "co2": "+"}], "access": "all"}
    assert [line.partition(":")[0] for line in mistakes_in(options)] == [
        "option access",
        "option capacity of room 'Lab'",
        "option co2 of room 'Attic'",
    ]


def test_missing_broker_is_explained(mistakes_in):
    (line,) = mistakes_in({"rooms": [LAB]}, broker=None)
    assert line == (
        "option mqtt_host: there is no MQTT broker: install the app Mosquitto broker, or set this option"
    )


def test_password_is_never_shown(mistakes_in):
    (line,) = mistakes_in({"rooms": [LAB], "mqtt_password": ["hunter22"]})
    assert line == "option mqtt_password: must be a string, got a value that is not shown"


def test_settings_file_replaces_the_options(settings, tmp_path):
    (tmp_path / "rooms.toml").write_text('[rooms.lab]\nco2 = "lab/co2"\n')
    config = settings({"access": "read"}, {"TZ": "Europe/Berlin"})
    assert (config.rooms["lab"].co2.topic, config.rooms["lab"].timezone) == ("lab/co2", "Europe/Berlin")
    assert (config.mqtt.host, config.ingress, config.ingress_role) == (
        "core-mosquitto",
        "172.30.32.2",
        "read",
    )
    assert config.store.endswith("/data/occupair.db")


def test_settings_file_keeps_what_it_sets(settings, tmp_path):
    (tmp_path / "rooms.toml").write_text(
        '[service]\nstore = "sqlite:////x/y.db"\ntimezone = "Europe/Oslo"\ningress_role = "write"\n'
        '[mqtt]\nhost = "broker.lan"\n[rooms.lab]\nco2 = "lab/co2"\n'
    )
    config = settings({"access": "read"}, {"TZ": "Europe/Berlin"})
    assert (config.store, config.ingress_role) == ("sqlite:////x/y.db", "write")
    assert (config.rooms["lab"].timezone, config.mqtt.host, config.mqtt.user) == (
        "Europe/Oslo",
        "broker.lan",
        None,
    )


def test_options_apply_where_the_settings_file_sets_nothing(settings, tmp_path):
    (tmp_path / "rooms.toml").write_text(
        '[service]\nlog_level = "warning"\n[mqtt]\ndiscovery = false\n[rooms.lab]\nco2 = "lab/co2"\n'
    )
    options = {"log_level": "debug", "retention_days": 30, "timezone": "Europe/Paris", "mqtt_host": "other"}
    config = settings(options, {"TZ": "Europe/Berlin"})
    assert (config.log_level, config.retention_days) == ("warning", 30)
    assert config.rooms["lab"].timezone == "Europe/Paris"
    assert (config.mqtt.host, config.mqtt.discovery, config.ingress_role) == ("other", False, "write")


def test_unknown_option_beside_a_settings_file_is_refused(mistakes_in, tmp_path):
    (tmp_path / "rooms.toml").write_text('[rooms.lab]\nco2 = "lab/co2"\n')
    assert mistakes_in({"acess": "read"}) == ["option acess: unknown key, did you mean 'access'?"]


def test_settings_file_and_rooms_in_the_options_exclude_each_other(mistakes_in, tmp_path):
    (tmp_path / "rooms.toml").write_text('[rooms.lab]\nco2 = "lab/co2"\n')
    (line,) = mistakes_in({"rooms": [LAB]})
    assert line == f"option rooms: must be empty, because there is {tmp_path}/rooms.toml"


def test_mistake_in_the_settings_file_has_its_line(mistakes_in, tmp_path):
    for text, message in (
        ("[rooms.lab]\nco2 = 5\n", "line 2, rooms.lab.co2: must be a topic"),
        ("[rooms.lab\n", "line 1"),
        ("service = 5\n[rooms.lab]\n", "service: must be a table, [service], got 5"),
    ):
        (tmp_path / "rooms.toml").write_text(text)
        assert message in mistakes_in({})[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "cannot be read: No such file"), ("{", "must be JSON: "), ("[]", "must be an object")],
)
def test_unreadable_options_are_one_line(tmp_path, text, message):
    path = tmp_path / "options.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_options(path)
    assert str(raised.value).startswith(f"{path}: {message}")
    assert "\n" not in str(raised.value)


# ---- Supervisor ----


def test_broker_of_the_supervisor():
    data = {"addon": "core_mosquitto", "host": "core-mosquitto", "port": 1883, "ssl": False}
    data |= {"username": "addons", "password": "hush", "protocol": "3.1.1"}
    with fake_supervisor(data) as supervisor:
        assert find_broker(supervisor.url, TOKEN) == BROKER
        assert supervisor.requests == ["/services/mqtt"]
        supervisor.broker = None
        assert find_broker(supervisor.url, TOKEN) is None


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"data": 5}', b'{"data": {"port": 1}}', b"\xff"])
def test_unexpected_response_of_the_supervisor_is_one_line(raw):
    with fake_supervisor() as supervisor:
        supervisor.raw = raw
        with pytest.raises(InputError, match=r"^the Supervisor does not name the MQTT broker: unexpected"):
            find_broker(supervisor.url, TOKEN)


def test_refusal_of_the_supervisor_is_one_line():
    with fake_supervisor(BROKER) as supervisor, pytest.raises(InputError, match=r"HTTP status 401$"):
        find_broker(supervisor.url, "wrong")


def test_unreachable_supervisor_is_one_line():
    with pytest.raises(InputError, match=r"^the Supervisor at http://127\.0\.0\.1:\d+ does not respond: "):
        find_broker(f"http://127.0.0.1:{free_port()}", TOKEN)


# ---- process ----


def run_app(folder, *, url, environ):
    """Start the command of the container."""
    command = [sys.executable, "-m", "occupair", "home-assistant", "--data", str(folder / "data")]
    command += ["--config", str(folder / "config"), "--supervisor", url, "--user", str(os.geteuid())]
    return subprocess.Popen(
        command, env={**os.environ, **environ}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )


def wait_for_message(port, topic):
    """Return the first message on a topic."""

    async def receive():
        async with asyncio.timeout(HANG_GUARD), aiomqtt.Client("127.0.0.1", port) as client:
            await client.subscribe(topic)
            return (await anext(aiter(client.messages))).payload

    return asyncio.run(receive())


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=HANG_GUARD) as response:
        return response.status, json.load(response)


@need_mosquitto
def test_app_finds_its_broker_and_serves_ingress(tmp_path, server):
    """From options.json to a state on the Supervisor's broker and a page that only ingress may open."""
    for name in ("data", "config"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/options.json").write_text(json.dumps({"rooms": [LAB], "access": "write"}))
    port = free_port()
    environ = {"SUPERVISOR_TOKEN": TOKEN, "OCCUPAIR_HOST": "127.0.0.1", "OCCUPAIR_PORT": str(port)}
    environ |= {"OCCUPAIR_INGRESS": "127.0.0.1"}
    with fake_supervisor({"host": "127.0.0.1", "port": server.port, "ssl": False}) as supervisor:
        process = run_app(tmp_path, url=supervisor.url, environ=environ)
        try:
            state = wait_for_message(server.port, "occupair/lab/state")
            status, me = get(f"http://127.0.0.1:{port}/api/login")
        finally:
            process.terminate()
            log = process.communicate(timeout=HANG_GUARD)[1].decode()
    assert process.returncode == 0, log
    assert (status, me) == (200, {"name": "", "role": "write"})
    assert json.loads(state)["people"] is None
    assert TOKEN not in log
    assert (tmp_path / "data/occupair/occupair.db").stat().st_mode & 0o777 == 0o600


@need_mosquitto
def test_other_addresses_cannot_open_the_app(tmp_path, server):
    for name in ("data", "config"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/options.json").write_text(
        json.dumps({"rooms": [LAB], "mqtt_host": "127.0.0.1", "mqtt_port": server.port})
    )
    port = free_port()
    environ = {"SUPERVISOR_TOKEN": TOKEN, "OCCUPAIR_PORT": str(port)}  # listens on all addresses
    with fake_supervisor() as supervisor:
        process = run_app(tmp_path, url=supervisor.url, environ=environ)
        try:
            wait_for(lambda: process.poll() is not None or is_healthy(port))
            headers = {"X-Forwarded-For": "172.30.32.2"}
            with pytest.raises(urllib.error.HTTPError) as raised:
                get(f"http://127.0.0.1:{port}/api/rooms", **headers)
            assert raised.value.code == 403
            raised.value.close()
            assert supervisor.requests == []  # the options name the broker
        finally:
            process.terminate()
            process.communicate(timeout=HANG_GUARD)
    assert process.returncode == 0


def is_healthy(port):
    time.sleep(0.3)  # rate limit
    try:
        return get(f"http://127.0.0.1:{port}/healthz")[0] == 200
    except OSError:
        return False


def test_mistake_in_the_options_ends_the_app_with_one_line(tmp_path):
    (tmp_path / "options.json").write_text('{"rooms": [], "mqtt_host": "b"}')
    done = occupair("home-assistant", "--data", str(tmp_path), "--config", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("occupair: option rooms: must have at least one room")
    assert done.stderr.count("\n") == 1


DROP = """
import json, os, sys
from pathlib import Path
from occupair.live.home_assistant import drop_privileges
folder = Path(sys.argv[1])
drop_privileges(folder / "occupair")
(folder / "occupair/new").write_text("")
try:
    (folder / "options.json").read_text()
    readable = True
except PermissionError:
    readable = False
print(json.dumps([os.getuid(), os.geteuid(), os.getgid(), os.getgroups(), readable]))
"""


def test_root_becomes_an_ordinary_user_that_owns_the_database():
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:  # every user may enter it, unlike tmp_path
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "occupair").mkdir(mode=0o700)
        (folder / "occupair/occupair.db").write_text("")
        (folder / "options.json").write_text("{}")
        (folder / "options.json").chmod(0o600)
        done = subprocess.run([sys.executable, "-c", DROP, name], capture_output=True, text=True, check=True)
        uid, effective, gid, groups, readable = json.loads(done.stdout)
        if root:
            assert (uid, effective, gid, groups, readable) == (USER, USER, USER, [], False)
            assert (folder / "occupair/occupair.db").stat().st_uid == USER
        else:
            assert (uid, readable) == (os.getuid(), True)
