"""CO2 in the unit of the file to ppm, and what cannot be ppm refused."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from occupair.readings.column_names import fold
from occupair.readings.source import Source

PERCENT = 10_000.0  # ppm in 1 % of volume
LOWEST = 150.0  # ppm; no air has so little, so a column that stays below is in another unit


def to_ppm(values: NDArray[np.float64], stated: str, *, column: str, source: Source) -> NDArray[np.float64]:
    """Convert CO2 to ppm if its name or unit says per cent; refuse what is in neither.

    Parameters
    ----------
    values : 1-D array
        CO2 in the unit of the file, NaN where it is missing.
    stated : str
        Name of the column, and the unit below it if there is one.
    column : str
        What the column is called.
    source : Source
        What to call the file in an error.

    Examples
    --------
    >>> to_ppm(np.array([0.041]), "CO2 [%]", column="CO2 [%]", source=Source("room.csv")).tolist()
    [410.0]
    """
    unit = fold(stated)
    if re.search(r"mg\s*/\s*m\^?3", unit):
        raise source.error("is in mg/m3, but must be in ppm: multiply by 0.55", column=column)
    highest = float(np.max(values, initial=-np.inf, where=np.isfinite(values)))
    if re.search(r"%|\b(vol|percent|pct|prozent|procent)\b", unit) and highest < 100:
        return np.round(values * PERCENT, 3)
    if 0 < highest < LOWEST:
        rule = f"must be in ppm, where air has 400 or more, but never goes above {highest:g}"
        raise source.error(f"{rule} (in per cent? multiply by 10000)", column=column)
    return values
