"""Numbers and arrays of JSON values, validated because a model file may come from an untrusted source."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.wording import quoted

Array = NDArray[np.float64]


LARGEST = 1e30
"""Larger numbers overflow when they are used; trained models have none that are nearly as large."""


def number(value: Any, *, least: float = -LARGEST, most: float = LARGEST, above: float = -np.inf) -> float:
    """Return a number within limits as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"must be a number, got {quoted(value)}")
    if not (least <= value <= most and value > above):
        raise ValueError(f"number out of range: {quoted(value)}")
    return float(value)


def count(value: Any, *, most: int, least: int = 0) -> int:
    """Return an integer within limits."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"must be an integer from {least} to {most}, got {quoted(value)}")
    return value


def array(values: Any, shape: tuple[int, ...]) -> Array:
    """Return numbers of a shape."""
    found = _finite(values, shape)
    if (np.abs(found) > LARGEST).any():
        raise ValueError(f"must be numbers up to {LARGEST:g}")
    return found


def single_precision(values: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return finite numbers of a shape in single precision."""
    with np.errstate(over="ignore"):
        found = _finite(values, shape).astype(np.float32)
    if not np.isfinite(found).all():
        raise ValueError("must be numbers in single precision")
    return found


def _finite(values: Any, shape: tuple[int, ...]) -> Array:
    found = np.array(values, dtype=float)
    if found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"must be finite numbers of shape {shape}")
    return found
