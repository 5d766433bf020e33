"""numba's compiler; where numba cannot be imported it is None, with one warning per process.

Import this module only where compiled code is needed: loading numba takes a few tenths of a second.
"""

from __future__ import annotations

import warnings
from typing import Any

from occupair.errors import SlowFallbackWarning

njit: Any = None
try:
    from numba import njit as njit  # for other modules
except (ImportError, OSError) as error:  # not installed; its LLVM library does not load
    warnings.warn(
        f"numba cannot be imported ({error}): live estimates of the paper's estimator take about ten times"
        " as long; install it with 'pip install numba', or see 'occupair doctor'",
        SlowFallbackWarning,
        stacklevel=2,
    )
