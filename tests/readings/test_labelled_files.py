"""Files with sparse labels: rows without a head count are kept."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.checks import find_faults
from occupair.readings.files import read_labelled
from occupair.readings.head_counts import WEIGHT


def write(path, text):
    path.write_text(text)
    return path


def test_complete_labels_are_read_like_read_readings(tmp_path, slow_office):
    oc.write_readings(slow_office, tmp_path / "office.csv")
    pd.testing.assert_frame_equal(
        read_labelled(tmp_path / "office.csv"), oc.read_readings(tmp_path / "office.csv")
    )
    read = read_labelled(tmp_path / "office.csv", timezone="Europe/Copenhagen")
    pd.testing.assert_frame_equal(
        read, oc.read_readings(tmp_path / "office.csv", timezone="Europe/Copenhagen")
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_written_labels_are_read_back(tmp_path, slow_office, suffix):
    known = np.arange(len(slow_office)) % 12 == 0
    sparse = slow_office.assign(
        occupancy=slow_office["occupancy"].where(known), occupancy_weight=np.where(known, 0.5, 0.0)
    )
    oc.write_readings(sparse, tmp_path / f"office.{suffix}")
    read = read_labelled(tmp_path / f"office.{suffix}")
    assert len(read) == len(slow_office)
    pd.testing.assert_frame_equal(read, sparse, check_dtype=False, check_index_type=False, check_freq=False)


def test_empty_weight_is_1(tmp_path):
    rows = ["00:00,500,2,0.5", "00:20,500,3,", "00:40,500,,0.5", "01:00,500,4,0", "01:20,500,5,1"]
    path = write(
        tmp_path / "a.csv",
        "\n".join(["time,co2,occupancy,occupancy_weight", *(f"2024-01-08 {row}" for row in rows)]),
    )
    read = read_labelled(path)
    assert read[WEIGHT].tolist() == [0.5, 1, 0, 0, 1]
    np.testing.assert_array_equal(read["occupancy"], [2, 3, np.nan, np.nan, 5])


@pytest.mark.parametrize("zero", ["0", "0.0", "0,00", " 0 ", "-0"])
@pytest.mark.parametrize("count", ["-3", "1.5", "many", "", "inf", "7"])
def test_head_count_with_weight_0_is_ignored(tmp_path, zero, count):
    rows = ["00:00;500;2;1", f"00:15;501;{count};{zero}", "00:30;502;3;1"]
    header = "time;co2;occupancy;occupancy_weight"
    read = read_labelled(
        write(tmp_path / "a.csv", "\n".join([header, *(f"2024-01-08 {row}" for row in rows)]))
    )
    np.testing.assert_array_equal(read["occupancy"], [2, np.nan, 3])
    assert read[WEIGHT].tolist() == [1, 0, 1]
    assert read["co2"].tolist() == [500, 501, 502]  # the row is kept as history


def test_head_count_with_weight_0_is_ignored_in_parquet(tmp_path):
    times = pd.date_range("2024-01-08", periods=3, freq="15min", name="time")
    table = pd.DataFrame({"co2": 500.0, "occupancy": [2, -3, 3], "occupancy_weight": [1, 0, 1]}, index=times)
    table.to_parquet(tmp_path / "a.parquet")
    np.testing.assert_array_equal(read_labelled(tmp_path / "a.parquet")["occupancy"], [2, np.nan, 3])


@pytest.mark.parametrize("count", ["", "9"])
def test_no_label_is_held_over_rows_with_weight_0(tmp_path, count):
    """Counts every minute, four of them with weight 0; an empty cell elsewhere is bridged."""
    minutes = (
        [f"2,1,{k}" for k in range(3)] + [f"{count},0,{k}" for k in range(3, 7)] + ["5,1,7", ",,8", "5,1,9"]
    )
    rows = [
        f"2024-01-08 00:0{k},500,{people},{weight}" for people, weight, k in (r.split(",") for r in minutes)
    ]
    path = write(tmp_path / "a.csv", "\n".join(["time,co2,occupancy,occupancy_weight", *rows]))
    read = read_labelled(path)
    np.testing.assert_array_equal(read["occupancy"], [2, 2, 2, *[np.nan] * 4, 5, 5, 5])
    assert read[WEIGHT].tolist() == [1, 1, 1, 0, 0, 0, 0, 1, 1, 1]


def test_invalid_or_missing_labels_are_rejected(tmp_path):
    text = "time,co2,occupancy,occupancy_weight\n2024-01-08 08:00,500,-3,{}\n2024-01-08 08:15,500,1,{}\n"
    with pytest.raises(oc.InputError, match=r"column occupancy: must be a non-negative integer, got -3"):
        read_labelled(write(tmp_path / "a.csv", text.format("0.1", "1")))
    with pytest.raises(oc.InputError, match="occupancy: must have a head count at one reading or more"):
        read_labelled(write(tmp_path / "b.csv", text.format("0", "0")))


def test_head_counts_in_rows_of_their_own(tmp_path):
    """Rows of a logger, with rows of manual head counts between them."""
    rows = [f"{hour:02}:{minute:02},500," for hour in range(8, 12) for minute in (0, 15, 30, 45)]
    rows.insert(2, "08:22,,7")
    path = write(tmp_path / "a.csv", "\n".join(["time,co2,people", *(f"2024-01-08 {row}" for row in rows)]))
    read = read_labelled(path)
    np.testing.assert_array_equal(read["occupancy"], [np.nan, np.nan, 7, *[np.nan] * 13])


def test_invalid_weight_is_rejected(tmp_path):
    path = write(
        tmp_path / "a.csv",
        "time,co2,occupancy,occupancy_weight\n2024-01-08 08:00,500,1,2\n2024-01-08 08:15,500,,\n",
    )
    with pytest.raises(
        oc.InputError, match=r"a\.csv on its grid, row 1, column occupancy_weight: must be from 0"
    ):
        read_labelled(path)
    path = write(tmp_path / "b.csv", "time,co2,occupancy\n2024-01-08 08:00,500,\n2024-01-08 08:15,500,\n")
    with pytest.raises(oc.InputError, match=r"b\.csv, column occupancy: has only empty cells"):
        read_labelled(path)
    path = write(
        tmp_path / "c.csv", "time,co2,damper,occupancy\n2024-01-08 08:00,500,,1\n2024-01-08 08:15,,0.5,1\n"
    )
    with pytest.raises(oc.InputError, match=r"c\.csv: "):
        read_labelled(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_check_ignores_head_counts_with_weight_0(tmp_path, slow_office, suffix):
    unused = np.arange(len(slow_office)) % 12 == 0
    doubtful = slow_office.assign(
        occupancy=slow_office["occupancy"].mask(unused, -2), occupancy_weight=np.where(unused, 0.0, 1.0)
    )
    oc.write_readings(doubtful, tmp_path / f"office.{suffix}")
    read = oc.read_readings(tmp_path / f"office.{suffix}", lenient=True)
    assert read["occupancy"].min() == 0
    assert "negative_counts" not in {fault.kind for fault in find_faults(read)}
    whole = doubtful.drop(columns="occupancy_weight")
    assert "negative_counts" in {fault.kind for fault in find_faults(whole)}
