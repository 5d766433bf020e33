"""Markdown tables and sections, and numbers with few digits and a unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

DASH = "–"


@dataclass(frozen=True)
class Table:
    """Markdown table; the first column is left-aligned text, the others are right-aligned numbers."""

    heads: list[str]
    rows: list[list[str]]

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.heads, *self.rows, strict=True)]
        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        return "\n".join(self._line(row, widths) for row in [self.heads, rule, *self.rows])

    @staticmethod
    def _line(row: list[str], widths: list[int]) -> str:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        return f"| {' | '.join(cells)} |"


@dataclass(frozen=True)
class Section:
    """Section of the page: heading, text and tables."""

    heading: str
    text: Sequence[str]
    tables: Sequence[Table]

    def __str__(self) -> str:
        parts = [f"## {self.heading}", "\n".join(self.text), *map(str, self.tables)]
        return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Headline:
    """Key figure: a ratio, the value of occupair and the value it is compared with."""

    measurement: str
    ratio: str
    ours: str
    against: str


def ratio(value: float) -> str:
    """Format a ratio.

    Examples
    --------
    >>> ratio(1.2345), ratio(71.4), ratio(float("nan"))
    ('1.23 x', '71.4 x', '–')
    """
    return f"{digits(value)} x" if math.isfinite(value) else DASH


def digits(value: float) -> str:
    """Format a number with about three significant digits."""
    if not math.isfinite(value):
        return DASH
    return (
        f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
        if 0 < abs(value) < 100
        else f"{value:,.0f}"
    )


def time(value: float) -> str:
    """Format a time [s] with a suitable unit.

    Examples
    --------
    >>> time(0.00012), time(0.5), time(75.0), time(7200.0)
    ('120 us', '500 ms', '75.0 s', '2.00 h')
    """
    for factor, unit in ((1e6, "us"), (1e3, "ms"), (1.0, "s"), (1 / 3600, "h")):
        if value * factor < 1000 or unit == "h":
            return f"{digits(value * factor)} {unit}" if math.isfinite(value) else DASH
    raise AssertionError


def memory_of(value: float) -> str:
    """Format memory [MB] with a suitable unit.

    Examples
    --------
    >>> memory_of(31.4), memory_of(-0.1), memory_of(4200.0), memory_of(0.0123)
    ('31 MB', '0 MB', '4.20 GB', '12 kB')
    """
    if not math.isfinite(value):
        return DASH
    if 0.001 < value < 1:
        return f"{1000 * value:.0f} kB"
    return f"{max(value, 0.0):,.0f} MB" if value < 1000 else f"{digits(value / 1000)} GB"
