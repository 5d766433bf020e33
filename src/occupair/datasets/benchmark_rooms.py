"""The public rooms, their published properties, and those of the benchmark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from occupair.datasets.catalogue import find_folder
from occupair.datasets.robod import read_robod
from occupair.datasets.sdu2018 import read_sdu2018
from occupair.datasets.sdu2019 import read_sdu2019
from occupair.datasets.uci864 import read_uci864
from occupair.errors import InputError


@dataclass(frozen=True)
class Room:
    """One room of a public data set.

    Parameters
    ----------
    dataset : str
        A name in ``DATASETS``.
    room : int
        Number of the room in the data set; 1 if there is only one.
    use : str
        Type of use.
    most_people : int
        Maximum published occupancy [people].
    interval : float
        Time between readings [min].
    area, volume, seats : float or None
        Floor area [m2], volume [m3] and number of seats, if published.
    """

    dataset: str
    room: int
    use: str
    most_people: int
    interval: float
    area: float | None = None
    volume: float | None = None
    seats: int | None = None


ROOMS: dict[str, Room] = {
    "sdu2018-1": Room("sdu2018", 1, "lecture room", 67, 1.0, area=139.0, seats=84),
    "sdu2018-2": Room("sdu2018", 2, "study zone", 28, 1.0, area=125.0, seats=32),
    "sdu2018-3": Room("sdu2018", 3, "study zone", 35, 1.0, area=125.0, seats=32),
    "sdu2018-4": Room("sdu2018", 4, "lecture room", 39, 1.0, area=139.0, seats=84),
    "sdu2019-1": Room("sdu2019", 1, "lecture room", 80, 1.0),
    "robod-1": Room("robod", 1, "lecture room", 38, 5.0, area=118.6, volume=486.0, seats=40),
    "robod-3": Room("robod", 3, "office", 13, 5.0, area=98.4, volume=413.0, seats=15),
    "uci864": Room("uci864", 1, "office", 3, 0.5, area=27.6),
}
"""All public rooms with head counts, by name."""

BENCHMARK_ROOMS = tuple(name for name, room in ROOMS.items() if room.dataset != "uci864")
"""Default rooms of ``occupair benchmark`` and ``occupair validate``: those with ventilation readings."""


def read_room(key: str, folder: str | Path | None = None, *, aligned: bool = True) -> pd.DataFrame:
    """Read the readings of a public room.

    Parameters
    ----------
    key : str
        A name in ``ROOMS``.
    folder : path, optional
        Folder of the data set; default: the one returned by ``find_folder``.
    aligned : bool
        Whether to correct known clock errors; see the reader of the data set.

    Raises
    ------
    InputError
        For an unknown room, or if its data set is not on this machine.
    """
    _check_name(key)
    room = ROOMS[key]
    folder = folder if folder is not None else folder_of(key, room.dataset)
    if room.dataset == "uci864":
        return read_uci864(folder, aligned=aligned)
    if room.dataset == "robod":  # whole days only would lose all Mondays and the busiest day
        return read_robod(folder, room=room.room, aligned=aligned, whole_days=False)
    readers = {"sdu2018": read_sdu2018, "sdu2019": read_sdu2019}
    return readers[room.dataset](folder, room=room.room, aligned=aligned)


def folder_of(room: str, dataset: str) -> Path:
    """Return the folder of the data set of a room, or raise if it is not on this machine."""
    folder = find_folder(dataset)
    if folder is None:
        raise InputError(
            f"{room}: data set {dataset} not found, download it with 'occupair datasets fetch {dataset}' "
            f"or set OCCUPAIR_DATA to the folder that contains {dataset}/"
        )
    return folder


def read_rooms(names: Iterable[str] = ()) -> dict[str, pd.DataFrame]:
    """Read several public rooms by name; the benchmark rooms if ``names`` is empty."""
    names = list(dict.fromkeys(names)) or list(BENCHMARK_ROOMS)
    for name in names:
        _check_name(name)
    return {name: read_room(name) for name in names}


def _check_name(name: str) -> None:
    if name not in ROOMS:
        raise InputError(f"unknown room {name!r}, choose from {', '.join(ROOMS)}")
