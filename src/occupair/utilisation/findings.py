"""Findings: rooms that a facility manager should look at, and the summary of a report in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from occupair.report.number_format import percent
from occupair.utilisation.days import GOOD
from occupair.utilisation.room_usage import RoomUsage
from occupair.wording import listed, plural

HALF = 0.5
"""Share of the seats never used from which a room is too large."""
RARELY = 0.2
"""Share of the opening hours in use below which a room is rarely used."""
FULL = 0.9
"""Share of the seats that makes a daily peak full."""
OFTEN_FULL = 0.2
"""Share of the open days with a full peak from which a room is short of seats."""
MIN_EMPTY, EMPTY_SHARE = 2, 0.2
"""Meetings without people, and their share of all meetings, from which bookings are worth a look."""
MIN_UNBOOKED = 0.1
"""Share of the time in use without a meeting from which it is worth a look."""
FEW_DAYS = 0.2
"""Share of the days with opening hours left out from which a sensor needs a look."""


class Finding(NamedTuple):
    """Rooms with the same finding.

    Attributes
    ----------
    key : short, stable name
    title, advice : what was found, and what to do about it
    rooms : positions of the rooms, the clearest case first
    details : what was found in each of them
    """

    key: str
    title: str
    advice: str
    rooms: tuple[int, ...]
    details: tuple[str, ...]


class _Rule(NamedTuple):
    key: str
    title: str
    advice: str
    rank: Callable[[RoomUsage], float | None]  # None: not found; the highest comes first
    detail: Callable[[RoomUsage], str]


def find_findings(rooms: Sequence[RoomUsage]) -> list[Finding]:
    """Return the findings that apply to any room, in the order of a report."""
    found = []
    for rule in RULES:
        ranks = {
            k: rank
            for k, room in enumerate(rooms)
            if not room.problem and (rank := rule.rank(room)) is not None
        }
        order = tuple(sorted(ranks, key=lambda k: (-ranks[k], k)))
        if order:
            found.append(
                Finding(rule.key, rule.title, rule.advice, order, tuple(rule.detail(rooms[k]) for k in order))
            )
    return found


def summary(rooms: Sequence[RoomUsage]) -> str:
    """Describe all rooms in a few sentences.

    Examples
    --------
    >>> summary([])
    'No rooms.'
    """
    if not rooms:
        return "No rooms."
    findings = {one.key: one for one in find_findings(rooms)}
    sentences = [*_overall(rooms), *_seats(rooms, findings.get("large"))]
    if (rarely := findings.get("rare")) is not None:
        share = percent(RARELY, decimals=0)
        sentences.append(
            f"{_of(len(rarely.rooms), rooms)} in use for less than {share} of the opening hours."
        )
    sentences += _bookings(rooms, findings.get("empty"))
    missing = sum(bool(room.problem) for room in rooms)
    if missing:
        verb = "has" if missing == 1 else "have"
        sentences.append(f"{plural(missing, 'room')} {verb} no figures; the table says why.")
    return " ".join(sentences)


def headline(rooms: Sequence[RoomUsage]) -> str:
    """Return the summary of a report in one sentence.

    Examples
    --------
    >>> headline([])
    'No rooms.'
    """
    known = [room for room in rooms if not room.problem and room.open_days]
    if not known:
        return "No rooms." if not rooms else "No room has figures for this period."
    if len(rooms) == 1:
        return _one_room(known[0])
    seats = [room for room in known if room.room.capacity]
    if seats:
        share = percent(mean_capacity_used(seats), decimals=0)
        return f"{plural(len(known), 'room')}, {share} of their seats used in opening hours."
    hours = sum(room.hours_per_day for room in known) / len(known)
    return f"{plural(len(known), 'room')}, in use for {hours:.1f} h per day on average."


def mean_capacity_used(rooms: Sequence[RoomUsage]) -> float:
    """Return the mean count of all rooms together as a share of their seats [0..1]."""
    known = [room for room in rooms if not room.problem and not math.isnan(room.capacity_used())]
    seats = sum(room.room.capacity or 0 for room in known)
    return sum(room.mean() for room in known) / seats if seats else math.nan


def _one_room(room: RoomUsage) -> str:
    used = f"in use for {room.hours_per_day:.1f} h per open day"
    if room.room.capacity:
        return f"{room.room.label}: {used}, {percent(room.capacity_used(), decimals=0)} of its seats used."
    if math.isnan(room.people_in_use):
        return f"{room.room.label}: {used}."
    return f"{room.room.label}: {used}, with {room.people_in_use:.1f} people on average."


def _overall(rooms: Sequence[RoomUsage]) -> list[str]:
    known = [room for room in rooms if not room.problem and room.open_days]
    if not known:
        return []
    hours = sum(room.hours_per_day for room in known) / len(known)
    people = [room.people_in_use for room in known if not math.isnan(room.people_in_use)]
    crowd = f", with {sum(people) / len(people):.1f} people when in use" if people else ""
    subject = "The room was" if len(rooms) == 1 else "On average a room was"
    return [f"{subject} in use for {hours:.1f} hours per open day{crowd}."]


def _seats(rooms: Sequence[RoomUsage], large: Finding | None) -> list[str]:
    known = [room for room in rooms if not room.problem and room.seats is not None]
    if not known:
        return []
    least, all_seats = (
        sum(room.seats.least for room in known if room.seats),
        sum(room.room.capacity or 0 for room in known),
    )
    if len(rooms) == 1:
        (seats,) = (room.seats for room in known)
        assert seats is not None
        best = f"({seats.likely} by the best estimate)"
        return [f"At least {seats.least} of its {all_seats} seats were never used {best}.", *_limited(known)]
    sentence = f"At least {least:,} of {all_seats:,} seats were never used."
    count = 0 if large is None else len(large.rooms)
    halves = [f"{_of(count, rooms, verb='have')} at least half of their seats never used."] if count else []
    return [sentence, *halves, *_limited(known)]


def _limited(rooms: Sequence[RoomUsage]) -> list[str]:
    """Warn if seats may have been used by more people than the models know."""
    count = sum(room.is_interval_at_limit for room in rooms)
    if not count:
        return []
    where = "" if len(rooms) == 1 else f" in {plural(count, 'room')}"
    return [f"More people than in training may have come{where}: take head counts on the busiest days."]


def _bookings(rooms: Sequence[RoomUsage], empty: Finding | None) -> list[str]:
    judged = sum(len(room.judged) for room in rooms)
    if not judged:
        return []
    count = sum(len(room.empty) for room in rooms)
    sentence = f"Nobody came to {count:,} of {judged:,} meetings ({percent(count / judged, decimals=0)})."
    if empty is None or len(rooms) == 1:
        return [sentence]
    worst = rooms[empty.rooms[0]]
    return [
        sentence,
        f"{worst.room.label} was booked {plural(len(worst.empty), 'time')} without anybody in it.",
    ]


def _of(count: int, rooms: Sequence[RoomUsage], *, verb: str = "are") -> str:
    """Return "12 of 200 rooms are", with the verb in the right number."""
    single = {"are": "is", "have": "has"}[verb]
    past = {"are": "were", "is": "was", "have": "had", "has": "had"}
    return f"{count:,} of {plural(len(rooms), 'room')} {past[single if count == 1 else verb]}"


def left_out_days(rooms: Sequence[RoomUsage]) -> tuple[int, int, dict[str, int]]:
    """Return the days left out, all days, and the days left out by reason, over all rooms."""
    reasons: Counter[str] = Counter()
    for room in rooms:
        if not room.problem:
            reasons.update(room.left_out)
    total = sum(len(room.days) for room in rooms if not room.problem)
    return sum(reasons.values()), total, dict(reasons.most_common())


def data_quality(rooms: Sequence[RoomUsage]) -> str:
    """Describe how many days are left out, and why.

    Examples
    --------
    >>> data_quality([])
    'No days.'
    """
    left_out, total, reasons = left_out_days(rooms)
    if not total:
        return "No days."
    unit = "day" if sum(not room.problem for room in rooms) == 1 else "room-day"
    if not left_out:
        return f"All {total:,} {unit}s have good data." if total > 1 else f"The only {unit} has good data."
    causes = listed([f"{reason} on {count:,}" for reason, count in reasons.items()])
    verb = "is" if left_out == 1 else "are"
    return f"{left_out:,} of {plural(total, unit)} {verb} left out of all figures: {causes}."


# ---- rules ----


def _large(room: RoomUsage) -> float | None:
    if room.seats is None or not room.room.capacity or room.is_at_limit:
        return None
    return room.seats.least if room.seats.least >= HALF * room.room.capacity else None


def _rare(room: RoomUsage) -> float | None:
    share = room.share_in_use()
    return None if math.isnan(share) or share >= RARELY else -share


def _full(room: RoomUsage) -> float | None:
    share = full_share(room)
    return share if share >= OFTEN_FULL else None


def full_share(room: RoomUsage) -> float:
    """Return the share of the good open days whose peak is 90 % of the seats or more [0..1]."""
    days = room.good[room.good["open"] > 0]
    if not room.room.capacity or not len(days):
        return 0.0
    return float((days["peak"] >= FULL * room.room.capacity).mean())


def _empty(room: RoomUsage) -> float | None:
    count = len(room.empty)
    return count if count >= MIN_EMPTY and count >= EMPTY_SHARE * len(room.judged) else None


def _unbooked(room: RoomUsage) -> float | None:
    if room.meetings is None:
        return None
    used = float(room.good["in_use"].sum() + room.good["outside"].sum())
    return room.unbooked_hours if used and room.unbooked_hours >= MIN_UNBOOKED * used else None


def _bad_sensor(room: RoomUsage) -> float | None:
    open_days = room.days[room.days["is_open_day"]]
    count = int((open_days["status"] != GOOD).sum())
    return count if count and count >= FEW_DAYS * len(open_days) else None


RULES: tuple[_Rule, ...] = (
    _Rule(
        "large",
        "Half of the seats never used",
        "Use a smaller room, or divide this one.",
        _large,
        lambda room: f"{room.seats.least if room.seats else 0} of {room.room.capacity} seats",
    ),
    _Rule(
        "rare",
        "Rarely in use",
        "Free the room up, or share it.",
        _rare,
        lambda room: f"{percent(room.share_in_use(), decimals=0)} of the opening hours",
    ),
    _Rule(
        "full",
        "Often full",
        "More seats, or move large groups to rooms with free seats.",
        _full,
        lambda room: f"full on {percent(full_share(room), decimals=0)} of the days",
    ),
    _Rule(
        "empty",
        "Booked, but nobody came",
        "Ask for check-in, or cancel series that nobody attends.",
        _empty,
        lambda room: f"{len(room.empty)} of {plural(len(room.judged), 'meeting')}",
    ),
    _Rule(
        "unbooked",
        "Used without a booking",
        "Bookings do not show how busy the room is.",
        _unbooked,
        lambda room: f"{room.unbooked_hours:.0f} h",
    ),
    _Rule(
        "sensor",
        "Sensors to check",
        "Days with bad data are left out of all figures; have the sensor repaired.",
        _bad_sensor,
        lambda room: f"{sum(room.left_out.values())} of {plural(len(room.days), 'day')} left out",
    ),
)
"""Findings, in the order of a report."""
