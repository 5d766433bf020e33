"""UCI 864, compared with its files read by the csv module, and with small artificial files."""

import bisect

import pandas as pd
import pytest

from occupair.datasets import read_uci864
from occupair.errors import InputError
from occupair.readings.schema import date_slices, interval_of


def test_7_days_on_a_30_second_grid(published):
    readings = read_uci864(published("uci864"))
    assert list(readings.columns) == ["co2", "occupancy"]
    assert interval_of(readings) == 0.5
    days = {
        f"{readings.index[day.start]:%F}": (f"{readings.index[day.start]:%T}", day.stop - day.start)
        for day in date_slices(readings)
    }
    assert len(days) == 7
    assert days["2017-12-22"][0] == "13:08:30"
    assert days["2017-12-23"] == ("00:00:00", 2880)
    busy = readings["occupancy"].groupby(readings.index.normalize()).max()
    assert busy.tolist() == [3, 3, 0, 0, 0, 3, 0]


def test_values_are_the_last_published_ones(published, raw_rows):
    readings = read_uci864(published("uci864"))
    rows = raw_rows("uci864", "Occupancy_Estimation.csv")
    times = [pd.Timestamp(f"{row[0]} {row[1]}") for row in rows]
    last = [bisect.bisect_right(times, time) - 1 for time in readings.index]
    assert readings["co2"].tolist() == [float(rows[k][14]) for k in last]
    assert readings["occupancy"].tolist() == [float(rows[k][18]) for k in last]
    oldest = max(time - times[k] for time, k in zip(readings.index, last, strict=True))
    assert oldest < pd.Timedelta(minutes=4)
    in_the_longer_part = [k for k, time in enumerate(times) if time >= pd.Timestamp("2017-12-22 13:08")]
    assert len(in_the_longer_part) - len(set(last) & set(in_the_longer_part)) <= 4  # at gaps


def test_alignment_has_no_effect(published):
    folder = published("uci864")
    assert read_uci864(folder, aligned=False).equals(read_uci864(folder))


def write(folder, clocks=("10:00:10", "10:00:41", "10:01:11", "10:05:11"), date="2017/12/22"):
    rows = [f"{date},{clock},24.9,{390 + 5 * k},{k % 4}\n" for k, clock in enumerate(clocks)]
    text = "Date,Time,S1_Temp,S5_CO2,Room_Occupancy_Count\n" + "".join(rows)
    (folder / "Occupancy_Estimation.csv").write_text(text)


def test_artificial_room(tmp_path):
    write(tmp_path)
    readings = read_uci864(tmp_path)
    assert f"{readings.index[0]:%T} {readings.index[-1]:%T}" == "10:00:30 10:05:00"
    assert readings["co2"].tolist() == [390, 395, *[400] * 8]
    assert readings["occupancy"].tolist() == [0, 1, *[2] * 8]


def test_gap_of_more_than_4_minutes_splits_a_day(tmp_path):
    write(
        tmp_path, clocks=("10:00:10", "10:00:41", "10:01:11", "10:05:12", "10:05:42", "10:06:12", "10:06:42")
    )
    readings = read_uci864(tmp_path)
    assert [f"{time:%T}" for time in readings.index] == ["10:05:30", "10:06:00", "10:06:30"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clocks": ("10:00:10", "10:00:05", "10:01:10")}, r"column Date Time: times must be increasing"),
        ({"date": "22.12.2017"}, r"row 2, column Date Time: must be a time such as 2017/12/22 10:49:41"),
    ],
)
def test_invalid_file_is_refused(tmp_path, options, message):
    write(tmp_path, **options)
    with pytest.raises(InputError, match=message):
        read_uci864(tmp_path)
