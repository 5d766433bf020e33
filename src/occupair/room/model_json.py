"""The default estimator of a room as plain JSON values, and back.

What is read is checked before it is believed: a stranger's file may hold anything.
"""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import random_layer
from occupair.room.features import GROUPS, FeatureSettings
from occupair.room.inputs import window_length
from occupair.room.lags import lags_in_readings
from occupair.room.linked_elm import LinkedLayer
from occupair.room.mass_balance import Balance, BalanceVariant, BaseLevel
from occupair.room.model import Refinement, RoomModel
from occupair.room.open_hours import OpenHours
from occupair.room.prediction_intervals import QUANTILES, PredictionIntervals

Array = NDArray[np.float64]

_COLUMNS = sum(GROUPS.values())
_MOST_NEURONS = 100_000  # a stranger's file must not fill the memory


def room_to_json(room: RoomModel) -> dict[str, Any]:
    """Turn a trained room into plain values.

    The base level and the network's look-back are written once for each refinement, the random layers as
    their seeds.
    """
    return {
        "interval": room.interval,
        "smoothing": room.smoothing,
        "most_people": room.most_people,
        "network_share": room.network_share,
        "hours": [_runs(kind) for kind in room.hours.is_open],
        "refinements": [_refinement_to_json(one) for one in room.refinements],
    }


def room_from_json(values: dict[str, Any]) -> RoomModel:
    """Turn plain values back into the room, or raise ValueError, TypeError or KeyError."""
    interval = _number(values["interval"], above=0.0)
    refinements = tuple(_refinement_from_json(one, window_length(interval)) for one in values["refinements"])
    if [one.lag for one in refinements] != sorted(set(lags_in_readings(interval))):
        raise ValueError("refinements do not fit the interval")
    return RoomModel(
        interval=interval,
        smoothing=_number(values["smoothing"], least=0.0),
        most_people=_number(values["most_people"], least=0.0),
        network_share=_number(values["network_share"], least=0.0, most=1.0),
        hours=OpenHours(np.array([_from_runs(kind) for kind in values["hours"]]).reshape(2, 1440)),
        refinements=refinements,
    )


def _refinement_to_json(one: Refinement) -> dict[str, Any]:
    base, layer = one.balance.base, one.layer
    return {
        "base": [base.lowest, base.highest, base.usual],
        "choices": [
            [choice.share, choice.delay, choice.behind, choice.weight, *choice.coef.tolist()]
            for choice in one.balance.choices
        ],
        "moment": list(one.moment),
        "layer_seed": layer.seed,
        "layer_checksum": layer_checksum(*random_layer(layer.seed, layer.n_hidden, _COLUMNS)),
        "n_hidden": layer.n_hidden,
        "alphas": layer.alphas.tolist(),
        "mean": layer.mean.tolist(),
        "scale": layer.scale.tolist(),
        "coef": one.coef.tolist(),
        "presence": one.presence.tolist(),
        "threshold": one.threshold,
        "edges": one.ranges.edges.tolist(),
        "errors": one.ranges.errors.tolist(),
    }


def _refinement_from_json(values: dict[str, Any], width: int) -> Refinement:
    n_hidden = _count(values["n_hidden"], most=_MOST_NEURONS, least=1)
    lag, behind, share = values["moment"]
    moment = FeatureSettings(_count(lag, most=width), _count(behind, most=lag), _number(share))
    base = BaseLevel(*_array(values["base"], (3,)).tolist())
    edges = _array(values["edges"], (len(values["edges"]),))
    if edges.size == 0 or edges[0] > 0 or (np.diff(edges) < 0).any():
        raise ValueError("edges must rise from 0")
    layer = LinkedLayer(
        seed=_count(values["layer_seed"], most=2**32 - 1),
        n_hidden=n_hidden,
        sizes=tuple(GROUPS.values()),
        alphas=_array(values["alphas"], (len(GROUPS),)),
        mean=_array(values["mean"], (_COLUMNS,)),
        scale=_array(values["scale"], (_COLUMNS,)),
    )
    check_layer(values["layer_checksum"], *random_layer(layer.seed, n_hidden, _COLUMNS))
    return Refinement(
        balance=Balance(base, _choices(values["choices"], moment.lag)),
        moment=moment,
        layer=layer,
        coef=_array(values["coef"], (n_hidden + _COLUMNS + 1,)),
        presence=_array(values["presence"], (n_hidden + _COLUMNS + 1,)),
        threshold=_number(values["threshold"]),
        ranges=PredictionIntervals(edges, _array(values["errors"], (edges.size, QUANTILES.size))),
    )


def layer_checksum(weights: Array, bias: Array) -> int:
    """Give a number that proves that a random layer came out the same."""
    return zlib.crc32(bias.tobytes(), zlib.crc32(weights.tobytes()))


def check_layer(checksum: int, weights: Array, bias: Array) -> None:
    """Refuse a random layer that did not."""
    if layer_checksum(weights, bias) != checksum:
        raise ValueError("its random layer does not come out the same on this machine")


def _choices(values: list[Any], lag: int) -> tuple[BalanceVariant, ...]:
    choices = tuple(_choice(choice, lag) for choice in values)
    if not np.isclose(sum(choice.weight for choice in choices), 1.0):
        raise ValueError("weights of the mass balances must sum to 1")
    return choices


def _choice(values: list[Any], lag: int) -> BalanceVariant:
    share, delay, behind, weight, *coef = values
    return BalanceVariant(
        share=_number(share),
        delay=_number(delay, least=0.0),
        behind=_count(behind, most=lag),
        coef=_array(coef, (6,)),
        weight=_number(weight, least=0.0),
    )


def _runs(is_open: NDArray[np.bool_]) -> list[int]:
    """Minutes at which the room opens and closes, in turn; the first is when it opens."""
    return [int(minute) for minute in np.flatnonzero(np.diff(np.r_[False, is_open, False]))]


def _from_runs(minutes: list[Any]) -> NDArray[np.bool_]:
    edges = [_count(minute, most=1440) for minute in minutes]
    if len(edges) % 2 or any(later <= earlier for earlier, later in pairwise(edges)):
        raise ValueError("hours must open and close in turn")
    is_open = np.zeros(1440, dtype=bool)
    for opens, closes in zip(edges[::2], edges[1::2], strict=True):
        is_open[opens:closes] = True
    return is_open


def _number(value: Any, *, least: float = -np.inf, most: float = np.inf, above: float = -np.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"must be a number, got {value!r}")
    if not (np.isfinite(value) and least <= value <= most and value > above):
        raise ValueError(f"number out of bounds: {value!r}")
    return float(value)


def _count(value: Any, *, most: int, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"must be a whole number from {least} to {most}, got {value!r}")
    return value


def _array(values: Any, shape: tuple[int, ...]) -> Array:
    array = np.array(values, dtype=float)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"must be {shape} finite numbers")
    return array
