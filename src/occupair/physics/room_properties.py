"""What is known of a room without any head count: its size, its seats and what people do in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from occupair.errors import InputError
from occupair.ventilation_rates import EN_PER_AREA, EN_PER_PERSON, M3_PER_HOUR

ACTIVITIES = {
    "sleeping": 0.0130,
    "seated": 0.0187,
    "office": 0.0209,
    "standing": 0.0223,
    "light work": 0.0310,
    "exercise": 0.0620,
}
"""CO2 generation of an adult by activity [m3/h]: 1.0, 1.2 to 1.4, 1.5, 1.6, 2 to 2.4 and 4 to 5 met.

Means of women and men from 21 to 60 years after Persily and de Jonge (2017), Indoor Air 27, 868-879.
"""

PROPERTIES = ("volume", "capacity", "area", "height", "air_flow", "activity", "outdoor_co2")
"""Names of the properties that the owner of a room may give."""

HEIGHT = 3.0
"""Height of a room of which only the floor area, or only the volume, is known [m]."""

USUAL_PEAK = 0.8
"""Largest head count to expect, relative to the capacity."""

VOLUME_PER_SEAT, GUESSED_SPREAD = 10.0, 1.2
"""Volume per seat of a room of unknown size [m3], and the standard deviation of its logarithm."""

FLOW_PER_PERSON, FLOW_PER_AREA = (
    M3_PER_HOUR * rate for rate in (EN_PER_PERSON["II"], EN_PER_AREA["low polluting"]["II"])
)
"""Outdoor air of a ventilated room [m3/h per seat], [m3/h per m2]: EN 16798-1, method 1, category II, in a
building with low emissions (7 L/s per person and 0.7 L/s per m2)."""


@dataclass(frozen=True)
class RoomProperties:
    """Properties of a room.

    Parameters
    ----------
    volume : float
        Air volume [m3].
    capacity : float
        Number of people the room is made for: seats, or desks [people].
    area : float
        Floor area [m2].
    generation : float
        CO2 generation of one person [m3/h].
    air_flow : float or None
        Outdoor air flow at full ventilation [m3/h], if known.
    outdoor_co2 : float or None
        CO2 of the outdoor air as the sensor would show it [ppm], if known.
    size_spread : float
        Standard deviation of the logarithm of the CO2 per person, due to volume and generation.
    """

    volume: float
    capacity: float
    area: float
    generation: float = ACTIVITIES["seated"]
    air_flow: float | None = None
    outdoor_co2: float | None = None
    size_spread: float = 0.2

    @property
    def rise(self) -> float:
        """Rise of CO2 in the closed room due to one person [ppm/h]."""
        return 1e6 * self.generation / self.volume

    @property
    def design_air_change(self) -> float:
        """Air change rate to expect at full ventilation [1/h]: the known flow, or that of EN 16798-1."""
        standard = FLOW_PER_PERSON * self.capacity + FLOW_PER_AREA * self.area
        return (standard if self.air_flow is None else self.air_flow) / self.volume


def guessed_properties(max_count: float, n_days: float) -> RoomProperties:
    """Return the properties of a room of which only head counts are known.

    Parameters
    ----------
    max_count : float
        Largest head count [people].
    n_days : float
        Number of days with head counts: the fewer, the more people there may be on other days. Infinite: it
        is the largest of all days.
    """
    capacity = max(max_count, 1.0) * (1 / USUAL_PEAK + 1 / (n_days + 0.5))
    volume = VOLUME_PER_SEAT * capacity
    return RoomProperties(volume, capacity, volume / HEIGHT, size_spread=GUESSED_SPREAD)


def room_properties(
    *,
    volume: Any = None,
    capacity: Any = None,
    area: Any = None,
    height: Any = None,
    air_flow: Any = None,
    activity: Any = "seated",
    outdoor_co2: Any = None,
) -> RoomProperties | None:
    """Return the properties of a room as given by its owner; None if its size is not given at all.

    Parameters
    ----------
    volume : float, optional
        Air volume [m3]; or give ``area`` and, unless it is 3 m, ``height``.
    capacity : float
        Number of seats or desks [people].
    area, height : float, optional
        Floor area [m2] and height [m].
    air_flow : float, optional
        Outdoor air flow at full ventilation [m3/h].
    activity : str or float
        A key of ``ACTIVITIES``, or the CO2 generation of one person [m3/h].
    outdoor_co2 : float, optional
        Outdoor CO2 [ppm].

    Raises
    ------
    InputError
        If a value is not positive, or if only the size or only the capacity is given.

    Examples
    --------
    >>> room = room_properties(area=60, height=3, capacity=24)
    >>> room.volume, round(room.design_air_change, 2), round(room.rise)
    (180.0, 4.2, 104)
    """
    given = {
        "volume": volume,
        "capacity": capacity,
        "area": area,
        "height": height,
        "air_flow": air_flow,
        "outdoor_co2": outdoor_co2,
    }
    numbers = {name: _positive(name, value) for name, value in given.items() if value is not None}
    size = _size(numbers)
    if size is None and "capacity" not in numbers:
        return None
    if size is None:
        raise InputError("capacity is given without the size of the room: give volume [m3] or area [m2]")
    if "capacity" not in numbers:
        raise InputError("the size of the room is given without capacity: give the number of seats or desks")
    return RoomProperties(
        volume=size[0],
        capacity=numbers["capacity"],
        area=size[1],
        generation=_generation(activity),
        air_flow=numbers.get("air_flow"),
        outdoor_co2=numbers.get("outdoor_co2"),
    )


def _size(numbers: dict[str, float]) -> tuple[float, float] | None:
    """Return volume [m3] and floor area [m2]."""
    volume, area, height = (numbers.get(name) for name in ("volume", "area", "height"))
    if volume is None and area is None:
        return None
    if (
        volume is not None
        and area is not None
        and height is not None
        and abs(area * height / volume - 1) > 0.1
    ):
        raise InputError(
            f"volume {volume:g} m3 is not area times height, {area * height:g} m3: leave one of them out"
        )
    if volume is None:
        assert area is not None
        return area * (height or HEIGHT), area
    return volume, area or volume / (height or HEIGHT)


def _generation(activity: Any) -> float:
    if not isinstance(activity, str):
        return _positive("activity", activity)
    if activity in ACTIVITIES:
        return ACTIVITIES[activity]
    try:
        return _positive("activity", float(activity))  # of a command line or a table
    except ValueError:
        raise InputError(
            f"activity must be one of {', '.join(ACTIVITIES)}, or m3/h, got {activity!r}"
        ) from None


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not 0 < number < math.inf:
        raise InputError(f"{name} must be a number above 0, got {value!r}")
    return number
