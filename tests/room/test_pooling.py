"""Pooling of rooms against ridge regression with explicit rows."""

import numpy as np
import pytest

import occupair as oc
from dense import linked_outputs
from occupair.room import pooling
from occupair.room.balance_shapes import relative_coefs
from occupair.room.fit_and_estimate import Z_MAX, episodes_by_date
from occupair.room.fitted_balances import fit_balances
from occupair.room.lags import LAGS
from occupair.room.linked_elm import N_LAYERS
from occupair.room.mass_balance import BaseLevel, DayTerms
from occupair.room.pooled_start import LAYER_SEED, start_from_json, start_to_json
from occupair.room.pooling import pool, sum_room
from occupair.room.training_days import prepare_training_days

N_HIDDEN = 9


@pytest.fixture(scope="module")
def rooms():
    """Offices of two days and of a day and a half, a reading every ten minutes."""
    lengths = {1: 288, 2: 216}
    return {
        f"room {seed}": oc.simulate_office(days=2, seed=seed).iloc[::10].iloc[:n]
        for seed, n in lengths.items()
    }


@pytest.fixture(scope="module")
def sums(rooms):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pooling, "N_HIDDEN", N_HIDDEN)
        return {name: sum_room(readings) for name, readings in rooms.items()}


@pytest.fixture
def small_pool(monkeypatch):
    monkeypatch.setattr(pooling, "N_HIDDEN", N_HIDDEN)
    return pool


def test_two_copies_of_a_room_equal_the_room(sums, small_pool):
    one = small_pool({"a": sums["room 1"]})
    two = small_pool({"a": sums["room 1"], "b": sums["room 1"]})
    assert (one.rooms, two.rooms) == (("a",), ("a", "b"))
    for lag in LAGS:
        np.testing.assert_allclose(two.read_outs[lag], one.read_outs[lag], rtol=1e-9, atol=1e-12)


def test_order_of_rooms_does_not_matter(sums, small_pool):
    names = list(sums)
    forward, backward = (small_pool({name: sums[name] for name in order}) for order in (names, names[::-1]))
    for lag in LAGS:
        np.testing.assert_allclose(forward.read_outs[lag], backward.read_outs[lag], rtol=1e-7, atol=1e-9)


def test_shapes(sums, small_pool):
    start = small_pool(sums)
    assert (start.n_hidden, start.z_max) == (N_HIDDEN, Z_MAX)
    assert tuple(start.read_outs) == LAGS
    for read_outs in start.read_outs.values():
        assert read_outs.shape == (N_LAYERS, N_HIDDEN // N_LAYERS + 35 + 1, 2)


@pytest.mark.parametrize("lag", LAGS)
def test_read_outs_are_ridge_regression_over_rooms_of_equal_weight(rooms, sums, small_pool, lag):
    rows, targets = [], []
    for name, readings in rooms.items():
        training = prepare_training_days(episodes_by_date(readings), interval=10.0, smoothing=0.1)
        fitted, steps = fit_balances(training), int(lag / 10)
        y, people = fitted.features(fitted.on_training_days, steps), training.target(steps)
        layer = sums[name].by_lag[lag].layer
        assert layer.seed == LAYER_SEED
        root = np.sqrt(len(people))
        rows.append(np.array([linked_outputs(one, layer) for one in y]) / root)
        targets.append(np.column_stack([people / people.std(), people > 0]) / root)
    h, o = np.vstack(rows) / np.sqrt(2), np.vstack(targets) / np.sqrt(2)
    for k, read_outs in enumerate(small_pool(sums).read_outs[lag]):
        columns = [*range(3 * k, 3 * k + 3), *range(N_HIDDEN, h.shape[1])]
        ridge = np.diag(np.sqrt([0.01] * 3 + [0.001] * 35 + [1e-3]))
        left = np.vstack([h[:, columns], ridge])
        expected = np.linalg.lstsq(left, np.vstack([o, np.zeros((39, 2))]), rcond=None)[0]
        np.testing.assert_allclose(read_outs, expected, atol=1e-6)


def relative(readings):
    """Relative coefficients of the mass balances of a room by lag [min]."""
    training = prepare_training_days(episodes_by_date(readings), interval=10.0, smoothing=0.1)
    fitted, days = fit_balances(training), DayTerms(training.days, BaseLevel.fit(training.lows))
    return {
        10.0 * steps: relative_coefs(balance, days, training.target(steps))
        for steps, balance in fitted.balances.items()
    }


def test_shapes_are_medians_over_rooms_with_and_without_ventilation(rooms, sums, small_pool):
    """A room with ventilation readings counts among those without as well, as if it had none."""
    blind = oc.simulate_office(days=2, seed=3).iloc[::10].drop(columns="ventilation")
    three = sums | {"blind": sum_room(blind)}
    assert [set(one.balances) for one in three.values()] == [{True, False}, {True, False}, {False}]
    shapes = small_pool(three).shapes
    without = [one.drop(columns="ventilation") for one in rooms.values()]
    for known, readings in ((True, list(rooms.values())), (False, [*without, blind])):
        coefs = [relative(one) for one in readings]
        for lag in LAGS:
            for one in shapes[known].by_lag[lag]:
                expected = np.median([room[lag][one.low_share, one.delay] for room in coefs], axis=0)
                np.testing.assert_allclose(one.coef, expected, rtol=1e-9, atol=1e-12)
    assert set(small_pool({"blind": three["blind"]}).shapes) == {False}


def test_room_starts_from_pooled_rooms(sums, small_pool):
    start = start_from_json(start_to_json(small_pool(sums)))
    readings = oc.simulate_office(days=3, seed=5).iloc[::10]
    model = oc.OccupancyEstimator(n_hidden=N_HIDDEN, start=start, random_state=0).fit(readings)
    assert {one.layer.seed for one in model.room_.refinements} == {LAYER_SEED}
    alone = oc.OccupancyEstimator(n_hidden=N_HIDDEN, start=None, random_state=0).fit(readings)
    assert LAYER_SEED not in {one.layer.seed for one in alone.room_.refinements}
