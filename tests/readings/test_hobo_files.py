"""Files of HOBO loggers: a title line, the time zone in the name of the time column, serial numbers."""

import pandas as pd
import pytest
from command import occupair

import occupair as oc
from occupair.readings.time_zones import offset_in_name

SERIAL = "(LGR S/N: 20312345, SEN S/N: 20312345, LBL: Office)"
TIMES = ("01/31/19 11:50:00 PM", "01/31/19 11:55:00 PM", "02/01/19 12:00:00 AM", "02/01/19 12:05:00 AM")


def lines(cells, *, delimiter=","):
    return "".join(delimiter.join(row) + "\n" for row in cells)


def hoboware(header, *, delimiter=",", end=True):
    """A HOBOware export: row number, time, CO2, temperature and a column of logger events."""
    rows = [(str(k), time, f"{410 + k}.5", "21.3", "") for k, time in enumerate(TIMES, start=1)]
    rows += [("5", "02/01/19 12:08:27 AM", "", "", "Logged")] if end else []
    return header + lines(rows, delimiter=delimiter)


FILES = {
    "hoboware": hoboware(
        '"Plot Title: Office, CO2"\n'
        f'"#","Date Time, GMT+08:00","CO2, ppm {SERIAL}","Temp, °C {SERIAL}","End Of File {SERIAL}"\n'
    ),
    "hoboware without colon": hoboware(
        f'"Plot Title: 20312345"\n"#","Date Time, GMT+0800","CO2, ppm {SERIAL}","Temp, °C","End Of File"\n'
    ),
    "no quotes or commas in headings": hoboware(
        "Plot Title: Office\n#,Date Time - GMT +08:00,CO2 - ppm (LGR S/N - 20312345),Temp - C,End Of File\n"
    ),
    "properties in parentheses": hoboware(
        '"#","Date Time (GMT+08:00)","CO2 (ppm) (LGR S/N: 1)","Temp (°C)","End Of File"\n'
    ),
    "semicolons": hoboware(
        '"Plot Title: Office"\n"#";"Date Time, GMT+08:00";"CO2, ppm";"Temp, °C";"End Of File"\n',
        delimiter=";",
    ),
    "tabs without quotes": hoboware(
        "Plot Title: Office\n#\tDate Time, GMT+08:00\tCO2, ppm\tTemp, °C\tEnd Of File\n", delimiter="\t"
    ),
    "abbreviation": hoboware('"#","Date Time, SGT","CO2, ppm","Temp, °C","End Of File"\n', end=False),
    "tabs and few columns": "#\tDate Time, GMT+08:00\tCO2, ppm\n"
    + lines(((str(k), time, f"{411 + k}.5") for k, time in enumerate(TIMES)), delimiter="\t"),
    "separate date and time": '"Plot Title: Office"\n"#","Date, GMT+08:00","Time, GMT+08:00","CO2, ppm"\n'
    + lines((str(k), *time.split(" ", 1), f"{411 + k}.5") for k, time in enumerate(TIMES)),
    "hoboconnect": "#,Date-Time (GMT+8),Ch:1 - CO2   (ppm),Ch:2 - Temperature   (°C)\n"
    + lines((str(k), time.replace("/19 ", "/2019 "), f"{411 + k}.5", "21.3") for k, time in enumerate(TIMES)),
}


@pytest.mark.parametrize("name", FILES)
def test_times_are_in_the_zone_of_the_header(tmp_path, name):
    (tmp_path / "room.csv").write_text(FILES[name], encoding="utf-8")
    found = oc.read_readings(tmp_path / "room.csv")
    expected = pd.date_range("2019-01-31 23:50", periods=4, freq="5min", tz="UTC+08:00")
    assert found.index.tolist() == expected.tolist()
    assert found.index[0].utcoffset() == pd.Timedelta(hours=8)
    assert found["co2"].tolist() == [411.5, 412.5, 413.5, 414.5]


def test_zone_of_the_header_is_converted_to_that_of_the_room(tmp_path):
    (tmp_path / "room.csv").write_text(FILES["hoboware"].replace("GMT+08:00", "GMT-04:00"), encoding="utf-8")
    found = oc.read_readings(tmp_path / "room.csv", timezone="America/New_York")
    assert found.index[0] == pd.Timestamp("2019-01-31 22:50", tz="America/New_York")  # EST in winter


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("Date Time, GMT+08:00", 480),
        ("Date Time, GMT-04:00", -240),
        ("Date Time, GMT\N{MINUS SIGN}03:30", -210),
        ("Date Time - GMT +08:00", 480),
        ("Date-Time (EDT)", -240),
        ("Date-Time (PST)", -480),
        ("Date Time, GMT+00:00", 0),
        ("time_gmt", 0),
        ("Time (UTC)", 0),
        ("UTC+8 time", 480),
        ("Zeit (+01:00)", 60),
        ("Date, GMT-04:00 Time, GMT-04:00", -240),
        ("Date-Time (EST/EDT)", None),  # local time
        ("Date-Time (CST)", None),  # ambiguous
        ("Date Time, GMT+25:00", None),
        ("time [Etc/GMT+5]", None),  # a time zone, whose sign is reversed
        ("time", None),
        ("Zeit 2019-01", None),
    ],
)
def test_utc_offset_in_a_column_name(name, offset):
    assert offset_in_name(name) == offset


def test_check_names_the_zone_of_the_header(tmp_path):
    (tmp_path / "room.csv").write_text(FILES["hoboware"], encoding="utf-8")
    done = occupair("check", "room.csv", "--json", cwd=tmp_path)
    assert done.returncode == 1  # no head counts
    assert '"timezone": "UTC+08:00"' in done.stdout
