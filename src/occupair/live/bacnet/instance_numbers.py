"""Instance numbers of the objects of rooms: the last digit is the quantity, the digits before it the room."""

from __future__ import annotations

from collections.abc import Mapping

DIGITS = {"people": 1, "low": 2, "high": 3, "co2": 4, "occupied": 5, "outdoor_air": 6, "damper": 7}
"""The last digit of each quantity; ``occupied`` is a Binary Value, the others are Analog Values."""


def instance_number(number: int, key: str) -> int:
    """Return the instance number of a quantity of room ``number``.

    Examples
    --------
    >>> instance_number(12, "people")
    121
    """
    return 10 * number + DIGITS[key]


def object_names(numbers: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return type and instance number of the objects of rooms, by room and quantity.

    Examples
    --------
    >>> object_names({"lab": 12})["lab"]["occupied"]
    'binary-value,125'
    """
    return {
        room: {
            key: f"{'binary' if key == 'occupied' else 'analog'}-value,{instance_number(number, key)}"
            for key in DIGITS
        }
        for room, number in numbers.items()
    }
