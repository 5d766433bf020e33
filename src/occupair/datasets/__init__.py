"""Public data sets of rooms with CO2 and head counts, read as readings.

Each reader takes the folder with the publisher's own files, plain or gzip-wrapped, and its docstring
says who made them, under which licence, what the rooms are and what is wrong with the data. Known
faults of the clocks are corrected; ``aligned=False`` gives the data as published.

- `sdu2018`, `sdu2019`, `robod`, `uci864`, `uci357`: one public data set each
- `data_set`, `catalogue`: what there is, and where it lies on this machine
- `fetching`: downloads from the publishers
- `tables`, `repairs`: published files, and putting them on one regular grid
- `rooms`: the rooms of the benchmark
"""

from occupair.datasets.catalogue import DATASETS, find_folder
from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.datasets.fetching import fetch
from occupair.datasets.robod import read_robod
from occupair.datasets.rooms import ROOMS, Room, read_room
from occupair.datasets.sdu2018 import read_sdu2018
from occupair.datasets.sdu2019 import read_sdu2019
from occupair.datasets.uci357 import read_uci357
from occupair.datasets.uci864 import read_uci864

__all__ = [
    "DATASETS",
    "ROOMS",
    "DataSet",
    "RemoteFile",
    "Room",
    "fetch",
    "find_folder",
    "read_robod",
    "read_room",
    "read_sdu2018",
    "read_sdu2019",
    "read_uci357",
    "read_uci864",
]
