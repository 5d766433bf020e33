"""Fingerprints of labelled days."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.readings.day_fingerprints import LENGTH, count_known_days, day_fingerprints, split_fingerprints
from occupair.readings.files import read_labelled


@pytest.fixture(scope="module")
def office():
    """Six days, one reading every five minutes."""
    return oc.simulate_office(days=6, seed=4).iloc[::5].astype(float)


def test_every_day_has_its_own_fingerprint(office):
    found = day_fingerprints(office)
    assert len(set(found)) == 6
    assert {len(one) for one in found} == {LENGTH}


def test_fingerprints_survive_conversion_of_the_file(office, tmp_path):
    oc.write_readings(office, tmp_path / "room.csv")
    single = pd.read_csv(tmp_path / "room.csv", parse_dates=["time"]).astype({"co2": "float32"})
    single.to_parquet(tmp_path / "room.parquet")
    found = [day_fingerprints(read_labelled(tmp_path / name)) for name in ("room.csv", "room.parquet")]
    assert found[0] == found[1] == day_fingerprints(office)


def test_any_changed_count_or_co2_level_changes_the_fingerprint(office):
    counts, level = office.copy(), office.copy()
    counts.iloc[144, counts.columns.get_loc("occupancy")] += 1
    level.iloc[:288, level.columns.get_loc("co2")] += 10
    for changed in (counts, level):
        same = [a == b for a, b in zip(day_fingerprints(changed), day_fingerprints(office), strict=True)]
        assert same == [False, True, True, True, True, True]


def test_readings_without_head_count_do_not_matter(office):
    """The paper's estimators are trained on labelled readings only, the default one on all."""
    sparse = office.assign(occupancy=office["occupancy"].where(np.arange(len(office)) % 12 == 0))
    assert day_fingerprints(sparse) == day_fingerprints(sparse.dropna())
    assert day_fingerprints(office.assign(occupancy=np.nan)) == []


def test_known_days_are_counted_in_the_time_zone_of_training(office):
    local = office.tz_localize("Asia/Singapore")
    known = frozenset(day_fingerprints(local.iloc[: 4 * 288]))
    assert count_known_days(local.tz_convert("UTC"), known, "Asia/Singapore") == (4, 6)
    assert count_known_days(local.tz_convert("UTC"), known, None)[0] == 0


@pytest.mark.parametrize("joined", ["abc", "abcdefg\n", "abcdef/=", "äbcdefgh"])
def test_other_strings_are_no_fingerprints(joined):
    with pytest.raises(ValueError, match="trained_days must be fingerprints of days"):
        split_fingerprints(joined)
