"""Issues of a ledger as counted: kind, time, message and size, in cases worked by hand."""

import pandas as pd
import pytest
from groundtruth.written_passages import not_counted_on, written_grid

from occupair import InputError
from occupair.groundtruth.ledger.clock_offsets import ClockCorrection
from occupair.groundtruth.ledger.coverage import LogGap
from occupair.groundtruth.ledger.directions import SwappedDoor
from occupair.groundtruth.ledger.issues import LedgerIssue, find_issues
from occupair.groundtruth.ledger.overnight import OvernightStay


def at(text):
    """Time of a day of January 2024."""
    return pd.Timestamp(f"2024-01-{text}")


def issues(*lines, reset="00:00", quiet_after="23:30", capacity=None, **found):
    grid = written_grid(*lines, reset=reset)
    return find_issues(grid, capacity=capacity, reset=reset, quiet_after=quiet_after, **found)


def of_kind(kind, *lines, **settings):
    return [issue for issue in issues(*lines, **settings) if issue.kind == kind]


def balanced(day):
    return [f"{day} 08:00 a +1 -0", f"{day} 17:00 a +0 -1"]


def test_findings_of_other_modules_are_listed_in_order():
    stay = OvernightStay(at("09"), 2, at("09 03:30"), "a", "05:00", before_log=False)
    found = issues(
        *balanced("08"),
        *balanced("09"),
        swapped_doors=[SwappedDoor("a", "the balance is better.")],
        clock_corrections=[ClockCorrection("b", -7, -8, -6, 3.0, "its clock is ahead.")],
        overnight_stays=[stay],
        gaps=[
            LogGap("a", at("09 12:00"), at("09 12:29"), "its log ends"),
            LogGap("b", at("09 12:00"), at("09 12:29"), "no door has data", expected=False),
        ],
    )
    assert found == [
        LedgerIssue("clock", at("08"), "b: its clock is ahead.", 7.0),
        LedgerIssue(
            "direction", at("08"), "a: entries and exits seem to be swapped: the balance is better.", 1.0
        ),
        LedgerIssue("overnight", at("09"), str(stay), 2.0),
        LedgerIssue(
            "gap",
            at("09 12:00"),
            "a: its log ends: not counted from 2024-01-09 12:00 to 2024-01-09 12:29 (30 minutes): passages "
            "in "
            "this time are missing.",
            30.0,
        ),
    ]
    assert [type(issue.size) for issue in found] == [float] * 4


def test_balance_is_judged_once_stays_are_explained():
    grid = written_grid("08 20:00 a +1 -0", "09 03:30 a +0 -1")
    explained = written_grid("08 20:00 a +1 -1", "09 03:30 a +1 -1")
    settings = {"capacity": None, "reset": "00:00", "quiet_after": "23:30"}
    assert [issue.kind for issue in find_issues(grid, **settings)] == ["left_at_reset", "negative"]
    assert find_issues(grid, explained=explained, **settings) == []


def test_negative_occupancy():
    # -1 from 08:00 to 08:59, 0, -2 from 10:00 to 10:00
    second = ["09 08:00 a +0 -1", "09 09:00 a +1 -0", "09 10:00 a +0 -2", "09 10:01 a +2 -0"]
    assert issues(*balanced("08"), *second) == [
        LedgerIssue(
            "negative",
            at("09 08:00"),
            "2024-01-09 08:00: occupancy is negative, down to -2, for 61 minutes of the day: missed "
            "entries or "
            "exits counted twice.",
            2.0,
        )
    ]


@pytest.mark.parametrize(("people", "who"), [(1, "1 person"), (2, "2 people")])
def test_people_left_at_the_end_of_the_day(people, who):
    assert issues(f"08 09:00 a +{people} -0", *balanced("09")) == [
        LedgerIssue(
            "left_at_reset",
            at("08 23:59"),
            f"2024-01-08: {who} left in the room at the end of the day: missed exits or entries counted "
            "twice.",
            float(people),
        )
    ]


