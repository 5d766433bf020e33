"""Tables of a report for spreadsheets: rooms, days, hours of the week, weeks and meetings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from occupair.readings.files import write_table
from occupair.utilisation.opening_hours import WEEKDAYS
from occupair.utilisation.room_usage import RoomUsage
from occupair.wording import spreadsheet_text


def rooms_table(rooms: Sequence[RoomUsage]) -> pd.DataFrame:
    """Return one row per room."""
    return _frame([_room_row(room) for room in rooms])


def _room_row(room: RoomUsage) -> dict[str, Any]:
    row: dict[str, Any] = {
        "room": room.room.id,
        "name": room.room.label,
        "floor": room.room.floor,
        "seats": room.room.capacity,
        "problem": room.problem,
    }
    if room.problem:
        return row
    row |= {
        "first_day": room.days.index[0].date(),
        "last_day": room.days.index[-1].date(),
        "good_days": len(room.good),
        "days_left_out": sum(room.left_out.values()),
        "left_out_because": "; ".join(f"{reason}: {count}" for reason, count in room.left_out.items()),
        "open_days": room.open_days,
        "in_use_hours_per_open_day": room.hours_per_day,
        "in_use_share": room.share_in_use(),
        "in_use_share_low": room.share_in_use("in_use_low"),
        "in_use_share_high": room.share_in_use("in_use_high"),
        "outside_hours_per_day": room.outside_per_day,
        "people_mean": room.mean(),
        "people_mean_low": room.mean("low"),
        "people_mean_high": room.mean("high"),
        "people_mean_in_use": room.people_in_use,
        "capacity_used": room.capacity_used(),
        "capacity_used_low": room.capacity_used("low"),
        "capacity_used_high": room.capacity_used("high"),
        "peak": room.peak(),
        "peak_low": room.peak("peak_low"),
        "peak_high": room.peak("peak_high"),
    }
    if room.seats is not None:
        row |= {"seats_never_used": room.seats.least, "seats_never_used_likely": room.seats.likely}
        row["peak_at_limit_of_model"] = room.is_interval_at_limit
    if room.meetings is not None:
        row |= {
            "meetings": len(room.meetings),
            "meetings_without_people": len(room.empty),
            "meetings_unknown": len(room.meetings) - len(room.judged),
            "hours_freed_early": room.freed_hours,
            "hours_used_without_meeting": room.unbooked_hours,
        }
    return row


def days_table(rooms: Sequence[RoomUsage]) -> pd.DataFrame:
    """Return one row per room and day; see ``room_days`` for the columns."""
    names = {
        "status": "left_out_because",
        "open": "open_hours",
        "in_use": "in_use_hours",
        "in_use_low": "in_use_hours_low",
        "in_use_high": "in_use_hours_high",
        "outside": "outside_hours",
        "known": "known_hours",
    }
    return _per_room(rooms, lambda room: _dated(room.days, "day").rename(columns=names))


def hours_table(rooms: Sequence[RoomUsage]) -> pd.DataFrame:
    """Return one row per room and hour of the week; see ``week_grid`` for the columns."""

    def hours(room: RoomUsage) -> pd.DataFrame:
        table = room.grid.reset_index()
        table["weekday"] = [WEEKDAYS[day] for day in table["weekday"]]
        if room.room.capacity:
            table["capacity_used"] = table["people"] / room.room.capacity
        return table.rename(columns={"in_use": "in_use_share", "hours": "known_hours"})

    return _per_room(rooms, hours)


def weeks_table(rooms: Sequence[RoomUsage]) -> pd.DataFrame:
    """Return one row per room and week; see ``room_weeks`` for the columns."""
    names = {"days": "good_open_days", "left_out": "days_left_out", "in_use": "in_use_hours_per_day"}
    return _per_room(rooms, lambda room: _dated(room.weeks, "week").rename(columns=names))


def meetings_table(rooms: Sequence[RoomUsage]) -> pd.DataFrame:
    """Return one row per meeting, and per use without a meeting (outcome ``unbooked``), by start."""
    rows = []
    for room in rooms:
        for one in room.meetings or ():
            fields = {name: value for name, value in one._asdict().items() if name != "title"}
            title = {"title": one.title} if one.title else {}
            rows.append({"room": room.room.id, **fields, **title})
        rows += [{"room": room.room.id, **use._asdict(), "outcome": "unbooked"} for use in room.unbooked]
    table = _frame(sorted(rows, key=lambda row: (row["room"], row["start"])))
    return table.rename(columns={"late": "late_minutes", "freed": "freed_minutes", "clear": "clearly_empty"})


TABLES: dict[str, Callable[[Sequence[RoomUsage]], pd.DataFrame]] = {
    "rooms": rooms_table,
    "days": days_table,
    "hours": hours_table,
    "weeks": weeks_table,
    "meetings": meetings_table,
}


def table_paths(page: Path) -> dict[str, Path]:
    """Return the file of each table, beside the page.

    Examples
    --------
    >>> print(table_paths(Path("report.html"))["rooms"])
    report-rooms.csv
    """
    return {name: page.with_name(f"{page.stem}-{name}.csv") for name in TABLES}


def write_tables(rooms: Sequence[RoomUsage], page: Path) -> list[Path]:
    """Write the tables that have rows beside the page, and return their files."""
    written = []
    for name, path in table_paths(page).items():
        table = TABLES[name](rooms)
        if len(table):
            write_table(table.set_index("room"), path)
            written.append(path)
    return written


def _per_room(rooms: Sequence[RoomUsage], table: Callable[[RoomUsage], pd.DataFrame]) -> pd.DataFrame:
    parts = []
    for room in rooms:
        if not room.problem:
            part = table(room)
            part.insert(0, "room", room.room.id)
            parts.append(part)
    return _readable(pd.concat(parts, ignore_index=True)) if parts else pd.DataFrame()


def _dated(table: pd.DataFrame, name: str) -> pd.DataFrame:
    table = table.reset_index()
    table[name] = [f"{day:%Y-%m-%d}" for day in table[name]]
    return table


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return _readable(pd.DataFrame(rows))


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return numbers with four significant digits, and texts that a spreadsheet does not run as formulas."""
    for name in table.columns:
        if pd.api.types.is_float_dtype(table[name]):
            table[name] = [float(f"{value:.4g}") for value in table[name]]
        elif not pd.api.types.is_numeric_dtype(table[name]):
            table[name] = [
                spreadsheet_text(value) if isinstance(value, str) else value for value in table[name]
            ]
    return table
