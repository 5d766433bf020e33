"""Recommended outdoor air in the pipeline equals the pure steps on the published estimates."""

import datetime as dt
from dataclasses import replace
from itertools import pairwise

import pytest
from live.pipeline_helpers import Clock, readings_of, with_pipeline
from live.waiting import until

from occupair.control import next_outdoor_air, people_to_plan_for
from occupair.live import demo
from occupair.live import pipeline as pipeline_module
from occupair.live.config import OutdoorAirTable, RoomConfig, ServiceConfig
from occupair.live.messages import Label, Quality
from occupair.live.store import Store
from occupair.model_file import dump_model

AIR = OutdoorAirTable(standard="EN 16798-1", area=60, design_people=30, ramp_down=2.0, deadband=0.0)


def with_air(setup, **changes):
    """Return settings in which the lab has outdoor air."""
    lab = setup.rooms["lab"].model_copy(update={"outdoor_air": AIR.model_copy(update=changes)})
    return with_rooms(setup, lab=lab)


def with_rooms(setup, clock="readings", **rooms):
    """Return settings with other rooms, without what the settings have cached."""
    return ServiceConfig(store=setup.store, clock=clock, rooms={**setup.rooms, **rooms})


async def follow(pipeline, readings):
    """Submit readings one by one, and return the state after each."""
    states = []
    for reading in readings:
        await pipeline.submit([reading])
        states.append(pipeline.state("lab"))
    return states


async def follow_batch(pipeline, readings):
    """Submit readings at once, and return the state afterwards."""
    await pipeline.submit(readings)
    return [pipeline.state("lab")]


def expected_flows(states, control, highs):
    """Return the flows of the pure steps, from the design flow that a room without readings has."""
    air, flows = next_outdoor_air(None, None, 0, control), []
    for before, state, high in zip([None, *states], states, highs, strict=False):
        minutes = 0 if before is None else (state.time - before.time).total_seconds() / 60
        people = None
        if state.people_exact is not None:
            people = people_to_plan_for(state.people_exact, high, design_people=control.design_people)
        air = next_outdoor_air(air, people, minutes, control)
        flows.append(air.flow)
    return flows


@pytest.fixture(scope="module")
def day(office):
    """Readings from 05:00 to 21:00."""
    return office.iloc[3 * 288 + 60 : 3 * 288 + 252]


