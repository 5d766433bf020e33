"""When the days of many rooms begin: at their local midnights, and after their gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.gaps import is_gap

Indices = NDArray[np.int64]


class RoomClocks:
    """The last times of many rooms.

    Parameters
    ----------
    n_rooms : int
        How many there are.
    interval : float
        Time between readings [min].
    """

    def __init__(self, n_rooms: int, *, interval: float) -> None:
        self._interval = interval
        self._last = np.full(n_rooms, np.iinfo(np.int64).min // 2)  # [us] since 1970
        self._date = np.full(n_rooms, np.datetime64("NaT"), dtype="datetime64[D]")

    def take(self, rooms: Indices) -> RoomClocks:
        """Give the clocks of some rooms."""
        taken = RoomClocks(rooms.size, interval=self._interval)
        taken._last, taken._date = self._last[rooms], self._date[rooms]
        return taken

    def turn(self, rooms: Indices, time: pd.Timestamp | pd.DatetimeIndex) -> tuple[pd.DatetimeIndex, Indices]:
        """Note a reading of each of some rooms.

        Parameters
        ----------
        rooms : array of int
            Which rooms, each once.
        time : Timestamp or DatetimeIndex
            Local time, or aware of its zone; one for all or one for each.

        Returns
        -------
        index, anew
            The times, one or one for each; and the rooms to which nothing leads up: the first reading of
            all, of a day, or after a gap.
        """
        index = pd.DatetimeIndex([time]) if isinstance(time, pd.Timestamp) else time
        if len(index) not in (1, rooms.size):
            raise InputError(f"time must be one for all, or {rooms.size}, one for each room")
        moment = np.broadcast_to(index.as_unit("us").asi8, rooms.shape)
        date = np.broadcast_to(index.tz_localize(None).to_numpy().astype("datetime64[D]"), rooms.shape)
        step = moment - self._last[rooms]
        if (step <= 0).any():
            late = int(rooms[np.argmax(step <= 0)])
            raise InputError(f"times must rise, room {late} has had a reading of this time or later")
        anew = rooms[(date != self._date[rooms]) | is_gap(step, self._interval * 60e6)]
        self._last[rooms], self._date[rooms] = moment, date
        return index, anew


def check_step(
    n_rooms: int, rooms: Indices | None, co2: object, ventilation: object
) -> tuple[Indices, NDArray[np.float64], NDArray[np.float64]]:
    """Return rooms, CO2 [ppm] and ventilation [0..1] of a step as arrays, or say what is wrong with them."""
    which = np.arange(n_rooms) if rooms is None else np.asarray(rooms)
    readings = np.asarray(co2, dtype=float)
    flow = np.zeros(which.size) if ventilation is None else np.asarray(ventilation, dtype=float)
    if not (which.shape == readings.shape == flow.shape):
        raise InputError(f"co2 and ventilation must have {which.size} values, one for each room")
    if not (np.isfinite(readings).all() and np.isfinite(flow).all()):
        raise InputError("co2 and ventilation must be finite numbers")
    return which, readings, flow
