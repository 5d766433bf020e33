"""Fixtures shared by all tests: a small simulated office, and the folder of public data sets."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

import occupair as oc
from occupair.datasets import find_folder
from occupair.room import boosted_trees, members

pytest_plugins = ["browser", "missing_servers", "slow_first"]

settings.register_profile("occupair", deadline=None)  # tests pass on a slow machine, too
settings.load_profile("occupair")

SHARED_DATA = Path(__file__).parents[2] / "shared/data"
if SHARED_DATA.is_dir():  # beside a checkout
    os.environ.setdefault("OCCUPAIR_DATA", str(SHARED_DATA))


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Limit BLAS to one thread: the systems in tests are too small for more."""
    with threadpool_limits(limits=1):
        yield


@pytest.fixture(scope="session", autouse=True)
def trees_trained_once():
    """Keep boosted trees for tests that train on the same readings.

    Training is deterministic (``tests/room/test_boosted_trees.py``), and half of all trees are trained again.
    """
    known = {}

    def fit_trees(columns, people, weight=None):
        arrays = [columns, people] if weight is None else [columns, people, weight]
        digests = [hashlib.sha256(np.ascontiguousarray(one)).digest() for one in arrays]
        key = (boosted_trees.N_TREES, columns.shape, *digests)
        if key not in known:
            known[key] = boosted_trees.fit_trees(columns, people, weight)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(members, "fit_trees", fit_trees)
        yield


@pytest.fixture(scope="session")
def published():
    """Return the folder of a data set, or skip the test."""

    def folder_of(name):
        folder = find_folder(name)
        if folder is None:
            pytest.skip(f"{name} data set not found: occupair datasets fetch {name}")
        return folder

    return folder_of


@pytest.fixture(scope="session")
def office():
    """Four days of the simulated office, one reading per minute."""
    return oc.simulate_office(days=4, seed=7)


@pytest.fixture(scope="session")
def slow_office(office):
    """The same office, one reading every five minutes."""
    return office.iloc[::5]


@pytest.fixture(scope="session")
def estimator(slow_office):
    """A small paper estimator, trained on three days of the slow office."""
    model = oc.OccupancyEstimator.paper(n_hidden=40, n_draws=1, random_state=0)
    return model.fit(slow_office.iloc[: 3 * 288])


@pytest.fixture(scope="session")
def last_day(slow_office):
    """The fourth day of the slow office, which the estimators were not trained on."""
    return slow_office.iloc[3 * 288 :]


@pytest.fixture(scope="session")
def trained_room(slow_office):
    """A small default estimator, trained on three days of the slow office."""
    return oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(slow_office.iloc[: 3 * 288])
