"""The origin of readings in error messages, and how rows that break a rule are handled.

A strict `Source` raises an error for the first row that breaks a rule. A `LenientSource`, used by
``occupair check``, records the problem and keeps reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.wording import quoted_list

MAX_BAD_FRACTION = 0.5  # of the rows; with more, the column does not hold what its name suggests


@dataclass(frozen=True)
class Source:
    """The name of a file or table and the row number of its first record, for error messages.

    Examples
    --------
    >>> Source("room.csv", first_row=2).error("must be a number, got 'high'", row=3, column="co2")
    InputError("room.csv, row 5, column co2: must be a number, got 'high'")
    """

    name: str
    first_row: int = 1

    def error(self, message: str, *, row: int | None = None, column: str | None = None) -> InputError:
        """Return an error whose message starts with the location: name, row and column.

        ``row`` counts from 0 at the first record.
        """
        location = [self.name]
        if row is not None:
            location.append(f"row {row + self.first_row}")
        if column is not None:
            location.append(f"column {column}")
        return InputError(f"{', '.join(location)}: {message}")

    @property
    def strict(self) -> bool:
        """Whether a row that breaks a rule is an error."""
        return True

    def reject(
        self,
        invalid: NDArray[np.bool_],
        message: Callable[[int], str],
        *,
        row_numbers: NDArray[np.int64],
        column: str,
        kind: str,
    ) -> None:
        """Raise an error for the first invalid row.

        Parameters
        ----------
        invalid : 1-D array of bool
            Whether each row breaks the rule.
        message : callable
            Returns the rule and the offending value for a position in ``invalid``.
        row_numbers : 1-D array of int
            Position of each row in the file, from 0.
        column : str
            Name of the column in the file.
        kind : str
            Short name of the problem: ``no_number``, ``no_time`` or ``times``.
        """
        if invalid.any():
            first = int(np.argmax(invalid))
            raise self.error(message(first), row=int(row_numbers[first]), column=column)


@dataclass(frozen=True)
class LenientSource(Source):
    """A source that records problems in ``problems`` instead of raising an error.

    Cells that are not numbers count as missing, rows without a time are skipped, rows are sorted by
    time, the first of two rows with the same time is used, and values out of range are passed on
    unchanged. Each problem, one per rule and column, has a ``kind``, a description (``message``), the
    ``column``, the first ``row`` and the number of ``rows``.
    """

    problems: list[dict[str, Any]] = field(default_factory=list)

    @property
    def strict(self) -> bool:
        """Whether a row that breaks a rule is an error: never."""
        return False

    def reject(
        self,
        invalid: NDArray[np.bool_],
        message: Callable[[int], str],
        *,
        row_numbers: NDArray[np.int64],
        column: str,
        kind: str,
    ) -> None:
        """Record the first invalid row and the number of others; raise if most rows are invalid."""
        if not invalid.any():
            return
        if invalid.mean() > MAX_BAD_FRACTION:
            super().reject(invalid, message, row_numbers=row_numbers, column=column, kind=kind)
        first, more = int(np.argmax(invalid)), int(invalid.sum()) - 1
        others = f" (and {more} more like it)" if more else ""
        row = int(row_numbers[first]) + self.first_row
        text = f"Row {row}, column {column}: {message(first)}{others}."
        self.problems.append({"kind": kind, "message": text, "column": column, "row": row, "rows": more + 1})


def missing_column(column: str, table: pd.DataFrame) -> str:
    """Return the error message for a column that ``table`` lacks, with the columns it has."""
    hint = (
        "; head counts are needed here (to fit without any, give the volume and capacity of the room)"
        if column == "occupancy"
        else ""
    )
    return f"has no column {column!r}, only {quoted_list(table.columns)}{hint}"
