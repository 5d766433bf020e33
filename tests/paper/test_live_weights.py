"""Weights by lag: the parameters of z_k = K'c + V'v + W'o + b, Eq. (16)."""

import math

import numpy as np
import pytest
from paper.small_rooms import hidden_input, small_readings, small_room

from dense import smooth
from occupair.elm.hidden_layer import RandomLayer
from occupair.paper.features import Layer
from occupair.paper.live_weights import live_weights, settled_smoother


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("kind", ["fs-elm", "elm"])
def test_weights_by_lag_match_equation_9(kind, lean):
    network, reference = small_room(kind=kind, lean=lean)
    w, people = network.live_weights, np.arange(4.0)
    co2, ventilation = small_readings(4)
    z = w.bias + w.ventilation_scale * ventilation @ w.ventilation
    z += w.feedback_scale * people[:3] @ w.feedback
    for scale, part in zip(w.co2_scale, w.co2, strict=True):
        z += scale * co2 @ part
    np.testing.assert_allclose(z, hidden_input(reference, co2, people, ventilation, 3), rtol=0, atol=1e-12)
    assert w.co2_scale.tolist() == (list(network.scale.values())[:-2] if lean else [1.0])
    assert w.single.dtype == np.float32
    np.testing.assert_array_equal(w.single, w.feedback.astype(np.float32))


@pytest.mark.parametrize("lean", [False, True])
def test_direction_of_old_co2_matches_the_dense_smoother(lean):
    """A later reading moves smoothed CO2 along a line, and z_k along G per ppm that c_k moves."""
    network, reference = small_room(lean=lean)
    co2, ventilation = small_readings(60)
    before, after = smooth(co2, 2.0), smooth(np.append(co2[:-1], 9.0), 2.0)
    moved = hidden_input(reference, after, np.zeros(60), ventilation, 50)
    moved -= hidden_input(reference, before, np.zeros(60), ventilation, 50)
    expected = moved / (after[50] - before[50])
    np.testing.assert_allclose(network.live_weights.along, expected, rtol=0, atol=1e-6)


def test_sizes_by_hand():
    """Two neurons, a lag of one reading; K, V and W are the weights as drawn."""
    drawn = RandomLayer(np.array([[1.0, 1], [2, -1], [3, 0], [0, 0], [5, 6]]), np.array([7.0, 8]))
    w = live_weights(
        drawn,
        Layer("elm", 1, 1),
        scale={"c": 0.5, "o": 0.25, "v": 2.0},
        coef=np.array([3.0, -4.0]),
        smoothing=2,
        most_people=9,
        lean=False,
    )
    assert w.co2.tolist() == [[[0.5, 0.5], [1.0, -0.5]]]
    assert w.ventilation.tolist() == [[0, 0], [5, 6]]
    assert w.feedback.tolist() == [[3, 0]]
    assert (w.ventilation_scale, w.feedback_scale, w.bias.tolist()) == (2.0, 0.25, [7, 8])
    np.testing.assert_allclose(w.along, [1.25, -0.25], rtol=1e-15)  # b = 1/2 for smoothing 2
    assert w.co2_size == pytest.approx(((1.25**10 + 0.25**10) / 2) ** 0.1)
    assert w.coef_size == pytest.approx(5 * math.sqrt(2))
    assert w.feedback_size == pytest.approx(3 / math.sqrt(2))
    assert (w.smoothing, w.most_people) == (2.0, 9.0)
    assert type(w.smoothing) is type(w.most_people) is float  # the kernel is compiled for these types


def test_size_of_feedback_is_that_of_the_worst_direction():
    network, _ = small_room(horizon=4)
    w = network.live_weights.feedback
    worst = math.sqrt(np.linalg.eigvalsh(w @ w.T)[-1] / 7)
    assert network.live_weights.feedback_size == pytest.approx(worst)


def test_networks_of_one_layer_share_lean_weights():
    network, _ = small_room()
    settings = {"scale": network.scale, "coef": network.coef, "smoothing": 2.0, "most_people": 6.0}
    one, two = (live_weights(network.random, network.layer, lean=True, **settings) for _ in range(2))
    other = live_weights(network.random, Layer("fs-elm", 3, 2), lean=True, **settings)
    for name in ("co2", "ventilation", "feedback", "single", "bias"):
        assert getattr(one, name) is getattr(two, name) is getattr(other, name)
    longer, _ = small_room(horizon=4)
    assert longer.live_weights.feedback.shape == (4, 7)


@pytest.mark.parametrize("smoothing", [0.5, 2.0, 50.0])
def test_settled_smoother(smoothing):
    """The pivots have the limit q = 1 + b q, b = s / (s + q), which is q = (1 + sqrt(1 + 4 s)) / 2."""
    readings, carried = settled_smoother(smoothing)
    limit = (1 + math.sqrt(1 + 4 * smoothing)) / 2
    assert carried == pytest.approx(smoothing / (smoothing + limit), rel=1e-14)
    pivots = [1.0]
    for _ in range(2 * readings):
        pivots.append(1 + smoothing / (smoothing + pivots[-1]) * pivots[-1])
    assert len(set(pivots[readings:])) == 1
    assert pivots[readings - 1] != pivots[readings]
    network, _ = small_room(smoothing=smoothing)
    assert network.live_weights.settled - 3 in (readings, readings + 1)  # lags reach back 3 readings


def test_no_smoothing_is_settled_at_once():
    assert settled_smoother(0.0) == (0, 0.0)


def test_very_strong_smoothing_never_settles_in_a_day():
    readings, carried = settled_smoother(1e6, most=2)
    assert readings > 1e6
    second = 1 + 1e6 / (1e6 + 1)
    assert carried == 1e6 / (1e6 + second)
