"""Faults as a JSON document; its names are documented in ``docs/data-quality.md`` and do not change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from occupair.checks.fault import Fault, is_trainable, verdict
from occupair.checks.prepared_readings import days_of, interval_minutes, prepare_readings, times_of
from occupair.readings.time_zones import time_zone_name


def faults_document(readings: pd.DataFrame, faults: Sequence[Fault]) -> dict[str, Any]:
    """Return readings and their faults as a document of JSON types; numbers may be NaN.

    Times are local, without UTC offset, as in the report.

    Examples
    --------
    >>> times = pd.date_range("2024-01-08", periods=2, freq="5min")
    >>> document = faults_document(pd.DataFrame({"co2": [400.0, 410.0]}, index=times), [])
    >>> document["fit_to_train"], document["start"], document["interval"], document["findings"]
    (True, '2024-01-08T00:00:00', 5.0, [])
    """
    table = prepare_readings(readings)
    times = times_of(table)
    return {
        "fit_to_train": is_trainable(faults),
        "verdict": verdict(faults),
        "readings": len(table),
        "days": int(days_of(table).nunique()),
        "start": times[0].isoformat(),
        "end": times[-1].isoformat(),
        "timezone": time_zone_name(pd.DatetimeIndex(readings.index)),
        "interval": interval_minutes(table),
        "findings": [_finding(fault) for fault in faults],
    }


def _finding(fault: Fault) -> dict[str, Any]:
    values = {name: value for name, value in fault.details.items() if name != "spans"}
    return {
        "code": fault.kind,
        "severity": fault.severity,
        "finding": fault.finding,
        "fix": fault.fix,
        "days": [f"{day:%Y-%m-%d}" for day in fault.days],
        "times": [{"start": start.isoformat(), "end": end.isoformat()} for start, end in fault.spans],
        "values": _plain(values),
    }


def _plain(value: Any) -> Any:
    """Return numpy values and tuples as JSON types."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
