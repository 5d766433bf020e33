"""The valid values of CO2, ventilation and occupancy, for files, tables and live readings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ValueRule:
    """A range of valid values, limits included, and its statement in error messages."""

    low: float
    high: float
    text: str
    integer: bool = False

    def valid(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each value is valid; NaN is not."""
        valid = (values >= self.low) & (values <= self.high) & np.isfinite(values)
        return valid & (values == np.rint(values)) if self.integer else valid

    def allows(self, value: object) -> bool:
        """Whether one value is a number and valid.

        Examples
        --------
        >>> VALUE_RULES["ventilation"].allows(0.8), VALUE_RULES["ventilation"].allows("0.8")
        (True, False)
        """
        if not isinstance(value, int | float | np.number) or not self.low <= value <= self.high:
            return False
        return not self.integer or float(value).is_integer()


VALUE_RULES = {
    "co2": ValueRule(0.0, 1e6, "must be from 0 to 1000000 ppm"),
    "ventilation": ValueRule(0.0, 1.0, "must be from 0 to 1 (80 % is 0.8)"),
    "occupancy": ValueRule(0.0, np.inf, "must be a non-negative integer", integer=True),
}


def first_violation(
    name: str, values: NDArray[np.float64], *, missing_allowed: bool = False
) -> tuple[int, str] | None:
    """Return the position of the first invalid value of a column, and the message; None if all are valid.

    Examples
    --------
    >>> first_violation("ventilation", np.array([0.5, 80.0]))
    (1, 'must be from 0 to 1 (80 % is 0.8), got 80')
    """
    rule = VALUE_RULES[name]
    invalid = ~rule.valid(values)
    if missing_allowed:
        invalid &= ~np.isnan(values)
    if not invalid.any():
        return None
    first = int(np.argmax(invalid))
    got = "nothing" if np.isnan(values[first]) else f"{values[first]:g}"
    return first, f"{rule.text}, got {got}"
