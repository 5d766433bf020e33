"""How far off a group of days is, and how sure that is: an offset, a range and a confidence.

Two things make an offset uncertain. Other days would have given another one: the days are resampled. And a
room has a response of its own beyond the mass balance (`clock_scores.LAGS`), which looks just like a clock
that is late. Where other days of the same room have right clocks, they show that response and it is taken
off; where all days are off it is not known, and the range is as wide as rooms differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.checks.cleaning import Array, Mask
from occupair.checks.clock_offset_scores import LAGS, ClockScores, circular

RESAMPLES = 1000
RANGE = (0.05, 0.95)  # of the resamplings, from which to which the range goes
WITHIN = 15.0  # min; an offset this close is as good as right: moved by it, what is left is a room's response
OWN_RESPONSE = 30.0  # min; further from 0 than this no room's response peaks
SNAP = 10.0  # min; clocks are mostly wrong by whole hours, and offsets this close are taken for them
REFERENCE_DAYS = 3  # with right clocks, from which they show the room's response


@dataclass(frozen=True)
class OffsetRange:
    """An offset and how sure it is.

    Attributes
    ----------
    told : how late CO2 is stamped, early when negative, taken for a whole hour when close to one [min]
    measured : the same as measured [min]
    low, high : nine in ten resamplings lie from here to there [min]
    confidence : share of resamplings within WITHIN of what is told [0..1]
    beyond_response : share of resamplings further from 0 than any room's own response [0..1]
    """

    told: float
    measured: float
    low: float
    high: float
    confidence: float
    beyond_response: float


def offset_range(scores: ClockScores, days: Mask, right: Mask, *, near: float) -> OffsetRange:
    """Measure the offset of some days, close to one that is known roughly, and resample it.

    Parameters
    ----------
    scores : ClockScores
        Of all days.
    days, right : masks over the days
        Those in question, and those whose clocks are right.
    near : float
        Where the offset is, to within OWN_RESPONSE [min].
    """
    rng = np.random.default_rng(0)
    response, responses = _own_response(scores, right, rng)
    curve = np.where(_close(scores, near), scores.evidence[days].sum(axis=0), -np.inf)
    measured = float(scores.offsets[int(np.argmax(curve))]) - response
    told = _snapped(measured)
    draws = _resampled(scores, scores.evidence[days], rng) - responses
    away = circular(draws - told)
    low, high = (told + 5 * round(float(edge) / 5) for edge in np.quantile(away, RANGE))
    return OffsetRange(
        told,
        measured,
        min(low, told),
        max(high, told),
        confidence=float(np.mean(np.abs(away) <= max(WITHIN, scores.width))),
        beyond_response=float(np.mean(np.abs(circular(draws)) >= OWN_RESPONSE)),
    )


def _own_response(scores: ClockScores, right: Mask, rng: np.random.Generator) -> tuple[float, Array]:
    """How late the room itself responds [min], over what LAGS take off, and resamplings of that."""
    evidence = np.where(_close(scores, 0.0), scores.evidence, -np.inf)[right]
    if int((scores.total[right] > 0).sum()) >= REFERENCE_DAYS:
        usual = float(scores.offsets[int(np.argmax(evidence.sum(axis=0)))])
        return usual, _resampled(scores, evidence, rng)
    weights = np.array(list(LAGS.values()), dtype=float)
    lags = rng.choice(np.array(list(LAGS), dtype=float), size=RESAMPLES, p=weights / weights.sum())
    return 0.0, lags - np.average(list(LAGS), weights=weights)


def _close(scores: ClockScores, offset: float) -> Mask:
    return np.asarray(np.abs(scores.offsets - offset) < OWN_RESPONSE)


def _resampled(scores: ClockScores, evidence: Array, rng: np.random.Generator) -> Array:
    """Offsets that days drawn anew would have given [min], each drawn by its likelihood."""
    weights = rng.multinomial(len(evidence), np.full(len(evidence), 1 / len(evidence)), size=RESAMPLES)
    possible = np.isfinite(evidence).all(axis=0)
    total = np.where(possible, weights @ np.where(possible, evidence, 0.0), -np.inf)
    by_likelihood = np.argmax(total + rng.gumbel(size=total.shape), axis=1)
    return np.asarray(scores.offsets[by_likelihood])


def _snapped(offset: float) -> float:
    """Take an offset for the nearest whole hour when it is close to it.

    Examples
    --------
    >>> _snapped(65.0), _snapped(-485.0), _snapped(45.0), _snapped(5.0)
    (60.0, -480.0, 45.0, 5.0)
    """
    hours = 60.0 * round(offset / 60)
    return hours if hours and abs(offset - hours) <= SNAP else offset
