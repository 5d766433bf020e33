"""Time formats, date order, UTC offsets and time zones."""

import numpy as np
import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.readings.source import Source
from occupair.readings.time_column import localize, newest_first, parse_times
from occupair.readings.time_strings import date_order, parse_time_of_day, time_string_kind
from occupair.readings.time_zones import parse_time_zone


def read(*cells, **options):
    column = pd.Series(cells, name="Zeit")
    options = {"zone": None, **options}
    return parse_times(column, source=Source("room.csv", 2), row_numbers=np.arange(len(cells)), **options)


@pytest.mark.parametrize(
    "cell",
    [
        "2024-01-13 20:05:00",
        "2024-01-13T20:05",
        "2024/01/13 20:05",
        "2024.1.13 20:05",
        "13.01.2024 20:05",
        "13.1.24, 20:05",
        "13/01/2024 8:05 PM",
        "1/13/2024 08:05:00 p.m.",
        "13-Jan-2024 20.05",
        "13-Jan-24 8:05:00 pm",
        "202401132005",
        "20240113200500",
        "20240113T200500",
    ],
)
def test_local_time_formats(cell):
    assert read(cell) == [pd.Timestamp("2024-01-13 20:05")]


@pytest.mark.parametrize(
    "cell",
    [
        "2024-01-13 12:05Z",
        "2024-01-13 20:05 +08:00",
        "2024-01-13T20:05:00.000+0800",
        "13.01.2024 13:05 CET",
        "2024-01-13 20:05 UTC+8",
        "2024-01-13T13:05+01:00[Europe/Copenhagen]",
        "2024-01-13 04:05 PST",
        "1705147500",
        "1705147500.0",
        "1705147500000",
        "1705147500000000",
        "1705147500000000000",
    ],
)
def test_formats_with_utc_offset(cell):
    assert read(cell) == [pd.Timestamp("2024-01-13 12:05", tz="UTC")]


def test_hour_24_and_fractional_seconds():
    assert read("2024-01-13 24:00") == [pd.Timestamp("2024-01-14")]
    assert read("2024-01-13 08:00:00,250") == [pd.Timestamp("2024-01-13 08:00:00.250")]


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "now",
        "8",
        "25:00",
        "2024-01-13 24:01",
        "2024-02-30 08:00",
        "2024-01-13 08:60",
        "2024-01-13 13:00 PM",
        "2024-01-13 08:00 XYZ",
        "2024-01-13 08:00 +15:00",
        "1/2/3/2024",
        "13.xyz.2024",
        "0001-01-01",
        "9999-01-01",
    ],
)
def test_invalid_time_is_rejected(cell):
    with pytest.raises(
        InputError, match=r"room\.csv, row 3, column Zeit: must be a time such as 2024-03-28 08:00 or"
    ):
        read("2024-01-13 08:00", cell)


@pytest.mark.parametrize("cells", [(1705147500, 5), (1705147500.0, np.nan)])
def test_invalid_epoch_seconds_are_rejected(cells):
    with pytest.raises(InputError, match=r"row 3, column Zeit: must be a time such as"):
        read(*cells)


@pytest.mark.parametrize(
    ("dates", "first"),
    [
        (["2024-01-02"], "year"),
        (["01/02/2024", "13/02/2024"], "day"),
        (["01/02/2024", "01/13/2024"], "month"),
        (["01.02.2024"], "day"),
        (["03/03/2024"], "day"),  # the same either way
        (["30/11/2024", "01/12/2024", "02/12/2024"], "day"),
        (["11/30/2024", "12/01/2024"], "month"),
        (["05/12/2024", "06/01/2025"], None),  # December to January, or May to June of the year after
        (["01/02/2024", "02/02/2024", "03/02/2024"], "day"),  # consecutive days, not months
        (["02/01/2024", "02/02/2024", "02/03/2024"], "month"),
        (["02/03/2024", "02/02/2024", "02/01/2024"], "month"),  # newest first
        (["09/01/2024", "10/01/2024", "01/02/2024"], "day"),  # increasing only this way
        (["01/02/2024"], None),
        (["01/02/2024", "03/04/2024"], None),
    ],
)
def test_date_order(dates, first):
    assert date_order(dates) == first


def test_dayfirst_is_required_if_ambiguous():
    with pytest.raises(
        InputError, match=r"row 2, column Zeit: 01/02/2024 may start with the day or the month: use"
    ):
        read("01/02/2024 08:00", "01/02/2024 08:01")
    assert read("01/02/2024 08:00", dayfirst=True)[0].month == 2
    assert read("01/02/2024 08:00", dayfirst=False)[0].month == 1
    assert read("2024-02-01 08:00", dayfirst=True)[0].month == 2


def test_utc_column_names():
    assert read("2024-01-13 12:05", offset=0, zone=parse_time_zone("Asia/Singapore"))[0].hour == 20


def test_time_string_kind():
    assert [time_string_kind(text) for text in ("8:05", "08:05:00 PM", "08.05", "13/01/2024", "now")] == [
        *["clock"] * 3,
        "date",
        "stamp",
    ]
    assert parse_time_of_day("12:00 pm").microseconds == 12 * 3600 * 10**6


def test_descending_times_with_a_duplicate_are_newest_first():
    assert newest_first(pd.to_datetime(["2024-01-03", "2024-01-02", "2024-01-02", "2024-01-01"]))
    assert not newest_first(pd.to_datetime(["2024-01-03", "2024-01-03"]))
    assert not newest_first(pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-02"]))


def test_time_zones():
    assert parse_time_zone(None) is None
    for name in ("Mars/Olympus", "", "../etc"):
        with pytest.raises(InputError, match="timezone must be a time zone name such as Europe/Copenhagen"):
            parse_time_zone(name)
    index = pd.to_datetime(["2024-03-31 01:59", "2024-03-31 02:00"])
    with pytest.raises(
        InputError,
        match=r"row 8, column t: 2024-03-31 02:00:00 does not exist in the time zone Europe",
    ):
        localize(
            index,
            parse_time_zone("Europe/Copenhagen"),
            column="t",
            source=Source("r"),
            row_numbers=np.array([0, 7]),
        )
