"""A counting session: the actions of the counting page on counts, position and pictures."""

from __future__ import annotations

import datetime as dt
import hashlib
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from occupair.atomic_files import abandoned_files
from occupair.groundtruth.counting.counts import (
    COUNTS,
    MOST,
    Book,
    Count,
    Decision,
    Key,
    Order,
    read_book,
    write_book,
)
from occupair.groundtruth.counting.minutes import (
    Minute,
    days_of,
    doors_of,
    found_minutes,
    in_videos,
    list_minutes,
    place_of,
)
from occupair.groundtruth.events import read_events

PACE_MINUTES = 20
"""Number of counted minutes from which the pace is computed."""
BREAK_SECONDS = 180.0
"""Time from which a minute counts as a break [s]."""

Picture = Literal["there", "deleted", "missing"]


class Outdated(Exception):
    """The counts were changed in another window since they were shown."""


class CountingSession:
    """A counting session of a folder. Every change is on disk before a method returns.

    Parameters
    ----------
    folder : path
        An events folder.
    clock : callable, optional
        Returns the time, for the pace [s].

    Raises
    ------
    InputError
        It is not an events folder, has nothing to count, or its counts cannot be read.
    """

    def __init__(self, folder: Path | str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = Path(folder)
        self.events = read_events(self.folder)
        self.book = read_book(self.folder)
        self._found = found_minutes(self.events)
        self._list()
        self._clock = clock
        self._since: float | None = None  # time of the last decision in this session
        self._settle()

    def _list(self) -> None:
        """Update the list of minutes, which changes when one is added or removed."""
        self.minutes = list_minutes(self._found, self.book, self.folder)
        self.number = {minute.key: n for n, minute in enumerate(self.minutes)}
        self.digest = hashlib.sha256(repr([*self.number]).encode()).hexdigest()[:8]
        self._orders = {order: _ordered(self.minutes, order) for order in get_args(Order)}

    def _settle(self) -> None:
        """Restore the position, and finish deletions that were interrupted."""
        if self.book.at not in self.number:
            self.book.at = self._next_open(self.book, None)
        for key in self.book.deleted & self.number.keys():
            self._unlink(key)
        for scratch in abandoned_files(self.folder, COUNTS):
            scratch.unlink()

    # ---- state -------------------------------------------------------------------------------------------

    @property
    def revision(self) -> str:
        """Revision that an action must refer to."""
        return f"{self.digest}-{self.book.revision}"

    @property
    def at(self) -> int | None:
        """Number of the current minute; None if all are done."""
        return None if self.book.at is None else self.number[self.book.at]

    def state(self) -> dict[str, Any]:
        """Return the complete state for the page."""
        return {
            "folder": str(self.folder),
            "doors": doors_of(self.events, self.minutes),
            "days": [day.isoformat() for day in days_of(self.events, self.minutes)],
            "gaps": [
                {"door": name, "from": begin.isoformat(), "to": end.isoformat()}
                for name, door in self.events.doors.items()
                for begin, end in door.gaps
            ],
            "minutes": self.rows(),
        } | self.progress()

    def rows(self) -> list[dict[str, Any]]:
        """Return all minutes, in order of time and door."""
        return [self.row(n) for n in range(len(self.minutes))]

    def progress(self) -> dict[str, Any]:
        """Return the state that any action may change."""
        seconds = self.book.seconds
        ahead = self._next_open(self.book, self.book.at)
        return {
            "revision": self.revision,
            "at": self.at,
            "next": None if ahead is None else self.number[ahead],
            "order": self.book.order,
            "deletes": self.book.deletes,
            "undoable": bool(self.book.history),
            "pace": statistics.median(seconds) if len(seconds) >= 3 else None,
        }

    def row(self, number: int) -> dict[str, Any]:
        """Return the state of a minute."""
        one = self.minutes[number]
        count, picture = self.book.counts.get(one.key), self.picture(one.key)
        return {
            "number": number,
            "door": one.door,
            "minute": one.minute.isoformat(),
            "score": one.score,
            "picture": picture,
            "videos": in_videos(one.key, self.events) if picture == "missing" else [],
            "marked": one.key in self.book.marked,
            "entered": count.entered if count else 0,
            "left": count.left if count else 0,
            "state": count.state if count else "open",
        }

    def picture(self, key: Key) -> Picture:
        """Return whether the picture of a minute exists, was deleted or is missing."""
        if key in self.book.deleted:
            return "deleted"
        if key not in self.number:
            return "missing"
        sheet = self.minutes[self.number[key]].sheet
        return "there" if sheet is not None and sheet.is_file() else "missing"

    def sheet(self, door: str, minute: str) -> Path | None:
        """Return the path of the picture of a minute, if it exists."""
        try:
            key = door, dt.datetime.fromisoformat(minute)
        except ValueError:
            return None
        return self.minutes[self.number[key]].sheet if self.picture(key) == "there" else None

    # ---- actions, which return the numbers of the changed minutes -----------------------------------------

    def change(self, number: int, *, entered: int = 0, left: int = 0) -> list[int]:
        """Add to the counts of a minute; a skipped one is reopened."""
        key, book = self.minutes[number].key, self.book.copy()
        count = book.counts.get(key) or Count(*key, 0, 0, "begun")
        state = "begun" if count.state == "skipped" else count.state
        new = replace(
            count,
            entered=min(MOST, max(0, count.entered + entered)),
            left=min(MOST, max(0, count.left + left)),
            state=state,
        )
        if new == count or (key not in book.counts and (new.entered, new.left) == (0, 0)):
            return []
        book.put(key, new)
        return self._keep(book, key)

    def decide(self, number: int, decision: Decision, *, nobody: bool = False) -> list[int]:
        """Finish a minute, and go to the next open one."""
        key, book = self.minutes[number].key, self.book.copy()
        before = book.counts.get(key)
        empty = before is None or nobody or decision == "skipped"
        entered, left = (0, 0) if empty or before is None else (before.entered, before.left)
        book.put(key, Count(*key, entered, left, decision))
        book.at = self._next_open(book, key)
        now = self._clock()
        took = BREAK_SECONDS if self._since is None else now - self._since
        if took < BREAK_SECONDS and (before is None or not before.is_decided):
            book.seconds = [*book.seconds, round(took, 1)][-PACE_MINUTES:]
        changed = self._keep(book, key)
        self._since = now
        return changed

    def add(self, door: str, time: str) -> list[int]:
        """Add a minute that the scan missed, and go to it; an existing one is only selected."""
        key = place_of(door, time, self.events, self.minutes)
        if key in self.number:
            return self._go(key)
        book = self.book.copy()
        book.put(key, Count(*key, 0, 0, "begun"))
        book.at = key
        return self._keep(book, key)

    def undo(self) -> list[int]:
        """Undo the last change and go to its minute; a deleted picture is not restored.

        If it added the minute, the minute is removed and the next open one is selected.
        """
        book = self.book.copy()
        key = book.undo()
        while key is not None and key not in self.number:  # belongs to another scan
            key = book.undo()
        if key is None:
            return []
        is_there = key in book.counts or key in self._found
        book.at = key if is_there else self._next_open(book, key)
        return self._keep(book, key)

    def go(self, number: int) -> list[int]:
        """Go to a minute."""
        return self._go(self.minutes[number].key)

    def step(self, by: int) -> list[int]:
        """Go to the next or previous minute, done or not; from the end, to the first or last one."""
        order = self._orders[self.book.order]
        if self.book.at is None:
            return self._go(order[0 if by > 0 else -1])
        place = order.index(self.book.at) + by
        return self._go(order[min(max(place, 0), len(order) - 1)])

    def review(self) -> list[int]:
        """Go to the next unsure or skipped minute."""
        counts = self.book.counts
        doubtful = [
            key for key in self._after(self.book, self.book.at) if key in counts and _is_doubtful(counts[key])
        ]
        return self._go(doubtful[0]) if doubtful else []

    def set_order(self, order: Order) -> list[int]:
        """Change the order, and stay at the current minute."""
        return self._keep(replace(self.book.copy(), order=order))

    def set_deletes(self, deletes: bool) -> list[int]:
        """Enable or disable the deletion of pictures once counted; existing ones are deleted now."""
        return self._keep(replace(self.book.copy(), deletes=deletes))

    def delete(self, number: int) -> list[int]:
        """Delete the picture of a finished minute; for an open one, toggle deletion when it is counted."""
        key, book = self.minutes[number].key, self.book.copy()
        if self.picture(key) != "there":
            return []
        if _is_decided(book, key):
            book.deleted.add(key)
        else:
            book.marked ^= {key}
        return self._keep(book, key)

    # ---- implementation -----------------------------------------------------------------------------------

    def _go(self, key: Key) -> list[int]:
        return self._keep(replace(self.book.copy(), at=key)) if key != self.book.at else []

    def _keep(self, book: Book, *changed: Key) -> list[int]:
        """Store a book: on disk first, then in memory; then delete pictures."""
        gone = self._due(book) | (book.deleted - self.book.deleted)
        book.deleted |= gone
        book.marked -= gone
        book.revision += 1
        write_book(self.folder, book)
        self.book = book
        for key in gone:
            self._unlink(key)
        if any((key in self.number) != (key in self._found or key in book.counts) for key in changed):
            self._list()
        return [self.number[key] for key in {*changed, *gone} if key in self.number]

    def _due(self, book: Book) -> set[Key]:
        """Return pictures to delete: of counted minutes, except the last one while others are open (undo)."""
        if not book.deletes and not book.marked:
            return set()
        decided = (step.key for step in reversed(book.history) if _is_decided(book, step.key))
        last = None if self._next_open(book, None) is None else next(decided, None)
        return {
            key
            for key, count in book.counts.items()
            if count.state == "counted"
            and (book.deletes or key in book.marked)
            and key != last
            and key not in book.deleted
            and key in self.number
            and self.picture(key) == "there"
        }

    def _unlink(self, key: Key) -> None:
        sheet = self.minutes[self.number[key]].sheet
        if sheet is not None:
            sheet.unlink(missing_ok=True)

    def _after(self, book: Book, key: Key | None) -> Sequence[Key]:
        """Return the minutes after one, followed by those before it."""
        order = self._orders[book.order]
        place = 0 if key is None else order.index(key) + 1
        return order[place:] + order[: max(0, place - 1)]

    def _next_open(self, book: Book, key: Key | None) -> Key | None:
        return next((one for one in self._after(book, key) if not _is_decided(book, one)), None)


def _is_decided(book: Book, key: Key) -> bool:
    return key in book.counts and book.counts[key].is_decided


def _is_doubtful(count: Count) -> bool:
    return count.state in ("unsure", "skipped")


def _ordered(minutes: Sequence[Minute], order: str) -> list[Key]:
    keys = [minute.key for minute in minutes]
    return keys if order == "time" else sorted(keys, key=lambda key: (key[1].date(), key[0], key[1]))
