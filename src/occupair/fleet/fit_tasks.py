"""The work of one task of ``fleet fit``: some rooms read, checked, trained and written, one after the other.

A task takes paths, not data, and returns one result per room. A room is written in two steps, its model and
then its result, each atomically. The result has the fingerprint of data, settings and version. A room whose
result has the same fingerprint and whose model is there is not trained again. So a task that is repeated,
because its worker was killed, continues where it was.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial

from occupair._version import __version__
from occupair.errors import InputError
from occupair.fleet.portfolio_start import read_start
from occupair.fleet.read_room import UnavailableError, open_room
from occupair.fleet.room_result import RoomResult, result_from_json, result_to_json
from occupair.fleet.room_sources import RoomSource
from occupair.fleet.storage import Storage, describe_error, file_name, one_line
from occupair.fleet.task_report import TaskReport, report
from occupair.fleet.task_runner import Batch
from occupair.fleet.train_room import TrainSettings, train_room
from occupair.model_file import VERSION, dump_model

FOLDER = "rooms"
"""Folder of models and results."""
MODEL, RESULT = ".occupair", ".json"
"""Suffixes of models and results."""


@dataclass(frozen=True)
class FitSettings:
    """Settings of all rooms.

    Parameters
    ----------
    out : str
        Folder or URL to write to.
    seed : int
        Random seed.
    start : str
        Digest of the portfolio's start, in ``out``; empty: the start of the package.
    retry : bool
        Whether to train rooms again that failed.
    """

    out: str
    seed: int = 0
    start: str = ""
    retry: bool = False


def fit_rooms(batch: Batch, settings: FitSettings) -> TaskReport[RoomResult]:
    """Train the rooms of a batch, and return their results."""
    return report(_fit_each(batch, settings))


def _fit_each(batch: Batch, settings: FitSettings) -> Iterator[tuple[RoomResult, bool]]:
    storage = Storage(settings.out)
    for source in batch:
        began = time.monotonic()
        result, is_new = _fit(source, settings, storage)
        if is_new:
            result = replace(result, seconds=time.monotonic() - began)
            storage.write(result_name(source.room), result_to_json(result))
        yield result, is_new


def _fit(source: RoomSource, settings: FitSettings, storage: Storage) -> tuple[RoomResult, bool]:
    """Return the result of a room, and whether it is new; an error of any kind is a result, too."""
    mark = ""
    try:
        with open_room(source) as raw:
            mark = fingerprint(source, settings, raw.digest)
            earlier = stored_result(storage, source.room)
            if earlier is not None and _is_current(earlier, mark, storage, retry=settings.retry):
                return earlier, False
            training = _train_settings(settings, storage, source)
            estimator, result = train_room(raw, source.room, source.options, training)
        if estimator is None:
            storage.delete(model_name(source.room))  # of earlier data or settings
            return replace(result, fingerprint=mark), True
        model = dump_model(estimator)
    except InputError as error:
        storage.delete(model_name(source.room))
        return failed(source.room, str(error), mark), True
    except UnavailableError as error:
        return failed(source.room, str(error)), True
    except MemoryError:
        return failed(source.room, "out of memory: give the workers more, or fewer readings"), True
    except Exception as error:  # noqa: BLE001  # one room must not end the run of all
        reason = f"unexpected error, please report it: {type(error).__name__}: {describe_error(error)}"
        return failed(source.room, reason), True
    storage.write(model_name(source.room), model)
    name = model_name(source.room)
    return replace(result, model=name, model_bytes=len(model), fingerprint=mark), True


def _train_settings(settings: FitSettings, storage: Storage, source: RoomSource) -> TrainSettings:
    start = partial(read_start, storage, settings.start, source.room) if settings.start else None
    return TrainSettings(settings.seed, start)


def failed(room: str, reason: str, mark: str = "") -> RoomResult:
    """Return the result of a room without a model.

    Parameters
    ----------
    room : str
        Name of the room.
    reason : str
        Why there is none.
    mark : str
        Fingerprint, if the same data would fail again; empty if another attempt may succeed.
    """
    return RoomResult(room, "failed", reason=one_line(reason), fingerprint=mark)


def fingerprint(source: RoomSource, settings: FitSettings, digest: str) -> str:
    """Return a hash of data, settings and version: a room with the same one has the same model."""
    values = {
        "occupair": __version__,
        "model": VERSION,
        "seed": settings.seed,
        "start": settings.start,
        "options": {k: v for k, v in asdict(source.options).items() if k != "file"},
        "data": digest,
    }
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def stored_result(storage: Storage, room: str) -> RoomResult | None:
    """Return the result of an earlier run; None if there is none, or it is unreadable."""
    content = storage.read(result_name(room))
    try:
        return None if content is None else result_from_json(content)
    except InputError:
        return None


def _is_current(result: RoomResult, mark: str, storage: Storage, *, retry: bool) -> bool:
    if result.fingerprint != mark:
        return False
    if result.status == "failed":
        return not retry
    return storage.size(result.model) == result.model_bytes


def model_name(room: str) -> str:
    """Return the model file of a room."""
    return f"{FOLDER}/{file_name(room)}{MODEL}"


def result_name(room: str) -> str:
    """Return the file with the result of a room."""
    return f"{FOLDER}/{file_name(room)}{RESULT}"
