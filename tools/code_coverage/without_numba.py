"""pytest plugin that hides numba, so that the functions it compiles run as Python."""

import sys
import warnings

sys.modules["numba"] = None  # type: ignore[assignment]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the fallback warns
    import occupair.compiler  # noqa: F401
