"""SDU 2018, compared with its files read by the csv module, and with small artificial files."""

import numpy as np
import pytest

from occupair.datasets import read_sdu2018
from occupair.errors import InputError
from occupair.readings.schema import check_readings, date_slices


@pytest.mark.parametrize(("room", "most"), [(1, 67), (2, 28), (3, 35), (4, 39)])
def test_15_days_as_published(published, raw_rows, room, most):
    readings = read_sdu2018(published("sdu2018"), room=room)
    assert len(readings) == 15 * 1440
    assert [day.stop - day.start for day in date_slices(readings)] == [1440] * 15
    assert readings["occupancy"].max() == most
    for column, kind, scale in [("co2", "co2", 1), ("ventilation", "vav", 100), ("occupancy", "occ", 1)]:
        rows = raw_rows("sdu2018", f"{kind}_data_room_{room}.csv")
        np.testing.assert_allclose(readings[column] * scale, [float(row[4]) for row in rows], rtol=1e-12)
    assert check_readings(readings).equals(readings)


def test_days_have_their_order_weekday_and_time(published, raw_rows):
    readings = read_sdu2018(published("sdu2018"))
    rows = raw_rows("sdu2018", "co2_data_room_1.csv")
    assert [f"{time:%H:%M:%S}" for time in readings.index] == [row[1] for row in rows]
    assert list(readings.index.day_of_week) == [int(row[2]) for row in rows]
    assert [int(row[0]) for row in rows] == sorted(int(row[0]) for row in rows)


def test_alignment_has_no_effect(published):
    folder = published("sdu2018")
    assert read_sdu2018(folder, room=3, aligned=False).equals(read_sdu2018(folder, room=3))


HEADER = "DayId,Time,Weekday,Holiday,Room 1\n"


def write(folder, **changed):
    """Two days of three minutes, a Thursday and a Tuesday."""
    for kind, values in {"co2": "456789", "occ": "001234", "vav": "555000"}.items():
        rows = [
            f"{day},00:0{minute}:00,{(3, 1)[day]},0,{values[3 * day + minute]}0.0\n"
            for day in (0, 1)
            for minute in (0, 1, 2)
        ]
        text = HEADER + "".join(rows)
        (folder / f"{kind}_data_room_1.csv").write_text(text.replace(*changed.get(kind, ("", ""))))


def test_artificial_room(tmp_path):
    write(tmp_path)
    readings = read_sdu2018(tmp_path)
    assert readings["co2"].tolist() == [40, 50, 60, 70, 80, 90]
    assert readings["ventilation"].tolist() == [0.5, 0.5, 0.5, 0, 0, 0]
    assert readings["occupancy"].tolist() == [0, 0, 10, 20, 30, 40]
    assert [f"{time:%F %a %R}" for time in readings.index[[0, 3]]] == [
        "2000-01-06 Thu 00:00",
        "2000-01-11 Tue 00:00",
    ]
    assert readings.index.name == "time"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"occ": ("00:02:00", "00:03:00")}, r"occ_data_room_1.csv: times differ from those of .*co2_data"),
        ({"vav": ("Room 1", "Room 2")}, r"vav_data_room_1.csv: has no column 'Room 1', only"),
        ({"vav": ("50.0", "150.0")}, r"row 2, column ventilation: must be from 0 to 1"),
        ({"co2": ("40.0", "")}, r"row 2, column co2: must be .*got nothing"),
        (dict.fromkeys(("co2", "occ", "vav"), (",3,0", ",9,0")), r"Weekday: must be from 0 to 6, got 9"),
    ],
)
def test_invalid_file_is_refused(tmp_path, changed, message):
    write(tmp_path, **changed)
    with pytest.raises(InputError, match=message):
        read_sdu2018(tmp_path)


def test_unknown_room_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"room must be one of 1, 2, 3, 4, got 5"):
        read_sdu2018(tmp_path, room=5)
