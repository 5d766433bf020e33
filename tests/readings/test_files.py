"""Reading and writing of files: formats, encodings, columns, missing values and ventilation units."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings.plain_file import GOOD

import occupair as oc
from occupair.readings.schema import date_slices, episode_slices, interval_of


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
