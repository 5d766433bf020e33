"""Counts entered by a person: ``counts.json`` in the events folder, written atomically by one program."""

from __future__ import annotations

import contextlib
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
from occupair.groundtruth.events import lock_folder
from occupair.wording import quoted

COUNTS = "counts.json"
FORMAT, VERSION = "occupair counts", 1
MOST = 999
"""Maximum count of one minute at one door [people]."""
STEPS_BACK = 500
"""Number of actions that can be undone."""

Decision = Literal["counted", "unsure", "skipped"]
State = Literal["counted", "unsure", "skipped", "begun"]
Order = Literal["time", "door"]
Key = tuple[str, dt.datetime]
"""A door and the start of a minute."""


@dataclass(frozen=True)
class Count:
    """Count of one minute at one door.

    Parameters
    ----------
    door : str
    minute : datetime
        Start of the minute, as in the events folder.
    entered, left : int
        Number of people who entered and left [people].
    state : {"counted", "unsure", "skipped", "begun"}
        A skipped minute has 0 and 0, which means unknown; a begun one is not confirmed yet and is not
        returned by `read_counts`.
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
        """Whether the minute is done."""
        return self.state != "begun"


@dataclass(frozen=True)
class Step:
    """Count of a minute before an action changed it; None if there was none."""

    key: Key
    before: Count | None


@dataclass
class Book:
    """Content of ``counts.json``: the counts, and the state of the session.

    Parameters
    ----------
    counts : dict
        By door and minute, including those that are only begun.
    at : tuple, optional
        Door and minute of the current position; None at the beginning and at the end.
    order : {"time", "door"}
        All doors by time, or one door at a time, day by day.
    deletes : bool
        Whether pictures are deleted once they are counted.
    marked, deleted : set
        Minutes whose picture is deleted when they are counted, and those whose picture was deleted.
    history : list of Step
        Changes that can be undone, oldest first.
    seconds : list of float
        Time spent on each of the last minutes [s].
    revision : int
        Number of stored actions.
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
        """Return an independent copy."""
        return replace(
            self,
            counts=dict(self.counts),
            marked=set(self.marked),
            deleted=set(self.deleted),
            history=list(self.history),
            seconds=list(self.seconds),
        )

    def put(self, key: Key, count: Count | None) -> None:
        """Set the count of a minute; can be undone."""
        self.history.append(Step(key, self.counts.get(key)))
        del self.history[:-STEPS_BACK]
        self._set(key, count)

    def undo(self) -> Key | None:
        """Undo the last change and return its minute, or None if there is nothing to undo."""
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
    """Read the counts of an events folder, in order of time and door.

    Parameters
    ----------
    folder : path
        As written by ``occupair groundtruth scan``.

    Returns
    -------
    list of Count
        Empty if nothing was counted yet; minutes that are only begun are not included.

    Raises
    ------
    InputError
        The file has another format, or an entry is invalid.
    """
    decided = [count for count in read_book(folder).counts.values() if count.is_decided]
    return sorted(decided, key=lambda count: (count.minute, count.door))


def read_book(folder: Path | str) -> Book:
    """Read ``counts.json`` of a folder, including the position and the undo history."""
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
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: must be JSON: {error}") from None


def write_book(folder: Path | str, book: Book) -> None:
    """Replace ``counts.json`` atomically, and wait until it is on disk."""
    write_atomically(Path(folder) / COUNTS, _text(book))
    if sys.platform != "win32":  # where a folder cannot be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)  # also the new name
        finally:
            os.close(handle)


def lock_counts(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Lock an events folder, so that a second program cannot overwrite its counts."""
    return lock_folder(folder, f"{folder}: already being counted by another program")


# ---- writing ----------------------------------------------------------------------------------------------


def _text(book: Book) -> str:
    """Return the JSON of a book, with one line for each count, for readers and for ``diff``."""
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


@lru_cache(maxsize=100_000)  # an action changes one of thousands
def _line(count: Count) -> str:
    return json.dumps(_entry(count), ensure_ascii=False)


def _entry(count: Count) -> dict[str, Any]:
    return {**_place(count.key), "entered": count.entered, "left": count.left, "state": count.state}


def _numbers(count: Count | None) -> dict[str, Any] | None:
    return None if count is None else {name: getattr(count, name) for name in ("entered", "left", "state")}


def _place(key: Key | None) -> Any:
    return None if key is None else {"door": key[0], "minute": key[1].isoformat()}


# ---- parsing --------------------------------------------------------------------------------------------


def _book(data: Any) -> Book:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f'must be an occupair counts file, with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise InputError(f"version must be {VERSION}, got {quoted(data.get('version'))}")
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
            raise InputError(f"{where}: {count.door} at {count.minute.isoformat()} occurs twice")
        counts[count.key] = count
    _check_one_clock(key for key in counts)
    return replace(_rest(counting), counts=counts)


def _rest(counting: Mapping[str, Any]) -> Book:
    """Parse the state of the session. Files of other programs may not have it."""

    def places(name: str) -> set[Key]:
        rows = _enumerated(counting, name, "counting.")
        return {_read_place(f"counting.{name}[{n}]", row) for n, row in rows}

    history = []
    for n, row in _enumerated(counting, "history", "counting."):
        where = f"counting.history[{n}]"
        key, before = _read_place(where, row), row.get("before")
        if before is not None and not isinstance(before, dict):
            raise InputError(f"{where}.before must be an object or null, got {quoted(before)}")
        history.append(Step(key, None if before is None else _read_count(where, {**before, **row})))
    at, order, revision = counting.get("at"), counting.get("order", "time"), counting.get("revision", 0)
    if order not in get_args(Order):
        raise InputError(f"counting.order must be {' or '.join(get_args(Order))}, got {quoted(order)}")
    if not _is_count(revision):
        raise InputError(f"counting.revision must be a non-negative integer, got {quoted(revision)}")
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
        if not _is_count(row.get(name)) or row[name] > MOST:
            raise InputError(
                f"{where}.{name} must be an integer from 0 to {MOST}, got {quoted(row.get(name))}"
            )
    if row.get("state") not in get_args(State):
        raise InputError(
            f"{where}.state must be {', '.join(get_args(Decision))}, got {quoted(row.get('state'))}"
        )
    return Count(door, minute, row["entered"], row["left"], row["state"])


def _read_place(where: str, row: Any) -> Key:
    if not isinstance(row, dict):
        raise InputError(f"{where} must be an object, got {quoted(row)}")
    door, minute = row.get("door"), row.get("minute")
    if not isinstance(door, str) or not door or not door.isprintable():
        raise InputError(f"{where}.door must be the name of a door, got {quoted(door)}")
    try:
        return door, dt.datetime.fromisoformat(str(minute))
    except ValueError:
        raise InputError(
            f"{where}.minute must be a time such as 2024-01-08T08:31:00, got {quoted(minute)}"
        ) from None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check_one_clock(keys: Iterator[Key]) -> None:
    if len({key[1].tzinfo is None for key in keys}) > 1:
        raise InputError("either all times must have a UTC offset or none")
