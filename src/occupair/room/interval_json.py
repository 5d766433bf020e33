"""Prediction intervals as plain JSON values, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from occupair.room.error_scale import N_FEATURES, ErrorScale
from occupair.room.json_values import array, number
from occupair.room.prediction_intervals import QUANTILES, PredictionIntervals


def intervals_to_json(intervals: PredictionIntervals) -> dict[str, Any]:
    """Return prediction intervals as plain values; errors in units of a scale have a key of their own."""
    table = {"edges": intervals.edges.tolist(), "errors": intervals.errors.tolist()}
    scale = intervals.scale
    if scale is None:
        return table
    return {
        "intervals": table
        | {
            "highest": intervals.highest,
            "scale_people": scale.max_people,
            "scale_mean": scale.mean.tolist(),
            "scale_spread": scale.spread.tolist(),
            "scale_coef": scale.coef.tolist(),
        }
    }


def intervals_from_json(values: dict[str, Any]) -> PredictionIntervals:
    """Return the prediction intervals of a refinement; those of older files have no scale."""
    scaled = values.get("intervals")
    table = values if scaled is None else scaled
    edges = array(table["edges"], (len(table["edges"]),))
    if edges.size == 0 or edges[0] > 0 or (np.diff(edges) < 0).any():
        raise ValueError("edges must increase from 0")
    errors = array(table["errors"], (edges.size, QUANTILES.size))
    if scaled is None:
        return PredictionIntervals(edges, errors)
    spread = array(scaled["scale_spread"], (N_FEATURES,))
    if not (spread > 0).all():
        raise ValueError("scale_spread must be above 0")
    scale = ErrorScale(
        max_people=number(scaled["scale_people"], above=0.0),
        mean=array(scaled["scale_mean"], (N_FEATURES,)),
        spread=spread,
        coef=array(scaled["scale_coef"], (2, N_FEATURES)),
    )
    return PredictionIntervals(edges, errors, scale, number(scaled["highest"], least=0.0))
