"""Passages on the one-minute grid of days, with sums by hand."""

import numpy as np
import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.groundtruth.ledger.passage_grid import (
    MINUTE,
    daily_cumsum,
    daily_imbalance,
    grid_passages,
    parse_time_of_day,
)


def table(*rows, zone=None):
    """Passages from rows of time, door, entered, left and optionally weight."""
    frame = pd.DataFrame([row[1:4] for row in rows], columns=["door", "entered", "left"])
    frame["weight"] = [row[4] if len(row) > 4 else 1.0 for row in rows]
    return frame.set_index(pd.DatetimeIndex([row[0] for row in rows]).tz_localize(zone))


def day_starts(grid):
    return [str(grid.times[day.start]) for day in grid.days]


def test_passages_are_summed_by_door_and_minute():
    grid = grid_passages(
        table(
            ("2024-01-08 08:00:10", "south", 2, 0),
            ("2024-01-08 08:00:59", "south", 1, 1),
            ("2024-01-08 08:01:00", "north", 0, 3),
        )
    )
    assert grid.doors == ("north", "south")
    assert grid.entered.shape == (2, 1440)
    assert grid.days == (slice(0, 1440),)
    assert grid.times.name == "time"
    assert grid.times[1] - grid.times[0] == MINUTE == pd.Timedelta(seconds=60)
    assert grid.entered.dtype == grid.left.dtype == np.int64
    assert (grid.entered[1, 480], grid.left[1, 480], grid.left[0, 481]) == (3, 1, 3)
    assert (grid.entered.sum(), grid.left.sum()) == (3, 4)
    assert grid.net[[479, 480, 481, 482]].tolist() == [0, 2, -3, 0]
    assert grid.occupancy()[[479, 480, 481, 1439]].tolist() == [0, 2, -1, -1]
    assert not grid.entered_again.any()
    assert not grid.left_again.any()


def test_repeated_passages_are_summed():
    passages = table(("2024-01-08 08:00", "a", 4, 3), ("2024-01-08 08:00", "a", 1, 1))
    grid = grid_passages(passages.assign(entered_again=[1, 1], left_again=[2, 0]))
    assert (grid.entered_again[0, 480], grid.left_again[0, 480]) == (2, 2)


def test_weight_of_a_minute_is_its_smallest():
    grid = grid_passages(
        table(
            ("2024-01-08 08:00:10", "a", 1, 0, 0.5),
            ("2024-01-08 08:00:20", "a", 1, 0, 0.25),
            ("2024-01-08 08:00:20", "b", 1, 0, 1.0),
            ("2024-01-08 08:05:00", "b", 1, 0, 0.0),
        )
    )
    assert grid.weight[:, 480].tolist() == [0.25, 1.0]
    assert grid.weight[:, 485].tolist() == [1.0, 0.0]
    assert grid.weight.sum() == 2 * 1440 - 0.75 - 1
    assert np.flatnonzero(~grid.is_counted).tolist() == [485]


def test_passages_without_weight_are_certain():
    grid = grid_passages(table(("2024-01-08 08:00", "a", 1, 0)).drop(columns="weight"))
    assert (grid.weight == 1).all()


def test_days_without_passages_are_missing():
    grid = grid_passages(
        table(
            ("2024-01-08 08:00", "a", 1, 0),
            ("2024-01-09 09:00", "a", 1, 0),
            ("2024-01-12 10:00", "a", 1, 0),
        )
    )
    assert day_starts(grid) == ["2024-01-08 00:00:00", "2024-01-09 00:00:00", "2024-01-12 00:00:00"]
    assert grid.days == (slice(0, 1440), slice(1440, 2880), slice(2880, 4320))
    assert np.flatnonzero(grid.net).tolist() == [480, 1440 + 540, 2880 + 600]
    assert grid.runs_of_days() == [slice(0, 2880), slice(2880, 4320)]
    assert grid.dates[[0, 1439, 1440, 4319]].strftime("%d").tolist() == ["08", "08", "09", "12"]


