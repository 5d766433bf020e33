import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from occupair.errors import InputError
from occupair.simulation.multizone_air import AirFlows, Room, balance_matrix, co2_volume, simulate_air
from occupair.simulation.paper_room import SENSOR_ZONE, paper_room

STILL = AirFlows(fresh=0, recirculated=0, exchange=0)


def one_zone(*, volume=100.0, fresh=180.0, leakage=0.2):
    return Room((volume,), (1.0,), leakage, on=AirFlows(fresh, 0, 0), off=STILL)


def run(room, generation, *, outdoor=400.0, on=1.0, start=400.0):
    n, zones = generation.shape
    return simulate_air(
        room,
        generation=generation,
        outdoor=np.full(n, outdoor),
        ventilation=np.full(n, on),
        start=np.full(zones, start),
    )


def test_one_zone_decays_exponentially():
    # Q = 180 + 0.2 * 100 = 200 m3/h; G = 0.01 L/s = 0.036 m3/h; rise G / Q = 180 ppm; rate Q / V = 2 1/h
    co2 = run(one_zone(), np.full((90, 1), 0.01)).co2[:, 0]
    hours = np.arange(91) / 60
    np.testing.assert_allclose(co2, 400 + 180 * (1 - np.exp(-2 * hours)), rtol=1e-12)


def test_one_zone_steady_state_is_outdoor_plus_generation_over_flow():
    co2 = run(one_zone(), np.full((24 * 60, 1), 0.01)).co2[-1, 0]
    assert co2 == pytest.approx(580.0, rel=1e-12)


def test_without_ventilation_only_leakage_remains():
    # leakage 0.2 1/h * 100 m3 = 20 m3/h: from 1000 ppm the excess of 600 falls as exp(-0.2 h)
    co2 = run(one_zone(), np.zeros((120, 1)), on=0.0, start=1000.0).co2[-1, 0]
    assert co2 == pytest.approx(400 + 600 * np.exp(-0.4), rel=1e-12)


def test_sealed_room_accumulates_at_a_constant_rate():
    # 0.005 L/s for an hour is 18 L in 100 m3: 180 ppm
    room = one_zone(leakage=0.0)
    assert run(room, np.full((60, 1), 0.005), on=0.0).co2[-1, 0] == pytest.approx(580.0, rel=1e-12)


def test_two_zone_steady_state_by_hand():
    # one person (0.01 L/s = 36 L/h) in zone a; fresh 100 m3/h to each; exchange 100 m3/h
    # a: 36000 = 100 a + 100 (a - b); b: 0 = 100 b + 100 (b - a)  =>  a = 240, b = 120 ppm above outdoor
    flows = AirFlows(fresh=200, recirculated=0, exchange=100)
    room = Room((50.0, 80.0), (0.5, 0.5), 0.0, on=flows, off=STILL)
    generation = np.column_stack([np.full(3000, 0.01), np.zeros(3000)])
    np.testing.assert_allclose(run(room, generation).co2[-1], [640.0, 520.0], rtol=1e-12)


def test_recirculation_equals_exchange_of_shares():
    # s = (1/4, 3/4): recirculated 400 m3/h carries 400 * 1/4 * 3/4 = 75 m3/h each way between the zones
    mixed = Room((50.0, 80.0), (0.25, 0.75), 0.1, on=AirFlows(200, 400, 0), off=STILL)
    swapped = Room((50.0, 80.0), (0.25, 0.75), 0.1, on=AirFlows(200, 0, 75), off=STILL)
    np.testing.assert_allclose(
        balance_matrix(mixed, mixed.on), balance_matrix(swapped, swapped.on), rtol=1e-14
    )


def test_steady_state_of_the_paper_room():
    # Supply follows volume here, so the mean over the room is the well-mixed value whoever sits where:
    # 20 people at 0.005 L/s = 360 L/h over 515.88 + 0.2 * 502.2 = 616.32 m3/h: 584.11 ppm
    room = paper_room()
    generation = np.zeros((6000, 5))
    generation[:, 4] = 0.1
    co2 = run(room, generation).co2[-1]
    assert co2.mean() - 400 == pytest.approx(360_000 / 616.32, rel=1e-9)
    assert co2[4] > co2[3] > co2[2] > co2[1] > co2[0]


def test_strong_mixing_equals_one_zone():
    flows = AirFlows(fresh=180, recirculated=0, exchange=1e7)
    room = Room((40.0, 35.0, 25.0), (0.2, 0.5, 0.3), 0.2, on=flows, off=STILL)
    generation = np.zeros((90, 3))
    generation[:, 0] = 0.01
    expected = 400 + 180 * (1 - np.exp(-2 * np.arange(91) / 60))  # as in the one-zone test
    np.testing.assert_allclose(run(room, generation).co2, expected[:, None] * np.ones(3), atol=0.01)


