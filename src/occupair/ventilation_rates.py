"""Outdoor air rates of the ventilation standards: ASHRAE 62.1 and EN 16798-1.

Only the numbers of the standards are here, so that every module can use them; ``occupair.control`` has the
equations.
"""

from __future__ import annotations

from typing import NamedTuple


class SpaceRates(NamedTuple):
    """Rates of one occupancy category of ASHRAE 62.1."""

    per_person: float  # Rp [L/s per person]
    per_area: float  # Ra [L/s per m2]
    density: float  # default occupant density [people per 100 m2]
    standby: bool = False  # whether occupied-standby mode is allowed (6.2.6.1.4)


ASHRAE_SPACES = {
    "office": SpaceRates(2.5, 0.3, 5, True),
    "conference": SpaceRates(2.5, 0.3, 50, True),
    "reception": SpaceRates(2.5, 0.3, 30, True),
    "entry lobby": SpaceRates(2.5, 0.3, 10, True),
    "data entry": SpaceRates(2.5, 0.3, 60, True),
    "break room": SpaceRates(2.5, 0.3, 25, True),
    "classroom": SpaceRates(5, 0.6, 35),
    "classroom (ages 5 to 8)": SpaceRates(5, 0.6, 25),
    "lecture classroom": SpaceRates(3.8, 0.3, 65, True),
    "lecture hall": SpaceRates(3.8, 0.3, 150, True),
    "computer lab": SpaceRates(5, 0.6, 25),
    "media center": SpaceRates(5, 0.6, 25),
    "library": SpaceRates(2.5, 0.6, 10),
    "science laboratory": SpaceRates(5, 0.9, 25),
    "university laboratory": SpaceRates(5, 0.9, 25),
    "art classroom": SpaceRates(5, 0.9, 20),
    "music, theater, dance": SpaceRates(5, 0.3, 35, True),
    "multiuse assembly": SpaceRates(3.8, 0.3, 100, True),
    "daycare": SpaceRates(5, 0.9, 25),
    "restaurant": SpaceRates(3.8, 0.9, 70),
    "cafeteria": SpaceRates(3.8, 0.9, 100),
    "bar": SpaceRates(3.8, 0.9, 100),
    "auditorium": SpaceRates(2.5, 0.3, 150, True),
    "courtroom": SpaceRates(2.5, 0.3, 70, True),
    "place of worship": SpaceRates(2.5, 0.3, 120, True),
    "museum": SpaceRates(3.8, 0.3, 40, True),
    "sales": SpaceRates(3.8, 0.6, 15),
    "supermarket": SpaceRates(3.8, 0.3, 8, True),
    "mall": SpaceRates(3.8, 0.3, 40, True),
    "gym": SpaceRates(10, 0.9, 7),
    "aerobics room": SpaceRates(10, 0.3, 40),
    "weight room": SpaceRates(10, 0.3, 10),
    "spectator area": SpaceRates(3.8, 0.3, 150, True),
    "hotel bedroom": SpaceRates(2.5, 0.3, 10, True),
    "hotel lobby": SpaceRates(3.8, 0.3, 30, True),
    "transport waiting": SpaceRates(3.8, 0.3, 100, True),
}
"""Minimum ventilation rates in the breathing zone: ANSI/ASHRAE 62.1-2022, Table 6-1, SI columns.

A selection of the occupancy categories. "classroom" is age 9 plus, "lecture hall" has fixed seats, "gym" is
the play area. The SI rates are rounded by the standard: 5 cfm per person is 2.36 L/s, not 2.5.
"""

AIR_DISTRIBUTIONS = {
    "ceiling supply, cool": 1.0,
    "ceiling supply, warm, floor return": 1.0,
    "ceiling supply, warm jet, ceiling return": 1.0,
    "ceiling supply, warm, ceiling return": 0.8,
    "floor supply, cool, displacement": 1.2,
    "floor supply, warm, floor return": 1.0,
    "floor supply, warm, ceiling return": 0.7,
    "makeup air far from exhaust": 0.8,
    "makeup air near exhaust": 0.5,
}
"""Zone air distribution effectiveness Ez: ANSI/ASHRAE 62.1, Table 6-4 since 2019 and 6-2 before.

A "warm jet" is supplied less than 8 K above the room and still has 0.8 m/s 1.4 m above the floor; other warm
air from the ceiling with return at the ceiling has 0.8. Makeup air is "far" beyond half of the room's length.
"""

EN_PER_PERSON = {"I": 10.0, "II": 7.0, "III": 4.0, "IV": 2.5}
"""Rates for non-adapted persons by category, q_p [L/s per person]: EN 16798-1:2019, Table B.6."""

EN_PER_AREA = {
    "very low polluting": {"I": 0.5, "II": 0.35, "III": 0.2, "IV": 0.15},
    "low polluting": {"I": 1.0, "II": 0.7, "III": 0.4, "IV": 0.3},
    "non low polluting": {"I": 2.0, "II": 1.4, "III": 0.8, "IV": 0.6},
}
"""Rates for building emissions by kind of building and category, q_B [L/s per m2]: EN 16798-1, Table B.7."""

EN_LEAST_PER_PERSON = 4.0
"""Least total flow per person, for health: EN 16798-1, method 1 [L/s per person]."""

M3_PER_HOUR = 3.6
"""A flow of 1 L/s [m3/h]."""
