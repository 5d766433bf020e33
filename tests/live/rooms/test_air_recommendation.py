"""When the recommended outdoor air of a room takes a step, and what it follows."""

import datetime as dt
from dataclasses import replace

import pytest

from occupair.control import AirControl, AirDemand
from occupair.live.messages import EstimateRecord, Quality, RoomState, unknown_state
from occupair.live.reasons import Cause, Reason
from occupair.live.rooms.air_recommendation import AirRecommendation

NOON = dt.datetime(2024, 1, 8, 12, tzinfo=dt.UTC)
CONTROL = AirControl(
    AirDemand("EN 16798-1", area=50), 20, ramp_down=10, deadband=0
)  # 35 and 7 L/s per person
STALE = unknown_state("lab", Quality.STALE, Cause(Reason.NO_READING))


def after(minutes):
    return NOON + dt.timedelta(minutes=minutes)


def known(minutes, people, high=None):
    """Return a state at some minutes after noon; the interval ends at ``high``, or at the estimate."""
    limits = (people, people if high is None else high)
    return RoomState(
        "lab", after(minutes), people, people, *limits, people > 0, *[600.0] * 3, (), Quality.OK, ""
    )


def record(minutes, people):
    quality = Quality.SUSPECT if people is None else Quality.OK
    return EstimateRecord("lab", after(minutes), people, people, people, (), 600.0, 600.0, None, quality)


def flows(air, *states, now=None):
    """Return the flow after each of some states, whose upper end is that of their interval."""
    return [air.follow(state, state.high, now or state.time).outdoor_air for state in states]


def test_upper_end_is_planned_for_up_to_the_design_occupancy():
    air = AirRecommendation(CONTROL)
    state = air.follow(known(0, 8), 11.0, NOON)
    assert (state.outdoor_air, state.damper, state.outdoor_air_people) == (112, 0.64, 11)
    assert air.follow(known(1, 8), 90.0, NOON).outdoor_air == 175


def test_confidence_is_that_of_the_settings():
    assert AirRecommendation(CONTROL).confidence == 0.9
    assert AirRecommendation(replace(CONTROL, confidence=0.8)).confidence == 0.6


def test_flow_is_ramped_by_the_time_between_estimates():
    assert flows(AirRecommendation(CONTROL), known(0, 20), known(3, 10), known(5, 10)) == [175, 145, 125]


def test_same_state_again_is_no_step():
    air = AirRecommendation(CONTROL)
    states = [known(0, 20), known(1, 0)]
    assert flows(air, *states, states[-1], states[-1], now=after(9)) == [175, 165, 165, 165]


@pytest.mark.parametrize("high", [None, float("nan"), float("inf")])
def test_count_without_an_interval_is_unknown(high):
    air = AirRecommendation(CONTROL)
    air.follow(known(0, 3), 3.0, NOON)
    state = air.follow(known(1, 3), high, after(1))
    assert (state.outdoor_air, state.outdoor_air_people) == (175, None)


def test_unknown_count_is_followed_every_minute_by_the_clock():
    air = AirRecommendation(replace(CONTROL, ramp_up=20))
    air.follow(known(0, 0), 0.0, NOON)
    times = [1, 1.5, 2, 2.9, 3]
    assert [air.follow(STALE, None, after(t)).outdoor_air for t in times] == [55, 55, 75, 75, 95]


def test_estimate_older_than_the_clock_is_followed():
    air = AirRecommendation(CONTROL)
    air.follow(STALE, None, after(1_000_000))  # such as a replay of recorded days
    assert flows(air, known(0, 0), known(1, 0), now=after(1_000_000)) == [175, 165]


def test_new_settings_apply_to_the_same_state():
    air = AirRecommendation(CONTROL)
    assert flows(air, known(0, 20)) == [175]
    air.use_control(CONTROL)
    air.use_control(replace(CONTROL, maximum=100))
    assert flows(air, known(0, 20)) == [100]


def test_restored_from_estimates_as_if_never_stopped():
    counts = [20, 20, 12, None, 3, 3, 0, 0, 0]
    air, restored = AirRecommendation(CONTROL), AirRecommendation(CONTROL)
    for minute, people in enumerate(counts):
        state = replace(STALE, time=after(minute)) if people is None else known(minute, people)
        air.follow(state, state.high, after(minute))
    restored.follow(STALE, None, after(60))  # before the stored estimates are read
    restored.restore([record(minute, people) for minute, people in enumerate(counts)], stale_after=15)
    assert restored.newest == air.newest
    assert flows(restored, known(9, 0)) == flows(air, known(9, 0))


def test_gap_of_stored_estimates_was_an_unknown_count():
    air = AirRecommendation(CONTROL)
    air.restore([record(0, 0), record(30, 0)], stale_after=15)
    assert air.newest.flow == 175
