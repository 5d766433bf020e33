"""UCI 357, compared with its files read by the csv module, and with small artificial files."""

import pandas as pd
import pytest

from occupair.datasets import read_uci357
from occupair.errors import InputError
from occupair.readings.schema import date_slices, interval_of

FILES = ("datatest.txt", "datatraining.txt", "datatest2.txt")


def test_17_days_of_presence(published, raw_rows):
    readings = read_uci357(published("uci357"))
    rows = [row for file in FILES for row in raw_rows("uci357", file)]
    assert len(rows) == 2665 + 8143 + 9752
    evening = [row for row in raw_rows("uci357", FILES[1]) if row[1].startswith("2015-02-04")]
    used = [row for row in rows if row not in evening]
    assert readings["co2"].tolist() == [float(row[5]) for row in used]
    assert readings["occupancy"].tolist() == [float(row[7]) for row in used]
    late = readings.index - pd.to_datetime([row[1] for row in used])
    assert late.max() <= pd.Timedelta(seconds=1)
    assert late.min() >= pd.Timedelta(0)


def test_readings_are_regular(published):
    readings = read_uci357(published("uci357"))
    assert list(readings.columns) == ["co2", "occupancy"]
    assert set(readings["occupancy"]) == {0.0, 1.0}
    assert interval_of(readings) == 1.0
    assert len(date_slices(readings)) == 17
    assert read_uci357(published("uci357"), aligned=False).equals(readings)


def write(folder, occupancy=1):
    for day, file in enumerate(FILES, start=2):
        (folder / file).write_text(
            '"date","Temperature","CO2","Occupancy"\n'
            f'"1","2015-02-0{day} 14:19:00",23.7,749.2,0\n'
            f'"2","2015-02-0{day} 14:19:59",23.7,760.4,{occupancy}\n'
        )


def test_artificial_room(tmp_path):
    write(tmp_path)
    readings = read_uci357(tmp_path)
    assert readings["co2"].tolist() == [749.2, 760.4] * 3
    assert [f"{time:%d %T}" for time in readings.index[1::2]] == ["02 14:20:00", "03 14:20:00", "04 14:20:00"]


def test_occupancy_other_than_0_or_1_is_refused(tmp_path):
    write(tmp_path, occupancy=2)
    with pytest.raises(InputError, match=r"datatest.txt, row 3, column Occupancy: must be 0 or 1, got 2"):
        read_uci357(tmp_path)
