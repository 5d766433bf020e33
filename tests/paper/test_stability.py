"""Error growth against recursions with known roots and against a disturbed run."""

import numpy as np
import pytest

from dense import PaperReference
from occupair.elm.hidden_layer import RandomLayer
from occupair.paper.features import Layer
from occupair.paper.network import Network
from occupair.paper.stability import error_growth


def linear_network(gains, most=1e9):
    """Return a nearly linear network: tiny inputs, where the slope of the sigmoid is 1/4."""
    gains = np.asarray(gains, dtype=float)
    tiny, zeros = 1e-6, np.zeros(gains.size + 1)
    return Network(
        layer=Layer("elm", horizon=gains.size, stride=1),
        smoothing=0.0,
        most_people=most,
        random=RandomLayer(np.concatenate([zeros, gains, zeros])[:, None], np.zeros(1)),
        scale={"c": 1.0, "o": tiny, "v": 1.0},
        coef=np.array([4 / tiny]),
    )


@pytest.mark.parametrize(
    ("gains", "growth"),
    [
        ([0.9], 0.9),
        ([0.0, 1.02], 1.02),
        ([0.5, 0.5], 1.0),  # x^2 = x/2 + 1/2 has the roots 1 and -1/2
        ([-0.81, 0.0], 0.9),  # x^2 = -0.81 has the roots +-0.9i
    ],
)
def test_error_growth_of_known_recursions(gains, growth):
    window = np.zeros(len(gains) + 1)
    people = np.full(len(gains), 3.0)
    assert error_growth(linear_network(gains), window, window, people) == pytest.approx(growth, abs=1e-6)


def test_error_growth_matches_a_disturbed_run(estimator, last_day):
    """With constant inputs, the difference between a run and a disturbed run grows by the factor."""
    network, reference = estimator.network(), PaperReference(estimator)
    co2, ventilation = np.full(300, 700.0), np.ones(300)
    settled = np.full(300, 5.0)
    for k in range(6, 300):
        settled[k] = reference.f(co2, settled, ventilation, k)
    growth = error_growth(network, co2[:7], ventilation[:7], settled[-6:])
    undisturbed, disturbed = np.resize(settled[-6:], 40), np.resize(settled[-6:], 40)
    disturbed[:6] += 1e-5
    for k in range(6, 40):
        undisturbed[k] = reference.f(co2, undisturbed, ventilation, k)
        disturbed[k] = reference.f(co2, disturbed, ventilation, k)
    error = np.abs(disturbed - undisturbed)
    assert 0 < settled[-1] < estimator.most_people_
    assert (error[39] / error[19]) ** (1 / 20) == pytest.approx(growth, rel=0.02)
