"""The policies of the study: keys, names and families."""

from __future__ import annotations

from dataclasses import dataclass

CONFIDENCE = 0.95
"""Probability that the count of the main upper bound is not exceeded."""

CONFIDENCES = (0.75, 0.9, 0.99)
"""Further confidences, for the curve of the upper bound."""

CO2_LEVELS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Shares of person-hours below the flow on the tuning days that CO2 control is tuned to, for its curve."""

SCHEDULE_QUANTILE = 0.95
"""Quantile of the counts that the main schedule is made for."""

SCHEDULE_QUANTILES = (0.5, 0.75, 0.9, SCHEDULE_QUANTILE, 0.99, 1.0)
"""All quantiles, for the curve of the schedule."""


@dataclass(frozen=True)
class PolicyName:
    """Name of a policy in tables and figures.

    Parameters
    ----------
    key : str
        Short name in files.
    label : str
        Policy.
    training : str
        What its estimator or its settings come from; "" without.
    """

    key: str
    label: str
    training: str = ""


def schedule_key(quantile: float) -> str:
    """Return the key of a schedule.

    Examples
    --------
    >>> schedule_key(0.95), schedule_key(0.5)
    ('schedule', 'schedule-50')
    """
    return "schedule" if quantile == SCHEDULE_QUANTILE else f"schedule-{100 * quantile:g}"


def co2_key(share: float) -> str:
    """Return the key of CO2 control tuned to a share of person-hours below the flow.

    Examples
    --------
    >>> co2_key(0.002)
    'co2-0.2'
    """
    return f"co2-{100 * share:g}"


def confidence_key(confidence: float) -> str:
    """Return the key of the upper bound with another confidence.

    Examples
    --------
    >>> confidence_key(0.75)
    'upper-stepped-75'
    """
    return f"upper-stepped-{100 * confidence:g}"


FIXED, STEPPED = "fixed flow", "stepped flow"

POLICY_NAMES = (
    PolicyName("fixed", "Fixed design flow"),
    PolicyName("schedule", "Schedule by hour", "head counts"),
    PolicyName("co2-manual", "CO2, proportional, by manual"),
    PolicyName("co2-proportional", "CO2, proportional, tuned", "tuning weeks"),
    PolicyName("co2-pi", "CO2, PI, tuned", "tuning weeks"),
    PolicyName("true", "True count, every minute"),
    PolicyName("true-at-readings", "True count, at readings"),
    PolicyName("paper-fixed", "Paper's estimate", FIXED),
    PolicyName("paper-stepped", "Paper's estimate", STEPPED),
    PolicyName("default-fixed", "Default estimate", FIXED),
    PolicyName("default-stepped", "Default estimate", STEPPED),
    PolicyName("upper-fixed", "Upper bound, 95 %", FIXED),
    PolicyName("upper-stepped", "Upper bound, 95 %", STEPPED),
    PolicyName("physics-fixed", "Estimate without labels", FIXED),
    PolicyName("physics-stepped", "Estimate without labels", STEPPED),
    PolicyName("physics-upper-fixed", "Upper bound without labels", FIXED),
    PolicyName("physics-upper-stepped", "Upper bound without labels", STEPPED),
)
"""Policies of the table, in its order."""

CURVES = {
    "Upper bound, by confidence": (
        "default-stepped",
        *(confidence_key(level) for level in CONFIDENCES[:2]),
        "upper-stepped",
        *(confidence_key(level) for level in CONFIDENCES[2:]),
    ),
    "CO2 control, by tuning": tuple(co2_key(share) for share in reversed(CO2_LEVELS)),
    "Schedule, by quantile": tuple(schedule_key(share) for share in SCHEDULE_QUANTILES),
}
"""Keys along each curve of the trade-off, from the least to the most air."""
