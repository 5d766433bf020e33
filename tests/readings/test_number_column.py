"""Number formats of loggers, with hand-computed values."""

import numpy as np
import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.readings.number_column import decimal_mark, is_missing, parse_numbers
from occupair.readings.source import Source


def read(*cells, mark="."):
    column = pd.Series(cells, name="CO2")
    return parse_numbers(
        column, mark=mark, source=Source("room.csv", 2), row_numbers=np.arange(len(cells))
    ).tolist()


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["420.5", "421"], "."),
        (["420,5", "421"], ","),
        (["1,234.5"], "."),
        (["1.234,5"], ","),
        (["980", "1,034"], "."),  # thousands: 1.034 ppm is not plausible
        (["980", "1.034"], ","),
        (["412.125", "413.250"], "."),
        (["412,125", "413,250"], ","),
        (["420", "421"], "."),
        (["", "-"], "."),
    ],
)
def test_decimal_mark(cells, mark):
    assert decimal_mark([], pd.Series(cells)) == mark


def test_decimal_mark_from_another_column():
    assert decimal_mark([pd.Series(["0,5", "1"])], pd.Series(["420", "421"])) == ","
    assert decimal_mark([], pd.Series([420.5])) == "."


@pytest.mark.parametrize(
    ("cell", "mark", "value"),
    [
        ("1,234.5", ".", 1234.5),
        ("1.234,5", ",", 1234.5),
        ("1 034", ".", 1034),
        ("1\u00a0034,5", ",", 1034.5),
        ("1'034.5", ".", 1034.5),
        ("423.0 ppm", ".", 423),
        ("55 %", ".", 55),
        ("4.2e2", ".", 420),
        ("+420", ".", 420),
        (" 420 ", ".", 420),
        (".5", ".", 0.5),
        ("inf", ".", np.inf),
    ],
)
def test_number_formats(cell, mark, value):
    assert read(cell, mark=mark) == [value]


def test_placeholders_are_missing():
    assert np.isnan(
        read("", "NaN", "null", "-", "n/a", "---", "-999", "-9999.0", "N/A ", "unavailable")
    ).all()
    assert is_missing(pd.Series([None, "x", np.nan])).tolist() == [True, False, True]


@pytest.mark.parametrize("cell", ["high", "420 C", "1,2,3", "0x1A", "12:30", "error", "４２０"])
def test_other_text_is_rejected_with_its_row(cell):
    with pytest.raises(InputError, match=rf"room\.csv, row 3, column CO2: must be a number, got '{cell}'"):
        read("420", cell)
