"""Delimited tables with plausible contents, and their mutations."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from random import Random

from tools.fuzz.byte_mutations import mutate_bytes
from tools.fuzz.interesting import NUMBERS, TEXTS, TIMES, ZONES

Table = list[list[str]]
_DELIMITERS = (",", ",", ",", ";", ";", "\t", "|")
_ENCODINGS = ("utf-8",) * 12 + (
    "utf-8-sig",
    "cp1252",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "latin-1",
)
_NEWLINES = ("\n",) * 8 + ("\r\n", "\r", "\n\n", " \n")


def mutate_table(table: Table, random: Random, names: Sequence[str]) -> Table:
    """Change cells, rows and columns of a table; ``names`` are column names of the format."""
    table = [list(row) for row in table]
    while random.random() < 0.75:
        _mutate_once(table, random, names)
    return table


def _mutate_once(table: Table, random: Random, names: Sequence[str]) -> None:
    row = random.randrange(len(table))
    column = random.randrange(max(1, len(table[row])))
    match random.randrange(12):
        case 0 | 1 | 2 if table[row]:
            table[row][column % len(table[row])] = _cell(random, names)
        case 3:
            for one in table[1:]:
                if column < len(one):
                    one[column] = _cell(random, names)
        case 4:
            del table[row]
            table or table.append([""])
        case 5:
            table.insert(random.randrange(len(table) + 1), list(table[row]))
        case 6:
            for one in table:
                del one[column : column + 1]
        case 7:
            word = random.choice(names)
            for place, one in enumerate(table):
                one.insert(column, _cell(random, names) if place else word)
        case 8:
            table[row].insert(column, _cell(random, names))
        case 9:
            del table[row][column:]
        case 10:
            table[1:] = table[:0:-1]
        case _ if table[0]:
            table[0][column % len(table[0])] = random.choice(names)


def _cell(random: Random, names: Sequence[str]) -> str:
    chosen = random.choices((NUMBERS, TEXTS, TIMES, ZONES, names), (4, 3, 4, 1, 1))[0]
    return random.choice(chosen)


def table_bytes(table: Table, random: Random) -> bytes:
    """Return a table as the bytes of a file, in some dialect and encoding."""
    delimiter, newline = random.choice(_DELIMITERS), random.choice(_NEWLINES)
    quotes = random.random() < 0.8
    lines = [delimiter.join(_quoted(cell, delimiter) if quotes else cell for cell in row) for row in table]
    if random.random() < 0.1:
        lines.insert(
            0, random.choice(("sep=;", "Logger 7", "# exported", "", "Serial;123", '"', "a,b,c,d,e"))
        )
    if random.random() < 0.05:
        lines.insert(1, delimiter.join(random.choice(("ppm", "%", "°C", "", "l/s")) for _ in table[0]))
    text = newline.join(lines) + random.choice((newline, newline, ""))
    data = text.encode(random.choice(_ENCODINGS), "replace")
    if random.random() < 0.25:
        data = mutate_bytes(data, random)
    if random.random() < 0.03:
        data = gzip.compress(data, 1, mtime=0)
        return mutate_bytes(data, random) if random.random() < 0.5 else data
    return data


def _quoted(cell: str, delimiter: str) -> str:
    special = delimiter in cell or '"' in cell or "\n" in cell or "\r" in cell
    return '"' + cell.replace('"', '""') + '"' if special else cell
