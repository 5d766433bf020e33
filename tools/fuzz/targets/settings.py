"""Settings of the live service: rooms.toml."""

from __future__ import annotations

from random import Random

from occupair.live.config import ServiceConfig, read_config
from tools.fuzz.byte_mutations import random_bytes
from tools.fuzz.scratch import scratch_file
from tools.fuzz.toml_mutations import mutate_toml
from tools.fuzz.trial import check

ONE_LINE = False  # all mistakes are reported, one per line
EXAMPLE = """[service]
timezone = "Europe/Copenhagen"
store = "sqlite:///occupair.db"
host = "127.0.0.1"
port = 8099
retention_days = 400
clock = "readings"
log = "json"
log_level = "warning"
ingress = "172.30.32.2"
tolerance = 0.001
[mqtt]
host = "localhost"
port = 1883
user = "occupair"
password = "secret"
tls = false
version = "5"
prefix = "occupair"
session_expiry = 86400
[bacnet]
address = "10.0.2.5/24"
device = 1234
bbmd = "10.0.9.1"
foreign_ttl = 300
[limits]
requests_per_minute = 600
body_bytes = 1000000
[tokens.grafana]
role = "read"
hash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
[rooms.lab]
name = "Lab"
floor = "1"
co2 = "zigbee2mqtt/lab"
ventilation = { topic = "bms/ahu1/fan", full = 100 }
humidity = { topic = "a", path = "b.c[0]", time_path = "d" }
interval = 10
stale_after = 15
capacity = 12
closed = "22:00-06:00"
volume = 90
activity = "seated"
[rooms.lab.outdoor_air]
standard = "EN 16798-1"
category = "II"
confidence = 0.95
damper_curve = [[0, 0.1], [60, 0.4], [105, 1]]
[rooms.office]
co2 = { bacnet = "10.0.2.7", object = "analog-input,12", cov = true }
ventilation = { bacnet = "10.0.2.7", object = "analog-output,3", full = 100 }
area = 30
height = 2.5
capacity = 6
timezone = "UTC"
"""
NAMES = (
    *dict.fromkeys(line.partition("=")[0].strip("[] ").rpartition(".")[2] for line in EXAMPLE.split("\n")),
    "service.x", '"a b"', '""', "topic", "shape", "path", "bacnet", "object", "model", "ca_file", "shard",
    "password_file", "advertise", "space", "motion", "rooms", "__proto__",
)  # fmt: skip


def generate(random: Random) -> bytes:
    if random.random() < 0.03:
        return random_bytes(random, [f"{name} = ".encode() for name in NAMES])
    text = EXAMPLE
    if random.random() < 0.5:  # a few tables only, which leaves fewer conflicts
        tables = ("\n" + EXAMPLE).split("\n[")[1:]
        text = "\n".join("[" + one for one in random.sample(tables, random.randint(1, 4)))
        text += '\n[rooms.x]\nco2 = "x"\n' * (random.random() < 0.5)
    return mutate_toml(text, random, NAMES)


def run(data: bytes) -> None:
    check_config(read_config(scratch_file("rooms.toml", data), {}))


def check_config(config: ServiceConfig) -> None:
    """Check what the service relies on."""
    check(len(config.rooms) > 0, "there must be a room")
    check(1 <= config.port <= 65_535, "port must be a TCP port")
    for room in config.rooms.values():
        check(bool(room.timezone) and room.stale_after > 0, "room must have a time zone")
        check(all(source is not None for source in room.sources.values()), "source must be set")
        _ = room.properties, room.air_control, room.topics, room.points
