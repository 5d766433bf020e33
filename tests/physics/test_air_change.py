"""Air change rate as a function of the ventilation signal."""

import numpy as np
import pytest

from occupair.physics.air_change import N_PARAMETERS, AirChange


def test_rate_is_leakage_plus_power_of_ventilation():
    air = AirChange(np.log([[0.1, 3.0, 2.0, 1.0]]))
    np.testing.assert_allclose(air.at(np.array([0.0, 0.5, 1.0])), [[0.1, 0.85, 3.1]])


def test_sets_of_parameters_are_independent():
    sets = np.log([[0.1, 3.0, 2.0, 1.0], [0.4, 1.0, 0.5, 1.3]])
    ventilation = np.array([0.0, 0.3, 0.9])
    both = AirChange(sets)
    assert sets.shape[1] == N_PARAMETERS
    for k in range(2):
        alone = AirChange(sets[k : k + 1])
        np.testing.assert_array_equal(both.at(ventilation)[k], alone.at(ventilation)[0])
        np.testing.assert_array_equal(both.scale[k], alone.scale[0])


def test_scale_does_not_change_the_rate():
    scaled, unscaled = (AirChange(np.log([[0.2, 2.0, 0.6, scale]])) for scale in (1.5, 1.0))
    assert scaled.scale == pytest.approx(1.5)
    assert scaled.at(np.array([0.7])) == pytest.approx(unscaled.at(np.array([0.7])))
