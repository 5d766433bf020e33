"""Public data sets of rooms with CO2 readings and head counts.

- `data_set`: name, citation, licence and files of a data set
- `catalogue`: the known data sets and their location on this machine
- `fetching`: downloads with checksums
- `published_tables`: CSV tables as published
- `regular_grid`: their records resampled to regular readings
- `sdu2018`, `sdu2019`, `robod`, `uci864`, `uci357`: one reader per data set
- `benchmark_rooms`: the public rooms, and which of them are in the benchmark

Each reader takes the folder with the publisher's files, plain or gzipped. Its docstring gives the
authors, the licence, the rooms and the known faults of the data. Known clock errors are corrected;
``aligned=False`` returns the data as published.

To add a data set, write a module with a ``DATA_SET`` (`data_set.DataSet`) and a reader that returns
readings, list the module in ``catalogue.DATASETS``, export the reader here, and add its rooms to
``benchmark_rooms.ROOMS`` and ``read_room``. Tests check the checksums against the downloaded files.
"""

from occupair.datasets.benchmark_rooms import BENCHMARK_ROOMS, ROOMS, Room, read_room, read_rooms
from occupair.datasets.catalogue import DATASETS, find_folder
from occupair.datasets.data_set import DataSet, RemoteFile
from occupair.datasets.fetching import fetch
from occupair.datasets.robod import read_robod
from occupair.datasets.sdu2018 import read_sdu2018
from occupair.datasets.sdu2019 import read_sdu2019
from occupair.datasets.uci357 import read_uci357
from occupair.datasets.uci864 import read_uci864

__all__ = [
    "BENCHMARK_ROOMS",
    "DATASETS",
    "ROOMS",
    "DataSet",
    "RemoteFile",
    "Room",
    "fetch",
    "find_folder",
    "read_robod",
    "read_room",
    "read_rooms",
    "read_sdu2018",
    "read_sdu2019",
    "read_uci357",
    "read_uci864",
]
