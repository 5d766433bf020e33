"""Files of readings: read back as written, every fault with its file, row and column."""

import gzip

import numpy as np
import pandas as pd
import pytest

import occupair as oc

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


def test_reads_a_plain_csv(csv):
    readings = oc.read_readings(csv(GOOD))
    assert readings["co2"].tolist() == [420, 421, 423]
    assert readings["occupancy"].tolist() == [0, 1, 2]
    assert readings.index.tz is None
    assert readings.index[1] == pd.Timestamp("2024-01-08 08:01")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("zone", [None, "Asia/Singapore"])
def test_what_is_written_is_read(tmp_path, office, suffix, zone):
    path = tmp_path / f"office.{suffix}"
    written = office.tz_localize(zone) if zone else office
    oc.write_readings(written, path)
    read = oc.read_readings(path, timezone=zone)
    np.testing.assert_array_equal(read.to_numpy(), written.to_numpy())
    assert (read.index == written.index).all()


def test_a_parquet_with_the_time_as_index(tmp_path, office):
    office.to_parquet(tmp_path / "office.parquet")
    assert len(oc.read_readings(tmp_path / "office.parquet")) == len(office)


def test_spreadsheets_and_loggers_leave_marks_that_do_no_harm(csv):
    marked = (
        b"\xef\xbb\xbf" + GOOD.replace("time,", " time ,").replace("\n", "\r\n").encode() + b"\r\n,,,\r\n"
    )
    pd.testing.assert_frame_equal(oc.read_readings(csv(marked)), oc.read_readings(csv(GOOD)))


@pytest.mark.parametrize("offset", ["+01:00", "+0100", "+01", " +01:00", "+01:00 "])
def test_an_offset_in_any_spelling_keeps_its_midnight(csv, offset):
    text = f"time,co2\n2024-01-08T00:00{offset},420\n2024-01-08T00:01{offset},421\n"
    for zone in (None, "Europe/Copenhagen"):
        index = oc.read_readings(csv(text), timezone=zone).index
        assert index[0].isoformat() == "2024-01-08T00:00:00+01:00"


def test_z_is_an_offset_of_nothing(csv):
    index = oc.read_readings(csv("time,co2\n2024-01-08T00:00Z,420\n2024-01-08T00:01+00:00,421\n")).index
    assert index[1].utcoffset() == pd.Timedelta(0)


@pytest.mark.parametrize(
    "times", [["2024-01-08", "2024-01-08 00:01"], ["2024-01-08 00:00:00.250", "2024-01-08 00:01:00.250"]]
)
def test_other_iso_times(csv, times):
    assert len(oc.read_readings(csv(f"time,co2\n{times[0]},420\n{times[1]},421\n"))) == 2


@pytest.mark.parametrize(
    "word", ["now", "today", "8", "2024-01-08 25:00", "2024-13-01 00:00", "9.1.2024 00:01"]
)
def test_words_and_other_orders_are_no_times(csv, word):
    with pytest.raises(oc.InputError, match=f"row 3, column time: must be a time such as .*, got '{word}'"):
        oc.read_readings(csv(GOOD.replace("2024-01-08 08:01", word)))


def test_columns_that_are_not_wanted_are_not_looked_at(csv):
    broken = GOOD.replace("421,1,1", "421,x,half")
    assert list(oc.read_readings(csv(broken), ventilation=False, occupancy=False).columns) == ["co2"]
    with pytest.raises(oc.InputError, match=r"office\.csv: has no column 'ventilation', only 'co2'"):
        oc.read_readings(csv("time,co2\n2024-01-08 08:00,1\n2024-01-08 08:01,1\n"), ventilation=True)


def test_packed_files(tmp_path):
    path = tmp_path / "office.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert len(oc.read_readings(path)) == 3
    for content in (GOOD.encode(), gzip.compress(GOOD.encode())[:-9]):
        path.write_bytes(content)
        with pytest.raises(oc.InputError, match=r"office\.csv\.gz: is not a gzip file, or cut short"):
            oc.read_readings(path)


def test_a_damaged_or_missing_parquet(tmp_path, office):
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


def test_a_column_that_is_there_twice(csv):
    with pytest.raises(oc.InputError, match=r"office\.csv: has two columns 'co2'"):
        oc.read_readings(csv("time,co2, co2\n2024-01-08 08:00,1,2\n"))


def test_offsets_without_a_zone_keep_their_own_midnight(csv):
    text = "time,co2\n2024-01-08T00:00+08:00,420\n2024-01-08T00:01+08:00,421\n"
    index = oc.read_readings(csv(text)).index
    assert index[0].hour == 0
    assert index[0].utcoffset() == pd.Timedelta(hours=8)


def test_utc_times_in_a_zone(csv):
    text = "time,co2\n2024-01-07T16:00Z,420\n2024-01-07T16:01Z,421\n"
    assert oc.read_readings(csv(text), timezone="Asia/Singapore").index[0].hour == 0


def clock_change(first, last, zone="Europe/Copenhagen"):
    times = pd.date_range(first, last, freq="30min", tz=zone)
    return times, times.strftime("%Y-%m-%d %H:%M"), times.strftime("%Y-%m-%dT%H:%M%z")


