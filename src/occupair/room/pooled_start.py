"""What a new room starts from: read-outs of the network, and shapes of the mass balance, of public rooms.

``pooled.json`` beside this module holds them: the solution of one ridge regression over all public rooms,
each with the same weight, and the median and covariance of their mass balance coefficients, both in units
that are comparable between rooms. It contains no readings. ``make pooled`` writes it, see
``occupair.room.pooling``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.room.balance_shapes import BalanceShapes, Shape
from occupair.room.stack import STACK_PRIOR, StackPrior

Array = NDArray[np.float64]

POOLED = "pooled"
"""Value of ``start`` that stands for the public rooms."""

LAYER_SEED = 20161
"""Seed of the random layer that pooled read-outs belong to."""

FILE = "pooled.json"

_VENTILATION = {True: "with ventilation", False: "without ventilation"}


@dataclass(frozen=True)
class PooledStart:
    """Read-outs of several rooms.

    Parameters
    ----------
    n_hidden : int
        Number of neurons of the layer with seed ``LAYER_SEED``.
    z_max : tuple of float
        Influence of the feature groups.
    read_outs : dict
        By lag [min], the read-outs of each layer, shape (n_layers, outputs of a layer, 2): people, in units
        of their standard deviation, and presence.
    rooms : tuple of str
        Names of the rooms.
    shapes : dict
        By whether the rooms have ventilation readings, the shapes of their mass balances.
    stack : StackPrior
        Prior of the weights of the members.
    """

    n_hidden: int
    z_max: tuple[float, ...]
    read_outs: dict[float, Array] = field(repr=False)
    rooms: tuple[str, ...]
    shapes: dict[bool, BalanceShapes] = field(default_factory=dict, repr=False)
    stack: StackPrior = STACK_PRIOR

    def suits(self, n_hidden: int, z_max: tuple[float, ...], lags: tuple[float, ...]) -> bool:
        """Whether the read-outs belong to a network with these settings."""
        return (n_hidden, z_max, lags) == (self.n_hidden, self.z_max, tuple(self.read_outs))


@cache
def shipped_start() -> PooledStart:
    """Return the read-outs that are part of the package."""
    return start_from_json(json.loads(files("occupair.room").joinpath(FILE).read_text("utf-8")))


def start_to_json(start: PooledStart) -> dict[str, Any]:
    """Return read-outs and shapes as plain values with six digits."""
    return {
        "rooms": list(start.rooms),
        "n_hidden": start.n_hidden,
        "z_max": list(start.z_max),
        "read_outs": {f"{lag:g}": _digits(layers) for lag, layers in start.read_outs.items()},
        "shapes": {
            _VENTILATION[known]: {
                f"{lag:g}": [
                    [one.low_share, one.delay, _digits(one.coef), _digits(one.covariance)] for one in variants
                ]
                for lag, variants in shapes.by_lag.items()
            }
            for known, shapes in start.shapes.items()
        },
    }


def _digits(values: Array) -> list[Any]:
    """Return an array as lists of numbers with six digits."""
    return [float(f"{value:.6g}") if values.ndim == 1 else _digits(value) for value in values]


def start_from_json(values: dict[str, Any]) -> PooledStart:
    """Return the read-outs and shapes of plain values."""
    return PooledStart(
        n_hidden=int(values["n_hidden"]),
        z_max=tuple(values["z_max"]),
        read_outs={float(lag): np.array(layers) for lag, layers in values["read_outs"].items()},
        rooms=tuple(values["rooms"]),
        shapes={
            known: BalanceShapes(
                {
                    float(lag): tuple(
                        Shape(share, delay, np.array(coef), np.array(covariance))
                        for share, delay, coef, covariance in variants
                    )
                    for lag, variants in values["shapes"][name].items()
                }
            )
            for known, name in _VENTILATION.items()
            if name in values["shapes"]
        },
    )
