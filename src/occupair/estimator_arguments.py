"""Checks of the arguments of ``OccupancyEstimator``: settings, and mode, lag and confidence of estimates."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from occupair.errors import InputError
from occupair.paper.features import LAYERS

Mode = Literal["live", "hindsight", "drifting"]
MODES = ("live", "hindsight", "drifting")


def check_settings(layer: Any, *, horizon: Any, stride: Any) -> None:
    """Raise InputError unless the layer is known, and horizon and stride are times [min].

    Examples
    --------
    >>> check_settings("fs-elm", horizon=30, stride=0)
    Traceback (most recent call last):
    ...
    occupair.errors.InputError: stride must be a number of minutes above 0, got 0
    """
    if layer not in ("room", *LAYERS):
        raise InputError(f"layer must be one of room, {', '.join(LAYERS)}, got {layer!r}")
    for name, minutes in (("horizon", horizon), ("stride", stride)):
        if not (_is_number(minutes) and 0 < minutes < math.inf):
            raise InputError(f"{name} must be a number of minutes above 0, got {minutes!r}")


def check_request(mode: Any, lag: Any, confidence: Any = None, *, has_intervals: bool = True) -> None:
    """Raise InputError unless an estimator can estimate in this mode, with this lag and this confidence.

    Parameters
    ----------
    mode : {"live", "hindsight", "drifting"}
        Mode of ``OccupancyEstimator.estimate``.
    lag : float
        Lag of the refined estimates [min].
    confidence : float, optional
        Confidence of the prediction interval; None asks for none.
    has_intervals : bool
        Whether the estimator has prediction intervals.
    """
    if mode not in MODES:
        raise InputError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    if lag and mode != "live":
        raise InputError(f"lag must be 0 with mode {mode!r}, got {lag}")
    if not (_is_number(lag) and 0 <= lag < math.inf):
        raise InputError(f"lag must be a number of minutes, 0 or more, got {lag!r}")
    if confidence is None:
        return
    check_confidence(confidence)
    if not has_intervals:
        raise InputError("interval must be omitted: the paper's estimators have no prediction interval")


def check_confidence(confidence: Any) -> None:
    """Raise InputError unless this is the confidence of a prediction interval, the argument ``interval``."""
    if not (_is_number(confidence) and 0 < confidence < 1):
        raise InputError(f"interval must be above 0 and below 1 (90 % is 0.9), got {confidence!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number)