@pytest.mark.parametrize("day", ["2024-03-31", "2024-10-27"])
def test_a_change_of_the_clock_needs_the_zone_and_then_is_no_fault(csv, day):
    times, local, with_offset = clock_change(f"{day} 00:00", f"{day} 23:30")
    for text in (local, with_offset):
        path = csv("time,co2\n" + "".join(f"{time},420\n" for time in text))
        assert (oc.read_readings(path, timezone="Europe/Copenhagen").index == times).all()
        with pytest.raises(
            oc.InputError, match=r"mixed intervals|a change of the clock|and the room's time zone"
        ):
            oc.read_readings(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"office\.csv: is empty"),
        ("time,co2\n", r"office\.csv: has no readings"),
        ("time,co2\n,\n", r"office\.csv: has no readings"),
        (b"\x00\xff\xfe\x80", r"office\.csv: is not text, so not a CSV file"),
        (
            "time,co2\n1,2\n1,2,3,4\n",
            r"office\.csv: is not a CSV table: .*Expected 2 fields in line 3, saw 4",
        ),
        ("when,co2\n1,2\n", r"office\.csv: has no column 'time', only 'when', 'co2'"),
        ("time;co2\n1;2\n", r"office\.csv: has no column 'time', only 'time;co2'"),
        (GOOD.replace("co2", "CO2"), r"office\.csv: has no column 'co2'"),
        (GOOD.replace("08:01", "8 o'clock"), r"office\.csv, row 3, column time: must be a time such as"),
        (
            GOOD.replace("2024-01-08 08:01", ""),
            r"office\.csv, row 3, column time: must be a time such as .*got ''",
        ),
        (GOOD.replace("08:02,", "08:01,"), r"row 4, column time: times must rise, .* is there twice"),
        (GOOD.replace("08:02,", "07:02,"), r"row 4, column time: times must rise, .* comes after"),
        (GOOD + "2024-01-08 08:09,420,0,0\n", r"row 5, column time: mixed intervals, .* comes 7 min after"),
        (GOOD.replace(",421,", ",-4,"), r"office\.csv, row 3, column co2: must be from 0 to 1000000 ppm"),
        (
            GOOD.replace(",421,", ",inf,"),
            r"office\.csv, row 3, column co2: must be from 0 to 1000000 ppm, got inf",
        ),
        (
            GOOD.replace(",421,", ",,"),
            r"office\.csv, row 3, column co2: must be from 0 to 1000000 ppm, got nothing",
        ),
        (GOOD.replace(",421,", ",high,"), r"office\.csv, row 3, column co2: must be a number, got 'high'"),
        (
            GOOD.replace("423,1,2", "423,1,2.5"),
            r"office\.csv, row 4, column occupancy: must be a whole number",
        ),
        (GOOD.replace("423,1,2", "423,60,2"), r"office\.csv, row 4, column ventilation: must be from 0 to 1"),
        (GOOD.replace("08:01,", "08:01+01:00,"), r"row 3, column time: .*different UTC offsets"),
    ],
)
def test_every_fault_is_one_line_with_its_place(csv, text, message):
    with pytest.raises(oc.InputError, match=message) as error:
        oc.read_readings(csv(text))
    assert "\n" not in str(error.value)


def test_a_blank_line_in_the_middle_does_not_shift_the_rows(csv):
    text = GOOD.replace("2024-01-08 08:01,421", "\n2024-01-08 08:01,421")
    with pytest.raises(oc.InputError, match=r"row 3, column time: must be a time such as .*got ''"):
        oc.read_readings(csv(text))


def test_a_zone_that_does_not_exist_or_does_not_fit(csv):
    with pytest.raises(
        oc.InputError, match="timezone must be one such as Europe/Copenhagen, got 'Mars/Olympus'"
    ):
        oc.read_readings(csv(GOOD), timezone="Mars/Olympus")
    skipped = "time,co2\n2024-03-31 02:30,420\n2024-03-31 02:31,420\n"  # clocks go from 2:00 to 3:00
    with pytest.raises(oc.InputError, match="column time: does not fit the time zone Europe/Copenhagen"):
        oc.read_readings(csv(skipped), timezone="Europe/Copenhagen")


def test_a_zone_does_not_help_times_of_which_some_have_an_offset(csv):
    text = GOOD.replace("08:01,", "08:01+01:00,")
    with pytest.raises(oc.InputError, match="row 3, column time: times with different UTC offsets"):
        oc.read_readings(csv(text), timezone="Europe/Copenhagen")


def test_head_counts_can_be_asked_for(csv):
    text = "time,co2\n2024-01-08 08:00,420\n2024-01-08 08:01,421\n"
    assert "occupancy" not in oc.read_readings(csv(text)).columns
    with pytest.raises(
        oc.InputError, match=r"office\.csv: has no column 'occupancy', only 'co2'; head counts"
    ):
        oc.read_readings(csv(text), occupancy=True)


def test_a_foreign_parquet(tmp_path):
    path = tmp_path / "office.parquet"
    path.write_text(GOOD)
    with pytest.raises(oc.InputError, match=r"office\.parquet: is not a Parquet file, or damaged"):
        oc.read_readings(path)
    pd.DataFrame({"time": [], "co2": []}).to_parquet(path)
    with pytest.raises(oc.InputError, match=r"office\.parquet: has no readings"):
        oc.read_readings(path)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(
        oc.InputError, match=r"Parquet needs pyarrow, pip install 'occupair\[parquet\]' or use CSV"
    ):
        oc.read_readings(tmp_path / "office.parquet")