def test_balance_of_an_uncounted_day_is_not_judged():
    lines = [*balanced("08"), *not_counted_on("09", "b"), "09 08:00 a +0 -1", "09 09:00 a +3 -0"]
    assert [issue.kind for issue in issues(*lines)] == ["gap"]


def test_passages_after_hours():
    lines = ["09 00:00 a +1 -0", "09 23:29 a +2 -0", "09 23:30 b +0 -2", "09 23:59 a +0 -1"]
    assert issues(*balanced("08"), *lines, *balanced("10")) == [
        LedgerIssue(
            "after_hours",
            at("09 23:30"),
            "2024-01-09 23:30: 3 passages after 23:30, the last at 23:59: late workers, cleaners or a wrong "
            "clock?",
            3.0,
        )
    ]


def test_quiet_hours_over_midnight():
    times = ["08 22:14", "08 22:15", "08 23:59", "09 00:00", "09 04:29", "09 04:30"]
    passages = [f"{time} a +1 -1" for time in times]
    found = issues(*passages, reset="04:30", quiet_after="22:15")
    assert [(issue.time, issue.size) for issue in found] == [(at("08 22:15"), 8.0)]
    assert found[0].message.startswith("2024-01-08 22:15: 8 passages after 22:15, the last at 04:29: ")
    assert issues("08 04:30 a +1 -1", reset="04:30", quiet_after="04:30") == []


def test_invalid_times_of_day_are_rejected():
    with pytest.raises(InputError, match=r"^quiet_after must be a time of day"):
        issues(*balanced("08"), quiet_after="late")
    grid = written_grid(*balanced("08"))
    with pytest.raises(InputError, match=r"^reset must be a time of day"):
        find_issues(grid, capacity=None, reset="24:00", quiet_after="23:30")


def test_occupancy_above_capacity():
    # 3 people from 09:00 to 09:00, 5 from 10:00 to 10:29
    lines = ["09 08:00 a +2 -0", "09 09:00 a +1 -0", "09 09:01 a +0 -1", "09 10:00 a +3 -0"]
    lines += ["09 10:30 a +0 -3", "09 17:00 a +0 -2"]
    assert issues(*balanced("08"), *lines, capacity=2) == [
        LedgerIssue(
            "over_capacity",
            at("09 09:00"),
            "2024-01-09 09:00: up to 5 people, above the capacity of 2, for 31 minutes: missed exits or "
            "entries "
            "counted twice.",
            3.0,
        )
    ]
    assert issues(*balanced("08"), *lines, capacity=5) == []
    assert issues(*balanced("08"), *lines) == []


def repeats(number, *, total, surplus, way="entered"):
    """Repeats in as many minutes, and people in excess or missing."""
    rest = total - number
    if way == "entered":
        lines = [f"08 08:{minute:02d} a +1~1 -0" for minute in range(1, number + 1)]
        return [*lines, f"08 08:00 a +{rest} -0", f"08 17:00 a +0 -{total - surplus}"]
    lines = [f"08 17:{minute:02d} a +0 -1~1" for minute in range(1, number + 1)]
    return [*lines, f"08 08:00 a +{total - surplus} -0", f"08 17:00 a +0 -{rest}"]


@pytest.mark.parametrize(
    ("number", "total", "surplus", "reported"),
    [
        (3, 100, 3, True),
        (2, 20, 3, False),  # too few
        (3, 101, 3, False),  # less than 3 % of the entries
        (10, 40, 3, True),
        (10, 40, 2, False),  # fewer people in excess
        (11, 40, 3, False),  # less than 30 % of the repeats
        (5, 40, 4, True),
    ],
)
@pytest.mark.parametrize("way", ["entered", "left"])
def test_quick_repeats(number, total, surplus, reported, way):
    found = of_kind("doubles", *repeats(number, total=total, surplus=surplus, way=way))
    what, first = ("entries", "08 08:01") if way == "entered" else ("exits", "08 17:01")
    message = (
        f"a: {number} of {total} {what} came within seconds of the previous one: a group, or one person "
        "counted "
        "twice."
    )
    assert found == ([LedgerIssue("doubles", at(first), message, float(number))] if reported else [])


