"""People of the building against those of the simulated office."""

import numpy as np

from occupair.savings.energyplus.building_occupants import building_occupants
from occupair.simulation.office import simulate_history


def test_people_and_co2_are_those_of_the_simulated_office():
    office = simulate_history(days=6, seed=2)  # Monday to Monday
    occupants = building_occupants(8, seed=2)
    np.testing.assert_array_equal(occupants.people.sum(axis=1), office.occupancy()[::5])
    np.testing.assert_allclose(occupants.generation.sum(axis=1), office.generation[::5].sum(axis=1))
    np.testing.assert_allclose(occupants.outdoor_co2, office.outdoor[::5])


def test_later_days_continue_earlier_ones():
    whole, later = building_occupants(9, seed=2), building_occupants(2, first_day=7, seed=2)
    np.testing.assert_array_equal(later.people, whole.people[7 * 288 :])
    np.testing.assert_array_equal(later.generation, whole.generation[7 * 288 :])
    np.testing.assert_allclose(later.outdoor_co2, whole.outdoor_co2[7 * 288 :])
