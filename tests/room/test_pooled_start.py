"""What a new room starts from: the file in the package, and which rooms start from it."""

import json
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

import occupair as oc
from occupair.datasets.benchmark_rooms import ROOMS
from occupair.room.balance_shapes import BalanceShapes, Shape
from occupair.room.features import group_sizes
from occupair.room.fit_and_estimate import Z_MAX
from occupair.room.lags import LAGS
from occupair.room.linked_elm import N_LAYERS
from occupair.room.mass_balance import LOW_SHARES
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
    starts = {
        "pooled": "pooled",
        "shipped": shipped_start(),
        "read-outs": replace(shipped_start(), shapes={}),
        "none": None,
    }
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


def test_shapes_of_read_outs():
    n_links = sum(group_sizes(len(LAGS)))
    assert tuple(shipped_start().read_outs) == LAGS
    for read_outs in shipped_start().read_outs.values():
        assert read_outs.shape == (N_LAYERS, N_HIDDEN // N_LAYERS + n_links + 1, 2)
        assert np.isfinite(read_outs).all()


def test_shapes_of_mass_balances():
    """Every variant of the mass balance at a short interval, for rooms with and without ventilation."""
    delays = {0.0: {0.0}, 10.0: {0.0, 5.0, 10.0}, 20.0: {0.0, 5.0, 10.0, 15.0, 20.0}}
    assert set(shipped_start().shapes) == {True, False}
    for known, shapes in shipped_start().shapes.items():
        assert tuple(shapes.by_lag) == LAGS
        for lag, variants in shapes.by_lag.items():
            expected = {(share, delay) for share in LOW_SHARES for delay in delays[lag]}
            assert {(one.low_share, one.delay) for one in variants} == expected
            for one in variants:
                assert one.coef.shape == (6,)
                np.testing.assert_allclose(one.covariance, one.covariance.T)
                assert (np.linalg.eigvalsh(one.covariance) > 0).all()
                assert known or not one.coef[3:5].any()


def test_file_names_its_rooms():
    rooms = shipped_start().rooms
    assert len(rooms) == len(set(rooms)) >= 2
    assert set(rooms) <= set(ROOMS)


def test_file_contains_no_readings():
    """Read-outs and shapes: as many numbers for any length of the rooms, of which none is a CO2 level."""
    values = json.loads(shipped_text())
    assert set(values) == {"rooms", "n_hidden", "z_max", "read_outs", "shapes"}
    numbers = np.concatenate([np.ravel(layers) for layers in values["read_outs"].values()])
    assert numbers.size == len(LAGS) * N_LAYERS * (N_HIDDEN // N_LAYERS + 35 + 1) * 2
    assert np.abs(numbers).max() < 50
    assert set(values["shapes"]) == {"with ventilation", "without ventilation"}
    for by_lag in values["shapes"].values():
        variants = [one for of_lag in by_lag.values() for one in of_lag]
        assert len(variants) == len(LOW_SHARES) * (1 + 3 + 5)
        for low_share, delay, coef, covariance in variants:
            assert (0 <= low_share <= 1, 0 <= delay <= 20, len(coef)) == (True, True, 6)
            assert np.shape(covariance) == (6, 6)
            assert np.abs([*coef, *np.ravel(covariance)]).max() < 50


def test_json_round_trip():
    start = shipped_start()
    again = start_from_json(json.loads(json.dumps(start_to_json(start))))
    assert (again.n_hidden, again.z_max, again.rooms) == (start.n_hidden, start.z_max, start.rooms)
    for lag in LAGS:  # six digits are written, and the shipped file has no more
        np.testing.assert_array_equal(again.read_outs[lag], start.read_outs[lag])
        for known in (True, False):
            pairs = zip(again.shapes[known].by_lag[lag], start.shapes[known].by_lag[lag], strict=True)
            for one, other in pairs:
                assert (one.low_share, one.delay) == (other.low_share, other.delay)
                np.testing.assert_array_equal(one.coef, other.coef)
                np.testing.assert_array_equal(one.covariance, other.covariance)
    shape = Shape(0.5, 10.0, np.full(2, 2 / 3), np.full((2, 2), 1 / 7))
    shapes = {False: BalanceShapes({10.0: (shape,)})}
    fine = PooledStart(3, Z_MAX, {0.0: np.full((3, 1, 2), 1 / 3)}, ("a",), shapes)
    values = start_to_json(fine)
    assert values["read_outs"] == {"0": [[[0.333333, 0.333333]]] * 3}
    assert values["shapes"] == {
        "without ventilation": {"10": [[0.5, 10.0, [0.666667] * 2, [[0.142857] * 2] * 2]]}
    }
    assert set(start_from_json(values).shapes) == {False}


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


def test_read_outs_change_only_the_network(fits):
    for pooled, alone in zip(
        fits["read-outs"].room_.refinements, fits["none"].room_.refinements, strict=True
    ):
        assert np.abs(pooled.coef - alone.coef).max() > 1e-3
        np.testing.assert_array_equal(pooled.layer.scale, alone.layer.scale)
        np.testing.assert_array_equal(pooled.trees.value, alone.trees.value)
        np.testing.assert_array_equal(pooled.kernel.coef, alone.kernel.coef)
        for one, other in zip(pooled.balance.variants, alone.balance.variants, strict=True):
            np.testing.assert_array_equal(one.coef, other.coef)
    np.testing.assert_array_equal(fits["read-outs"].room_.profile.people, fits["none"].room_.profile.people)


def test_shapes_add_variants_of_the_mass_balance(fits):
    for pooled, alone in zip(
        fits["pooled"].room_.refinements, fits["read-outs"].room_.refinements, strict=True
    ):
        own = alone.balance.variants
        started, again = pooled.balance.variants[: len(own)], pooled.balance.variants[len(own) :]
        for one, other, third in zip(started, again, own, strict=True):
            assert (
                (one.low_share, one.delay) == (other.low_share, other.delay) == (third.low_share, third.delay)
            )
            assert np.abs(one.coef - third.coef).max() > 1e-3
            np.testing.assert_array_equal(other.coef, third.coef)


@pytest.mark.filterwarnings("ignore:CO2 adds almost nothing")
@pytest.mark.parametrize("known", [True, False])
def test_shapes_are_those_of_rooms_with_the_same_readings(office_hours, known):
    """A room without ventilation readings does not use the shapes of rooms with them, nor vice versa."""
    readings = office_hours if known else office_hours.drop(columns="ventilation")
    whole = shipped_start()
    starts = [replace(whole, shapes={kind: whole.shapes[kind]}) for kind in (known, not known)]
    same, none, both = (
        oc.OccupancyEstimator(start=start, random_state=0).fit(readings).room_.refinements[0].balance
        for start in (starts[0], starts[1], whole)
    )
    assert len(same.variants) == len(both.variants) == 2 * len(none.variants)
    for one, other in zip(same.variants, both.variants, strict=True):
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
    monkeypatch.setattr("occupair.room.members.LAYER_SEED", own_seed)
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
