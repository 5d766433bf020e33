"""Published CSV tables, plain or gzipped, with errors that name file, row and column."""

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
    """A published CSV table, with typed access to its columns.

    Parameters
    ----------
    path : path
        File, plain or gzipped (``.gz``).
    columns : iterable of str
        Required columns.
    """

    def __init__(self, path: Path, columns: Iterable[str]) -> None:
        self.source = Source(str(path), first_row=2)
        self.frame = _read_csv(path, self.source)
        for column in columns:
            if column not in self.frame.columns:
                raise self.source.error(missing_column(column, self.frame))

    def numbers(self, column: str) -> pd.Series[float]:
        """Return a column as floats; an empty cell is NaN."""
        return to_numbers(self.frame[column], self.source)

    def integers(self, column: str) -> pd.Series[int]:
        """Return a column as integers without missing values."""
        numbers = self.numbers(column)
        wrong = ~(numbers == np.rint(numbers)).to_numpy()
        if wrong.any():
            k = int(np.argmax(wrong))
            raise self.source.error(
                f"must be an integer, got {self.frame[column].iloc[k]}", row=k, column=column
            )
        return numbers.astype(int)

    def times(self, column: str, form: str, *, example: str) -> pd.DatetimeIndex:
        """Return a column as local times, without their UTC offset."""
        return pd.DatetimeIndex(self._timed(self.frame[column], column, form, example)).tz_localize(None)

    def joined_times(self, columns: tuple[str, str], form: str, *, example: str) -> pd.DatetimeIndex:
        """Return a date column and a time-of-day column combined as times."""
        day, clock = columns
        text = self.frame[day].astype(str) + " " + self.frame[clock].astype(str)
        return pd.DatetimeIndex(self._timed(text, f"{day} {clock}", form, example))

    def clock(self, column: str) -> pd.TimedeltaIndex:
        """Return a column of times of day (``7:30:00``) as time since midnight."""
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
    """Open the table ``name`` or ``name.gz`` in ``folder``.

    Raises
    ------
    InputError
        If there is no such file; the message says how to download it.
    """
    for path in (Path(folder) / name, Path(folder) / f"{name}.gz"):
        if path.is_file():
            return Table(path, columns)
    raise InputError(
        f"{folder}: contains neither {name} nor {name}.gz of {data_set.name}, download it with "
        f"'occupair datasets fetch {data_set.name}' or from {data_set.page}"
    )


def check_room(room: int, rooms: tuple[int, ...]) -> None:
    """Raise if a data set does not have the room."""
    if room not in rooms:
        raise InputError(f"room must be one of {', '.join(map(str, rooms))}, got {room!r}")


def _read_csv(path: Path, source: Source) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except UnicodeDecodeError:
        raise source.error("is a binary file, not a CSV table") from None
    except pd.errors.EmptyDataError:
        raise source.error("is empty") from None
    except pd.errors.ParserError as error:
        raise source.error(f"is not a CSV table: {str(error).strip().splitlines()[-1]}") from None
    except (OSError, EOFError, zlib.error) as error:  # raised for damaged gzip files
        raise source.error(f"cannot be read: {error}") from None
    if table.empty:
        raise source.error("has no readings")
    return table
