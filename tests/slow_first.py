"""Order of the tests: those marked as slow first, so that no core is idle at the end of a run."""


def pytest_collection_modifyitems(items):
    """Move slow tests to the front; the sort is stable and keeps the order of all other tests."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
