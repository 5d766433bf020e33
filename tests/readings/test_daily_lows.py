"""Lowest CO2 of each day and of its night."""

import math

import numpy as np
import pytest

from occupair.readings.daily_lows import DailyLow, periods_of


def low_of(minutes, co2, day=738887):
    minutes, co2 = np.array(minutes, dtype=float), np.array(co2, dtype=float)
    low = DailyLow(day)
    for rows, total in periods_of(minutes, co2):
        low = low.with_period(minutes[rows.start], total / (rows.stop - rows.start))
    return low


def test_low_is_the_lowest_mean_over_a_quarter_of_an_hour():
    low = low_of([0, 5, 10, 15, 20, 25, 400], [430, 440, 450, 410, 420, 460, 425])
    assert low.low == 425  # the means are 440, 430 and 425
    assert low.night == 430
    assert (low.periods, low.night_periods) == (3, 2)


def test_single_low_reading_hardly_matters():
    co2 = np.full(1440, 420.0)
    co2[100] = 300
    assert low_of(np.arange(1440), co2).low == pytest.approx(420 - 120 / 15)


def test_day_without_readings_has_no_low():
    low = DailyLow(738887)
    assert (low.low, low.night) == (math.inf, math.inf)
    assert not low.is_complete(5.0)
    assert not low.is_night_complete(5.0)


@pytest.mark.parametrize(("hours", "is_complete"), [(range(8, 24), True), (range(9, 24), False)])
@pytest.mark.parametrize("interval", [1, 5, 20, 60])
def test_two_thirds_of_a_day_make_it_complete(hours, is_complete, interval):
    minutes = [60 * hour + k for hour in hours for k in range(0, 60, interval)]
    low = low_of(minutes, np.full(len(minutes), 420.0))
    assert low.is_complete(interval) == is_complete
    assert not low.is_night_complete(interval)


def test_periods_do_not_depend_on_the_time_zone():
    """Kathmandu is 5:45 h ahead: its quarters of an hour are those of UTC."""
    minutes, co2 = np.arange(1000.0), np.arange(1000.0)
    shifted = [rows for rows, _ in periods_of(minutes + 345, co2)]
    assert [rows for rows, _ in periods_of(minutes, co2)] == shifted
