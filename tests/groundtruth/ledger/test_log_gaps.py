"""Times without data of a door, in cases worked by hand."""

import numpy as np
import pandas as pd
import pytest
from groundtruth.written_passages import written, written_grid

from occupair.groundtruth.ledger.coverage import LogGap, _groups, find_log_gaps, mark_gaps

WEEK = ("08", "09", "10", "11", "12")


def at(text):
    """Time of a day of January 2024."""
    return pd.Timestamp(f"2024-01-{text}")


def gap(door, first, last, reason, *, expected=True):
    return LogGap(door, at(first), at(last), reason, expected)


def gaps(*lines, reset="00:00"):
    return find_log_gaps(written(*lines), reset=reset)


def test_log_with_zeros_ends_with_its_last_row():
    c = [f"{day} 08:00 c +1 -1" for day in ("08", "09", "10", "11")]
    b = ["09 08:00 b +1 -1", "09 09:00 b +0 -0", "10 08:00 b +1 -1"]
    a = ["08 08:00 a +1 -1", "09 09:00 a +0 -0"]
    assert gaps(*a, *b, *c) == [
        gap("a", "10 00:00", "11 23:59", "its log ends on 2024-01-09"),
        gap("b", "08 00:00", "08 23:59", "its log begins on 2024-01-09"),
        gap("b", "11 00:00", "11 23:59", "its log ends on 2024-01-10"),
    ]
    # a row of weight 0 is no count of zero people: b may be unused while one person passes the other door
    quiet = [*(f"{day} 08:00 a +9 -9" for day in ("09", "10")), "11 08:00 a +1 -1"]
    assert gaps(*quiet, b[0], "09 09:00 b +0 -0 0", b[2]) == []


def test_ledger_day_that_begins_before_the_log():
    """The reset is at 04:00: the ledger days begin on the 7th and the 8th, and end on the 8th and the 9th."""
    rows = ["08 01:00 a +0 -1", "08 08:00 a +1 -0"]
    begin = gap("a", "07 04:00", "07 23:59", "its log begins on 2024-01-08", expected=False)
    end = gap("a", "09 00:00", "09 03:59", "its log ends on 2024-01-08", expected=False)
    assert gaps(*rows, reset="04:00") == [begin]  # nobody passes after midnight
    assert gaps(*rows, "08 09:00 a +0 -0", reset="04:00") == [begin, end]
    # the last two minutes before the reset have data of the other door
    two_minutes = gap("a", "09 00:00", "09 00:01", "its log ends on 2024-01-08")
    assert gaps("08 09:00 a +0 -0", "08 09:00 b +1 -1", "09 00:01 b +1 -1", reset="00:02") == [two_minutes]


def test_date_without_data_of_any_door():
    rows = ["08 12:00 a +1 -0", "10 01:00 a +0 -1"]
    nothing = gap("a", "09 04:00", "09 23:59", "no door has data", expected=False)
    assert gaps(*rows, reset="04:00") == [nothing]
    assert gaps(*rows, "08 13:00 a +0 -0", reset="04:00") == []


def test_door_without_a_day_of_its_own():
    """The only ledger day, from 04:00 to 04:00, has passages of the other door before those of b."""
    assert gaps("08 12:00 a +1 -1", "09 01:00 b +1 -1", "09 02:00 a +1 -1", reset="04:00") == [
        gap("b", "08 04:00", "08 23:59", "its log begins on 2024-01-09")
    ]


def used(people, *days, door):
    """People who enter a room in the morning and leave it in the evening, some number on each day."""
    lines = []
    for day, number in zip(days, people, strict=True):
        lines += [f"{day} 09:00 {door} +{number} -0", f"{day} 17:00 {door} +0 -{number}"]
    return lines


