"""Every data set we can read, and where its folder is on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from occupair.datasets import robod, sdu2018, sdu2019, uci357, uci864
from occupair.datasets.data_set import DataSet
from occupair.errors import InputError

DATASETS: dict[str, DataSet] = {
    module.DATA_SET.name: module.DATA_SET for module in (sdu2018, sdu2019, robod, uci864, uci357)
}


def data_set_called(name: str) -> DataSet:
    """Give the data set of that name, or say which there are."""
    if name not in DATASETS:
        raise InputError(f"there is no data set {name!r}, only {', '.join(DATASETS)}")
    return DATASETS[name]


def find_folder(name: str) -> Path | None:
    """Find the folder of a data set on this machine.

    It is ``$OCCUPAIR_DATA/NAME`` or, when we run from a checkout of the project, ``../shared/data/NAME``
    beside that checkout. None when neither is there.
    """
    data_set_called(name)
    parents = [Path(given)] if (given := os.environ.get("OCCUPAIR_DATA")) else []
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "pyproject.toml").is_file():
        parents.append(checkout.parent / "shared" / "data")
    return next((parent / name for parent in parents if (parent / name).is_dir()), None)
