"""The loops over neurons and lags of ``occupair.paper.live_kernel`` in plain numpy.

Used where numba is not installed, and as the reference for the compiled loops in tests.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Single = NDArray[np.float32]


def combine(rows: Array, factors: Array, out: Array) -> None:
    """Add factors @ rows to ``out``."""
    out += np.dot(factors, rows)


def move_input(along: Array, rise: float, rows: Array, steps: Array, out: Array) -> float:
    """Write the move of z, rise * along + steps @ rows; return an upper bound of its entries."""
    out[:] = rise * along
    out += np.dot(steps, rows)
    return float(np.sum(out**4) ** 0.25)


def shift_hidden(hidden: Array, move: Array) -> None:
    """Overwrite h(z) with h(z + move), which is h / (h + (1 - h) exp(-move))."""
    hidden /= hidden + (1.0 - hidden) * np.exp(-move)


def expand_series(
    hidden: Array, coef: Array, move: Array, slopes: Single, bends: Single, terms: Array
) -> float:
    """Write the series of beta'h along a move, beta h', and beta h'' times the move; return its size."""
    slope, turn = hidden * (1.0 - hidden), 1.0 - 2.0 * hidden
    slopes[:] = coef * slope
    bends[:] = coef * slope * turn * move
    first, square = coef * slope * move, move * move
    terms[0], terms[1] = coef @ hidden, first.sum()
    terms[2] = np.sum(first * move * turn) / 2.0
    terms[3] = np.sum(first * square * (1.0 - 6.0 * slope)) / 6.0
    terms[4] = np.sum(first * square * move * turn * (1.0 - 12.0 * slope)) / 24.0
    return float(np.mean(square**5) ** 0.1)


def project(rows: Single, vector: Single, out: Single) -> None:
    """Write rows @ vector to ``out``."""
    out[:] = np.dot(rows, vector)


def follow_past(
    people: Array, past: Array, rise: float, tangent: Array, gradient: Single, mixed: Single, growth: Array
) -> tuple[float, float, float]:
    """Return (g + r m)'u, |u|^2 and g'E, where E are the possible errors of the past estimates."""
    stray = people - past - rise * tangent
    return float((gradient + rise * mixed) @ stray), float(stray @ stray), float(gradient @ growth)
