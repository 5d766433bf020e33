"""Columns of numbers as written by loggers: decimal points and commas, units and missing values.

Empty cells, the placeholders in ``MISSING``, and -999 and -9999, which many loggers write if a sensor
does not answer, are missing. Any other text is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.source import Source
from occupair.wording import quoted

MISSING = (
    {"", "-", "--", "---", "?", ".", "..", "nan", "null", "none", "nil", "na", "n/a", "#n/a", "#nv", "<na>"}
    | {"#value!", "nodata", "missing", "unavailable", "unknown", "no data", "no value", "not available"}
    | {"keine daten", "ingen data"}
)
MISSING_NUMBERS = (-999.0, -9999.0)

_UNIT = r"(?:ppm|%|pct|hz|m3/h|m³/h|l/s|cfm|people|persons|personen)"
_NUMBER = r"^[+-]?(?:\d+|\d{1,3}(?:\%s\d{3})+)?(?:\%s\d*)?(?:[eE][+-]?\d+)?$"  # thousands, decimal
_OTHER = {".": ",", ",": "."}


Rows = TypeVar("Rows", pd.DataFrame, pd.Series)

BLOCK = 200_000
"""Rows of a text column that are parsed together; limits the memory of long columns."""


def blocks(table: Rows) -> Iterator[Rows]:
    """Split a table or a column into blocks of consecutive rows, one if it is empty."""
    return (table.iloc[start : start + BLOCK] for start in range(0, max(len(table), 1), BLOCK))


def as_text(column: pd.Series) -> pd.Series[str]:
    """Return a column as strings, "" for missing values of pandas."""
    return column.astype(str).fillna("")


def is_missing(column: pd.Series) -> NDArray[np.bool_]:
    """Whether each cell of a column is empty or a placeholder for a missing value.

    Examples
    --------
    >>> is_missing(pd.Series(["420", "", " N/A", "---", "-999", "high"])).tolist()
    [False, True, True, True, False, False]
    """
    if not _is_text(column):
        return column.isna().to_numpy()
    return as_text(column).str.strip().str.lower().isin(MISSING).to_numpy(dtype=bool)


def decimal_mark(columns: Sequence[pd.Series], co2: pd.Series) -> str:
    """Return the decimal mark of a file: "." or ",".

    This is the mark with which more distinct cells of all columns are numbers. If both fit equally, as for
    "1,034", it is the mark with which more CO2 values are plausible, and a point if these are equal too.

    Examples
    --------
    >>> decimal_mark([], pd.Series(["980", "1,034"])), decimal_mark([], pd.Series(["412,125", "413,5"]))
    ('.', ',')
    """
    fits, plausible = dict.fromkeys(_OTHER, 0), dict.fromkeys(_OTHER, 0)
    for column in [co2, *columns]:
        for block in blocks(column) if _is_text(column) else ():
            texts = _bare(_distinct(block))
            for mark in _OTHER:
                fits[mark] += int(_fits(texts, mark).sum())
                if column is co2:
                    plausible[mark] += int(_parsed(texts, mark).between(100, 20_000).sum())
    if fits["."] != fits[","]:
        return max(fits, key=lambda mark: fits[mark])
    return "," if plausible[","] > plausible["."] else "."


def parse_numbers(
    column: pd.Series, *, mark: str, source: Source, row_numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return a column as numbers, NaN for missing values; other text is an error with its row.

    Examples
    --------
    >>> where = {"mark": ",", "source": Source("room.csv"), "row_numbers": np.arange(3)}
    >>> parse_numbers(pd.Series(["1.034,5", "980 ppm", "-"]), **where).tolist()
    [1034.5, 980.0, nan]
    """
    if not _is_text(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values, invalid, stop = np.empty(len(column)), np.empty(len(column), dtype=bool), 0
        for block in blocks(column):
            start, stop = stop, stop + len(block)
            values[start:stop], invalid[start:stop] = _parse_block(block, mark)
        source.reject(
            invalid,
            lambda k: f"must be a number, got {quoted(str(column.iloc[k]))}",
            row_numbers=row_numbers,
            column=str(column.name),
            kind="no_number",
        )
    missing = np.isin(values, MISSING_NUMBERS)
    return np.where(missing, np.nan, values) if missing.any() else values


def _parse_block(column: pd.Series, mark: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the numbers of a text column, and whether each cell is neither a number nor missing."""
    codes, distinct = pd.factorize(as_text(column))
    texts = pd.Series(distinct, dtype=str)
    parsed = np.asarray(_parsed(_bare(texts), mark), dtype=np.float64)
    return parsed[codes], (np.isnan(parsed) & ~is_missing(texts))[codes]


def _is_text(column: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(column)


def _distinct(column: pd.Series) -> pd.Series[str]:
    texts = pd.Series(pd.unique(as_text(column)), dtype=str)
    return texts[~is_missing(texts)]


def _bare(texts: pd.Series[str]) -> pd.Series[str]:
    """Remove a unit after the number, and spaces and apostrophes between digits."""
    bare = texts.str.strip()
    odd = ~bare.str.fullmatch(r"[-+0-9.,eE]*")  # usually few; the replacements below are slow
    without_unit = bare[odd].str.replace(rf"\s*{_UNIT}$", "", regex=True, case=False)
    bare[odd] = without_unit.str.replace(r"[\s'’]", "", regex=True)
    return bare


def _fits(texts: pd.Series[str], mark: str) -> pd.Series[bool]:
    return texts.str.match(_NUMBER % (_OTHER[mark], mark))


def _parsed(texts: pd.Series[str], mark: str) -> pd.Series[float]:
    """Numbers with this decimal mark; NaN for other text."""
    numeric = texts.where(_fits(texts, mark) | texts.str.fullmatch("[+-]?inf(?:inity)?", case=False), "")
    plain = numeric.str.replace(_OTHER[mark], "", regex=False).str.replace(mark, ".", regex=False)
    return pd.to_numeric(plain, errors="coerce").astype(float)
