"""Data of the page of a portfolio: columns as compact JSON, which its script decodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from occupair.fleet.message_groups import MessageGroup
from occupair.fleet.room_result import Basis, RoomResult, SensorQuality, Status, Trust
from occupair.report.offline_page import natural_key, script_json

CLASSES: dict[str, tuple[str, ...]] = {
    "status": get_args(Status),
    "basis": get_args(Basis),
    "trust": get_args(Trust),
    "sensor": get_args(SensorQuality),
}
"""Columns with a fixed set of values, from best to worst."""

TEXTS = (
    "reason",
    "trust_reason",
    "findings",
    "advice",
    "sensor_finding",
    "first",
    "last",
    "timezone",
    "model",
)
COUNTS = ("days", "labelled_days", "readings", "model_bytes")
NUMBERS = (
    *("interval", "missing", "most_people", "capacity", "volume", "error", "error_10", "error_20", "nrmse"),
    *("coverage", "occupied_coverage", "clock_error", "co2_gain", "seconds"),
)
DIGITS = 4  # significant digits of a number
FINGERPRINT = 12  # characters shown of a fingerprint
ROOM_MARK = "\ue000"  # in a text: the name of the room, so that equal texts are stored once


def page_data(results: Sequence[RoomResult], *, groups: dict[str, Sequence[MessageGroup]]) -> str:
    """Return rooms as JSON that is safe inside a script element.

    Classes and texts are numbers that refer to a list of distinct values; NaN is null.

    Parameters
    ----------
    results : sequence of RoomResult
        Rooms, in the order of the page.
    groups : dict
        Groups of the rooms by finding, by reason and so on; a room is in at most one of each kind.
    """
    mark = "" if any(ROOM_MARK in text for result in results for text in _texts(result)) else ROOM_MARK
    data = {
        "count": len(results),
        "mark": mark,
        "room": [result.room for result in results],
        "classes": {
            name: _coded([getattr(result, name) for result in results], words)
            for name, words in CLASSES.items()
        },
        "texts": {
            name: _coded([_marked(getattr(result, name), result.room, mark) for result in results])
            for name in TEXTS
        },
        "numbers": {name: [getattr(result, name) for result in results] for name in COUNTS}
        | {name: [_rounded(getattr(result, name)) for result in results] for name in NUMBERS},
        "ventilation": [int(result.ventilation) for result in results],
        "fingerprint": [result.fingerprint[:FINGERPRINT] for result in results],
        "groups": {kind: _grouped(found, len(results)) for kind, found in groups.items()},
    }
    return script_json(data)


def in_natural_order(results: Iterable[RoomResult]) -> list[RoomResult]:
    """Return rooms by name, with numbers in names in numerical order.

    Examples
    --------
    >>> rooms = [RoomResult(name, "failed") for name in ("B10", "b2", "A1")]
    >>> [result.room for result in in_natural_order(rooms)]
    ['A1', 'b2', 'B10']
    """
    return sorted(results, key=lambda result: natural_key(result.room))


def _texts(result: RoomResult) -> Iterable[str]:
    return (getattr(result, name) for name in TEXTS)


def _marked(text: str, room: str, mark: str) -> str:
    return text.replace(room, mark) if mark and len(room) > 1 else text


def _coded(values: Sequence[str], words: Sequence[str] = ()) -> dict[str, Any]:
    numbers = {word: number for number, word in enumerate(words)}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return {"words": list(numbers), "codes": codes}


def _grouped(groups: Sequence[MessageGroup], count: int) -> dict[str, Any]:
    codes = [-1] * count
    for number, group in enumerate(groups):
        for member in group.members:
            codes[member] = number
    labels = [group.label for group in groups]
    return {"keys": [group.key for group in groups], "labels": labels, "codes": codes}


def _rounded(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
