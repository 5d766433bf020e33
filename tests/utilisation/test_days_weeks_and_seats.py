"""Days, weeks and seats of small tables, worked by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from occupair.errors import InputError
from occupair.utilisation.bad_days import sensor_faults
from occupair.utilisation.days import GOOD, TOO_LITTLE, daily_peak, room_days
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.seats import unused_seats
from occupair.utilisation.weeks import last_week_change, percent_change, room_weeks

OPEN = OpeningHours("08:00-18:00", "mon-fri")


def empty_room(start, days, *, tz=None):
    """Counts of an empty room every 15 min for whole local days."""
    end = pd.Timestamp(start) + pd.Timedelta(days=days)
    times = pd.date_range(start, end, freq="15min", tz=tz, inclusive="left")
    return pd.DataFrame({"people": 0.0, "low": 0.0, "high": 0.0}, index=times)


def occupy(counts, start, end, people, low, high):
    """Set the counts from ``start`` to before ``end``."""
    zone = counts.index.tz
    chosen = (counts.index >= pd.Timestamp(start, tz=zone)) & (counts.index < pd.Timestamp(end, tz=zone))
    counts.loc[chosen, ["people", "low", "high"]] = [people, low, high]


def test_day_in_use_inside_and_outside_opening_hours():
    counts = empty_room("2024-01-08", 1)
    occupy(counts, "2024-01-08 09:00", "2024-01-08 11:00", 5, 0.2, 8)
    occupy(counts, "2024-01-08 17:00", "2024-01-08 19:00", 3, 1, 4)
    day = room_days(counts, OPEN).iloc[0]
    assert day["status"] == GOOD
    assert day[["in_use", "in_use_low", "in_use_high"]].tolist() == [3.0, 1.0, 3.0]  # 2 h + 1 h
    assert day[["outside", "open", "known"]].tolist() == [1.0, 10.0, 24.0]
    assert day["people"] == pytest.approx((2 * 5 + 1 * 3) / 10)
    assert day["low"] == pytest.approx((2 * 0.2 + 1 * 1) / 10)
    assert day["high"] == pytest.approx((2 * 8 + 1 * 4) / 10)
    assert day[["peak", "peak_low", "peak_high"]].tolist() == [5.0, 1.0, 8.0]


@pytest.mark.parametrize(("interval", "rank"), [(1, 15), (5, 3), (7, 3), (15, 1), (30, 1)])
def test_peak_was_reached_for_fifteen_minutes(interval, rank):
    people = np.arange(100.0)
    np.random.default_rng(1).shuffle(people)
    assert daily_peak(people, interval) == 100 - rank


def test_peak_of_few_or_no_counts():
    assert daily_peak(np.array([np.nan, 4.0]), 1.0) == 4
    assert math.isnan(daily_peak(np.array([np.nan]), 1.0))


@pytest.mark.parametrize(("start", "hours"), [("2024-03-31", 23), ("2024-10-27", 25)])
def test_day_with_a_clock_change_is_complete(start, hours):
    counts = empty_room(start, 1, tz="Europe/Copenhagen")
    counts["people"] = 1.0
    day = room_days(counts, OpeningHours("00:00-24:00", "sun")).iloc[0]
    assert day["status"] == GOOD
    assert day[["known", "open", "in_use"]].tolist() == [hours] * 3


def test_day_with_too_few_counts_in_opening_hours_is_left_out():
    counts = empty_room("2024-01-08", 3)
    occupy(counts, "2024-01-08 08:00", "2024-01-08 10:00", math.nan, math.nan, math.nan)  # 80 % known
    occupy(counts, "2024-01-09 08:00", "2024-01-09 10:15", math.nan, math.nan, math.nan)  # less
    occupy(counts, "2024-01-10 00:00", "2024-01-10 08:00", math.nan, math.nan, math.nan)  # only at night
    assert room_days(counts, OPEN)["status"].tolist() == [GOOD, TOO_LITTLE, GOOD]


def test_days_without_counts_are_listed():
    counts = pd.concat([empty_room("2024-01-08", 1), empty_room("2024-01-10", 1)])
    days = room_days(counts, OPEN, last=pd.Timestamp("2024-01-11"))
    assert days["status"].tolist() == [GOOD, TOO_LITTLE, GOOD, TOO_LITTLE]
    assert days["known"].tolist() == [24, 0, 24, 0]
    assert math.isnan(days["peak"].iloc[1])


def test_longest_fault_is_the_reason():
    counts = empty_room("2024-01-08", 1)
    occupy(counts, "2024-01-08 08:00", "2024-01-08 16:00", math.nan, math.nan, math.nan)
    day = pd.DatetimeIndex(["2024-01-08"])
    faults = pd.DataFrame({"CO2 jumps": [1.0], "sensor stuck": [7.0]}, index=day)
    assert room_days(counts, OPEN, faults=faults)["status"].tolist() == ["sensor stuck"]


def test_fault_of_a_complete_day_does_not_exclude_it():
    day = pd.DatetimeIndex(["2024-01-08"])
    faults = pd.DataFrame({"CO2 jumps": [0.5]}, index=day)
    assert room_days(empty_room("2024-01-08", 1), OPEN, faults=faults)["status"].tolist() == [GOOD]


def faulty_readings():
    """Two days of CO2 every 5 min: day 1 stuck from 08:00 to 18:00, day 2 with 0 ppm for 2 h and a jump."""
    times = pd.date_range("2024-01-08", periods=2 * 288, freq="5min", tz="Europe/Copenhagen")
    co2 = 450 + 200 * np.sin(np.arange(times.size) / 30) ** 2
    co2[96:216] = 800.0
    co2[288 + 100 : 288 + 124] = 0.0
    co2[288 + 200] += 2000.0
    return pd.DataFrame({"co2": co2}, index=times)


def test_faulty_times_of_a_sensor():
    faults = sensor_faults(faulty_readings())
    first, second = pd.Timestamp("2024-01-08"), pd.Timestamp("2024-01-09")
    assert faults.hours.loc[first, "sensor stuck"] == pytest.approx(10)
    assert faults.hours.loc[second, "implausible readings"] == pytest.approx(2)
    # a jump up and one down, 5 min apart, and 20 min after each: six readings of 5 min
    assert faults.hours.loc[second, "CO2 jumps"] == pytest.approx(0.5)
    assert faults.is_faulty.sum() == 120 + 24 + 6


def test_good_sensor_has_no_faults():
    readings = faulty_readings().iloc[:90]
    faults = sensor_faults(readings)
    assert faults.hours.empty
    assert not faults.is_faulty.any()
    assert sensor_faults(readings.iloc[:1]).is_faulty.tolist() == [False]


def day_table(people, status=None, start="2024-01-01"):
    """Days with a mean count each; 1 January 2024 is a Monday."""
    index = pd.date_range(start, periods=len(people))
    people = pd.Series(people, index=index, dtype=float)
    is_open = index.day_of_week < 5
    return pd.DataFrame(
        {
            "status": [""] * len(people) if status is None else status,
            "people": people,
            "low": people - 1,
            "high": people + 1,
            "peak": 2 * people,
            "peak_high": 3 * people,
            "in_use": people,
            "open": np.where(is_open, 10.0, 0.0),
        }
    )


def test_weeks_without_bad_days():
    status = ["", "", "sensor stuck", "", "", "", "", "", "", "", "", "", "", ""]
    weeks = room_weeks(day_table([1, 2, 99, 3, 4, 0, 0, 5, 5, 5, 5, 10, 0, 0], status))
    assert weeks.index.tolist() == [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-08")]
    assert weeks["days"].tolist() == [4, 5]
    assert weeks["left_out"].tolist() == [1, 0]
    assert weeks["people"].tolist() == [2.5, 6]
    assert weeks["low"].tolist() == [1.5, 5]
    assert weeks["high"].tolist() == [3.5, 7]
    assert weeks["in_use"].tolist() == [2.5, 6]
    assert weeks["peak"].tolist() == [8, 20]
    assert weeks["peak_high"].tolist() == [12, 30]


def test_last_week_is_compared_with_those_before():
    before, last = [2, 4, 3, 2, 4], [6, 7, 6, 7, 6]
    change = last_week_change(day_table([*before, 0, 0, *last, 0, 0, 9]))  # the third week has one day
    assert change.week == pd.Timestamp("2024-01-08")
    assert (change.people, change.before) == (pytest.approx(6.4), pytest.approx(3))
    low, high = stats.ttest_ind(last, before, equal_var=False).confidence_interval(0.95)
    assert (change.low, change.high) == (pytest.approx(low), pytest.approx(high))
    assert change.is_clear
    assert percent_change(change) == pytest.approx(3.4 / 3)


def test_one_week_is_not_compared():
    assert last_week_change(day_table([1, 2, 3, 4, 5, 0, 0, 5, 5])) is None


def test_equal_weeks_do_not_differ():
    change = last_week_change(day_table([2] * 5 + [0, 0] + [2] * 5))
    assert (change.low, change.high, change.is_clear) == (0, 0, False)


def test_unused_seats_use_the_upper_end_of_the_busiest_good_day():
    days = day_table([2, 4, 9], ["", "", "sensor stuck"])  # peaks 4 and 8, upper ends 6 and 12
    assert unused_seats(days, 20) == (8, 12)
    assert unused_seats(days, 10) == (0, 2)
    assert unused_seats(days.assign(peak_high=math.nan), 20) == (12, 12)
    assert unused_seats(days.assign(status="sensor offline"), 20) is None


@pytest.mark.parametrize(
    ("hours", "weekdays", "message"),
    [
        ("8-18", "mon-fri", "hours must be a period of the day"),
        ("08:00-18:00", "lun-ven", "weekdays must be such as mon-fri or mon,wed,sat, got 'lun-ven'"),
    ],
)
def test_invalid_opening_hours_are_rejected(hours, weekdays, message):
    with pytest.raises(InputError, match=message):
        OpeningHours(hours, weekdays)
