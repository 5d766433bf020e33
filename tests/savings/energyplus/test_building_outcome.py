"""Totals of a zone over a few time steps, worked out by hand."""

import numpy as np
import pytest

from occupair.savings.energyplus.building_outcome import AirTotals, BuildingOutcome, air_totals
from occupair.savings.energyplus.zone_ventilation import ZoneVentilation

ZONE = ZoneVentilation("ASHRAE 62.1", area=150.0, seats=10)  # 45 L/s, and 2.5 L/s per person


def totals_of(people, flow, **changes):
    n = len(people)
    values = {
        "on": np.ones(n, dtype=bool),
        "people": np.array(people, dtype=float),
        "flow": np.array(flow, dtype=float),
        "co2": np.full(n, 500.0),
        "estimates": np.full(n, np.nan),
        "upper_ends": np.full(n, np.nan),
    }
    return air_totals(ZONE, **values | {name: np.array(value) for name, value in changes.items()})


def test_person_hours_and_outdoor_air():
    totals = totals_of([0, 4, 4, 4], [0.0, 55.0, 52.0, 27.5])
    assert totals.person_hours == pytest.approx(3 * 4 / 12)
    assert totals.below_flow == pytest.approx(2 * 4 / 12)
    assert totals.well_below_flow == pytest.approx(4 / 12)
    assert totals.missing_air == pytest.approx((3.0 + 27.5) * 300 / 1000)
    assert totals.outdoor_air == pytest.approx(134.5 * 300 / 1000)
    assert (totals.off_hours, totals.above_limit) == (0, 0)
    assert (totals.rmse, totals.coverage) == (None, None)


def test_more_people_than_seats_require_the_design_flow():
    assert totals_of([12], [70.0]).below_flow == 0


def test_person_hours_above_the_co2_limit():
    assert totals_of([3, 2, 1], [70.0] * 3, co2=[1001.0, 1000.0, 1500.0]).above_limit == pytest.approx(4 / 12)


def test_people_at_night_are_not_in_ventilation_hours():
    totals = totals_of([2, 2], [0.0, 0.0], on=[True, False], co2=[1500.0, 1500.0])
    assert totals.person_hours == totals.off_hours == pytest.approx(2 / 12)
    assert totals.above_limit == totals.below_flow == pytest.approx(2 / 12)


def test_errors_of_estimates():
    totals = totals_of([2, 4, 5], [70.0] * 3, estimates=[3.0, 1.0, np.nan], upper_ends=[4.0, 3.5, np.nan])
    assert totals.rmse == pytest.approx(np.sqrt((1 + 9) / 2))
    assert totals.error == pytest.approx(-2.0)
    assert totals.coverage == 0.5


def test_building_is_the_sum_of_its_zones():
    zones = (AirTotals(*range(12)), AirTotals(*range(100, 112)))
    building = BuildingOutcome(1.0, 2.0, 3.0, 6.0, zones).building
    assert building == AirTotals(*range(100, 124, 2))
