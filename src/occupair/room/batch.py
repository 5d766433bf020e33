"""Many trained rooms of the default estimator as one array: one input of each room in a single evaluation.

This module is stateless: it turns the inputs of many rooms into estimates. It evaluates the same equation as
``RoomModel`` (``occupair.room.equation``), with a column of parameters for each room. Rooms of a batch share
the random layers, so each adds only its scales and read-outs, some kilobytes. The history of each room, from
which its input is built, is held elsewhere: ``occupair.live_rooms`` batches independent ``LiveRoom`` objects
whose readings are due at the same time, and ``occupair.live.rooms.engine`` collects those readings in the
service.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.room.equation import RoomEquation
from occupair.room.error_scale import RoomScales
from occupair.room.inputs import Inputs
from occupair.room.model import RoomModel
from occupair.room.open_hours import START_UP
from occupair.room.prediction_intervals import PredictionIntervals, add_errors

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class BatchEstimates:
    """Estimates of n rooms after one reading of each.

    Parameters
    ----------
    people, low, high : array of shape (n,)
        Current estimates, unrounded, and their prediction intervals [people].
    refined : dict
        By lag [readings], the estimate for the reading at that lag [people]; NaN before the day began.
    started : array of bool of shape (n,)
        Whether the start-up phase of the day is over.
    if_open : array of shape (n,)
        Current estimates without regard to the open hours [people].
    scale : array of shape (n,)
        Unit of the errors above the estimates [people].
    """

    people: Array
    low: Array
    high: Array
    refined: dict[int, Array]
    started: NDArray[np.bool_]
    if_open: Array
    scale: Array


def batch_key(model: RoomModel) -> Hashable:
    """Return what rooms must have in common to be evaluated as one batch."""
    members = [
        (
            one.lag,
            one.layer.seed,
            one.layer.n_hidden,
            0 if one.trees is None else len(one.trees.feature),
            one.kernel is None,
        )
        for one in model.refinements
    ]
    common = model.interval, model.smoothing, model.lags, model.column_set, model.profile is None
    return (*common, *members)


class RoomBatch:
    """Trained rooms that are evaluated as one batch.

    Parameters
    ----------
    models : sequence of RoomModel
        Trained rooms with the same ``batch_key``.
    confidence : float or sequence of float
        Nominal coverage of the prediction intervals, of all rooms or of each.
    """

    def __init__(self, models: Sequence[RoomModel], confidence: float | Sequence[float]) -> None:
        if not models:
            raise InputError("models must contain at least one trained room, got none")
        if len({(model.interval, model.smoothing) for model in models}) > 1:
            raise InputError("models must all have the same interval and the same smoothing")
        if len({model.lags for model in models}) > 1:
            raise InputError("models must all have the same lags: train them with the same version")
        if len({batch_key(model) for model in models}) > 1:
            raise InputError(
                "models must share one random layer: train them with the same random_state and n_draws=1"
            )
        self.interval, self.smoothing = models[0].interval, models[0].smoothing
        self._lags = [one.lag for one in models[0].refinements]
        self._equation = RoomEquation(models)
        levels = [confidence] * len(models) if isinstance(confidence, int | float) else list(confidence)
        self._intervals = _IntervalTable([model.refinements[0].intervals for model in models], levels)

    def people(self, inputs: Inputs, rooms: Indices, seen: Indices) -> BatchEstimates:
        """Estimate the people in some rooms.

        Parameters
        ----------
        inputs : Inputs
            One input of each room.
        rooms : array of int of shape (n,)
            Index of each room.
        seen : array of int of shape (n,)
            Readings of each room since its day began, or since a gap.
        """
        people, if_open = self._equation.people(inputs, rooms)
        scales = self._intervals.scales_at(inputs, rooms)
        low, high = self._intervals.around(people[0], rooms, scales)  # the first lag is 0
        low = np.where(self._equation.is_open(inputs, rooms)[0], low, 0.0)
        refined = {
            lag: np.where(seen > lag, estimate, np.nan)
            for lag, estimate in zip(self._lags, people, strict=True)
        }
        started = (seen - 1) * self.interval >= START_UP
        return BatchEstimates(
            people=people[0],
            low=low,
            high=np.maximum(high, if_open[0]),
            refined=refined,
            started=started,
            if_open=if_open[0],
            scale=np.ones(rooms.size) if scales is None else scales[1],
        )


class _IntervalTable:
    """Prediction intervals of all rooms, padded to the same number of bins with bins out of reach."""

    def __init__(self, intervals: Sequence[PredictionIntervals], confidences: Sequence[float]) -> None:
        bins = max(one.edges.size for one in intervals)
        errors = [one.errors_at(level) for one, level in zip(intervals, confidences, strict=True)]
        self._edges = np.array([_pad(one.edges, bins, np.inf) for one in intervals])
        self._low = np.array([_pad(low, bins, 0.0) for low, _ in errors])
        self._high = np.array([_pad(high, bins, 0.0) for _, high in errors])
        self._highest = np.array([one.highest for one in intervals])
        scales = [one.scale for one in intervals]
        self._scales = RoomScales(scales) if any(one is not None for one in scales) else None

    def scales_at(self, inputs: Inputs, rooms: Indices) -> Array | None:
        """Return the unit of the errors below and above the estimate of each room, shape (2, n) [people]."""
        return None if self._scales is None else self._scales.at(inputs, rooms)

    def around(self, people: Array, rooms: Indices, scales: Array | None) -> tuple[Array, Array]:
        """Return the prediction interval of the estimate of each room [people]."""
        which = (self._edges[rooms] <= people[:, np.newaxis]).sum(axis=1) - 1
        low, high = self._low[rooms, which], self._high[rooms, which]
        return add_errors(people, low, high, scales, self._highest[rooms])


def _pad(values: Array, size: int, filler: float) -> Array:
    return np.append(values, np.full(size - values.size, filler))
