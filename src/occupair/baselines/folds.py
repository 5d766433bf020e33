"""Choosing settings inside the training days: whole days are left out in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def day_folds(days: int, *, folds: int = 3) -> list[tuple[list[int], list[int]]]:
    """Numbers of the days to learn from and of the days to score, for each fold.

    One day alone is both.

    Examples
    --------
    >>> day_folds(4)
    [([1, 2], [0, 3]), ([0, 2, 3], [1]), ([0, 1, 3], [2])]
    >>> day_folds(1)
    [([0], [0])]
    """
    if days == 1:
        return [([0], [0])]
    numbers = range(days)
    return [
        ([i for i in numbers if i % folds != fold], [i for i in numbers if i % folds == fold])
        for fold in range(min(folds, days))
    ]


def picked(items: Sequence[T], numbers: Sequence[int]) -> list[T]:
    """Pick items by number.

    Examples
    --------
    >>> picked("abc", [2, 0])
    ['c', 'a']
    """
    return [items[i] for i in numbers]