def test_counted_days_have_a_minute_in_which_all_doors_are_counted():
    passages = table(
        ("2024-01-08 08:00", "a", 1, 0),
        *((f"2024-01-09 {h:02d}:{m:02d}", "a", 0, 0, 0.0) for h in range(24) for m in range(60)),
        ("2024-01-10 08:00", "a", 1, 0, 0.0),
    )
    assert grid_passages(passages).counted_days() == [0, 2]


@pytest.mark.parametrize(
    ("time", "start"),
    [
        ("2024-01-08 04:59:59", "2024-01-07 05:00:00"),
        ("2024-01-08 05:00:00", "2024-01-08 05:00:00"),
        ("2024-01-08 23:59:59", "2024-01-08 05:00:00"),
    ],
)
def test_day_begins_at_the_reset(time, start):
    grid = grid_passages(table((time, "a", 1, 0)), reset="05:00")
    assert day_starts(grid) == [start]
    assert len(grid.times) == 1440
    minutes = (pd.Timestamp(time) - pd.Timestamp(start)) // pd.Timedelta("1min")
    assert np.flatnonzero(grid.net).tolist() == [minutes]


@pytest.mark.parametrize(("date", "hours"), [("2024-03-31", 23), ("2024-10-27", 25), ("2024-06-01", 24)])
def test_days_of_clock_changes(date, hours):
    grid = grid_passages(table((f"{date} 12:00", "a", 1, 0), zone="Europe/Paris"))
    assert len(grid.times) == 60 * hours
    assert grid.times.tz is not None
    assert str(grid.times[np.flatnonzero(grid.net)[0]]).startswith(f"{date} 12:00")
    assert (np.diff(grid.times.asi8) == 60_000_000).all()


@pytest.mark.parametrize(
    ("date", "first"),
    [
        ("2024-10-27", "2024-10-27 02:30:00+02:00"),  # 02:30 happens twice: the first
        ("2024-03-31", "2024-03-31 03:00:00+02:00"),  # 02:30 does not happen: the next time that does
    ],
)
def test_reset_in_the_hour_of_a_clock_change(date, first):
    grid = grid_passages(table((f"{date} 12:00", "a", 1, 0), zone="Europe/Paris"), reset="02:30")
    assert str(grid.times[0]) == first
    assert str(grid.times[-1] + pd.Timedelta("1min"))[11:16] == "02:30"


def test_cumulative_sum_restarts_every_day():
    net = np.array([1, 2, -3, 4, 1, -5, 7])
    assert daily_cumsum(net, (slice(0, 3), slice(3, 5), slice(5, 7))).tolist() == [1, 3, 0, 4, 5, -5, 2]


def test_imbalance_is_the_smallest_number_of_people():
    # Day 1: 2 leave first, then 5 enter: 2 are missing and 5 remain. Day 2 balances. Day 3 falls to -3 and
    # ends there. Day 4 has one too many.
    net = np.array([-2, 5, 1, -1, -1, -2, 3, -2])
    missing, excess = daily_imbalance(net, (slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 8)))
    assert missing.tolist() == [2, 0, 3, 0]
    assert excess.tolist() == [5, 0, 0, 1]
    missing, excess = daily_imbalance(np.array([2, 1, -1]), (slice(0, 1), slice(1, 3)))
    assert (missing.tolist(), excess.tolist()) == ([0, 0], [2, 0])


@pytest.mark.parametrize(
    ("text", "minutes"), [("0:00", 0), ("07:05", 425), ("19:59", 1199), (" 23:30 ", 1410)]
)
def test_time_of_day(text, minutes):
    assert parse_time_of_day(text, "reset") == pd.Timedelta(minutes=minutes)


@pytest.mark.parametrize("text", ["24:00", "12:60", "12", "12:5", "noon", "112:00", None])
def test_invalid_time_of_day_is_rejected(text):
    message = f"^reset must be a time of day such as 00:00 or 23:30, got {text!r}$"
    with pytest.raises(InputError, match=message):
        parse_time_of_day(text, "reset")
    with pytest.raises(InputError, match=message):
        grid_passages(table(("2024-01-08 08:00", "a", 1, 0)), reset=text)


def test_empty_table_is_rejected():
    with pytest.raises(InputError, match=r"^passages: the table is empty$"):
        grid_passages(table(("2024-01-08 08:00", "a", 1, 0)).iloc[:0])
