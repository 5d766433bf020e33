"""Head counts that are known here and there, and how far each of them is to be trusted.

Readings to train on may lack the count at most times: ``occupancy`` is NaN there. ``occupancy_weight`` [0..1,
optional] says how far a count is to be trusted; where it is missing, fully. A count with the weight 0 is not
looked at, whatever it is. CO2 and ventilation are needed at every reading, as always.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.schema import check_readings, to_numbers
from occupair.readings.source import Source, missing_column

WEIGHT = "occupancy_weight"


def check_labelled(readings: pd.DataFrame, *, source: Source | str = "readings") -> pd.DataFrame:
    """Return the columns that training uses as floats, or say which rule they break and where.

    Returns
    -------
    DataFrame
        What ``check_readings`` gives, with ``occupancy`` NaN where no count is to be looked at. If that is
        anywhere, or a count is not fully trusted, also ``occupancy_weight``, which is 0 there.

    Raises
    ------
    InputError
        For what ``check_readings`` says, weights outside 0..1, and where there is no count at all.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 08:00", periods=3, freq="5min")
    >>> counted = pd.DataFrame({"co2": 500.0, "occupancy": [2, None, 3]}, index=times)
    >>> check_labelled(counted)["occupancy_weight"].tolist()
    [1.0, 0.0, 1.0]
    """
    source = source if isinstance(source, Source) else Source(source)
    if not isinstance(readings, pd.DataFrame) or "occupancy" not in readings.columns:
        return check_readings(readings, needed=("co2", "occupancy"), source=source)  # says what is wrong
    weight = _weights(readings, source)
    people = to_numbers(readings["occupancy"], source).to_numpy()
    known = (weight > 0) & ~np.isnan(people)
    checked = check_readings(
        readings.assign(occupancy=np.where(known, people, 0.0)), needed=("co2", "occupancy"), source=source
    )
    if not known.any():
        raise source.error("has no head count at any reading", column="occupancy")
    if known.all() and (weight == 1).all():
        return checked
    attrs = checked.attrs
    checked = checked.assign(**{"occupancy": np.where(known, people, np.nan), WEIGHT: weight * known})
    checked.attrs = attrs
    return checked


def has_label(readings: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell which readings have a head count that is to be looked at.

    Examples
    --------
    >>> table = pd.DataFrame({"occupancy": [2.0, None, 3.0], "occupancy_weight": [0.0, 1.0, 0.5]})
    >>> has_label(table).tolist()
    [False, False, True]
    """
    source = Source("readings")
    if "occupancy" not in readings.columns:
        raise source.error(missing_column("occupancy", readings))
    known = to_numbers(readings["occupancy"], source).notna().to_numpy()
    return np.asarray(known & (_weights(readings, source) > 0))


def _weights(readings: pd.DataFrame, source: Source) -> NDArray[np.float64]:
    """Give how far each count is to be trusted [0..1]; what is not said is 1."""
    if WEIGHT not in readings.columns:
        return np.ones(len(readings))
    if (readings.columns == WEIGHT).sum() > 1:
        raise source.error(f"has two columns {WEIGHT!r}: rename or delete one")
    weight = to_numbers(readings[WEIGHT], source).fillna(1.0).to_numpy()
    wrong = ~((weight >= 0) & (weight <= 1))
    if wrong.any():
        k = int(np.argmax(wrong))
        rule = f"must be from 0 (do not look) to 1 (trust), got {weight[k]:g} at {readings.index[k]}"
        raise source.error(rule, row=k, column=WEIGHT)
    return np.asarray(weight, dtype=np.float64)
