"""Live grid readings, compared with the grid of a file."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.live.rooms.reading_grid import GridReading, ReadingGrid
from occupair.readings.grid import MINUTE, put_on_grid
from occupair.readings.source import Source

DAY = pd.Timestamp("2024-01-08", tz="UTC")
START = DAY.value // 1000


def from_file(seconds, co2, interval):
    """Return the grid readings of a file."""
    times = DAY + pd.to_timedelta(seconds, unit="s")
    readings = pd.DataFrame({"co2": co2}, index=times)
    return put_on_grid(readings, interval=interval, source=Source("room.csv"))["co2"]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(1, 86_000), min_size=3, max_size=60, unique=True),
    st.sampled_from([1.0, 5.0, 15.0]),
    st.randoms(),
)
def test_grid_readings_match_those_of_a_file_in_any_order(seconds, interval, random):
    seconds = sorted(seconds)
    if not any((second - seconds[0]) % (interval * 60) for second in seconds):
        seconds[-1] += 1  # a file with regular readings keeps their grid instead of that of the clock
    co2 = [400.0 + k for k in range(len(seconds))]
    grid, shuffled = ReadingGrid(interval), list(zip(seconds, co2, strict=True))
    random.shuffle(shuffled)
    for second, value in shuffled:
        grid.co2.insert(START + second * 1_000_000, value)
    found = list(grid.readings(0))
    expected = from_file(seconds, co2, interval)
    if found[-1].time > START + seconds[-1] * 1_000_000:
        assert found.pop().co2 == co2[-1]
    assert [reading.time for reading in found] == [time.value // 1000 for time in expected.index]
    np.testing.assert_array_equal([reading.co2 for reading in found], expected.to_numpy())


@given(st.lists(st.integers(0, 3000), min_size=2, max_size=30, unique=True), st.integers(0, 60))
def test_grid_readings_from_a_time_are_a_suffix_of_all(seconds, minute):
    grid = ReadingGrid(1.0)
    for second in seconds:
        grid.co2.insert(second * 1_000_000, second)
    since = minute * MINUTE
    assert list(grid.readings(since)) == [reading for reading in grid.readings(0) if reading.time >= since]


def test_ventilation_is_held_for_one_day():
    grid = ReadingGrid(60.0)
    grid.ventilation.insert(30 * MINUTE, 0.5)
    for hour in (0, 1, 24, 25):
        grid.co2.insert(hour * 60 * MINUTE, 500.0)
    assert [reading.ventilation for reading in grid.readings(0)] == [None, 0.5, 0.5, None]


def test_next_grid_time_takes_the_newest_reading():
    grid = ReadingGrid(1.0)
    grid.co2.insert(23_000_000, 500.0)
    assert list(grid.readings(0)) == [GridReading(MINUTE, 500.0, None)]
    grid.co2.insert(59_000_000, 510.0)
    assert list(grid.readings(0)) == [GridReading(MINUTE, 510.0, None)]


def test_time_series_drops_old_values():
    series = ReadingGrid(1.0).co2
    for time in (4, 1, 3, 2):
        series.insert(time, time * 10.0)
    series.drop_before(3)
    assert (list(series.times), list(series.values)) == ([3, 4], [30.0, 40.0])
    assert series.has(4)
    assert not series.has(5)
    assert (series.last_index(3), series.last_index(0)) == (0, -1)
