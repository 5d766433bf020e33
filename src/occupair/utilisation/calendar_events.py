"""Meetings in calendar files (iCalendar, .ics), as exported by Outlook, Google Calendar and others.

Recurring events are expanded with their exceptions. Cancelled events, events that do not block the calendar
("free") and all-day events, which are notes or holidays, are not meetings.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from occupair.errors import InputError
from occupair.wording import quoted

if TYPE_CHECKING:
    from icalendar import Component, Event, vRecur

INSTALL = "calendars need packages that are not installed: pip install 'occupair[calendar]'"
PRIVATE = ("PRIVATE", "CONFIDENTIAL")
MOST_PER_DAY = 24
"""Most repetitions of an event on a day."""
_ROOM_TYPES = ("ROOM", "RESOURCE")  # CUTYPE of a room among the attendees


class CalendarEvent(NamedTuple):
    """A meeting in a calendar.

    Attributes
    ----------
    start, end : times in the time zone of the room
    title : subject; empty if it is private
    places : names in the location, and of rooms among the attendees
    """

    start: pd.Timestamp
    end: pd.Timestamp
    title: str
    places: tuple[str, ...]


def read_calendar(
    path: str | Path, *, since: pd.Timestamp, until: pd.Timestamp, zone: dt.tzinfo | None
) -> list[CalendarEvent]:
    """Read the meetings of a calendar file that overlap [since, until), by start.

    Parameters
    ----------
    path : path
        An iCalendar file.
    since, until : Timestamp
        Period, in the time zone of the room, or in local time if ``zone`` is None.
    zone : tzinfo, optional
        Time zone of the room. Without it, times are those on the clock, which times in UTC are not.

    Raises
    ------
    InputError
        If the file is not a calendar, or its times are in UTC and ``zone`` is None.
    """
    path = Path(path)
    try:
        import icalendar
        import recurring_ical_events
    except ImportError:
        raise InputError(INSTALL) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about time zones that it guesses
            calendars = icalendar.Calendar.from_ical(path.read_bytes(), multiple=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: is not a calendar file (.ics): {_one_line(error)}") from None
    if not calendars:
        raise InputError(f"{path}: is not a calendar file (.ics): it has no VCALENDAR")
    found = []
    for calendar in calendars:
        try:
            _check_components(calendar, path)
            query = recurring_ical_events.of(calendar)
            events = query.between(_plain(since - pd.Timedelta(days=1)), _plain(until + pd.Timedelta(days=1)))
        except InputError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise InputError(f"{path}: has an invalid event: {_one_line(error)}") from None
        found += [meeting for event in events if (meeting := _meeting(event, zone, path)) is not None]
    return sorted(event for event in found if event.start < until and event.end > since)


def _check_components(calendar: Component, path: Path) -> None:
    """Raise an InputError for repeated times, and for rules that no meeting has and that take very long."""
    for component in calendar.walk():
        for name in ("DTSTART", "DTEND", "DURATION"):
            if isinstance(component.get(name), list):
                raise InputError(f"{path}: has an invalid event: it has more than one {name}")
        for name in ("RRULE", "EXRULE"):
            given = component.get(name, [])
            for rule in given if isinstance(given, list) else [given]:
                if _per_day(rule) > MOST_PER_DAY:
                    what = f"{name}:{rule.to_ical().decode()}"
                    raise InputError(
                        f"{path}: has an event that repeats too often: delete it, {quoted(what)}"
                    )


def _per_day(rule: vRecur) -> float:
    """Return how often a rule repeats an event on one day at most; infinity for hourly rules and the like."""
    rarely = [str(one).upper() in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY") for one in rule.get("FREQ", [])]
    if not rarely or not all(rarely) or not all(int(one) >= 1 for one in rule.get("INTERVAL", [])):
        return math.inf
    return math.prod(max(1, len(rule.get(name, []))) for name in ("BYHOUR", "BYMINUTE", "BYSECOND"))


def _plain(time: pd.Timestamp) -> dt.datetime:
    return (time if time.tzinfo is None else time.tz_convert("UTC").tz_localize(None)).to_pydatetime()


def _meeting(event: Event, zone: dt.tzinfo | None, path: Path) -> CalendarEvent | None:
    """Return the meeting of an event; None if it does not use the room."""
    if not blocks_room(event):
        return None
    start, end = _local(event.start, zone, path), _local(event.end, zone, path)
    if end <= start:
        return None
    is_private = str(event.get("CLASS", "")).upper() in PRIVATE
    title = "" if is_private else " ".join(str(event.get("SUMMARY", "")).split())
    return CalendarEvent(start, end, title, tuple(_places(event)))


def blocks_room(event: Event) -> bool:
    """Whether an event is a meeting: not cancelled, not "free" and not all day."""
    if not isinstance(event.start, dt.datetime):
        return False
    values = {
        name: str(event.get(name, "")).upper()
        for name in ("STATUS", "TRANSP", "X-MICROSOFT-CDO-BUSYSTATUS", "X-MICROSOFT-CDO-ALLDAYEVENT")
    }
    return (
        values["STATUS"] != "CANCELLED"
        and values["TRANSP"] != "TRANSPARENT"
        and values["X-MICROSOFT-CDO-BUSYSTATUS"] != "FREE"
        and values["X-MICROSOFT-CDO-ALLDAYEVENT"] != "TRUE"
    )


def _local(time: dt.date, zone: dt.tzinfo | None, path: Path) -> pd.Timestamp:
    """Return a time in the time zone of the room; a time without one is that of the room."""
    assert isinstance(time, dt.datetime)
    if time.tzinfo is None:
        stamp = pd.Timestamp(time)
        return stamp if zone is None else stamp.tz_localize(zone, ambiguous=True, nonexistent="shift_forward")
    if zone is not None:
        return pd.Timestamp(time.astimezone(dt.UTC)).tz_convert(zone)
    if time.tzname() == "UTC":
        raise InputError(f"{path}: times are in UTC, those of the room are local: state --timezone")
    return pd.Timestamp(time.replace(tzinfo=None))


def _places(event: Event) -> Iterator[str]:
    location = str(event.get("LOCATION", "")).strip()
    if location:
        yield location
        yield from (part.strip() for part in re.split(r"[;,/|]", location) if part.strip() != location)
    attendees: Any = event.get("ATTENDEE", [])
    for attendee in attendees if isinstance(attendees, list) else [attendees]:
        parameters = getattr(attendee, "params", {})
        declined = str(parameters.get("PARTSTAT", "")).upper() == "DECLINED"
        if str(parameters.get("CUTYPE", "")).upper() in _ROOM_TYPES and not declined:
            yield str(parameters.get("CN", "")).strip()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def calendar_files(path: str | Path) -> list[Path]:
    """Return a calendar file, or those in a folder.

    Raises
    ------
    InputError
        If there are none.
    """
    path = Path(path)
    if not path.is_dir():
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        return [path]
    files = sorted(one for one in path.iterdir() if one.suffix.lower() == ".ics")
    if not files:
        raise InputError(f"{path}: has no calendar files (.ics)")
    return files


def assign_events(
    events: Mapping[str, Sequence[CalendarEvent]], names: Mapping[str, Iterable[str]]
) -> tuple[dict[str, list[CalendarEvent]], int]:
    """Return the meetings by room, and the number of meetings of no room.

    A file named like a room has the meetings of this room. In any other file, a meeting is in the rooms
    that its location or its attendees name. With one room and one file that names no room at all, all
    meetings are in that room.

    Parameters
    ----------
    events : mapping
        Meetings by the name of their file, without suffix.
    names : mapping
        Names of each room, such as its id and its display name; case does not matter.

    Examples
    --------
    >>> nine, ten = pd.Timestamp("2024-01-08 09:00"), pd.Timestamp("2024-01-08 10:00")
    >>> event = CalendarEvent(nine, ten, "", ("Lab 7",))
    >>> found, others = assign_events({"building": [event]}, {"lab-7": ["lab-7", "Lab 7"], "hall": ["hall"]})
    >>> found["lab-7"] == [event], found["hall"], others
    (True, [], 0)
    """
    rooms = {_key(name): room for room, own in names.items() for name in own}
    found: dict[str, list[CalendarEvent]] = {room: [] for room in names}
    others = 0
    for file, meetings in events.items():
        own_room = rooms.get(_key(file))
        placed = [{rooms[_key(place)] for place in one.places if _key(place) in rooms} for one in meetings]
        if own_room is None and len(names) == len(events) == 1 and not any(placed):
            own_room = next(iter(names))
        for meeting, places in zip(meetings, placed, strict=True):
            for room in {own_room} if own_room is not None else places:
                found[room].append(meeting)
            others += own_room is None and not places
    return {room: sorted(set(meetings)) for room, meetings in found.items()}, others


def _key(name: str) -> str:
    """Return a name without case, spaces and punctuation.

    Examples
    --------
    >>> _key("Lab 7"), _key("lab-7")
    ('lab7', 'lab7')
    """
    return re.sub(r"[\W_]+", "", name.casefold())
