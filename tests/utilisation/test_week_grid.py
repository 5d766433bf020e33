"""Means by hour of the week, worked by hand, also on days with a clock change."""

import math

import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.utilisation.week_grid import CELLS, week_grid


def counts(start, values, *, freq="30min", tz=None, width=1.0):
    times = pd.date_range(start, periods=len(values), freq=freq, tz=tz)
    people = pd.Series(values, index=times, dtype=float)
    return pd.DataFrame({"people": people, "low": (people - width).clip(lower=0), "high": people + width})


def test_two_mondays_are_averaged():
    first = counts("2024-01-08 09:00", [4, 6])  # mean 5
    second = counts("2024-01-15 09:00", [0, 2])  # mean 1
    cell = week_grid(pd.concat([first, second])).loc[(0, 9)]
    assert cell["people"] == pytest.approx(3)
    assert cell["low"] == pytest.approx((3 + 5 + 0 + 1) / 4)
    assert cell["high"] == pytest.approx(4)
    assert cell["in_use"] == pytest.approx(0.75)
    assert cell["hours"] == pytest.approx(2)


def test_unknown_counts_have_no_weight():
    cell = week_grid(counts("2024-01-08 09:00", [math.nan, 6])).loc[(0, 9)]
    assert cell["people"] == 6
    assert cell["hours"] == pytest.approx(0.5)


def test_hours_without_counts_are_unknown():
    grid = week_grid(counts("2024-01-08 09:00", [4, 6]))
    assert len(grid) == CELLS
    assert grid["people"].notna().sum() == 1
    assert grid["hours"].sum() == pytest.approx(1)


def test_no_counts_give_an_empty_week():
    grid = week_grid(counts("2024-01-08 09:00", [math.nan, math.nan]))
    assert grid["people"].isna().all()
    assert (grid["hours"] == 0).all()


def test_hour_that_occurs_twice_has_twice_the_weight():
    """On 27 October 2024 in Copenhagen, 02:00 to 03:00 occurs twice: four half hours in hour 2."""
    sunday = counts("2024-10-27 00:00", [0, 0, 0, 0, 2, 4, 6, 8, 1, 1], tz="Europe/Copenhagen")
    grid = week_grid(sunday)
    assert grid.loc[(6, 2), "people"] == pytest.approx((2 + 4 + 6 + 8) / 4)
    assert grid.loc[(6, 2), "hours"] == pytest.approx(2)
    assert grid.loc[(6, 3), "people"] == 1


def test_skipped_hour_is_unknown():
    """On 31 March 2024 in Copenhagen, the clock goes from 02:00 to 03:00."""
    grid = week_grid(counts("2024-03-31 01:00", [1, 1, 5, 7], tz="Europe/Copenhagen"))
    assert grid.loc[(6, 2), "hours"] == 0
    assert grid.loc[(6, 3), "people"] == 6


def test_hour_is_that_of_the_room():
    """09:00 UTC on a winter Monday is 10:00 in Copenhagen."""
    utc = counts("2024-01-08 09:00", [3, 3], tz="UTC")
    assert week_grid(utc.tz_convert("Europe/Copenhagen")).loc[(0, 10), "people"] == 3


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"people": [1.0]}), "counts must be a DataFrame with a DatetimeIndex"),
        (pd.DataFrame({"n": [1.0]}, index=pd.date_range("2024", periods=1)), "must have a column 'people'"),
        (counts("2024-01-08", [1, 2]).iloc[::-1], "must be at increasing times"),
    ],
)
def test_invalid_counts_are_rejected(table, message):
    with pytest.raises(InputError, match=message):
        week_grid(table)
