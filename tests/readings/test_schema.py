"""Validation of readings, and their intervals, days and episodes."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.readings.schema import check_readings, date_slices, episode_slices, interval_of


def readings(n=6, start="2024-01-08 08:00", freq="1min", **columns):
    frame = pd.DataFrame({"co2": 420.0 + np.arange(n)}, index=pd.date_range(start, periods=n, freq=freq))
    return frame.assign(**columns)


def test_valid_readings_are_returned_as_floats():
    checked = check_readings(readings(occupancy=2, ventilation=1, temperature=21.5, pressure=1013.0))
    assert list(checked.columns) == ["co2", "ventilation", "occupancy", "temperature"]
    assert set(checked.dtypes) == {np.dtype(float)}
    assert checked.index.name == "time"


def test_input_is_unchanged():
    frame = readings(occupancy=2)
    before = frame.copy()
    check_readings(frame)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("freq", ["30s", "1min", "5min", "1h"])
def test_interval(freq):
    assert interval_of(readings(freq=freq)) == pd.Timedelta(freq) / pd.Timedelta("1min")


def test_missing_days_do_not_affect_the_interval():
    two_days = pd.concat([readings(), readings(start="2024-01-11 09:30")])
    assert interval_of(check_readings(two_days)) == 1.0
    assert episode_slices(two_days) == [slice(0, 6), slice(6, 12)]


def test_days_are_local_and_23_to_25_hours_long():
    times = pd.date_range("2024-03-30", "2024-04-02", freq="1h", tz="Europe/Copenhagen", inclusive="left")
    days = episode_slices(check_readings(pd.DataFrame({"co2": 420.0}, index=times)))
    assert [day.stop - day.start for day in days] == [24, 23, 24]
    times = pd.date_range("2024-10-27", "2024-10-28", freq="1h", tz="Europe/Copenhagen", inclusive="left")
    assert episode_slices(check_readings(pd.DataFrame({"co2": 420.0}, index=times))) == [slice(0, 25)]


def test_empty_readings_have_no_days():
    assert episode_slices(readings().iloc[:0]) == date_slices(readings().iloc[:0]) == []
    assert episode_slices(readings().iloc[:1]) == [slice(0, 1)]


def test_gap_starts_an_episode():
    gap = readings(8).iloc[[0, 1, 2, 5, 6, 7]]
    assert interval_of(check_readings(gap)) == 1.0
    assert episode_slices(gap) == [slice(0, 3), slice(3, 6)]
    assert date_slices(gap) == [slice(0, 6)]


def test_midnight_and_gaps_end_an_episode():
    frame = readings(8, start="2024-01-08 23:56").drop(index=pd.Timestamp("2024-01-09 00:01"))
    assert episode_slices(frame) == [slice(0, 4), slice(4, 5), slice(5, 7)]
    assert date_slices(frame) == [slice(0, 4), slice(4, 7)]


def test_skipped_hour_with_time_zone_is_not_a_gap():
    times = pd.date_range("2024-03-31", periods=8, freq="30min", tz="Europe/Copenhagen")
    frame = pd.DataFrame({"co2": 420.0}, index=times)
    assert episode_slices(frame) == [slice(0, 8)]
    assert episode_slices(frame.tz_localize(None)) == [slice(0, 4), slice(4, 8)]


def test_attrs_are_preserved():
    frame = readings(occupancy=2)
    frame.attrs["ventilation_full"] = 50.0
    assert check_readings(frame).attrs == {"ventilation_full": 50.0}


def changed(column, row, value):
    frame = readings(occupancy=2.0, ventilation=1.0)
    frame.iloc[row, frame.columns.get_loc(column)] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            changed("co2", 2, -1),
            "readings, row 3, column co2: must be from 0 to 1000000 ppm, got -1",
        ),
        (
            changed("co2", 0, np.nan),
            "row 1, column co2: must be from 0 to 1000000 ppm, got nothing",
        ),
        (changed("co2", 5, np.inf), "row 6, column co2: must be from 0 to 1000000 ppm, got inf"),
        (
            changed("ventilation", 1, 80),
            r"row 2, column ventilation: must be from 0 to 1 \(80 % is 0\.8\), got 80",
        ),
        (changed("ventilation", 1, np.nan), "row 2, column ventilation: must be from 0 to 1"),
        (
            changed("occupancy", 3, 2.5),
            r"row 4, column occupancy: must be a non-negative integer.*got 2\.5",
        ),
        (changed("occupancy", 3, -1), "row 4, column occupancy: must be a non-negative integer"),
        (changed("occupancy", 3, np.inf), "row 4, column occupancy: must be a non-negative integer"),
        (
            changed("occupancy", 3, np.nan),
            "row 4, column occupancy: must be a non-negative integer.*got nothing",
        ),
        (changed("co2", 2, 1e9), r"row 3, column co2: must be from 0 to 1000000 ppm, got 1e\+09"),
        (
            readings(co2=pd.Timestamp("2024-01-01")),
            "row 1, column co2: must be a number, got Timestamp",
        ),
        (readings(co2="x" * 999), r"row 1, column co2: must be a number, got 'x{56}\.\.\.$"),
        (readings(co2="x"), "row 1, column co2: must be a number, got 'x'"),
        (
            readings().iloc[[0, 2, 1]],
            "row 3, column time: times must increase, got 2024-01-08 08:01:00 aft",
        ),
        (
            readings().iloc[[0, 1, 1]],
            "row 3, column time: times must increase, got 2024-01-08 08:01:00 twice",
        ),
        (
            pd.concat([readings(), readings(2, start="2024-01-08 08:07:30")]),
            r"row 7, column time: times must be a multiple of the interval of 1 min apart, got 2\.5 min from "
            "2024-01-08 08:05:00 to 2024-01-08 08:07:30",
        ),
        (readings().iloc[:1], "needs at least two readings in one day, got 1"),
        (readings().iloc[:0], "needs at least two readings in one day, got 0"),
        (readings().rename(columns={"co2": "CO2"}), "readings: has no column 'co2', only 'CO2'"),
        (readings().reset_index(drop=True), "readings: must be a DataFrame with a DatetimeIndex"),
        ([420, 421], "readings: must be a DataFrame with a DatetimeIndex"),
    ],
)
def test_invalid_readings_are_rejected(frame, message):
    with pytest.raises(oc.InputError, match=message):
        check_readings(frame)


def test_missing_time_is_rejected():
    frame = readings()
    frame.index = frame.index.where(np.arange(6) != 3)
    with pytest.raises(oc.InputError, match="row 4, column time: must be a time, got nothing"):
        check_readings(frame)


def test_required_occupancy():
    with pytest.raises(
        oc.InputError, match="office: has no column 'occupancy', only 'co2'; head counts are needed"
    ):
        check_readings(readings(), needed=["co2", "occupancy"], source="office")