@pytest.fixture(scope="module")
def whole(day, estimator, tmp_path_factory):
    """The states of an uninterrupted day."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "lab.occupair").write_bytes(dump_model(estimator))
    lab = RoomConfig(id="lab", model=folder / "lab.occupair", outdoor_air=AIR)
    setup = ServiceConfig(store=f"sqlite:///{folder}/rooms.db", clock="readings", rooms={"lab": lab})
    store = Store(setup.store)
    store.migrate()
    states = with_pipeline(setup, store, lambda pipeline: follow(pipeline, readings_of(day)))
    store.close()
    return states


def test_day_equals_the_pure_steps_on_published_estimates(setup, whole):
    states, control = whole, with_air(setup).rooms["lab"].air_control
    flows = [state.outdoor_air for state in states]
    assert flows == pytest.approx(expected_flows(states, control, [state.high for state in states]), abs=1e-9)
    assert 42 <= min(flows) < 60  # 0.7 L/s per m2, and a little for people who may be there
    assert max(flows[60:]) > 100
    assert all(later >= earlier - 10 - 1e-9 for earlier, later in pairwise(flows))  # 2 L/s per min
    for state in states:
        assert state.damper == pytest.approx(state.outdoor_air / control.highest)
        if state.people_exact is not None:
            assert state.outdoor_air >= control.demand.flow(min(state.high, 30)) - 1e-9


def test_other_confidence_plans_for_the_models_own_upper_end(setup, store, day, estimator):
    setup, day = with_air(setup, confidence=0.7), day.iloc[:90]
    states = with_pipeline(setup, store, lambda pipeline: follow(pipeline, readings_of(day)))
    highs = estimator.estimate(day, interval=0.4)["high"].tolist()  # 2 x 0.7 - 1
    control = setup.rooms["lab"].air_control
    flows = [state.outdoor_air for state in states]
    assert flows == pytest.approx(expected_flows(states, control, highs), abs=1e-6)


def test_label_that_widens_the_interval_raises_the_planned_count(setup, store, day):
    setup = with_air(setup, confidence=0.9)
    readings = readings_of(day)

    async def work(pipeline):
        await pipeline.submit(readings[:120])
        time = pipeline.state("lab").time
        store.add_label(Label("lab", time, 99, dt.datetime.now(dt.UTC), "typed"))
        await pipeline.track_labels("lab")
        await pipeline.submit(readings[120:121])
        return pipeline.state("lab"), pipeline.correction("lab").factors[-1][1]

    state, factor = with_pipeline(setup, store, work)
    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()
    (unlabelled,) = with_pipeline(setup, other, lambda pipeline: follow_batch(pipeline, readings[:121]))
    other.close()
    distance = unlabelled.outdoor_air_people - unlabelled.people_exact
    assert factor > 1
    assert state.outdoor_air_people == pytest.approx(
        min(state.people_exact + factor * distance + (factor - 1) * 0.5, 30), abs=1e-6
    )


def test_restart_during_a_ramp_does_not_change_the_flow(setup, store, day, whole):
    setup, readings = with_air(setup), readings_of(day)
    flows = [state.outdoor_air for state in whole]
    falling = next(k for k in range(60, 180) if flows[k] == pytest.approx(flows[k - 1] - 10))
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(readings[:falling]))
    some = slice(falling, falling + 12)
    rest = with_pipeline(setup, store, lambda pipeline: follow(pipeline, readings[some]))
    assert [state.outdoor_air for state in rest] == pytest.approx(flows[some], abs=1e-9)


def test_late_readings_step_on_from_the_present_flow(setup, store, day):
    readings = readings_of(day.iloc[:80])
    late = readings[40:50]

    async def work(pipeline):
        await pipeline.submit(readings[:40] + readings[50:79])
        (before,) = await follow_batch(pipeline, readings[79:])
        (after,) = await follow_batch(pipeline, late)
        return before, after

    before, after = with_pipeline(with_air(setup), store, work)
    assert after.time == before.time
    control = with_air(setup).rooms["lab"].air_control
    required = control.demand.flow(min(after.high, 30))
    assert after.outdoor_air == pytest.approx(max(before.outdoor_air, required))  # no time has passed


def test_rooms_without_a_model_or_readings_get_the_design_flow(setup, store, monkeypatch, day):
    monkeypatch.setattr(pipeline_module, "STATE_CHECK_EVERY", 0.01)
    hall = setup.rooms["hall"].model_copy(update={"outdoor_air": AIR})
    setup = with_rooms(with_air(setup), clock="wall", hall=hall)
    clock = Clock(day.index[100].to_pydatetime() + dt.timedelta(seconds=10))

    async def work(pipeline):
        assert pipeline.state("hall").quality is Quality.UNTRAINED
        assert pipeline.state("hall").outdoor_air == pytest.approx(252)  # 30 x 7 + 60 x 0.7 L/s
        await pipeline.submit([replace(one, received=clock.now) for one in readings_of(day.iloc[:101])])
        state = pipeline.state("lab")
        assert state.outdoor_air_people is not None
        clock.now += dt.timedelta(minutes=40)  # no reading: the sensor is offline
        await until(lambda: pipeline.state("lab").quality is Quality.STALE)
        return pipeline.state("lab")

    state = with_pipeline(setup, store, work, clock=clock)
    assert (state.outdoor_air, state.damper, state.outdoor_air_people) == (pytest.approx(252), 1, None)


def test_reload_changes_adds_and_removes_outdoor_air(setup, store, day):
    readings = readings_of(day.iloc[:100])

    async def work(pipeline):
        (before,) = await follow_batch(pipeline, readings)
        await pipeline.reload(with_air(setup, maximum=50.0))
        narrower = pipeline.state("lab")
        await pipeline.reload(setup)
        without = pipeline.state("lab")
        await pipeline.reload(with_air(setup))
        return before, narrower, without, pipeline.state("lab")

    before, narrower, without, again = with_pipeline(with_air(setup), store, work)
    assert before.outdoor_air > 50
    assert (narrower.outdoor_air, narrower.damper) == (50, 1)
    assert (without.outdoor_air, without.damper, without.outdoor_air_people) == (None, None, None)
    assert again.outdoor_air == pytest.approx(again.outdoor_air_people * 7 + 42)


def test_demo_has_rooms_with_outdoor_air(tmp_path):
    config = demo.demo_config(tmp_path, "127.0.0.1", 8099, 1883, dict.fromkeys(demo.ROOMS, tmp_path))
    flows = {id_: room.air_control.design_flow for id_, room in config.rooms.items() if room.air_control}
    # 24 seats and 186 m2 in category II; 28 seats and 186 m2 of office space
    assert flows == pytest.approx({"meeting-1": 24 * 7 + 186 * 0.7, "office": 28 * 2.5 + 186 * 0.3})
