"""Sparse and weighted labels.

Readings for training may have few head counts; ``occupancy`` is NaN elsewhere. The optional column
``occupancy_weight`` [0..1] is the weight of each label; a missing weight counts as 1. A head count with
weight 0 is ignored, even if it is invalid. CO2 and ventilation are required at every reading.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.readings.schema import check_readings, to_numbers
from occupair.readings.source import Source, missing_column

WEIGHT = "occupancy_weight"

INFERRED = "occupancy_inferred"
"""Column of training readings: whether people were inferred from CO2 and not counted."""


def check_labelled(
    readings: pd.DataFrame, *, source: Source | str = "readings", needs_counts: bool = True
) -> pd.DataFrame:
    """Validate readings for training and return the known columns as floats.

    Parameters
    ----------
    readings : DataFrame
        Readings.
    source : Source or str
        Name of the readings in messages.
    needs_counts : bool
        Whether there must be a label. If not, the column ``occupancy`` may be missing, too.

    Returns
    -------
    DataFrame
        Readings as returned by ``check_readings``, with ``occupancy`` NaN at readings without a label.
        Unless all readings have a label of weight 1, the column ``occupancy_weight`` is included, 0
        where there is no label.

    Raises
    ------
    InputError
        As raised by ``check_readings``, and if a weight is outside 0..1 or there is no label at all.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08 08:00", periods=3, freq="5min")
    >>> labelled = pd.DataFrame({"co2": 500.0, "occupancy": [2, None, 3]}, index=times)
    >>> check_labelled(labelled)["occupancy_weight"].tolist()
    [1.0, 0.0, 1.0]
    """
    source = source if isinstance(source, Source) else Source(source)
    if isinstance(readings, pd.DataFrame) and "occupancy" not in readings.columns and not needs_counts:
        readings = readings.assign(occupancy=np.nan)
    if not isinstance(readings, pd.DataFrame) or "occupancy" not in readings.columns:
        return check_readings(readings, needed=("co2", "occupancy"), source=source)
    weight = _weights(readings, source)
    people = to_numbers(readings["occupancy"], source).to_numpy()
    known = (weight > 0) & ~np.isnan(people)
    valid = readings if known.all() else readings.assign(occupancy=np.where(known, people, 0.0))
    checked = check_readings(valid, needed=("co2", "occupancy"), source=source)
    if needs_counts and not known.any():
        raise source.error("must have a head count at one reading or more", column="occupancy")
    if known.all() and (weight == 1).all():
        return checked
    attrs = checked.attrs
    checked = checked.assign(**{"occupancy": np.where(known, people, np.nan), WEIGHT: weight * known})
    checked.attrs = attrs
    return checked


def has_label(readings: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each reading has a head count with a weight above 0.

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
    """Return the weight of each label [0..1], 1 where none is given."""
    if WEIGHT not in readings.columns:
        return np.ones(len(readings))
    if (readings.columns == WEIGHT).sum() > 1:
        raise source.error(f"has two columns {WEIGHT!r}: rename or delete one")
    weight = to_numbers(readings[WEIGHT], source).fillna(1.0).to_numpy()
    wrong = ~((weight >= 0) & (weight <= 1))
    if wrong.any():
        k = int(np.argmax(wrong))
        rule = f"must be from 0 (ignored) to 1 (full weight), got {weight[k]:g} at {readings.index[k]}"
        raise source.error(rule, row=k, column=WEIGHT)
    return np.asarray(weight, dtype=np.float64)
