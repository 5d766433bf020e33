"""Error messages of faulty files, with file, row, column and rule."""

import pandas as pd
import pytest
from readings.plain_file import GOOD

import occupair as oc


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
