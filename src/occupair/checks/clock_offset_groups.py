"""Which days share which offset of the clocks: a hidden Markov model over the days.

Its states are a few offsets, its emissions the evidence of `clock_scores`. How often neighbouring
days differ is learned: where the offset holds for weeks a noisy day does not break the stretch, and
where days come shuffled each speaks for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from occupair.checks.cleaning import Array, Mask, runs
from occupair.checks.clock_offset_range import OffsetRange, offset_range
from occupair.checks.clock_offset_scores import FURTHEST, ClockScores, circular

SMALLEST = 30.0  # min; less may be the room's own response, see clock_scores.LAGS
TOLD = 20.0  # min; less, with the room's own response taken off, is no matter
APART = 60.0  # min between two groups of days: closer ones are the same
DAY_COST = 1.0  # nat; what a day must prefer another offset by, to count for it
LEAST_EVIDENCE = (
    20.0  # nat; right clocks reach 11 by chance (ROBOD room 3), wrong ones 51 and more; 15 to 40 do
)
STRETCH_COST = 0.2  # nat; what days in a row must prefer it by on average, more than a slow room's do
LEAST_STRETCH = 15.0  # nat, where it is days in a row; right clocks reach 9 (ROBOD room 3)
ABOVE_NOISE = 4.0  # times the upper quartile over all offsets, which is what chance finds in this room
FEWEST_DAYS = 2  # one odd day is not a wrong clock
MOST_GROUPS = 3  # offsets besides 0: more than summer and winter time and one mishap is noise
ROUND_THE_CLOCK = 180.0  # min; half a day late and nearly half a day early are the same finding


@dataclass(frozen=True)
class ClockGroup:
    """Days whose CO2 is stamped with the same offset.

    Attributes
    ----------
    offset : how late CO2 is stamped, and how sure that is
    state : column of that offset in the scores
    days : mask over the days of the scores
    probability : of belonging to this group, each day [0..1]
    """

    offset: OffsetRange
    state: int
    days: Mask
    probability: Array


def clock_groups(scores: Sequence[ClockScores]) -> tuple[ClockScores, list[ClockGroup]]:
    """Find the groups of days whose clocks disagree, the largest first, and the scores that fit best."""
    models = [(one, _needed(one, _candidates(one))) for one in scores]
    best_scores, states = max(models, key=lambda model: _likelihood(*model))
    probability = _posterior(best_scores.evidence[:, states])
    best = np.argmax(probability, axis=1)
    right = np.asarray(best == states.index(best_scores.zero)) if best_scores.zero in states else best < 0
    groups = [
        ClockGroup(
            offset_range(best_scores, best == k, right, near=float(best_scores.offsets[state])),
            state,
            np.asarray(best == k),
            probability[:, k],
        )
        for k, state in enumerate(states)
        if state != best_scores.zero and holds(best_scores, state, best == k)
    ]
    told = [group for group in groups if abs(group.offset.told) >= TOLD]
    return best_scores, sorted(told, key=lambda group: -int(group.days.sum()))


def _likelihood(scores: ClockScores, states: list[int]) -> float:
    """How well a few offsets explain all days [nat], less what they could by chance."""
    others = [state for state in states if state != scores.zero]
    choice = len(scores.days) * np.log(len(states)) + LEAST_EVIDENCE * len(others)
    as_a_set = scores.evidence[:, states].max(axis=1).sum() - choice
    if scores.zero not in states:
        return float(as_a_set)
    right = scores.evidence[:, scores.zero]
    stretches = _best_stretch(scores.evidence[:, others] - right[:, None] - STRETCH_COST)
    return float(max(as_a_set, right.sum() + (stretches - LEAST_STRETCH).sum()))


def _candidates(scores: ClockScores) -> list[int]:
    """Columns of the offset 0 and of those that explain days much better than the ones before."""
    states = [scores.zero]
    for _ in range(MOST_GROUPS):
        adds = _adds(scores, states)
        k = int(np.argmax(np.where(_apart(scores.offsets, scores.offsets[states]), adds, -1)))
        if adds[k] < 1:
            break
        states.append(k)
    return states


def _apart(offsets: Array, taken: Array) -> Mask:
    """Whether each offset differs from those that are taken, the first of them 0, and round the clock."""
    apart = np.abs(offsets[:, None] - taken)
    least = np.where(apart > FURTHEST, ROUND_THE_CLOCK, APART)
    least[:, 0] = SMALLEST
    return np.asarray((np.abs(circular(offsets[:, None] - taken)) >= least).all(axis=1))


def _needed(scores: ClockScores, states: list[int]) -> list[int]:
    """Drop 0 when the days explain themselves as well without it: then all clocks are off, noisy days too."""
    others = states[1:]
    if not others:
        return states
    return states if _adds(scores, others)[scores.zero] >= 1 else others


def _adds(scores: ClockScores, states: list[int]) -> Array:
    """Give what each offset adds to some that are there, as a multiple of what chance may.

    Counted are the days that prefer it, wherever they are, or all days of the stretch that does most: with
    fewer ways to choose the days, a stretch needs less evidence.
    """
    more = scores.evidence - scores.evidence[:, states].max(axis=1)[:, None]
    anywhere = np.maximum(more - DAY_COST, 0).sum(axis=0)
    in_a_row = _best_stretch(more - STRETCH_COST)
    by_set = anywhere / _least(anywhere, LEAST_EVIDENCE)
    by_stretch = in_a_row / _least(in_a_row, LEAST_STRETCH)
    return np.asarray(np.maximum(by_set, by_stretch))


def _best_stretch(gain: Array) -> Array:
    """Give the largest sum over days in a row, for each column.

    Examples
    --------
    >>> _best_stretch(np.array([[1.0, -1.0], [3.0, -2.0], [-5.0, 2.0], [2.0, 1.0]])).tolist()
    [4.0, 3.0]
    """
    before = np.vstack([np.zeros_like(gain[:1]), np.cumsum(gain, axis=0)])
    return np.asarray((before - np.minimum.accumulate(before, axis=0)).max(axis=0))


def _least(gain: Array, least: float) -> float:
    """Gain that chance does not give [nat]."""
    return max(least, ABOVE_NOISE * float(np.quantile(gain, 0.75)))


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


def holds(scores: ClockScores, state: int, days: Mask) -> bool:
    """Whether the days given to a state still speak for it, together."""
    gain = scores.evidence[days, state] - scores.evidence[days, scores.zero]
    least = LEAST_STRETCH if len(runs(days)) == 1 else LEAST_EVIDENCE
    return int((gain > DAY_COST).sum()) >= FEWEST_DAYS and float(gain.sum()) >= least
