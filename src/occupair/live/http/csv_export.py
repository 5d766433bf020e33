"""Export of hours as CSV for spreadsheets: UTF-8 with a byte order mark, ISO 8601 times with an offset."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

from starlette.responses import StreamingResponse

from occupair.live.config import RoomConfig
from occupair.live.hours import SlotUse
from occupair.wording import spreadsheet_text

COLUMNS = (
    "room",
    "name",
    "floor",
    "capacity [people]",
    "start",
    "duration [min]",
    "people mean [people]",
    "people peak [people]",
    "people low [people]",
    "people high [people]",
    "in use [min]",
    "known [%]",
)
MEDIA_TYPE = "text/csv; charset=utf-8"


def header() -> str:
    """Return the first line, after a byte order mark, which spreadsheets need to recognise UTF-8."""
    return "\ufeff" + _lines([COLUMNS])


def rows(room: RoomConfig, hours: Iterable[SlotUse]) -> str:
    """Return a line for each hour of a room. Unknown values are empty."""
    named = [spreadsheet_text(text) for text in (room.id, room.name or room.id, room.floor)]
    return _lines(
        [*named, "" if room.capacity is None else room.capacity, hour.start.isoformat(), hour.minutes]
        + [_number(value) for value in (hour.people, hour.peak, hour.low, hour.high)]
        + ([round(hour.in_use)] if hour.known else [""])
        + [round(100 * hour.known)]
        for hour in hours
    )


def download(parts: Iterable[str], name: str) -> StreamingResponse:
    """Return a response that a browser saves to a file, sent part by part."""
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-.") or "occupair"
    disposition = f'attachment; filename="{safe}.csv"'
    return StreamingResponse(
        (part.encode() for part in parts), media_type=MEDIA_TYPE, headers={"Content-Disposition": disposition}
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _lines(lines: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    return text.getvalue()
