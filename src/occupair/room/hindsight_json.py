"""Estimates in hindsight as plain JSON values, and back.

Values are validated when read, because a model file may come from an untrusted source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occupair.room.day_smoothing import DaySmoother
from occupair.room.hindsight import Hindsight, WeightedSmoother
from occupair.room.interval_json import intervals_from_json, intervals_to_json
from occupair.room.json_values import number

_MAX_SMOOTHERS = 100  # limits the time that an untrusted file can claim
_MAX_MINUTES = 240.0  # likewise, of filters and shifts
_MAX_QUADRATIC = 1e6  # likewise [min squared]


def hindsight_to_json(hindsight: Hindsight) -> dict[str, Any]:
    """Return the smoothings of a room and their intervals as plain values."""
    smoothers = [[*one.smoother, one.weight] for one in hindsight.smoothers]
    return {"smoothers": smoothers, **intervals_to_json(hindsight.intervals)}


def hindsight_from_json(values: dict[str, Any]) -> Hindsight:
    """Return the smoothings of plain values, or raise ValueError, TypeError or KeyError."""
    if not 0 < len(values["smoothers"]) <= _MAX_SMOOTHERS:
        raise ValueError(f"there must be 1 to {_MAX_SMOOTHERS} smoothers, got {len(values['smoothers'])}")
    smoothers = tuple(_smoother(one) for one in values["smoothers"])
    if not np.isclose(sum(one.weight for one in smoothers), 1.0):
        raise ValueError("weights of the smoothers must sum to 1")
    return Hindsight(smoothers, intervals_from_json(values))


def _smoother(values: list[Any]) -> WeightedSmoother:
    median, quadratic, alike, late, weight = values
    smoother = DaySmoother(
        median=number(median, least=0.0, most=_MAX_MINUTES),
        quadratic=number(quadratic, least=0.0, most=_MAX_QUADRATIC),
        alike=number(alike, least=0.0),
        late=number(late, least=-_MAX_MINUTES, most=_MAX_MINUTES),
    )
    return WeightedSmoother(smoother, number(weight, least=0.0, most=1.0))
