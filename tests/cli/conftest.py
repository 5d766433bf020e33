"""A folder with readings and a model, as users have one."""

import pytest
from command import occupair

import occupair as oc


@pytest.fixture(scope="module")
def desk(tmp_path_factory, slow_office):
    """A folder with three training days, one test day and a model fitted by the command line."""
    folder = tmp_path_factory.mktemp("desk")
    oc.write_readings(slow_office.iloc[: 3 * 288], folder / "train.csv")
    oc.write_readings(slow_office.iloc[3 * 288 :], folder / "test.csv")
    done = occupair(
        "fit", "train.csv", "--out", "room.occupair", "--paper", "--hidden", 40, "--draws", 1, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "room.occupair: trained on 3 days (864 readings, one every 5 min)" in done.stdout
    return folder
