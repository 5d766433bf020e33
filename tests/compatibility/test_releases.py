"""Files of every release, written by `make fixtures`, still load and mean the same.

A change that breaks a test here breaks what users have: the files of a release must not be changed.
"""

import gzip
import json
import re
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from live.postgres import empty_database
from sqlalchemy import text

import occupair as oc
from occupair.fleet import read_fleet
from occupair.fleet.room_result import results_from_table
from occupair.groundtruth.counting.counts import read_book
from occupair.groundtruth.events import read_events
from occupair.live.config import read_config
from occupair.live.store import Store, restore
from tools.fixtures import __main__ as fixtures
from tools.fixtures.plain import plain
from tools.fixtures.service import ENVIRONMENT, PLAN

FOLDER = Path(__file__).parent
RELEASES = sorted(path for path in FOLDER.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", path.name))
MODELS = [path for release in RELEASES for path in sorted(release.glob("models/*.occupair.gz"))]
EVERY_RELEASE = pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)


def load(path):
    return json.loads(path.read_text())


def compare(found, expected, where=""):
    """Compare what the release knew: later versions may have more fields."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            compare(found[name], value, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            compare(one, other, f"{where}[{number}]")
    else:
        assert found == expected, where


def test_every_release_has_files():
    changelog = (FOLDER.parents[1] / "CHANGELOG.md").read_text()
    assert set(re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changelog, re.MULTILINE)) == {
        path.name for path in RELEASES
    }


@EVERY_RELEASE
def test_files_are_small(release):
    assert fixtures.size_of(release) <= fixtures.LIMIT


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parts[-3]}-{path.name.split('.')[0]}")
def test_models_give_the_same_estimates(path, tmp_path):
    day = oc.read_readings(path.parent / "day.csv")
    expected = load(path.parent / "estimates.json")[path.name.removesuffix(".occupair.gz")]
    (tmp_path / "room.occupair").write_bytes(gzip.decompress(path.read_bytes()))
    model = oc.OccupancyEstimator.load(tmp_path / "room.occupair")
    found = {mode: model.estimate(day, mode=mode) for mode in ("live", "hindsight")}
    if model.layer == "room":
        refined = model.estimate(day, lag=20, interval=0.9)
        found |= {f"lag20 {column}": refined[column] for column in refined}
    for column, values in expected.items():
        np.testing.assert_allclose(found[column], values, rtol=0, atol=1e-6, err_msg=column)


@EVERY_RELEASE
def test_every_model_has_estimates(release):
    stored = {path.name.removesuffix(".occupair.gz") for path in release.glob("models/*.occupair.gz")}
    assert stored == set(load(release / "models/estimates.json"))


@EVERY_RELEASE
@pytest.mark.parametrize("kind", ["database", "backup to sqlite", "backup to postgresql"])
def test_stores_are_migrated_with_their_contents(release, tmp_path, kind):
    files = release / "store"
    if kind == "database":
        url = f"sqlite:///{tmp_path / 'store.db'}"
        (tmp_path / "store.db").write_bytes(gzip.decompress((files / "store.db.gz").read_bytes()))
    else:
        url = empty_database(kind.split()[-1], tmp_path)
        restore(files / "store-backup.zip", url)
    with closing(Store(url)) as store:
        store.migrate()
        active, plan, labels = store.active_model("lab"), store.plan("Ground floor"), store.labels("lab")
        for table, rows in load(files / "tables.json").items():
            columns = ", ".join(f'"{name}"' for name in rows[0])
            with store.engine.connect() as connection:
                found = connection.execute(text(f"SELECT {columns} FROM {table}")).mappings().all()
            assert in_order(found) == in_order(rows), table
    assert active is not None
    assert active[1] == gzip.decompress((release / "models/paper.occupair.gz").read_bytes())
    assert plan is not None
    assert plan[1] == PLAN
    assert [(label.people, label.source, label.estimate) for label in labels] == [
        (4, "typed", 3),
        (0, "unknown", None),
    ]


def in_order(rows):
    """Return rows sorted by their values; SQLite stores booleans as integers."""
    plain = [{name: int(v) if isinstance(v, bool) else v for name, v in row.items()} for row in rows]
    return sorted(plain, key=json.dumps)


@EVERY_RELEASE
def test_settings_mean_the_same(release):
    found = plain(read_config(release / "settings/rooms.toml", ENVIRONMENT))
    found["store"] = found["store"].rpartition("/")[2]
    compare(found, load(release / "settings/settings.json"))


@EVERY_RELEASE
def test_results_of_portfolios_are_read(release):
    expected = load(release / "fleet/results.json")
    table = results_from_table(pd.read_parquet(release / "fleet/rooms.parquet"))
    for results in (read_fleet(release / "fleet"), table):
        compare({result.room: plain(result) for result in results}, expected)


@EVERY_RELEASE
def test_ground_truth_sessions_continue(release):
    folder = release / "groundtruth"
    expected = load(folder / "expected.json")
    events, book = read_events(folder), read_book(folder)
    found = plain(vars(book) | {"counts": list(book.counts.values())})
    compare(found | plain({"minutes": events.minutes, "doors": events.doors}), expected)
    assert book.undo() is not None


def test_files_of_a_released_version_are_not_overwritten(tmp_path, monkeypatch):
    (tmp_path / "9.9.9").mkdir()
    monkeypatch.setattr(fixtures, "is_released", lambda version: True)
    with pytest.raises(SystemExit, match=r"^fixtures: 9\.9\.9 is released, its files must not change$"):
        fixtures.main(tmp_path, "9.9.9")


def test_development_version_has_no_files(tmp_path):
    message = r"^fixtures: 9\.9\.9\.dev0 is not a release, set the version first$"
    with pytest.raises(SystemExit, match=message):
        fixtures.main(tmp_path, "9.9.9.dev0")
