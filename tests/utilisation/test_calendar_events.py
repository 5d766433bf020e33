"""Calendar files as Outlook and Google export them, with meetings worked out by hand."""

import sys
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from occupair.errors import InputError
from occupair.utilisation.calendar_events import (
    CalendarEvent,
    assign_events,
    calendar_files,
    read_calendar,
)

COPENHAGEN = ZoneInfo("Europe/Copenhagen")

OUTLOOK = """BEGIN:VCALENDAR
PRODID:-//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN
VERSION:2.0
METHOD:PUBLISH
BEGIN:VTIMEZONE
TZID:W. Europe Standard Time
BEGIN:STANDARD
DTSTART:16011028T030000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010325T020000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VEVENT
UID:040000008200E00074C5B7101A82E008
DTSTAMP:20240101T000000Z
DTSTART;TZID="W. Europe Standard Time":20240318T090000
DTEND;TZID="W. Europe Standard Time":20240318T103000
RRULE:FREQ=WEEKLY;COUNT=4;BYDAY=MO
EXDATE;TZID="W. Europe Standard Time":20240325T090000
SUMMARY;LANGUAGE=en-us:Weekly
  sync
LOCATION:Lab 7; Online
TRANSP:OPAQUE
X-MICROSOFT-CDO-BUSYSTATUS:BUSY
END:VEVENT
BEGIN:VEVENT
UID:040000008200E00074C5B7101A82E008
DTSTAMP:20240101T000000Z
RECURRENCE-ID;TZID="W. Europe Standard Time":20240408T090000
DTSTART;TZID="W. Europe Standard Time":20240408T140000
DTEND;TZID="W. Europe Standard Time":20240408T150000
SUMMARY:Weekly sync (moved)
LOCATION:Lab 7
END:VEVENT
BEGIN:VEVENT
UID:free
DTSTAMP:20240101T000000Z
DTSTART;TZID=W. Europe Standard Time:20240319T090000
DTEND;TZID=W. Europe Standard Time:20240319T100000
SUMMARY:Reminder
X-MICROSOFT-CDO-BUSYSTATUS:FREE
END:VEVENT
BEGIN:VEVENT
UID:allday
DTSTAMP:20240101T000000Z
DTSTART;VALUE=DATE:20240320
DTEND;VALUE=DATE:20240321
SUMMARY:Holiday
X-MICROSOFT-CDO-ALLDAYEVENT:TRUE
END:VEVENT
END:VCALENDAR
"""