def test_quick_repeats_of_the_other_direction_are_no_explanation():
    lines = ["08 08:00 a +9 -0", "08 17:00 a +0 -5~5"]
    assert of_kind("doubles", *lines) == []


def pair(minute, other=0, *, doors="ab", way="+1 -0", weight=1):
    """One person at each of two doors, the second some minutes later."""
    times = [pd.Timestamp("2024-01-08 06:00") + pd.Timedelta(minutes=m) for m in (minute, minute + other)]
    return [f"{time:%d %H:%M} {door} {way} {weight}" for time, door in zip(times, doors, strict=True)]


def coincidences(number, *, doors="ab"):
    """Pairs in the same minute, in both directions, 40 min apart; the first are exits."""
    return [
        line for k in range(number) for line in pair(40 * k, doors=doors, way="+0 -1" if k < 2 else "+1 -0")
    ]


def at_both(*lines):
    return [(issue.message, issue.time, issue.size) for issue in of_kind("doubles", *lines)]


def both(number, usual, *, doors="a and b"):
    message = (
        f"{doors}: both counted one person in the same direction and minute {number} times; {usual} would be "
        "expected: one person counted at both?"
    )
    return [(message, at("08 06:00"), number - usual)]


def test_person_counted_at_both_doors():
    assert at_both(*coincidences(5)) == both(5, 0)
    assert at_both(*coincidences(4)) == []
    assert at_both(*(line for k in range(5) for line in pair(40 * k))) == both(5, 0)
    assert at_both(*coincidences(6, doors="ac"), "08 05:00 b +1 -0") == both(6, 0, doors="a and c")
    assert at_both(*coincidences(6, doors="bc"), "08 05:00 a +1 -0") == both(6, 0, doors="b and c")


@pytest.mark.parametrize("lag", [-16, -15, -2, -1, 1, 2, 15, 16])
def test_coincidences_are_compared_with_other_lags(lag):
    """At a lag of one minute somebody may have walked from one door to the other."""
    thirteen = coincidences(13)
    others = [line for k in range(3) for line in pair(600 + 40 * k, lag)]
    usual = 3 if abs(lag) in (2, 15) else 0
    assert at_both(*thirteen, *others) == both(13, usual)  # 10 is 5 deviations of 3 + 1
    if usual:
        assert at_both(*coincidences(12), *others) == []


def test_coincidences_need_certain_single_passages():
    five = coincidences(5)
    assert at_both(*five, *pair(500, weight=0.5), *pair(600, way="+2 -0")) == both(5, 0)
    assert at_both(*five, *pair(500, 2, weight=0.5)) == both(5, 0)
    opposite = ["08 20:00 a +1 -0", "08 20:00 b +0 -1", "08 05:00 a +1 -0", "08 05:00 b +0 -1"]
    assert at_both(*five, *opposite) == both(5, 0)


def test_coincidences_are_a_tenth_of_the_passages():
    # 5 of 50 at door a
    assert at_both(*coincidences(5), "08 04:00 a +20 -25", "08 05:00 b +60 -0") == both(5, 0)
    assert at_both(*coincidences(5), "08 04:00 a +20 -26", "08 05:00 b +60 -0") == []


def drifting(*imbalances, people=0, first=8):
    """Days on which people more enter than leave, with further people who do both."""
    lines = []
    for k, more in enumerate(imbalances):
        entered, left = (max(more, 0), max(-more, 0))
        lines += [f"{first + k:02d} 09:00 a +{entered} -{left}", f"{first + k:02d} 10:00 b +1 -1"]
    return [*lines, f"{first:02d} 09:30 a +{people} -{people}"]


