"""CSV and Parquet files as tables of raw values, whatever their encoding, delimiter and preamble."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.column_names import header_score
from occupair.readings.number_column import blocks
from occupair.readings.source import Source
from occupair.readings.ventilation_scale import Scale, scale_of
from occupair.wording import quoted

HEADER_WITHIN = 50  # lines from the top
DELIMITERS = ",;\t|"

_OTHER_FORMATS = {
    b"PK\x03\x04": "is a spreadsheet or a zip archive, not CSV: save the table as CSV",
    b"\xd0\xcf\x11\xe0": "is a spreadsheet (.xls), not CSV: save the table as CSV",
    b"PAR1": "is a Parquet file, not CSV: rename it to end in .parquet",
    b"%PDF": "is a PDF, not CSV",
    b"SQLite format 3": "is an SQLite database, not CSV: export the table as CSV",
}


@dataclass(frozen=True)
class RawTable:
    """The raw values of a file, as strings or Parquet types; columns by position, as names may repeat."""

    source: Source
    names: list[str]
    frame: pd.DataFrame
    row_numbers: NDArray[np.int64]  # position of each record in the file, from 0 at the first data row
    units: list[str]  # of each column, from a line below the header, or ""
    scale: Scale | None = None  # that of ``ventilation``, if its values are fractions of full already
    in_any_order: bool = False  # whether rows may be out of order

    def column(self, position: int) -> pd.Series:
        """Return the values of one column, named as in the file."""
        return self.frame.iloc[:, position].rename(self.names[position])


def read_raw_table(path: Path, given: Mapping[str, str]) -> RawTable:
    """Read a CSV or Parquet file; ``given`` column names help to find the header."""
    table = _read_parquet(path) if is_parquet(path) else _read_text(path, given)
    if table.frame.empty:
        raise table.source.error("has no readings")
    release_unused_memory()
    return table


def release_unused_memory() -> None:
    """Return the memory that pyarrow keeps after use, as much as the table of a file."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()


def is_parquet(path: Path) -> bool:
    """Whether the file name has a Parquet suffix."""
    return path.suffix.lower() in {".parquet", ".pq"}


