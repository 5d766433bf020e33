"""Findings, sentences and tables of made-up rooms, worked by hand."""

import json
import math
import re

import pandas as pd
import pytest
from utilisation.sample_rooms import FIRST, OPEN, sample_counts, sample_meetings, sample_room

from occupair.errors import InputError
from occupair.utilisation.findings import data_quality, find_findings, headline, summary
from occupair.utilisation.report_page import render_report
from occupair.utilisation.room_order import RoomOrder
from occupair.utilisation.room_usage import RoomInfo, RoomUsage
from occupair.utilisation.tables import TABLES, write_tables

NO_MODEL = RoomUsage(RoomInfo("attic"), problem="the room has no model")


def test_figures_of_a_room():
    """Six people for 8 of 10 opening hours, in a room with 20 seats."""
    room = sample_room()
    assert room.open_days == 20
    assert room.hours_per_day == pytest.approx(8)
    assert room.share_in_use() == pytest.approx(0.8)
    assert room.mean() == pytest.approx(4.8)
    assert (room.mean("low"), room.mean("high")) == (pytest.approx(0.8 * 4.8), pytest.approx(1.2 * 4.8))
    assert room.capacity_used() == pytest.approx(0.24)
    assert room.people_in_use == pytest.approx(6)
    assert (room.peak(), room.peak("peak_high")) == (6, pytest.approx(7.2))
    assert room.seats == (13, 14)
    assert room.outside_per_day == 0


def test_bad_days_are_left_out_of_all_figures():
    counts = sample_counts(6.0)
    counts.loc["2024-03-05"] = math.nan
    counts.loc["2024-03-05 12:00":"2024-03-05 13:00", ["people", "low", "high"]] = 20.0
    order = RoomOrder(RoomInfo("lab", capacity=20), OPEN)
    room = order.usage(counts)
    assert room.left_out == {"too little data": 1}
    assert (room.open_days, room.mean(), room.peak()) == (19, pytest.approx(4.8), 6)
    assert room.grid.loc[(1, 12), "people"] == 6
    assert room.grid.loc[(1, 12), "hours"] == 3


def test_period_of_an_order():
    order = RoomOrder(RoomInfo("lab"), OPEN, pd.Timestamp("2024-03-11"), pd.Timestamp("2024-03-15"))
    room = order.usage(sample_counts(6.0))
    assert (room.days.index[0], room.days.index[-1]) == (order.first, order.last)
    assert room.open_days == 5
    late = RoomOrder(RoomInfo("lab"), OPEN, pd.Timestamp("2025-01-01"), pd.Timestamp("2025-01-02"))
    assert late.usage(sample_counts(6.0)).problem == "no counts in this period"


def test_meetings_of_a_room():
    room = sample_room(meetings=sample_meetings())
    assert (len(room.judged), len(room.empty)) == (8, 4)
    assert room.unbooked_hours == pytest.approx(20 * 8 - 4 * 1.5)  # less four meetings with their margins
    assert room.freed_hours == 0


def test_meetings_outside_the_period_are_ignored():
    """A series that began years before the first count has no unknown meetings for these years."""
    events = tuple(sample_meetings(weeks=60))
    room = RoomOrder(RoomInfo("lab"), OPEN, events=events).usage(sample_counts(6.0))
    assert [one.outcome for one in room.meetings] == ["used", "empty"] * 4
    week = RoomOrder(RoomInfo("lab"), OPEN, last=pd.Timestamp("2024-03-10"), events=events)
    assert len(week.usage(sample_counts(6.0)).meetings) == 2


def test_meetings_on_the_clock_of_the_room():
    order = RoomOrder(RoomInfo("lab"), OPEN, events=tuple(sample_meetings()))
    assert len(order.usage(sample_counts(6.0, zone=None)).empty) == 4
    local = tuple(
        one._replace(start=one.start.tz_localize(None), end=one.end.tz_localize(None)) for one in order.events
    )
    with pytest.raises(InputError, match="counts have a UTC offset, and meetings are in local time: give"):
        RoomOrder(RoomInfo("lab"), OPEN, events=local).usage(sample_counts(6.0))


def test_peak_at_the_limit_of_the_model():
    counts = sample_counts(6.0)
    order = RoomOrder(RoomInfo("lab", capacity=20), OPEN)
    found = [order.usage(counts, limit=limit) for limit in (6.0, 7.2, 9.0)]  # the peak is 6 (4.8 to 7.2)
    assert [room.is_at_limit for room in found] == [True, False, False]
    assert [room.is_interval_at_limit for room in found] == [True, True, False]


def test_findings_rank_the_clearest_room_first():
    rooms = [
        sample_room("a", 2.0, capacity=20),  # at least 18 of 20 seats never used
        sample_room("b", 2.0, capacity=10),  # 8 of 10
        sample_room("c", 19.0, capacity=20),  # always full
        sample_room("d", 0.0, capacity=4, stuck=(0, 1, 2, 3)),  # never in use, 4 of 20 open days left out
        NO_MODEL,
    ]
    found = {one.key: (one.rooms, one.details) for one in find_findings(rooms)}
    assert found["large"] == ((0, 1, 3), ("18 of 20 seats", "8 of 10 seats", "4 of 4 seats"))
    assert found["rare"] == ((3,), ("0 % of the opening hours",))
    assert found["full"] == ((2,), ("full on 100 % of the days",))
    assert found["sensor"] == ((3,), ("4 of 28 days left out",))


def test_room_at_the_limit_of_its_model_is_not_called_large():
    room = RoomOrder(RoomInfo("lab", capacity=40), OPEN).usage(sample_counts(6.0), limit=6.0)
    assert [one.key for one in find_findings([room])] == []


