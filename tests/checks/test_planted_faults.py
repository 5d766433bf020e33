"""Each fault planted in simulated offices at several intervals: it is found, and nothing else is wrong."""

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.checks import find_faults

INTERVALS = [1, 5, 15]  # min


def hour(readings, day, hours):
    return readings.index.normalize().unique()[day] + pd.Timedelta(hours=hours)


def stuck_for_4_hours(office):
    start, end = hour(office, 6, 10), hour(office, 6, 13.99)
    office.loc[start:end, "co2"] = office.loc[start, "co2"]


def steps_of_50_ppm(office):
    office["co2"] = 50 * (office["co2"] / 50).round()


def a_reset_by_80_ppm(office):
    office.loc[hour(office, 8, 13) :, "co2"] -= 80


def a_drift_of_5_ppm_a_day(office):
    office["co2"] += 5 * (office.index - office.index[0]) / pd.Timedelta(days=1)


def failed_reads(office):
    office.iloc[np.random.default_rng(0).choice(len(office), 10, replace=False), 0] = 0.0


def leaps_to_2000_ppm(office):
    for day in range(15):
        for start in (7, 11, 16):
            office.loc[hour(office, day, start) : hour(office, day, start + 0.49), "co2"] = 2000.0


def people_all_night(office):
    for day in (3, 4, 8):
        office.loc[hour(office, day, 0) : hour(office, day, 5), "occupancy"] = 2


def a_counter_one_up_a_day(office):
    office["occupancy"] += office.index.normalize().unique().get_indexer(office.index.normalize())


def negative_counts(office):
    office.loc[hour(office, 4, 19.5) : hour(office, 4, 23.99), "occupancy"] = -1


def still_ventilation(office):
    office["ventilation"] = 0.5


def two_labelled_days(office):
    office.loc[hour(office, 2, 0) :, "occupancy"] = np.nan


FAULTS = {
    stuck_for_4_hours: ("stuck", "wrong"),
    steps_of_50_ppm: ("coarse", "doubtful"),
    a_reset_by_80_ppm: ("reset", "doubtful"),
    a_drift_of_5_ppm_a_day: ("drift", "doubtful"),
    failed_reads: ("failed_reads", "wrong"),
    leaps_to_2000_ppm: ("jumps", "wrong"),
    people_all_night: ("people_at_night", "doubtful"),
    a_counter_one_up_a_day: ("counter_drift", "wrong"),
    negative_counts: ("negative_counts", "wrong"),
    still_ventilation: ("still_ventilation", "doubtful"),
    two_labelled_days: ("few_days", "wrong"),
}


@pytest.fixture(scope="module")
def offices():
    return [oc.simulate_office(days=15, seed=seed).astype(float) for seed in range(5)]


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_planted_fault_is_found(offices, plant, interval):
    kind, severity = FAULTS[plant]
    for office in offices[1:4:2]:
        spoiled = office.iloc[::interval].copy()
        plant(spoiled)
        found = {fault.kind: fault.severity for fault in find_faults(spoiled)}
        assert found.get(kind) == severity
        assert {other for other, how in found.items() if how == "wrong"} <= {kind}


@pytest.mark.parametrize("interval", INTERVALS)
def test_clean_office_has_only_notes(offices, interval):
    for office in offices:
        assert {fault.severity for fault in find_faults(office.iloc[::interval])} <= {"note"}


def test_constant_values_of_a_coarse_sensor_are_not_stuck(offices):
    for office in offices:
        spoiled = office.iloc[::5].copy()
        steps_of_50_ppm(spoiled)
        assert "stuck" not in {fault.kind for fault in find_faults(spoiled)}


def test_full_classroom_at_15_min_is_not_a_jump():
    """30 people in 150 m3 raise CO2 by 60 ppm/min: 800 ppm in 15 min is plausible."""
    times = pd.date_range("2024-01-08", periods=960, freq="15min")
    taught = (times.hour >= 9) & (times.hour < 15)
    class_room = pd.DataFrame({"co2": np.where(taught, 1230.0, 430.0)}, index=times)
    assert "jumps" not in {fault.kind for fault in find_faults(class_room)}


def test_stuck_for_under_1_percent_of_occupied_time_is_doubtful():
    office = oc.simulate_office(days=40, seed=3).astype(float).iloc[::5]
    stuck_for_4_hours(office)
    (fault,) = (fault for fault in find_faults(office) if fault.kind == "stuck")
    assert fault.severity == "doubtful"
