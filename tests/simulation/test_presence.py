import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.simulation.co2_generation import SITTING_BUSY, SITTING_QUIETLY, WALKING_SLOWLY
from occupair.simulation.occupants import (
    DeskRoutine,
    Meeting,
    Person,
    VisitRoutine,
    draw_meetings,
    draw_people,
)
from occupair.simulation.presence import day_activity, day_presence, person_day

CLOCKWORK = DeskRoutine(
    attendance=1.0,
    arrival=540,
    departure=1080,
    spread=0.0,
    lunch=720,
    lunch_length=60,
    lunch_out_share=0.0,
    late_share=0.0,
    late_departure=1320,
    breaks_per_hour=0.0,
    errands_per_day=0.0,
)


def person(routine):
    return Person(seat=0, zone=1, group=0, bmr=7.0, routine=routine)


def minutes(**changes):
    routine = dataclasses.replace(CLOCKWORK, **changes)
    return np.flatnonzero(person_day(person(routine), None, np.random.default_rng(0)))


def test_routine_without_spread_or_breaks():
    assert minutes().tolist() == list(range(540, 1080))


def test_lunch_is_about_an_hour_around_noon():
    missing = sorted(set(range(540, 1080)) - set(minutes(lunch_out_share=1.0)))
    assert missing == list(range(missing[0], missing[-1] + 1))
    assert 680 <= missing[0] <= 760  # 12:00, and 4 standard deviations of 10 minutes
    assert 32 <= len(missing) <= 88  # 60, and 4 standard deviations of 7 minutes


def test_late_workers_return_after_dinner():
    present = minutes(late_share=1.0)
    missing = sorted(set(range(540, 1320)) - set(present))
    assert present[-1] == 1319
    assert 35 <= len(missing) <= 65


def test_meetings_are_outside_the_room():
    meeting = Meeting(weekday=0, start=840, length=90)
    inside = person_day(person(CLOCKWORK), meeting, np.random.default_rng(0))
    assert not inside[840:930].any()
    assert inside[839]
    assert inside[930]


def test_breaks_are_short_and_at_the_given_rate():
    routine = dataclasses.replace(CLOCKWORK, breaks_per_hour=0.5)
    days = [person_day(person(routine), None, np.random.default_rng(k)) for k in range(400)]
    outings = sum(int((np.diff(day[540:1080].astype(int)) == -1).sum()) for day in days)
    # 9 h at 0.5 1/h is 4.5 a day; a few run into each other or over the end
    assert 3.9 < outings / 400 < 4.5
    away = sum(540 - int(day[540:1080].sum()) for day in days) / 400
    assert away == pytest.approx(4.5 * 7, rel=0.1)  # 2 minutes and an exponential of 5 on top


def test_zero_attendance_is_never_present():
    assert minutes(attendance=0.0).size == 0


def test_attendance_is_the_fraction_of_days():
    routine = dataclasses.replace(CLOCKWORK, attendance=0.7)
    came = [person_day(person(routine), None, np.random.default_rng(k)).any() for k in range(2000)]
    assert np.mean(came) == pytest.approx(0.7, abs=0.04)  # 4 standard deviations of sqrt(.21 / 2000)


def test_nobody_stays_past_closing():
    for seed in range(50):
        routine = dataclasses.replace(CLOCKWORK, late_share=1.0, late_departure=1600)
        inside = person_day(person(routine), None, np.random.default_rng(seed))
        assert 1380 <= np.flatnonzero(inside)[-1] < 1410


def test_students_come_for_visits_of_hours():
    routine = VisitRoutine(
        attendance=1.0, start=800, spread=60, block_length=120, blocks_per_day=1.0, breaks_per_hour=0.0
    )
    days = [person_day(person(routine), None, np.random.default_rng(k)) for k in range(400)]
    for day in days:
        assert (np.diff(day.astype(int)) == 1).sum() == 1
    assert np.mean([day.sum() for day in days]) == pytest.approx(120, abs=12)  # 4 sd of 60 / sqrt(400)


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), day=st.integers(0, 400))
def test_presence_is_within_opening_hours(seed, day):
    inside = day_presence(draw_people(seed), draw_meetings(seed), day, seed=seed)
    assert inside.shape == (1440, 35)
    assert not inside[1410:].any()  # nobody after 23:30
    assert not inside[:420].any()  # nor before 7:00
    if day % 7 >= 5:
        assert not inside.any()  # nor on a weekend


def test_group_leaves_for_its_meeting():
    people, meetings = draw_people(0), draw_meetings(0)
    for group, meeting in enumerate(meetings):
        for week in range(4):
            inside = day_presence(people, meetings, meeting.weekday + 7 * week, seed=0)
            assert not inside[meeting.start : meeting.start + meeting.length, 6 * group : 6 * group + 6].any()


def test_activity_is_walking_on_arrival_then_seated():
    inside = np.zeros((1440, 1), dtype=bool)
    inside[600:700] = True
    met = day_activity(inside, day=0, seed=0)[:, 0]
    assert (met[~inside[:, 0]] == 0).all()
    assert (met[600:603] == WALKING_SLOWLY).all()
    assert set(met[603:700]) <= {SITTING_QUIETLY, SITTING_BUSY}


def test_activity_is_busy_40_percent_of_the_time():
    inside = np.ones((1440, 200), dtype=bool)
    seated = day_activity(inside, day=0, seed=0)[3:]
    assert (seated == SITTING_BUSY).mean() == pytest.approx(0.4, abs=0.02)  # 4 sd of sqrt(.24 / 9600)
