"""Reading and writing of files, and error messages with file, row and column."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occupair as oc
from occupair.readings.schema import date_slices, episode_slices, interval_of

GOOD = """time,co2,ventilation,occupancy
2024-01-08 08:00,420,0,0
2024-01-08 08:01,421,1,1
2024-01-08 08:02,423,1,2
"""


@pytest.fixture
def csv(tmp_path):
    def write(text):
        path = tmp_path / "office.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_plain_csv_is_read(csv):
    readings = oc.read_readings(csv(GOOD))
    assert readings["co2"].tolist() == [420, 421, 423]
    assert readings["occupancy"].tolist() == [0, 1, 2]
    assert readings.index.tz is None
    assert readings.index[1] == pd.Timestamp("2024-01-08 08:01")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("zone", [None, "Asia/Singapore"])
def test_written_readings_are_read_back(tmp_path, office, suffix, zone):
    path = tmp_path / f"office.{suffix}"
    written = office.tz_localize(zone) if zone else office
    oc.write_readings(written, path)
    read = oc.read_readings(path, timezone=zone)
    np.testing.assert_array_equal(read.to_numpy(), written.to_numpy())
    assert (read.index == written.index).all()


def test_parquet_with_time_index(tmp_path, office):
    office.to_parquet(tmp_path / "office.parquet")
    assert len(oc.read_readings(tmp_path / "office.parquet")) == len(office)


def test_byte_order_mark_and_trailing_empty_rows_are_ignored(csv):
    marked = (
        b"\xef\xbb\xbf" + GOOD.replace("time,", " time ,").replace("\n", "\r\n").encode() + b"\r\n,,,\r\n"
    )
    pd.testing.assert_frame_equal(oc.read_readings(csv(marked)), oc.read_readings(csv(GOOD)))


@pytest.mark.parametrize("offset", ["+01:00", "+0100", "+01", " +01:00", "+01:00 "])
def test_utc_offset_in_any_notation(csv, offset):
    text = f"time,co2\n2024-01-08T00:00{offset},420\n2024-01-08T00:01{offset},421\n"
    for zone in (None, "Europe/Copenhagen"):
        index = oc.read_readings(csv(text), timezone=zone).index
        assert index[0].isoformat() == "2024-01-08T00:00:00+01:00"


def test_z_is_utc(csv):
    index = oc.read_readings(csv("time,co2\n2024-01-08T00:00Z,420\n2024-01-08T00:01+00:00,421\n")).index
    assert index[1].utcoffset() == pd.Timedelta(0)


@pytest.mark.parametrize(
    "times", [["2024-01-08", "2024-01-08 00:01"], ["2024-01-08 00:00:00.250", "2024-01-08 00:01:00.250"]]
)
def test_iso_time_variants(csv, times):
    assert len(oc.read_readings(csv(f"time,co2\n{times[0]},420\n{times[1]},421\n"))) == 2


@pytest.mark.parametrize(
    "word", ["now", "today", "8", "2024-01-08 25:00", "2024-13-01 00:00", "9.1.2024 00:01"]
)
def test_invalid_time_is_rejected(csv, word):
    with pytest.raises(oc.InputError, match=f"row 3, column time: must be a time such as .*, got '{word}'"):
        oc.read_readings(csv(GOOD.replace("2024-01-08 08:01", word)))


def test_unwanted_columns_are_ignored(csv):
    broken = GOOD.replace("421,1,1", "421,x,half")
    assert list(oc.read_readings(csv(broken), ventilation=False, occupancy=False).columns) == ["co2"]
    with pytest.raises(oc.InputError, match=r"office\.csv: has no column 'ventilation', only 'co2'"):
        oc.read_readings(csv("time,co2\n2024-01-08 08:00,1\n2024-01-08 08:01,1\n"), ventilation=True)


def test_gzip_files(tmp_path):
    path = tmp_path / "office.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert len(oc.read_readings(path)) == 3
    for content in (GOOD.encode(), gzip.compress(GOOD.encode())[:-9]):
        path.write_bytes(content)
        with pytest.raises(oc.InputError, match=r"office\.csv\.gz: is not a gzip file, or is truncated"):
            oc.read_readings(path)


def test_damaged_or_missing_parquet_is_rejected(tmp_path, office):
    path = tmp_path / "office.parquet"
    oc.write_readings(office, path)
    content = bytearray(path.read_bytes())
    content[100:4000] = bytes(3900)
    path.write_bytes(content)
    with pytest.raises(oc.InputError, match=r"office\.parquet: ") as error:
        oc.read_readings(path)
    assert "\n" not in str(error.value)
    with pytest.raises(FileNotFoundError, match=r"none\.parquet"):
        oc.read_readings(tmp_path / "none.parquet")


def test_duplicate_column_is_rejected(csv):
    with pytest.raises(oc.InputError, match=r"office\.csv: has two columns 'co2'"):
        oc.read_readings(csv("time,co2, co2\n2024-01-08 08:00,1,2\n"))


def test_offsets_without_time_zone_keep_their_local_midnight(csv):
    text = "time,co2\n2024-01-08T00:00+08:00,420\n2024-01-08T00:01+08:00,421\n"
    index = oc.read_readings(csv(text)).index
    assert index[0].hour == 0
    assert index[0].utcoffset() == pd.Timedelta(hours=8)


def test_utc_times_are_converted_to_the_time_zone(csv):
    text = "time,co2\n2024-01-07T16:00Z,420\n2024-01-07T16:01Z,421\n"
    assert oc.read_readings(csv(text), timezone="Asia/Singapore").index[0].hour == 0


def clock_change(first, last, zone="Europe/Copenhagen"):
    times = pd.date_range(first, last, freq="30min", tz=zone)
    return times, times.strftime("%Y-%m-%d %H:%M"), times.strftime("%Y-%m-%dT%H:%M%z")


@pytest.mark.parametrize("day", ["2024-03-31", "2024-10-27"])
def test_clock_change_with_time_zone_is_valid(csv, day):
    times, local, with_offset = clock_change(f"{day} 00:00", f"{day} 23:30")
    for text in (local, with_offset, local[::-1], with_offset[::-1]):
        path = csv("time,co2\n" + "".join(f"{time},420\n" for time in text))
        readings = oc.read_readings(path, timezone="Europe/Copenhagen")
        assert (readings.index == times).all()
        assert len(episode_slices(readings)) == 1


def test_skipped_hour_without_time_zone_is_a_gap(csv):
    _, local, with_offset = clock_change("2024-03-31 00:00", "2024-03-31 23:30")
    readings = oc.read_readings(csv("time,co2\n" + "".join(f"{time},420\n" for time in local)))
    assert episode_slices(readings) == [slice(0, 4), slice(4, 46)]
    with pytest.raises(
        oc.InputError, match="offsets must be equal: give the time zone of the room, such as --timezone"
    ):
        oc.read_readings(csv("time,co2\n" + "".join(f"{time},420\n" for time in with_offset)))


@pytest.mark.parametrize("turn", [1, -1])
def test_repeated_hour_without_time_zone_asks_for_it(csv, turn):
    _, local, _ = clock_change("2024-10-27 00:00", "2024-10-27 23:30")
    text = "".join(f"{time},{420 + k}\n" for k, time in enumerate(local))
    lines = text.splitlines(keepends=True)[::turn]
    with pytest.raises(
        oc.InputError, match=r"column time: times must increase, .* \(if the clocks changed, set"
    ):
        oc.read_readings(csv("time,co2\n" + "".join(lines)))


def test_ambiguous_hour_occurring_once_is_summer_time(csv):
    text = "time,co2\n" + "".join(f"2024-10-27 {hour:02}:{m:02},420\n" for hour in (1, 2, 3) for m in (0, 30))
    index = oc.read_readings(csv(text), timezone="Europe/Copenhagen").index
    assert [time.utcoffset().seconds // 3600 for time in index] == [2, 2, 2, 2, 1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"office\.csv: is empty"),
        ("time,co2\n", r"office\.csv: has no readings"),
        ("time,co2\n,\n", r"office\.csv: has no readings"),
        (b"\x00\xff\xfe\x80", r"office\.csv: is not text, so not CSV"),
        (
            "time,co2\n1,2\n1,2,3,4\n",
            r"office\.csv: is not a CSV table: row 3 has 4 columns, the header 2",
        ),
        ("when,co2\n1,2\n", r"office\.csv: has no column 'time', only 'when', 'co2'"),
        ("time;co2\n1;2\n", r"office\.csv, row 2, column time: must be a time such as .*, got '1'"),
        (
            GOOD.replace("co2", "air"),
            r"office\.csv: has no column 'co2', only 'air', .*--column co2='...' ",
        ),
        (
            "Zeit,CO2 a,CO2 b\n1,2,3\n",
            r"office\.csv: has 2 columns that match co2, 'CO2 a' and 'CO2 b': choose",
        ),
        (
            "time,timestamp,co2\n1,2,3\n".replace("time,", "Zeit,"),
            r"has 2 columns that match time, 'Zeit' and ",
        ),
        (GOOD.replace("08:01", "8 o'clock"), r"office\.csv, row 3, column time: must be a time such as"),
        (
            GOOD.replace("2024-01-08 08:01", ""),
            r"office\.csv, row 3, column time: must be a time such as .*got ''",
        ),
        (GOOD.replace("08:02,", "08:01,"), r"row 4, column time: times must increase, got .* twice"),
        (GOOD.replace("08:02,", "07:02,"), r"row 4, column time: times must increase, got .* after"),
        (
            GOOD.replace("08:02,423", "08:01,423"),
            r"row 4, column time: times must increase, got .* twice with different values",
        ),
        (
            "Date,CO2\n2024-01-08,420\n2024-01-09,421\n",
            r"office\.csv: needs at least two readings in one day",
        ),
        (
            "time,co2\n2024-01-08 08:00,420,5\n",
            r"office\.csv: has 3 columns in the first row but 2",
        ),
        (
            "time;co2\n2024-01-08 08:00;420,5\n2024-01-08 08:01;421.5\n",
            r"row [23], column co2: must be a number",
        ),
        (GOOD.replace("421", "421 C"), r"row 3, column co2: must be a number, got '421 C'"),
        (GOOD.replace("421", "2e6"), r"row 3, column co2: must be from 0 to 1000000 ppm, got 2e\+06"),
        (
            GOOD.replace(",421,1", ",421,-1"),
            r"row 3, column ventilation: must be from 0 to 1 \[0\.\.1\], got -1",
        ),
        (GOOD.replace(",421,1", ",421,half"), r"row 3, column ventilation: must be a number, got 'half'"),
        (
            GOOD.replace(",421,1,1", ",421,1,-1"),
            r"row 3, column occupancy: must be a non-negative integer",
        ),
        (
            "time,co2\n2024-01-08 08:00,0\n2024-01-08 08:01,\n",
            r"column co2: has no readings: all cells are empty or 0",
        ),
        ("time,co2\n2024-01-08 08:00,\n2024-01-08 08:01,-\n", r"column co2: has only empty cells"),
        (
            "time,co2\n01/02/2024 08:00,420\n01/02/2024 08:01,420\n",
            r"row 2, column time: 01/02/2024 may start with the day",
        ),
        (
            "time,co2\n13/02/2024 08:00,420\n02/14/2024 08:01,420\n",
            r"column time: must be a time such as .*got",
        ),
        (
            "time,co2,people\n2024-01-08 08:00,420,\n2024-01-08 08:01,420,\n2024-01-08 09:00,,1\n",
            r"office\.csv: has no time at which co2 and occupancy are known",
        ),
        (
            "2024-01-08 08:00,420\n2024-01-08 08:01,421\n",
            r"must have a header line with the column names .*, got '2024-01-08 08:00', '420'",
        ),
        (
            "Uhrzeit;CO2\n08:00;420\n08:01;421\n",
            r"row 2, column Uhrzeit: must be a time such as .*, got '08:00'",
        ),
        (GOOD.replace(",421,", ",-4,"), r"office\.csv, row 3, column co2: must be from 0 to 1000000 ppm"),
        (
            GOOD.replace(",421,", ",inf,"),
            r"office\.csv, row 3, column co2: must be from 0 to 1000000 ppm, got inf",
        ),
        (GOOD.replace(",421,", ",high,"), r"office\.csv, row 3, column co2: must be a number, got 'high'"),
        (
            GOOD.replace("423,1,2", "423,1,2.5"),
            r"office\.csv, row 4, column occupancy: must be a non-negative integer",
        ),
        (GOOD.replace("08:01,", "08:01+01:00,"), r"row 3, column time: UTC offsets must be stated at all"),
    ],
)
def test_error_states_row_column_and_rule(csv, text, message):
    with pytest.raises(oc.InputError, match=message) as error:
        oc.read_readings(csv(text))
    assert "\n" not in str(error.value)


def test_blank_line_is_skipped_without_shifting_row_numbers(csv):
    blank = GOOD.replace("2024-01-08 08:01,421", "\n2024-01-08 08:01,421")
    assert oc.read_readings(csv(blank)).equals(oc.read_readings(csv(GOOD)))
    with pytest.raises(oc.InputError, match=r"row 4, column co2: must be a number, got 'high'"):
        oc.read_readings(csv(blank.replace("421", "high")))


def test_unknown_time_zone_and_nonexistent_time_are_rejected(csv):
    with pytest.raises(
        oc.InputError, match="timezone must be a time zone name such as Europe/Copenhagen, got 'Mars/Olympus'"
    ):
        oc.read_readings(csv(GOOD), timezone="Mars/Olympus")
    skipped = "time,co2\n2024-03-31 02:30,420\n2024-03-31 02:31,420\n"  # clocks go from 2:00 to 3:00
    with pytest.raises(
        oc.InputError,
        match="row 2, column time: 2024-03-31 02:30:00 does not exist in the time zone Europe/Copenhagen",
    ):
        oc.read_readings(csv(skipped), timezone="Europe/Copenhagen")


def test_mixed_times_with_and_without_offset_are_rejected(csv):
    text = GOOD.replace("08:01,", "08:01+01:00,")
    with pytest.raises(oc.InputError, match="row 3, column time: UTC offsets must be stated at all times"):
        oc.read_readings(csv(text), timezone="Europe/Copenhagen")


def test_required_occupancy(csv):
    text = "time,co2\n2024-01-08 08:00,420\n2024-01-08 08:01,421\n"
    assert "occupancy" not in oc.read_readings(csv(text)).columns
    with pytest.raises(
        oc.InputError, match=r"office\.csv: has no column 'occupancy', only 'co2'; head counts"
    ):
        oc.read_readings(csv(text), occupancy=True)


def test_parquet_without_readings_is_rejected(tmp_path):
    path = tmp_path / "office.parquet"
    path.write_text(GOOD)
    with pytest.raises(oc.InputError, match=r"office\.parquet: is not a Parquet file, or is damaged"):
        oc.read_readings(path)
    pd.DataFrame({"time": [], "co2": []}).to_parquet(path)
    with pytest.raises(oc.InputError, match=r"office\.parquet: has no readings"):
        oc.read_readings(path)


def test_parquet_without_pyarrow_states_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(
        oc.InputError, match=r"Parquet needs pyarrow: pip install 'occupair\[parquet\]', or use CSV"
    ):
        oc.read_readings(tmp_path / "office.parquet")


SAME = """Datum;Uhrzeit;Raum-CO2 [ppm];Lüftung [%];Personen;Temperatur
08.01.2024;08:00;420,5;0;0;21,3
08.01.2024;08:01;1.021,25;55;1;21,4
08.01.2024;08:02;423;100;2;
"""
EXPECTED = pd.DataFrame(
    {
        "co2": [420.5, 1021.25, 423.0],
        "ventilation": [0.0, 0.55, 1.0],
        "occupancy": [0.0, 1.0, 2.0],
        "temperature": [21.3, 21.4, 21.4],
    },
    index=pd.DatetimeIndex(
        pd.date_range("2024-01-08 08:00", periods=3, freq="min", unit="us"), freq=None, name="time"
    ),
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("preamble", ["", "Logger 7\n\nsep=;\n# Raum 5;Etage 2\n"])
def test_german_export_in_any_encoding(csv, encoding, newline, preamble):
    content = (preamble + SAME).replace("\n", newline).encode(encoding)
    pd.testing.assert_frame_equal(oc.read_readings(csv(content)), EXPECTED)


@given(
    order=st.permutations(range(5)),
    delimiter=st.sampled_from(";\t|,"),
    comma=st.booleans(),
    form=st.sampled_from(
        ["%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ", "%m/%d/%Y %I:%M %p", "%Y/%m/%d %H:%M", "epoch"]
    ),
    newest_first=st.booleans(),
    quoted=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_file_format_does_not_change_readings(
    tmp_path_factory, order, delimiter, comma, form, newest_first, quoted
):
    times = pd.date_range("2024-01-31 23:50", periods=20, freq="min")
    co2, air, people = 410.0 + np.arange(20) * 40.125, np.arange(20) % 5 * 25.0, np.arange(20) % 3

    def number(value):
        return f"{value:,.3f}".translate(str.maketrans(",.", ".,")) if comma else f"{value:.3f}"

    written = [str(time.timestamp())[:-2] for time in times] if form == "epoch" else times.strftime(form)
    columns = [
        ["Timestamp", *written],
        ["Indoor CO2", *map(number, co2)],
        ["Damper (%)", *map(number, air)],
        ["occupant_count", *map(str, people)],
        ["outdoor_co2", *["n/a"] * 20],
    ]
    quote = '"' if quoted or delimiter == "," else ""
    lines = [delimiter.join(f"{quote}{columns[k][row]}{quote}" for k in order) for row in range(21)]
    lines = [lines[0], *lines[:0:-1]] if newest_first else lines
    path = tmp_path_factory.mktemp("written") / "room.csv"
    path.write_text("\n".join(lines))
    readings = oc.read_readings(path, dayfirst=False if "%m/%d" in form else None)
    assert (readings.index.tz_localize(None) == times).all()
    np.testing.assert_allclose(readings["co2"], co2)
    np.testing.assert_allclose(readings["ventilation"], air / 100)
    assert readings["occupancy"].tolist() == people.tolist()


def test_given_column_names(csv):
    text = "Tag,Stunde,Raum 7,Raum 8,Gäste\n2024-01-08,08:00,420,500,1\n2024-01-08,08:01,421,501,2\n"
    names = {"date": "Tag", "time": "Stunde", "co2": "Raum 8", "occupancy": "Gäste"}
    readings = oc.read_readings(csv(text), columns=names)
    assert readings["co2"].tolist() == [500, 501]
    assert readings["occupancy"].tolist() == [1, 2]
    with pytest.raises(
        oc.InputError, match=r"office\.csv: has no column 'Raum 9', given as co2, only 'Tag', 'Stunde'"
    ):
        oc.read_readings(csv(text), columns=names | {"co2": "Raum 9"})
    with pytest.raises(oc.InputError, match=r"columns \(--column\) must be for time, date, co2"):
        oc.read_readings(csv(text), columns={"air": "Raum 7"})


@pytest.mark.parametrize("dayfirst", [True, False])
def test_ambiguous_dates_ask_for_dayfirst(csv, dayfirst):
    path = csv("time,co2\n01/02/2024 08:00,420\n01/02/2024 08:01,420\n")
    assert oc.read_readings(path, dayfirst=dayfirst).index[0].month == (2 if dayfirst else 1)


def test_missing_values_are_bridged_or_gaps(csv):
    words = [
        "420",
        "",
        "NaN",
        "null",
        "-",
        "n/a",
        "---",
        "-999",
        "0",
        "unavailable",
        *map(str, range(430, 440)),
    ]
    text = "time,co2\n" + "".join(f"2024-01-08 08:{k:02},{word}\n" for k, word in enumerate(words))
    readings = oc.read_readings(csv(text))
    assert readings["co2"].tolist() == [420] * 10 + list(range(430, 440))
    assert readings.attrs["failed_reads"] == 1
    assert readings.attrs["bridged"] == 9
    with_gap = oc.read_readings(csv(text), longest_gap=9)
    assert f"{with_gap.index[1]:%T}" == "08:10:00"
    assert episode_slices(with_gap) == [slice(0, 1), slice(1, 11)]


def test_identical_rows_are_merged(csv):
    double = GOOD.replace("2024-01-08 08:01,421,1,1\n", "2024-01-08 08:01,421,1,\n2024-01-08 08:01,421,,1\n")
    assert oc.read_readings(csv(double)).equals(oc.read_readings(csv(GOOD)))


def test_newest_first_is_reversed_and_keeps_row_numbers(csv):
    header, *lines = GOOD.splitlines(keepends=True)
    turned = header + "".join(lines[::-1])
    assert oc.read_readings(csv(turned)).equals(oc.read_readings(csv(GOOD)))
    with pytest.raises(oc.InputError, match="row 2, column occupancy: must be a non-negative integer"):
        oc.read_readings(csv(turned.replace("423,1,2", "423,1,2.5")))


@pytest.mark.parametrize(
    ("header", "cells", "shares", "full", "unit"),
    [
        ("ventilation", "0 0.5 1", [0, 0.5, 1], 1, "0..1"),
        ("Damper [%]", "0 25 80", [0, 0.25, 0.8], 100, "%"),
        ("damper", "0 25 100", [0, 0.25, 1], 100, "%"),
        ("fan (Hz)", "0 25 50.03", [0, 0.5, 1], 50, "Hz"),
        ("fan_speed_hz", "0 30 60", [0, 0.5, 1], 60, "Hz"),
        ("Luftmængde m³/h", "0 250 1000", [0, 0.25, 1], 1000, "m3/h"),
        ("supply air flow [l/s]", "-1 10 40", [0, 0.25, 1], 40, "l/s"),
        ("airflow_cfm", "0 100 400", [0, 0.25, 1], 400, "cfm"),
        ("airflow", "0 10 40", [0, 0.25, 1], 40, "unknown"),
        ("fan level", "0 1 4", [0, 0.25, 1], 4, "steps"),
        ("damper [V]", "0 5 10", [0, 0.5, 1], 10, "V"),
        ("Lüfter", "aus Ein EIN", [0, 1, 1], 1, "on/off"),
        ("fan", "off on 1", [0, 1, 1], 1, "on/off"),
        ("fan", "False True True", [0, 1, 1], 1, "on/off"),
        ("damper", "closed open open", [0, 1, 1], 1, "on/off"),
        ("fan [%]", "off 20 40", [0, 0.2, 0.4], 100, "%"),
    ],
)
def test_ventilation_units(csv, header, cells, shares, full, unit):
    text = f"time,co2,{header}\n" + "".join(
        f"2024-01-08 08:0{k},420,{cell}\n" for k, cell in enumerate(cells.split())
    )
    readings = oc.read_readings(csv(text))
    np.testing.assert_allclose(readings["ventilation"], shares)
    assert (readings.attrs["ventilation_full"], readings.attrs["ventilation_unit"]) == (full, unit)


def test_later_file_uses_the_given_ventilation_scale(csv):
    text = "time,co2,airflow [m3/h]\n2024-01-08 08:00,420,100\n2024-01-08 08:01,420,600\n"
    later = oc.read_readings(csv(text), ventilation_full=400)
    assert later["ventilation"].tolist() == [0.25, 1.0]
    assert later.attrs["ventilation_full"] == 400
    with pytest.raises(
        oc.InputError, match="ventilation_full must be a number above 0 in the unit of the file, got 0"
    ):
        oc.read_readings(csv(text), ventilation_full=0)


def test_irregular_times_are_put_on_a_grid(csv):
    readings = oc.read_readings(csv(GOOD + "2024-01-08 08:09,430,0,0\n2024-01-08 08:30,431,1,2\n"))
    assert interval_of(readings) == 1.0
    assert readings["co2"].tolist() == [420, 421, *[423] * 7, 430, 431]
    assert readings["occupancy"].tolist() == [0, 1, *[2] * 7, 0, 2]
    assert episode_slices(readings) == [slice(0, 10), slice(10, 11)]
    assert len(oc.read_readings(csv(GOOD), interval=2)) == 2


def test_empty_column_is_ignored_unless_required(csv):
    text = "time,co2,people\n2024-01-08 08:00,420,\n2024-01-08 08:01,421,\n"
    assert list(oc.read_readings(csv(text)).columns) == ["co2"]
    with pytest.raises(oc.InputError, match=r"office\.csv, column people: has only empty cells"):
        oc.read_readings(csv(text), occupancy=True)


def test_rows_without_head_count_are_dropped_if_occupancy_is_read(csv):
    text = GOOD + "".join(f"2024-01-08 08:{k:02},420,1,\n" for k in range(3, 40))
    assert len(oc.read_readings(csv(text))) == 3
    assert len(oc.read_readings(csv(text), occupancy=False)) == 40


def test_parquet_column_types(tmp_path):
    path = tmp_path / "office.parquet"
    times = pd.date_range("2024-01-08", periods=3, freq="min")
    plain = {
        "CO2": [420, 0, 430],
        "fan": [True, False, None],
        "people": pd.array([1, None, 2], dtype="Int64"),
    }
    pd.DataFrame({"ts": (times - pd.Timestamp(0)) // pd.Timedelta("1ms"), **plain}).to_parquet(path)
    readings = oc.read_readings(path)
    assert readings.index[1].isoformat() == "2024-01-08T00:01:00+00:00"
    assert readings["co2"].tolist() == [420, 420, 430]
    assert readings["ventilation"].tolist() == [1, 0, 0]
    assert readings["occupancy"].tolist() == [1, 1, 2]
    pd.DataFrame({"Date": times.date, "Time": times.time, "CO2": ["420,5", "421", "422"]}).to_parquet(path)
    assert oc.read_readings(path)["co2"].tolist() == [420.5, 421, 422]
    pd.DataFrame({"time": [times[0], pd.NaT], "co2": [1.0, 2.0]}).to_parquet(path)
    with pytest.raises(
        oc.InputError, match=r"office\.parquet, row 2, column time: must be a time such as .*'NaT'"
    ):
        oc.read_readings(path)


@pytest.mark.parametrize(
    ("name", "file", "options", "interval", "days", "most"),
    [
        ("robod", "combined_Room1.csv.gz", {}, 5, 29, 38),
        ("robod", "combined_Room3.csv.gz", {"columns": {"ventilation": "ahu_fan_speed"}}, 5, 29, 13),
        ("uci864", "Occupancy_Estimation.csv.gz", {}, 0.5, 7, 3),
        ("uci357", "datatraining.txt.gz", {}, 1, 7, 1),
        ("uci357", "datatest.txt.gz", {}, 1, 3, 1),
        ("uci357", "datatest2.txt.gz", {}, 1, 8, 1),
    ],
)
def test_published_files_are_read(published, name, file, options, interval, days, most):
    readings = oc.read_readings(published(name) / file, **options)
    assert interval_of(readings) == interval
    assert len(date_slices(readings)) == days
    assert readings["occupancy"].max() == most
    assert ("ventilation" in readings) == (name == "robod")


def test_published_file_with_three_ventilation_columns_is_ambiguous(published):
    with pytest.raises(
        oc.InputError, match="3 columns that match ventilation, 'supply_air_flow', 'damper_posi"
    ):
        oc.read_readings(published("robod") / "combined_Room3.csv.gz")


def test_empty_date_and_time_columns_are_rejected(csv):
    with pytest.raises(oc.InputError, match=r"office\.csv: has 2 columns that match time, 'Date' and 'Time'"):
        oc.read_readings(csv("Date,Time,co2\n,,420\n,,421\n"))


def test_appended_export_is_not_called_a_clock_change(csv):
    day = ["2024-01-08 08:00,500", "2024-01-08 08:05,510", "2024-01-09 08:00,500"]
    path = csv("\n".join(["time,co2", *day, *day[:2]]))
    message = "got 2024-01-08 08:00:00 after 2024-01-09 08:00:00: sort the rows, and use each export once"
    with pytest.raises(oc.InputError, match=message):
        oc.read_readings(path)


@pytest.mark.parametrize("header", ["Date,Timestamp", "Timestamp,Date", "Timestamp,Time"])
def test_complete_time_is_preferred_to_a_date_or_a_time_of_day(csv, header):
    cells = {"Date": "2024-01-08", "Timestamp": "2024-01-08 0{}:00", "Time": "0{}:00"}
    rows = [",".join(cells[name].format(hour) for name in header.split(",")) for hour in (7, 8, 9)]
    text = f"{header},CO2\n" + "".join(f"{row},420\n" for row in rows)
    times = oc.read_readings(csv(text)).index
    assert list(times) == list(pd.date_range("2024-01-08 07:00", periods=3, freq="h"))