def test_summary_warns_if_more_people_than_the_model_knows_may_have_come():
    known, unknown = (
        RoomOrder(RoomInfo(f"limit {limit:g}", capacity=40), OPEN).usage(sample_counts(6.0), limit=limit)
        for limit in (9.0, 7.2)
    )
    warning = "More people than in training may have come"
    assert warning not in summary([known])
    assert f"{warning}: take head counts on the busiest days." in summary([unknown])
    assert f"{warning} in 1 room: take head counts on the busiest days." in summary([known, unknown])


def test_booking_findings():
    rooms = [sample_room("a", 6.0, meetings=sample_meetings()), sample_room("b", 6.0, meetings=[])]
    found = {one.key: (one.rooms, one.details) for one in find_findings(rooms)}
    assert found["empty"] == ((0,), ("4 of 8 meetings",))
    assert found["unbooked"] == ((1, 0), ("160 h", "154 h"))


def test_summary_of_rooms():
    rooms = [
        sample_room("a", 2.0, capacity=20, meetings=sample_meetings()),
        sample_room("b", 10.0, capacity=12, meetings=[]),
        NO_MODEL,
    ]
    assert headline(rooms) == "2 rooms, 30 % of their seats used in opening hours."  # (1.6 + 8) / 32
    assert summary(rooms) == (
        "On average a room was in use for 8.0 hours per open day, with 6.0 people when in use. "
        "At least 18 of 32 seats were never used. 1 of 3 rooms had at least half of their seats never used. "
        "Nobody came to 4 of 8 meetings (50 %). a was booked 4 times without anybody in it. "
        "1 room has no figures; the table says why."
    )
    assert data_quality(rooms) == "All 56 room-days have good data."


def test_summary_of_one_room():
    room = sample_room(stuck=(1,))
    assert headline([room]) == "lab: in use for 8.0 h per open day, 24 % of its seats used."
    assert "At least 13 of its 20 seats were never used (14 by the best estimate)." in summary([room])
    assert data_quality([room]) == "1 of 28 days is left out of all figures: sensor stuck on 1."


def test_rooms_without_seats_or_figures():
    room = sample_room(capacity=None)
    assert headline([room]) == "lab: in use for 8.0 h per open day, with 6.0 people on average."
    assert headline([room, room]) == "2 rooms, in use for 8.0 h per day on average."
    assert headline([sample_room(people=0.0, capacity=None)]) == "lab: in use for 0.0 h per open day."
    assert headline([NO_MODEL]) == "No room has figures for this period."
    faulty = sample_room(stuck=range(28))
    assert headline([faulty]) == headline([faulty, faulty]) == "No room has figures for this period."
    assert summary([NO_MODEL]) == "1 room has no figures; the table says why."


def test_tables(tmp_path):
    rooms = [sample_room("=lab", 6.0, meetings=sample_meetings(), stuck=(1,)), NO_MODEL]
    written = write_tables(rooms, tmp_path / "report.html")
    assert [path.name for path in written] == [f"report-{name}.csv" for name in TABLES]
    tables = {name: pd.read_csv(path) for name, path in zip(TABLES, written, strict=True)}
    lab, attic = tables["rooms"].to_dict("records")
    assert lab["room"] == "'=lab"  # not a formula
    assert (lab["people_mean"], lab["people_mean_high"], lab["capacity_used"]) == (4.8, 5.76, 0.24)
    assert (lab["seats_never_used"], lab["days_left_out"], lab["left_out_because"]) == (
        13,
        1,
        "sensor stuck: 1",
    )
    assert (lab["meetings"], lab["meetings_without_people"]) == (8, 4)
    assert attic["problem"] == "the room has no model"
    assert len(tables["days"]) == 28
    assert tables["days"].loc[1, "left_out_because"] == "sensor stuck"
    assert len(tables["hours"]) == 168
    assert tables["hours"].query("weekday == 'mon' and hour == 9")["people"].tolist() == [6.0]
    assert tables["weeks"]["good_open_days"].tolist() == [4, 5, 5, 5]
    assert tables["meetings"]["outcome"].value_counts().to_dict() == {"unbooked": 23, "used": 4, "empty": 4}


def test_rooms_without_figures_have_one_table(tmp_path):
    assert [path.name for path in write_tables([NO_MODEL], tmp_path / "report.html")] == ["report-rooms.csv"]


def page_json(html):
    return json.loads(re.search(r'id="rooms-data">(.*?)</script>', html, re.DOTALL)[1])


def test_page_data():
    rooms = [sample_room("lab 10"), sample_room("lab 9", stuck=(1,)), NO_MODEL]
    html = render_report(rooms, opening=OPEN, method="By hand.")
    data = page_json(html)
    assert data["name"] == ["attic", "lab 9", "lab 10"]
    assert data["numbers"]["used"] == [None, 0.24, 0.24]
    nine = data["rooms"][1]
    assert (nine["first"], data["statuses"], nine["status"][:3]) == (FIRST, ["", "sensor stuck"], [0, 1, 0])
    assert nine["grid"]["people"][9], nine["grid"]["high"][9] == (60, 72)
    assert data["open"] == [24 * day + hour for day in range(5) for hour in range(8, 18)]
    assert "http:" not in html.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("shown", [True, False])
def test_subjects_of_meetings_are_on_the_page_only_on_request(shown):
    room = sample_room(meetings=sample_meetings(title="Secret </script> plan"))
    html = render_report([room], opening=OPEN, method="By hand.", show_titles=shown)
    assert ("Secret" in html) is shown
    assert len(page_json(html)["rooms"][0]["meetings"]) == 8
