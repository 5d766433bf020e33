"""Which days share which offset of the clocks: a hidden Markov model over the days.

Its states are a few offsets, its emissions the evidence of `clock_scores`. How often neighbouring
days differ is learned: where the offset holds for weeks a noisy day does not break the stretch, and
where days come shuffled each speaks for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from occupair.checks.cleaned import Array, Mask
from occupair.checks.clock_scores import ClockScores

SMALLEST = 30.0  # min; less may be the room's own response, see clock_scores.LAGS
APART = 60.0  # min between two groups of days: closer ones are the same
DAY_COST = 1.0  # nat; what a day must prefer another offset by, to count for it
LEAST_EVIDENCE = (
    20.0  # nat; right clocks reach 11 by chance (ROBOD room 3), wrong ones 51 and more; 15 to 40 do
)
ABOVE_NOISE = 4.0  # times the upper quartile over all offsets, which is what chance finds in this room
FEWEST_DAYS = 2  # one odd day is not a wrong clock
MOST_GROUPS = 3  # offsets besides 0: more than summer and winter time and one mishap is noise
SNAP = 10.0  # min; clocks are mostly wrong by whole half hours, and offsets this close are taken for them
NEAR = 20.0  # min; offsets closer than this are the same finding
RESAMPLES = 400


@dataclass(frozen=True)
class ClockGroup:
    """Days whose CO2 is stamped with the same offset.

    Attributes
    ----------
    offset : how late CO2 is stamped, early when negative, taken for a half hour when close to one [min]
    measured : the same as measured [min]
    confidence : share of resamplings of its days that find this offset again [0..1]
    days : mask over the days of the scores
    probability : of belonging to this group, each day [0..1]
    """

    offset: float
    measured: float
    confidence: float
    days: Mask
    probability: Array


def clock_groups(scores: Sequence[ClockScores]) -> tuple[ClockScores, list[ClockGroup]]:
    """Find the groups of days whose clocks disagree, the largest first, and the scores that fit best."""
    models = [(one, _needed(one, _candidates(one))) for one in scores]
    best_scores, states = max(models, key=lambda model: _likelihood(*model))
    probability = _posterior(best_scores.evidence[:, states])
    best = np.argmax(probability, axis=1)
    groups = [
        _group(best_scores, state, best == k, probability[:, k])
        for k, state in enumerate(states)
        if state != best_scores.zero and _holds(best_scores, state, best == k)
    ]
    return best_scores, sorted(groups, key=lambda group: -int(group.days.sum()))


def _likelihood(scores: ClockScores, states: list[int]) -> float:
    """How well a few offsets explain all days [nat], less what they could by chance."""
    others = sum(state != scores.zero for state in states)
    choice = len(scores.days) * np.log(len(states)) + LEAST_EVIDENCE * others
    return float(scores.evidence[:, states].max(axis=1).sum() - choice)


def _candidates(scores: ClockScores) -> list[int]:
    """Columns of the offset 0 and of those that explain days much better than the ones before."""
    states = [scores.zero]
    for _ in range(MOST_GROUPS):
        gain = _gain(scores, states)
        k = int(np.argmax(np.where(_apart(scores.offsets, scores.offsets[states]), gain, -1)))
        if gain[k] < _least(gain):
            break
        states.append(k)
    return states


def _apart(offsets: Array, taken: Array) -> Mask:
    """Whether each offset differs from those that are taken, the first of them 0, and round the clock."""
    distance = np.abs((offsets[:, None] - taken + 720) % 1440 - 720)
    return np.asarray((distance[:, 0] >= SMALLEST) & (distance[:, 1:] >= APART).all(axis=1))


def _needed(scores: ClockScores, states: list[int]) -> list[int]:
    """Drop 0 when the days explain themselves as well without it: then all clocks are off, noisy days too."""
    others = states[1:]
    if not others:
        return states
    gain = _gain(scores, others)
    return states if gain[scores.zero] >= _least(gain) else others


def _gain(scores: ClockScores, states: list[int]) -> Array:
    """Give what each offset adds to some that are there [nat]: the evidence of the days that prefer it."""
    so_far = scores.evidence[:, states].max(axis=1)
    return np.asarray(np.maximum(scores.evidence - so_far[:, None] - DAY_COST, 0).sum(axis=0))


def _least(gain: Array) -> float:
    """Gain that chance does not give [nat]."""
    return max(LEAST_EVIDENCE, ABOVE_NOISE * float(np.quantile(gain, 0.75)))


def _posterior(evidence: Array, *, rounds: int = 20) -> Array:
    """Probability of each state on each day; the chance of staying is learned (expectation maximisation)."""
    n_days, n_states = evidence.shape
    if n_states == 1 or n_days == 1:
        return np.asarray(np.exp(evidence - np.logaddexp.reduce(evidence, axis=1)[:, None]))
    likelihood = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    stay = 0.9
    for _ in range(rounds):
        change = np.full((n_states, n_states), (1 - stay) / (n_states - 1))
        np.fill_diagonal(change, stay)
        forward, backward = _passes(likelihood, change)
        joint = forward[:-1, :, None] * change * (likelihood[1:] * backward[1:])[:, None, :]
        joint /= joint.sum(axis=(1, 2), keepdims=True)
        stays = float(np.trace(joint, axis1=1, axis2=2).sum())
        stay = (stays + 1) / (n_days + 1)  # as if one more change had been seen
        stay = max(stay, 1 / n_states)
    probability = forward * backward
    return np.asarray(probability / probability.sum(axis=1, keepdims=True))


def _passes(likelihood: Array, change: Array) -> tuple[Array, Array]:
    forward, backward = np.ones_like(likelihood), np.ones_like(likelihood)
    forward[0] = likelihood[0] / likelihood[0].sum()
    for day in range(1, len(likelihood)):
        forward[day] = likelihood[day] * (forward[day - 1] @ change)
        forward[day] /= forward[day].sum()
    for day in range(len(likelihood) - 2, -1, -1):
        backward[day] = change @ (likelihood[day + 1] * backward[day + 1])
        backward[day] /= backward[day].sum()
    return forward, backward


def _holds(scores: ClockScores, state: int, days: Mask) -> bool:
    """Whether the days given to a state still speak for it, together."""
    gain = scores.evidence[days, state] - scores.evidence[days, scores.zero]
    return int((gain > DAY_COST).sum()) >= FEWEST_DAYS and float(gain.sum()) >= LEAST_EVIDENCE


def _group(scores: ClockScores, state: int, days: Mask, probability: Array) -> ClockGroup:
    close = np.abs(scores.offsets - scores.offsets[state]) < SMALLEST
    curve = np.where(close, scores.evidence[days].sum(axis=0), -np.inf)
    measured = float(scores.offsets[int(np.argmax(curve))])
    return ClockGroup(_snapped(measured), measured, _confidence(scores, days, measured), days, probability)


def _snapped(offset: float) -> float:
    """Take an offset for the nearest half hour when it is close to it.

    Examples
    --------
    >>> _snapped(65.0), _snapped(-485.0), _snapped(45.0)
    (60.0, -480.0, 45.0)
    """
    half_hours = 30.0 * round(offset / 30)
    return half_hours if abs(offset - half_hours) <= SNAP else offset


def _confidence(scores: ClockScores, days: Mask, offset: float) -> float:
    """Share of resamplings of the days whose best offset is this one."""
    evidence = scores.evidence[days]
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(evidence), np.full(len(evidence), 1 / len(evidence)), size=RESAMPLES)
    best = scores.offsets[np.argmax(weights @ evidence, axis=1)]
    return float(np.mean(np.abs(best - offset) <= NEAR))
