"""OpenCV, which only those need who scan videos."""

from __future__ import annotations

import os
from types import ModuleType

from occupair.errors import InputError

_INSTALL = "pip install 'occupair[video]'"


def opencv() -> ModuleType:
    """Load OpenCV, or say how to install it.

    What its decoder says about damaged videos would go to standard error past everything; unless somebody
    has asked for it, it is kept quiet, and ``scan`` says in one line what is wrong with a video.
    """
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
    try:
        import cv2
    except ImportError:
        raise InputError(f"scanning videos needs OpenCV: {_INSTALL}") from None
    if not hasattr(cv2, "HOGDescriptor"):
        raise InputError(
            f"this OpenCV ({cv2.__version__}) has no people detector, version 4 has one: {_INSTALL}"
        )
    return cv2
