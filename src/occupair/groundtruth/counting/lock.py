"""One program at a time counts a folder."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from occupair.errors import InputError


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder, so that a second program cannot write over what this one keeps."""
    if sys.platform == "win32" or not folder.is_dir():  # which is said when it is read
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder}: is being counted already, by another program") from None
        yield
    finally:
        os.close(handle)
