"""ROBOD, compared with its files read by the csv module, and with small artificial files."""

import numpy as np
import pandas as pd
import pytest

from occupair.datasets import read_robod
from occupair.errors import InputError
from occupair.readings.schema import check_readings, date_slices

CO2, COUNT = 7, -1
FAN = {1: 15, 3: 19}  # columns of the published files


@pytest.mark.parametrize(("room", "most"), [(1, 38), (3, 13)])
def test_29_days_as_published(published, raw_rows, room, most):
    readings = read_robod(published("robod"), room=room, aligned=False)
    rows = raw_rows("robod", f"combined_Room{room}.csv")
    assert len(readings) == len(rows) == 29 * 288
    assert [f"{time:%F %R} +08:00" for time in readings.index] == [row[0] for row in rows]
    assert readings["occupancy"].tolist() == [float(row[COUNT]) for row in rows]
    assert readings["occupancy"].max() == most
    for column, where, scale in [("co2", CO2, 1), ("ventilation", FAN[room], 50)]:
        values = np.array([float(row[where] or "nan") for row in rows])
        there = np.isfinite(values)
        assert 0 <= (~there).sum() <= 14
        np.testing.assert_allclose(
            (readings[column] * scale)[there], np.minimum(values, 999)[there], rtol=6e-4
        )
    assert check_readings(readings).equals(readings)


@pytest.mark.parametrize("room", [1, 3])
def test_only_co2_is_shifted_by_eight_hours(published, room):
    before = read_robod(published("robod"), room=room, aligned=False)
    after = read_robod(published("robod"), room=room)
    assert after[["ventilation", "occupancy"]].equals(before.loc[after.index, ["ventilation", "occupancy"]])
    eight_hours_before = before["co2"].reindex(after.index - pd.Timedelta(hours=8))
    assert np.mean(after["co2"].to_numpy() == eight_hours_before.to_numpy()) > 0.998  # except for filled gaps


@pytest.mark.parametrize("room", [1, 3])
def test_sensors_are_those_of_the_files(published, raw_rows, room):
    readings = read_robod(published("robod"), room=room, aligned=False, sensors=True)
    rows = raw_rows("robod", f"combined_Room{room}.csv")
    places = {"sound": 2, "humidity": 3, "temperature": 4, "light": 5, "wifi": 8, "power": 11}
    for name, place in places.items():
        values = np.array([float(row[place] or "nan") for row in rows]) * (12_000 if name == "power" else 1)
        there = np.isfinite(values) & (values >= 0)
        assert there.mean() > 0.99
        np.testing.assert_allclose(readings[name][there], values[there])


@pytest.mark.parametrize("room", [1, 3])
def test_indoor_sensors_are_shifted_like_co2(published, room):
    before = read_robod(published("robod"), room=room, aligned=False, sensors=True)
    after = read_robod(published("robod"), room=room, sensors=True)
    co2 = read_robod(published("robod"), room=room)
    assert after[co2.columns].equals(co2)
    unshifted, shifted = ["wifi", "power"], ["sound", "humidity", "temperature", "light"]
    assert after[unshifted].equals(before.loc[after.index, unshifted])
    earlier = before[shifted].reindex(after.index - pd.Timedelta(hours=8))
    assert np.mean(after[shifted].to_numpy() == earlier.to_numpy()) > 0.998  # except for filled gaps
    assert after["sound"].corr(after["occupancy"]) > before["sound"].corr(before["occupancy"]) + 0.3


@pytest.mark.parametrize("room", [1, 3])
def test_whole_days_or_longest_parts(published, room):
    whole = read_robod(published("robod"), room=room)
    assert [day.stop - day.start for day in date_slices(whole)] == [288] * 21
    parts = read_robod(published("robod"), room=room, whole_days=False)
    lengths = [day.stop - day.start for day in date_slices(parts)]
    assert sorted(lengths) == [192] * 8 + [288] * 21
    assert {f"{parts.index[day.start]:%R}" for day in date_slices(parts)} == {"00:00", "08:00"}


@pytest.mark.parametrize(("room", "at_least"), [(1, 0.65), (3, 0.65)])
def test_alignment_increases_r2(published, explained, room, at_least):
    folder = published("robod")
    aligned = read_robod(folder, room=room)
    as_published = read_robod(folder, room=room, aligned=False).loc[aligned.index]
    r2 = explained(aligned, span=3)
    assert r2 > at_least
    assert r2 > explained(as_published, span=3) + 0.1


def write(folder, *, empty=(), days=("2021-09-07", "2021-09-08"), change=("", "")):
    """Days of five-minute readings with CO2 increasing from 400 ppm and the fan at 25 Hz."""
    rows = []
    for k, time in enumerate(t for day in days for t in pd.date_range(day, periods=288, freq="5min")):
        co2 = "" if k in empty else 400 + k
        rows.append(f"{time:%Y-%m-%d %H:%M} +08:00,{co2},25.0,{k % 3}\n")
    text = "timestamp,indoor_co2,fcu_fan_speed,occupant_count\n" + "".join(rows)
    (folder / "combined_Room1.csv").write_text(text.replace(*change))


def test_artificial_room(tmp_path):
    write(tmp_path)
    readings = read_robod(tmp_path)
    assert readings["co2"].tolist() == [float(400 + k) for k in range(192, 480)]
    assert readings["occupancy"].tolist() == [float(k % 3) for k in range(288, 576)]
    assert set(readings["ventilation"]) == {0.5}
    assert (readings.index[0], readings.index.name) == (pd.Timestamp("2021-09-08"), "time")
    assert len(read_robod(tmp_path, aligned=False)) == 576


def test_short_gaps_are_filled_and_days_with_long_gaps_dropped(tmp_path):
    write(tmp_path, empty=range(10, 19))
    held = read_robod(tmp_path, aligned=False)["co2"]
    assert held.iloc[9:20].tolist() == [*[409.0] * 10, 419.0]
    write(tmp_path, empty=range(10, 20))
    assert len(read_robod(tmp_path, aligned=False)) == 288
    assert len(read_robod(tmp_path, aligned=False, whole_days=False)) == 288 + 268


def test_fan_slightly_above_rating_is_at_full_speed(tmp_path):
    write(tmp_path, change=("25.0", "50.03"))
    assert set(read_robod(tmp_path)["ventilation"]) == {1.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("2021-09-07 00:05 +08:00", "7/9/2021"), r"row 3, column timestamp: must be a time such as 2021-09"),
        (("00:05 +08:00", "00:00 +08:00"), r"column timestamp: contains 2021-09-07 00:00:00 twice"),
        ((",25.0,", ",-25.0,"), r"column ventilation: must be from 0 to 1"),
        (("fcu_fan_speed", "fan"), r"has no column 'fcu_fan_speed'"),
    ],
)
def test_invalid_file_is_refused(tmp_path, change, message):
    write(tmp_path, change=change)
    with pytest.raises(InputError, match=message):
        read_robod(tmp_path)


def test_file_without_complete_day_is_refused(tmp_path):
    write(tmp_path, days=("2021-09-07",))
    with pytest.raises(InputError, match=r"combined_Room1.csv: has no complete day, see whole_days"):
        read_robod(tmp_path)


def test_unknown_room_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"room must be one of 1, 3, got 2"):
        read_robod(tmp_path, room=2)
