"""Head counts in a file that are not to be used: those of the weight 0, whatever their cells say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from occupair.readings.column_names import choose
from occupair.readings.head_counts import WEIGHT
from occupair.readings.number_cells import as_text
from occupair.readings.tables import RawTable


def without_unused(table: RawTable, given: Mapping[str, str], instead: str) -> RawTable:
    """Put something else where the weight of a head count is 0, before any rule looks at it.

    Parameters
    ----------
    table : RawTable
        A file as it was written.
    given : mapping
        What its columns are called, ours to theirs.
    instead : str
        What to put there: ``"0"``, or ``""`` for nothing.
    """
    people = choose(table.names, "occupancy", given, table.source)
    if people is None or WEIGHT not in table.names:
        return table
    weight = as_text(table.column(table.names.index(WEIGHT))).str.strip()
    unused = weight.str.fullmatch(r"[+-]?(?:0+[.,]?0*|[.,]0+)")
    cells = table.cells.copy()
    column = cells.iloc[:, people]
    if pd.api.types.is_numeric_dtype(column):
        cells.isetitem(people, column.mask(unused, float(instead or "nan")).array)
    else:
        cells.isetitem(people, column.astype(object).mask(unused, instead).array)
    return replace(table, cells=cells)
