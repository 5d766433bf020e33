"""Order of the test files: the slowest first, so that no core is idle at the end of a run."""

from pathlib import Path

SLOW_FILES = (
    "live/test_service.py",
    "live/test_first_days.py",
    "live/test_retraining.py",
    "live/test_crash_recovery.py",
    "live/test_calibration.py",
    "live/bacnet/test_building.py",
    "fleet/test_dask.py",
    "fleet/test_s3.py",
    "tools/test_speed.py",
    "test_tutorial.py",
)
"""Files that take longest, in the order in which they are run; all others follow."""


def pytest_collection_modifyitems(items):
    """Move slow files to the front; the sort is stable and keeps the order of all other tests."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(SLOW_FILES)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
