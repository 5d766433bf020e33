"""PyAV, imported on demand because only video scans need it."""

from __future__ import annotations

from types import ModuleType

from occupair.errors import InputError


def pyav() -> ModuleType:
    """Import PyAV, or raise an error that says how to install it."""
    try:
        import av
    except ImportError:
        raise InputError("reading videos needs PyAV: pip install 'occupair[video]'") from None
    return av
