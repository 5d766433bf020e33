"""Options of the rooms of a portfolio: rooms.csv and rooms.toml. The first byte chooses the format."""

from __future__ import annotations

from random import Random

from occupair.fleet.room_options import NAMES, parse_options
from occupair.physics.room_properties import PROPERTIES
from tools.fuzz.byte_mutations import random_bytes
from tools.fuzz.table_mutations import mutate_table, table_bytes
from tools.fuzz.toml_mutations import mutate_toml
from tools.fuzz.trial import broken_rule, check

_TOML = """[rooms.lab]
file = "lab/*.csv"
timezone = "Europe/Copenhagen"
dayfirst = true
closed = ["22:00-06:00"]
columns = { co2 = "Raum 7", ventilation = "fan" }
capacity = 24
volume = 90
activity = "seated"
[rooms."Room 7"]
area = 30
height = 2.5
air_flow = 300
outdoor_co2 = 420
"""
_TABLE = [
    ["room", "file", "timezone", "dayfirst", "closed", "capacity", "volume", "activity", "columns.co2"],
    [
        "lab",
        "lab/*.csv",
        "Europe/Copenhagen",
        "yes",
        "22:00-06:00;12:00-13:00",
        "24",
        "90",
        "seated",
        "Raum 7",
    ],
    ["Room 7", "", "", "false", "", "12", "60,5", "0.02", ""],
]
_KEYS = (*NAMES, "room", "columns.co2", "columns.", "columns", "rooms", '"a b"', "x")


def generate(random: Random) -> bytes:
    if random.random() < 0.02:
        return random_bytes(random)
    if random.random() < 0.5:
        return b"t" + mutate_toml(_TOML, random, [name.replace("columns.", "columns_") for name in _KEYS])
    return b"c" + table_bytes(mutate_table(_TABLE, random, _KEYS), random)


def run(data: bytes) -> None:
    found = parse_options(data[1:], "rooms.toml" if data[:1] == b"t" else "rooms.csv")
    for room, options in found.items():
        check(bool(room), "room must have a name")
        check(not options.problem or broken_rule(options.problem) is None, "problem must be a plain line")
        check(set(options.properties) <= set(PROPERTIES), "properties must be known")
        _ = options.over(options).reading, options.settings
