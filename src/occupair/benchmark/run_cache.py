"""Cache of benchmark runs, keyed by a hash of everything a run depends on."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from occupair.atomic_files import write_atomically
from occupair.benchmark.code_fingerprint import source_digest
from occupair.benchmark.fold_run import Run
from occupair.benchmark.methods import Method

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas")


def readings_digest(readings: pd.DataFrame) -> str:
    """Return a hash of the times, column names and values of readings."""
    times = pd.DatetimeIndex(readings.index).as_unit("ns")
    digest = hashlib.sha256(f"{times.tz}|{list(readings.columns)}".encode())
    digest.update(times.asi8.tobytes())
    digest.update(np.ascontiguousarray(readings.to_numpy(dtype=float)).tobytes())
    return digest.hexdigest()


def cache_key(readings: str, name: str, method: Method, *, fold: tuple[int, int], lag: float) -> str | None:
    """Return a hash of everything a run depends on.

    Parameters
    ----------
    readings : str
        ``readings_digest`` of the readings of the room.
    name, method
        Name of the method and the method; its parameters and source code are part of the hash.
    fold : (int, int)
        Number of the fold, and number of folds.
    lag : float
        Lag of the estimates [min].

    Returns
    -------
    str or None
        None if the source code of the method is unavailable; such a run is not cached.
    """
    lag = float(lag)
    model = method.make(lag=lag)
    source = source_digest(model)
    if source is None:
        return None
    versions = [f"{library} {version(library)}" for library in LIBRARIES]
    parts = [readings, name, _parameters(model), source, f"fold {fold}", f"lag {lag}", *versions]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _parameters(model: Any) -> str:
    parameters = model.get_params() if hasattr(model, "get_params") else vars(model)
    return f"{type(model).__qualname__}({sorted(parameters.items())!r})"


def serialise_run(run: Run) -> bytes:
    """Serialise a run: the SHA-256 of the payload, then the payload (``numpy.savez_compressed``)."""
    packed = io.BytesIO()
    np.savez_compressed(packed, people=run.people, seconds=[run.fit_seconds, run.estimate_seconds])
    return hashlib.sha256(packed.getvalue()).digest() + packed.getvalue()


def parse_run(content: bytes) -> Run | None:
    """Parse a serialised run; None if it is damaged or truncated."""
    digest, packed = content[:32], content[32:]
    if hashlib.sha256(packed).digest() != digest:
        return None
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            return Run(arrays["people"], *map(float, arrays["seconds"]))
    except (EOFError, KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True)
class Cache:
    """Cached runs in a folder, one file per run; without a folder nothing is cached."""

    folder: Path | None

    def get(self, key: str | None) -> Run | None:
        """Return a cached run, or None if it is missing, damaged or truncated."""
        if self.folder is None or key is None:
            return None
        try:
            return parse_run(self._path(self.folder, key).read_bytes())
        except OSError:
            return None

    def put(self, key: str | None, run: Run) -> None:
        """Store a run."""
        if self.folder is None or key is None:
            return
        path = self._path(self.folder, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, serialise_run(run))

    def _path(self, folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.run"
