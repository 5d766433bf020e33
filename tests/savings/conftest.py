import pytest
from savings.short_study import SEED, SHORT

from occupair.savings.study import evaluate, train, tune


@pytest.fixture(scope="session")
def prepared():
    """Trained estimators, schedules and tuned CO2 control of one seed, from one week each."""
    return tune(SHORT, train(SHORT, [SEED]))


@pytest.fixture(scope="session")
def evaluated(prepared):
    """All policies on the evaluated days."""
    return evaluate(SHORT, prepared)
