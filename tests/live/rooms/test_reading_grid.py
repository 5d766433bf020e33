"""Readings on the grid as they come, against the grid that files are put on."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.live.rooms.reading_grid import Row, Slots
from occupair.readings.grid import MINUTE, put_on_grid
from occupair.readings.source import Source

DAY = pd.Timestamp("2024-01-08", tz="UTC")
START = DAY.value // 1000


def from_file(seconds, co2, interval):
    """Rows as a file has them; one reading off any grid makes sure that the grid is the clock's."""
    times = DAY + pd.to_timedelta(seconds, unit="s")
    readings = pd.DataFrame({"co2": co2}, index=times)
    return put_on_grid(readings, interval=interval, source=Source("room.csv"))["co2"]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(1, 86_000), min_size=3, max_size=60, unique=True),
    st.sampled_from([1.0, 5.0, 15.0]),
    st.randoms(),
)
def test_rows_are_those_of_a_file_whatever_the_order(seconds, interval, random):
    seconds = sorted(seconds)
    if not any((second - seconds[0]) % (interval * 60) for second in seconds):
        seconds[-1] += 1  # readings that are regular keep their own grid in a file
    co2 = [400.0 + k for k in range(len(seconds))]
    slots, shuffled = Slots(interval), list(zip(seconds, co2, strict=True))
    random.shuffle(shuffled)
    for second, value in shuffled:
        slots.co2.put(START + second * 1_000_000, value)
    rows = list(slots.rows(0))
    expected = from_file(seconds, co2, interval)
    if rows[-1].tick > START + seconds[-1] * 1_000_000:
        assert rows.pop().co2 == co2[-1]
    assert [row.tick for row in rows] == [time.value // 1000 for time in expected.index]
    np.testing.assert_array_equal([row.co2 for row in rows], expected.to_numpy())


@given(st.lists(st.integers(0, 3000), min_size=2, max_size=30, unique=True), st.integers(0, 60))
def test_rows_from_a_time_on_are_the_last_of_all_rows(seconds, minute):
    slots = Slots(1.0)
    for second in seconds:
        slots.co2.put(second * 1_000_000, second)
    since = minute * MINUTE
    assert list(slots.rows(since)) == [row for row in slots.rows(0) if row.tick >= since]


def test_ventilation_is_held_for_a_day_since_it_is_told_when_it_changes():
    slots = Slots(60.0)
    slots.ventilation.put(30 * MINUTE, 0.5)
    for hour in (0, 1, 24, 25):
        slots.co2.put(hour * 60 * MINUTE, 500.0)
    assert [row.ventilation for row in slots.rows(0)] == [None, 0.5, 0.5, None]


def test_the_next_grid_time_takes_the_newest_reading_until_another_comes():
    slots = Slots(1.0)
    slots.co2.put(23_000_000, 500.0)
    assert list(slots.rows(0)) == [Row(MINUTE, 500.0, None)]
    slots.co2.put(59_000_000, 510.0)
    assert list(slots.rows(0)) == [Row(MINUTE, 510.0, None)]


def test_old_values_are_forgotten():
    column = Slots(1.0).co2
    for time in (4, 1, 3, 2):
        column.put(time, time * 10.0)
    column.forget_before(3)
    assert (list(column.times), list(column.values)) == ([3, 4], [30.0, 40.0])
    assert column.has(4)
    assert not column.has(5)
    assert (column.before(3), column.before(0)) == (0, -1)
