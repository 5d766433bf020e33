"""Conversion of CO2 to ppm."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from occupair.readings.column_names import fold_text
from occupair.readings.source import Source

PPM_PER_PERCENT = 10_000.0  # by volume
HIGHEST_PERCENT = 5.0  # %; indoor air has at most 0.5
LOWEST_MAXIMUM = 150.0  # ppm; a column whose maximum is lower is in another unit


def to_ppm(values: NDArray[np.float64], stated: str, *, column: str, source: Source) -> NDArray[np.float64]:
    """Return CO2 in ppm, converted from percent if the column name or unit states percent.

    Parameters
    ----------
    values : 1-D array
        CO2 in the unit of the file; NaN is missing.
    stated : str
        Name of the column and its unit, if given separately.
    column : str
        Name of the column for error messages.
    source : Source
        Name of the file for error messages.

    Raises
    ------
    InputError
        If the unit is mg/m3, or the values are too low to be ppm.

    Examples
    --------
    >>> to_ppm(np.array([0.041]), "CO2 [%]", column="CO2 [%]", source=Source("room.csv")).tolist()
    [410.0]
    """
    unit = fold_text(stated)
    if re.search(r"mg\s*/\s*m\^?3", unit):
        raise source.error("must be in ppm, got mg/m3: multiply by 0.55", column=column)
    highest = float(np.max(values, initial=-np.inf, where=np.isfinite(values)))
    if re.search(r"%|\b(vol|percent|pct|prozent|procent)\b", unit) and highest < 100:
        return np.round(values * PPM_PER_PERCENT, 3)
    if 0 < highest < LOWEST_MAXIMUM:
        rule = f"must be in ppm (outdoor air has about 420), got at most {highest:g}"
        percent = highest < HIGHEST_PERCENT
        advice = (
            "if this is percent, multiply by 10000" if percent else "is this another quantity, or scaled?"
        )
        raise source.error(f"{rule}: {advice}", column=column)
    return values
