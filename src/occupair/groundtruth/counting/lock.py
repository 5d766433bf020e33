"""Lock of an events folder, so only one program counts it at a time."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from occupair.errors import InputError


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a folder, so a second program cannot overwrite its counts."""
    if sys.platform == "win32" or not folder.is_dir():  # reported when the folder is read
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder}: already being counted by another program") from None
        yield
    finally:
        os.close(handle)
