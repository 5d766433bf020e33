"""Small versions of the baselines, trained on three days of the slow office."""

import pytest

from occupair.baselines import BASELINES

SMALL = {
    "random-forest": {"n_trees": 10},
    "gradient-boosting": {"n_trees": 10, "learning_rate": 0.2},
    "mlp": {"n_networks": 2, "passes": 5},
    "svr": {"penalties": (3.0,), "gammas": (0.005, 0.025)},
}


@pytest.fixture(scope="session")
def make():
    """Create a small baseline by name."""
    return lambda name, **settings: BASELINES[name](**(SMALL.get(name, {}) | settings))


@pytest.fixture(scope="session")
def trained(make, slow_office):
    """A trained baseline by name and lag, trained once per session."""
    models = {}

    def get(name, lag=0):
        if (name, lag) not in models:
            models[name, lag] = make(name, lag=lag).fit(slow_office.iloc[: 3 * 288])
        return models[name, lag]

    return get
