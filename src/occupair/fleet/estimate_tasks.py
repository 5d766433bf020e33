"""The work of one task of ``fleet estimate``: some rooms read, estimated and written, one after the other.

A room is estimated a year at a time, with the days before it from which the drift of the sensor is followed,
and the estimates are the same as those of the whole record.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from occupair._version import __version__
from occupair.errors import InputError
from occupair.estimator import OccupancyEstimator
from occupair.estimator_arguments import Mode
from occupair.fleet.fit_tasks import model_name
from occupair.fleet.read_room import RawReadings, UnavailableError, open_room
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.room_sources import ROOM, RoomSource
from occupair.fleet.storage import OutputError, Storage, describe_error, file_name, one_line, open_url
from occupair.fleet.task_report import TaskReport, report
from occupair.fleet.task_runner import Batch
from occupair.model_file import parse_model
from occupair.progress import quietly
from occupair.readings.files import read_readings
from occupair.readings.time_zones import in_time_zone
from occupair.room.baseline_drift import LOOKBACK

YEAR = 366
"""Days with readings that are estimated at a time; a rest of less than ``LOOKBACK`` days is added."""
FILE = "estimates.parquet"
_FINGERPRINT = b"occupair.fingerprint"


@dataclass(frozen=True)
class EstimateSettings:
    """Settings of all rooms.

    Parameters
    ----------
    models, out : str
        Folder or URL of the models, and to write to.
    lag, interval, mode
        See ``OccupancyEstimator.estimate``.
    """

    models: str
    out: str
    lag: float = 0.0
    interval: float | None = None
    mode: Mode = "live"


@dataclass(frozen=True)
class EstimateResult:
    """What became of one room.

    Parameters
    ----------
    room, status, reason : str
        Name of the room, ``"estimated"`` or ``"failed"``, and why it failed.
    estimates : int
        Number of estimates.
    first, last : str
        First and last local date, ISO 8601.
    mean_people, most_people : float
        Mean and maximum of the estimates [people].
    seconds : float
        Time spent on the room [s].
    """

    room: str
    status: str
    reason: str = ""
    estimates: int = 0
    first: str = ""
    last: str = ""
    mean_people: float = math.nan
    most_people: float = math.nan
    seconds: float = math.nan


def estimate_rooms(batch: Batch, settings: EstimateSettings) -> TaskReport[EstimateResult]:
    """Estimate the rooms of a batch, and return their results."""
    return report(_timed(source, settings) for source in batch)


def _timed(source: RoomSource, settings: EstimateSettings) -> tuple[EstimateResult, bool]:
    began = time.monotonic()
    result, is_new = _estimate(source, settings, Storage(settings.models), Storage(settings.out))
    return replace(result, seconds=time.monotonic() - began), is_new


def _estimate(
    source: RoomSource, settings: EstimateSettings, models: Storage, out: Storage
) -> tuple[EstimateResult, bool]:
    """Return the result of a room, and whether it is new; an error of any kind is a result, too."""
    try:
        content = models.read(model_name(source.room))
        if content is None:
            raise InputError("has no model: see the reason in rooms.parquet of the models")
        with open_room(source) as raw:
            mark = _fingerprint(source, settings, content, raw.digest)
            if (earlier := _current(out, source.room, mark)) is not None:
                return earlier, False
            estimator = model_of(content, source.options)
            pieces = _pieces(raw, source.options, estimator, settings)
            return _write(pieces, out, source.room, mark), True
    except OutputError:
        raise
    except (InputError, UnavailableError) as error:
        reason = one_line(str(error))
    except MemoryError:
        reason = "out of memory: give the workers more"
    except Exception as error:  # noqa: BLE001  # one room must not end the run of all
        reason = f"unexpected error, please report it: {type(error).__name__}: {describe_error(error)}"
    return EstimateResult(source.room, "failed", reason), True


def model_of(content: bytes, options: RoomOptions) -> OccupancyEstimator:
    """Return the estimator of a model file; one trained on local times gets the time zone of the room."""
    estimator = parse_model(content)
    if estimator.timezone_ is None:
        estimator.timezone_ = options.timezone
    return estimator


def scale_of_model(estimator: OccupancyEstimator) -> dict[str, Any]:
    """Return the options with which to read readings in the units of a model."""
    return {
        "ventilation": estimator.uses_ventilation_,
        "ventilation_full": estimator.ventilation_full_,
        "ventilation_unit": estimator.ventilation_unit_,
    }


def _pieces(
    raw: RawReadings, options: RoomOptions, estimator: OccupancyEstimator, settings: EstimateSettings
) -> Iterator[pd.DataFrame]:
    """Yield the estimates of a room, a year at a time."""
    scale = scale_of_model(estimator)
    readings = raw.read(read_readings, occupancy=False, **options.reading, **scale)
    times = pd.DatetimeIndex(in_time_zone(readings, estimator.timezone_).index)
    days = times.tz_localize(None).normalize()  # of the model, at whose midnight estimates start anew
    first_readings = np.flatnonzero(np.r_[True, days[1:] != days[:-1]])
    begins = first_readings[: max(len(first_readings) - LOOKBACK, 1) : YEAR]
    for begin, end in pairwise([*begins.tolist(), len(readings)]):
        before = int(days.searchsorted(days[begin] - pd.Timedelta(days=LOOKBACK)))
        with quietly():
            people = estimator.estimate(
                readings.iloc[before:end], settings.mode, lag=settings.lag, interval=settings.interval
            )
        table = people.to_frame() if isinstance(people, pd.Series) else people
        yield table.iloc[begin - before :]


def _write(pieces: Iterator[pd.DataFrame], out: Storage, room: str, mark: str) -> EstimateResult:
    """Write the estimates of a room piece by piece, and return what they are."""
    import pyarrow as pa
    from pyarrow import parquet

    n, total, most, first, last = 0, 0.0, 0.0, "", ""
    handle, scratch = tempfile.mkstemp(prefix="occupair-", suffix=".parquet")
    os.close(handle)
    writer = None
    try:
        for piece in pieces:
            table = pa.Table.from_pandas(piece.rename_axis("time").reset_index(), preserve_index=False)
            n, total = n + len(piece), total + float(piece["people"].sum())
            most = max(most, float(piece["people"].max()))
            first, last = first or f"{piece.index[0]:%Y-%m-%d}", f"{piece.index[-1]:%Y-%m-%d}"
            if writer is None:
                writer = parquet.ParquetWriter(scratch, table.schema, compression="zstd")
            writer.write_table(table.cast(writer.schema))
        result = EstimateResult(room, "estimated", "", n, first, last, total / max(n, 1), most)
        if writer is None:
            raise InputError("has no readings to estimate from")
        facts = json.dumps([n, first, last, result.mean_people, most]).encode()
        writer.add_key_value_metadata({_FINGERPRINT: mark.encode(), b"occupair.room": facts})
        writer.close()
        writer = None
        out.write(estimates_name(room), Path(scratch).read_bytes())
    finally:
        if writer is not None:
            writer.close()
        Path(scratch).unlink(missing_ok=True)
    return result


def _current(out: Storage, room: str, mark: str) -> EstimateResult | None:
    """Return the result of an earlier run with the same fingerprint."""
    from pyarrow import ArrowException, parquet

    if out.size(estimates_name(room)) is None:
        return None
    system, path = open_url(out.locate(estimates_name(room)))
    try:
        with system.open(path, "rb") as file:
            metadata = parquet.ParquetFile(file).metadata.metadata or {}
    except (ArrowException, OSError, ValueError):
        return None
    if metadata.get(_FINGERPRINT, b"").decode() != mark:
        return None
    return EstimateResult(room, "estimated", "", *json.loads(metadata[b"occupair.room"]))


def estimates_name(room: str) -> str:
    """Return the file with the estimates of a room, partitioned as Spark, Dask and DuckDB read it."""
    return f"{ROOM}={file_name(room)}/{FILE}"


def _fingerprint(source: RoomSource, settings: EstimateSettings, model: bytes, digest: str) -> str:
    request = [settings.mode, settings.lag, settings.interval]
    values = [__version__, *request, digest, source.options.reading]
    text = json.dumps(values, default=str).encode() + model
    return hashlib.blake2b(text, digest_size=16).hexdigest()
