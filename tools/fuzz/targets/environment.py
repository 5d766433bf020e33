"""Environment variables and options that override the settings of the live service, one per line."""

from __future__ import annotations

from random import Random

from occupair.live.config import VARIABLES, read_config
from tools.fuzz.interesting import NUMBERS, TEXTS, TIMES, ZONES
from tools.fuzz.scratch import scratch_file
from tools.fuzz.targets.settings import check_config

ONE_LINE = False
_SETTINGS = b'[rooms.lab]\nco2 = "lab/co2"\n[mqtt]\nhost = "localhost"\n'
_VALID = (
    "8099",
    "127.0.0.1",
    "true",
    "sqlite:///a.db",
    "postgresql://u:p@h/d",
    "1/2",
    "10.0.2.5/24",
    "info",
    "5",
)
_NAMES = (
    *VARIABLES,
    "OCCUPAIR_X",
    "OCCUPAIR_MQTT__X",
    "OCCUPAIR__",
    "OCCUPAIR_",
    "OCCUPAIR_MQTT",
    "OCCUPAIR_ROOMS",
)
_OPTIONS = ("--port", "--host", "--store", "--workers", "--shard")


def generate(random: Random) -> bytes:
    lines = []
    for _ in range(random.randint(1, 4)):
        name = random.choice(_OPTIONS if random.random() < 0.1 else _NAMES)
        values = random.choices((NUMBERS, TEXTS, TIMES, ZONES, _VALID), (3, 3, 1, 1, 3))[0]
        lines.append(f"{name}={random.choice(values)}")
    return "\n".join(lines).encode()


def run(data: bytes) -> None:
    given = dict(
        line.partition("=")[::2]
        for line in data.decode("utf-8", "surrogateescape").split("\n")
        if "=" in line
    )
    environ = {name: value.replace("\0", "") for name, value in given.items() if name.startswith("OCCUPAIR_")}
    options = {name: value for name, value in given.items() if name in _OPTIONS}
    check_config(read_config(scratch_file("rooms.toml", _SETTINGS), environ, options=options))
