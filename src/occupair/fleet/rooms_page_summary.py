"""The part of the page of a portfolio that needs no script: key figures, sensors to repair, failed rooms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from html import escape

from occupair.fleet.message_groups import MessageGroup
from occupair.fleet.room_result import RoomResult
from occupair.fleet.rooms_page_data import CLASSES

SHOWN_GROUPS = 6  # groups before the rest is folded away
SHOWN_ROOMS = 4  # rooms named per group
LABEL_LENGTH = 240  # characters of the text of a group before it is cut

MEANINGS: dict[str, dict[str, str]] = {
    "trust": {
        "good": "Use the estimates as they are.",
        "limited": "Use them for trends and averages.",
        "poor": "Do not rely on them.",
        "none": "No model, so no estimates.",
    },
    "sensor": {
        "good": "No faults found.",
        "check": "Have a look at the next visit.",
        "faulty": "Send a technician.",
        "unknown": "The readings could not be read.",
    },
}


def page_header(rooms: Sequence[RoomResult], *, title: str, generated: datetime, version: str) -> str:
    """Render the headline and the key figures; each is a filter of the table."""
    made = f"{_day(generated.date())}, {generated:%H:%M} · occupair {escape(version)}"
    return f"""<p class="kicker"><bdi>{escape(title)}</bdi> · {made}</p>
<h1>{escape(headline(rooms))}</h1>
<p class="lead">{escape(period(rooms))}</p>
<ul class="tiles">{"".join(_tiles(rooms))}</ul>
<div class="cards">
{_card(rooms, "trust", "Trust in the estimates")}
{_card(rooms, "sensor", "State of the CO2 sensors")}
</div>"""


def headline(rooms: Sequence[RoomResult]) -> str:
    """State in one sentence how many rooms can be trusted and how many sensors need a technician.

    Examples
    --------
    >>> headline([RoomResult("lab 7", "trained", trust="good", sensor="faulty")])
    '1 of 1 room has good estimates. 1 sensor needs a technician.'
    """
    if not rooms:
        return "No rooms."
    good = sum(room.trust == "good" for room in rooms)
    faulty = sum(room.sensor == "faulty" for room in rooms)
    all_rooms = f"{len(rooms):,} {_rooms(len(rooms))}"
    technician = (
        "No sensor needs a technician."
        if faulty == 0
        else f"{faulty:,} {'sensor needs' if faulty == 1 else 'sensors need'} a technician."
    )
    return f"{good:,} of {all_rooms} {'has' if good == 1 else 'have'} good estimates. {technician}"


def period(rooms: Iterable[RoomResult]) -> str:
    """Describe the time from the first to the last reading of all rooms.

    Examples
    --------
    >>> period([RoomResult("lab 7", "trained", first="2024-01-08", last="2024-03-01")])
    'Readings from 8 January 2024 to 1 March 2024.'
    """
    days = [day for room in rooms for day in (room.first, room.last) if day]
    return f"Readings from {_iso_day(min(days))} to {_iso_day(max(days))}." if days else "No readings."


def technician_section(rooms: Sequence[RoomResult], groups: Mapping[str, Sequence[MessageGroup]]) -> str:
    """Render faulty sensors by finding, then those to check."""
    faulty = _group_list(rooms, "faulty", groups["faulty"], "Faulty: send a technician")
    check = _group_list(rooms, "check", groups["check"], "To check at the next visit")
    return faulty + check or "<p>No faults found.</p>"


def failed_section(rooms: Sequence[RoomResult], groups: Mapping[str, Sequence[MessageGroup]]) -> str:
    """Render the rooms without a model by reason, then those with a fallback."""
    failed = _group_list(rooms, "failed", groups["failed"], "No model")
    fallback = _group_list(rooms, "fallback", groups["fallback"], "Fallback: trained in another way")
    return failed + fallback or "<p>All rooms were trained as requested.</p>"


def _tiles(rooms: Sequence[RoomResult]) -> Iterable[str]:
    status = Counter(room.status for room in rooms)
    sensor = Counter(room.sensor for room in rooms)
    good = sum(room.trust == "good" for room in rooms)
    models = len(rooms) - status["failed"]
    yield _tile(
        "status=model", models, f"{_rooms(models)} with a model", f"{status['fallback']:,} with a fallback"
    )
    yield _tile("trust=good", good, f"{_rooms(good)} to trust", f"{_percent(good, len(rooms))} of all rooms")
    faulty = "sensor needs a technician" if sensor["faulty"] == 1 else "sensors need a technician"
    yield _tile("sensor=faulty", sensor["faulty"], faulty, f"{sensor['check']:,} more to check")
    yield _tile(
        "status=failed", status["failed"], f"{_rooms(status['failed'])} failed", "no model; reasons below"
    )


def _tile(view: str, count: int, label: str, note: str) -> str:
    return (
        f'<li><button type="button" class="tile" data-view="{view}"><strong>{count:,}</strong>'
        f"<span>{escape(label)}</span><small>{escape(note)}</small></button></li>"
    )


def _card(rooms: Sequence[RoomResult], column: str, heading: str) -> str:
    """Render how the rooms divide into classes, as a bar and as a list."""
    counts = Counter(getattr(room, column) for room in rooms)
    start, bars, items = 0.0, [], []
    for name in CLASSES[column]:
        width = 1000 * counts[name] / len(rooms) if rooms else 0.0
        if width:
            bars.append(f'<rect class="{name}" x="{start:.1f}" width="{max(width - 3, 1):.1f}" height="10"/>')
        start += width
        items.append(
            f'<li><button type="button" data-view="{column}={name}">{_icon(name)}<b>{name}</b>'
            f"<strong>{counts[name]:,}</strong><span>{_percent(counts[name], len(rooms))}</span>"
            f"<small>{escape(MEANINGS[column][name])}</small></button></li>"
        )
    return f"""<section class="card" aria-labelledby="{column}-card">
