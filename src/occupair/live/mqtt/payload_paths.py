"""Where a value is in JSON: ``a.b[0].c``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from occupair.errors import InputError

Path = tuple[str | int, ...]
_STEP = re.compile(r"\[(-?\d{1,9})\]|(?:^|\.)([^.\[\]]+)")

NOTHING = object()
"""What is found where there is nothing; None is JSON's null."""


@lru_cache(maxsize=4096)
def parse_path(text: str) -> Path:
    """Read a path: keys with dots between them, places in lists in brackets.

    Examples
    --------
    >>> parse_path("sensors[0].co2.value")
    ('sensors', 0, 'co2', 'value')
    """
    steps: list[str | int] = []
    place = 0
    while place < len(text) and (match := _STEP.match(text, place)):
        steps.append(int(match[1]) if match[1] else match[2])
        place = match.end()
    if not steps or place < len(text):
        raise InputError(f"path must be one such as sensors[0].co2, got {text!r}")
    return tuple(steps)


def find(content: object, path: str | Path) -> object:
    """Give what is at a path, or ``NOTHING``.

    Examples
    --------
    >>> find({"sensors": [{"co2": 812}]}, "sensors[0].co2")
    812
    """
    for step in parse_path(path) if isinstance(path, str) else path:
        if isinstance(step, int):
            inside = isinstance(content, list) and -len(content) <= step < len(content)
            content = content[step] if isinstance(content, list) and inside else NOTHING
        else:
            content = content.get(step, NOTHING) if isinstance(content, Mapping) else NOTHING
    return content
