"""Open hours worked by hand and minute by minute."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occupair.room.inputs import Clock
from occupair.room.open_hours import OpenHours, fit_open_hours, unobserved_minutes

ANY_TIME = list(range(20, 1440))  # a day starts with an empty room


def day(weekend=0.0, step=10):
    minutes = np.arange(0, 1440, step, dtype=float)
    return Clock(minutes, np.full(minutes.size, weekend))


def people_at(*minutes, step=10, count=4.0):
    people = np.zeros(1440 // step)
    people[[minute // step for minute in minutes]] = count
    return people


def open_minutes(hours, weekend=0):
    return np.flatnonzero(hours.is_open[weekend]).tolist()


@given(st.lists(st.lists(st.integers(0, 143), max_size=5), min_size=1, max_size=4))
def test_minutes_within_an_hour_of_people_are_open_after_start_up(days):
    people = [people_at(*(10 * slot for slot in slots)) for slots in days]
    hours = OpenHours.fit([day()] * len(days), people)
    seen = [10 * slot for slots in days for slot in slots]
    expected = [minute for minute in range(20, 1440) if any(abs(minute - then) <= 60 for then in seen)]
    assert open_minutes(hours) == expected


def test_open_hours_end_at_midnight():
    hours = OpenHours.fit([day()], [people_at(10, 1430)])
    assert open_minutes(hours) == [*range(20, 71), *range(1370, 1440)]


def test_weekends_have_separate_hours():
    hours = OpenHours.fit([day(0.0), day(1.0)], [people_at(600), people_at(900)])
    assert open_minutes(hours, 0) == list(range(540, 661))
    assert open_minutes(hours, 1) == list(range(840, 961))


@pytest.mark.parametrize("weekend", [0.0, 1.0])
def test_missing_day_kind_takes_hours_of_the_other(weekend):
    hours = OpenHours.fit([day(weekend)], [people_at(600)])
    assert open_minutes(hours, 0) == open_minutes(hours, 1) == list(range(540, 661))


def test_lookup_at_earlier_minute():
    hours = OpenHours.fit([day()], [people_at(600)])
    clock = Clock(np.array([550.0, 560.5, 670.0, 681.0]), np.zeros(4))
    assert hours.at(clock).tolist() == [True, True, False, False]
    assert hours.at(clock, before=20.0).tolist() == [False, True, True, False]
    early = OpenHours.fit([day()], [people_at(1430)])
    assert early.at(Clock(np.array([5.0]), np.zeros(1)), before=10.0).tolist() == [True]  # 23:55


def test_hours_valid_on_held_out_days_are_used():
    clocks, people = [day()] * 3, [people_at(600), people_at(630), people_at(660)]
    hours, held_out = fit_open_hours(clocks, people)
    assert open_minutes(hours) == list(range(540, 721))
    assert [open_minutes(one) for one in held_out] == [
        list(range(570, 721)),
        list(range(540, 721)),
        list(range(540, 691)),
    ]


@pytest.mark.parametrize(("stray", "used"), [(2.0, True), (2.1, False)])
def test_hours_are_used_if_at_most_2_percent_are_outside(stray, used):
    inside = people_at(600, count=49.0)
    late = people_at(600, count=49.0) + people_at(1200, count=stray)  # 2 of 100 people
    hours, held_out = fit_open_hours([day(), day()], [inside, late])
    assert [open_minutes(one) != ANY_TIME for one in (hours, *held_out)] == [used] * 3


def test_single_day_is_always_open():
    hours, (held_out,) = fit_open_hours([day()], [people_at(600)])
    assert open_minutes(hours) == open_minutes(held_out) == ANY_TIME


def test_room_that_is_always_empty_never_opens():
    hours, held_out = fit_open_hours([day()] * 2, [people_at()] * 2)
    assert not any(one.is_open.any() for one in (hours, *held_out))


def unobserved(*hours):
    """Minutes of a day without head counts in some hours."""
    minute = np.arange(1440)
    return np.isin(minute // 60, hours)


def test_hours_without_head_counts_stay_open():
    clocks, people = [day()] * 4, [people_at(600)] * 4
    asked = [unobserved(3, 20)] * 2 + [unobserved(20)] + [unobserved()]
    hours, held_out = fit_open_hours(clocks, people, unobserved=asked)
    # No head counts at 03:00 on two of four days, and at 20:00 on three.
    assert open_minutes(hours) == [*range(180, 240), *range(540, 661), *range(1200, 1260)]
    # Without the first day, one of three days has none at 03:00, and two at 20:00.
    assert open_minutes(held_out[0]) == [*range(540, 661), *range(1200, 1260)]
    assert open_minutes(held_out[3]) == open_minutes(hours)


def test_night_without_head_counts_stays_open():
    nights = [unobserved(*range(8), *range(20, 24))] * 3
    hours, _ = fit_open_hours([day()] * 3, [people_at(600)] * 3, unobserved=nights)
    assert open_minutes(hours) == [*range(20, 480), *range(540, 661), *range(1200, 1440)]


def test_unobserved_hours_are_separate_for_weekends():
    clocks = [day(0.0), day(0.0), day(1.0)]
    hours, _ = fit_open_hours(
        clocks, [people_at(600)] * 3, unobserved=[unobserved(), unobserved(), unobserved(3)]
    )
    assert open_minutes(hours, 0) == list(range(540, 661))
    assert open_minutes(hours, 1) == [*range(180, 240), *range(540, 661)]


def test_people_outside_hours_count_by_weight():
    people = [people_at(600, count=50.0), people_at(600, count=50.0), people_at(600, 900, count=50.0)]
    doubtful = [np.ones(144), np.ones(144), np.where(people_at(900) > 0, 0.05, 1.0)]
    assert open_minutes(fit_open_hours([day()] * 3, people)[0]) == ANY_TIME
    # 2.5 of 152.5 people are outside, less than 2 %.
    assert open_minutes(fit_open_hours([day()] * 3, people, doubtful)[0]) != ANY_TIME


@given(
    st.sampled_from([1.0, 5.0, 15.0, 60.0]),
    st.lists(st.integers(0, 1439), max_size=30),
    st.integers(0, 800),
    st.integers(60, 1440),
)
def test_unobserved_minutes_have_readings_but_no_head_counts(interval, counts, first, last):
    minute = np.arange(0, 1440, interval)
    minute = minute[(minute >= first) & (minute <= last)]
    known = np.isin(minute, counts)
    found = unobserved_minutes(minute, known, interval)
    reach = max(30, interval)
    for m in range(0, 1440, 7):
        read = any(abs(m - then) <= reach for then in minute)
        observed = any(abs(m - then) <= reach for then in minute[known])
        assert found[m] == (read and not observed)
    assert not unobserved_minutes(minute, np.ones(minute.size, dtype=bool), interval).any()
