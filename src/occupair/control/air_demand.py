"""The outdoor air that a standard requires in one room, as a function of the count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from occupair.control.ashrae_62_1 import space_rates, zone_outdoor_air
from occupair.control.en_16798_1 import check_category, perceived_quality_outdoor_air
from occupair.errors import InputError

People = TypeVar("People", float, NDArray[np.float64])

Standard = Literal["ASHRAE 62.1", "EN 16798-1"]
STANDARDS = ("ASHRAE 62.1", "EN 16798-1")


@dataclass(frozen=True)
class AirDemand:
    """Standard and properties of a room that its outdoor air depends on.

    Parameters
    ----------
    standard : str
        "ASHRAE 62.1" (ventilation rate procedure) or "EN 16798-1" (method 1).
    area : float
        Floor area [m2].
    space : str
        With ASHRAE 62.1, the occupancy category, a key of ``ASHRAE_SPACES``.
    category, building : str
        With EN 16798-1, see ``perceived_quality_outdoor_air``.
    effectiveness : float
        Zone air distribution effectiveness Ez (ASHRAE 62.1) or ventilation effectiveness (EN 16798-1).

    Raises
    ------
    InputError
        If a value is invalid.

    Examples
    --------
    >>> AirDemand("EN 16798-1", area=50).flow(20), AirDemand("ASHRAE 62.1", area=50).flow(20)
    (175.0, 65.0)
    """

    standard: Standard
    area: float
    space: str = "office"
    category: str = "II"
    building: str = "low polluting"
    effectiveness: float = 1.0

    def __post_init__(self) -> None:
        if self.standard not in STANDARDS:
            raise InputError(f"standard must be {' or '.join(STANDARDS)}, got {self.standard!r}")
        if self.standard == "ASHRAE 62.1":
            space_rates(self.space)
        else:
            check_category(self.category, self.building)
        if not 0 < self.area < math.inf:
            raise InputError(f"area must be above 0 m2, got {self.area!r}")
        if not 0.1 <= self.effectiveness <= 3:
            raise InputError(f"effectiveness must be from 0.1 to 3, got {self.effectiveness!r}")

    def flow(self, people: People) -> People:
        """Return the outdoor air that the standard requires for a count [L/s]."""
        if self.standard == "ASHRAE 62.1":
            return zone_outdoor_air(people, self.area, self.space, effectiveness=self.effectiveness)
        return perceived_quality_outdoor_air(
            people,
            self.area,
            category=self.category,
            building=self.building,
            effectiveness=self.effectiveness,
        )
