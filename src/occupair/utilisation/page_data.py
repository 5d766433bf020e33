"""Data of the page of a report as compact JSON, which its script decodes."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from occupair.report.offline_page import script_json
from occupair.utilisation.findings import Finding
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.room_usage import RoomUsage
from occupair.utilisation.week_grid import CELLS
from occupair.utilisation.weeks import percent_change

OUTCOMES = ("used", "empty", "unknown")
_MINUTE = pd.Timedelta(minutes=1)


def page_data(
    rooms: Sequence[RoomUsage], *, findings: Sequence[Finding], opening: OpeningHours, show_titles: bool
) -> str:
    """Return rooms as JSON that is safe inside a script element.

    People and hours are integers in tenths, times are minutes on the clock of the room since the midnight of
    its first day, and unknown values are null.

    Parameters
    ----------
    rooms : sequence of RoomUsage
        Rooms, in the order of the page.
    findings : sequence of Finding
        Groups of rooms to filter by.
    opening : OpeningHours
        Opening hours.
    show_titles : bool
        Whether to include the subjects of meetings.
    """
    statuses: dict[str, int] = {"": 0}
    data = {
        "count": len(rooms),
        "name": [room.room.label for room in rooms],
        "floor": [room.room.floor for room in rooms],
        "problem": [room.problem for room in rooms],
        "numbers": {name: [_figure(name, room) for room in rooms] for name in NUMBERS},
        "rooms": [None if room.problem else _details(room, statuses, show_titles) for room in rooms],
        "statuses": list(statuses),
        "findings": [{"key": one.key, "title": one.title, "rooms": one.rooms} for one in findings],
        "open": _open_cells(opening),
        "calendar": any(room.meetings is not None for room in rooms),
    }
    return script_json(data)


NUMBERS: dict[str, Any] = {
    "seats": lambda room: room.room.capacity,
    "used": lambda room: room.capacity_used(),
    "used_low": lambda room: room.capacity_used("low"),
    "used_high": lambda room: room.capacity_used("high"),
    "in_use": lambda room: room.share_in_use(),
    "in_use_low": lambda room: room.share_in_use("in_use_low"),
    "in_use_high": lambda room: room.share_in_use("in_use_high"),
    "hours": lambda room: room.hours_per_day,
    "outside": lambda room: room.outside_per_day,
    "people": lambda room: room.mean(),
    "people_low": lambda room: room.mean("low"),
    "people_high": lambda room: room.mean("high"),
    "people_in_use": lambda room: room.people_in_use,
    "peak": lambda room: room.peak(),
    "peak_low": lambda room: room.peak("peak_low"),
    "peak_high": lambda room: room.peak("peak_high"),
    "unused": lambda room: None if room.seats is None else room.seats.least,
    "unused_likely": lambda room: None if room.seats is None else room.seats.likely,
    "at_limit": lambda room: int(room.is_interval_at_limit) + int(room.is_at_limit),
    "good": lambda room: len(room.good),
    "left_out": lambda room: sum(room.left_out.values()),
    "meetings": lambda room: None if room.meetings is None else len(room.meetings),
    "empty": lambda room: None if room.meetings is None else len(room.empty),
    "clearly_empty": lambda room: None if room.meetings is None else sum(one.clear for one in room.empty),
    "unknown": lambda room: None if room.meetings is None else len(room.meetings) - len(room.judged),
    "freed": lambda room: None if room.meetings is None else room.freed_hours,
    "unbooked": lambda room: None if room.meetings is None else room.unbooked_hours,
}
"""Figures of a room; unknown for a room with a problem, but for its seats."""


def has_intervals(room: RoomUsage) -> bool:
    """Whether the counts of a room have prediction intervals."""
    return not math.isnan(room.peak("peak_high"))


def _figure(name: str, room: RoomUsage) -> float | int | None:
    return None if room.problem and name != "seats" else _number(NUMBERS[name](room))


def _number(value: Any) -> float | int | None:
    """Return a number with four significant digits."""
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() else short


def _details(room: RoomUsage, statuses: dict[str, int], show_titles: bool) -> dict[str, Any]:
    first = pd.Timestamp(room.days.index[0])
    intervals = ("", "low", "high") if has_intervals(room) else ("",)
    days = {"peak": "peak"} | {f"peak_{end}": f"peak_{end}" for end in intervals if end}
    grid_names = ["people", *(end for end in intervals if end)]
    details: dict[str, Any] = {
        "first": f"{first:%Y-%m-%d}",
        "grid": {name: _tenths(room.grid[name]) for name in grid_names}
        | {"in_use": _tenths(100 * room.grid["in_use"], whole=True), "known": _tenths(room.grid["hours"])},
        "status": [statuses.setdefault(status, len(statuses)) for status in room.days["status"]],
        "days": {name: _tenths(room.days[column]) for name, column in days.items()}
        | {name: _tenths(room.days[name]) for name in ("people", "in_use", "open")},
        "weeks": {
            "start": [(pd.Timestamp(week) - first).days for week in room.weeks.index],
            "days": room.weeks["days"].tolist(),
            "left_out": room.weeks["left_out"].tolist(),
        }
        | {name: _tenths(room.weeks[name]) for name in (*grid_names, "in_use", "peak")},
        "notes": list(room.notes),
    }
    if room.change is not None:
        relative = percent_change(room.change)
        details["change"] = {
            "week": (room.change.week - first).days,
            "people": _number(room.change.people),
            "before": _number(room.change.before),
            "relative": _number(relative),
            "clear": int(room.change.is_clear),
        }
    if room.meetings is not None:
        details["meetings"] = [
            [
                *_span(one.start, one.end, first),
                OUTCOMES.index(one.outcome),
                int(one.clear),
                *(_tenth(value) for value in (one.people, one.late, one.freed)),
                *([one.title] if show_titles else []),
            ]
            for one in room.meetings
        ]
        details["unbooked"] = [
            [*_span(one.start, one.end, first), _tenth(one.people)] for one in room.unbooked
        ]
    return details


def _span(start: pd.Timestamp, end: pd.Timestamp, first: pd.Timestamp) -> list[int]:
    """Return the start on the clock since the first midnight, and the length [min]."""
    clock = start.tz_localize(None) - first
    return [round(clock / _MINUTE), round((end - start) / _MINUTE)]


def _tenths(values: pd.Series[float], *, whole: bool = False) -> list[int | None]:
    numbers = np.asarray(values, dtype=float).tolist()
    return [_tenth(value, 1 if whole else 10) for value in numbers]


def _tenth(value: float, factor: int = 10) -> int | None:
    return None if math.isnan(value) else round(factor * value)


def _open_cells(opening: OpeningHours) -> list[int]:
    """Return the cells of the week that are opening hours, for at least a part of the hour."""
    monday = dt.datetime(2024, 1, 8)
    times = pd.date_range(monday, periods=CELLS * 60, freq="min")
    is_open = opening.contain(times).reshape(CELLS, 60)
    return [cell for cell in range(CELLS) if is_open[cell].any()]
