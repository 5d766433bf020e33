"""Rooms of a utilisation report: CSV and TOML. The first byte chooses the format."""

from __future__ import annotations

from random import Random

from occupair.utilisation.room_list import read_room_list
from tools.fuzz.byte_mutations import random_bytes
from tools.fuzz.scratch import scratch_file
from tools.fuzz.table_mutations import mutate_table, table_bytes
from tools.fuzz.toml_mutations import mutate_toml
from tools.fuzz.trial import check

_TOML = """[service]
timezone = "Europe/Copenhagen"
[rooms.lab]
name = "Lab 7"
floor = "2"
capacity = 24
[rooms."b 2"]
seats = 12.0
timezone = "UTC"
"""
_TABLE = [
    ["room", "name", "floor", "capacity", "timezone"],
    ["lab-7", "Lab 7", "2", "24", "Europe/Copenhagen"],
    ["hall", "Halle Süd", "", "12,0", ""],
]
_KEYS = ("room", "name", "floor", "capacity", "seats", "timezone", "Room ", "x")


def generate(random: Random) -> bytes:
    if random.random() < 0.02:
        return random_bytes(random)
    if random.random() < 0.5:
        return b"t" + mutate_toml(_TOML, random, _KEYS)
    return b"c" + table_bytes(mutate_table(_TABLE, random, _KEYS), random)


def run(data: bytes) -> None:
    name = "list.toml" if data[:1] == b"t" else "list.csv"
    for room, listed in read_room_list(scratch_file(name, data[1:])).items():
        check(listed.info.id == room and bool(room), "room must have its id")
        seats = listed.info.capacity
        check(seats is None or (type(seats) is int and seats >= 1), "capacity must be an integer, 1 or more")
