"""A DataFrame as a table of raw values, like that of a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.number_column import as_text
from occupair.readings.raw_table import RawTable, unit_lines
from occupair.readings.source import Source
from occupair.readings.ventilation_scale import scale_of


def frame_table(readings: pd.DataFrame) -> RawTable:
    """Return a DataFrame as a raw table whose rows may be in any order.

    An index other than the row numbers is a column: a DatetimeIndex without a name is ``time``. Rows in error
    messages are counted from 1.

    Examples
    --------
    >>> times = pd.DatetimeIndex(["2024-01-08 08:00", "2024-01-08 08:01"])
    >>> frame_table(pd.DataFrame({"CO2": [410, 412]}, index=times)).names
    ['time', 'CO2']
    """
    source, names = Source("readings"), [str(name).strip() for name in readings.columns]
    columns = [readings.iloc[:, k].reset_index(drop=True) for k in range(readings.shape[1])]
    if not isinstance(readings.index, pd.RangeIndex):
        index, unnamed = readings.index, "time" if isinstance(readings.index, pd.DatetimeIndex) else ""
        names = [*(str(name or unnamed).strip() for name in index.names), *names]
        columns = [*(pd.Series(index.get_level_values(k)) for k in range(index.nlevels)), *columns]
    if not columns or not len(readings):
        raise source.error("has no readings")
    rows = np.flatnonzero(~np.logical_and.reduce([_is_empty(column) for column in columns]))
    frame = pd.concat(columns, axis=1, ignore_index=True)
    above = unit_lines(frame.iloc[rows[:3]])
    units = [" ".join(words).strip() for words in zip(*above, strict=True)] or [""] * len(names)
    rows = rows[len(above) :]
    return RawTable(source, names, frame.iloc[rows], rows, units, scale_of(readings), in_any_order=True)


def _is_empty(column: pd.Series) -> NDArray[np.bool_]:
    empty = column.isna().to_numpy(dtype=bool)
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return empty
    return empty | (as_text(column).str.strip() == "").to_numpy(dtype=bool)
