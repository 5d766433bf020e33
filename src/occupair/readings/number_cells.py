"""Numbers as loggers write them: decimal points and commas, units, and the many words for nothing.

Missing are empty cells, the words in ``MISSING``, and -999 and -9999 [any unit], which many loggers
write where a sensor did not answer and which nothing we read can be. Any other word is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def as_text(cells: pd.Series) -> pd.Series[str]:
    """Write cells as text; what pandas knows to be missing is ""."""
    return cells.astype(str).fillna("")


def is_missing(cells: pd.Series) -> NDArray[np.bool_]:
    """Whether each cell holds nothing.

    Examples
    --------
    >>> is_missing(pd.Series(["420", "", " N/A", "---", "-999", "high"])).tolist()
    [False, True, True, True, False, False]
    """
    if not _is_text(cells):
        return cells.isna().to_numpy()
    return as_text(cells).str.strip().str.lower().isin(MISSING).to_numpy(dtype=bool)


def decimal_mark(columns: Sequence[pd.Series], co2: pd.Series) -> str:
    """Find out whether a file writes 1234.5 or 1234,5.

    The mark with which more cells of all columns are numbers; where both will do, as in "1,034", the one
    that makes CO2 what CO2 can be; a point if that does not tell either.

    Examples
    --------
    >>> decimal_mark([], pd.Series(["980", "1,034"])), decimal_mark([], pd.Series(["412,125", "413,5"]))
    ('.', ',')
    """
    texts = [_bare(_distinct(column)) for column in [co2, *columns] if _is_text(column)]
    if not texts:
        return "."
    fits = {mark: sum(int(_fits(text, mark).sum()) for text in texts) for mark in _OTHER}
    if fits["."] != fits[","]:
        return max(fits, key=lambda mark: fits[mark])
    air = _bare(_distinct(co2)) if _is_text(co2) else pd.Series(dtype=str)
    likely = {mark: int(_parsed(air, mark).between(100, 20_000).sum()) for mark in _OTHER}
    return "," if likely[","] > likely["."] else "."


def parse_numbers(
    cells: pd.Series, *, mark: str, source: Source, row_numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Read a column of numbers; what is missing is NaN, what is no number an error that names its row.

    Examples
    --------
    >>> where = {"mark": ",", "source": Source("room.csv"), "row_numbers": np.arange(3)}
    >>> parse_numbers(pd.Series(["1.034,5", "980 ppm", "-"]), **where).tolist()
    [1034.5, 980.0, nan]
    """
    if not _is_text(cells):
        values = cells.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        codes, distinct = pd.factorize(as_text(cells))
        texts = pd.Series(distinct, dtype=str)
        parsed = _parsed(_bare(texts), mark).to_numpy(dtype=np.float64)
        wrong = np.isnan(parsed) & ~is_missing(texts)
        source.reject(
            wrong[codes],
            lambda k: f"must be a number, got {quoted(str(cells.iloc[k]))}",
            row_numbers=row_numbers,
            column=str(cells.name),
            kind="no_number",
        )
        values = parsed[codes]
    return np.where(np.isin(values, MISSING_NUMBERS), np.nan, values)


def _is_text(cells: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(cells)


def _distinct(cells: pd.Series) -> pd.Series[str]:
    texts = pd.Series(pd.unique(as_text(cells)), dtype=str)
    return texts[~is_missing(texts)]


def _bare(texts: pd.Series[str]) -> pd.Series[str]:
    """Cells without a unit behind the number and without spaces or apostrophes between its digits."""
    bare = texts.str.strip()
    odd = ~bare.str.fullmatch(r"[-+0-9.,eE]*")  # few, as a rule, and slow
    without_unit = bare[odd].str.replace(rf"\s*{_UNIT}$", "", regex=True, case=False)
    bare[odd] = without_unit.str.replace(r"[\s'’]", "", regex=True)
    return bare


def _fits(texts: pd.Series[str], mark: str) -> pd.Series[bool]:
    return texts.str.match(_NUMBER % (_OTHER[mark], mark))


def _parsed(texts: pd.Series[str], mark: str) -> pd.Series[float]:
    """Numbers written with this mark; NaN for what is none."""
    whole = texts.where(_fits(texts, mark) | texts.str.fullmatch("[+-]?inf(?:inity)?", case=False), "")
    plain = whole.str.replace(_OTHER[mark], "", regex=False).str.replace(mark, ".", regex=False)
    return pd.to_numeric(plain, errors="coerce").astype(float)
