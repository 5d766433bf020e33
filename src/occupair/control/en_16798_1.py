"""Outdoor air by method 1 of EN 16798-1:2019, based on perceived air quality (Annex B.3)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.ventilation_rates import EN_LEAST_PER_PERSON, EN_PER_AREA, EN_PER_PERSON

People = TypeVar("People", float, NDArray[np.float64])


def check_category(category: str, building: str) -> None:
    """Raise InputError unless category and kind of building are those of the standard."""
    if category not in EN_PER_PERSON:
        raise InputError(f"category must be I, II, III or IV, got {category!r}")
    if building not in EN_PER_AREA:
        raise InputError(f"building must be one of {', '.join(EN_PER_AREA)}, got {building!r}")


def perceived_quality_outdoor_air(
    people: People,
    area: float,
    *,
    category: str = "II",
    building: str = "low polluting",
    effectiveness: float = 1.0,
) -> People:
    """Return the outdoor air flow q_tot = n q_p + A_R q_B, divided by the ventilation effectiveness [L/s].

    The flow per person is never below 4 L/s in total. The rates are the default values of Annex B for
    non-adapted persons; a national annex may have others. Without people, the part for building emissions
    remains. The lower flow that the standard allows outside hours of use is not applied: an estimate of
    0 people does not make it one of those hours.

    Parameters
    ----------
    people : float or array
        Number of people n.
    area : float
        Floor area A_R [m2].
    category : str
        Category of the indoor environment: "I", "II", "III" or "IV".
    building : str
        "very low polluting", "low polluting" or "non low polluting".
    effectiveness : float
        Ventilation effectiveness: 1 with complete mixing.

    Examples
    --------
    One person in an office of 10 m2, category II: 1.4 L/s per m2.

    >>> perceived_quality_outdoor_air(1, 10)
    14.0
    """
    check_category(category, building)
    flow = EN_PER_PERSON[category] * people + EN_PER_AREA[building][category] * area
    shortfall = EN_LEAST_PER_PERSON * people - flow
    return (flow + shortfall * (shortfall > 0)) / effectiveness
