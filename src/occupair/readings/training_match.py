"""Readings checked against those a model was trained on: time zone, columns, ventilation scale, interval."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from occupair.errors import InputError
from occupair.readings.gaps import default_gap
from occupair.readings.other_sensors import SENSORS
from occupair.readings.schema import (
    COLUMNS,
    check_duplicate_columns,
    check_readings,
    interval_of,
    is_same_interval,
)
from occupair.readings.source import missing_column
from occupair.readings.time_zones import check_zone_stated, in_time_zone
from occupair.readings.ventilation_scale import Scale, check_scale_matches


def match_training(
    readings: pd.DataFrame,
    *,
    interval: float,
    uses_ventilation: bool,
    ventilation_full: float | None,
    ventilation_unit: str | None,
    timezone: str | None,
    sensors: Collection[str] = (),
) -> pd.DataFrame:
    """Return the columns a model uses, in its time zone; raise InputError if they do not match training.

    Parameters
    ----------
    readings : DataFrame
        The readings to estimate from.
    interval : float
        Time between the readings of training [min].
    uses_ventilation : bool
        Whether the model was trained with ventilation.
    ventilation_full, ventilation_unit, timezone
        See the attributes of ``OccupancyEstimator``.
    sensors : collection of str
        Optional sensors that the model uses; others are dropped.
    """
    columns = ("co2", "ventilation") if uses_ventilation else ("co2",)
    if isinstance(readings, pd.DataFrame) and isinstance(readings.index, pd.DatetimeIndex):
        if len(readings):
            check_zone_stated(readings.index[0], timezone, what="readings")
        readings = in_time_zone(readings, timezone)
        readings = readings.drop(columns=list({*COLUMNS, *SENSORS} - {*columns, *sensors}), errors="ignore")
    check_duplicate_columns(readings)
    if uses_ventilation:
        _check_has_ventilation(readings)
    readings = check_readings(readings, needed=columns)
    if uses_ventilation:
        full, unit = ventilation_full, ventilation_unit
        check_scale_matches(readings, None if full is None or unit is None else Scale(full, unit))
    _check_interval(interval_of(readings), interval)
    return readings


def _check_has_ventilation(readings: object) -> None:
    if not isinstance(readings, pd.DataFrame) or "co2" not in readings.columns:
        return  # reported by ``check_readings``
    if "ventilation" not in readings.columns:
        advice = "this model was trained with ventilation, train one without"
        raise InputError(f"readings: {missing_column('ventilation', readings)}; {advice}")


def _check_interval(interval: float, trained: float) -> None:
    if is_same_interval(interval, trained):
        return
    gap = f", longest_gap={default_gap(interval):g}" if interval > trained else ""
    resample = f"resample them (in Python, read_readings(path, interval={trained:g}{gap}))"
    advice = f"{resample}, or train a model on readings every {interval:g} min"
    raise InputError(
        f"readings are every {interval:g} min, but the model was trained on every {trained:g} min: {advice}"
    )