<h2 id="{column}-card">{escape(heading)}</h2>
<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">{"".join(bars)}</svg>
<ul class="classes">{"".join(items)}</ul>
</section>"""


def _icon(name: str) -> str:
    return f'<svg class="icon {name}" aria-hidden="true"><use href="#icon-{name}"/></svg>'


def _group_list(rooms: Sequence[RoomResult], kind: str, groups: Sequence[MessageGroup], heading: str) -> str:
    if not groups:
        return ""
    items = [_group_item(rooms, kind, group) for group in groups]
    total = sum(len(group.members) for group in groups)
    shown, folded = "".join(items[:SHOWN_GROUPS]), "".join(items[SHOWN_GROUPS:])
    more = f"<details><summary>{len(items) - SHOWN_GROUPS:,} more</summary><ul>{folded}</ul></details>"
    icon = {"failed": "none", "fallback": "limited"}.get(kind, kind)
    return f"""<div class="groups" data-kind="{kind}">
<h3>{_icon(icon)}{escape(heading)} <span>{total:,} {_rooms(total)}</span></h3>
<ul>{shown}</ul>{more if folded else ""}
</div>"""


def _group_item(rooms: Sequence[RoomResult], kind: str, group: MessageGroup) -> str:
    named = ", ".join(
        f'<button type="button" class="link" data-room="{k}" dir="auto">{escape(rooms[k].room)}</button>'
        for k in group.members[:SHOWN_ROOMS]
    )
    rest = len(group.members) - SHOWN_ROOMS
    label = group.label if len(group.label) <= LABEL_LENGTH else f"{group.label[: LABEL_LENGTH - 1]}…"
    return (
        f'<li><strong>{len(group.members):,}</strong><div><p dir="auto">{escape(label)}</p>'
        f'<p class="names">{named}{f" and {rest:,} more" if rest > 0 else ""}</p></div>'
        f'<button type="button" class="button" data-view="group={kind}-{group.key}">Show'
        f'<span class="hidden"> rooms: {escape(label)}</span></button></li>'
    )


def _rooms(count: int) -> str:
    return "room" if count == 1 else "rooms"


def _percent(count: int, total: int) -> str:
    """Return a share without decimals; 0 % and 100 % are exact."""
    if total == 0:
        return "–"
    percent = round(100 * count / total)
    if percent == 0 and count:
        return "under 1\N{NO-BREAK SPACE}%"
    return f"{99 if percent == 100 and count < total else percent}\N{NO-BREAK SPACE}%"


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _iso_day(text: str) -> str:
    try:
        return _day(date.fromisoformat(text))
    except ValueError:
        return text
