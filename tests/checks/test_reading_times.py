"""Checks of the times of readings."""

import pandas as pd
import pytest

import occupair as oc
from occupair.checks import find_faults
from occupair.checks.reading_times import check_dates, check_interval

YEAR = pd.DateOffset(years=1)


@pytest.fixture(scope="module")
def office():
    """Eight days, one reading every five minutes."""
    return oc.simulate_office(days=8, seed=3).iloc[::5].astype(float)


def with_time(readings, time):
    """Readings with one more at another time."""
    return pd.concat([readings, readings.iloc[[0]].set_axis([pd.Timestamp(time)])]).sort_index()


def kinds(readings):
    return {fault.kind for fault in find_faults(readings)}


def test_good_times_have_no_fault(office):
    assert check_dates(office) == []
    assert check_interval(office) == []


def test_readings_in_2099_are_wrong(office, the_fault):
    fault = the_fault(office.set_axis(office.index + 84 * YEAR), "future_times")
    assert fault.severity == "wrong"
    assert fault.finding.startswith("All 2304 readings are in the future, up to 2099-08-12 23:55")
    assert (fault.start.year, fault.end.year) == (2099, 2099)


def test_some_readings_in_the_future(office):
    now = office.index[-1] - pd.Timedelta(days=1, hours=1)
    (fault,) = check_dates(office, now=now)
    assert fault.finding.startswith("12 readings are in the future")  # the last hour
    assert fault.details["readings"] == 12
    assert check_dates(office, now=office.index[-1] - pd.Timedelta(days=1)) == []


@pytest.mark.parametrize(("time", "years"), [("2065-08-12 10:00", 50), ("1970-01-01 00:00", 46)])
def test_one_time_years_from_the_others_is_wrong(office, the_fault, time, years):
    fault = the_fault(with_time(office, time), "stray_times")
    assert fault.finding == (
        f"1 reading is {years} years from all others, which are from 2015-08-03 to 2015-08-12 (first {time})."
    )
    assert fault.spans == [(pd.Timestamp(time), pd.Timestamp(time))]
    assert "future_times" not in kinds(with_time(office, time))


def test_days_between_two_stray_times_are_not_affected(office, the_fault):
    times = [pd.Timestamp("1970-01-01"), pd.Timestamp("1999-01-01")]
    fault = the_fault(with_time(with_time(office, times[0]), times[1]), "stray_times")
    assert fault.spans == [(time, time) for time in times]
    assert fault.days == times


def test_a_second_measurement_years_later_is_not_stray(office):
    later = office.iloc[: 2 * 288]
    both = pd.concat([office, later.set_axis(later.index + 3 * YEAR)])
    assert check_dates(both) == []


def test_hourly_readings_are_doubtful(office, the_fault):
    fault = the_fault(office.iloc[::12], "slow_readings")
    assert fault.severity == "doubtful"
    assert fault.finding.startswith("Readings are 60 min apart")
    assert fault.details == {"interval": 60.0}
    assert "midnight_reset" not in kinds(office.iloc[::12])  # people leave between two readings


def test_readings_every_15_minutes_are_sufficient(office):
    assert check_interval(office.iloc[::3]) == []
