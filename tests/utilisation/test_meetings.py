"""Meetings and use without meetings, worked by hand on one day with a count every 5 min."""

import math

import pandas as pd
import pytest

from occupair.utilisation.calendar_events import CalendarEvent
from occupair.utilisation.meetings import judge_meetings, unbooked_use

DAY = "2024-03-18"


def clock(time):
    return pd.Timestamp(f"{DAY} {time}", tz="Europe/Copenhagen")


def meeting(start, end):
    return CalendarEvent(clock(start), clock(end), "Sync", ())


def room(*visits):
    """Counts of an empty room with visits (start, end, people, low, high)."""
    times = pd.date_range(DAY, periods=288, freq="5min", tz="Europe/Copenhagen")
    counts = pd.DataFrame({"people": 0.0, "low": 0.0, "high": 0.3}, index=times)
    for start, end, *values in visits:
        counts.loc[(times >= clock(start)) & (times < clock(end)), ["people", "low", "high"]] = values
    return counts


def judge(counts, start="09:00", end="10:00"):
    (judged,) = judge_meetings(counts, [meeting(start, end)])
    return judged


def test_meeting_with_people():
    judged = judge(room(("08:50", "10:10", 6, 4, 8)))
    assert (judged.outcome, judged.people, judged.late, judged.freed) == ("used", 6, 0, 0)
    assert (judged.title, judged.hours) == ("Sync", 1)


def test_late_start_and_early_end():
    judged = judge(room(("09:10", "09:35", 6, 4, 8)))
    assert (judged.outcome, judged.late, judged.freed) == ("used", 10, 25)


def test_meeting_without_people():
    judged = judge(room())
    assert (judged.outcome, judged.clear, judged.people) == ("empty", True, 0)


def test_meeting_that_may_have_had_people_is_not_clearly_empty():
    judged = judge(room(("09:00", "10:00", 0.4, 0, 1.4)))
    assert (judged.outcome, judged.clear) == ("empty", False)


def test_people_who_leave_are_no_meeting():
    assert judge(room(("08:00", "09:05", 6, 4, 8))).outcome == "empty"
    assert judge(room(("08:00", "09:10", 6, 4, 8))).outcome == "used"


def test_short_meeting_needs_half_of_its_time():
    assert judge(room(("09:00", "09:05", 6, 4, 8)), end="09:10").outcome == "used"


@pytest.mark.parametrize(("missing", "outcome"), [("09:15", "used"), ("09:30", "unknown")])
def test_missing_counts(missing, outcome):
    nothing = (math.nan,) * 3
    assert judge(room(("09:00", "10:00", 6, 4, 8), ("09:00", missing, *nothing))).outcome == outcome


def test_meeting_after_the_last_count_is_unknown():
    assert judge(room().iloc[:100], "12:00", "13:00").outcome == "unknown"


def test_counts_without_intervals_are_never_clear():
    judged = judge(room()[["people"]])
    assert (judged.outcome, judged.clear) == ("empty", False)


def test_use_without_a_meeting():
    counts = room(("08:00", "08:30", 3, 2, 4), ("09:00", "10:10", 6, 4, 8), ("14:00", "16:00", 2, 1, 3))
    found = unbooked_use(counts, [meeting("09:00", "10:00")])
    assert [(one.start, one.end, one.people) for one in found] == [
        (clock("08:00"), clock("08:30"), 3),  # until 08:30, a quarter of an hour before the margin
        (clock("14:00"), clock("16:00"), 2),
    ]
    assert found[1].hours == 2


def test_short_visits_are_no_use():
    assert unbooked_use(room(("08:00", "08:10", 3, 2, 4)), []) == []


def test_visit_ends_at_a_gap():
    counts = room(("08:00", "12:00", 3, 2, 4))
    counts = counts[(counts.index < clock("09:00")) | (counts.index >= clock("11:00"))]
    assert [(one.start, one.end) for one in unbooked_use(counts, [])] == [
        (clock("08:00"), clock("09:00")),
        (clock("11:00"), clock("12:00")),
    ]
