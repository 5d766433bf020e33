"""Folders of the user for downloads and cached results."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the user's cache folder: ``$OCCUPAIR_CACHE``, else ``$XDG_CACHE_HOME/occupair``.

    The default of ``XDG_CACHE_HOME`` is ``~/.cache``.
    """
    if given := os.environ.get("OCCUPAIR_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "occupair"


def data_folders() -> list[Path]:
    """Return the folders searched for data sets, in order: ``$OCCUPAIR_DATA``, then the user's cache."""
    given = os.environ.get("OCCUPAIR_DATA")
    return [*([Path(given)] if given else []), cache_folder() / "data"]


def benchmark_folder() -> Path:
    """Return the folder of cached benchmark runs: ``benchmark`` in the user's cache folder."""
    return cache_folder() / "benchmark"
