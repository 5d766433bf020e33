"""Mistakes in settings files, each reported with its line, key, rule and value."""

import pytest

from occupair.errors import InputError
from occupair.live.config import read_config

ROOM = '[rooms.lab]\nco2 = "lab/co2"\n'
HASH = "sha256:" + "0123456789abcdef" * 4
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