@pytest.mark.parametrize(
    ("days", "people", "last", "unused"),
    [
        # 20 passages a day at the other door, then 8: expected are people * 2 * 8 / 40
        (("08", "09", "10"), (5, 4), 4, True),  # 3.6
        (("08", "09", "10"), (5, 5), 4, False),  # 4
        (("11", "12", "13"), (15, 14), 4, True),  # 11.6 on a Saturday
        (("11", "12", "13"), (15, 15), 4, False),  # 12
        (("08", "09", "10"), (1, 1), 5, False),  # half of the usual traffic
    ],
)
def test_door_may_be_unused_on_a_quiet_day(days, people, last, unused):
    lines = [*used((10, 10, last), *days, door="a"), *used(people, *days[:2], door="b")]
    ends = gap("b", f"{days[2]} 00:00", f"{days[2]} 23:59", f"its log ends on 2024-01-{days[1]}")
    assert gaps(*lines) == ([] if unused else [ends])


def test_door_is_not_unused_if_the_others_do_not_balance():
    lines = [*used((10, 10), "08", "09", door="a"), *used((2, 2), "08", "09", door="b")]
    assert gaps(*lines, "10 09:00 a +3 -0", "10 17:00 a +0 -3") == []
    assert gaps(*lines, "10 09:00 a +3 -0", "10 17:00 a +0 -2") == [
        gap("b", "10 00:00", "10 23:59", "its log ends on 2024-01-09")
    ]


def test_weekday_among_unused_days():
    """A Saturday and a Monday with 4 passages each; 60 * 8 / 60 = 8 would be expected."""
    lines = [*used((15, 15, 2, 2), "11", "12", "13", "15", door="a"), *used((15, 15), "11", "12", door="b")]
    assert gaps(*lines) == [
        gap("b", "13 00:00", "15 23:59", "its log ends on 2024-01-12"),
    ]
    saturday = [line for line in lines if not line.startswith("15")]
    assert gaps(*saturday) == []


def busy(day, *, door="a", silent=(), hours=range(8, 18), minutes=range(0, 60, 10)):
    """Somebody passes every ten minutes, in and out in turn: six groups in each hour, which is balanced."""
    return [
        f"{day} {hour:02d}:{minute:02d} {door} " + ("+0 -1" if k % 2 else "+1 -0")
        for hour in hours
        if hour not in silent
        for k, minute in enumerate(minutes)
    ]


def week(silent, *, days=WEEK, hours=range(8, 18), others=None, **more):
    """Five days of which the third is silent for some hours; ``others`` are silent hours of other days."""
    silences = {days[2]: silent} | (others or {})
    return [line for day in days for line in busy(day, silent=silences.get(day, ()), hours=hours, **more)]


REMAINS = "10 16:01 a +1 -0"  # the third day does not balance


def silent(first, last, people, *, door="a", day="10"):
    return [gap(door, f"{day} {first}", f"{day} {last}", f"no passage, when {people} are usual")]


def test_silence_of_twelve_groups():
    assert gaps(*week((10, 11)), REMAINS) == silent("09:51", "11:59", 12)
    one_less = [line for line in week((10, 11)) if line not in ("08 10:00 a +1 -0", "08 10:10 a +0 -1")]
    assert gaps(*one_less, REMAINS) == []  # 11.5
    assert gaps(*week((10, 11))) == []  # nothing is missing
    assert gaps(*week((8, 11, 12)), REMAINS) == silent("10:51", "12:59", 12)  # 6 groups before are too few


def test_hour_with_a_single_group_is_part_of_a_silence():
    single = [f"{day} 11:00 a +1 -1" for day in WEEK if day != "10"]
    hours = (8, 9, 10, 12, 13, 14, 15, 16)
    assert gaps(*week((10, 12), hours=hours), *single, REMAINS) == silent("09:51", "12:59", 14)


def test_hour_in_which_people_keep_passing_is_not_silent():
    """From 09:50 until 11:58 somebody passes every four minutes: one group, which began before 10:00."""
    minutes = range(4, 128, 4)
    times = [at("10 09:50") + pd.Timedelta(minutes=minute) for minute in minutes]
    flow = [f"{time:%d %H:%M} a +1 -1" for time in times]
    assert gaps(*week((10, 11)), *flow, REMAINS) == []


