"""Raw tables of logger files, and files in other formats."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.readings.raw_table import find_header, read_raw_table, release_unused_memory


@pytest.fixture
def raw(tmp_path):
    def read(content, given=None):
        path = tmp_path / "room.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_raw_table(path, given or {})

    return read


def cells(table):
    return table.frame.to_numpy().tolist()


def test_preamble_shifts_row_numbers(raw):
    table = raw("Logger: 7\n\nExport, from, 2024\nTime,CO2\n1,2\n3,4\n")
    assert table.names == ["Time", "CO2"]
    assert table.source.first_row == 5
    assert cells(table) == [["1", "2"], ["3", "4"]]


def test_unit_lines_below_the_header(raw):
    table = raw(
        '"TOA5","CR1000","7"\n"TIMESTAMP","RECORD","CO2_Avg","Fan"\n"TS","RN","ppm","m3/h"\n"","","Avg","Smp"\n'
        '"2024-01-08 08:00:00",1,420.5,30\n'
    )
    assert table.names == ["TIMESTAMP", "RECORD", "CO2_Avg", "Fan"]
    assert table.units == ["TS", "RN", "ppm Avg", "m3/h Smp"]
    assert cells(table) == [["2024-01-08 08:00:00", "1", "420.5", "30"]]
    assert table.source.first_row + table.row_numbers[0] == 5


def test_trailing_delimiter(raw):
    assert raw("Time;CO2\n1;2;\n3;4;\n").names == ["Time", "CO2", ""]


def test_r_row_names(raw):
    table = raw('"date","CO2"\n"140","2015-02-02 14:19:00",749.2\n')
    assert table.names == ["", "date", "CO2"]


def test_quoted_delimiters_and_newlines(raw):
    assert cells(raw('Time,CO2,Note\n1,"1,034.5","two\nlines"\n')) == [["1", "1,034.5", "two\nlines"]]


def test_quote_in_preamble_is_ignored(raw):
    assert cells(raw('Duct 5" wide\nTime,CO2\n1,2\n')) == [["1", "2"]]


def test_short_rows_are_padded(raw):
    assert cells(raw("Time,CO2,Fan\n1,2,3\n4\n")) == [["1", "2", "3"], ["4", "", ""]]
    assert cells(raw("Time,CO2,Fan\n1,2\n4\n")) == [["1", "2", ""], ["4", "", ""]]


def test_gzip_is_recognised_by_content(raw):
    assert cells(raw(gzip.compress(b"Time,CO2\n1,2\n", mtime=0))) == [["1", "2"]]


def test_header_is_searched_in_50_lines():
    assert find_header("x\n" * 49 + "time,co2\n", {})[0] == 49
    assert find_header("x\n" * 50 + "time,co2\n", {}) == (0, ",", ["x"])
    assert find_header("Zeit|Raum 7\n", {"co2": "Raum 7"}) == (0, "|", ["Zeit", "Raum 7"])
    assert find_header("# time\tco2\n", {}) == (0, "\t", ["time", "co2"])


def test_line_too_long_for_a_csv_header_is_skipped():
    """Python's csv module refuses cells of more than 131,072 characters."""
    assert find_header("x" * 131_073 + "\ntime,co2\n", {}) == (1, ",", ["time", "co2"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"PK\x03\x04rest",
            r"room\.csv: is a spreadsheet or a zip archive, not CSV: save the table as CSV",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", r"room\.csv: is a spreadsheet \(.xls\), not CSV"),
        (b"PAR1rest", r"room\.csv: is a Parquet file, not CSV: rename it to end in \.parquet"),
        (b"%PDF-1.7", r"room\.csv: is a PDF, not CSV"),
        (b"SQLite format 3\x00", r"room\.csv: is an SQLite database, not CSV"),
        (b"<!DOCTYPE html><html>", r"room\.csv: is a web page or XML, not CSV"),
        (b'[{"time": 1, "co2": 420}]', r"room\.csv: is JSON, not CSV"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", r"room\.csv: is not text, so not CSV"),
        (b"time,co2\n\x81\x8d\n", r"room\.csv: is not text, so not CSV"),
        (b"\xff\xfe\x00", r"room\.csv: is not text, so not CSV"),
        (b" \n\n", r"room\.csv: is empty"),
        (b"time,co2", r"room\.csv: has no readings"),
        (
            b"a\n\ntime,co2\n1,2\n1,2,3,4\n",
            r"room\.csv: is not a CSV table: row 5 has 4 columns, the header 2",
        ),
        (
            b'time,co2\n1,"2\n3,4\n',
            r"room\.csv: is not a CSV table: the quote that opens in row 2 is never closed",
        ),
        (gzip.compress(b"time,co2", mtime=0)[:12], r"room\.csv: is not a gzip file, or is truncated"),
    ],
)
def test_other_formats_are_rejected_in_one_line(raw, content, message):
    with pytest.raises(InputError, match=message) as error:
        raw(content)
    assert "\n" not in str(error.value)


def test_other_parser_errors_are_reported_in_one_line(raw, monkeypatch):
    def out_of_memory(*_, **__):
        raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")

    monkeypatch.setattr(pd, "read_csv", out_of_memory)
    with pytest.raises(
        InputError, match=r"room\.csv: is not a CSV table: Error tokenizing .*: out of memory$"
    ):
        raw("time,co2\n1,2\n")


def test_parquet_times_outside_the_years_of_python_are_rejected(tmp_path):
    path = tmp_path / "room.parquet"
    times = np.array(["2024-01-08", "12024-01-08"], dtype="datetime64[ms]")
    pd.DataFrame({"time": times, "co2": [420.0, 430.0]}).to_parquet(path)
    with pytest.raises(InputError, match=r"column time: must be times of the years 1 to 9999"):
        read_raw_table(path, {})


def test_memory_is_released_without_loading_pyarrow(monkeypatch):
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    release_unused_memory()
    assert "pyarrow" not in sys.modules
