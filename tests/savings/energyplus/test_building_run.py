"""One EnergyPlus run against hand calculations: flows, CO2 mass balance, fan power, meters."""

import datetime as dt

import numpy as np
import pytest

pytest.importorskip("pyenergyplus", reason="EnergyPlus is not installed: no wheel for Linux on ARM")

from occupair.savings.energyplus.building_occupants import building_occupants
from occupair.savings.energyplus.building_run import run_building
from occupair.savings.energyplus.reference_building import ZONES, building_model

MONDAY = dt.date(2018, 1, 15)
STEPS = 288  # per day
CORE_VOLUME = 149.66 * 3.05  # [m3]
DRY_AIR = 287.042  # [J/(kg K)] gas constant

RECORD = {
    "temperature": ("Zone Mean Air Temperature", "Core_ZN"),
    "humidity": ("Zone Air Humidity Ratio", "Core_ZN"),
    "infiltration": ("Zone Infiltration Mass Flow Rate", "Core_ZN"),
    "co2_after": ("Zone Air CO2 Concentration", "Core_ZN"),
    "generation": ("Zone Air CO2 Internal Gain Volume Flow Rate", "Core_ZN"),
    "pressure": ("Site Outdoor Air Barometric Pressure", "Environment"),
    "people": ("Zone People Occupant Count", "Core_ZN"),
} | {f"supply {zone.name}": ("Air System Mixed Air Mass Flow Rate", zone.loop) for zone in ZONES}


def requested(step):
    """Return flows [L/s] that change all day, from 7:00 to 22:00."""
    hour = step % STEPS / 12
    on = 7 <= hour < 22
    return on * np.array([60.0, 50.0, 40.0, 30.0, 20.0]) * (1 + 0.5 * np.sin(hour))


@pytest.fixture(scope="module")
def occupants():
    return building_occupants(1, seed=3)


def simulate(occupants, controller=lambda step, co2, before: requested(step), **options):
    return run_building(controller, occupants, first_day=MONDAY, **options)


@pytest.fixture(scope="module")
def run(occupants):
    return simulate(occupants, record=RECORD)


def test_outdoor_air_follows_the_actuator(run):
    wanted = np.array([requested(step) for step in range(STEPS)])
    assert wanted.max() > 60
    np.testing.assert_allclose(run.outdoor_air, wanted, atol=1e-9)


def test_people_and_their_co2_reach_the_zone(run, occupants):
    assert occupants.people[:, 0].max() >= 5
    np.testing.assert_allclose(run.recorded["people"], occupants.people[:, 0])
    np.testing.assert_allclose(run.recorded["generation"] * 1000, occupants.generation[:, 0], atol=1e-12)


def test_zone_co2_agrees_with_the_mass_balance(run, occupants):
    """Integrate m dC/dt = F (Cs - C) + I (Co - C) + G by hand over the day.

    Supply air F mixes outdoor air with return air at the CO2 of the start of the step, as EnergyPlus does.
    """
    values = run.recorded
    density = values["pressure"] / (
        DRY_AIR * (values["temperature"] + 273.15) * (1 + 1.6077687 * values["humidity"])
    )
    co2, by_hand = run.co2[0, 0], []
    for step in range(STEPS):
        outdoors, leak = occupants.outdoor_co2[step], values["infiltration"][step]
        supply, fresh = values["supply Core_ZN"][step], run.outdoor_air[step, 0] * 1.2e-3  # [kg/s]
        into = fresh * outdoors + (supply - fresh) * co2 + leak * outdoors
        source = density[step] * occupants.generation[step, 0] * 1e-3 * 1e6
        level = (into + source) / (supply + leak)
        co2 = level + (co2 - level) * np.exp(-(supply + leak) * 300 / (density[step] * CORE_VOLUME))
        by_hand.append(co2)
    assert np.ptp(by_hand) > 200
    np.testing.assert_allclose(values["co2_after"], by_hand, atol=0.1)


def test_co2_of_a_step_is_that_after_the_step_before(run):
    np.testing.assert_array_equal(run.co2[1:, 0], run.recorded["co2_after"][:-1])


def test_fan_energy_agrees_with_pressure_and_efficiency(run):
    """Power = flow * pressure rise / efficiency, with 622 Pa and 0.53625 of the reference building."""
    standard_pressure = 101325 * (1 - 2.25577e-5 * 201) ** 5.2559  # at 201 m, the station of the weather file
    density = standard_pressure / (DRY_AIR * 293.15)
    supply = sum(run.recorded[f"supply {zone.name}"] for zone in ZONES)  # [kg/s]
    assert run.energy["fans"] == pytest.approx(
        (supply / density * 622 / 0.53625).sum() * 300 / 3.6e6, rel=1e-3
    )


def test_meters_add_up(run):
    energy = run.energy
    assert energy["fans"] + energy["cooling"] == pytest.approx(energy["electricity"], rel=1e-9)
    assert energy["heating"] == pytest.approx(energy["gas"], rel=1e-9)
    assert energy["heating"] > 100  # a day of January in Chicago


def test_repeated_run_is_identical(run, occupants):
    again = simulate(occupants)
    np.testing.assert_array_equal(again.co2, run.co2)
    np.testing.assert_array_equal(again.outdoor_air, run.outdoor_air)
    assert again.energy == run.energy


def test_more_outdoor_air_in_winter_costs_gas_and_lowers_co2(run, occupants):
    twice = simulate(occupants, lambda step, co2, before: 2 * requested(step))
    assert twice.energy["heating"] > 1.05 * run.energy["heating"]
    assert twice.co2[STEPS // 2 :].max() < run.co2[STEPS // 2 :].max() - 50


def test_exception_of_the_controller_is_raised(occupants):
    def fail(step, co2, before):
        raise ZeroDivisionError("controller failed")

    with pytest.raises(ZeroDivisionError, match="controller failed"):
        simulate(occupants, fail)


def test_unknown_variable_is_an_error(occupants):
    with pytest.raises(RuntimeError, match="EnergyPlus has no Zone Mood of Core_ZN"):
        simulate(occupants, record={"mood": ("Zone Mood", "Core_ZN")})


def test_zones_have_the_areas_of_the_model_and_no_economizer():
    model = building_model(first_day=MONDAY, days=1)
    for zone in ZONES:
        (floor,) = [
            surface
            for surface in model["BuildingSurface:Detailed"].values()
            if surface["zone_name"] == zone.name and surface["surface_type"] == "Floor"
        ]
        x, y = (
            np.array([vertex[f"vertex_{axis}_coordinate"] for vertex in floor["vertices"]]) for axis in "xy"
        )
        area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
        assert zone.area == pytest.approx(area, abs=0.01)
        assert model["Controller:OutdoorAir"][zone.controller]["economizer_control_type"] == "NoEconomizer"
