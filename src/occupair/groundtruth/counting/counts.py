"""What a person counted: ``counts.json`` in the events folder, whole at every moment."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from occupair.atomic_files import write_atomically
from occupair.errors import InputError

COUNTS = "counts.json"
FORMAT, VERSION = "occupair counts", 1
MOST = 999
"""The most people that one minute at one door may have."""
STEPS_BACK = 500
"""How many keys can be undone."""

Decision = Literal["counted", "unsure", "skipped"]
State = Literal["counted", "unsure", "skipped", "begun"]
Order = Literal["time", "door"]
Key = tuple[str, dt.datetime]
"""A door and the start of a minute."""


@dataclass(frozen=True)
class Count:
    """What was counted at a door in a minute.

    Parameters
    ----------
    door : str
    minute : datetime
        Its start, as in the events folder.
    entered, left : int
        How many came in and went out [people].
    state : {"counted", "unsure", "skipped", "begun"}
        Skipped has 0 and 0, which says nothing; begun is not decided yet, and `read_counts` leaves it out.
    """

    door: str
    minute: dt.datetime
    entered: int
    left: int
    state: State

    @property
    def key(self) -> Key:
        """The door and the minute."""
        return self.door, self.minute

    @property
    def is_decided(self) -> bool:
        """Whether the person is done with the minute."""
        return self.state != "begun"


@dataclass(frozen=True)
class Step:
    """What a minute was before a key changed it; None: nothing was there."""

    key: Key
    before: Count | None


@dataclass
class Book:
    """All that ``counts.json`` holds: the counts, and how the person got there.

    Parameters
    ----------
    counts : dict
        By door and minute; also those that are only begun.
    at : tuple, optional
        The door and minute where the person is; None: at the beginning, or at the end.
    order : {"time", "door"}
        Doors interleaved by time, or one door at a time, day by day.
    deletes : bool
        Whether pictures are deleted as they are counted.
    marked, deleted : set
        Minutes whose picture goes when they are counted, and those whose picture went.
    history : list of Step
        What undo goes back through, oldest first.
    seconds : list of float
        How long the last minutes took the person [s].
    revision : int
        How many keys were kept.
    """

    counts: dict[Key, Count] = field(default_factory=dict)
    at: Key | None = None
    order: Order = "time"
    deletes: bool = False
    marked: set[Key] = field(default_factory=set)
    deleted: set[Key] = field(default_factory=set)
    history: list[Step] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    revision: int = 0

    def copy(self) -> Book:
        """Give a book of its own, in which something can be tried."""
        return replace(
            self,
            counts=dict(self.counts),
            marked=set(self.marked),
            deleted=set(self.deleted),
            history=list(self.history),
            seconds=list(self.seconds),
        )

    def put(self, key: Key, count: Count | None) -> None:
        """Set what a minute has, so that it can be undone."""
        self.history.append(Step(key, self.counts.get(key)))
        del self.history[:-STEPS_BACK]
        self._set(key, count)

    def undo(self) -> Key | None:
        """Take the last change back; gives its minute, or None if there is nothing to undo."""
        if not self.history:
            return None
        step = self.history.pop()
        self._set(step.key, step.before)
        return step.key

    def _set(self, key: Key, count: Count | None) -> None:
        if count is None:
            self.counts.pop(key, None)
        else:
            self.counts[key] = count


def read_counts(folder: Path | str) -> list[Count]:
    """Read what was counted in an events folder, by time and door.

    Parameters
    ----------
    folder : path
        As written by ``occupair groundtruth scan``.

    Returns
    -------
    list of Count
        Empty if nobody has counted yet; minutes that are only begun are not among them.

    Raises
    ------
    InputError
        The file is not one of ours, or an entry breaks a rule.
    """
    decided = [count for count in read_book(folder).counts.values() if count.is_decided]
    return sorted(decided, key=lambda count: (count.minute, count.door))


def read_book(folder: Path | str) -> Book:
    """Read ``counts.json`` of a folder, with where the person is and what can be undone."""
    path = Path(folder) / COUNTS
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Book()
    except UnicodeDecodeError:
        raise InputError(f"{path}: must be JSON in UTF-8") from None
    try:
        return _book(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: must be JSON, but line {error.lineno} is not: {error.msg}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_book(folder: Path | str, book: Book) -> None:
    """Replace ``counts.json`` by a book, all of it or nothing, and wait until the disk has it."""
    write_atomically(Path(folder) / COUNTS, _text(book))
    if sys.platform != "win32":  # where a folder cannot be opened, nor need it be
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)  # the new name, too
        finally:
            os.close(handle)


# ---- as text ----------------------------------------------------------------------------------------------


def _text(book: Book) -> str:
    """Write a book as JSON: one line for each count, for people who look, and for ``diff``."""
    rows = sorted(book.counts.values(), key=lambda count: (count.minute, count.door))
    counting = {
        "at": _place(book.at),
        "order": book.order,
        "deletes": book.deletes,
        "revision": book.revision,
        "seconds": book.seconds,
        "begun": [_entry(row) for row in rows if not row.is_decided],
        "marked": [_place(key) for key in sorted(book.marked)],
        "deleted": [_place(key) for key in sorted(book.deleted)],
        "history": [_place(step.key) | {"before": _numbers(step.before)} for step in book.history],
    }
    lines = ",\n  ".join(_line(row) for row in rows if row.is_decided)
    return (
        f'{{"format": {json.dumps(FORMAT)}, "version": {VERSION},\n "counts": [\n  {lines}\n ],\n'
        f' "counting": {json.dumps(counting, ensure_ascii=False)}}}\n'
    )


@lru_cache(maxsize=100_000)  # a key changes one of thousands
def _line(count: Count) -> str:
    return json.dumps(_entry(count), ensure_ascii=False)


def _entry(count: Count) -> dict[str, Any]:
    return {**_place(count.key), "entered": count.entered, "left": count.left, "state": count.state}


def _numbers(count: Count | None) -> dict[str, Any] | None:
    return None if count is None else {name: getattr(count, name) for name in ("entered", "left", "state")}


def _place(key: Key | None) -> Any:
    return None if key is None else {"door": key[0], "minute": key[1].isoformat()}


# ---- from text --------------------------------------------------------------------------------------------


def _book(data: Any) -> Book:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f'must be counts of occupair, with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise InputError(f"must be of version {VERSION}, got {data.get('version')!r}")
    rows = [(f"counts[{n}]", row) for n, row in _enumerated(data, "counts", "")]
    counting = data.get("counting", {})
    if not isinstance(counting, dict):
        raise InputError("counting must be an object")
    begun = [(f"counting.begun[{n}]", row) for n, row in _enumerated(counting, "begun", "counting.")]
    counts: dict[Key, Count] = {}
    for where, row in rows + begun:
        count = _read_count(where, row)
        if count.is_decided == where.startswith("counting"):
            raise InputError(f"{where}.state must be {', '.join(get_args(Decision))}, got {count.state!r}")
        if count.key in counts:
            raise InputError(f"{where}: {count.door} at {count.minute.isoformat()} is there twice")
        counts[count.key] = count
    _check_one_clock(key for key in counts)
    return replace(_rest(counting), counts=counts)


def _rest(counting: Mapping[str, Any]) -> Book:
    """Read where the person is; all of it may be missing, as another program leaves it."""

    def places(name: str) -> set[Key]:
        rows = _enumerated(counting, name, "counting.")
        return {_read_place(f"counting.{name}[{n}]", row) for n, row in rows}

    history = []
    for n, row in _enumerated(counting, "history", "counting."):
        where = f"counting.history[{n}]"
        key, before = _read_place(where, row), row.get("before")
        if before is not None and not isinstance(before, dict):
            raise InputError(f"{where}.before must be an object or null, got {before!r}")
        history.append(Step(key, None if before is None else _read_count(where, {**before, **row})))
    at, order, revision = counting.get("at"), counting.get("order", "time"), counting.get("revision", 0)
    if order not in get_args(Order):
        raise InputError(f"counting.order must be {' or '.join(get_args(Order))}, got {order!r}")
    if not _is_whole(revision):
        raise InputError(f"counting.revision must be a whole number, got {revision!r}")
    seconds = [
        row for _, row in _enumerated(counting, "seconds", "counting.") if isinstance(row, int | float)
    ]
    return Book(
        at=None if at is None else _read_place("counting.at", at),
        order=order,
        deletes=counting.get("deletes") is True,
        marked=places("marked"),
        deleted=places("deleted"),
        history=history,
        seconds=seconds,
        revision=revision,
    )


def _enumerated(data: Mapping[str, Any], name: str, where: str) -> list[tuple[int, Any]]:
    rows = data.get(name, [])
    if not isinstance(rows, list):
        raise InputError(f"{where}{name} must be a list")
    return list(enumerate(rows))


def _read_count(where: str, row: Any) -> Count:
    door, minute = _read_place(where, row)
    for name in ("entered", "left"):
        if not _is_whole(row.get(name)) or row[name] > MOST:
            raise InputError(f"{where}.{name} must be a whole number from 0 to {MOST}, got {row.get(name)!r}")
    if row.get("state") not in get_args(State):
        raise InputError(f"{where}.state must be {', '.join(get_args(Decision))}, got {row.get('state')!r}")
    return Count(door, minute, row["entered"], row["left"], row["state"])


def _read_place(where: str, row: Any) -> Key:
    if not isinstance(row, dict):
        raise InputError(f"{where} must be an object, got {row!r}")
    door, minute = row.get("door"), row.get("minute")
    if not isinstance(door, str) or not door:
        raise InputError(f"{where}.door must be the name of a door, got {door!r}")
    try:
        return door, dt.datetime.fromisoformat(str(minute))
    except ValueError:
        raise InputError(
            f"{where}.minute must be a time such as 2024-01-08T08:31:00, got {minute!r}"
        ) from None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check_one_clock(keys: Iterator[Key]) -> None:
    if len({key[1].tzinfo is None for key in keys}) > 1:
        raise InputError("times must all have an offset from UTC, or none of them")
