"""The clock offset of a group of days, with an uncertainty interval and a confidence.

An offset is uncertain for two reasons. Other days would have given another offset: the days are resampled
(bootstrap). And a room responds with a lag beyond the mass balance (`clock_offset_scores.RESPONSE_LAGS`),
which looks like a late clock. If other days of the room have correct clocks, they show this lag and it is
subtracted; if all days are off, it is unknown and the interval covers the lags of all rooms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occupair.checks.clock_offset_scores import RESPONSE_LAGS, ClockScores, circular
from occupair.checks.prepared_readings import Array, Mask

N_RESAMPLES = 1000
INTERVAL_QUANTILES = (0.05, 0.95)  # of the resampled offsets
MAX_OFFSET_ERROR = 15.0  # min; a smaller error does not matter: it is within the response lag of a room
MAX_RESPONSE_LAG = 30.0  # min; the response lag of any room is less
MAX_ROUNDING = 10.0  # min; most clock errors are whole hours, and offsets this close are rounded to them
REFERENCE_DAYS = 3  # days with correct clocks needed to estimate the response lag


@dataclass(frozen=True)
class OffsetRange:
    """A clock offset and its uncertainty.

    Attributes
    ----------
    rounded : how late CO2 is timestamped, negative if early, rounded to a close whole hour [min]
    measured : the same, not rounded [min]
    low, high : 90 % interval of the resampled offsets [min]
    confidence : fraction of resampled offsets within MAX_OFFSET_ERROR of ``rounded`` [0..1]
    beyond_response : fraction of resampled offsets beyond the response lag of any room [0..1]
    """

    rounded: float
    measured: float
    low: float
    high: float
    confidence: float
    beyond_response: float


def offset_range(scores: ClockScores, days: Mask, correct: Mask, *, near: float) -> OffsetRange:
    """Measure the clock offset of some days near a rough estimate, and resample it.

    Parameters
    ----------
    scores : ClockScores
        Scores of all days.
    days, correct : masks over the days
        The days in question, and the days with correct clocks.
    near : float
        Rough estimate of the offset, to within MAX_RESPONSE_LAG [min].
    """
    rng = np.random.default_rng(0)
    response, responses = _response_lag(scores, correct, rng)
    curve = np.where(_close(scores, near), scores.evidence[days].sum(axis=0), -np.inf)
    measured = float(scores.offsets[int(np.argmax(curve))]) - response
    rounded = _snapped(measured)
    draws = _resampled(scores, scores.evidence[days], rng) - responses
    away = circular(draws - rounded)
    low, high = (rounded + 5 * round(float(edge) / 5) for edge in np.quantile(away, INTERVAL_QUANTILES))
    return OffsetRange(
        rounded,
        measured,
        min(low, rounded),
        max(high, rounded),
        confidence=float(np.mean(np.abs(away) <= max(MAX_OFFSET_ERROR, scores.width))),
        beyond_response=float(np.mean(np.abs(circular(draws)) >= MAX_RESPONSE_LAG)),
    )


def _response_lag(scores: ClockScores, correct: Mask, rng: np.random.Generator) -> tuple[float, Array]:
    """Return the response lag of the room beyond RESPONSE_LAGS [min], and resampled values of it."""
    evidence = np.where(_close(scores, 0.0), scores.evidence, -np.inf)[correct]
    if int((scores.total[correct] > 0).sum()) >= REFERENCE_DAYS:
        usual = float(scores.offsets[int(np.argmax(evidence.sum(axis=0)))])
        return usual, _resampled(scores, evidence, rng)
    weights = np.array(list(RESPONSE_LAGS.values()), dtype=float)
    lags = rng.choice(np.array(list(RESPONSE_LAGS), dtype=float), size=N_RESAMPLES, p=weights / weights.sum())
    return 0.0, lags - np.average(list(RESPONSE_LAGS), weights=weights)


def _close(scores: ClockScores, offset: float) -> Mask:
    return np.asarray(np.abs(scores.offsets - offset) < MAX_RESPONSE_LAG)


def _resampled(scores: ClockScores, evidence: Array, rng: np.random.Generator) -> Array:
    """Offsets of resampled days [min], each drawn by its likelihood."""
    weights = rng.multinomial(len(evidence), np.full(len(evidence), 1 / len(evidence)), size=N_RESAMPLES)
    possible = np.isfinite(evidence).all(axis=0)
    total = np.where(possible, weights @ np.where(possible, evidence, 0.0), -np.inf)
    by_likelihood = np.argmax(total + rng.gumbel(size=total.shape), axis=1)
    return np.asarray(scores.offsets[by_likelihood])


def _snapped(offset: float) -> float:
    """Round an offset [min] to a whole hour if it is close to one.

    Examples
    --------
    >>> _snapped(65.0), _snapped(-485.0), _snapped(45.0), _snapped(5.0)
    (60.0, -480.0, 45.0, 5.0)
    """
    hours = 60.0 * round(offset / 60)
    return hours if hours and abs(offset - hours) <= MAX_ROUNDING else offset
