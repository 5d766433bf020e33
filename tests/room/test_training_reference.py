"""Training of the default estimator against its reference implementation."""

import numpy as np
import pytest
from dense_fit import FitReference

import occupair as oc
from occupair.readings.head_counts import check_labelled
from occupair.room.fit_and_estimate import Z_MAX, episodes_by_date
from occupair.room.pooled_start import PooledStart
from occupair.room.training import TrainingSettings, fit_room
from occupair.room.training_days import prepare_training_days

N_HIDDEN = 7  # layers of three, two and two neurons
SEED = 11
LINK_RIDGES = (3.0, 50.0)


@pytest.fixture(scope="module")
def office():
    """Six days from 8:00 to 17:00, a reading every ten minutes."""
    readings = oc.simulate_office(days=6, seed=2).iloc[::10]
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


@pytest.fixture(scope="module", params=["complete", "sparse", "complete, with a start"])
def both(request, office):
    """Trained room, its held-out estimates, and the reference implementation."""
    kind, _, with_start = request.param.partition(", ")
    readings, read_outs = labels(office, kind), pooled() if with_start else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("occupair.room.linked_elm.LINK_RIDGES", LINK_RIDGES)
        patch.setattr("occupair.room.training.LAYER_SEED", SEED)
        start = PooledStart(N_HIDDEN, Z_MAX, read_outs, ("a",)) if with_start else None
        settings = TrainingSettings(10.0, 0.1, Z_MAX, N_HIDDEN, (0.5, 20.0), (SEED,), start, verbose=False)
        dates = episodes_by_date(check_labelled(readings))
        model, held_out = fit_room(dates, settings)
    reference = FitReference(
        readings,
        interval=10.0,
        smoothing=0.1,
        z_max=(1.5, 1.0, 1.0, 0.5, 1.0),
        n_hidden=N_HIDDEN,
        seed=SEED,
        pairs=[(0.5, 3.0), (0.5, 50.0), (20.0, 3.0), (20.0, 50.0)],
        starts=None if read_outs is None else {int(lag / 10): one for lag, one in read_outs.items()},
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


def test_weights_and_thresholds(both):
    model, _, _, expected, _ = both
    assert model.max_people == both[2].all_days.max_people
    for one in model.refinements:
        np.testing.assert_allclose(one.weights, expected[one.lag].weights, atol=1e-4)
        assert one.threshold == expected[one.lag].threshold


def test_held_out_estimates(both):
    _, held_out, reference, expected, dates = both
    training = prepare_training_days(dates, interval=10.0, smoothing=0.1)
    unobserved = None if training.sparse is None else training.sparse.unobserved
    theirs = expected[0].held_out
    if unobserved is None:
        hours = reference.held_out_hours(training.clocks)
        is_open = [one.at(clock, 0.0) for one, clock in zip(hours, training.clocks, strict=True)]
        theirs = np.where(np.concatenate(is_open), theirs, 0.0)
        np.testing.assert_allclose(np.concatenate(held_out.estimated), theirs, rtol=0, atol=1e-3)
    target, weight = reference.labels(range(6), 0)
    assert held_out.error < 0.5 * target[weight > 0].std()
