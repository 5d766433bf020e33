"""A trained room as plain JSON values, and back.

Values are validated when read, because a model file may come from an untrusted source.
"""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import random_layer
from occupair.room.baseline_drift import Baseline, LowDistribution
from occupair.room.boosted_trees import N_LEAVES, N_NODES, BoostedTrees
from occupair.room.features import COLUMN_SETS, GROUPS, FeatureSettings, group_sizes
from occupair.room.hindsight_json import hindsight_from_json, hindsight_to_json
from occupair.room.inputs import window_length
from occupair.room.interval_json import intervals_from_json, intervals_to_json
from occupair.room.json_values import array, count, number, single_precision
from occupair.room.kernel_regression import N_WAVES, KernelRegression, random_waves
from occupair.room.lags import lags_in_readings
from occupair.room.linked_elm import LinkedLayer
from occupair.room.mass_balance import N_TERMS, Balance, BalanceVariant, BaseLevel
from occupair.room.model import Refinement, RoomModel
from occupair.room.open_hours import OpenHours
from occupair.room.stack import MEMBERS
from occupair.room.time_profile import N_STEPS, TimeProfile

Array = NDArray[np.float64]

_MAX_NEURONS = 100_000  # limits the memory that an untrusted file can claim
_MAX_TREES = 1000  # likewise
_MAX_LAGS, _MAX_LAG = 20, 240.0  # likewise; the latter in [min]
_MAX_CO2 = 1e6  # keeps the likelihood of lows finite [ppm]
_FIRST_LAGS = (0.0, 10.0, 20.0)  # of files without the key "lags" [min]


def room_to_json(room: RoomModel) -> dict[str, Any]:
    """Return a trained room as plain values.

    Base level and feature settings are written for each refinement, random layers as their seeds.
    """
    limit = {} if room.people_limit in (None, room.max_people) else {"people_limit": room.people_limit}
    thresholds = room.evidence_thresholds
    evidence = {} if thresholds is None else {"evidence_thresholds": list(thresholds)}
    plain = {
        "lags": list(room.lags),
        "columns": room.column_set,
        "interval": room.interval,
        "smoothing": room.smoothing,
        "most_people": room.max_people,
        "hours": [_runs(is_open) for is_open in room.hours.is_open],
        "refinements": [_refinement_to_json(one) for one in room.refinements],
        **_baseline_to_json(room.baseline),
    }
    profile = {} if room.profile is None else {"profile": room.profile.people.tolist()}
    hindsight = {} if room.hindsight is None else {"hindsight": hindsight_to_json(room.hindsight)}
    return plain | profile | limit | evidence | hindsight


def room_from_json(values: dict[str, Any]) -> RoomModel:
    """Return the room of plain values, or raise ValueError, TypeError or KeyError."""
    interval, lags = number(values["interval"], above=0.0), lags_from_json(values)
    width, column_set = window_length(interval, lags[-1]), _column_set(values)
    sizes, share = group_sizes(len(lags), column_set), values.get("network_share")
    refinements = tuple(_refinement_from_json(one, width, sizes, share) for one in values["refinements"])
    if [one.lag for one in refinements] != sorted(set(lags_in_readings(lags, interval))):
        raise ValueError("refinements do not match the interval and the lags")
    if len({0 if one.trees is None else len(one.trees.feature) for one in refinements}) > 1:
        raise ValueError("all refinements must have the same number of trees")
    if len({one.kernel is None for one in refinements}) > 1:
        raise ValueError("either all refinements must have a kernel regression or none")
    profile = _profile_from_json(values.get("profile"))
    for one in refinements:
        _check_members(one, profile)
    return RoomModel(
        interval=interval,
        smoothing=number(values["smoothing"], least=0.0),
        max_people=number(values["most_people"], least=0.0),
        hours=OpenHours(np.array([_from_runs(runs) for runs in values["hours"]]).reshape(2, 1440)),
        refinements=refinements,
        lags=lags,
        column_set=column_set,
        profile=profile,
        people_limit=number(values["people_limit"], least=0.0) if "people_limit" in values else None,
        evidence_thresholds=_thresholds(values.get("evidence_thresholds"), len(lags)),
        baseline=_baseline_from_json(values.get("baseline")),
        hindsight=hindsight_from_json(values["hindsight"]) if "hindsight" in values else None,
    )


def _column_set(values: dict[str, Any]) -> int:
    """Return the column set of the room in plain values; older files do not have it."""
    column_set = values.get("columns", 1)
    if column_set not in COLUMN_SETS:
        raise ValueError(f"columns must be one of {list(COLUMN_SETS)}, got {column_set!r}: upgrade occupair")
    return int(column_set)


