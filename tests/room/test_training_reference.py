"""Training of the default estimator against its reference implementation."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from dense_fit import FitReference

import occupair as oc
from occupair.readings.head_counts import check_labelled
from occupair.room.balance_shapes import BalanceShapes, Shape
from occupair.room.fit_and_estimate import Z_MAX, episodes_by_date
from occupair.room.kernel_regression import KernelEvaluator
from occupair.room.members import TrainingSettings
from occupair.room.pooled_start import PooledStart
from occupair.room.training import fit_room

N_HIDDEN = 7  # layers of three, two and two neurons
SEED = 11
LINK_RIDGES = (3.0, 50.0)


@pytest.fixture(scope="module")
def office():
    """Six days from 8:00 to 17:00, three of them on weekends, a reading every ten minutes."""
    readings = oc.simulate_office(days=6, seed=2).iloc[::10]
    readings.index -= pd.Timedelta(days=2)
    return readings[(readings.index.hour >= 8) & (readings.index.hour < 17)]


def labels(office, kind):
    """All head counts; or some of them, with weights."""
    if kind == "complete":
        return office.assign(occupancy_weight=1.0)
    rng = np.random.default_rng(3)
    weight = np.where(rng.random(len(office)) < 0.3, 0.0, rng.uniform(0.2, 1, len(office)))
    weight[office.index.hour == 9] = 0.0
    return office.assign(occupancy_weight=weight)


def pooled(seed=0):
    """Read-outs of other rooms, here random ones, for layers of three, two and two neurons."""
    rng = np.random.default_rng(seed)
    return {lag: [rng.normal(0, 0.1, (n + 36, 2)) for n in (3, 2, 2)] for lag in (0.0, 10.0, 20.0)}


def shapes_of_other_rooms(seed=1):
    """Random coefficients and covariances of some variants by lag [min]; the nearest is to be used."""
    rng = np.random.default_rng(seed)

    def shape(low_share, delay):
        factor = rng.normal(0, 0.3, (6, 6))
        return (
            low_share,
            delay,
            rng.normal([0.2, 0.4, 0.6, 0.2, 0, 0], 0.1),
            factor @ factor.T + 0.1 * np.eye(6),
        )

    return {lag: [shape(*one) for one in product((1.0, 0.2), (0.0, 12.0))] for lag in (0.0, 10.0, 20.0)}


def in_readings(by_lag):
    return None if by_lag is None else {int(lag / 10): one for lag, one in by_lag.items()}


@pytest.fixture(
    scope="module", params=["complete", "sparse", "complete, with a start", "sparse, with a start"]
)
def both(request, office):
    """Trained room, its held-out estimates, and the reference implementation."""
    kind, _, with_start = request.param.partition(", ")
    readings = labels(office, kind)
    read_outs, shapes = (pooled(), shapes_of_other_rooms()) if with_start else (None, None)
    start = prior = None
    if with_start:
        start = PooledStart(N_HIDDEN, Z_MAX, read_outs, ("a",))
        prior = BalanceShapes({lag: tuple(Shape(*one) for one in shapes[lag]) for lag in shapes})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("occupair.room.linked_elm.LINK_RIDGES", LINK_RIDGES)
        patch.setattr("occupair.room.members.LAYER_SEED", SEED)
        settings = TrainingSettings(10.0, 0.1, Z_MAX, N_HIDDEN, (0.5, 20.0), (SEED,), start, verbose=False)
        dates = episodes_by_date(check_labelled(readings))
        model, held_out = fit_room(dates, settings, prior)
    reference = FitReference(
        readings,
        interval=10.0,
        smoothing=0.1,
        z_max=(1.5, 1.0, 1.0, 0.5, 1.0),
        n_hidden=N_HIDDEN,
        seed=SEED,
        pairs=[(0.5, 3.0), (0.5, 50.0), (20.0, 3.0), (20.0, 50.0)],
        starts=in_readings(read_outs),
        shapes=in_readings(shapes),
    )
    return model, held_out, reference, {lag: reference.refinement(lag) for lag in reference.lags}, dates


def test_mass_balances(both):
    model, _, _, expected, _ = both
    for one in model.refinements:
        theirs = expected[one.lag].balance
        np.testing.assert_allclose(
            [one.balance.base.lowest, one.balance.base.highest, one.balance.base.median],
            [theirs.base.lowest, theirs.base.highest, theirs.base.median],
        )
        for variant, other in zip(one.balance.variants, theirs.variants, strict=True):
            assert (variant.low_share, variant.delay, variant.offset) == (
                other.low_share,
                other.delay,
                other.offset,
            )
            np.testing.assert_allclose(variant.coef, other.coef, rtol=1e-6, atol=1e-8)
            assert variant.weight == pytest.approx(other.weight, abs=1e-6)


def test_networks(both):
    model, _, _, expected, _ = both
    for one in model.refinements:
        theirs = expected[one.lag]
        np.testing.assert_allclose(one.layer.alphas, theirs.alphas, rtol=1e-8)
        np.testing.assert_allclose(one.layer.scale, theirs.scale, rtol=1e-8)
        assert not one.layer.mean.any()
        np.testing.assert_allclose(one.coef, theirs.coef, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(one.presence, theirs.presence, rtol=1e-5, atol=1e-5)


def test_trees(both):
    model, _, _, expected, _ = both
    for one in model.refinements:
        theirs = expected[one.lag]
        found = one.trees.people(theirs.tree_columns.T)
        np.testing.assert_allclose(found, theirs.boosting.predict(theirs.tree_columns), rtol=0, atol=1e-4)
        assert np.ptp(found) > 3


def test_kernel_regressions(both):
    model, _, _, expected, _ = both
    for one in model.refinements:
        theirs = expected[one.lag]
        np.testing.assert_allclose(one.kernel.mean, theirs.kernel.mean, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(one.kernel.scale, theirs.kernel.scale, rtol=1e-6)
        np.testing.assert_allclose(one.kernel.coef, theirs.kernel.coef, rtol=0, atol=1e-5)
        found = KernelEvaluator([[one.kernel]]).people(theirs.features.T[:, np.newaxis])[0]
        np.testing.assert_allclose(found, theirs.kernel.predict(theirs.features), rtol=0, atol=1e-5)
        assert np.ptp(found) > 3


def test_profile(both):
    model, _, _, expected, _ = both
    np.testing.assert_allclose(model.profile.people, expected[0].profile, rtol=0, atol=1.1e-4)  # 4 decimals
    assert np.abs(np.diff(model.profile.people, axis=0)).max() > 1


def test_limit_of_estimates(both):
    model, _, reference, _, _ = both
    assert model.max_people == reference.all_days.max_people
    assert model.people_limit == pytest.approx(reference.all_days.limit)
    assert (model.people_limit > model.max_people) == (reference.shapes is not None)


def test_weights_and_thresholds(both):
    model, _, _, expected, _ = both
    for one in model.refinements:
        np.testing.assert_allclose(one.weights, expected[one.lag].weights, atol=1e-4)
        assert one.threshold == expected[one.lag].threshold


def test_held_out_estimates(both):
    _, held_out, reference, expected, _ = both
    theirs = np.split(expected[0].held_out, np.cumsum([len(day) for day in reference.days])[:-1])
    for d, (clock, hours) in enumerate(zip(held_out.clock, held_out.hours, strict=True)):
        times = reference.days[d].index
        samples = np.isin(times.hour * 60 + times.minute, clock.minute)  # those with a head count at some lag
        wanted = np.where(hours.at(clock, 0.0), theirs[d][samples], 0.0)
        np.testing.assert_allclose(held_out.estimated[d], wanted, rtol=0, atol=1e-3)
    target, weight = reference.labels(range(6), 0)
    assert held_out.error < 0.5 * target[weight > 0].std()
