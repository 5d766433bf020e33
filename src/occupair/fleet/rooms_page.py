"""The page of a portfolio, one self-contained HTML file: rooms to trust, sensors to repair, all results."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape
from pathlib import Path

from occupair._version import __version__
from occupair.atomic_files import write_atomically
from occupair.fleet.message_groups import MessageGroup, group_messages
from occupair.fleet.room_result import RoomResult
from occupair.fleet.rooms_page_data import in_natural_order, page_data
from occupair.fleet.rooms_page_summary import failed_section, page_header, technician_section
from occupair.report.offline_page import render_offline_page

TITLE = "Room portfolio"
SCRIPTS = ("room-data.js", "room-view.js", "room-details.js", "room-figures.js", "page.js")
"""Own parts of the script of the page, in order."""


def write_rooms_page(
    results: Sequence[RoomResult],
    path: str | Path,
    *,
    title: str = TITLE,
    generated: datetime | None = None,
) -> None:
    """Write the page of a portfolio.

    Parameters
    ----------
    results : sequence of RoomResult
        Results of all rooms, in any order.
    path : path
        HTML file, written atomically.
    title : str
        Name of the portfolio.
    generated : datetime, optional
        Time on the page; now by default.
    """
    write_atomically(path, render_rooms_page(results, title=title, generated=generated))


def render_rooms_page(
    results: Sequence[RoomResult], *, title: str = TITLE, generated: datetime | None = None
) -> str:
    """Render the page of a portfolio as one self-contained HTML document.

    Its Content Security Policy permits only the script and the style sheet of the page, and no requests.

    Parameters
    ----------
    results : sequence of RoomResult
        Results of all rooms, in any order.
    title : str
        Name of the portfolio.
    generated : datetime, optional
        Time on the page; now by default.
    """
    rooms = in_natural_order(results)
    groups = room_groups(rooms)
    time = generated or datetime.now().astimezone()
    return render_offline_page(
        "occupair.fleet",
        "page",
        SCRIPTS,
        title=escape(title),
        header=page_header(rooms, title=title, generated=time, version=__version__),
        technician=technician_section(rooms, groups),
        failed=failed_section(rooms, groups),
        data=page_data(rooms, groups=groups),
    )


def room_groups(rooms: Sequence[RoomResult]) -> dict[str, Sequence[MessageGroup]]:
    """Return rooms grouped by the finding on the sensor and by the reason without a model or for a fallback.

    Examples
    --------
    >>> rooms = [RoomResult(f"room {k}", "failed", reason=f"needs 5 days, got {k}") for k in (1, 2)]
    >>> room_groups(rooms)["failed"][0].label
    'Needs 5 days, got …'
    """
    return {
        "faulty": _groups(
            rooms, [room.sensor_finding if room.sensor == "faulty" else None for room in rooms]
        ),
        "check": _groups(rooms, [room.sensor_finding if room.sensor == "check" else None for room in rooms]),
        "failed": _groups(rooms, [room.reason if room.status == "failed" else None for room in rooms]),
        "fallback": _groups(rooms, [room.reason if room.status == "fallback" else None for room in rooms]),
    }


def _groups(rooms: Sequence[RoomResult], messages: Sequence[str | None]) -> list[MessageGroup]:
    """Return groups of the rooms that have a message; their members are positions among all rooms."""
    chosen = [k for k, message in enumerate(messages) if message is not None]
    texts = [messages[k] or "No details." for k in chosen]
    found = group_messages(texts, [rooms[k].room for k in chosen])
    return [MessageGroup(g.key, g.label, tuple(chosen[k] for k in g.members)) for g in found]
