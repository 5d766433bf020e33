"""A small office that every test may look at."""

import pytest

import occupair as oc


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
    return oc.OccupancyEstimator(n_hidden=40, random_state=0).fit(slow_office.iloc[: 3 * 288])


@pytest.fixture(scope="session")
def last_day(slow_office):
    return slow_office.iloc[3 * 288 :]
