"""A clean office, what it looks like with one thing planted, and the published rooms."""

import pytest

import occupair as oc
from occupair.checks import find_faults
from occupair.datasets import find_folder


@pytest.fixture(scope="session")
def clean():
    """Fifteen days of the simulated test-bed."""
    return oc.simulate_office(days=15, seed=0)


@pytest.fixture
def planted(clean):
    """A copy to spoil."""
    return clean.astype(float)


@pytest.fixture(scope="session")
def published():
    """Folder of a data set, or the test is skipped."""

    def folder_of(name):
        folder = find_folder(name)
        if folder is None:
            pytest.skip(f"{name} data set not found, see occupair datasets")
        return folder

    return folder_of


@pytest.fixture(scope="session")
def the_fault():
    """Find the one fault of a kind, and see that no other is called wrong."""

    def find(readings, kind):
        faults = find_faults(readings)
        assert {fault.kind for fault in faults if fault.severity == "wrong"} <= {kind}
        found = [fault for fault in faults if fault.kind == kind]
        assert len(found) == 1, [fault.kind for fault in faults]
        return found[0]

    return find
