"""pytest plugin that hides numba, so that the functions it compiles run as Python and are measured."""

import sys

sys.modules["numba"] = None  # type: ignore[assignment]
