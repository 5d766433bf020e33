"""Portfolios that several tests share; the data are written once per test process."""

from pathlib import Path
from typing import NamedTuple

import pytest
from fleet.portfolio import plant_faults, write_rooms

from occupair.fleet.fleet_run import FleetRun
from occupair.fleet.training_run import fit_fleet


class Trained(NamedTuple):
    """A trained portfolio: its data, its models, and the run."""

    data: Path
    models: Path
    run: FleetRun


@pytest.fixture(scope="session")
def portfolio(tmp_path_factory):
    """Folder with 21 rooms, 9 of them with planted faults."""
    folder = tmp_path_factory.mktemp("portfolio")
    write_rooms(folder, 12)
    plant_faults(folder)
    return folder


@pytest.fixture(scope="session")
def trained(portfolio, tmp_path_factory):
    """The portfolio trained on two worker processes."""
    models = tmp_path_factory.mktemp("models")
    return Trained(portfolio, models, fit_fleet(portfolio, models, workers=2))
