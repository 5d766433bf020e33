"""Irregular readings on a regular grid, with hand-computed values, and causality."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.errors import InputError
from occupair.readings import grid
from occupair.readings.grid import check_grid_options, put_on_grid, usual_interval
from occupair.readings.schema import check_readings, episode_slices
from occupair.readings.source import Source

ROOM = Source("room.csv")
START = pd.Timestamp("2024-01-08 08:00")


def readings(seconds, *, start=START, **columns):
    """CO2 of 400, 401, ... at the given seconds after the start, and other columns."""
    times = (start + pd.to_timedelta(seconds, unit="s")).as_unit("us")
    frame = pd.DataFrame(columns, index=times, dtype=float)
    frame.insert(0, "co2", 400.0 + np.arange(len(seconds)))
    return frame


def on_grid(frame, **options):
    return put_on_grid(frame, source=ROOM, **options)


def shown(frame, column="co2"):
    return {f"{time:%T}": value for time, value in frame[column].items()}


@pytest.mark.parametrize("seconds", [1, 20, 60, 180, 420, 7200])
def test_regular_readings_are_unchanged(seconds):
    frame = readings(np.arange(6) * seconds, start=START + pd.Timedelta("12.25s"))
    same = on_grid(frame)
    pd.testing.assert_frame_equal(same, frame, check_freq=False)
    assert same.attrs == {"interval": seconds / 60, "bridged": 0}


@pytest.mark.parametrize("zone", [None, "Europe/Copenhagen"])
def test_readings_on_their_grid_need_no_grid(monkeypatch, zone):
    minutes = np.r_[0:90, 150:1500, 1503:1700] * 60  # gaps
    frame = readings(minutes, start=pd.Timestamp("2024-03-30 00:00"), occupancy=1.0)
    later = frame.set_axis(frame.index + pd.Timedelta("72h 20s"))
    frame = pd.concat([frame, later]).tz_localize(zone, nonexistent="NaT")
    frame = frame[frame.index.notna()]
    frame.iloc[5:9, 1] = np.nan
    assert grid._is_on_grid(pd.DatetimeIndex(frame.index), grid.MINUTE, 1.0)
    quick = on_grid(frame, longest_gap=1.0)
    monkeypatch.setattr(grid, "_is_on_grid", lambda *_: False)
    pd.testing.assert_frame_equal(on_grid(frame, longest_gap=1.0), quick, check_freq=False)


@pytest.mark.parametrize(("interval", "gaps"), [(1, (10, 11)), (5, (15, 20)), (15, (45, 60)), (30, (60, 90))])
def test_two_lost_readings_in_a_row_are_bridged(interval, gaps):
    """But not for more than an hour, and gaps up to ten minutes at any interval; head counts are not held."""
    for gap, is_bridged in zip(gaps, (True, False), strict=True):
        minutes = np.r_[0 : 5 * interval : interval, 4 * interval + gap : 9 * interval + gap : interval]
        frame = readings(minutes * 60, occupancy=3.0)
        held = on_grid(frame, complete=False)
        lost = 0 if not is_bridged else gap // interval - 1
        assert len(held) == len(frame) + lost
        assert held["co2"].iloc[5 : 5 + lost].eq(frame["co2"].iloc[4]).all()
        if gap > max(10, 1.5 * interval):
            assert held["occupancy"].isna().sum() == lost


def test_each_day_may_have_its_own_phase():
    frame = pd.concat(
        [readings(np.arange(5) * 420), readings(np.arange(5) * 420, start=START + pd.Timedelta("25h"))]
    )
    pd.testing.assert_frame_equal(on_grid(frame), frame)


@pytest.mark.parametrize(
    ("seconds", "minutes"),
    [
        ([0, 59, 121, 180], 1),
        ([0, 31, 62, 92], 0.5),
        ([0, 9, 21, 30], 1 / 6),
        ([0, 60, 120, 180, 480, 780], 1),  # mixed: one minute, then five
        ([0, 300, 600, 637, 900, 1200], 5),  # five minutes, and one change of value
        ([0, 898, 1801, 2703], 15),
        ([0, 1, 301, 650, 902], 5),
    ],
)
def test_usual_interval(seconds, minutes):
    assert usual_interval(pd.DatetimeIndex(readings(seconds).index), ROOM) == pytest.approx(minutes)


def test_grid_time_takes_last_reading_at_or_before_it():
    held = on_grid(readings([0, 59, 121, 180, 245]))
    assert shown(held) == {
        "08:00:00": 400,
        "08:01:00": 401,
        "08:02:00": 401,
        "08:03:00": 403,
        "08:04:00": 403,
    }


def test_short_gaps_are_bridged_and_long_gaps_remain():
    frame = readings([0, 60, 120, 420, 480, 1140, 1200])
    held = on_grid(frame)
    assert shown(held) == {
        **{"08:00:00": 400, "08:01:00": 401, "08:02:00": 402, "08:03:00": 402, "08:04:00": 402},
        **{
            "08:05:00": 402,
            "08:06:00": 402,
            "08:07:00": 403,
            "08:08:00": 404,
            "08:19:00": 405,
            "08:20:00": 406,
        },
    }
    assert held.attrs["bridged"] == 4
    assert episode_slices(held) == [slice(0, 9), slice(9, 11)]
    assert len(on_grid(frame, longest_gap=0)) == 7
    assert len(on_grid(frame, longest_gap=11)) == 21
    check_readings(held)


def test_coarser_grid_takes_last_head_count():
    frame = readings(np.arange(11) * 60, occupancy=[0, 1, 1, 1, 1, 2, 3, 3, 3, 3, 4])
    coarse = on_grid(frame, interval=5)
    assert shown(coarse, "occupancy") == {"08:00:00": 0, "08:05:00": 2, "08:10:00": 4}
    assert shown(coarse) == {"08:00:00": 400, "08:05:00": 405, "08:10:00": 410}


def test_columns_are_held_independently():
    nan = np.nan
    frame = readings(np.arange(5) * 300, occupancy=[1, nan, 3, nan, nan], ventilation=[0, 0, nan, 1, 1])
    held = on_grid(frame)
    assert held["occupancy"].tolist() == [1, 1, 3]  # 3 is not held, as no value follows
    assert held["ventilation"].tolist() == [0, 0, 0]


def test_ventilation_logged_on_change_is_held_for_a_day():
    changes = {1: 0.2, 3: 0.8, 30: 0.4}  # [h]
    frame = readings(np.arange(32 * 12) * 300).assign(ventilation=np.nan)
    for hour, value in changes.items():
        frame.iloc[12 * hour, frame.columns.get_loc("ventilation")] = value
    held = on_grid(frame)["ventilation"]
    hours = (held.index - frame.index[0]) / pd.Timedelta(hours=1)
    expected = np.where(hours >= 30, 0.4, np.where(hours >= 3, 0.8, 0.2))
    assert held.tolist() == expected.tolist()
    unknown = (hours > 27) & (hours < 30)  # more than a day after the change at 3 h
    assert hours.min() == 1
    assert not unknown.any()
    assert len(held) == 32 * 12 - 12 - (3 * 12 - 1)


def test_missing_co2_is_a_gap():
    frame = readings(np.arange(8) * 300)
    frame.iloc[2:5, 0] = np.nan
    assert shown(on_grid(frame)) == {
        "08:00:00": 400,
        "08:05:00": 401,
        "08:25:00": 405,
        "08:30:00": 406,
        "08:35:00": 407,
    }


def test_grid_follows_local_clock():
    start = pd.Timestamp("2024-03-31 00:10", tz="Asia/Kolkata")
    assert on_grid(readings([0, 3605, 7190], start=start), interval=60, longest_gap=60).index[0].minute == 0
    night = pd.date_range("2024-10-27 01:00:20", periods=200, freq="1min", tz="Europe/Copenhagen")
    frame = pd.DataFrame({"co2": 400.0 + np.arange(200)}, index=night)
    frame.index = frame.index[:1].append(frame.index[1:] + pd.Timedelta("3s"))
    held = on_grid(frame)
    assert (np.diff(held.index.asi8) == 60_000_000).all()
    assert set(held.index.second) == {0}


@pytest.mark.parametrize("seconds", [10, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600])
def test_irregular_readings_get_a_common_interval(seconds):
    times = np.cumsum([0, seconds + 1, seconds - 2, seconds + 1, seconds - 1])
    found = usual_interval(pd.DatetimeIndex(readings(times).index), ROOM)
    assert found == pytest.approx(seconds / 60, rel=1e-12)


@pytest.mark.parametrize(
    ("steps", "minutes"),
    [
        ([60, 60, 120, 180], 1),  # half of the steps have the most common length
        ([60, 60, 120, 180, 240], 2),  # fewer than half: the median
    ],
)
def test_most_common_step_counts_from_half_of_the_steps(steps, minutes):
    found = usual_interval(pd.DatetimeIndex(readings(np.cumsum([0, *steps])).index), ROOM)
    assert found == minutes


def test_steps_of_all_days_count():
    frame = readings([0, 300, *(86400 + np.arange(5) * 60)])
    assert usual_interval(pd.DatetimeIndex(frame.index), ROOM) == 1


@pytest.mark.parametrize(("every", "interval"), [(2, 1), (3, 3)])
def test_rows_without_co2_count_for_the_interval_unless_they_are_the_majority(every, interval):
    frame = readings(np.arange(12) * 60, occupancy=2.0)
    frame.loc[np.arange(12) % every > 0, "co2"] = np.nan
    assert on_grid(frame).attrs["interval"] == interval


def test_longest_gap_applies_to_head_counts():
    frame = readings([0, 300, 600, 1800, 2100], occupancy=[1, 2, 3, 4, 5])
    held = on_grid(frame, longest_gap=20)
    assert held["occupancy"].tolist() == [1, 2, 3, 3, 3, 3, 4, 5]
    assert on_grid(frame, longest_gap=19)["occupancy"].tolist() == [1, 2, 3, 4, 5]


def test_no_grid_time_follows_the_last_reading():
    held = on_grid(readings([0, 59, 121, 179.999999]))
    assert shown(held) == {"08:00:00": 400, "08:01:00": 401, "08:02:00": 401}


MIDNIGHT = pd.Timestamp("2024-01-09 00:00")


def around_midnight(*seconds):
    """Regular minutes until two minutes before midnight, and readings at seconds after midnight."""
    return readings([-300, -240, -180, -120, *seconds], start=MIDNIGHT)


def test_gap_over_midnight_is_bridged_if_the_times_continue():
    expected = [f"23:{minute}:00" for minute in range(55, 60)] + ["00:00:00", "00:01:00", "00:02:00"]
    assert list(shown(on_grid(around_midnight(120), interval=1))) == expected
    other_phase_later = around_midnight(120, 2 * 86400 + 20, 2 * 86400 + 80)
    assert list(shown(on_grid(other_phase_later, interval=1))) == [*expected, "00:00:20", "00:01:20"]


@pytest.mark.parametrize("after", [[140], [140, 200, 260]])
def test_gap_over_midnight_ends_with_the_day_if_the_next_day_has_another_phase(after):
    expected = [f"23:{minute}:00" for minute in range(55, 60)] + ["00:02:20", "00:03:20", "00:04:20"]
    found = list(shown(on_grid(around_midnight(*after), interval=1)))
    assert found == expected[: 5 + len(after)]


def test_other_phase_after_a_long_gap_in_the_day_is_put_on_the_grid():
    frame = readings([0, 60, 120, 180, 900 + 20, 960 + 20, 1020 + 20])
    assert list(shown(on_grid(frame))) == [
        *["08:00:00", "08:01:00", "08:02:00", "08:03:00"],
        *["08:16:00", "08:17:00"],
    ]


@pytest.mark.parametrize("seconds", [[0, 60, 120], [0, 60, 125, 180]])
def test_columns_have_double_precision(seconds):
    frame = readings(seconds, occupancy=1.0, ventilation=0.5, temperature=21.0).astype(np.float32)
    assert set(on_grid(frame, interval=1).dtypes) == {np.dtype(float)}


def test_sensor_without_values_is_unknown():
    frame = readings(np.arange(3) * 60, temperature=np.nan)
    held = on_grid(frame)
    assert held["co2"].tolist() == [400, 401, 402]
    assert held["temperature"].isna().tolist() == [True, True, True]


@pytest.mark.parametrize("options", [(1 / 60, 0), (1440, 1440), (None, None), (np.float32(5), np.int64(10))])
def test_limits_of_grid_options_are_valid(options):
    check_grid_options(*options)


def test_long_gap_costs_no_memory():
    frame = pd.concat([readings([0, 60], start=pd.Timestamp("1990-01-01")), readings([0, 60])])
    assert len(on_grid(frame)) == 4


@given(steps=st.lists(st.integers(1, 900), min_size=1, max_size=40), cut=st.integers(2, 40), data=st.data())
@settings(deadline=None)
def test_grid_is_causal(steps, cut, data):
    seconds = np.cumsum([0, 7, *steps])  # irregular from the second reading on
    cut = min(cut, len(seconds) - 1)
    counts = data.draw(
        st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=len(seconds), max_size=len(seconds))
    )
    frame = readings(seconds, occupancy=counts)
    until = frame.index[cut - 1]
    whole = on_grid(frame, interval=1).loc[:until]

    known_so_far = on_grid(frame[["co2"]].iloc[:cut], interval=1)
    assert known_so_far.equals(on_grid(frame[["co2"]], interval=1).loc[:until])

    other = frame.copy()
    other.iloc[cut:] = other.iloc[cut:] * 7 + 99
    assert on_grid(other, interval=1).loc[:until].equals(whole)

    other.iloc[cut:, 1] = 9.0  # missing counts filled: more rows may be bridged, none changes
    assert on_grid(other, interval=1).loc[:until].reindex(whole.index).equals(whole)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((0, 10), "interval must be from 1/60 to 1440 min, got 0"),
        ((0.0166, 10), r"interval must be from 1/60 to 1440 min, got 0\.0166"),
        ((1440.5, 10), r"interval must be from 1/60 to 1440 min, got 1440\.5"),
        ((True, 10), "interval must be from 1/60 to 1440 min, got True"),
        ((np.nan, 10), "interval must be from 1/60 to 1440 min, got nan"),
        (("5", 10), "interval must be from 1/60 to 1440 min, got '5'"),
        ((None, -1), "longest_gap must be from 0 to 1440 min, got -1"),
        ((None, -0.5), r"longest_gap must be from 0 to 1440 min, got -0\.5"),
        ((None, 1440.5), r"longest_gap must be from 0 to 1440 min, got 1440\.5"),
        ((None, np.inf), "longest_gap must be from 0 to 1440 min, got inf"),
        ((None, "5"), "longest_gap must be from 0 to 1440 min, got '5'"),
    ],
)
def test_invalid_grid_option_is_rejected(options, message):
    with pytest.raises(InputError, match=message):
        check_grid_options(*options)


def test_one_reading_a_day_is_rejected():
    with pytest.raises(InputError, match=r"room\.csv: needs at least two readings in one day, got 2"):
        on_grid(readings([0, 86400]))
