"""Many trainings in a row, without a word from each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from occupair.progress import progress_to


@contextmanager
def quietly() -> Iterator[None]:
    """Keep back the progress of each training, and its warning that CO2 adds little in a room.

    A study has a bar of its own, and how much CO2 adds is what it measures. Other warnings are heard.

    Examples
    --------
    >>> with quietly():
    ...     warnings.warn("CO2 adds nothing in this room", UserWarning)
    """
    with progress_to(_nobody), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "CO2 adds ", UserWarning)
        yield


def _nobody(what: str, done: float, total: float) -> None:
    """Listen to progress and say nothing."""