def _thresholds(values: list[Any] | None, n_lags: int) -> tuple[float, ...] | None:
    """Return the thresholds of evidence, one per pair of successive lags; older files do not have them."""
    if values is None:
        return None
    if len(values) != max(n_lags - 1, 1):
        raise ValueError(f"evidence_thresholds must be one for each pair of successive lags, got {values!r}")
    return tuple(number(value, least=0.0) for value in values)


def lags_from_json(values: dict[str, Any]) -> tuple[float, ...]:
    """Return the lags of the room in plain values [min]; older files do not have them."""
    if "lags" not in values:
        return _FIRST_LAGS
    lags = tuple(number(lag, least=0.0, most=_MAX_LAG) for lag in values["lags"])
    if not 0 < len(lags) <= _MAX_LAGS or lags[0] != 0 or any(b <= a for a, b in pairwise(lags)):
        raise ValueError(f"lags must be up to {_MAX_LAGS} increasing numbers from 0, got {values['lags']!r}")
    return lags


def _baseline_to_json(baseline: Baseline | None) -> dict[str, Any]:
    if baseline is None:
        return {}
    lows = {"day": baseline.day} | ({} if baseline.night is None else {"night": baseline.night})
    return {"baseline": {name: [one.median, one.spread] for name, one in lows.items()}}


def _baseline_from_json(values: dict[str, Any] | None) -> Baseline | None:
    """Return the daily lows of training; older files do not have them."""
    if values is None:
        return None
    night = _lows_from_json(values["night"]) if "night" in values else None
    return Baseline(_lows_from_json(values["day"]), night)


def _lows_from_json(values: list[Any]) -> LowDistribution:
    median, spread = values
    return LowDistribution(number(median, least=0.0, most=_MAX_CO2), number(spread, least=1.0, most=_MAX_CO2))


def _refinement_to_json(one: Refinement) -> dict[str, Any]:
    base, layer = one.balance.base, one.layer
    return {
        "weights": list(one.weights),
        "trees": None if one.trees is None else _trees_to_json(one.trees),
        "kernel": None if one.kernel is None else _kernel_to_json(one.kernel),
        "base": [base.lowest, base.highest, base.median],
        "choices": [
            [variant.low_share, variant.delay, variant.offset, variant.weight, *variant.coef.tolist()]
            for variant in one.balance.variants
        ],
        "moment": list(one.features),
        "layer_seed": layer.seed,
        "layer_checksum": layer_checksum(*random_layer(layer.seed, layer.n_hidden, sum(layer.sizes))),
        "n_hidden": layer.n_hidden,
        "alphas": layer.alphas.tolist(),
        "mean": layer.mean.tolist(),
        "scale": layer.scale.tolist(),
        "coef": one.coef.tolist(),
        "presence": one.presence.tolist(),
        "threshold": one.threshold,
        **intervals_to_json(one.intervals),
    }


def _refinement_from_json(
    values: dict[str, Any], width: int, sizes: tuple[int, ...], network_share: Any
) -> Refinement:
    n_features = sum(sizes)
    n_hidden = count(values["n_hidden"], most=_MAX_NEURONS, least=1)
    lag, offset, low_share = values["moment"]
    features = FeatureSettings(
        count(lag, most=width), count(offset, most=lag), number(low_share, least=0.0, most=1.0)
    )
    base = BaseLevel(*array(values["base"], (3,)).tolist())
    layer = LinkedLayer(
        seed=count(values["layer_seed"], most=2**32 - 1),
        n_hidden=n_hidden,
        sizes=sizes,
        alphas=_alphas(values["alphas"], sizes),
        mean=array(values["mean"], (n_features,)),
        scale=array(values["scale"], (n_features,)),
    )
    check_layer(values["layer_checksum"], *random_layer(layer.seed, n_hidden, n_features))
    weights = _weights(values, network_share)
    trees = _trees_from_json(values.get("trees"), n_features - sizes[-1] + 1)
    return Refinement(
        weights=weights,
        balance=Balance(base, _variants(values["choices"], lag)),
        trees=trees,
        kernel=_kernel_from_json(values.get("kernel"), n_features),
        features=features,
        layer=layer,
        coef=array(values["coef"], (n_hidden + n_features + 1,)),
        presence=array(values["presence"], (n_hidden + n_features + 1,)),
        threshold=number(values["threshold"]),
        intervals=intervals_from_json(values),
    )


def _alphas(values: list[Any], sizes: tuple[int, ...]) -> Array:
    """Return the scale of every feature; older files have one for each group."""
    if len(values) == len(GROUPS):
        return np.repeat(array(values, (len(GROUPS),)), sizes)
    return array(values, (sum(sizes),))


