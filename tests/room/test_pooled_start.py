"""Read-outs of the public rooms: the file in the package, and which networks start from them."""

import json
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

import occupair as oc
from occupair.datasets.benchmark_rooms import ROOMS
from occupair.room.features import group_sizes
from occupair.room.fit_and_estimate import Z_MAX
from occupair.room.lags import LAGS
from occupair.room.linked_elm import N_LAYERS
from occupair.room.pooled_start import (
    LAYER_SEED,
    PooledStart,
    shipped_start,
    start_from_json,
    start_to_json,
)
from occupair.room.pooling import N_HIDDEN


@pytest.fixture(scope="module")
def office_hours():
    """Three days of the simulated office, a reading every ten minutes."""
    return oc.simulate_office(days=3, seed=7).iloc[::10]


@pytest.fixture(scope="module")
def fits(office_hours):
    """Default estimators with and without the public rooms."""
    starts = {"pooled": "pooled", "shipped": shipped_start(), "none": None}
    return {
        name: oc.OccupancyEstimator(start=start, random_state=0).fit(office_hours)
        for name, start in starts.items()
    }


def shipped_text():
    return files("occupair.room").joinpath("pooled.json").read_text("utf-8")


def test_shipped_file_belongs_to_default_estimator():
    default = oc.OccupancyEstimator()
    assert default.start == "pooled"
    assert shipped_start().suits(default.n_hidden, Z_MAX, LAGS)
    assert N_HIDDEN == default.n_hidden == shipped_start().n_hidden


def test_shapes():
    n_links = sum(group_sizes(len(LAGS)))
    assert tuple(shipped_start().read_outs) == LAGS
    for read_outs in shipped_start().read_outs.values():
        assert read_outs.shape == (N_LAYERS, N_HIDDEN // N_LAYERS + n_links + 1, 2)
        assert np.isfinite(read_outs).all()


def test_file_names_its_rooms():
    rooms = shipped_start().rooms
    assert len(rooms) == len(set(rooms)) >= 2
    assert set(rooms) <= set(ROOMS)


def test_file_contains_no_readings():
    """Only read-outs: as many numbers for any length of the rooms, of which none is a CO2 level."""
    values = json.loads(shipped_text())
    assert set(values) == {"rooms", "n_hidden", "z_max", "read_outs"}
    numbers = np.concatenate([np.ravel(layers) for layers in values["read_outs"].values()])
    assert numbers.size == len(LAGS) * N_LAYERS * (N_HIDDEN // N_LAYERS + 35 + 1) * 2
    assert np.abs(numbers).max() < 50


def test_json_round_trip():
    start = shipped_start()
    again = start_from_json(json.loads(json.dumps(start_to_json(start))))
    assert (again.n_hidden, again.z_max, again.rooms) == (start.n_hidden, start.z_max, start.rooms)
    for lag in LAGS:  # six digits are written, and the shipped file has no more
        np.testing.assert_array_equal(again.read_outs[lag], start.read_outs[lag])
    fine = PooledStart(3, Z_MAX, {0.0: np.full((3, 1, 2), 1 / 3)}, ("a",))
    assert start_to_json(fine)["read_outs"] == {"0": [[[0.333333, 0.333333]]] * 3}


def test_suits_only_networks_with_the_same_settings():
    start = shipped_start()
    assert not start.suits(299, Z_MAX, LAGS)
    assert not start.suits(300, (1.0,) * 5, LAGS)
    assert not start.suits(300, Z_MAX, (*LAGS, 30.0))
    assert not start.suits(300, Z_MAX, LAGS[:-1])  # fewer lags have fewer features
    assert not start.suits(300, Z_MAX, (0.0, 15.0, 20.0))


def test_start_determines_the_layer(fits):
    for name in ("pooled", "shipped"):
        assert {one.layer.seed for one in fits[name].room_.refinements} == {LAYER_SEED}
    assert LAYER_SEED not in {one.layer.seed for one in fits["none"].room_.refinements}


def test_shipped_start_equals_its_name(fits, office_hours):
    np.testing.assert_array_equal(
        fits["pooled"].estimate(office_hours), fits["shipped"].estimate(office_hours)
    )


def test_start_changes_read_outs_only_of_the_network(fits):
    for pooled, alone in zip(fits["pooled"].room_.refinements, fits["none"].room_.refinements, strict=True):
        assert np.abs(pooled.coef - alone.coef).max() > 1e-3
        np.testing.assert_array_equal(pooled.layer.scale, alone.layer.scale)
        np.testing.assert_array_equal(pooled.trees.value, alone.trees.value)
        for one, other in zip(pooled.balance.variants, alone.balance.variants, strict=True):
            np.testing.assert_array_equal(one.coef, other.coef)


@pytest.mark.parametrize("changes", [{"n_hidden": 30}, {"n_hidden": 30, "z_max": 1.0}])
def test_network_with_other_settings_ignores_start(office_hours, changes):
    with_start, without = (
        oc.OccupancyEstimator(start=start, random_state=0, **changes).fit(office_hours)
        for start in ("pooled", None)
    )
    np.testing.assert_array_equal(with_start.estimate(office_hours), without.estimate(office_hours))


def test_single_day_uses_the_strongest_ridge_towards_start(office_hours, monkeypatch):
    """Nothing can be held out: with a start of zeros, the network equals one without a start."""
    day = office_hours.iloc[:144]
    zeros = {lag: np.zeros((N_LAYERS, 10 + 35 + 1, 2)) for lag in LAGS}
    start = PooledStart(30, Z_MAX, zeros, ("zeros",))
    own_seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    monkeypatch.setattr("occupair.room.training.LAYER_SEED", own_seed)
    first = oc.OccupancyEstimator(n_hidden=30, start=start, random_state=0).fit(day)
    second = oc.OccupancyEstimator(n_hidden=30, start=None, random_state=0).fit(day)
    for one, other in zip(first.room_.refinements, second.room_.refinements, strict=True):
        assert one.layer.seed == other.layer.seed == own_seed
        np.testing.assert_allclose(one.coef, other.coef, rtol=0, atol=1e-9)
    ones = replace(start, read_outs={lag: one + 1 for lag, one in zeros.items()})
    moved = oc.OccupancyEstimator(n_hidden=30, start=ones, random_state=0).fit(day)
    assert np.abs(moved.room_.refinements[0].coef - first.room_.refinements[0].coef).max() > 0.1


@pytest.mark.parametrize("start", [3, "other", [], {"rooms": []}])
def test_invalid_start_is_rejected(office_hours, start):
    with pytest.raises(
        oc.InputError, match=r'^start must be "pooled", None or created by transfer\(rooms\), got'
    ):
        oc.OccupancyEstimator(n_hidden=5, start=start).fit(office_hours)
