"""Mutations of TOML documents, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tools.fuzz.byte_mutations import mutate_bytes
from tools.fuzz.interesting import NUMBERS, TEXTS, TIMES, ZONES

_LITERALS = (
    "true", "false", "0", "-1", "1.5", "1e308", "1e400", "nan", "inf", "-inf", "9223372036854775808",
    "1" + "0" * 4400, "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "1979-05-27T07:32:00",
    "9999-12-31T23:59:59-12:00", "[]", "{}", "[[]]", "[1, 'a', {}]", "{ a = 1 }",
    "{ topic = 'a', bacnet = 'b' }", '""', "''", '"a\\nb"', '"\\u0000"', '"\\u202e"', '"\\U0010ffff"',
    "'''\na\n'''", "[" * 50 + "]" * 50, "[" * 2000 + "]" * 2000, "{a={" * 300 + "}}" * 300, "0x1f", "0o7",
    "1_000", "'22:00-06:00'", "['22:00-06:00']", "[[0, 0.1], [60, 1]]", "'10.0.2.7'", "'analog-input,12'",
)  # fmt: skip


def mutate_toml(text: str, random: Random, names: Sequence[str]) -> bytes:
    """Return a changed document; ``names`` are keys and texts of the format."""
    lines = text.split("\n")
    while True:
        _mutate_line(lines, random, names)
        if random.random() < 0.5:
            break
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    chance = random.random()
    if chance < 0.02:
        return "\n".join(lines).encode(random.choice(("utf-16", "utf-8-sig", "latin-1")), "replace")
    return mutate_bytes(data, random, [name.encode() for name in names]) if chance < 0.15 else data


def literal(random: Random) -> str:
    """Return the text of a TOML value."""
    match random.randrange(5):
        case 0 | 1:
            return random.choice(_LITERALS)
        case 2:
            return random.choice(NUMBERS)
        case _:
            text = random.choice((TEXTS, TIMES, ZONES, NUMBERS)[random.randrange(4)])
            return "'" + text.replace("'", "") + "'" if random.random() < 0.5 else _escaped(text)


def _escaped(text: str) -> str:
    return '"' + "".join(f"\\U{ord(one):08x}" if not one.isalnum() else one for one in text) + '"'


def _mutate_line(lines: list[str], random: Random, names: Sequence[str]) -> None:
    place = random.randrange(len(lines))
    key, equals, value = lines[place].partition("=")
    match random.randrange(8):
        case 0 | 1 | 2 if equals:
            lines[place] = f"{key}= {literal(random)}"
        case 3 if equals:
            lines[place] = f"{random.choice(names)} ={value}"
        case 4:
            del lines[place]
            lines or lines.append("")
        case 5:
            lines.insert(random.randrange(len(lines) + 1), lines[place])
        case 6:
            lines.insert(place, f"{random.choice(names)} = {literal(random)}")
        case _:
            name = random.choice((*names, _escaped(random.choice(TEXTS))))
            lines.insert(place, f"[{random.choice(('', 'rooms.', 'tokens.', '[', 'rooms.lab.'))}{name}]")
