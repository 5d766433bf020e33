"""A small office that every test may look at."""

import pytest
from threadpoolctl import threadpool_limits

import occupair as oc

pytest_plugins = ["browser", "missing_servers"]


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tests solve small systems, where a second thread costs more than it gives."""
    with threadpool_limits(limits=1):
        yield


@pytest.fixture(scope="session")
def office():
    """Four days of the simulated test-bed, one reading a minute."""
    return oc.simulate_office(days=4, seed=7)


@pytest.fixture(scope="session")
def slow_office(office):
    """The same, one reading every five minutes."""
    return office.iloc[::5]


@pytest.fixture(scope="session")
def estimator(slow_office):
    """A small estimator of the slow office, trained on three days."""
    model = oc.OccupancyEstimator.paper(n_hidden=40, n_draws=1, random_state=0)
    return model.fit(slow_office.iloc[: 3 * 288])


@pytest.fixture(scope="session")
def last_day(slow_office):
    return slow_office.iloc[3 * 288 :]


@pytest.fixture(scope="session")
def trained_room(slow_office):
    """The default estimator of the slow office, small, trained on three days."""
    return oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(slow_office.iloc[: 3 * 288])
