"""The known data sets, and where to find their files on this machine."""

from __future__ import annotations

from pathlib import Path

from occupair.datasets import robod, sdu2018, sdu2019, uci357, uci864
from occupair.datasets.data_set import DataSet
from occupair.errors import InputError
from occupair.user_folders import data_folders

DATASETS: dict[str, DataSet] = {
    module.DATA_SET.name: module.DATA_SET for module in (sdu2018, sdu2019, robod, uci864, uci357)
}
"""All public data sets, by name."""


def data_set_called(name: str) -> DataSet:
    """Return the data set with the given name.

    Raises
    ------
    InputError
        If there is no such data set; the message lists the known ones.
    """
    if name not in DATASETS:
        raise InputError(f"unknown data set {name!r}, choose from {', '.join(DATASETS)}")
    return DATASETS[name]


def find_folder(name: str) -> Path | None:
    """Return the folder of a data set, or None if it is not on this machine; see ``data_folders``."""
    data_set_called(name)
    return next((parent / name for parent in data_folders() if (parent / name).is_dir()), None)
