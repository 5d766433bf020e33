"""Groups of days with the same clock offset, by a hidden Markov model over the days.

Its states are a few offsets, its emissions the evidence of `clock_offset_scores`. The probability that
neighbouring days differ is estimated: if an offset lasts for weeks, a noisy day does not interrupt it, and
if days are shuffled, each is judged by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from occupair.checks.clock_offset_range import OffsetRange, offset_range
from occupair.checks.clock_offset_scores import LARGEST_OFFSET, ClockScores, circular
from occupair.checks.prepared_readings import Array, Mask, runs

MIN_OFFSET = 30.0  # min; less may be the response lag of the room, see RESPONSE_LAGS
MIN_REPORTED_OFFSET = 20.0  # min; less, after subtracting the response lag, is not reported
MIN_OFFSET_DISTANCE = 60.0  # min between the offsets of two groups of days; closer offsets are one group
DAY_COST = 1.0  # nat by which a day must prefer another offset to count for it
MIN_EVIDENCE = 20.0  # nat; correct clocks reach 11 by chance (ROBOD room 3), wrong ones 51 and more
RUN_COST = 0.2  # nat by which consecutive days must prefer it on average; slow rooms stay below
MIN_RUN_EVIDENCE = 15.0  # nat for consecutive days; correct clocks reach 9 (ROBOD room 3)
MIN_SIGNAL_TO_NOISE = 4.0  # times the upper quartile over all offsets, which is the noise level of the room
MIN_DAYS = 2  # one odd day is not a wrong clock
MAX_GROUPS = 3  # offsets besides 0: summer time, winter time and one other error; more is noise
MIN_WRAPPED_DISTANCE = 180.0  # min; 12 h late and nearly 12 h early are the same finding


@dataclass(frozen=True)
class ClockGroup:
    """Days whose CO2 is timestamped with the same offset.

    Attributes
    ----------
    offset : how late CO2 is timestamped, with its uncertainty
    state : column of the offset in the scores
    days : mask over the days of the scores
    probability : probability that each day belongs to this group [0..1]
    """

    offset: OffsetRange
    state: int
    days: Mask
    probability: Array


def clock_groups(scores: Sequence[ClockScores]) -> tuple[ClockScores, list[ClockGroup]]:
    """Return the best-fitting scores and the groups of days with wrong clocks, the largest first."""
    models = [(one, _needed(one, _candidates(one))) for one in scores]
    best_scores, states = max(models, key=lambda model: _likelihood(*model))
    probability = _posterior(best_scores.evidence[:, states])
    best = np.argmax(probability, axis=1)
    correct = np.asarray(best == states.index(best_scores.zero)) if best_scores.zero in states else best < 0
    groups = [
        ClockGroup(
            offset_range(best_scores, best == k, correct, near=float(best_scores.offsets[state])),
            state,
            np.asarray(best == k),
            probability[:, k],
        )
        for k, state in enumerate(states)
        if state != best_scores.zero and is_supported(best_scores, state, best == k)
    ]
    reported = [group for group in groups if abs(group.offset.rounded) >= MIN_REPORTED_OFFSET]
    return best_scores, sorted(reported, key=lambda group: -int(group.days.sum()))


def _likelihood(scores: ClockScores, states: list[int]) -> float:
    """How well a few offsets explain all days [nat], minus what chance explains."""
    others = [state for state in states if state != scores.zero]
    choice = len(scores.days) * np.log(len(states)) + MIN_EVIDENCE * len(others)
    as_a_set = scores.evidence[:, states].max(axis=1).sum() - choice
    if scores.zero not in states:
        return float(as_a_set)
    correct = scores.evidence[:, scores.zero]
    run_gains = _best_run(scores.evidence[:, others] - correct[:, None] - RUN_COST)
    return float(max(as_a_set, correct.sum() + (run_gains - MIN_RUN_EVIDENCE).sum()))


def _candidates(scores: ClockScores) -> list[int]:
    """Return the columns of offset 0 and of offsets that explain days much better than those before."""
    states = [scores.zero]
    for _ in range(MAX_GROUPS):
        adds = _adds(scores, states)
        k = int(np.argmax(np.where(_apart(scores.offsets, scores.offsets[states]), adds, -1)))
        if adds[k] < 1:
            break
        states.append(k)
    return states


def _apart(offsets: Array, taken: Array) -> Mask:
    """Whether each offset is far from those chosen, the first of which is 0, also across 12 h."""
    apart = np.abs(offsets[:, None] - taken)
    least = np.where(apart > LARGEST_OFFSET, MIN_WRAPPED_DISTANCE, MIN_OFFSET_DISTANCE)
    least[:, 0] = MIN_OFFSET
    return np.asarray((np.abs(circular(offsets[:, None] - taken)) >= least).all(axis=1))


def _needed(scores: ClockScores, states: list[int]) -> list[int]:
    """Drop offset 0 if the others explain all days as well: then the clocks are wrong on all days."""
    others = states[1:]
    if not others:
        return states
    return states if _adds(scores, others)[scores.zero] >= 1 else others


def _adds(scores: ClockScores, states: list[int]) -> Array:
    """Return the evidence that each offset adds to those chosen, relative to what chance adds.

    The evidence is the sum over all days that prefer the offset, or over the best run of consecutive days.
    A run needs less evidence, as there are fewer ways to choose it.
    """
    more = scores.evidence - scores.evidence[:, states].max(axis=1)[:, None]
    anywhere = np.maximum(more - DAY_COST, 0).sum(axis=0)
    in_a_row = _best_run(more - RUN_COST)
    by_set = anywhere / _least(anywhere, MIN_EVIDENCE)
    by_run = in_a_row / _least(in_a_row, MIN_RUN_EVIDENCE)
    return np.asarray(np.maximum(by_set, by_run))


def _best_run(gain: Array) -> Array:
    """Return the largest sum over consecutive days, for each column.

    Examples
    --------
    >>> _best_run(np.array([[1.0, -1.0], [3.0, -2.0], [-5.0, 2.0], [2.0, 1.0]])).tolist()
    [4.0, 3.0]
    """
    before = np.vstack([np.zeros_like(gain[:1]), np.cumsum(gain, axis=0)])
    return np.asarray((before - np.minimum.accumulate(before, axis=0)).max(axis=0))


def _least(gain: Array, least: float) -> float:
    """Evidence that chance does not reach [nat]."""
    return max(least, MIN_SIGNAL_TO_NOISE * float(np.quantile(gain, 0.75)))


def _posterior(evidence: Array, *, rounds: int = 20) -> Array:
    """Probability of each state on each day; the staying probability is fitted by EM."""
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
        stay = (stays + 1) / (n_days + 1)  # as if one more change had been observed
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


def is_supported(scores: ClockScores, state: int, days: Mask) -> bool:
    """Whether the days of a state have enough evidence for its offset."""
    gain = scores.evidence[days, state] - scores.evidence[days, scores.zero]
    least = MIN_RUN_EVIDENCE if len(runs(days)) == 1 else MIN_EVIDENCE
    return int((gain > DAY_COST).sum()) >= MIN_DAYS and float(gain.sum()) >= least
