import numpy as np
import pytest

from occupair.savings.building import OfficeVentilation
from occupair.savings.closed_loop import DayOutcome, Period
from occupair.savings.energy import EnergyModel
from occupair.savings.outcome import LoopTotals
from occupair.simulation.closed_loop import DayRecord

OFFICE = OfficeVentilation("ASHRAE 62.1")  # 143.3 L/s; 0.3 * 186 + 2.5 * 10 = 80.8 L/s for 10 people
HALF = 101  # damper at 50 %: 71.65 L/s, 88.7 % of 80.8 L/s


def totals_of_a_monday(*, position, co2=900.0, people=10, estimate=np.nan, high=np.nan):
    flows, present = np.zeros((1440, 1), dtype=int), np.zeros((1440, 1, 5))
    flows[450:1320], present[450:1320, 0, 1] = position, people
    present[1320:1380, 0, 1] = people  # an hour without ventilation
    estimates = np.full((288, 1, 2), np.nan)
    estimates[90:264] = estimate, high
    air = np.full((1440, 1, 5), 1500.0)
    air[:, :, 1] = co2  # nobody sits in the other zones
    record = DayRecord(np.zeros((1440, 1)), flows, air, present, np.zeros(1), np.ones(1))
    totals = LoopTotals(OFFICE, EnergyModel(), [0], Period(0, 1, 5))
    totals.add(DayOutcome(0, record, estimates))
    return totals.results()[0]


def test_air_and_person_hours_by_hand():
    found = totals_of_a_monday(position=HALF)
    assert found.outdoor_air == pytest.approx(0.5 * 143.3 * 14.5 * 3.6)  # 14.5 h of operation
    assert (found.person_hours, found.off_hours) == (pytest.approx(145), pytest.approx(10))


def test_less_than_the_required_flow_counts_everybody():
    found = totals_of_a_monday(position=HALF)
    assert found.below_flow == found.well_below_flow == pytest.approx(145)
    assert found.missing_air == pytest.approx((80.8 - 71.65) * 14.5 * 3.6)


def test_enough_air_is_not_below_the_flow():
    found = totals_of_a_monday(position=1 + OFFICE.position(80.8))
    assert found.below_flow == found.missing_air == 0


def test_slightly_less_than_the_required_flow_is_not_well_below():
    found = totals_of_a_monday(position=1 + OFFICE.position(80.8) - 1)
    assert found.below_flow == pytest.approx(145)
    assert found.well_below_flow == 0


def test_co2_counts_where_people_sit():
    assert totals_of_a_monday(position=HALF).above_limit == 0
    assert totals_of_a_monday(position=HALF, co2=1001.0).above_limit == pytest.approx(145)


def test_errors_of_the_count_by_hand():
    found = totals_of_a_monday(position=HALF, estimate=8.0, high=11.0)
    assert (found.rmse, found.bias, found.coverage) == (2.0, -2.0, 1.0)
    assert totals_of_a_monday(position=HALF, estimate=12.0, high=9.5).coverage == 0.0
    assert np.isnan(totals_of_a_monday(position=HALF).rmse)


def test_coverage_without_an_upper_end_is_unknown():
    assert np.isnan(totals_of_a_monday(position=HALF, estimate=8.0).coverage)


def test_co2_balance_is_relative_to_its_own_day():
    totals = LoopTotals(OFFICE, EnergyModel(), [0], Period(0, 2, 5))
    empty = np.zeros((1440, 1), dtype=int), np.full((1440, 1, 5), 400.0), np.zeros((1440, 1, 5))
    for day, (unexplained, generated) in enumerate([(3.0, 1000.0), (-1.0, 100.0)]):  # [L]
        record = DayRecord(np.zeros((1440, 1)), *empty, np.array([unexplained]), np.array([generated]))
        totals.add(DayOutcome(day, record, np.full((288, 1, 2), np.nan)))
    assert totals.results()[0].co2_unexplained == pytest.approx(0.01)