def _weights(values: dict[str, Any], network_share: Any) -> tuple[float, ...]:
    """Return the weights of the members; files of earlier versions have those of the first members.

    The oldest have the weight of the network, for all lags, and the mass balance has the rest.
    """
    if "weights" in values:
        weights = tuple(number(weight, least=0.0, most=1.0) for weight in values["weights"])
    else:
        share = number(network_share, least=0.0, most=1.0)
        weights = (share, 1 - share)
    if not 1 < len(weights) <= len(MEMBERS) or not np.isclose(sum(weights), 1.0):
        raise ValueError("weights of the members must sum to 1")
    return weights + (0.0,) * (len(MEMBERS) - len(weights))


def _check_members(one: Refinement, profile: TimeProfile | None) -> None:
    """Raise if a member that has a weight is missing."""
    for name, member in (("trees", one.trees), ("kernel", one.kernel), ("profile", profile)):
        if member is None and one.weights[MEMBERS.index(name)] > 0:
            raise ValueError(f"{name} must not be missing if it has a weight")


def _kernel_to_json(kernel: KernelRegression) -> dict[str, Any]:
    return {
        "checksum": layer_checksum(*random_waves(kernel.mean.size)),
        "mean": kernel.mean.tolist(),
        "scale": kernel.scale.tolist(),
        "coef": kernel.coef.tolist(),
    }


def _kernel_from_json(values: dict[str, Any] | None, n_features: int) -> KernelRegression | None:
    if values is None:
        return None
    check_layer(values["checksum"], *random_waves(n_features))
    return KernelRegression(
        array(values["mean"], (n_features,)),
        array(values["scale"], (n_features,)),
        array(values["coef"], (N_WAVES + 1,)),
    )


def _profile_from_json(values: list[Any] | None) -> TimeProfile | None:
    if values is None:
        return None
    people = array(values, (2, N_STEPS))
    if not (people >= 0).all():
        raise ValueError("profile must be 0 or more people")
    return TimeProfile(people)


def _trees_to_json(trees: BoostedTrees) -> dict[str, Any]:
    return {
        "start": trees.start,
        "feature": trees.feature.tolist(),
        "threshold": _short(trees.threshold),
        "value": _short(trees.value),
    }


def _short(values: NDArray[np.float32]) -> list[list[float]]:
    """Return single-precision numbers with the digits that single precision needs."""
    return [[float(str(value)) for value in row] for row in values]


def _trees_from_json(values: dict[str, Any] | None, n_columns: int) -> BoostedTrees | None:
    if values is None:
        return None
    n_trees = len(values["feature"])
    if n_trees > _MAX_TREES:
        raise ValueError(f"there must be at most {_MAX_TREES} trees, got {n_trees}")
    feature = np.array(
        [[count(one, most=n_columns - 1) for one in tree] for tree in values["feature"]], dtype=np.int16
    )
    if feature.shape != (n_trees, N_NODES):
        raise ValueError(f"each tree must have {N_NODES} comparisons")
    return BoostedTrees(
        number(values["start"]),
        feature,
        single_precision(values["threshold"], (n_trees, N_NODES)),
        single_precision(values["value"], (n_trees, N_LEAVES)),
    )


def layer_checksum(weights: Array, bias: Array) -> int:
    """Return a checksum that identifies a random layer."""
    return zlib.crc32(bias.tobytes(), zlib.crc32(weights.tobytes()))


def check_layer(checksum: int, weights: Array, bias: Array) -> None:
    """Raise if a random layer differs from the one that the model was trained with."""
    if layer_checksum(weights, bias) != checksum:
        raise ValueError("the random layer of the model cannot be reproduced on this machine")


def _variants(values: list[Any], lag: int) -> tuple[BalanceVariant, ...]:
    variants = tuple(_variant(variant, lag) for variant in values)
    if not np.isclose(sum(variant.weight for variant in variants), 1.0):
        raise ValueError("weights of the mass balances must sum to 1")
    return variants


def _variant(values: list[Any], lag: int) -> BalanceVariant:
    low_share, delay, offset, weight, *coef = values
    return BalanceVariant(
        low_share=number(low_share, least=0.0, most=1.0),
        delay=number(delay, least=0.0),
        offset=count(offset, most=lag),
        coef=array(coef, (N_TERMS,)),
        weight=number(weight, least=0.0),
    )


def _runs(is_open: NDArray[np.bool_]) -> list[int]:
    """Return the minutes at which the room opens and closes, alternating, starting with opening."""
    return [int(minute) for minute in np.flatnonzero(np.diff(np.r_[False, is_open, False]))]


def _from_runs(minutes: list[Any]) -> NDArray[np.bool_]:
    edges = [count(minute, most=1440) for minute in minutes]
    if len(edges) % 2 or any(later <= earlier for earlier, later in pairwise(edges)):
        raise ValueError("hours must alternate between opening and closing minutes")
    is_open = np.zeros(1440, dtype=bool)
    for opens, closes in zip(edges[::2], edges[1::2], strict=True):
        is_open[opens:closes] = True
    return is_open
