"""The page of a utilisation report, one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from html import escape
from pathlib import Path

from occupair._version import __version__
from occupair.atomic_files import write_atomically
from occupair.report.number_format import percent
from occupair.report.offline_page import natural_key, render_offline_page
from occupair.utilisation.findings import (
    Finding,
    data_quality,
    find_findings,
    headline,
    left_out_days,
    mean_capacity_used,
    summary,
)
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.page_data import page_data
from occupair.utilisation.room_usage import RoomUsage
from occupair.wording import plural

TITLE = "Room utilisation"
SCRIPTS = ("report-data.js", "heat-map.js", "day-charts.js", "room-details.js", "page.js")
"""Own parts of the script of the page, in order."""
SHOWN_ROOMS = 5  # rooms named per finding


def write_report(
    rooms: Sequence[RoomUsage],
    path: str | Path,
    *,
    opening: OpeningHours,
    method: str,
    title: str = TITLE,
    show_titles: bool = False,
    generated: datetime | None = None,
) -> None:
    """Write the page of a report.

    Parameters
    ----------
    rooms : sequence of RoomUsage
        Rooms, in any order.
    path : path
        HTML file, written atomically.
    opening : OpeningHours
        Opening hours.
    method : str
        What the counts are, as a sentence.
    title : str
        Title of the page.
    show_titles : bool
        Whether to show the subjects of meetings.
    generated : datetime, optional
        Time on the page; now by default.
    """
    page = render_report(
        rooms, opening=opening, method=method, title=title, show_titles=show_titles, generated=generated
    )
    write_atomically(path, page)


def render_report(
    rooms: Sequence[RoomUsage],
    *,
    opening: OpeningHours,
    method: str,
    title: str = TITLE,
    show_titles: bool = False,
    generated: datetime | None = None,
) -> str:
    """Render the page of a report; see ``write_report``."""
    rooms = in_order(rooms)
    findings = find_findings(rooms)
    time = generated or datetime.now().astimezone()
    return render_offline_page(
        "occupair.utilisation",
        "page",
        SCRIPTS,
        title=escape(title),
        header=_header(rooms, title=title, generated=time, opening=opening),
        findings=_findings(rooms, findings),
        findings_hidden="" if len(rooms) > 1 and findings else "hidden",
        several_hidden="" if len(rooms) > 1 else "hidden",
        method=escape(method),
        opening=escape(describe_opening(opening)),
        data=page_data(rooms, findings=findings, opening=opening, show_titles=show_titles),
    )


def in_order(rooms: Sequence[RoomUsage]) -> list[RoomUsage]:
    """Return rooms by name, with numbers in names in numerical order."""
    return sorted(rooms, key=lambda room: natural_key(room.room.label))


def describe_opening(opening: OpeningHours) -> str:
    """Describe opening hours.

    Examples
    --------
    >>> describe_opening(OpeningHours("08:00-18:00", "mon-fri"))
    '08:00–18:00, Mon–Fri (50 h per week)'
    """
    weekdays = opening.weekdays.title().replace("-", "–")
    return f"{opening.hours.replace('-', '–')}, {weekdays} ({opening.hours_per_week:g} h per week)"


def period(rooms: Sequence[RoomUsage]) -> str:
    """Describe the first and the last day of all rooms."""
    known = [room for room in rooms if not room.problem]
    if not known:
        return "No days"
    first = min(room.days.index[0] for room in known).date()
    last = max(room.days.index[-1] for room in known).date()
    return f"{_day(first)} to {_day(last)} ({plural((last - first).days + 1, 'day')})"


def _header(rooms: Sequence[RoomUsage], *, title: str, generated: datetime, opening: OpeningHours) -> str:
    covered = f"{period(rooms)}. Opening hours {describe_opening(opening)}. {data_quality(rooms)}"
    made = f"{_day(generated.date())}, {generated:%H:%M} · occupair {escape(__version__)}"
    return f"""<p class="kicker"><bdi>{escape(title)}</bdi> · {made}</p>
<h1><bdi>{escape(headline(rooms))}</bdi></h1>
<p class="summary">{escape(summary(rooms))}</p>
<p class="lead">{escape(covered)}</p>
{_tiles(rooms) if len(rooms) > 1 else ""}"""


def _tiles(rooms: Sequence[RoomUsage]) -> str:
    known = [room for room in rooms if not room.problem and room.open_days]
    if not known:
        return ""
    share = sum(room.share_in_use() for room in known) / len(known)
    hours = sum(room.hours_per_day for room in known) / len(known)
    tiles = [
        _tile(f"{hours:.1f} h", "in use per open day", f"{percent(share, decimals=0)} of the opening hours")
    ]
    with_seats = [room for room in known if room.seats is not None]
    if with_seats:
        seats = sum(room.room.capacity or 0 for room in with_seats)
        least = sum(room.seats.least for room in with_seats if room.seats)
        likely = sum(room.seats.likely for room in with_seats if room.seats)
        used = percent(mean_capacity_used(with_seats), decimals=0)
        tiles += [
            _tile(used, "of the seats used", "mean over the opening hours"),
            _tile(
                f"{least:,}", "seats never used, at least", f"{likely:,} of {seats:,} by the best estimate"
            ),
        ]
    else:
        peak = max(room.peak() for room in known)
        tiles.append(_tile(f"{peak:.0f}", "people at the busiest time", "for at least 15 min of a day"))
    judged = sum(len(room.judged) for room in known)
    if judged:
        empty = sum(len(room.empty) for room in known)
        tiles.append(_tile(f"{empty:,}", "meetings without people", f"of {judged:,} meetings"))
    left_out, total, _ = left_out_days(rooms)
    unit = "days" if len(known) == 1 else "room-days"
    tiles.append(
        _tile(
            percent(left_out / total, decimals=0), "of the days left out", f"{left_out:,} of {total:,} {unit}"
        )
    )
    return f'<ul class="tiles">{"".join(tiles)}</ul>'


def _tile(value: str, label: str, note: str) -> str:
    return (
        f'<li class="tile"><strong>{escape(value)}</strong><span>{escape(label)}</span>'
        f"<small>{escape(note)}</small></li>"
    )


def _findings(rooms: Sequence[RoomUsage], findings: Sequence[Finding]) -> str:
    return "\n".join(_finding(rooms, one) for one in findings)


def _finding(rooms: Sequence[RoomUsage], finding: Finding) -> str:
    shown = list(zip(finding.rooms, finding.details, strict=True))[:SHOWN_ROOMS]
    items = "".join(
        f'<li><button type="button" class="link" data-room="{k}"><bdi>{escape(rooms[k].room.label)}</bdi>'
        f"</button><span>{escape(detail)}</span></li>"
        for k, detail in shown
    )
    more = len(finding.rooms) - len(shown)
    rest = (
        f'<button type="button" class="link" data-view="finding={finding.key}">'
        f"Show all {len(finding.rooms):,} in the table</button>"
        if more
        else ""
    )
    return f"""<div class="groups finding">
<h3>{escape(finding.title)} <span>{plural(len(finding.rooms), "room")}</span></h3>
<p class="muted">{escape(finding.advice)}</p>
<ul>{items}</ul>
{rest}
</div>"""


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
