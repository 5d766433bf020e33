import datetime as dt

import pytest

from occupair.control import AirControl, AirDemand
from occupair.errors import InputError
from occupair.savings.policies import (
    CountedFlow,
    FixedFlow,
    PICo2,
    ProportionalCo2,
    ScheduledFlow,
    Situation,
)

CONTROL = AirControl(AirDemand("ASHRAE 62.1", area=100), design_people=20)  # 30 to 80 L/s


def situation(co2=600.0, minutes=5.0, hour=9, **known):
    return Situation(dt.datetime(2024, 1, 8, hour), minutes, co2, **known)


def test_fixed_flow_ignores_everything():
    assert FixedFlow(80.0).outdoor_air(situation(co2=2000.0, people=30.0)) == 80.0


def test_schedule_changes_on_the_hour():
    policy = ScheduledFlow(tuple(float(hour) for hour in range(24)))
    assert [policy.outdoor_air(situation(hour=hour)) for hour in (0, 8, 23)] == [0.0, 8.0, 23.0]


@pytest.mark.parametrize(("co2", "flow"), [(300, 30), (400, 30), (700, 55), (1000, 80), (1500, 80)])
def test_proportional_control_is_linear_in_its_band(co2, flow):
    policy = ProportionalCo2(30.0, 80.0, begin=400.0, end=1000.0)
    assert policy.outdoor_air(situation(co2)) == pytest.approx(flow)


def test_empty_proportional_band_is_refused():
    with pytest.raises(InputError, match=r"^begin must be below end, got 900 and 900 ppm$"):
        ProportionalCo2(30.0, 80.0, begin=900.0, end=900.0)


def test_pi_control_removes_a_constant_error():
    # a room whose CO2 falls linearly with the flow: 1400 ppm - 10 ppm per L/s, 900 ppm at 50 L/s
    policy, flow = PICo2(30.0, 80.0, setpoint=900.0, gain=0.02, reset_time=20.0), 30.0
    for _ in range(500):
        flow = policy.outdoor_air(situation(1400.0 - 10 * flow))
    assert flow == pytest.approx(50.0, abs=0.01)


def test_pi_control_does_not_wind_up():
    policy = PICo2(30.0, 80.0, setpoint=900.0, gain=0.1, reset_time=30.0)
    for _ in range(1000):
        assert policy.outdoor_air(situation(1500.0)) == 80.0
    # proportional part of -200 ppm * 0.1 = -20 L/s: below the maximum at once
    assert policy.outdoor_air(situation(700.0)) < 70.0


def test_pi_control_starts_anew():
    policy = PICo2(30.0, 80.0, setpoint=900.0, gain=0.1, reset_time=30.0)
    policy.outdoor_air(situation(1200.0))
    policy.start()
    assert policy.outdoor_air(situation(900.0)) == 30.0


@pytest.mark.parametrize(
    ("count", "flow"),  # 30 L/s + 2.5 L/s per person
    [("true", 30 + 2.5 * 12), ("estimate", 30 + 2.5 * 10), ("upper", 30 + 2.5 * 14)],
)
def test_counted_flow_follows_its_count(count, flow):
    policy = CountedFlow(CONTROL, count)
    assert policy.outdoor_air(situation(people=10.0, high=14.0, true_people=12.0)) == pytest.approx(flow)


@pytest.mark.parametrize("count", ["estimate", "upper"])
def test_unknown_count_gets_the_design_flow(count):
    assert CountedFlow(CONTROL, count).outdoor_air(situation(true_people=3.0)) == 80.0


def test_estimate_without_interval_gets_the_design_flow_of_the_upper_bound():
    assert CountedFlow(CONTROL, "upper").outdoor_air(situation(people=3.0)) == 80.0


def test_counted_flow_rises_at_once_and_falls_slowly():
    policy = CountedFlow(CONTROL, "true")
    assert policy.outdoor_air(situation(minutes=0.0, true_people=0.0)) == 30.0
    assert policy.outdoor_air(situation(true_people=20.0)) == 80.0
    # default ramp: from the maximum to 0 in 15 min, 26.7 L/s in 5 min
    assert policy.outdoor_air(situation(true_people=0.0)) == pytest.approx(80 - 80 / 3)
    policy.start()
    assert policy.outdoor_air(situation(minutes=0.0, true_people=0.0)) == 30.0
