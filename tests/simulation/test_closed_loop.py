import numpy as np
import pytest
from scipy.integrate import solve_ivp

from occupair.simulation import simulate_history
from occupair.simulation.closed_loop import OFF, POSITIONS, OfficeRuns
from occupair.simulation.multizone_air import AirSteps, balance_matrix, outdoor_flows
from occupair.simulation.paper_room import office_flows, paper_room

FRESH = paper_room().on.fresh  # [m3/h]


def run_days(runs, n_days, choose):
    """Run some days with the flows that ``choose(minute of all)`` returns; return the records."""
    records = []
    for day in range(n_days):
        runs.start_day()
        for minute in range(1440):
            runs.read()
            runs.advance(choose(1440 * day + minute))
        records.append(runs.end_day())
    return records


def test_flow_on_and_off_equals_the_simulation_with_fixed_times():
    history = simulate_history(days=2, seed=3)
    runs = OfficeRuns([3], design_flow=FRESH, first_day=0, n_days=2)
    records = run_days(runs, 2, lambda k: np.array([1 + POSITIONS if history.ventilation[k] else OFF]))
    readings = np.concatenate([day.readings[:, 0] for day in records])
    np.testing.assert_array_equal(readings, history.co2)
    np.testing.assert_allclose(runs.co2[0], history.air.co2[-1], rtol=1e-12)


def test_variable_flow_conserves_co2():
    rng = np.random.default_rng(0)
    runs = OfficeRuns([0, 0, 1], design_flow=FRESH, first_day=0, n_days=1)
    (day,) = run_days(runs, 1, lambda _: rng.integers(0, POSITIONS + 2, 3))
    assert (np.abs(day.unexplained) < 1e-9 * day.generated).all()


def test_step_at_any_position_solves_the_balance():
    room, rng = paper_room(), np.random.default_rng(1)
    for share in (0.0, 0.37, 1.0):
        flows = office_flows(share * FRESH, design=FRESH)
        start, generation = rng.uniform(400, 1200, 5), rng.uniform(0, 0.05, 5)
        matrix = balance_matrix(room, flows)
        source = 3.6e6 * generation / np.array(room.volumes)  # [ppm/h]
        source += 410.0 * outdoor_flows(room, flows) / np.array(room.volumes)
        solved = solve_ivp(
            lambda _, c, a=matrix, b=source: a @ c + b, (0, 1 / 60), start, rtol=1e-10, atol=1e-8
        )
        step = AirSteps(room, [flows]).advance(
            start[np.newaxis], np.zeros(1, dtype=int), generation[np.newaxis], np.full(1, 410.0)
        )
        np.testing.assert_allclose(step.co2[0], solved.y[:, -1], rtol=1e-8)


def test_steady_state_at_half_flow_by_hand():
    # 0.1 L/s in the room; 515.88 / 2 + 0.2 * 502.2 = 358.38 m3/h: 360 L/h / 358.38 m3/h = 1004.5 ppm
    room = paper_room()
    steps = AirSteps(room, [office_flows(FRESH / 2, design=FRESH)])
    co2 = np.full((1, 5), 400.0)
    for _ in range(4000):
        co2 = steps.advance(co2, np.zeros(1, dtype=int), np.full((1, 5), 0.02), np.full(1, 400.0)).co2
    assert co2.mean() - 400 == pytest.approx(360_000 / 358.38, rel=1e-6)


def test_ventilation_changes_the_air_and_nothing_else():
    runs = OfficeRuns([4, 4], design_flow=FRESH, first_day=0, n_days=1)
    (day,) = run_days(runs, 1, lambda _: np.array([OFF, 1 + POSITIONS]))
    np.testing.assert_array_equal(day.people_in_zone[:, 0], day.people_in_zone[:, 1])
    assert day.generated[0] == day.generated[1]
    assert day.co2[720, 0].mean() > day.co2[720, 1].mean() + 100


def test_vacations_reduce_the_people():
    usual, summer = (
        OfficeRuns([0], design_flow=FRESH, first_day=7, n_days=1, vacations=vacations)
        for vacations in (False, True)
    )
    (a,), (b,) = (run_days(one, 1, lambda _: np.array([OFF])) for one in (usual, summer))
    assert b.people_in_zone.sum() < a.people_in_zone.sum()  # a Monday in August
