"""Start of day for a batch of rooms: local midnight, or the first reading after a gap."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.gaps import is_gap

Indices = NDArray[np.int64]


class RoomClocks:
    """Time of the newest reading of each room.

    Parameters
    ----------
    n_rooms : int
        Number of rooms.
    interval : float
        Time between readings [min].
    """

    def __init__(self, n_rooms: int, *, interval: float) -> None:
        self._interval = interval
        self._last = np.full(n_rooms, np.iinfo(np.int64).min // 2)  # [us] since 1970
        self._date = np.full(n_rooms, np.datetime64("NaT", "D"))

    def take(self, rooms: Indices) -> RoomClocks:
        """Return the clocks of some rooms."""
        taken = RoomClocks(rooms.size, interval=self._interval)
        taken._last, taken._date = self._last[rooms], self._date[rooms]
        return taken

    def advance(
        self, rooms: Indices, time: pd.Timestamp | pd.DatetimeIndex
    ) -> tuple[pd.DatetimeIndex, Indices]:
        """Register a reading of some rooms.

        Parameters
        ----------
        rooms : array of int
            Room numbers, each at most once.
        time : Timestamp or DatetimeIndex
            Local time, or time zone aware; one for all rooms or one per room.

        Returns
        -------
        index, restarted
            The times, one or one per room, and the rooms that start a day: at their first reading, the first
            of a date, or the first after a gap.
        """
        index = pd.DatetimeIndex([time]) if isinstance(time, pd.Timestamp) else time
        if len(index) not in (1, rooms.size):
            raise InputError(
                f"time must be one for all rooms or one per room, {rooms.size}, got {len(index)}"
            )
        moment = np.broadcast_to(index.as_unit("us").asi8, rooms.shape)
        date = np.broadcast_to(index.tz_localize(None).to_numpy().astype("datetime64[D]"), rooms.shape)
        step = moment - self._last[rooms]
        if (step <= 0).any():
            late = int(rooms[np.argmax(step <= 0)])
            raise InputError(
                f"times must be increasing, room {late} already has a reading at this time or later"
            )
        restarted = rooms[(date != self._date[rooms]) | is_gap(step, self._interval * 60e6)]
        self._last[rooms], self._date[rooms] = moment, date
        return index, restarted


def check_step(
    n_rooms: int, rooms: Indices | None, co2: object, ventilation: object
) -> tuple[Indices, NDArray[np.float64], NDArray[np.float64]]:
    """Return rooms, CO2 [ppm] and ventilation [0..1] of a step as checked arrays."""
    which = np.arange(n_rooms) if rooms is None else np.asarray(rooms)
    readings = np.asarray(co2, dtype=float)
    flow = np.zeros(which.size) if ventilation is None else np.asarray(ventilation, dtype=float)
    if not (which.shape == readings.shape == flow.shape):
        raise InputError(f"co2 and ventilation must have {which.size} values, one per room")
    if not (np.isfinite(readings).all() and np.isfinite(flow).all()):
        raise InputError("co2 and ventilation must be finite numbers")
    return which, readings, flow
