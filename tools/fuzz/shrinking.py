"""Smaller inputs with the same finding."""

from __future__ import annotations

from tools.fuzz.target import Target
from tools.fuzz.trial import attempt


def shrink(target: Target, data: bytes, *, most: int = 3_000) -> bytes:
    """Remove parts of an input as long as its finding has the same cause, in at most ``most`` trials."""
    cause = attempt(target, data).cause
    size, trials = len(data) // 2, 0
    while size and trials < most:
        start, removed = 0, False
        while start < len(data) and trials < most:
            shorter = data[:start] + data[start + size :]
            trials += 1
            if attempt(target, shorter).cause == cause:
                data, removed = shorter, True
            else:
                start += size
        size = size if removed and size > 1 else size // 2
    return data
