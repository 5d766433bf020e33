"""OpenCV, imported on demand because only video scans need it."""

from __future__ import annotations

import os
from types import ModuleType

from occupair.errors import InputError

_INSTALL = "pip install 'occupair[video]'"


def opencv() -> ModuleType:
    """Import OpenCV, or raise an error that says how to install it.

    Its decoder would print messages about damaged videos to standard error. They are suppressed unless the
    environment asks for them; ``scan_videos`` reports each damaged video in one line.
    """
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    try:
        import cv2
    except ImportError:
        raise InputError(f"scanning videos needs OpenCV: {_INSTALL}") from None
    if not hasattr(cv2, "HOGDescriptor"):
        raise InputError(
            f"OpenCV {cv2.__version__} has no person detector; version 4 is required: {_INSTALL}"
        )
    return cv2
