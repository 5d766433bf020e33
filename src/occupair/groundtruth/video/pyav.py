"""PyAV, imported on demand because only video scans need it."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from packaging.version import Version

from occupair.errors import InputError


def pyav() -> ModuleType:
    """Import PyAV, or raise an error that says how to install it."""
    try:
        import av
    except ImportError:
        raise InputError("reading videos needs PyAV: pip install 'occupair[video]'") from None
    return av


def open_video(path: Path) -> Any:
    """Open a video for reading; metadata that is no valid text is not an error."""
    av = pyav()
    if Version(av.__version__) < Version("19"):
        return av.open(str(path), metadata_errors="replace")
    return av.open(str(path))  # tolerates it
