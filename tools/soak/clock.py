"""The simulated clock of the soak test, shared by the sensors and the service through a file."""

from __future__ import annotations

import datetime as dt
import mmap
import struct
import time
from pathlib import Path

_VALUES = struct.Struct("=dd")


class SimulatedClock:
    """A clock that runs in real time and can be advanced; that of the service may also be wrong.

    Parameters
    ----------
    path : Path
        The file, created if it does not exist.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(_VALUES.pack(0.0, 0.0))
        with path.open("r+b") as file:
            self._file = mmap.mmap(file.fileno(), _VALUES.size)

    def advance_to(self, time_: dt.datetime) -> None:
        """Set the time, unless it is later already."""
        if (ahead := (time_ - self.now()).total_seconds()) > 0:
            self._set(self._advanced + ahead, self._error)

    def set_error(self, seconds: float) -> None:
        """Make the clock of the service wrong by this much [s]."""
        self._set(self._advanced, seconds)

    def now(self) -> dt.datetime:
        """Return the right time, in UTC."""
        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=self._advanced)

    def service_time(self) -> dt.datetime:
        """Return the time that the service has, in UTC."""
        return self.now() + dt.timedelta(seconds=self._error)

    def elapsed(self) -> float:
        """Return the simulated time since some moment [s], whatever the clock of the service shows."""
        return time.monotonic() + self._advanced

    @property
    def _advanced(self) -> float:
        return float(_VALUES.unpack(self._file[:])[0])

    @property
    def _error(self) -> float:
        return float(_VALUES.unpack(self._file[:])[1])

    def _set(self, advanced: float, error: float) -> None:
        self._file[:] = _VALUES.pack(advanced, error)
