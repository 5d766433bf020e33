"""Values as a store keeps them: the unknown as NULL, text that both databases take."""

from __future__ import annotations

from collections.abc import Iterable

from occupair.errors import InputError


def to_number(value: float | None) -> float | None:
    """Give a number, or None for what is not known, NaN included."""
    return None if value is None or value != value else float(value)


def check_texts(name: str, texts: Iterable[str]) -> None:
    r"""Refuse text that PostgreSQL cannot keep.

    Examples
    --------
    >>> check_texts("room", ["lab", "kitchen\0"])
    Traceback (most recent call last):
        ...
    occupair.errors.InputError: room must be text of real characters, got 'kitchen\x00'
    """
    for text in texts:
        try:
            text.encode()
            real = "\0" not in text
        except UnicodeEncodeError:
            real = False
        if not real:
            raise InputError(f"{name} must be text of real characters, got {text!r}")