def test_balance_of_a_silent_day_follows_the_reset():
    """Somebody is there from 23:00 to 02:00 every night."""
    nights = [f"{day} 23:00 a +1 -0" for day in WEEK]
    nights += [f"{day} 02:00 a +0 -1" for day in ("09", "10", "11", "12", "13")]
    assert gaps(*week((10, 11)), *nights, reset="04:00") == []
    assert gaps(*week((10, 11)), *nights) == silent("09:51", "11:59", 12)


def test_silence_of_the_first_of_three_days():
    three = [line for line in week((), days=("10", "11", "12", "15", "16")) if line[:2] in ("10", "11", "12")]
    quiet = [line for line in three if line[:5] not in ("10 10", "10 11")]
    assert gaps(*quiet, REMAINS) == silent("09:51", "11:59", 12)
    assert gaps(*(line for line in quiet if line[:2] != "12"), REMAINS) == []


@pytest.mark.parametrize(
    ("hours", "quiet", "first", "last"),
    [
        ((8, 9, 10, 11, 14, 15, 16), (14, 15), "13:00", "15:59"),  # an hour before 14:00
        ((8, 9, 10, 11, 14, 15, 16), (10, 11), "09:51", "12:59"),
        ((0, 1, 2, 16), (0, 1), "00:00", "01:59"),
        ((8, 16, 22, 23), (22, 23), "21:00", "23:59"),
        ((8, 9, 10, 11, 12, 13, 16), (10, 11), "09:51", "11:59"),
    ],
)
def test_silence_extends_to_the_next_passage_or_by_an_hour(hours, quiet, first, last):
    assert gaps(*week(quiet, hours=hours), REMAINS) == silent(first, last, 12)


def test_silence_after_the_first_passage_of_the_log():
    lines = [line for line in week((), hours=(9, 10, 11, 16)) if line[:5] not in ("08 09", "08 10", "08 11")]
    assert gaps(*lines, "08 09:30 a +1 -1", "08 16:01 a +1 -0") == silent("09:31", "12:59", 12, day="08")


def test_silence_is_three_times_as_long_as_on_a_typical_day():
    others = {"08": (8,), "09": (9,), "11": (16,), "12": (17,)}
    assert gaps(*week((11, 12, 13), others=others), REMAINS) == silent("10:51", "13:59", 18)
    assert gaps(*week((12, 13), others=others), REMAINS) == []
    two = {"08": (8,), "09": (9,)}  # the median of 6, 6, 0 and 0 is 3
    assert gaps(*week((12, 13), others=two), REMAINS) == silent("11:51", "13:59", 12)


def test_rest_of_a_silent_day_has_half_of_its_usual_traffic():
    """18 of 60 passages are usual in the silent hours: of the other 42, 21 have to be there."""
    lines = [line for line in week((11, 12, 13)) if not line.startswith("10 ")]
    wednesday = busy("10", silent=(11, 12, 13), minutes=(0, 10, 20))
    assert len(wednesday) == 21
    assert gaps(*lines, *wednesday) == silent("10:21", "13:59", 18)
    assert gaps(*lines, *wednesday[:-1]) == []


def two_doors(silent_hours, *, b_hours=range(8, 18), b_wednesday=range(0, 60, 10), others=None):
    """Door a is silent on Wednesday, but the day balances; door b is used in all or some hours."""
    lines = week(silent_hours, others=others)
    for day in WEEK:
        for hour in b_hours:
            minutes = b_wednesday if day == "10" and hour in silent_hours else range(0, 60, 10)
            lines += busy(day, door="b", hours=[hour], minutes=minutes)
    return lines


