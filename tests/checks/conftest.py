"""A simulated office without faults, and the published rooms."""

import pytest

import occupair as oc
from occupair.checks import find_faults


@pytest.fixture(scope="session")
def clean():
    """Fifteen days of the simulated office."""
    return oc.simulate_office(days=15, seed=0)


@pytest.fixture
def planted(clean):
    """A copy of the clean office to plant a fault in."""
    return clean.astype(float)


@pytest.fixture(scope="session")
def the_fault():
    """Return the only fault of a kind, and assert that no other fault is wrong."""

    def find(readings, kind):
        faults = find_faults(readings)
        assert {fault.kind for fault in faults if fault.severity == "wrong"} <= {kind}
        found = [fault for fault in faults if fault.kind == kind]
        assert len(found) == 1, [fault.kind for fault in faults]
        return found[0]

    return find
