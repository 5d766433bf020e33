"""Leave-one-room-out: nothing about a room is chosen on that room, or on a room made of it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.baselines import MeanBaseline
from occupair.benchmark import leave_one_room_out as study
from occupair.benchmark.methods import METHODS, OURS, Method
from occupair.room.pooled_start import PooledStart
from occupair.room.stack import MEMBERS, STACK_PRIOR

ROOMS = ("a", "b", "c", "b, noise", "office-8", "office-14")
POOLED = ("a", "b", "c")
LAGS = (0.0, 20.0)
CANDIDATES = {"x": STACK_PRIOR, "y": STACK_PRIOR._replace(days=7.0)}
PEERS = ("ridge", "profile")


def rooms():
    """Tables that know their name, which is all that the fakes need."""
    tables = {name: pd.DataFrame({"co2": [1.0]}) for name in ROOMS}
    for name, table in tables.items():
        table.attrs["name"] = name
    return tables


@dataclass
class FakeStudy:
    """Scores by room and candidate, and the starts that each room was scored with."""

    scores: dict
    starts: dict

    def nrmse(self, readings, method, lags):
        name = readings.attrs["name"]
        start = getattr(method.make(lag=0), "start", None)
        if start is None:
            kind = next(peer for peer in PEERS if METHODS[peer] is method)
        elif start.rooms == ("shipped",):
            kind = "shipped"
        else:
            kind = next(key for key, prior in CANDIDATES.items() if prior == start.stack)
            self.starts.setdefault(name, set()).add(start.rooms)
        return [self.scores.get((name, kind), 0.5) + lag / 100 for lag in lags]


@pytest.fixture
def run(monkeypatch):
    """Run the study with given scores, without training."""

    def start(names):
        return PooledStart(300, (1.0,) * 5, {}, tuple(names))

    monkeypatch.setattr(study, "sum_room", lambda readings: readings.attrs["name"])
    monkeypatch.setattr(study, "shipped_start", lambda: start(["shipped"]))

    def pool(sums):
        assert all(name == of_room for name, of_room in sums.items())
        return start(sums)

    monkeypatch.setattr(study, "pool", pool)

    def run_with(scores):
        fake = FakeStudy(scores, {})
        monkeypatch.setattr(study, "_nrmse", fake.nrmse)
        result = study.leave_one_room_out(rooms(), POOLED, lags=LAGS, candidates=CANDIDATES, peers=PEERS)
        return result, fake

    return run_with


def random_scores(seed):
    rng = np.random.default_rng(seed)
    kinds = [*CANDIDATES, *PEERS, "shipped"]
    return {(room, kind): float(rng.uniform(0.2, 0.9)) for room in ROOMS for kind in kinds}


def test_start_of_a_room_is_pooled_over_rooms_of_another_origin(run):
    _, fake = run({})
    assert fake.starts == {
        "a": {("b", "c")},
        "b": {("a", "c")},
        "c": {("a", "b")},
        "b, noise": {("a", "c")},
        "office-8": {POOLED},
        "office-14": {POOLED},
    }


@pytest.mark.parametrize("seed", range(5))
def test_choice_does_not_depend_on_the_room_or_on_rooms_of_its_origin(run, seed):
    scores = random_scores(seed)
    before, _ = run(scores)
    for family in (("a",), ("b", "b, noise"), ("c",), ("office-8", "office-14")):
        for best, worst in (("x", "y"), ("y", "x")):
            own = {(room, best): 0.01 for room in family} | {(room, worst): 0.99 for room in family}
            after, _ = run(scores | own)
            for room in family:
                assert after.choices[room] == before.choices[room]
                expected = (scores | own)[room, before.choices[room]]
                assert after.left_out.loc[room].tolist() == pytest.approx([expected, expected + 0.2])


def test_choice_is_best_on_the_other_rooms(run):
    clear = {(room, "x"): 0.4 for room in ROOMS} | {(room, "y"): 0.5 for room in ROOMS}
    result, _ = run(clear)
    assert (result.choices == "x").all()
    # y is so much better in room a that it is chosen for all rooms but a.
    result, _ = run(clear | {("a", "y"): 0.01})
    assert result.choices.to_dict() == {name: "x" if name == "a" else "y" for name in ROOMS}


def test_choice_uses_the_first_lag_only(run, monkeypatch):
    scores = random_scores(1)
    before, fake = run(scores)
    original = fake.nrmse
    monkeypatch.setattr(FakeStudy, "nrmse", lambda self, *args: [original(*args)[0], 1.0])
    after, _ = run(scores)
    pd.testing.assert_series_equal(after.choices, before.choices)
    assert (after.left_out[20.0] == 1).all()


def test_tables_have_the_scores_of_each_room(run):
    scores = random_scores(2)
    result, _ = run(scores)
    assert tuple(result.left_out.index) == tuple(result.all_rooms.index) == ROOMS
    assert tuple(result.left_out.columns) == LAGS
    for room in ROOMS:
        assert result.all_rooms.loc[room, 0.0] == scores[room, "shipped"]
        for peer in PEERS:
            assert result.peers.loc[(room, peer), 20.0] == pytest.approx(scores[room, peer] + 0.2)


def test_mean_of_logarithms_decides():
    """y: 0.5 and 0.5, product 0.25; x: 0.2 and 1.0, product 0.2, although its mean is larger."""
    index = pd.MultiIndex.from_product([["a", "b", "c"], ["y", "x"]], names=["room", "candidate"])
    nrmse = pd.Series([0.5, 0.2, 0.5, 1.0, 0.1, 9.0], index=index)
    assert study.best_on_others(nrmse, "c") == "x"


def test_equal_candidates_give_the_first():
    index = pd.MultiIndex.from_product([["a", "b"], ["y", "x"]], names=["room", "candidate"])
    assert study.best_on_others(pd.Series(0.5, index=index), "a") == "y"


def test_candidates():
    assert next(iter(study.CANDIDATES.items())) == ("all", STACK_PRIOR)  # of equals, the default
    for name in MEMBERS[1:]:
        weights = study.CANDIDATES[f"no {name}"].weights
        assert [member for member, weight in zip(MEMBERS, weights, strict=True) if not weight] == [name]
    assert "no network" not in study.CANDIDATES
    assert set(study.PEERS) <= set(METHODS) - {OURS}


class Fixed:
    """A method that returns given estimates."""

    def __init__(self, people):
        self.people = people

    def fit(self, readings):
        return self

    def estimate(self, readings):
        return self.people[readings.index]


def test_nrmse_of_mean_is_one_and_of_truth_is_zero():
    readings = oc.simulate_office(days=6, seed=1).iloc[::20]
    assert study._nrmse(readings, Method(MeanBaseline), LAGS) == pytest.approx([1.0, 1.0])
    truth = readings["occupancy"].astype(float)
    off = study._nrmse(readings, Method(lambda *, lag: Fixed(truth + lag / 20)), LAGS)
    assert off[0] == 0
    assert off[1] == pytest.approx(1 / readings["occupancy"].std(ddof=0), rel=0.05)  # one person off


def test_prior_of_the_weights_reaches_the_training():
    """A member with prior weight 0 has none in the trained room, whatever its errors."""
    readings = oc.simulate_office(days=2, seed=1).iloc[::30]
    weights = tuple(float(name in ("trees", "profile")) for name in MEMBERS)
    read_outs = {lag: np.zeros((3, 3 + 35 + 1, 2)) for lag in (0.0, 10.0, 20.0)}
    z_max = (1.5, 1.0, 1.0, 0.5, 1.0)
    start = PooledStart(9, z_max, read_outs, ("a",), stack=STACK_PRIOR._replace(weights=weights))
    model = oc.OccupancyEstimator(n_hidden=9, start=start, random_state=0).fit(readings)
    for one in model.room_.refinements:
        assert [weight > 0 for weight in one.weights] == [bool(weight) for weight in weights]


def test_markdown(run):
    result, _ = run({("a", "ridge"): 0.3, ("b", "profile"): 0.499})
    text = study.as_markdown(result)
    lines = text.splitlines()
    row = next(line for line in lines if line.startswith("| a "))
    assert [cell.strip() for cell in row.strip("|").split("|")] == [
        *("a", "0.500", "0.700", "0.500", "0.700"),
        *("0.300 ridge", "0.500 ridge", "x"),
    ]
    assert any(line.startswith("| mean of all rooms") for line in lines)
    assert not any(line.startswith("| mean of the benchmark rooms") for line in lines)  # none of them
    assert (
        "At lag 0 min, left out, it is behind the best simple method of the room in 2 of 6 rooms, "
        "and by more than 1 % in 1. Largest ratio: 1.667 (a)" in text
    )
