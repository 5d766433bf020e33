"""The trained network against the reference implementation of Eq. (16)."""

from types import SimpleNamespace

import numpy as np
import pytest
from paper.small_rooms import small_readings, small_room

from occupair.elm.hidden_layer import random_layer
from occupair.paper.features import Layer
from occupair.paper.network import Network


@pytest.mark.parametrize("feedback", [0.2, 0.0, 1.0])
@pytest.mark.parametrize("kind", ["fs-elm", "elm"])
def test_run_matches_equation_16(kind, feedback):
    network, reference = small_room(kind=kind, feedback=feedback, seed=5)
    co2, ventilation = small_readings(40)
    people = np.zeros(40)
    network.run(co2, ventilation, people, start=3)
    np.testing.assert_allclose(people, reference.free_run(co2, ventilation), rtol=0, atol=1e-12)
    assert network.feeds_back == (feedback > 0)


@pytest.mark.parametrize("feedback", [0.2, 0.0])
def test_estimates_are_clamped_at_both_ends(feedback):
    network, reference = small_room(feedback=feedback, seed=5)
    co2, ventilation = small_readings(40)
    people = np.zeros(40)
    network.run(co2, ventilation, people, start=3)
    np.testing.assert_allclose(people, reference.free_run(co2, ventilation), rtol=0, atol=1e-12)
    assert {0.0, 6.0} < set(people[3:].tolist())


@pytest.mark.parametrize("feedback", [0.2, 0.0])
def test_run_from_a_later_reading_uses_the_estimates_before(feedback):
    network, reference = small_room(feedback=feedback, seed=5)
    co2, ventilation = small_readings(40)
    people = np.linspace(0, 5, 40)
    expected = people.copy()
    for k in range(20, 40):
        expected[k] = reference.f(co2, expected, ventilation, k)
    network.run(co2, ventilation, people, start=20)
    np.testing.assert_allclose(people, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "scale", "scales"),
    [
        ("fs-elm", np.array([0.1, 0.2, 0.3, 0.4, 0.5]), [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("elm", 0.7, [0.7, 0.7, 0.7]),
    ],
)
def test_network_of_a_regressor(kind, scale, scales):
    layer = Layer(kind, 2, 1)
    n_features = {"fs-elm": 3 + 2 + 2 + 2 + 3, "elm": 3 + 2 + 3}[kind]
    regressor = SimpleNamespace(scale_=scale, layer_seed_=11, coef_=np.arange(4.0), n_features_in_=n_features)
    network = Network.from_regressor(regressor, layer, smoothing=3.5, most_people=8.0)
    weights, bias = random_layer(11, 4, n_features)
    np.testing.assert_array_equal(network.random.weights, weights.T)
    np.testing.assert_array_equal(network.random.bias, bias)
    assert (network.layer, network.smoothing, network.most_people) == (layer, 3.5, 8.0)
    assert list(network.scale.values()) == scales
    assert network.coef.tolist() == [0, 1, 2, 3]
    assert network.lean is False
    assert Network.from_regressor(regressor, layer, smoothing=3.5, most_people=8.0, lean=True).lean is True


def test_network_is_not_lean_by_default():
    network, _ = small_room()
    without = {name: value for name, value in vars(network).items() if name != "lean"}
    network = Network(**without)
    assert network.lean is False
    assert network.live_weights.co2_scale.size == 1


@pytest.mark.parametrize("lean", [False, True])
def test_live_weights_of_a_network(lean):
    network, _ = small_room(lean=lean, smoothing=4.0)
    weights = network.live_weights
    assert (weights.smoothing, weights.most_people, weights.feedback_scale) == (4.0, 6.0, 0.2)
    assert weights.co2_scale.size == (3 if lean else 1)
    assert weights.feedback.shape == (3, 7)
    assert weights.coef.tolist() == network.coef.tolist()
