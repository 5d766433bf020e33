"""Files that inputs are read from, in memory where the system has such a folder."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

MEMORY = Path("/dev/shm")


@cache
def scratch_folder() -> Path:
    """Return a folder of this process, which is deleted at its end."""
    parent = MEMORY if MEMORY.is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="occupair-fuzz-", dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def scratch_file(name: str, data: bytes) -> Path:
    """Write a file and return its path."""
    path = scratch_folder() / name
    path.write_bytes(data)
    return path
