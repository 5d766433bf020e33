"""Published tables as they lie in a folder: plain or gzip-wrapped, every fault named with its file."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from occupair.datasets.data_set import DataSet
from occupair.errors import InputError
from occupair.readings.schema import to_numbers
from occupair.readings.source import Source, missing_column


class Table:
    """A published CSV table whose columns are taken out by name, each as what it should be.

    Parameters
    ----------
    path : path
        The file, plain or ending in ``.gz``.
    columns : iterable of str
        Columns it must have.
    """

    def __init__(self, path: Path, columns: Iterable[str]) -> None:
        self.source = Source(str(path), first_row=2)
        self.frame = _read_csv(path, self.source)
        for column in columns:
            if column not in self.frame.columns:
                raise self.source.error(missing_column(column, self.frame))

    def numbers(self, column: str) -> pd.Series[float]:
        """Give a column as floats; an empty cell is NaN."""
        return to_numbers(self.frame[column], self.source)

    def whole(self, column: str) -> pd.Series[int]:
        """Give a column as whole numbers, every one of them there."""
        numbers = self.numbers(column)
        wrong = ~(numbers == np.rint(numbers)).to_numpy()
        if wrong.any():
            k = int(np.argmax(wrong))
            raise self.source.error(
                f"must be a whole number, got {self.frame[column].iloc[k]}", row=k, column=column
            )
        return numbers.astype(int)

    def times(self, column: str, form: str, *, example: str) -> pd.DatetimeIndex:
        """Give a column as times; their offset from UTC, if they have one, is left out."""
        return pd.DatetimeIndex(self._timed(self.frame[column], column, form, example)).tz_localize(None)

    def joined_times(self, columns: tuple[str, str], form: str, *, example: str) -> pd.DatetimeIndex:
        """Give two columns, a date and a time of day, as times."""
        day, clock = columns
        text = self.frame[day].astype(str) + " " + self.frame[clock].astype(str)
        return pd.DatetimeIndex(self._timed(text, f"{day} {clock}", form, example))

    def clock(self, column: str) -> pd.TimedeltaIndex:
        """Give a column of times of day (``7:30:00``) as time since midnight."""
        times = self._timed(self.frame[column], column, "%H:%M:%S", "07:30:00")
        return pd.TimedeltaIndex(times - pd.Timestamp("1900-01-01"))

    def _timed(self, text: pd.Series[str], column: str, form: str, example: str) -> pd.Series[pd.Timestamp]:
        times = pd.to_datetime(text, format=form, errors="coerce")
        wrong = times.isna().to_numpy()
        if wrong.any():
            k = int(np.argmax(wrong))
            raise self.source.error(
                f"must be a time such as {example}, got {text.iloc[k]!r}", row=k, column=column
            )
        return times


def open_table(folder: str | Path, name: str, columns: Iterable[str], data_set: DataSet) -> Table:
    """Open the table ``name`` or ``name.gz`` of ``folder``, or say where to get it."""
    for path in (Path(folder) / name, Path(folder) / f"{name}.gz"):
        if path.is_file():
            return Table(path, columns)
    raise InputError(
        f"{folder}: has no {name} or {name}.gz of {data_set.name}, "
        f"download it from {data_set.page} or with: occupair datasets fetch {data_set.name}"
    )


def check_room(room: int, rooms: tuple[int, ...]) -> None:
    """Say so when a data set has no such room."""
    if room not in rooms:
        raise InputError(f"room must be one of {', '.join(map(str, rooms))}, got {room!r}")


def _read_csv(path: Path, source: Source) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except UnicodeDecodeError:
        raise source.error("is not text, so not a CSV file") from None
    except pd.errors.EmptyDataError:
        raise source.error("is empty") from None
    except pd.errors.ParserError as error:
        raise source.error(f"is not a CSV table: {str(error).strip().splitlines()[-1]}") from None
    except (OSError, EOFError, zlib.error) as error:  # what a broken gzip file can raise
        raise source.error(f"cannot be read: {error}") from None
    if table.empty:
        raise source.error("has no readings")
    return table
