"""The simulated clock of the soak test, shared by the sensors and the service through a file."""

from __future__ import annotations

import datetime as dt
import mmap
import struct
import time
from pathlib import Path

_VALUES = struct.Struct("=dd")


class SimulatedClock:
    """A clock that runs in real time and can be advanced; the service may see it with an error.

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
        """Advance the clock to a time, unless it is later already."""
        if (ahead := (time_ - self.now()).total_seconds()) > 0:
            self._set(self._advanced + ahead, self._error)

    def set_error(self, seconds: float) -> None:
        """Set the error of the clock of the service [s]."""
        self._set(self._advanced, seconds)

    def now(self) -> dt.datetime:
        """Return the correct time, in UTC."""
        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=self._advanced)

    def service_time(self) -> dt.datetime:
        """Return the time on the clock of the service, in UTC."""
        return self.now() + dt.timedelta(seconds=self._error)

    def elapsed(self) -> float:
        """Return the simulated time since some moment [s], regardless of errors of the clock."""
        return time.monotonic() + self._advanced

    @property
    def _advanced(self) -> float:
        return float(_VALUES.unpack(self._file[:])[0])

    @property
    def _error(self) -> float:
        return float(_VALUES.unpack(self._file[:])[1])

    def _set(self, advanced: float, error: float) -> None:
        self._file[:] = _VALUES.pack(advanced, error)