def test_silence_while_the_other_door_is_busy():
    assert gaps(*two_doors((10, 11))) == silent("09:51", "11:59", 12)
    swapped = [line.translate(str.maketrans("ab", "ba")) for line in two_doors((10, 11))]
    assert gaps(*swapped) == silent("09:51", "11:59", 12, door="b")
    # half of the usual traffic: one of six passages in and out, twice, and one with two people
    half = two_doors((10, 11), b_wednesday=(0, 10))
    half += ["10 10:30 b +1 -0", "10 11:30 b +0 -1"]
    assert gaps(*half) == silent("09:51", "11:59", 12)
    swapped = [line.translate(str.maketrans("ab", "ba")) for line in half]
    assert gaps(*swapped) == silent("09:51", "11:59", 12, door="b")
    assert gaps(*half[:-2]) == []
    assert gaps(*two_doors((10, 11), b_hours=(8, 9, 12, 13, 14, 15, 16, 17))) == []


def test_silence_while_one_person_passes_the_other_door():
    visits = [line for day in WEEK for line in (f"{day} 10:30 b +1 -0", f"{day} 12:30 b +0 -1")]
    assert gaps(*week((10, 11)), *visits) == silent("09:51", "11:59", 12)


def test_balanced_silence_is_three_times_as_long_as_any_other():
    others = {"08": (8,)}
    assert gaps(*two_doors((10, 11, 12), others=others)) == silent("09:51", "12:59", 18)
    assert gaps(*two_doors((10, 11), others=others)) == []


def test_uncounted_hours_are_unknown():
    """An hour with an uncounted minute is neither silent nor part of the usual traffic."""
    lines = week((10, 11), others={"08": (10,)})
    assert gaps(*lines, REMAINS) == []  # 6 and 4.5 groups are usual
    assert gaps(*lines, REMAINS, "08 10:30 a +0 -0 0") == silent("09:51", "11:59", 12)
    assert gaps(*week((10, 11)), REMAINS, "10 10:30 a +0 -0 0") == []
    # the hours of only one other day are known
    three = [line for line in week((10, 11)) if line[:2] in ("08", "09", "10") and line[:5] != "09 10"]
    three += ["09 10:30 a +0 -0 0", "09 11:30 a +0 -0 0"]
    assert gaps(*three, REMAINS) == silent("09:51", "11:59", 12)


def test_weekends_have_a_usual_traffic_of_their_own():
    saturdays = [line for day in ("06", "07", "13", "14") for line in busy(day, hours=(9,))]
    assert gaps(*week((10, 11)), *saturdays, REMAINS) == silent("09:51", "11:59", 12)
    weekend = [
        line for day in ("06", "07", "13") for line in busy(day, silent=(10, 11) if day == "13" else ())
    ]
    weekdays = [line for day in ("08", "12") for line in busy(day, hours=(9,))]
    saturday = silent("09:51", "11:59", 12, day="13")
    assert gaps(*weekend, *weekdays, "13 16:01 a +1 -0") == saturday
    both = [*weekend, "13 16:01 a +1 -0", *week((10, 11)), REMAINS]
    assert gaps(*both) == saturday + silent("09:51", "11:59", 12)


def test_group_begins_after_five_minutes_without_passages():
    minutes = [0, 5, 6, 11, 12, 17, 23, 29]
    lines = [f"08 00:{minute:02d} a " + ("+2 -0" if minute % 2 else "+0 -1") for minute in minutes]
    groups = _groups(written_grid(*lines, "08 00:23 b +1 -1", "08 00:26 b +1 -0"))
    passed = np.zeros(60)
    passed[minutes] = 1
    expected = [m for m in minutes if not passed[max(m - 5, 0) : m].any()]
    assert np.flatnonzero(groups[0]).tolist() == expected == [0, 23, 29]
    assert np.flatnonzero(groups[1]).tolist() == [23]


def test_gaps_are_marked_as_not_counted():
    passages = written("08 08:00 a +1 -1", "08 09:00 b +1 -1")
    marked = mark_gaps(passages, [gap("b", "08 08:59", "08 09:00", "silent")])
    expected = written("08 08:00 a +1 -1", "08 08:59 b +0 -0 0", "08 09:00 b +1 -1 0")
    pd.testing.assert_frame_equal(marked, expected)
    assert mark_gaps(passages, []) is passages
