from occupair.simulation.occupants import DeskRoutine, VisitRoutine, draw_meetings, draw_people


def test_24_desks_and_11_open_seats():
    people = draw_people(seed=0)
    assert [isinstance(p.routine, DeskRoutine) for p in people] == [True] * 24 + [False] * 11
    assert [p.seat for p in people] == list(range(35))


def test_five_seats_are_rarely_used():
    for seed in range(5):
        people = draw_people(seed)
        assert max(p.routine.attendance for p in people[30:]) < 0.1
        assert min(p.routine.attendance for p in people[:30]) > 0.4


def test_routines_differ_between_people():
    desks = [p.routine for p in draw_people(seed=0) if isinstance(p.routine, DeskRoutine)]
    for name in ("arrival", "departure", "lunch", "attendance", "breaks_per_hour", "late_departure"):
        assert len({getattr(routine, name) for routine in desks}) > 12, name
    visits = [p.routine for p in draw_people(seed=0) if isinstance(p.routine, VisitRoutine)]
    assert len(set(visits)) == 11


def test_a_minority_works_late():
    for seed in range(5):
        late = [p.routine.late_share > 0.3 for p in draw_people(seed) if isinstance(p.routine, DeskRoutine)]
        assert 0 < sum(late) < 12


def test_metabolic_rates_vary_within_human_range():
    rates = [p.bmr for seed in range(5) for p in draw_people(seed)]
    # 40 kg woman: 0.062 * 40 + 2.036 = 4.5; 99 kg man: 0.063 * 99 + 2.896 = 9.1; 1.5 MJ/day either way
    assert 3.0 <= min(rates) < max(rates) <= 10.7
    assert len(set(rates)) == len(rates)


def test_routines_depend_only_on_the_seed():
    assert draw_people(seed=3) == draw_people(seed=3)
    assert draw_people(seed=3) != draw_people(seed=4)
    assert draw_meetings(seed=3) == draw_meetings(seed=3)


def test_meetings_are_on_weekdays_in_working_hours():
    for seed in range(5):
        for meeting in draw_meetings(seed):
            assert meeting.weekday in range(5)
            assert 10 * 60 <= meeting.start < meeting.start + meeting.length <= 18 * 60