def needs_pyarrow(name: str) -> None:
    """Raise InputError if pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError(
            f"{name}: Parquet needs pyarrow: pip install 'occupair[parquet]', or use CSV"
        ) from None


def _read_parquet(path: Path) -> RawTable:
    source = Source(str(path))
    needs_pyarrow(str(path))
    from pyarrow import ArrowException

    with path.open("rb") as content:  # a missing file raises OSError
        try:
            table = pd.read_parquet(content, engine="pyarrow")
        except (ArrowException, OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
            raise source.error("is not a Parquet file, or is damaged") from None
    index_name = str(table.index.name or "time")
    if isinstance(table.index, pd.DatetimeIndex) and index_name not in table.columns:
        table = table.rename_axis(index_name).reset_index()
    names = [str(name).strip() for name in table.columns]
    _check_years(table, names, source)
    return RawTable(source, names, table, np.arange(len(table)), [""] * len(names), scale_of(table))


def _check_years(table: pd.DataFrame, names: Sequence[str], source: Source) -> None:
    """Raise InputError for times outside the years that ``datetime`` supports."""
    for k, name in enumerate(names):
        column = table.iloc[:, k]
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            known = column.dt.tz_localize(None).dropna()
            if not known.dt.year.between(1, 9999).all():
                raise source.error("must be times of the years 1 to 9999", column=name)


def _read_text(path: Path, given: Mapping[str, str]) -> RawTable:
    """Read a CSV file. It is decoded while it is parsed, so a large file is not in memory as text."""
    source = Source(str(path))
    opened = _opener(path)
    try:
        encoding = find_encoding(opened, source)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise source.error("is not a gzip file, or is truncated") from None
    with _as_text(opened(), encoding) as text:
        head = "".join(islice(text, HEADER_WITHIN))
    _reject_markup(head, source)
    if not head.strip():
        raise source.error("is empty")
    line, delimiter, names = find_header(head, given)
    source = Source(str(path), first_row=line + 2)
    with _as_text(opened(), encoding) as text:
        first = next((row for row in islice(text, line + 1, None) if row.strip()), "")
    names = _match_width(names, _split(first.rstrip("\n"), delimiter), source)
    with _as_text(opened(), encoding) as text:
        for _ in range(line + 1):
            text.readline()
        frame = _parse_csv(text, delimiter, len(names), source)
    filled = np.concatenate([_has_text(block) for block in blocks(frame)])
    if not filled.any():
        raise source.error("has no readings")
    rows = np.flatnonzero(filled)
    above = unit_lines(frame.iloc[rows[:3]])
    units = [" ".join(words).strip() for words in zip(*above, strict=True)] or [""] * len(names)
    rows = rows[len(above) :]
    return RawTable(source, names, frame if rows.size == len(frame) else frame.iloc[rows], rows, units)


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    """Return a function that opens the file, unpacked if it is gzip."""
    content = None if path.is_file() else path.read_bytes()  # of a pipe; a missing file raises OSError

    def opened() -> IO[bytes]:
        return path.open("rb") if content is None else io.BytesIO(content)

    def unpacked() -> IO[bytes]:
        return cast(IO[bytes], gzip.open(path if content is None else io.BytesIO(content)))

    with opened() as file:
        packed = path.suffix.lower() == ".gz" or file.read(2) == b"\x1f\x8b"
    return unpacked if packed else opened


def decode(content: bytes, source: Source) -> str:
    r"""Decode text: UTF-8 or UTF-16 with or without byte order mark, else Windows-1252.

    Examples
    --------
    >>> decode("Lüftung".encode("cp1252"), Source("a.csv")), decode("tid".encode("utf-16"), Source("a.csv"))
    ('Lüftung', 'tid')
    """
    encoding = find_encoding(lambda: io.BytesIO(content), source)
    with _as_text(io.BytesIO(content), encoding) as text:
        return _reject_markup(text.read(), source)


def _as_text(file: IO[bytes], encoding: str) -> io.TextIOWrapper:
    """Return the text of a file with all line ends as line feeds."""
    return io.TextIOWrapper(file, encoding=encoding, newline=None)


def find_encoding(opened: Callable[[], IO[bytes]], source: Source) -> str:
    """Return the encoding in which a whole file is text; see ``decode``."""
    with opened() as file:
        start = file.read(2000)
    for magic, what in _OTHER_FORMATS.items():
        if start.startswith(magic):
            raise source.error(what)
    for encoding in _encodings(start):
        with opened() as file:
            if _is_text(file, encoding):
                return encoding
    raise source.error("is not text, so not CSV")


def _is_text(file: IO[bytes], encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := file.read(1 << 20):
            if "\0" in decoder.decode(block):
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _encodings(content: bytes) -> list[str]:
    if content.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return ["utf-32"]
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ["utf-16"]
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):  # every second byte of Latin text is 0
        if content[first:2000:2].count(0) > len(content[:2000]) // 4:
            return [encoding]
    return ["utf-8-sig", "cp1252"]


def _reject_markup(text: str, source: Source) -> str:
    start = text[:200].lstrip().lower()
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise source.error("is a web page or XML, not CSV")
    if start.startswith(("{", "[{")):
        raise source.error("is JSON, not CSV")
    return text


def find_header(text: str, given: Mapping[str, str]) -> tuple[int, str, list[str]]:
    r"""Return the line number of the header (from 0), the delimiter and the column names.

    The header is the first of the top 50 lines with a time and a CO2 column, else the first with one of
    the two, else the first line that is not blank.

    Examples
    --------
    >>> find_header("Logger 7\nsep=;\nZeit;CO2\n", {})
    (2, ';', ['Zeit', 'CO2'])
    """
    lines = text.split("\n", HEADER_WITHIN)[:HEADER_WITHIN]
    tries = [
        (header_score(names, given), -number, "\t" not in "".join(names), len(names), names, delimiter)
        for number, line in enumerate(lines)
        if line.strip()
        for delimiter in DELIMITERS
        for names in [_split(line, delimiter)]
    ]
    _, number, _, _, names, delimiter = max(tries, key=lambda attempt: attempt[:4])
    return -number, delimiter, names


def _split(line: str, delimiter: str) -> list[str]:
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return [line]
    names = [cell.strip() for cell in cells]
    return [names[0].lstrip("# "), *names[1:]] if names else [line]


def _match_width(names: list[str], first: list[str], source: Source) -> list[str]:
    """Add an empty name for R row names in front, or for a trailing delimiter, if the first row has one."""
    if len(first) == len(names) + 1 and first[-1] == "":
        return [*names, ""]
    if len(first) == len(names) + 1 and re.fullmatch(r"\d*", first[0]):
        return ["", *names]
    if len(first) == 1 < len(names) and any(mark in first[0] for mark in DELIMITERS):
        rule = f"has {len(names)} columns in the header but one in the first row, {quoted(first[0])}"
        raise source.error(f"{rule}: use the same delimiter in all lines")
    if len(first) > len(names):
        rule = f"has {len(first)} columns in the first row but {len(names)} in the header"
        raise source.error(f"{rule}: with decimal commas, use another delimiter, or quote numbers")
    return names


def _parse_csv(body: IO[str], delimiter: str, width: int, source: Source) -> pd.DataFrame:
    """All lines below the header as strings; an empty or missing cell is ""."""
    try:
        return pd.read_csv(
            body,
            sep=delimiter,
            header=None,
            names=range(width),
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            skipinitialspace=True,
        )
    except pd.errors.ParserError as error:
        raise source.error(f"is not a CSV table: {_parser_message(str(error), source)}") from None


def _has_text(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether any cell of each row is more than blanks."""
    return np.asarray(np.logical_or.reduce([(rows[k].str.strip() != "").to_numpy() for k in rows]))


def _parser_message(message: str, source: Source) -> str:
    """Return the parser's message in plain English, with row numbers of the file."""
    last = message.strip().splitlines()[-1]
    if more := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", last):
        row = int(more[2]) + source.first_row - 1
        return f"row {row} has {more[3]} columns, the header {more[1]}: quote cells with a delimiter"
    if quote := re.search(r"EOF inside string starting at row (\d+)", last):
        return f"the quote that opens in row {int(quote[1]) + source.first_row} is never closed"
    return last


def unit_lines(top: pd.DataFrame) -> list[list[str]]:
    """Return up to two lines below the header in which no cell starts like a number or a time."""
    rows = [[str(cell).strip() for cell in row] for row in top.itertuples(index=False)]
    number, share = re.compile(r"[-+]?\d"), re.compile(r"0 ?(\.\.|-|–|/|to) ?1(00)?( ?%)?")
    is_data = [any(number.match(cell) and not share.fullmatch(cell) for cell in row) for row in rows]
    return rows[: is_data.index(True)] if True in is_data else []
