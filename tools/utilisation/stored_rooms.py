"""A store with simulated offices, readings every 5 min and planted faults, and a calendar of its rooms.

A few offices are simulated; the weeks of each are in another order in every room. The clock changes on
29 March 2026.
"""

from __future__ import annotations

import sqlite3
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from occupair.estimator import OccupancyEstimator
from occupair.live.store import Store
from occupair.model_file import dump_model
from occupair.progress import quietly, track
from occupair.simulation.office import simulate_history
from occupair.utilisation.calendar_events import CalendarEvent
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.room_usage import RoomInfo, RoomUsage, room_usage

ZONE, FIRST_DAY = "Europe/Copenhagen", pd.Timestamp("2026-03-02")  # a Monday
INTERVAL = 5  # min
TRAINING_DAYS = 10
SEATS = (6, 12, 20, 34)
_INSERT = (
    "INSERT INTO readings (room, time, co2, ventilation, source, received) VALUES (?, ?, ?, ?, 'http', ?)"
)


@dataclass(frozen=True)
class Office:
    """A simulated office with its model."""

    seats: int
    co2: np.ndarray
    ventilation: np.ndarray
    model: bytes


def simulate_offices(days: int) -> list[Office]:
    """Simulate offices for whole weeks, and train a model of each on two more weeks."""
    weeks = -(-days // 7)
    return [
        _office(seats, weeks, seed) for seed, seats in track(list(enumerate(SEATS)), "training", show=None)
    ]


def _office(seats: int, weeks: int, seed: int) -> Office:
    history = simulate_history(5 * weeks + TRAINING_DAYS, seed=seed, seats=seats)
    readings = pd.DataFrame(
        {"co2": history.co2, "ventilation": history.ventilation, "occupancy": history.occupancy()},
        index=history.time,
    ).iloc[::INTERVAL]
    used = 7 * weeks * 1440 // INTERVAL
    training = readings.iloc[used:]
    with quietly(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        estimator = OccupancyEstimator(random_state=0).fit(training)
    now = readings.iloc[:used]
    return Office(seats, now["co2"].to_numpy(), now["ventilation"].to_numpy(), dump_model(estimator))


def room_id(number: int) -> str:
    """Return the id of a room."""
    return f"room-{number:03d}"


def write_store(path: Path, offices: list[Office], *, rooms: int, days: int) -> int:
    """Write a store and ``rooms.csv`` beside it, and return the number of readings."""
    store = Store(f"sqlite:///{path}")
    store.migrate()
    names = [room_id(number) for number in range(1, rooms + 1)]
    store.set_zones(dict.fromkeys(names, ZONE))
    for number, name in enumerate(names):
        store.add_model(name, offices[number % len(offices)].model, origin="file", note="", activate=True)
    store.close()
    rng = np.random.default_rng(1)
    per_day = 1440 // INTERVAL
    local = pd.date_range(FIRST_DAY, periods=days * per_day, freq=f"{INTERVAL}min")
    times = local.tz_localize(ZONE, nonexistent="NaT", ambiguous="NaT")
    micros = times.tz_convert("UTC").as_unit("us").asi8
    written, lines = 0, ["room,name,floor,capacity"]
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for number, name in enumerate(track(names, "writing readings", show=None)):
            office = offices[number % len(offices)]
            co2, ventilation = _shuffled(office, days, per_day, rng)
            kept = _with_faults(co2, number, per_day, rng) & ~np.asarray(times.isna())
            rows = zip(micros[kept], co2[kept].round(1), ventilation[kept], strict=True)
            connection.executemany(_INSERT, ((name, int(t), float(c), float(v), int(t)) for t, c, v in rows))
            written += int(kept.sum())
            capacity = round(office.seats * float(rng.choice([0.9, 1.0, 1.5, 2.0, 3.0])))
            lines.append(f"{name},Room {number + 1},Floor {1 + number * 8 // rooms},{max(2, capacity)}")
    path.with_name("rooms.csv").write_text("\n".join(lines) + "\n")
    return written


def _shuffled(
    office: Office, days: int, per_day: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    weeks = np.arange(office.co2.size).reshape(-1, 7 * per_day)
    order = weeks[rng.permutation(len(weeks))].ravel()[: days * per_day]
    return office.co2[order].copy(), office.ventilation[order]


def _with_faults(co2: np.ndarray, number: int, per_day: int, rng: np.random.Generator) -> np.ndarray:
    """Plant a fault in every fourth room, and return which readings were sent."""
    sent = np.ones(co2.size, dtype=bool)
    days = co2.size // per_day
    start = int(rng.integers(0, max(1, days - 10))) * per_day + per_day // 3
    span = slice(start, start + int(rng.integers(1, 8)) * per_day)
    fault = number % 16
    if fault == 3:
        co2[span] = co2[start]  # stuck
    elif fault == 7:
        sent[span] = False  # offline
    elif fault == 11:
        co2[span] = 0.0  # failed reads
    elif fault == 15:
        co2[span] += rng.choice([0.0, 1500.0], co2[span].size)  # jumps
    return sent


def made_up_usages(*, rooms: int, days: int) -> list[RoomUsage]:
    """Return rooms without estimation, for the page: true counts of a few offices, each used many times."""
    usages = [_true_usage(seats, days, seed) for seed, seats in enumerate(SEATS)]
    found = []
    for number in range(1, rooms + 1):
        usage = usages[number % len(usages)]
        info = RoomInfo(room_id(number), f"Room {number}", f"Floor {1 + number * 8 // (rooms + 1)}", 40)
        found.append(replace(usage, room=info))
    return found


def _true_usage(seats: int, days: int, seed: int) -> RoomUsage:
    history = simulate_history(-(-days // 7) * 5, seed=seed, seats=seats)
    people = pd.Series(history.occupancy().astype(float), index=history.time).iloc[::INTERVAL]
    counts = pd.DataFrame({"people": people, "low": 0.8 * people, "high": 1.2 * people + 0.4})
    starts = [people.index[0].normalize() + pd.Timedelta(days=day, hours=9) for day in range(days)]
    hour = pd.Timedelta(hours=1)
    events = [
        CalendarEvent(start + k * hour, start + (k + 1) * hour, "", ()) for start in starts for k in (0, 5)
    ]
    return room_usage(RoomInfo("", capacity=40), counts, OpeningHours(), events=events)


def write_calendar(path: Path, *, rooms: int, days: int) -> int:
    """Write one calendar of all rooms with weekly meetings, and return the number of series."""
    rng = np.random.default_rng(2)
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//occupair//utilisation//EN"]
    until = (FIRST_DAY + pd.Timedelta(days=days)).strftime("%Y%m%dT000000Z")
    series = 0
    for number in range(1, rooms + 1):
        for weekday in range(5):
            for hour in rng.choice(np.arange(7, 20), size=2, replace=False):
                start = FIRST_DAY + pd.Timedelta(days=weekday, hours=int(hour))
                end = start + pd.Timedelta(minutes=int(rng.choice([30, 60, 90, 120])))
                series += 1
                lines += [
                    "BEGIN:VEVENT",
                    f"UID:{series}@occupair",
                    "DTSTAMP:20260101T000000Z",
                    f"DTSTART;TZID={ZONE}:{start:%Y%m%dT%H%M%S}",
                    f"DTEND;TZID={ZONE}:{end:%Y%m%dT%H%M%S}",
                    f"RRULE:FREQ=WEEKLY;UNTIL={until}",
                    f"LOCATION:Room {number}",
                    f"SUMMARY:Meeting {series}",
                    "END:VEVENT",
                ]
    path.write_text("\r\n".join([*lines, "END:VCALENDAR", ""]))
    return series
