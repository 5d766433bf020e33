"""Results of slow runs, kept under a hash of everything they depend on."""

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
from occupair.datasets.catalogue import cache_folder

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas")


def default_folder() -> Path:
    """Return the folder of cached results: ``benchmark`` in the user's cache folder."""
    return cache_folder() / "benchmark"


def readings_digest(readings: pd.DataFrame) -> str:
    """Hash times, names and values of readings."""
    times = pd.DatetimeIndex(readings.index).as_unit("ns")
    digest = hashlib.sha256(f"{times.tz}|{list(readings.columns)}".encode())
    digest.update(times.asi8.tobytes())
    digest.update(np.ascontiguousarray(readings.to_numpy(dtype=float)).tobytes())
    return digest.hexdigest()


def key_of(readings: str, name: str, method: Method, *, fold: tuple[int, int], lag: float) -> str | None:
    """Hash all that a run depends on.

    Parameters
    ----------
    readings : str
        ``readings_digest`` of the room.
    name, method
        The method; its parameters and its source text count.
    fold : (int, int)
        Number of the fold, and of how many.
    lag : float
        Minutes that an estimate may wait [min].

    Returns
    -------
    str or None
        None where the source text of the method cannot be found: such a run is not kept.
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


def bytes_of(run: Run) -> bytes:
    """Pack a run: the sha256 of what follows, then a zip of arrays (``numpy.savez``)."""
    packed = io.BytesIO()
    np.savez_compressed(packed, people=run.people, seconds=[run.fit_seconds, run.estimate_seconds])
    return hashlib.sha256(packed.getvalue()).digest() + packed.getvalue()


def run_of(content: bytes) -> Run | None:
    """Unpack a run; None when it is not whole."""
    digest, packed = content[:32], content[32:]
    if hashlib.sha256(packed).digest() != digest:
        return None
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as kept:
            return Run(kept["people"], *map(float, kept["seconds"]))
    except (EOFError, KeyError, TypeError, ValueError):
        return None


@dataclass(frozen=True)
class Cache:
    """Runs in a folder, one file each; without a folder nothing is kept."""

    folder: Path | None

    def get(self, key: str | None) -> Run | None:
        """Read a run; one that is missing, broken or cut off is None."""
        if self.folder is None or key is None:
            return None
        try:
            return run_of(self._path(self.folder, key).read_bytes())
        except OSError:
            return None

    def put(self, key: str | None, run: Run) -> None:
        """Keep a run."""
        if self.folder is None or key is None:
            return
        path = self._path(self.folder, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, bytes_of(run))

    def _path(self, folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.run"
