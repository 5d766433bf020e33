"""Rooms with made-up counts, for the page and the tables."""

import numpy as np
import pandas as pd

from occupair.utilisation.bad_days import SensorFaults
from occupair.utilisation.calendar_events import CalendarEvent
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.room_usage import RoomInfo, RoomUsage, room_usage

OPEN = OpeningHours("08:00-18:00", "mon-fri")
FIRST = "2024-03-04"  # a Monday; the clock changes on 31 March


def sample_counts(people, *, days=28, zone="Europe/Copenhagen", stuck=()):
    """Counts every 15 min: ``people`` on weekdays from 9:00 to 17:00, unknown on some days."""
    end = pd.Timestamp(FIRST) + pd.Timedelta(days=days)
    times = pd.date_range(FIRST, end, freq="15min", tz=zone, inclusive="left")
    inside = (times.hour >= 9) & (times.hour < 17) & (times.day_of_week < 5)
    counts = pd.DataFrame({"people": np.where(inside, people, 0.0)}, index=times)
    counts["low"], counts["high"] = 0.8 * counts["people"], 1.2 * counts["people"]
    days_in = (times.tz_localize(None).normalize() - pd.Timestamp(FIRST)).days
    counts[np.isin(days_in, stuck)] = np.nan
    return counts


def stuck_days(stuck):
    days = pd.DatetimeIndex([pd.Timestamp(FIRST) + pd.Timedelta(days=day) for day in stuck])
    return SensorFaults(pd.DataFrame({"sensor stuck": 20.0}, index=days), np.zeros(0, dtype=bool))


def sample_meetings(weeks=4, title="Sync"):
    """Meetings every Monday from 10:00 to 11:00 and from 19:00 to 20:00."""
    found = []
    for week in range(weeks):
        for hour in (10, 19):
            day = pd.Timestamp(FIRST) + pd.Timedelta(weeks=week)
            start = (day + pd.Timedelta(hours=hour)).tz_localize("Europe/Copenhagen")
            found.append(CalendarEvent(start, start + pd.Timedelta(hours=1), title, ()))
    return found


def sample_room(id_="lab", people=6.0, *, capacity=20, stuck=(), meetings=None, floor="", name=""):
    info = RoomInfo(id_, name, floor, capacity)
    faults = stuck_days(stuck) if stuck else None
    return room_usage(info, sample_counts(people, stuck=stuck), OPEN, faults=faults, events=meetings)


def sample_rooms(count=30):
    """Rooms of different sizes on three floors; the last one has no model."""
    rng = np.random.default_rng(0)
    rooms = [
        sample_room(
            f"room-{number}",
            float(rng.integers(0, 12)),
            capacity=int(rng.integers(6, 40)),
            stuck=(1, 2, 3, 8, 9) if number % 10 == 5 else (),
            meetings=sample_meetings(),
            floor=("North", "South", "East")[number % 3],
            name=f"Room {number}",
        )
        for number in range(1, count)
    ]
    return [
        *rooms,
        RoomUsage(RoomInfo("last", "Room <b>last</b>", "North"), problem="the room has no model"),
    ]
