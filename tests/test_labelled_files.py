"""Files with head counts here and there: nothing is left out for want of one."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.head_counts import WEIGHT
from occupair.labelled_files import read_labelled


def write(path, text):
    path.write_text(text)
    return path


def test_a_file_with_all_counts_is_read_as_ever(tmp_path, slow_office):
    oc.write_readings(slow_office, tmp_path / "office.csv")
    pd.testing.assert_frame_equal(
        read_labelled(tmp_path / "office.csv"), oc.read_readings(tmp_path / "office.csv")
    )
    read = read_labelled(tmp_path / "office.csv", timezone="Europe/Copenhagen")
    pd.testing.assert_frame_equal(
        read, oc.read_readings(tmp_path / "office.csv", timezone="Europe/Copenhagen")
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_was_written_comes_back(tmp_path, slow_office, suffix):
    known = np.arange(len(slow_office)) % 12 == 0
    sparse = slow_office.assign(
        occupancy=slow_office["occupancy"].where(known), occupancy_weight=np.where(known, 0.5, 0.0)
    )
    oc.write_readings(sparse, tmp_path / f"office.{suffix}")
    read = read_labelled(tmp_path / f"office.{suffix}")
    assert len(read) == len(slow_office)
    pd.testing.assert_frame_equal(read, sparse, check_dtype=False, check_index_type=False, check_freq=False)


def test_weights_belong_to_counts_and_empty_ones_are_1(tmp_path):
    rows = ["00:00,500,2,0.5", "00:20,500,3,", "00:40,500,,0.5", "01:00,500,4,0", "01:20,500,5,1"]
    path = write(
        tmp_path / "a.csv",
        "\n".join(["time,co2,occupancy,occupancy_weight", *(f"2024-01-08 {row}" for row in rows)]),
    )
    read = read_labelled(path)
    assert read[WEIGHT].tolist() == [0.5, 1, 0, 0, 1]
    np.testing.assert_array_equal(read["occupancy"], [2, 3, np.nan, np.nan, 5])


def test_counts_of_their_own_rows_are_put_beside_co2(tmp_path):
    """A logger's rows, and rows in which somebody wrote down a count between them."""
    rows = [f"{hour:02}:{minute:02},500," for hour in range(8, 12) for minute in (0, 15, 30, 45)]
    rows.insert(2, "08:22,,7")
    path = write(tmp_path / "a.csv", "\n".join(["time,co2,people", *(f"2024-01-08 {row}" for row in rows)]))
    read = read_labelled(path)
    np.testing.assert_array_equal(read["occupancy"], [np.nan, np.nan, 7, *[np.nan] * 13])


def test_rules(tmp_path):
    path = write(
        tmp_path / "a.csv",
        "time,co2,occupancy,occupancy_weight\n2024-01-08 08:00,500,1,2\n2024-01-08 08:15,500,,\n",
    )
    with pytest.raises(
        oc.InputError, match=r"a\.csv on its grid, row 1, column occupancy_weight: must be from 0"
    ):
        read_labelled(path)
    path = write(tmp_path / "b.csv", "time,co2,occupancy\n2024-01-08 08:00,500,\n2024-01-08 08:15,500,\n")
    with pytest.raises(oc.InputError, match=r"b\.csv, column occupancy: has nothing but empty cells"):
        read_labelled(path)
    path = write(
        tmp_path / "c.csv", "time,co2,damper,occupancy\n2024-01-08 08:00,500,,1\n2024-01-08 08:15,,0.5,1\n"
    )
    with pytest.raises(oc.InputError, match=r"c\.csv: "):
        read_labelled(path)
