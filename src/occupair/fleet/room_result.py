"""The result of one room of a portfolio: a row of ``rooms.parquet``, and a JSON file beside its model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

import pandas as pd

from occupair.errors import InputError

Status = Literal["trained", "fallback", "failed"]
"""``"trained"``: as requested; ``"fallback"``: in another way, see ``reason``; ``"failed"``: no model."""
Basis = Literal["head counts", "few head counts", "no head counts", ""]
"""What a model was trained on; ``"no head counts"``: volume and seats; empty without a model."""
Trust = Literal["good", "limited", "poor", "none"]
"""How far the estimates of a room can be trusted; ``"none"`` without a model. See ``room_verdicts``."""
SensorQuality = Literal["good", "check", "faulty", "unknown"]
"""State of the CO2 sensor; ``"unknown"`` if its readings could not be read."""


@dataclass(frozen=True)
class RoomResult:
    """What became of one room.

    Parameters
    ----------
    room : str
        Name of the room.
    status, basis, trust, sensor
        See the types above.
    reason : str
        Why the room has no model, or a fallback; empty if trained as requested.
    trust_reason : str
        Why the estimates are trusted only so far; empty if they are good.
    findings : str
        Faults of the readings found by ``occupair.checks``, the most severe first; empty if none.
    advice : str
        What would improve the estimates most.
    sensor_finding : str
        The most severe of the findings on the CO2 sensor; empty if it is good.
    days, labelled_days : int
        Days with readings, and those with head counts and people.
    first, last : str
        First and last local date with readings, ISO 8601; empty if unknown.
    timezone : str
        Time zone of the readings; empty for local times.
    readings : int
        Number of readings.
    interval : float
        Time between readings [min]; NaN if unknown.
    missing : float
        Share of the CO2 readings that are missing on days that have any [0..1].
    ventilation : bool
        Whether there are ventilation readings.
    most_people : float
        Most people in training [people].
    capacity, volume : float
        Seats [people] and air volume [m3], as given; NaN if not.
    error, error_10, error_20 : float
        RMSE on held-out days, live and refined after 10 and 20 min [people]; NaN without head counts.
    nrmse : float
        ``error`` divided by the standard deviation of the head counts.
    coverage, occupied_coverage : float
        Share of the held-out readings, and of the occupied ones, within the 90 % prediction interval [0..1].
    clock_error : float
        RMSE of the time-of-day profile on the same days, without CO2 [people].
    co2_gain : float
        Share of that error that CO2 removes, 1 - error / clock_error; 0 or less: CO2 adds nothing.
    model : str
        Model file, relative to the output folder; empty if there is none.
    model_bytes : int
        Size of the model file [bytes].
    fingerprint : str
        Hash of data, settings and version.
    seconds : float
        Time spent on the room [s].
    """

    room: str
    status: Status
    basis: Basis = ""
    reason: str = ""
    trust: Trust = "none"
    trust_reason: str = ""
    sensor: SensorQuality = "unknown"
    findings: str = ""
    advice: str = ""
    sensor_finding: str = ""
    days: int = 0
    labelled_days: int = 0
    first: str = ""
    last: str = ""
    timezone: str = ""
    readings: int = 0
    interval: float = math.nan
    missing: float = math.nan
    ventilation: bool = False
    most_people: float = math.nan
    capacity: float = math.nan
    volume: float = math.nan
    error: float = math.nan
    error_10: float = math.nan
    error_20: float = math.nan
    nrmse: float = math.nan
    coverage: float = math.nan
    occupied_coverage: float = math.nan
    clock_error: float = math.nan
    co2_gain: float = math.nan
    model: str = ""
    model_bytes: int = 0
    fingerprint: str = ""
    seconds: float = math.nan


COLUMNS = tuple(field.name for field in fields(RoomResult))
"""Columns of ``rooms.parquet``, in order."""

STATUSES: tuple[Status, ...] = get_args(Status)


def result_to_json(result: RoomResult) -> bytes:
    """Return a result as JSON; NaN is null."""
    values = {name: _plain(value) for name, value in asdict(result).items()}
    return (json.dumps(values, ensure_ascii=False, indent=1) + "\n").encode()


def result_from_json(content: bytes) -> RoomResult:
    """Return the result of `result_to_json`; columns that it lacks keep their defaults.

    Examples
    --------
    >>> result = RoomResult("lab 7", "failed", reason="is empty")
    >>> result_from_json(result_to_json(result)).reason
    'is empty'
    """
    try:
        values = json.loads(content)
        return RoomResult(**{name: _value(name, values[name]) for name in COLUMNS if name in values})
    except (ValueError, TypeError):
        raise InputError("is not the result of a room") from None


def results_table(results: Iterable[RoomResult]) -> pd.DataFrame:
    """Return results as the table of ``rooms.parquet``, one row per room, by name."""
    ordered = sorted(results, key=lambda result: result.room)
    table = pd.DataFrame([asdict(result) for result in ordered], columns=list(COLUMNS))
    return table.astype({name: _DTYPES[kind] for name, kind in _KINDS.items()})


def results_from_table(table: pd.DataFrame) -> list[RoomResult]:
    """Return the results in a table of `results_table`."""
    missing = [name for name in ("room", "status") if name not in table.columns]
    if missing:
        raise InputError(f"is not a table of rooms: it has no column {missing[0]!r}")
    names = [name for name in COLUMNS if name in table.columns]
    rows = table[names].itertuples(index=False, name=None)
    return [RoomResult(**{k: _value(k, v) for k, v in zip(names, row, strict=True)}) for row in rows]


_KINDS: dict[str, str] = {field.name: str(field.type) for field in fields(RoomResult)}
_DTYPES = {"int": "int64", "float": "float64", "bool": "bool"} | dict.fromkeys(
    ("str", "Status", "Basis", "Trust", "SensorQuality"), "str"
)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _value(name: str, value: Any) -> Any:
    kind = _KINDS[name]
    if kind == "float":
        return math.nan if value is None else float(value)
    return {"int": int, "bool": bool}.get(kind, str)(value)
