"""Model files, stores and settings written by earlier versions still load and mean the same.

Each folder here holds files as one version wrote them, and what that version made of them.
"""

import datetime as dt
import json
import shutil
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import NullPool, create_engine, text

import occupair as oc
from occupair.live.config import read_config
from occupair.live.store import Store, restore
from occupair.model_file import READABLE, VERSION


def versions_with(name):
    """Parametrise a test with the versions that have a file."""
    found = sorted(path.parent for path in Path(__file__).parent.glob(f"*/{name}"))
    assert found
    return pytest.mark.parametrize("version", found, ids=lambda path: path.name)


def load(path):
    return json.loads(path.read_text())


@versions_with("estimates.json")
def test_models_give_the_same_estimates(version):
    day = oc.read_readings(version / "day.csv", timezone="Europe/Copenhagen")
    expected = load(version / "estimates.json")
    assert {path.stem for path in version.glob("*.occupair")} == set(expected)
    for name, columns in expected.items():
        model = oc.OccupancyEstimator.load(version / f"{name}.occupair")
        found = {mode: model.estimate(day, mode=mode) for mode in ("live", "hindsight")}
        if model.layer == "room":
            refined = model.estimate(day, lag=20, interval=0.9)
            found |= {f"lag20 {column}": refined[column] for column in refined}
        assert set(found) == set(columns)
        for column, values in columns.items():
            np.testing.assert_allclose(found[column], values, rtol=0, atol=1e-6, err_msg=f"{name} {column}")


def test_models_have_every_earlier_format():
    files = Path(__file__).parent.glob("*/*.occupair")
    assert {load(path)["version"] for path in files} >= set(READABLE) - {1, VERSION}  # 1 had no room layer


@versions_with("store.json")
@pytest.mark.parametrize("kind", ["database", "backup"])
def test_stores_keep_their_contents(version, tmp_path, kind):
    url = f"sqlite:///{tmp_path / 'store.db'}"
    if kind == "database":
        shutil.copy(version / "store.db", tmp_path / "store.db")
    else:
        restore(version / "store-backup.zip", url)
    expected = load(version / "store.json")
    with closing(Store(url)) as store:
        store.migrate()
        active = store.active_model("lab")
        assert active is not None
        assert active[1] == (version / "room.occupair").read_bytes()
        labels = [(label.time, label.people) for label in store.labels("lab")]
    assert labels == [(dt.datetime.fromisoformat(time), people) for time, people in expected["labels"]]
    for table in ("readings", "estimates"):
        earlier = sorted(map(columns_of, expected[table]), key=key)
        later = rows(url, table)
        assert [{name: row.pop(name) for name in earlier[0]} for row in later] == earlier
        assert not any(value for row in later for value in row.values())  # columns of later versions


def rows(url, table):
    with create_engine(url, poolclass=NullPool).connect() as connection:
        found = connection.execute(text(f"SELECT * FROM {table}")).mappings().all()
    return sorted((dict(row) for row in found), key=key)


def key(row):
    return row["room"], row["time"]


def columns_of(values):
    """The row of a table: times are microseconds since 1970."""
    epoch, microsecond = dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.timedelta(microseconds=1)
    times = {
        name: (dt.datetime.fromisoformat(values[name]) - epoch) // microsecond
        for name in ("time", "received")
        if name in values
    }
    return values | times


@versions_with("settings.json")
def test_settings_mean_the_same(version):
    environment = {"OCCUPAIR_PORT": "8124", "OCCUPAIR_MQTT__PREFIX": "env"}
    compare(read_config(version / "rooms.toml", environment), load(version / "settings.json"))


def compare(found, expected):
    """Compare settings field by field, whatever classes hold them."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            compare(found[name] if isinstance(found, dict) else getattr(found, name), value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other)
    elif isinstance(found, Path):
        assert found.name == expected
    elif hasattr(found, "get_secret_value"):
        assert found.get_secret_value() == expected
    elif isinstance(expected, str):
        assert str(found).rpartition("/")[2] == expected.rpartition("/")[2]
    else:
        assert found == expected
