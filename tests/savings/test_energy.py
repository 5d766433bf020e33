import numpy as np
import pytest

from occupair.errors import InputError
from occupair.savings.energy import EnergyModel, air_energy


def one_hour(flow, temperature, model=None, *, design=100.0):
    flows, temperatures = np.full((60, 1), flow), np.full((60, 1), temperature)
    return air_energy(flows, temperatures, model or EnergyModel(), design_flow=design)


def test_heating_and_cooling_by_hand():
    # 0.05 m3/s * 1.2 kg/m3 * 1006 J/(kg K) = 60.36 W/K
    assert one_hour(50.0, 5.0).heating[0] == pytest.approx(60.36 * 15 / 1000)
    assert one_hour(50.0, 30.0).cooling[0] == pytest.approx(60.36 * 4 / 1000)
    mild = one_hour(50.0, 23.0)
    assert mild.heating[0] == mild.cooling[0] == 0


def test_heat_recovery_saves_its_share_of_the_heating():
    energy = one_hour(50.0, 0.0, EnergyModel(heat_recovery=0.75))
    assert energy.heating[0] == pytest.approx(60.36 * 20 * 0.25 / 1000)
    assert energy.recovered[0] == pytest.approx(60.36 * 20 * 0.75 / 1000)


@pytest.mark.parametrize(
    ("share", "power"),  # ASHRAE 90.1-2010, Table G3.1.3.15, method 1
    [(0.1, 0.03), (0.3, 0.13), (0.5, 0.30), (0.7, 0.54), (0.9, 0.83), (1.0, 1.0)],
)
def test_fan_follows_the_part_load_table(share, power):
    design = EnergyModel().specific_fan_power * 100.0 / 1000  # [kW]
    assert one_hour(100 * share, 20.0).fan[0] == pytest.approx(power * design, abs=0.007 * design)


def test_stopped_fan_needs_no_power():
    assert one_hour(0.0, 20.0).fan[0] == 0


def test_heat_balance_is_closed():
    rng = np.random.default_rng(0)
    flow, temperature = rng.uniform(0, 140, (2000, 3)), rng.uniform(-10, 35, (2000, 1))
    energy = air_energy(flow, temperature, EnergyModel(heat_recovery=0.6), design_flow=143.0)
    assert (np.abs(energy.unexplained) < 1e-9 * (energy.heating + energy.recovered)).all()


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_impossible_heat_recovery_is_refused(share):
    with pytest.raises(InputError, match=f"^heat recovery must be 0 or more and below 1, got {share}$"):
        EnergyModel(heat_recovery=share)
