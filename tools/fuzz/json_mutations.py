"""Mutations of JSON documents, and their text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from tools.fuzz.byte_mutations import mutate_bytes
from tools.fuzz.interesting import NUMBERS, TEXTS, TIMES, ZONES

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 1.5, -0.0, 1e308, -1e308, 5e-324, 2**31, 2**53, 2**63, -(2**63)-1, 2**64,
    10**40, 10**400, 10**3000, float("nan"), float("inf"), float("-inf"), "", [], {}, [[]], [{}], {"":""},
    [None], "\ud800", "\udfff\ud800", "a\ud800b",
)  # fmt: skip


def any_value(random: Random) -> Any:
    """Return a value at which parsers break."""
    match random.randrange(8):
        case 0 | 1 | 2:
            return deepcopy(random.choice(_VALUES))  # mutated later
        case 3:
            return random.choice(TEXTS)
        case 4:
            return random.choice(TIMES)
        case 5:
            return random.choice(NUMBERS)
        case 6:
            return random.choice(ZONES) if random.random() < 0.3 else random.uniform(-10, 2000)
        case _:
            return _nested(random)


def _nested(random: Random) -> Any:
    value: Any = random.choice((1, "x", None))
    for _ in range(random.choice((1, 3, 20, 300))):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value


def mutate_json(document: Any, random: Random, names: Sequence[str] = ()) -> Any:
    """Return a changed copy of a document; ``names`` are keys and texts of the format."""
    document = deepcopy(document)
    while True:
        document = _mutate_once(document, random, names)
        if random.random() < 0.6:
            return document


def _mutate_once(document: Any, random: Random, names: Sequence[str]) -> Any:
    places = _places(document)
    if not places or random.random() < 0.03:
        return any_value(random)
    container, key = random.choice(places)
    match random.randrange(7):
        case 0 | 1 | 2:
            container[key] = any_value(random)
        case 3:
            del container[key]
        case 4:
            container[key] = _other_type(container[key], random)
        case 5 if isinstance(container, dict):
            new = random.choice(names) if names and random.random() < 0.7 else random.choice(TEXTS)
            container[new] = container[key] if random.random() < 0.5 else container.pop(key)
        case 5:
            container.insert(random.randrange(len(container) + 1), _copied(container[key]))
        case _:
            other, place = random.choice(places)
            if place in other if isinstance(other, dict) else place < len(other):
                container[key] = _copied(other[place])
    return document


def _copied(value: Any) -> Any:
    """Return a copy, or None of a value that is nested too deeply to be copied."""
    try:
        return deepcopy(value)
    except RecursionError:
        return None


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Return all containers of a document with each of their keys."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            found += [(one, key) for key in one]
            waiting += one.values()
        elif isinstance(one, list):
            few = range(len(one)) if len(one) < 20 else (0, 1, len(one) // 2, len(one) - 1)
            found += [(one, place) for place in few]
            waiting += [one[place] for place in few]
    return found


def _other_type(value: Any, random: Random) -> Any:
    change: Callable[[Any], Any] = random.choice(
        (lambda one: [one], lambda one: {"value": one}, repr, lambda one: one is not None, lambda one: None)
    )
    return change(value)


def json_bytes(document: Any, random: Random) -> bytes:
    """Return a document as bytes; now and then as invalid JSON, with repeated keys or in another encoding."""
    text = json.dumps(document, ensure_ascii=random.random() < 0.8)
    if random.random() < 0.05 and "{" in text:
        text = text.replace("{", '{"a": 1, "a": 2, ', 1)
    data = text.encode("utf-8", "surrogatepass")
    chance = random.random()
    if chance < 0.02:
        return text.encode(random.choice(("utf-16", "utf-32", "utf-8-sig")), "surrogatepass")
    if chance < 0.04:
        depth = random.choice((100, 2000, 100_000))
        return b"[" * depth + data + b"]" * depth
    return mutate_bytes(data, random) if chance < 0.2 else data
