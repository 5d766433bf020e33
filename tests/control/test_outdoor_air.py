"""The count to plan for, and the recommended flow step by step, by hand and as properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from occupair.control import (
    AirControl,
    AirDemand,
    interval_confidence,
    next_outdoor_air,
    people_to_plan_for,
)
from occupair.errors import InputError

DEMAND = AirDemand("EN 16798-1", area=50)  # 35 L/s and 7 L/s per person
COUNTS = st.lists(st.one_of(st.none(), st.floats(0, 40)), min_size=1, max_size=30)
CONTROLS = st.builds(
    AirControl,
    st.just(DEMAND),
    design_people=st.floats(1, 30),
    minimum=st.floats(0, 60),
    maximum=st.one_of(st.none(), st.floats(60, 400)),
    ramp_up=st.one_of(st.none(), st.floats(1, 100)),
    ramp_down=st.one_of(st.none(), st.floats(1, 100)),
    deadband=st.one_of(st.none(), st.floats(0, 60)),
)


def run(control, counts, minutes=1.0):
    """Return the recommendations for a series of counts."""
    airs, air = [], None
    for people in counts:
        air = next_outdoor_air(air, people, minutes, control)
        airs.append(air)
    return airs


def test_one_sided_confidence_is_the_upper_end_of_a_wider_interval():
    for confidence in (0.6, 0.9, 0.95, 0.99):
        _, high = norm.interval(interval_confidence(confidence))
        assert norm.cdf(high) == pytest.approx(confidence)


@pytest.mark.parametrize("confidence", [0.4, 1.0, math.nan, -1])
def test_invalid_confidence_is_refused(confidence):
    with pytest.raises(InputError, match=r"confidence is the probability .* from 0.5 to below 1, got"):
        interval_confidence(confidence)


@pytest.mark.parametrize(
    ("people", "high", "planned"),
    [(8, 11.5, 11.5), (8, 90, 20), (25, 30, 25), (25, 25, 25), (0, 0, 0), (20, 22, 20)],
)
def test_planned_count_is_the_upper_end_up_to_the_design_occupancy(people, high, planned):
    assert people_to_plan_for(people, high, design_people=20) == planned


def test_full_room_gets_the_design_flow_and_the_open_damper():
    air = next_outdoor_air(None, 20, 0, AirControl(DEMAND, 20))
    assert (air.flow, air.damper, air.required) == (175, 1, 175)


def test_unknown_count_gets_the_design_flow():
    control = AirControl(DEMAND, 20)
    empty, unknown = run(control, [0, None])
    assert (empty.flow, unknown.flow, unknown.people) == (35, 175, None)


def test_unknown_count_is_ramped_like_any_other():
    flows = [air.flow for air in run(AirControl(DEMAND, 20, ramp_up=50), [0, None, None, None, None])]
    assert flows == [35, 85, 135, 175, 175]


def test_decrease_is_ramped_and_increase_is_not():
    airs = run(AirControl(DEMAND, 20, ramp_down=20, deadband=0), [20, 10, 10, 18, 10])
    assert [air.flow for air in airs] == [175, 155, 135, 161, 141]


def test_default_ramp_closes_in_15_minutes():
    airs = run(AirControl(AirDemand("EN 16798-1", area=0.001), 20, deadband=0), [20, *[0] * 16], minutes=1)
    assert airs[14].flow > 1
    assert airs[15].flow == pytest.approx(0.0007)


def test_small_decrease_is_held_and_a_decrease_in_small_steps_is_not_lost():
    airs = run(AirControl(DEMAND, 20, ramp_down=1000, deadband=20), [20, 19, 18, 17, 16, 17])
    assert [air.flow for air in airs] == [175, 175, 175, 154, 154, 154]


def test_minimum_and_maximum_limit_the_flow_but_not_the_requirement():
    control = AirControl(DEMAND, 20, minimum=60, maximum=120, ramp_down=1000)
    empty, full = run(control, [0, 20])
    assert (empty.flow, empty.required, empty.damper) == (60, 35, 0.5)
    assert (full.flow, full.required, full.damper) == (120, 175, 1)
    assert control.design_flow == 120


def test_minimum_above_the_design_flow_is_the_default_maximum():
    assert AirControl(DEMAND, 20, minimum=300).highest == 300


def test_narrower_limits_apply_at_once():
    wide = next_outdoor_air(None, 20, 0, AirControl(DEMAND, 20))
    assert next_outdoor_air(wide, 20, 0, AirControl(DEMAND, 20, maximum=100)).flow == 100


def test_damper_follows_its_characteristic():
    control = AirControl(DEMAND, 20, damper_curve=((20, 0.1), (100, 0.2), (200, 1)))
    assert [control.damper_position(flow) for flow in (0, 60, 150, 300)] == pytest.approx([0.1, 0.15, 0.6, 1])


@given(CONTROLS, COUNTS, st.floats(0, 30))
def test_flow_stays_within_limits_and_ramps(control, counts, minutes):
    airs = run(control, counts, minutes)
    for before, air in zip([None, *airs], airs, strict=False):
        assert control.minimum <= air.flow <= control.highest
        assert 0 <= air.damper <= 1
        if before is not None and control.ramp_up is not None:
            assert air.flow <= before.flow + control.ramp_up * minutes + 1e-9
        if before is not None and control.ramp_down is not None:
            assert air.flow >= before.flow - control.ramp_down * minutes - 1e-9


@given(CONTROLS, COUNTS, st.floats(0, 30))
def test_target_is_never_below_the_demand_nor_a_deadband_above_it(control, counts, minutes):
    deadband = 0.05 * control.highest if control.deadband is None else control.deadband
    for air in run(control, counts, minutes):
        demand = control.within_limits(air.required)
        assert demand <= air.target <= demand + deadband
        if control.ramp_up is None:
            assert air.flow >= demand


@given(CONTROLS, COUNTS)
def test_more_people_never_get_less_air(control, counts):
    fewer, more = run(control, counts), run(control, [None if n is None else n + 1 for n in counts])
    no_deadband = control.deadband == 0
    for one, other in zip(fewer, more, strict=True):
        assert other.required >= one.required
        assert not no_deadband or other.flow >= one.flow - 1e-9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"design_people": 0}, "design_people must be above 0 people, got 0"),
        ({"confidence": 0.2}, "confidence is the probability .* got 0.2"),
        ({"minimum": -1}, "minimum must be 0 L/s or more, got -1"),
        ({"maximum": 0}, "maximum must be above 0 L/s, got 0"),
        ({"minimum": 50, "maximum": 40}, "maximum 40 L/s is below minimum 50 L/s"),
        ({"ramp_up": 0}, "ramp_up must be above 0 L/s per min, got 0"),
        ({"ramp_down": math.inf}, "ramp_down must be above 0 L/s per min, got inf"),
        ({"deadband": math.nan}, "deadband must be 0 L/s or more, got nan"),
        ({"damper_curve": ((0, 0), (0, 1))}, "damper_curve must have two or more pairs"),
        ({"damper_curve": ((0, 0), (100, 1.2))}, r"both increasing, got \[\(0, 0\), \(100, 1.2\)\]"),
    ],
)
def test_invalid_settings_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        AirControl(**{"demand": DEMAND, "design_people": 20, **given})