def test_distant_zones_respond_later():
    room = paper_room()
    generation = np.zeros((240, 5))
    generation[:, 4] = 0.02
    rise = run(room, generation).co2 - 400
    half = [int(np.argmax(rise[:, zone] > rise[-1, zone] / 2)) for zone in range(5)]
    assert half[4] < half[3] < half[SENSOR_ZONE] < half[0]
    early = rise[5]
    assert early[SENSOR_ZONE] < early[4] / 5


def random_inputs(room, n, seed):
    rng = np.random.default_rng(seed)
    zones = len(room.volumes)
    return {
        "generation": rng.uniform(0, 0.1, (n, zones)),
        "outdoor": rng.uniform(390, 430, n),
        "ventilation": (rng.random(n) < 0.5).astype(float),
        "start": rng.uniform(400, 900, zones),
    }


def imbalance(room, inputs):
    """Largest error of the CO2 balance over a minute, relative to the CO2 in the room."""
    air = simulate_air(room, **inputs)
    stored = co2_volume(room, air.co2)
    breathed = 60 * inputs["generation"].sum(axis=1)  # [L] in a minute
    unexplained = np.diff(stored) - (breathed + air.brought_in - air.carried_out)
    return np.abs(unexplained).max() / stored.max()


def test_paper_room_conserves_co2():
    room = paper_room()
    inputs = random_inputs(room, 2000, seed=0)
    assert imbalance(room, inputs) < 1e-12
    air = simulate_air(room, **inputs)
    gained = co2_volume(room, air.co2[-1:])[0] - co2_volume(room, air.co2[:1])[0]
    breathed = 60 * inputs["generation"].sum()
    assert gained == pytest.approx(
        breathed + air.brought_in.sum() - air.carried_out.sum(), abs=1e-9 * breathed
    )


flow = st.floats(0, 3000)


@settings(deadline=None)
@given(
    volumes=st.lists(st.floats(5, 500), min_size=1, max_size=6),
    on=st.tuples(flow, flow, flow),
    off=st.tuples(flow, flow, flow),
    leakage=st.floats(0, 2),
    seed=st.integers(0, 1000),
)
def test_any_room_conserves_co2_and_stays_within_its_bounds(volumes, on, off, leakage, seed):
    share = np.random.default_rng(seed).dirichlet(np.ones(len(volumes)))
    room = Room(tuple(volumes), tuple(share), leakage, on=AirFlows(*on), off=AirFlows(*off))
    inputs = random_inputs(room, 30, seed)
    assert imbalance(room, inputs) < 1e-9
    empty = inputs | {"generation": np.zeros((30, len(volumes)))}
    co2 = simulate_air(room, **empty).co2
    low = min(inputs["outdoor"].min(), inputs["start"].min())
    high = max(inputs["outdoor"].max(), inputs["start"].max())
    assert low - 1e-6 <= co2.min() <= co2.max() <= high + 1e-6


def test_ten_steps_equal_one_step_of_ten_minutes():
    # exact steps: 10 minutes of constant input end where the exponential of 10 minutes ends
    room = paper_room()
    excess = np.array([100.0, 0.0, 50.0, 0.0, 300.0])
    co2 = simulate_air(
        room,
        generation=np.zeros((10, 5)),
        outdoor=np.full(10, 400.0),
        ventilation=np.ones(10),
        start=400 + excess,
    ).co2[-1]
    np.testing.assert_allclose(co2, 400 + expm(balance_matrix(room, room.on) / 6) @ excess, rtol=1e-12)


@pytest.mark.parametrize("name", ["fresh", "recirculated", "exchange"])
def test_negative_flow_is_refused(name):
    flows = {"fresh": 1.0, "recirculated": 1.0, "exchange": 1.0} | {name: -1.0}
    with pytest.raises(InputError, match=f"^{name} must be 0 m3/h or more, got -1.0$"):
        AirFlows(**flows)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"volumes": ()}, r"volumes must be one or more values above 0 m3, got \(\)"),
        ({"volumes": (50.0, 0.0)}, r"volumes must be one or more values above 0 m3, got \(50.0, 0.0\)"),
        ({"supply_share": (1.0,)}, r"supply_share must be one value of 0 or more per zone, got \(1.0,\)"),
        (
            {"supply_share": (1.5, -0.5)},
            r"supply_share must be one value of 0 or more per zone, got \(1.5, -0.5\)",
        ),
        ({"supply_share": (0.5, 0.4)}, r"supply_share must sum to 1, got \(0.5, 0.4\)"),
        ({"leakage": float("nan")}, "leakage must be 0 1/h or more, got nan"),
    ],
)
def test_invalid_room_is_refused(changes, message):
    room = {"volumes": (50.0, 50.0), "supply_share": (0.5, 0.5), "leakage": 0.2, "on": STILL, "off": STILL}
    with pytest.raises(InputError, match=f"^{message}$"):
        Room(**(room | changes))
