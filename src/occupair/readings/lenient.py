"""A file that is read only to be checked: what breaks a rule is noted and read over, not raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from occupair.readings.schema import Source

MOST = 0.5  # of the rows; a column in which more than this is wrong is something else than it was taken for


@dataclass(frozen=True)
class Lenient(Source):
    """A source whose rows may break rules.

    Cells that are no numbers count as missing, rows without a time are left out, rows are put in order, of
    two rows with one time the first counts, and numbers out of range are passed on as they are.
    ``problems`` says so, a ``kind`` and ``words`` for each rule and column.
    """

    problems: list[dict[str, str]] = field(default_factory=list)

    @property
    def strict(self) -> bool:
        """Rows may break rules."""
        return False

    def refuse(
        self,
        wrong: NDArray[np.bool_],
        say: Callable[[int], str],
        *,
        rows: NDArray[np.int64],
        column: str,
        kind: str,
    ) -> None:
        """Note how many rows are wrong and what is the matter with the first; most of them are an error."""
        if not wrong.any():
            return
        if wrong.mean() > MOST:
            super().refuse(wrong, say, rows=rows, column=column, kind=kind)
        k, more = int(np.argmax(wrong)), int(wrong.sum()) - 1
        others = f" (and {more} more like it)" if more else ""
        words = f"Row {int(rows[k]) + self.first_row}, column {column}: {say(k)}{others}."
        self.problems.append({"kind": kind, "words": words})