def test_counter_drift():
    # 16 errors: 10 people are 2.5 standard deviations, and 1 % of half of the 16 + 6 + 1978 passages
    [issue] = of_kind("drift", *drifting(13, -3, 0, people=989))
    assert issue == LedgerIssue(
        "drift",
        at("08"),
        "Counter drift: 10 more entries than exits in 3 days, 3.3 per day or 1.0 %, in the same direction "
        "on 1 of "
        "3 days. By door: a: 1.0 % fewer exits than entries (1002 entries, 992 exits); b: as many exits as "
        "entries "
        "(3 each).",
        10 / 3,
    )
    assert of_kind("drift", *drifting(13, -3, 0, people=990)) == []
    assert of_kind("drift", *drifting(13, -4, 0)) == []


def test_counter_drift_of_exits():
    [issue] = of_kind("drift", *drifting(-3, -3, 0), "10 23:59 b +0 -1")
    # 7 of 7 + 6 passages
    assert issue.message.startswith(
        "Counter drift: 7 more exits than entries in 3 days, 2.3 per day or 107.7 %, in the same direction "
        "on 3 "
        "of 3 days. By door: "
    )
    assert issue.size == 7 / 3
    assert of_kind("drift", *drifting(-3, -3, 0)) == []


def test_counter_drift_needs_three_complete_days():
    assert of_kind("drift", *drifting(10, 10)) == []
    three = drifting(10, 10, 10)
    assert len(of_kind("drift", *three)) == 1
    for minute in ("09:00", "09:59", "10:00"):  # from the first passage to the last
        assert of_kind("drift", *three, f"10 {minute} b +0 -0 0") == []
    for minute in ("08:59", "10:01"):
        assert len(of_kind("drift", *three, f"10 {minute} b +0 -0 0")) == 1
    assert of_kind("drift", *drifting(10, 10), "10 09:00 a +0 -0", "11 09:00 a +0 -0") == []
    [issue] = of_kind("drift", *drifting(10, 4, 10, 1), "11 09:30 b +0 -0 0")
    assert issue.size == 24 / 3


def test_minutes_marked_as_not_counted():
    marked = [f"09 12:{minute:02d} b +0 -0 0" for minute in range(31)]
    gaps = [
        LogGap("b", at("09 12:10"), at("09 12:28"), "silent", expected=False),
        LogGap("a", at("09 12:00"), at("09 12:30"), "silent", expected=False),
    ]
    lines = [*balanced("08"), *balanced("09"), "09 11:00 a +0 -0 0", *marked]
    missing = "passages in this time are missing."
    assert issues(*lines, gaps=gaps) == [
        LedgerIssue("gap", at("09 11:00"), f"a: not counted at 2024-01-09 11:00 (1 minute): {missing}", 1.0),
        LedgerIssue(
            "gap",
            at("09 12:00"),
            f"b: not counted from 2024-01-09 12:00 to 2024-01-09 12:09 (10 minutes): {missing}",
            10.0,
        ),
        LedgerIssue(
            "gap",
            at("09 12:29"),
            f"b: not counted from 2024-01-09 12:29 to 2024-01-09 12:30 (2 minutes): {missing}",
            2.0,
        ),
    ]


def test_working_days_without_data():
    """Friday 5 to Monday 8 January has a weekend; a Tuesday and a Thursday are missing."""
    lines = [line for day in ("05", "08", "10", "12", "15") for line in balanced(day)]
    assert issues(*lines) == [
        LedgerIssue(
            "gap",
            at("10"),
            "No data from any door on 2 days (2024-01-09 and 2024-01-11): room unused or not counted? "
            "Excluded.",
            2 * 1440.0,
        )
    ]


def test_day_beyond_correction():
    lines = [*balanced("08"), "09 08:00 a +0 -300", "09 09:00 a +100 -0"]
    [issue] = of_kind("hopeless", *lines, beyond_correction=[1])
    assert issue == LedgerIssue(
        "hopeless",
        at("09"),
        "2024-01-09: the balance is off by hundreds of people; no correction is proposed and the day has "
        "weight "
        "0: is a door or a direction missing?",
        300.0,
    )
