"""The count to plan for: the upper end of the prediction interval.

A count that is too low costs air quality, one that is too high costs energy. The count to plan for is
therefore one that is exceeded only rarely, not the most likely one.
"""

from __future__ import annotations

from occupair.errors import InputError

CONFIDENCE = 0.95
"""Default probability that the planned count is not exceeded: the upper end of a 90 % interval."""


def check_confidence(confidence: float) -> None:
    """Raise InputError unless a one-sided confidence is at least 0.5 and below 1."""
    if not 0.5 <= confidence < 1:
        raise InputError(
            "confidence is the probability that the count is not exceeded, from 0.5 to below 1, "
            f"got {confidence!r}"
        )


def interval_confidence(confidence: float) -> float:
    """Return the two-sided confidence of the interval whose upper end is exceeded with 1 - ``confidence``.

    A two-sided interval leaves half of the remaining probability above it. The count that is not exceeded
    with probability c is therefore the upper end of the interval of confidence 2 c - 1: pass that as
    ``interval`` to ``OccupancyEstimator.estimate``.

    Parameters
    ----------
    confidence : float
        Probability that the count is not exceeded, from 0.5 to below 1.

    Examples
    --------
    >>> interval_confidence(0.95)
    0.9
    """
    check_confidence(confidence)
    return round(2 * confidence - 1, 12)  # 0.9 for 0.95, as intervals are published


def people_to_plan_for(people: float, high: float, *, design_people: float) -> float:
    """Return the count to plan for [people].

    It is the upper end of the interval, limited to the design occupancy: uncertainty alone is no reason to
    supply more than the design flow. An estimate above the design occupancy counts in full.

    Parameters
    ----------
    people : float
        Estimate [people].
    high : float
        Upper end of its prediction interval [people]; see ``interval_confidence``.
    design_people : float
        Design occupancy [people].

    Examples
    --------
    >>> people_to_plan_for(8.0, 11.5, design_people=20), people_to_plan_for(8.0, 31.0, design_people=20)
    (11.5, 20)
    """
    return max(people, min(high, design_people))
