"""The scale of the errors: its features, and the recovery of known scales."""

import numpy as np
import pytest

from occupair.room.error_scale import (
    MAX_FACTOR,
    N_FEATURES,
    ErrorScale,
    RoomScales,
    fit_error_scale,
    scale_features,
)
from occupair.room.inputs import Clock, Inputs


def inputs_of(co2, minute=720.0, weekend=0.0, interval=5.0, lowest=400.0):
    """One input with the given CO2 window, newest first."""
    window = np.array([co2], dtype=float)
    clock = Clock(np.array([minute]), np.array([weekend]))
    return Inputs(window, np.zeros_like(window), np.array([lowest]), clock, interval)


def test_features_worked_by_hand():
    # Every 5 min, newest first: +15 ppm over the last 10 min, -30 over the 10 before, 0 over the 20 before.
    window = [515, 510, 500, 515, 530, 530, 530, 530, 530, 530, 530, 530, 530, 530, 530, 530, 530]
    features = scale_features(inputs_of(window, minute=380.0, weekend=1.0), before=20.0)[:, 0]
    expected = [np.log(4), np.log(4), np.log(7), 0.0, np.log1p(115 / 20), 1.0, 0.0, 0.0, -1.0, 1.0]
    np.testing.assert_allclose(features, expected, atol=1e-12)  # 6:00 is a quarter of a day


def test_falling_co2_has_the_opposite_sign():
    window = np.full(17, 500.0)
    window[2:] = 515.0
    features = scale_features(inputs_of(window), before=0.0)[:, 0]
    assert features[0] == pytest.approx(-np.log(4))
    assert features[1] == pytest.approx(np.log(4))


def test_co2_below_the_lowest_is_no_rise():
    assert scale_features(inputs_of(np.full(17, 399.0)), before=0.0)[4, 0] == 0.0


@pytest.mark.parametrize("interval", [0.5, 1.0, 15.0, 60.0])
def test_features_exist_at_any_interval(interval):
    width = max(round(80 / interval), 1) + 1
    features = scale_features(inputs_of(np.linspace(600, 500, width), interval=interval), before=0.0)
    assert features.shape == (N_FEATURES, 1)
    assert np.isfinite(features).all()


def simulated(n, seed):
    """Errors whose mean size doubles with every unit of the first feature, above as well as below."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(N_FEATURES, n))
    estimated = rng.uniform(5.0, 15.0, n)
    error = rng.laplace(size=n) * 2.0 ** features[0]
    return features, estimated, estimated + error


def test_known_scale_is_recovered():
    features, estimated, true = simulated(200_000, seed=1)
    scale, _ = fit_error_scale(features, estimated, true, np.ones(true.size), 20.0)
    assert scale.max_people == 20.0
    np.testing.assert_allclose(scale.coef[:, 0] / scale.spread[0], np.log(2), atol=0.05)
    np.testing.assert_allclose(scale.coef[:, 1:], 0.0, atol=0.03)


def test_few_errors_give_almost_equal_scales():
    features, estimated, true = simulated(50, seed=2)
    scale, _ = fit_error_scale(features, estimated, true, np.ones(true.size), 20.0)
    np.testing.assert_allclose(scale.at(features), 20.0, rtol=0.15)


def test_repeated_errors_equal_errors_of_higher_weight():
    features, estimated, true = simulated(300, seed=3)
    weight = np.repeat([1.0, 3.0], 150)
    weighted, _ = fit_error_scale(features, estimated, true, weight, 20.0)
    times = weight.astype(int)
    repeated, _ = fit_error_scale(
        np.repeat(features, times, axis=1), np.repeat(estimated, times), np.repeat(true, times),
        np.ones(times.sum()), 20.0,
    )  # fmt: skip
    np.testing.assert_allclose(weighted.at(features), repeated.at(features))


def test_no_errors_at_all():
    features, estimated, _ = simulated(100, seed=4)
    scale, _ = fit_error_scale(features, estimated, estimated, np.ones(100), 20.0)
    np.testing.assert_allclose(scale.at(features), 20.0, rtol=1e-3)


def test_scale_is_bounded_for_unseen_inputs():
    coef = np.ones((2, N_FEATURES))
    scale = ErrorScale(10.0, np.zeros(N_FEATURES), np.ones(N_FEATURES), coef)
    far = np.full((N_FEATURES, 1), 1e6)
    np.testing.assert_allclose(scale.at(far), 10.0 * MAX_FACTOR)
    np.testing.assert_allclose(scale.at(-far), 10.0 / MAX_FACTOR)


def test_batch_of_rooms_equals_each_room():
    rng = np.random.default_rng(5)
    one, other = (
        ErrorScale(
            people, rng.normal(size=N_FEATURES), rng.uniform(0.5, 2, N_FEATURES),
            rng.normal(0, 0.1, size=(2, N_FEATURES)),
        )
        for people in (8.0, 30.0)
    )  # fmt: skip
    inputs = inputs_of(rng.uniform(450, 900, 17))
    both = Inputs(
        np.repeat(inputs.co2, 3, axis=0), np.zeros((3, 17)), np.full(3, 400.0),
        Clock(np.full(3, 720.0), np.zeros(3)), 5.0,
    )  # fmt: skip
    found = RoomScales([one, None, other]).at(both, np.array([2, 0, 1]))
    features = scale_features(inputs, 0.0)
    np.testing.assert_allclose(found[:, 0], other.at(features)[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found[:, 1], one.at(features)[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found[:, 2], 1.0)
