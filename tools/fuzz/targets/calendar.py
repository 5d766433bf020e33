"""Calendars: .ics files. The length chooses whether the room has a time zone."""

from __future__ import annotations

from random import Random
from zoneinfo import ZoneInfo

import pandas as pd

from occupair.utilisation.calendar_events import assign_events, read_calendar
from tools.fuzz.byte_mutations import mutate_bytes, random_bytes
from tools.fuzz.interesting import NUMBERS, TEXTS, ZONES
from tools.fuzz.scratch import scratch_file
from tools.fuzz.trial import check

_LINES = (
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//y//EN", "BEGIN:VEVENT", "UID:1@x",
    "DTSTAMP:20240101T000000Z", "DTSTART;TZID=Europe/Copenhagen:20240108T090000",
    "DTEND;TZID=Europe/Copenhagen:20240108T100000", "RRULE:FREQ=DAILY;COUNT=5",
    "EXDATE;TZID=Europe/Copenhagen:20240110T090000", "SUMMARY:Stand-up", "LOCATION:Lab 7; Hall",
    "ATTENDEE;CUTYPE=ROOM;CN=Lab 7:mailto:lab@x", "CLASS:PRIVATE", "TRANSP:OPAQUE", "STATUS:CONFIRMED",
    "END:VEVENT", "BEGIN:VEVENT", "UID:2@x", "DTSTART:20240109T090000Z", "DURATION:PT1H", "END:VEVENT",
    "BEGIN:VEVENT", "UID:1@x", "RECURRENCE-ID;TZID=Europe/Copenhagen:20240109T090000",
    "DTSTART:20240109T110000", "DTEND:20240109T120000", "END:VEVENT", "END:VCALENDAR",
)  # fmt: skip
_EXTRA = (
    "RRULE:FREQ=SECONDLY", "RRULE:FREQ=MINUTELY;INTERVAL=0", "RRULE:FREQ=DAILY;UNTIL=99991231T235959Z",
    "RRULE:FREQ=YEARLY", "RRULE:FREQ=WEEKLY;BYDAY=MO,XX", "RRULE:FREQ=DAILY;COUNT=-1",
    "RRULE:FREQ=DAILY;BYMONTH=13", "RRULE:COUNT=1", "RRULE:FREQ=MONTHLY;BYMONTHDAY=31;BYSETPOS=-400",
    "DTSTART;VALUE=DATE:20240108", "DTEND;VALUE=DATE:20240107", "DTSTART;TZID=Nowhere:20240108T090000",
    "DTSTART:00010101T000000Z", "DTEND:99991231T235959", "DTSTART:20240230T090000", "DURATION:-PT1H",
    "DURATION:P9999999D", "RDATE:20240111T090000", "RDATE;VALUE=PERIOD:20240111T090000Z/PT1H",
    "EXRULE:FREQ=DAILY", "EXDATE:x", "ATTENDEE:mailto:x", "BEGIN:VTIMEZONE", "TZID:Own", "BEGIN:STANDARD",
    "TZOFFSETFROM:+9999", "TZOFFSETTO:+0100", "END:STANDARD", "END:VTIMEZONE", "BEGIN:VEVENT", "END:VEVENT",
    "BEGIN:VCALENDAR", "BEGIN:VTODO", "SUMMARY;X=\"", " folded", "X-MICROSOFT-CDO-BUSYSTATUS:FREE",
    "RECURRENCE-ID:20240110T080000Z", "SEQUENCE:x", "DTSTART:",
    "RECURRENCE-ID;RANGE=THISANDFUTURE:20240110T080000Z", "CATEGORIES:a,b", "GEO:1;2", "TRIGGER:-PT5M",
    "ATTACH:x",
)  # fmt: skip


def generate(random: Random) -> bytes:
    if random.random() < 0.02:
        return random_bytes(random, [f"{line}\r\n".encode() for line in (*_LINES, *_EXTRA)])
    lines = list(_LINES)
    while True:
        place = random.randrange(len(lines))
        name, _, value = lines[place].partition(":")
        match random.randrange(6):
            case 0:
                del lines[place]
            case 1 | 2:
                lines.insert(place, random.choice(_EXTRA))
            case 3:
                lines.insert(random.randrange(len(lines) + 1), lines[place])
            case 4:
                lines[place] = f"{name}:{random.choice((*TEXTS, *NUMBERS))}"
            case _:
                lines[place] = f"{name.partition(';')[0]};TZID={random.choice(ZONES)}:{value}"
        if random.random() < 0.5 or not lines:
            break
    data = "\r\n".join(lines).encode("utf-8", "surrogatepass")
    return mutate_bytes(data, random) if random.random() < 0.2 else data


def run(data: bytes) -> None:
    zone = ZoneInfo("Europe/Copenhagen") if len(data) % 3 else None
    since = pd.Timestamp("2024-01-08", tz=zone)
    until = since + pd.Timedelta(days=7)
    events = read_calendar(scratch_file("lab-7.ics", data), since=since, until=until, zone=zone)
    for event in events:
        check(
            event.start < event.end and event.start < until and event.end > since,
            "meeting must be in the period",
        )
        check((event.start.tzinfo is None) == (zone is None), "meeting must be on the clock of the room")
    assign_events({"lab-7": events}, {"lab-7": ["lab-7", "Lab 7"], "hall": ["hall"]})
