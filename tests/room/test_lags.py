"""Everything that depends on the lags follows from ``occupair.room.lags``."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import occupair
from occupair.room import lags

ROOT = Path(__file__).parents[2]
EARLIER = ROOT / "tests/compatibility/2026-11"
CHANGES = {
    "REFINEMENT_LAGS = (10.0, 20.0)\n": "REFINEMENT_LAGS = (10.0, 20.0, 30.0)\n",
    "PUBLISHED_LAGS = (20.0,)\n": "PUBLISHED_LAGS = (20.0, 30.0)\n",
}
MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9999", "{head}", None, None


def upgrade():
    op.add_column("estimates", sa.Column("people_30", sa.Double))
"""


@pytest.fixture(scope="module")
def with_another_lag(tmp_path_factory):
    """What models and service give with a third lag, added as the docstring of ``lags`` describes."""
    folder = tmp_path_factory.mktemp("another_lag")
    package = folder / "src/occupair"
    shutil.copytree(Path(occupair.__file__).parent, package)
    source = (package / "room/lags.py").read_text(encoding="utf-8")
    for old, new in CHANGES.items():
        assert old in source
        source = source.replace(old, new)
    (package / "room/lags.py").write_text(source, encoding="utf-8")
    versions = package / "live/store/migrations/versions"
    head = max(path.name[1:5] for path in versions.glob("r*.py"))
    (versions / "r9999_people_30.py").write_text(MIGRATION.format(head=head))
    shutil.copy(EARLIER / "store.db", folder / "store.db")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/room/another_lag.py"), str(folder), str(EARLIER)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package.parent), str(ROOT / "tests")])},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_new_models_have_the_added_lag_and_earlier_ones_keep_theirs(with_another_lag):
    new, old = [0, 10, 20, 30], [0, 10, 20]
    assert with_another_lag["lags"] == [new, old, new]
    assert with_another_lag["refinements"] == [[0, 2, 4, 6], [0, 2, 4], [0, 2, 4, 6]]
    assert with_another_lag["features"] == [4 + 4, 3, 4 + 4]  # with parts
    assert with_another_lag["used"] == [30, 20]
    assert with_another_lag["benchmark"] == new
    expected = json.loads((EARLIER / "estimates.json").read_text())["room"]["lag20 people"]
    np.testing.assert_allclose(with_another_lag["earlier"], expected, rtol=0, atol=1e-6)


def test_rooms_with_different_lags_are_batched_separately(with_another_lag):
    assert max(with_another_lag["batched"]) < 1e-9


def test_added_lag_is_published_after_the_others(with_another_lag):
    for names in (
        with_another_lag["openapi"]["State"],
        with_another_lag["openapi"]["Estimate"],
        *(list(with_another_lag["http"][room]) for room in ("new", "old")),
        *(list(with_another_lag["mqtt"][room]) for room in ("new", "old")),
    ):
        place = names.index("people_20")
        assert names[place + 1] == "people_30"
    assert with_another_lag["descriptions"] == [
        f"{lag}-minute refined estimate, for {lag} minutes ago [people]." for lag in (20, 30)
    ]


def test_service_publishes_and_stores_each_lag(with_another_lag):
    found, last = with_another_lag, 119
    for lag, steps in ((20, 4), (30, 6)):
        expected, name = found["estimates"][str(lag)], f"people_{lag}"
        stored = found["stored"][name]["new"]
        np.testing.assert_allclose(stored[:-steps], expected[: last + 1 - steps], rtol=0, atol=1e-6)
        assert stored[-steps:] == [None] * steps
        for interface in ("http", "mqtt"):
            assert found[interface]["new"][name] == pytest.approx(expected[last - steps], abs=1e-6)
    assert max(found["estimates"]["30"][:last]) > 0
    assert found["records"] == [
        list(both)
        for both in zip(found["stored"]["people_20"]["new"], found["stored"]["people_30"]["new"], strict=True)
    ]


def test_lag_that_a_model_lacks_is_null(with_another_lag):
    expected = with_another_lag["earlier"]
    assert with_another_lag["stored"]["people_30"]["old"] == [None] * 120
    np.testing.assert_allclose(with_another_lag["stored"]["people_20"]["old"][:-4], expected[:116], atol=1e-6)
    for interface in ("http", "mqtt"):
        assert with_another_lag[interface]["old"]["people_30"] is None
        assert with_another_lag[interface]["old"]["people_20"] == pytest.approx(expected[115], abs=1e-6)


def test_published_lags_are_refinement_lags():
    assert set(lags.PUBLISHED_LAGS) <= set(lags.REFINEMENT_LAGS)
    assert lags.PUBLISHED_FIELDS == ("people_20",)


def test_lags_increase():
    assert list(lags.LAGS) == sorted(set(lags.LAGS))


@pytest.mark.parametrize(
    ("lag", "interval", "readings"), [(20, 1, 20), (20, 15, 1), (10, 15, 0), (10, 0.1, 100)]
)
def test_lag_in_readings(lag, interval, readings):
    assert lags.lag_in_readings(lag, interval) == readings