GOOGLE = """BEGIN:VCALENDAR
PRODID:-//Google Inc//Google Calendar 70.9054//EN
VERSION:2.0
CALSCALE:GREGORIAN
X-WR-CALNAME:Rooms
X-WR-TIMEZONE:Europe/Copenhagen
BEGIN:VEVENT
DTSTART:20240318T080000Z
DTEND:20240318T090000Z
DTSTAMP:20240101T000000Z
UID:one@google.com
STATUS:CONFIRMED
SUMMARY:Interview
CLASS:PRIVATE
TRANSP:OPAQUE
ATTENDEE;CUTYPE=RESOURCE;PARTSTAT=ACCEPTED;CN=Lab 7:mailto:lab7@resource.calendar.google.com
ATTENDEE;CUTYPE=RESOURCE;PARTSTAT=DECLINED;CN=Hall:mailto:hall@resource.calendar.google.com
ATTENDEE;CUTYPE=INDIVIDUAL;CN=Ann:mailto:ann@example.com
END:VEVENT
BEGIN:VEVENT
DTSTART:20240319T080000Z
DURATION:PT45M
DTSTAMP:20240101T000000Z
UID:two@google.com
STATUS:CANCELLED
SUMMARY:Cancelled
END:VEVENT
BEGIN:VEVENT
DTSTART:20240319T100000Z
DURATION:PT45M
DTSTAMP:20240101T000000Z
UID:three@google.com
SUMMARY:Short talk
END:VEVENT
BEGIN:VEVENT
DTSTART:20240319T120000Z
DTEND:20240319T130000Z
DTSTAMP:20240101T000000Z
UID:four@google.com
TRANSP:TRANSPARENT
SUMMARY:Out for lunch
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def read(tmp_path):
    """Read a calendar in March and April 2024 in Copenhagen, or in another zone."""

    def read(text, zone=COPENHAGEN):
        path = tmp_path / "calendar.ics"
        path.write_bytes(text.replace("\n", "\r\n").encode())
        since, until = (pd.Timestamp(day, tz=zone) for day in ("2024-03-01", "2024-05-01"))
        return read_calendar(path, since=since, until=until, zone=zone)

    return read


def at(text, zone=COPENHAGEN):
    return pd.Timestamp(text, tz=zone)


def test_outlook_series_with_exceptions(read):
    """Four Mondays from 18 March: one deleted, one moved to the afternoon; the clock changes on 31 March."""
    found = read(OUTLOOK)
    assert [(event.start, event.end) for event in found] == [
        (at("2024-03-18 09:00"), at("2024-03-18 10:30")),
        (at("2024-04-01 09:00"), at("2024-04-01 10:30")),
        (at("2024-04-08 14:00"), at("2024-04-08 15:00")),
    ]
    assert found[0].title == "Weekly sync"
    assert found[0].places == ("Lab 7; Online", "Lab 7", "Online")
    assert found[1].start.utcoffset() == pd.Timedelta(hours=2)


def test_google_events_in_utc(read):
    found = read(GOOGLE)
    assert [(event.start, event.end, event.title) for event in found] == [
        (at("2024-03-18 09:00"), at("2024-03-18 10:00"), ""),  # private
        (at("2024-03-19 11:00"), at("2024-03-19 11:45"), "Short talk"),
    ]
    assert found[0].places == ("Lab 7",)  # the hall declined, Ann is no room


def test_windows_zone_without_definition(read):
    """Some exports name a Windows time zone and do not define it."""
    start, end = OUTLOOK.index("BEGIN:VTIMEZONE"), OUTLOOK.index("BEGIN:VEVENT")
    assert read(OUTLOOK[:start] + OUTLOOK[end:])[0].start == at("2024-03-18 09:00")


def test_times_without_zone_are_local(read):
    text = (
        GOOGLE.replace("080000Z", "080000").replace("090000Z", "090000").replace("X-WR-TIMEZONE", "X-OTHER")
    )
    assert read(text)[0].start == at("2024-03-18 08:00")


def test_events_are_limited_to_the_period(read):
    assert read(OUTLOOK.replace("202403", "202303").replace("202404", "202304")) == []


def test_zoned_times_of_a_room_in_local_time(read):
    assert read(OUTLOOK, zone=None)[0].start == pd.Timestamp("2024-03-18 09:00")


def test_utc_times_of_a_room_in_local_time_are_rejected(read):
    with pytest.raises(InputError, match=r"calendar\.ics: times are in UTC, .* state --timezone"):
        read(GOOGLE.replace("X-WR-TIMEZONE", "X-OTHER"), zone=None)


@pytest.mark.parametrize("text", ["", "room,time\nlab,1\n", "BEGIN:VCALENDAR\nBEGIN:VEVENT\n"])
def test_other_files_are_rejected(read, text):
    with pytest.raises(InputError, match=r"calendar\.ics: is not a calendar file"):
        read(text)


def test_invalid_event_is_rejected(read):
    with pytest.raises(InputError, match=r"calendar\.ics: (has an invalid event|is not a calendar file)"):
        read(GOOGLE.replace("DTSTART:20240319T100000Z", "DTSTART:yesterday"))
    twice = "DTSTART:20240319T100000Z\nDTSTART:20240320T100000Z"
    with pytest.raises(InputError, match=r"calendar\.ics: has an invalid event: .* more than one DTSTART"):
        read(GOOGLE.replace("DTSTART:20240319T100000Z", twice))


def test_missing_packages_are_named(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "icalendar", None)
    with pytest.raises(InputError, match=r"pip install 'occupair\[calendar\]'"):
        read(GOOGLE)


def event(*places, hour=9):
    start = pd.Timestamp("2024-03-18") + pd.Timedelta(hours=hour)
    return CalendarEvent(start, start + pd.Timedelta(hours=1), "", places)


NAMES = {"lab-7": ["lab-7", "Lab 7"], "hall": ["hall", "Great hall"]}


def test_file_named_like_a_room_has_its_meetings():
    events, others = assign_events({"Lab 7": [event("elsewhere")], "hall": []}, NAMES)
    assert (events, others) == ({"lab-7": [event("elsewhere")], "hall": []}, 0)


def test_meetings_are_assigned_by_location():
    in_both, nowhere = event("LAB 7, great hall", "LAB 7", "great hall"), event("Kitchen", hour=10)
    events, others = assign_events({"building": [in_both, nowhere]}, NAMES)
    assert (events, others) == ({"lab-7": [in_both], "hall": [in_both]}, 1)


def test_only_room_has_all_meetings_of_the_only_file():
    events, others = assign_events({"export": [event()]}, {"lab-7": ["lab-7"]})
    assert (events, others) == ({"lab-7": [event()]}, 0)


def test_only_room_has_its_own_meetings_if_the_file_names_rooms():
    events, others = assign_events({"export": [event("lab-7"), event("hall", hour=10)]}, {"lab-7": ["lab-7"]})
    assert (events, others) == ({"lab-7": [event("lab-7")]}, 1)


def test_calendar_folder(tmp_path):
    with pytest.raises(InputError, match="has no calendar files"):
        calendar_files(tmp_path)
    with pytest.raises(InputError, match=r"no\.ics: no such file or folder"):
        calendar_files(tmp_path / "no.ics")
    for name in ("b.ics", "a.ICS", "notes.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in calendar_files(tmp_path)] == ["a.ICS", "b.ics"]
