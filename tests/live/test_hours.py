"""Local hours: days of 23, 24 and 25 hours, and the use of a room in each."""

import datetime as dt
from itertools import groupby
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.fake_pipeline import quarter_hour
from live.store_helpers import estimate

from occupair.live.hours import EMPTY, local_slots, quarter_number, slot_use
from occupair.live.messages import Quality
from occupair.utilisation.counts import is_in_use

COPENHAGEN = ZoneInfo("Europe/Copenhagen")
EIGHT = dt.datetime(2024, 1, 8, 8, tzinfo=dt.UTC)  # minute 0 of `estimate`


def day_slots(zone, day, minutes=60):
    start = dt.datetime.combine(day, dt.time(), zone)
    end = dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), zone)
    return local_slots(quarter_number(start), quarter_number(end), zone, minutes=minutes)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Copenhagen", dt.date(2026, 3, 28), [*range(24)]),
        ("Europe/Copenhagen", dt.date(2026, 3, 29), [0, 1, *range(3, 24)]),
        ("Europe/Copenhagen", dt.date(2026, 10, 25), [0, 1, 2, 2, *range(3, 24)]),
        ("America/New_York", dt.date(2026, 11, 1), [0, 1, 1, *range(2, 24)]),
        ("Asia/Kathmandu", dt.date(2026, 3, 29), [*range(24)]),  # 5:45 ahead of UTC
        ("Africa/Cairo", dt.date(2026, 4, 24), [*range(1, 24)]),  # midnight is skipped
    ],
)
def test_hours_of_a_day(zone, day, hours):
    slots = day_slots(ZoneInfo(zone), day)
    assert [slot.start.hour for slot in slots] == hours
    assert {(slot.start.minute, slot.quarters) for slot in slots} == {(0, 4)}
    offsets = [slot.start.isoformat() for slot in slots]
    assert len(set(offsets)) == len(hours)  # an hour that comes twice has two offsets


def test_clock_that_changes_by_half_an_hour():
    """On Lord Howe Island 2:00 is followed by 1:30 again on 5 April 2026."""
    slots = day_slots(ZoneInfo("Australia/Lord_Howe"), dt.date(2026, 4, 5))
    assert [(slot.start.strftime("%H:%M"), slot.quarters) for slot in slots[:4]] == [
        ("00:00", 4),
        ("01:00", 4),
        ("01:30", 2),
        ("02:00", 4),
    ]
    assert sum(slot.quarters for slot in slots) == 98  # 24.5 h


def test_half_hours_of_a_long_day():
    assert len(day_slots(COPENHAGEN, dt.date(2026, 10, 25), minutes=30)) == 50


@given(
    st.sampled_from(["Europe/Copenhagen", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns"]),
    st.integers(0, 30 * 365 * 96),
    st.integers(0, 800),
)
def test_slots_are_consecutive_and_complete(zone, first, n):
    slots = local_slots(first, first + n, ZoneInfo(zone))
    at = first
    for slot in slots:
        assert slot.first == at
        at += slot.quarters
    assert at == first + n


def use_of(estimates, hours=2):
    first = quarter_number(EIGHT)
    slots = local_slots(first, first + 4 * hours, dt.UTC)
    groups = groupby(estimates, key=lambda one: quarter_number(one.time))
    return slot_use(slots, [quarter_hour("lab", number, list(some)) for number, some in groups])


def test_mean_peak_interval_and_time_in_use():
    """Three minutes out of every four with 2 people, the others with none."""
    first, second = use_of(
        [estimate(minute=k, people=2.0 * (k % 4 > 0), low=1.0, high=4.0) for k in range(60)]
    )
    assert (first.people, first.peak, first.low, first.high) == (1.5, 2.0, 1.0, 4.0)
    assert (first.known, first.in_use, first.minutes) == (1.0, 45.0, 60)
    assert (second.people, second.peak, second.known, second.in_use) == (None, None, 0.0, 0.0)


def test_report_and_page_agree_on_rooms_in_use():
    people = np.array([0.0, EMPTY, np.nextafter(EMPTY, 1), 1.0])
    assert is_in_use(people).tolist() == (people > EMPTY).tolist() == [False, False, True, True]


def test_refined_estimate_counts_where_there_is_one():
    (hour,) = use_of(
        [estimate(minute=k, people=9.0, people_refined=(3.0 if k < 40 else None,)) for k in range(60)], 1
    )
    assert hour.people == pytest.approx((40 * 3 + 20 * 9) / 60)
    assert hour.peak == 9.0


def test_limits_include_the_mean():
    """The limits are those of the live estimates, the mean that of refined ones."""
    (hour,) = use_of(
        [estimate(minute=k, people=2.0, low=1.0, high=3.0, people_refined=(4.0,)) for k in range(60)], 1
    )
    assert (hour.low, hour.people, hour.high) == (1.0, 4.0, 4.0)


@pytest.mark.parametrize(("step", "known"), [(1, 0.5), (5, 0.5), (10, 0.5), (15, 0.5), (30, 0.5)])
def test_known_part_of_an_hour_does_not_depend_on_the_interval(step, known):
    """The sensor fails after an hour and a half."""
    first, second = use_of([estimate(minute=k, people=1.0) for k in range(0, 90, step)])
    assert (first.known, second.known) == pytest.approx((1.0, known))
    assert (first.in_use, second.in_use) == pytest.approx((60, 30))


def test_unknown_occupancy_is_not_zero():
    stale = [estimate(minute=k, people=None, low=None, high=None, quality=Quality.STALE) for k in range(45)]
    first, second = use_of([*stale, *(estimate(minute=k, people=0.0) for k in range(45, 120))])
    assert (first.people, first.known, first.in_use) == (0.0, pytest.approx(0.25), 0.0)
    assert (second.people, second.known) == (0.0, pytest.approx(1.0))
    (hour,) = use_of(stale, 1)
    assert (hour.people, hour.known) == (None, 0.0)
